//! Banks of drawers: fronts in one plane that slide along one way. What a bank is outlasts what one frame shows of it.
//!
//! Two known drawers whose fronts lie in one plane make a bank. From then on a drawer is a place in that plane (a slot) and the room
//! before it, whatever a frame calls what is seen there, in how many pieces it shows it, and how far it stands out.

mod body;
mod handle;
mod outline;
mod slid;

use super::settings::BankSettings;
use crate::map::UpdateReport;
use crate::map::join::report_lost;
use crate::map::known::Known;
use crate::parts::mechanism::Front;
use handle::Ground;
use nalgebra::{Point3, Vector3};
use outline::{Outline, Slot, outline_of, side_of};
use prehend_geometry::OrientedBox;
use prehend_scene::merge::{MergeRule, settle_class};
use prehend_scene::{Object, ObjectKey, Slide, furniture};
pub(in crate::map) use slid::Slid;
use std::collections::BTreeMap;

/// Drawers of one plane.
#[derive(Clone, Debug)]
struct Bank {
    /// Outward horizontal unit normal of the fronts.
    way: Vector3<f64>,
    /// Place of closed fronts along it, metres.
    face: f64,
    slots: Vec<Slot>,
    /// How often a front was seen at each place along the way, in steps of [`BankSettings::layer`], and the sum of the places there.
    places: BTreeMap<i64, (u32, f64)>,
    /// Frames that speak against its slots, less those that speak for them.
    doubt: i32,
    settings: BankSettings,
}

/// Things of a frame by the slots of one bank.
#[derive(Default)]
struct Sorted {
    of_slot: Vec<Vec<Known>>,
    /// What is of none.
    rest: Vec<Known>,
    /// Whether something called a drawer shows most of two slots.
    as_one: bool,
}

impl Bank {
    /// With one drawer so far, whose front has this outline.
    fn new(object: &Object, front: &Front, outline: Outline, settings: BankSettings) -> Self {
        Self {
            way: front.normal,
            face: front.offset,
            slots: vec![Slot::new(object.key.clone(), outline, object.touches_border, &settings.outline)],
            places: BTreeMap::new(),
            doubt: 0,
            settings,
        }
    }

    /// Takes in a drawer whose front looks this way, if it stands so far before the face, in line with the others and apart from each.
    fn join(&mut self, object: &Object, way: &Vector3<f64>, out: std::ops::Range<f64>) -> bool {
        let is_parallel = way.dot(&self.way) >= self.settings.parallel;
        let Some((place, outline)) = Some(object).filter(|_| is_parallel).and_then(|o| self.front_of(o))
        else {
            return false;
        };
        let fits = out.contains(&(place - self.face))
            && self.slots.iter().all(|slot| outline.is_apart_from(&slot.outline, &self.settings.outline))
            && self.slots.iter().any(|slot| outline.is_in_line_with(&slot.outline, &self.settings.outline));
        if fits {
            let (key, is_cut) = (object.key.clone(), object.touches_border);
            self.slots.push(Slot::new(key, outline, is_cut, &self.settings.outline));
        }
        fits
    }

    fn side(&self) -> Vector3<f64> {
        side_of(&self.way)
    }

    /// Where the front of something is along the way, and its outline in the plane of this bank.
    fn front_of(&self, object: &Object) -> Option<(f64, Outline)> {
        let place = furniture::front_of(object, &self.way)?;
        let is_on = |p: &&Point3<f64>| (p.coords.dot(&self.way) - place).abs() <= self.settings.layer;
        let on = object.cloud.points.iter().filter(is_on);
        Some((place, outline_of(on, &self.side(), &self.settings.outline)?))
    }

    /// Where the front of what is seen in a slot is, when so much of it is seen that it is the front: all of its face, or as wide a strip
    /// of it. What the border of the picture cuts goes on beyond it, so that a strip farther in than the front was is no front then.
    fn place_in(&self, slot: usize, object: &Object, is_cut: bool) -> Option<f64> {
        let (place, seen) = self.front_of(object)?;
        let Slot { outline, front, .. } = &self.slots[slot];
        let can_be_beyond = is_cut && front.is_some_and(|was| place < was - self.settings.moved);
        // The back of the hollow is lower than the front.
        let least = if can_be_beyond { self.settings.outline.full } else { 0.0 };
        seen.reaches_over(outline, (self.settings.wide, least)).then_some(place)
    }

    /// Number of the slot in whose room a point is, which begins so far behind the face. Above and beside a front, what belongs to no
    /// other is of it too.
    fn slot_at(&self, point: &Point3<f64>, behind: f64) -> Option<usize> {
        let along = point.coords.dot(&self.way) - self.face;
        if !(-behind..self.settings.travel).contains(&along) {
            return None;
        }
        let (across, up) = (point.coords.dot(&self.side()), point.z);
        let near = (0..self.slots.len())
            .filter(|slot| self.slots[*slot].outline.contains(across, up, self.settings.margin));
        near.min_by(|a, b| {
            let off = |slot: usize| self.slots[slot].outline.off_middle(across, up);
            off(*a).total_cmp(&off(*b))
        })
    }

    /// Points of an object by slot. What is called a drawer may lie behind the face: the face was learned of drawers that were ajar.
    fn split(&self, object: &Object) -> Vec<Vec<usize>> {
        let behind = if is_drawer(object) { self.settings.behind } else { self.settings.flush };
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
        let at = |bin: i64| self.places.get(&bin).copied().unwrap_or_default();
        let most = self.places.values().map(|(count, _)| *count).max().unwrap_or(0);
        let least = self.settings.often.max((self.settings.often_share * f64::from(most)) as u32);
        let around = |bin: i64| (at(bin).0 + at(bin + 1).0, at(bin).1 + at(bin + 1).1);
        if let Some((count, sum)) =
            self.places.keys().map(|bin| around(*bin)).find(|(count, _)| *count >= least)
        {
            self.face = sum / f64::from(count);
        }
    }

    /// How its drawers slide, once one was seen farther out than the innermost: until then nobody knows whether that one is closed.
    fn slide(&self) -> Option<Slide> {
        let BankSettings { layer, out, .. } = self.settings;
        let out = self.places.iter().filter(|(bin, _)| **bin as f64 * layer - self.face > out);
        let seen: u32 = out.map(|(_, (count, _))| count).sum();
        (seen >= self.settings.often).then_some(Slide { way: self.way, closed: self.face })
    }

    /// Puts a thing where it belongs, whole or in pieces.
    fn claim(&mut self, thing: Known, ground: &Ground, sorted: &mut Sorted) {
        let mut points = self.split(&thing.object);
        let all = thing.object.cloud.len().max(1) as f64;
        let share = |points: &[usize]| points.len() as f64 / all;
        let Some(most) = (0..points.len()).max_by_key(|slot| points[*slot].len()) else {
            return sorted.rest.push(thing);
        };
        let slots: Vec<usize> =
            (0..points.len()).filter(|slot| share(&points[*slot]) >= self.settings.piece).collect();
        let least = if slots.len() > 1 { self.settings.piece } else { self.settings.mostly };
        if share(&points[most]) < least || !self.is_of_drawer(&thing.object, most, &points[most]) {
            let piece = self
                .hangs_at(&thing.object, ground)
                .and_then(|(slot, points)| Some((slot, part_of(&thing.object, &points, &self.settings)?)));
            return match piece {
                Some((slot, object)) => sorted.of_slot[slot].push(Known { object, track: thing.track }),
                None => sorted.rest.push(thing),
            };
        }
        let is_called_so = is_drawer(&thing.object);
        if is_called_so && slots.len() == 1 {
            self.learn_front(&thing.object, most);
            points = self.split(&thing.object);
        }
        let least = (self.settings.wide, self.settings.wide);
        let shown =
            slots.iter().filter(|slot| self.fills(**slot, &thing.object, &points[**slot], least)).count();
        sorted.as_one |= is_called_so && shown > 1;
        for slot in slots {
            if let Some(object) = self.part_in(&thing.object, &points[slot]) {
                sorted.of_slot[slot].push(Known { object, track: thing.track.clone() });
            }
        }
        // What is called a drawer is nothing else beside it.
        let outside: Vec<usize> = (0..thing.object.cloud.len())
            .filter(|index| self.slot_at(&thing.object.cloud.points[*index], self.settings.flush).is_none())
            .collect();
        if !is_called_so
            && outside.len() as f64 > (1.0 - self.settings.whole) * all
            && let Some(object) = part_of(&thing.object, &outside, &self.settings)
        {
            sorted.rest.push(Known { object, track: thing.track });
        }
    }

    /// Takes what one frame says for and against the slots.
    fn judge(&mut self, sorted: &Sorted) {
        let slots = self.slots.iter().zip(&sorted.of_slot);
        if sorted.as_one || { slots }.any(|(slot, pieces)| are_two(self, slot, pieces)) {
            self.doubt += 1;
        } else if sorted.of_slot.iter().filter(|pieces| !pieces.is_empty()).count() > 1 {
            self.doubt = (self.doubt - 1).max(-2 * self.settings.doubt);
        }
    }

    /// Learns from the front of a thing that is called a drawer and is in this slot alone: where it is in the plane, and how far out.
    fn learn_front(&mut self, object: &Object, slot: usize) {
        let Some((place, outline)) = self.front_of(object) else { return };
        let others = self.slots.iter().enumerate().filter(|(other, _)| *other != slot);
        if self.slots[slot].is_front(&outline, &self.settings) && { others }
            .all(|(_, other)| outline.is_apart_from(&other.outline, &self.settings.outline))
        {
            self.slots[slot].show(outline, object.touches_border, &self.settings.outline);
        }
        if place - self.face > -self.settings.behind
            && self.slots.iter().any(|slot| outline.is_same_as(&slot.outline, &self.settings.outline))
        {
            let (count, sum) = self.places.entry((place / self.settings.layer).round() as i64).or_default();
            *count += 1;
            *sum += place;
            self.settle_face();
        }
    }

    /// The part of something that has these points, without those behind the closed fronts, where a drawer is not seen.
    fn part_in(&self, object: &Object, points: &[usize]) -> Option<Object> {
        let is_before = |index: &&usize| {
            object.cloud.points[**index].coords.dot(&self.way) >= self.face - self.settings.thick
        };
        let before: Vec<usize> = points.iter().filter(is_before).copied().collect();
        let is_too_little = before.len() < self.settings.outline.least_points;
        part_of(object, if is_too_little { points } else { &before }, &self.settings)
    }

    /// Whether what has these points in a slot is of the drawer: it is about as wide and high; or called one and no small thing, which a
    /// frame calls so by mistake where it stands before the drawers; or as wide, without a name, and behind the front: the floor of an
    /// open drawer, or its edges, which are seen from above in pieces.
    fn is_of_drawer(&self, object: &Object, slot: usize, indices: &[usize]) -> bool {
        let BankSettings { named, wide, .. } = self.settings;
        let least = if is_drawer(object) {
            (named, 0.0)
        } else if object.class_name.is_empty() && self.is_behind_front(object, slot, indices) {
            (wide, 0.0)
        } else {
            (wide, wide)
        };
        self.fills(slot, object, indices, least)
    }

    /// Whether these points of something lie in an open drawer: between the closed fronts and its own.
    fn is_behind_front(&self, object: &Object, slot: usize, indices: &[usize]) -> bool {
        let Some(front) = self.slots[slot].front else { return false };
        let behind =
            |index: &&usize| object.cloud.points[**index].coords.dot(&self.way) < front - self.settings.moved;
        let count = indices.iter().filter(behind).count();
        front > self.face + self.settings.out
            && count as f64 >= self.settings.whole * indices.len().max(1) as f64
    }

    /// Whether these points of something reach over so much of a front across and in height.
    fn fills(&self, slot: usize, object: &Object, indices: &[usize], least: (f64, f64)) -> bool {
        let points = indices.iter().filter_map(|index| object.cloud.points.get(*index));
        outline_of(points, &self.side(), &self.settings.outline)
            .is_some_and(|part| part.reaches_over(&self.slots[slot].outline, least))
    }
}

fn is_drawer(object: &Object) -> bool {
    furniture::is_drawer(&object.class_name)
}

/// The part of an object that these of its points are; `None` of too few.
fn part_of(object: &Object, indices: &[usize], settings: &BankSettings) -> Option<Object> {
    if indices.len() < settings.outline.least_points {
        return None;
    }
    let cloud = object.cloud.select(indices);
    let bounds = OrientedBox::upright_around(&cloud.points)?;
    Some(Object { cloud, bounds, affordances: Vec::new(), ..object.clone() })
}

/// All banks that are known.
#[derive(Clone, Debug, Default)]
pub(in crate::map) struct Banks {
    all: Vec<Bank>,
    settings: BankSettings,
}

impl Banks {
    /// None so far.
    pub(in crate::map) fn new(settings: BankSettings) -> Self {
        Self { all: Vec::new(), settings }
    }

    /// Nothing stands where it stood.
    pub(in crate::map) fn forget(&mut self) {
        self.all.clear();
    }

    /// Takes in which drawers were where nothing is now, and were not seen elsewhere: a bank all of whose drawers are gone is gone.
    pub(in crate::map) fn leave(&mut self, is_gone: impl Fn(&ObjectKey) -> bool) {
        self.all.retain(|bank| !bank.slots.iter().all(|slot| is_gone(&slot.key)));
    }

    /// Says of the things of a frame which are drawers of a bank, in their tracks: pieces of one become one, and what a mask took
    /// together is cut. What is no drawer stays as it was.
    pub(in crate::map) fn sort(&mut self, mut seen: Vec<Known>, rule: &MergeRule, update: u64) -> Vec<Known> {
        for bank in &mut self.all {
            let mut sorted = Sorted { of_slot: vec![Vec::new(); bank.slots.len()], ..Sorted::default() };
            let ground = Ground::of(bank, &seen);
            for thing in seen {
                if thing.track.slot.is_some() {
                    sorted.rest.push(thing);
                } else {
                    bank.claim(thing, &ground, &mut sorted);
                }
            }
            bank.judge(&sorted);
            for (slot, mut pieces) in sorted.of_slot.into_iter().enumerate() {
                pieces.sort_by_key(|piece| std::cmp::Reverse(piece.object.cloud.len()));
                let is_cut = pieces.iter().any(|piece| piece.object.touches_border);
                let mut pieces = pieces.into_iter();
                let Some(mut whole) = pieces.next() else { continue };
                pieces.for_each(|piece| whole.merge(piece, rule, update));
                whole.object.view_count = 1;
                whole.track.slot = Some(bank.slots[slot].key.clone());
                whole.track.front = bank.place_in(slot, &whole.object, is_cut);
                sorted.rest.push(whole);
            }
            seen = sorted.rest;
        }
        seen
    }

    /// Learns from the objects as they are now: new banks, and new slots. What else of a bank is on the map
    /// becomes one with its drawer, and a drawer is called what the drawers beside it are called.
    pub(in crate::map) fn learn(
        &mut self,
        objects: &mut Vec<Known>,
        rule: &MergeRule,
        update: u64,
        report: &mut UpdateReport,
    ) {
        self.all.retain(|bank| bank.doubt < self.settings.doubt);
        self.found(objects, update);
        for known in objects.iter_mut() {
            let key = &known.object.key;
            let bank = self.all.iter().find(|bank| bank.slots.iter().any(|slot| slot.key == *key));
            known.track.slot = bank.map(|_| key.clone());
            known.object.slide = bank.and_then(Bank::slide);
        }
        for bank in &mut self.all {
            bank.note_fronts(objects);
            bank.absorb(objects, rule, update, report);
        }
        for bank in &self.all {
            bank.name(objects);
            bank.unname(objects);
            bank.join_body(objects, rule, update, report);
        }
    }

    /// New banks, and new slots of known ones, of drawers that are in none.
    fn found(&mut self, objects: &[Known], update: u64) {
        let BankSettings { views, flush, behind, travel, .. } = self.settings;
        let is_in_bank =
            |object: &Object| self.all.iter().flat_map(|bank| &bank.slots).any(|slot| slot.key == object.key);
        let fresh = objects.iter().filter(|known| known.track.changed == update).map(|known| &known.object);
        let mut fronts: Vec<(&Object, Front, Outline)> = fresh
            .filter(|object| is_drawer(object) && object.view_count >= views && !is_in_bank(object))
            .filter_map(|object| {
                let front = Front::find(&object.cloud.points, &object.viewer())?;
                let on = front.indices.iter().map(|index| &object.cloud.points[*index]);
                let outline = outline_of(on, &side_of(&front.normal), &self.settings.outline)?;
                Some((object, front, outline))
            })
            .collect();
        for bank in &mut self.all {
            fronts.retain(|(object, front, _)| !bank.join(object, &front.normal, -behind..travel));
        }
        // The largest front first: pieces of one come later, and fit no more.
        fronts.sort_by(|a, b| b.2.area().total_cmp(&a.2.area()));
        while !fronts.is_empty() {
            let (first, front, outline) = fronts.remove(0);
            let mut bank = Bank::new(first, &front, outline, self.settings);
            fronts.retain(|(object, other, _)| !bank.join(object, &other.normal, -flush..flush));
            if bank.slots.len() > 1 {
                self.all.push(bank);
            }
        }
    }
}

/// Whether pieces of one slot in one frame are two drawers: both are called so, their fronts share nothing and are alike in height, and
/// each is a good part of the slot. The handle of a closed drawer and a strip of its front beside what hides the rest are none.
fn are_two(bank: &Bank, slot: &Slot, pieces: &[Known]) -> bool {
    let settings = &bank.settings;
    let fronts: Vec<Outline> = pieces
        .iter()
        .filter(|piece| is_drawer(&piece.object))
        .filter_map(|piece| Some(bank.front_of(&piece.object)?.1))
        .filter(|front| slot.is_front(front, settings))
        .collect();
    let heights = |outline: &Outline| outline.up.1 - outline.up.0;
    fronts.iter().enumerate().any(|(number, a)| {
        fronts[number + 1..].iter().any(|b| {
            let (low, high) = if a.up.0 < b.up.0 { (a, b) } else { (b, a) };
            let least = heights(a).min(heights(b));
            low.up.1 <= high.up.0 + settings.two_overlap * least
                && least >= settings.two_alike * heights(a).max(heights(b))
        })
    })
}

impl Bank {
    /// Takes what else of its drawers is on the map into them.
    fn absorb(&self, objects: &mut Vec<Known>, rule: &MergeRule, update: u64, report: &mut UpdateReport) {
        let ground = Ground::of(self, objects);
        let mut number = 0;
        while number < objects.len() {
            let known = &objects[number];
            let hangs = || Some((self.handle_of(known, &ground)?, None));
            let found = self.slot_of(known).or_else(hangs).and_then(|(slot, part)| {
                let key = &self.slots[slot].key;
                Some((objects.iter().position(|known| known.object.key == *key)?, part))
            });
            let Some((place, part)) = found else {
                number += 1;
                continue;
            };
            let other = objects[number].take();
            let drawer = &mut objects[place];
            report_lost(other.object.key, &drawer.object.key, report);
            // An older view shows where it was.
            if let Some(object) = part.filter(|part| part.last_seen >= drawer.object.last_seen) {
                drawer.merge(Known { object, track: other.track }, rule, update);
            }
            objects.remove(number);
        }
    }

    /// Slot in which something lies that is none of the drawers, and what of it lies there: nothing of what is called a drawer and lies
    /// in several, which is several, or was.
    fn slot_of(&self, known: &Known) -> Option<(usize, Option<Object>)> {
        let object = Some(&known.object).filter(|_| known.track.slot.is_none())?;
        let points = self.split(object);
        let most = (0..points.len()).max_by_key(|slot| points[*slot].len())?;
        let is_all = |count: usize| count as f64 >= self.settings.whole * object.cloud.len() as f64;
        let is_whole = is_all(points[most].len());
        let lies = is_whole || is_drawer(object) && is_all(points.iter().map(Vec::len).sum());
        let part = || self.part_in(object, &points[most]).filter(|_| is_whole);
        (lies && self.is_of_drawer(object, most, &points[most])).then(|| (most, part()))
    }

    /// Takes the name of a drawer from what is none of its drawers and lies where they are: no two drawers share a place, so that is
    /// what they are in, or a piece of something.
    fn unname(&self, objects: &mut [Known]) {
        for known in objects.iter_mut().filter(|known| known.track.slot.is_none() && is_drawer(&known.object))
        {
            let object = &mut known.object;
            let is_inside = |point: &&Point3<f64>| self.slot_at(point, self.settings.behind).is_some();
            let inside = object.cloud.points.iter().filter(is_inside).count();
            if inside as f64 >= self.settings.mostly * object.cloud.len() as f64 {
                object.class_votes.retain(|(name, _)| !furniture::is_drawer(name));
                settle_class(object);
            }
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

#[cfg(test)]
mod tests;
