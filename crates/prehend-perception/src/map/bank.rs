//! Banks of drawers: fronts in one plane that slide along one way. What a bank is outlasts what one frame shows of it.
//!
//! Two known drawers whose fronts lie in one plane make a bank. From then on a drawer is a place in that plane (a slot) and the room
//! before it, whatever a frame calls what is seen there, in how many pieces it shows it, and how far it stands out.

use super::UpdateReport;
use super::join::report_lost;
use super::known::Known;
use crate::parts::mechanism::Front;
use nalgebra::{Point3, Vector3};
use prehend_geometry::OrientedBox;
use prehend_scene::merge::{MergeRule, settle_class};
use prehend_scene::{Object, ObjectKey, Slide};
use std::collections::{BTreeMap, VecDeque};

/// Least cosine between the ways of fronts of one bank.
const PARALLEL: f64 = 0.98;
/// Greatest distance between the planes of closed fronts of one bank, metres.
const FLUSH: f64 = 0.012;
/// Farthest a drawer stands out, metres.
const TRAVEL: f64 = 0.45;
/// How far behind the face, as it is known, a drawer may be found, metres.
const BEHIND: f64 = 0.3;
/// How far behind its face a closed front is seen, metres.
const THICK: f64 = 0.025;
/// Greatest gap between fronts of one bank, metres.
const GAP: f64 = 0.06;
/// How much two fronts may overlap, as a share of the smaller.
const APART: f64 = 0.2;
/// Least share of two fronts in common, of their union, when they are one.
const SAME: f64 = 0.6;
/// Views after which a drawer is good for a bank.
const VIEWS: u32 = 3;
/// How far beside its front what is of a drawer may lie, metres.
const MARGIN: f64 = 0.015;
/// Share of a thing's points in one slot from which it is of that slot whole, and least that is a piece of it, when others have the rest.
const SHARES: (f64, f64) = (0.85, 0.1);
/// Least width and height of what is of a drawer without being called one, as shares of the drawer's.
const WIDE: f64 = 0.6;
/// Fewest points of a piece.
const LEAST: usize = 20;
/// Thickness of a front as it is seen, metres.
const LAYER: f64 = 0.008;
/// Views of a front in one place from which that can be the closed one, and as a share of those in the place with the most.
const OFTEN: (u32, f64) = (3, 0.04);
/// How far out a drawer is open for sure, metres.
const OUT: f64 = 0.04;
/// Views of a front that its outline is made of, and the least area of those that count, as a share of a full one.
const SIGHTINGS: usize = 30;
const FULL: f64 = 0.8;
/// Least share in one slot of a thing that is called a drawer and is in no other.
const MOSTLY: f64 = 0.5;
/// Frames more that show two slots as one drawer, or one slot as two drawers, than as the bank has them, from which the bank is wrong.
const DOUBT: i32 = 3;

/// A range across and one of height in the plane of the fronts, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outline {
    across: (f64, f64),
    up: (f64, f64),
}

impl Outline {
    fn area(&self) -> f64 {
        (self.across.1 - self.across.0).max(0.0) * (self.up.1 - self.up.0).max(0.0)
    }

    /// Area in common with another.
    fn common(&self, other: &Self) -> f64 {
        let part = |a: (f64, f64), b: (f64, f64)| (a.1.min(b.1) - a.0.max(b.0)).max(0.0);
        part(self.across, other.across) * part(self.up, other.up)
    }

    fn is_apart_from(&self, other: &Self) -> bool {
        self.common(other) <= APART * self.area().min(other.area())
    }

    fn is_same_as(&self, other: &Self) -> bool {
        let common = self.common(other);
        common >= SAME * (self.area() + other.area() - common)
    }

    /// Whether two fronts stand in one column or one row, with little between them.
    fn is_in_line_with(&self, other: &Self) -> bool {
        let share = |a: (f64, f64), b: (f64, f64)| {
            (a.1.min(b.1) - a.0.max(b.0)) / (a.1 - a.0).max(b.1 - b.0).max(1e-6)
        };
        let gap = |a: (f64, f64), b: (f64, f64)| a.0.max(b.0) - a.1.min(b.1);
        share(self.across, other.across) >= SAME && gap(self.up, other.up) <= GAP
            || share(self.up, other.up) >= SAME && gap(self.across, other.across) <= GAP
    }

    /// How far from the middle a place is: 1 at the border.
    fn off_middle(&self, across: f64, up: f64) -> f64 {
        let off =
            |at: f64, range: (f64, f64)| (2.0 * at - range.0 - range.1).abs() / (range.1 - range.0).max(1e-6);
        off(across, self.across).max(off(up, self.up))
    }

    fn contains(&self, across: f64, up: f64, margin: f64) -> bool {
        (self.across.0 - margin..=self.across.1 + margin).contains(&across)
            && (self.up.0 - margin..=self.up.1 + margin).contains(&up)
    }
}

/// The place of one drawer.
#[derive(Clone, Debug)]
struct Slot {
    key: ObjectKey,
    outline: Outline,
    /// Its front as single masks of the last frames showed it whole, and the same where the picture's border cut it.
    seen: [VecDeque<Outline>; 2],
}

impl Slot {
    fn new(key: ObjectKey, outline: Outline, is_cut: bool) -> Self {
        let mut slot = Self { key, outline, seen: Default::default() };
        slot.show(outline, is_cut);
        slot
    }

    /// Takes one more view of its front. Each edge is where half of the fuller views have it: what hides some of a front makes it
    /// smaller, and what is taken together with it larger.
    fn show(&mut self, outline: Outline, is_cut: bool) {
        let views = &mut self.seen[usize::from(is_cut)];
        views.push_back(outline);
        if views.len() > SIGHTINGS {
            views.pop_front();
        }
        let views = &self.seen[usize::from(self.seen[0].is_empty())];
        let mut areas: Vec<f64> = views.iter().map(Outline::area).collect();
        areas.sort_by(f64::total_cmp);
        let full = areas.get(areas.len() * 9 / 10).copied().unwrap_or_default();
        let whole: Vec<&Outline> = views.iter().filter(|view| view.area() >= FULL * full).collect();
        let middle = |edge: fn(&Outline) -> f64| {
            let mut places: Vec<f64> = whole.iter().map(|view| edge(view)).collect();
            places.sort_by(f64::total_cmp);
            places[places.len() / 2]
        };
        self.outline = Outline {
            across: (middle(|view| view.across.0), middle(|view| view.across.1)),
            up: (middle(|view| view.up.0), middle(|view| view.up.1)),
        };
    }
}

/// Drawers of one plane.
#[derive(Clone, Debug)]
struct Bank {
    /// Outward horizontal unit normal of the fronts.
    way: Vector3<f64>,
    /// Place of closed fronts along it, metres.
    face: f64,
    slots: Vec<Slot>,
    /// How often a front was seen at each place along the way, in steps of [`LAYER`].
    places: BTreeMap<i64, u32>,
    /// Frames that speak against its slots, less those that speak for them.
    doubt: i32,
}

/// A front with the object it is of.
struct Seen {
    way: Vector3<f64>,
    place: f64,
    outline: Outline,
}

impl Bank {
    fn side(&self) -> Vector3<f64> {
        side_of(&self.way)
    }

    /// Outline of the front of something, in the plane of this bank, and its place along the way: of the outermost layer with many
    /// points.
    fn front_of(&self, object: &Object) -> Option<(f64, Outline)> {
        let mut along: Vec<f64> = object.cloud.points.iter().map(|p| p.coords.dot(&self.way)).collect();
        along.sort_by(f64::total_cmp);
        let mut first = 0;
        let layers: Vec<usize> = (0..along.len())
            .map(|last| {
                while along[last] - along[first] > LAYER {
                    first += 1;
                }
                last + 1 - first
            })
            .collect();
        let most = *layers.iter().max()?;
        let place = along[layers.iter().rposition(|count| 2 * count >= most)?] - LAYER / 2.0;
        let on = object.cloud.points.iter().filter(|p| (p.coords.dot(&self.way) - place).abs() <= LAYER);
        Some((place, outline_of(on, &self.side())?))
    }

    /// Number of the slot in whose room a point is, which begins so far behind the face. Above and beside a front, what belongs to no
    /// other is of it too.
    fn slot_at(&self, point: &Point3<f64>, behind: f64) -> Option<usize> {
        let along = point.coords.dot(&self.way) - self.face;
        if !(-behind..TRAVEL).contains(&along) {
            return None;
        }
        let (across, up) = (point.coords.dot(&self.side()), point.z);
        let near =
            (0..self.slots.len()).filter(|slot| self.slots[*slot].outline.contains(across, up, MARGIN));
        near.min_by(|a, b| {
            let off = |slot: usize| self.slots[slot].outline.off_middle(across, up);
            off(*a).total_cmp(&off(*b))
        })
    }

    /// Points of an object by slot. What is called a drawer may lie behind the face: the face was learned of drawers that were ajar.
    fn split(&self, object: &Object) -> Vec<Vec<usize>> {
        let behind = if is_drawer(object) { BEHIND } else { FLUSH };
        let mut of_slot = vec![Vec::new(); self.slots.len()];
        for (index, point) in object.cloud.points.iter().enumerate() {
            if let Some(slot) = self.slot_at(point, behind) {
                of_slot[slot].push(index);
            }
        }
        of_slot
    }

    /// The closed face is the innermost place where fronts were often seen.
    fn settle_face(&mut self) {
        let count = |bin: i64| self.places.get(&bin).copied().unwrap_or(0);
        let most = self.places.values().copied().max().unwrap_or(0);
        let least = OFTEN.0.max((OFTEN.1 * f64::from(most)) as u32);
        let often = self.places.keys().copied().find(|bin| count(*bin) + count(*bin + 1) >= least);
        if let Some(bin) = often {
            let (one, other) = (f64::from(count(bin)), f64::from(count(bin + 1)));
            self.face = LAYER * (bin as f64 + other / (one + other));
        }
    }

    /// How its drawers slide, once one was seen farther out than the innermost: until then nobody knows whether that one is closed.
    fn slide(&self) -> Option<Slide> {
        let out = self.places.iter().filter(|(bin, _)| **bin as f64 * LAYER - self.face > OUT);
        let seen: u32 = out.map(|(_, count)| count).sum();
        (seen >= OFTEN.0).then_some(Slide { way: self.way, closed: self.face })
    }

    /// Something without what lies behind the closed fronts, where a drawer is not seen. Where its front is says where closed ones are.
    fn before_face(&mut self, thing: Known) -> Known {
        let front = self.front_of(&thing.object).filter(|_| is_drawer(&thing.object));
        if let Some((place, outline)) = front
            && place - self.face > -BEHIND
            && self.slots.iter().any(|slot| outline.is_same_as(&slot.outline))
        {
            *self.places.entry((place / LAYER).round() as i64).or_default() += 1;
            self.settle_face();
        }
        self.cut_behind(thing)
    }

    fn cut_behind(&self, thing: Known) -> Known {
        let points = &thing.object.cloud.points;
        let before: Vec<usize> = (0..points.len())
            .filter(|index| points[*index].coords.dot(&self.way) >= self.face - THICK)
            .collect();
        if before.len() == points.len() || before.len() < LEAST {
            return thing;
        }
        match part_of(&thing.object, &before) {
            Some(object) => Known { object, track: thing.track },
            None => thing,
        }
    }

    /// Whether what has these points in a slot is of the drawer: it is called one, or it is about as wide and high.
    fn is_of_drawer(&self, object: &Object, slot: usize, indices: &[usize]) -> bool {
        is_drawer(object) || self.is_shown(slot, object, indices)
    }

    /// Whether these points of something reach over most of a front.
    fn is_shown(&self, slot: usize, object: &Object, indices: &[usize]) -> bool {
        let points = indices.iter().filter_map(|index| object.cloud.points.get(*index));
        let fills = |part: (f64, f64), whole: (f64, f64)| part.1 - part.0 >= WIDE * (whole.1 - whole.0);
        let outline = &self.slots[slot].outline;
        outline_of(points, &self.side())
            .is_some_and(|part| fills(part.across, outline.across) && fills(part.up, outline.up))
    }
}

fn is_drawer(object: &Object) -> bool {
    object.class_name.ends_with("drawer")
}

fn side_of(way: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(-way.y, way.x, 0.0)
}

/// Ranges of points without the outermost 2 % on either side; `None` of too few.
fn outline_of<'p>(points: impl Iterator<Item = &'p Point3<f64>>, side: &Vector3<f64>) -> Option<Outline> {
    let (mut across, mut up): (Vec<f64>, Vec<f64>) = points.map(|p| (p.coords.dot(side), p.z)).unzip();
    let range = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1).filter(|last| *last + 1 >= LEAST)?;
        let at = |share: f64| values[(share * last as f64).round() as usize];
        Some((at(0.02), at(0.98)))
    };
    Some(Outline { across: range(&mut across)?, up: range(&mut up)? })
}

/// The part of an object that these of its points are.
fn part_of(object: &Object, indices: &[usize]) -> Option<Object> {
    let cloud = object.cloud.select(indices);
    let bounds = OrientedBox::upright_around(&cloud.points)?;
    Some(Object { cloud, bounds, affordances: Vec::new(), ..object.clone() })
}

/// All banks that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Banks(Vec<Bank>);

impl Banks {
    /// Nothing stands where it stood.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Takes in which drawers were where nothing is now, and were not seen elsewhere: a bank all of whose drawers are gone is gone.
    pub(super) fn leave(&mut self, is_gone: impl Fn(&ObjectKey) -> bool) {
        self.0.retain(|bank| !bank.slots.iter().all(|slot| is_gone(&slot.key)));
    }

    /// Says of the things of a frame which are drawers of a bank, in their tracks: pieces of one become one, and what a mask took
    /// together is cut. What is no drawer stays as it was.
    pub(super) fn sort(&mut self, seen: Vec<Known>, rule: &MergeRule, update: u64) -> Vec<Known> {
        let mut seen = seen;
        for bank in &mut self.0 {
            let mut rest = Vec::with_capacity(seen.len());
            let mut of_slot: Vec<Vec<Known>> = vec![Vec::new(); bank.slots.len()];
            let mut as_one = false;
            for thing in seen {
                if thing.track.slot.is_some() {
                    rest.push(thing);
                    continue;
                }
                let points = bank.split(&thing.object);
                let all = thing.object.cloud.len().max(1) as f64;
                let share = |slot: usize| points[slot].len() as f64 / all;
                let Some(most) = (0..points.len()).max_by_key(|slot| points[*slot].len()) else {
                    rest.push(thing);
                    continue;
                };
                let others = (0..points.len()).filter(|slot| *slot != most && share(*slot) >= SHARES.1);
                let several: Vec<usize> = others.collect();
                let least = if several.is_empty() { MOSTLY } else { SHARES.1 };
                if share(most) < least || !bank.is_of_drawer(&thing.object, most, &points[most]) {
                    rest.push(thing);
                } else if several.is_empty() && (share(most) >= SHARES.0 || is_drawer(&thing.object)) {
                    if let Some((_, outline)) =
                        bank.front_of(&thing.object).filter(|_| is_drawer(&thing.object))
                    {
                        let others = bank.slots.iter().enumerate().filter(|(slot, _)| *slot != most);
                        if { others }.all(|(_, slot)| outline.is_apart_from(&slot.outline)) {
                            bank.slots[most].show(outline, thing.object.touches_border);
                        }
                    }
                    of_slot[most].push(bank.before_face(thing));
                } else {
                    let shows = |slot: &usize| bank.is_shown(*slot, &thing.object, &points[*slot]);
                    let whole = several.iter().chain([&most]).filter(|slot| shows(slot)).count();
                    as_one |= is_drawer(&thing.object) && whole > 1;
                    for slot in several.into_iter().chain([most]) {
                        let part =
                            part_of(&thing.object, &points[slot]).filter(|_| points[slot].len() >= LEAST);
                        if let Some(object) = part {
                            of_slot[slot].push(bank.cut_behind(Known { object, track: thing.track.clone() }));
                        }
                    }
                    if !is_drawer(&thing.object) {
                        let outside: Vec<usize> = (0..thing.object.cloud.len())
                            .filter(|index| bank.slot_at(&thing.object.cloud.points[*index], FLUSH).is_none())
                            .collect();
                        let left = outside.len() as f64 >= SHARES.1 * all && outside.len() >= LEAST;
                        if let Some(object) = part_of(&thing.object, &outside).filter(|_| left) {
                            rest.push(Known { object, track: thing.track });
                        }
                    }
                }
            }
            let fronts = of_slot.iter().filter(|pieces| !pieces.is_empty()).count();
            let as_two = of_slot.iter().any(|pieces| are_two(bank, pieces));
            if as_one || as_two {
                bank.doubt += 1;
            } else if fronts > 1 {
                bank.doubt = (bank.doubt - 1).max(-2 * DOUBT);
            }
            for (slot, mut pieces) in of_slot.into_iter().enumerate() {
                pieces.sort_by_key(|piece| std::cmp::Reverse(piece.object.cloud.len()));
                let mut pieces = pieces.into_iter();
                let Some(mut whole) = pieces.next() else { continue };
                for piece in pieces {
                    whole.merge(piece, rule, update);
                }
                whole.object.view_count = 1;
                whole.track.slot = Some(bank.slots[slot].key.clone());
                rest.push(whole);
            }
            seen = rest;
        }
        seen
    }

    /// Learns from the objects as they are now: new banks, new slots, outlines and the closed face. What else of a bank is on the map
    /// becomes one with its drawer, and a drawer is called what the drawers beside it are called.
    pub(super) fn learn(
        &mut self,
        objects: &mut Vec<Known>,
        rule: &MergeRule,
        update: u64,
        report: &mut UpdateReport,
    ) {
        self.0.retain(|bank| bank.doubt < DOUBT);
        self.found(objects, update);
        for known in objects.iter_mut() {
            let key = &known.object.key;
            let bank = self.0.iter().find(|bank| bank.slots.iter().any(|slot| slot.key == *key));
            known.track.slot = bank.map(|_| key.clone());
            known.object.slide = bank.and_then(Bank::slide);
        }
        for bank in &self.0 {
            bank.absorb(objects, rule, update, report);
        }
        for bank in &self.0 {
            bank.name(objects);
        }
    }

    /// New banks, and new slots of known ones, of drawers that are in none.
    fn found(&mut self, objects: &[Known], update: u64) {
        let is_in_bank = |banks: &[Bank], key: &ObjectKey| {
            banks.iter().flat_map(|bank| &bank.slots).any(|slot| slot.key == *key)
        };
        let fresh: Vec<&Object> = objects
            .iter()
            .filter(|known| known.track.changed == update)
            .map(|known| &known.object)
            .filter(|object| {
                is_drawer(object) && object.view_count >= VIEWS && !is_in_bank(&self.0, &object.key)
            })
            .collect();
        if fresh.is_empty() {
            return;
        }
        let front = |object: &Object| {
            let front = Front::find(&object.cloud.points, &object.viewer())?;
            let on = front.indices.iter().map(|index| &object.cloud.points[*index]);
            let outline = outline_of(on, &side_of(&front.normal))?;
            Some(Seen { way: front.normal, place: front.offset, outline })
        };
        let mut fronts: Vec<(&Object, Seen)> =
            fresh.into_iter().filter_map(|object| Some((object, front(object)?))).collect();
        for bank in &mut self.0 {
            fronts.retain(|(object, front)| {
                let Some((place, outline)) = Some(front)
                    .filter(|front| front.way.dot(&bank.way) >= PARALLEL)
                    .and_then(|_| bank.front_of(object))
                else {
                    return true;
                };
                let out = place - bank.face;
                let fits = (-BEHIND..TRAVEL).contains(&out)
                    && bank.slots.iter().all(|slot| outline.is_apart_from(&slot.outline))
                    && bank.slots.iter().any(|slot| outline.is_in_line_with(&slot.outline));
                if fits {
                    bank.slots.push(Slot::new(object.key.clone(), outline, object.touches_border));
                }
                !fits
            });
        }
        // The largest front first: pieces of one come later, and fit no more.
        fronts.sort_by(|a, b| b.1.outline.area().total_cmp(&a.1.outline.area()));
        while let Some((first, front)) = (!fronts.is_empty()).then(|| fronts.remove(0)) {
            let slot =
                |object: &Object, outline| Slot::new(object.key.clone(), outline, object.touches_border);
            let mut bank = Bank {
                way: front.way,
                face: front.place,
                slots: vec![slot(first, front.outline)],
                places: BTreeMap::new(),
                doubt: 0,
            };
            fronts.retain(|(object, other)| {
                let flush = other.way.dot(&bank.way) >= PARALLEL;
                let Some((place, outline)) = Some(object).filter(|_| flush).and_then(|o| bank.front_of(o))
                else {
                    return true;
                };
                let fits = (place - bank.face).abs() <= FLUSH
                    && bank.slots.iter().all(|slot| outline.is_apart_from(&slot.outline))
                    && bank.slots.iter().any(|slot| outline.is_in_line_with(&slot.outline));
                if fits {
                    bank.slots.push(slot(object, outline));
                }
                !fits
            });
            if bank.slots.len() > 1 {
                self.0.push(bank);
            }
        }
    }
}

/// Whether pieces of one slot in one frame are two drawers: both are called so, and their fronts share nothing and are large.
fn are_two(bank: &Bank, pieces: &[Known]) -> bool {
    let fronts: Vec<Outline> = pieces
        .iter()
        .filter(|piece| is_drawer(&piece.object))
        .filter_map(|piece| Some(bank.front_of(&piece.object)?.1))
        .collect();
    let heights = |outline: &Outline| outline.up.1 - outline.up.0;
    fronts.iter().enumerate().any(|(number, a)| {
        fronts[number + 1..].iter().any(|b| {
            let (low, high) = if a.up.0 < b.up.0 { (a, b) } else { (b, a) };
            let least = heights(a).min(heights(b));
            low.up.1 <= high.up.0 + 0.2 * least && least >= 0.6 * heights(a).max(heights(b))
        })
    })
}

impl Bank {
    /// Takes what else of its drawers is on the map into them.
    fn absorb(&self, objects: &mut Vec<Known>, rule: &MergeRule, update: u64, report: &mut UpdateReport) {
        let mut number = 0;
        while number < objects.len() {
            let object = &objects[number].object;
            let slot = Some(object).filter(|_| objects[number].track.slot.is_none()).and_then(|object| {
                let points = self.split(object);
                let most = (0..points.len()).max_by_key(|slot| points[*slot].len())?;
                // What is called a drawer and is none of them is several, or was.
                let counted =
                    if is_drawer(object) { points.iter().map(Vec::len).sum() } else { points[most].len() };
                let share = counted as f64 / object.cloud.len().max(1) as f64;
                (share >= SHARES.0 && self.is_of_drawer(object, most, &points[most])).then_some(most)
            });
            let is_whole = slot.is_some_and(|slot| {
                self.split(&objects[number].object)[slot].len() as f64
                    >= SHARES.0 * objects[number].object.cloud.len() as f64
            });
            let place = slot
                .and_then(|slot| objects.iter().position(|known| known.object.key == self.slots[slot].key));
            let Some(place) = place else {
                number += 1;
                continue;
            };
            let other = objects[number].take();
            let drawer = &mut objects[place];
            report_lost(other.object.key.clone(), &drawer.object.key, report);
            // An older view shows where it was.
            if is_whole && other.object.last_seen >= drawer.object.last_seen {
                drawer.merge(self.cut_behind(other), rule, update);
            }
            objects.remove(number);
        }
    }

    /// Calls its drawers what all of them together are called.
    fn name(&self, objects: &mut [Known]) {
        let is_ours = |known: &&mut Known| self.slots.iter().any(|slot| slot.key == known.object.key);
        let mut all: Vec<(String, f64)> = Vec::new();
        for known in objects.iter_mut().filter(is_ours) {
            for (name, weight) in &known.object.class_votes {
                prehend_scene::merge::add_vote(&mut all, name, *weight);
            }
        }
        let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
        if sum <= 0.0 {
            return;
        }
        for known in objects.iter_mut().filter(is_ours) {
            let own: f64 = known.object.class_votes.iter().map(|(_, weight)| weight).sum();
            known.object.class_votes =
                all.iter().map(|(name, weight)| (name.clone(), weight / sum * own)).collect();
            settle_class(&mut known.object);
        }
    }
}
