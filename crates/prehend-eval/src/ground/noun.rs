//! Noun phrases to objects of the true scene.

use super::Vocabulary;
use super::reading::{Names, has_color};
use crate::place::{self, Side};
use prehend_agent::language::{
    Attribute, AttributeKind, Dimension, Head, Modifier, NounPhrase, Quantity, Selector, Spatial, TableRegion,
};
use prehend_scene::Reason;
use prehend_sim::scene::Shape;
use prehend_sim::world::{ObjectTruth, Truth};

/// Gap up to which a thing is near another, and from which it is far, metres.
const NEAR: f64 = 0.15;
const FAR: f64 = 0.25;
/// Farthest from the furniture that tells of a room that a thing is still in that room, metres.
const SAME_ROOM: f64 = 2.5;
/// How much nearer the nearest must be to be the one that is near.
const NEARER: f64 = 0.6;
/// Measures that differ by less than this share are the same to the eye.
const ALIKE: f64 = 0.04;
/// Chains of phrases within phrases that are followed.
const DEPTH: usize = 8;

/// A scene with what was spoken of.
pub(super) struct Scene<'a> {
    pub(super) truth: &'a Truth,
    pub(super) words: &'a Vocabulary,
    names: Names,
    /// Indices of the objects spoken of last.
    pub(super) spoken: Vec<usize>,
}

/// Objects that a phrase means: at least `need` of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) members: Vec<usize>,
    pub(super) need: usize,
}

/// Reasons that are fair for refusing.
pub(super) type Refusal = Vec<Reason>;

impl<'a> Scene<'a> {
    pub(super) fn new(truth: &'a Truth, words: &'a Vocabulary) -> Self {
        Self { truth, words, names: Names::of(truth), spoken: Vec::new() }
    }

    pub(super) fn object(&self, index: usize) -> &'a ObjectTruth {
        &self.truth.objects[index]
    }

    /// The objects that a phrase means; they are what "it" and "them" mean next.
    pub(super) fn resolve(&mut self, phrase: &NounPhrase) -> Result<Group, Refusal> {
        let group = self.group(phrase, 0)?;
        self.spoken = group.members.clone();
        Ok(group)
    }

    /// As [`Self::resolve`], for targets: what was spoken of stays what is moved.
    pub(super) fn resolve_target(&self, phrase: &NounPhrase) -> Result<Group, Refusal> {
        self.group(phrase, 0)
    }

    /// All objects that a phrase describes, however many were meant.
    pub(super) fn fitting(&mut self, phrase: &NounPhrase) -> Result<Vec<usize>, Refusal> {
        self.described(phrase, 0)
    }

    fn group(&self, phrase: &NounPhrase, depth: usize) -> Result<Group, Refusal> {
        let mut members = self.described(phrase, depth)?;
        let one = |members: Vec<usize>| match members.len() {
            0 => Err(vec![Reason::NotFound]),
            1 => Ok(Group { members, need: 1 }),
            _ => Err(vec![Reason::Ambiguous]),
        };
        if matches!(phrase.quantity, Quantity::Other | Quantity::Others) {
            members.retain(|index| !self.spoken.contains(index));
        }
        let many = |members: Vec<usize>, need: usize| match members.len() {
            0 => Err(vec![Reason::NotFound]),
            found if found < need => Err(vec![Reason::NotFound, Reason::Infeasible]),
            _ => Ok(Group { members, need }),
        };
        match phrase.quantity {
            Quantity::One if phrase.head == Head::Them => {
                let need = members.len();
                many(members, need)
            }
            Quantity::One | Quantity::Other => one(members),
            Quantity::Any => many(members, 1),
            Quantity::Some(count) => many(members, count as usize),
            Quantity::Exactly(count) => {
                if members.len() > count as usize {
                    return Err(vec![Reason::Ambiguous, Reason::NotFound]);
                }
                many(members, count as usize)
            }
            Quantity::All | Quantity::Others => {
                let need = members.len();
                many(members, need)
            }
        }
    }

    fn described(&self, phrase: &NounPhrase, depth: usize) -> Result<Vec<usize>, Refusal> {
        if depth > DEPTH {
            return Err(vec![Reason::NotUnderstood]);
        }
        if !phrase.alternatives.is_empty() {
            let mut found: Vec<usize> = Vec::new();
            for option in &phrase.alternatives {
                let fits = self.described(option, depth + 1)?;
                found.extend(fits.into_iter().filter(|index| !found.contains(index)).collect::<Vec<_>>());
            }
            for selector in &phrase.selectors {
                found = self.selected(found, selector, depth)?;
            }
            return Ok(found);
        }
        let all = 0..self.truth.objects.len();
        let mut found: Vec<usize> = match &phrase.head {
            Head::Noun(noun) => self.names.named(noun, &phrase.quantity, &self.words.synonyms),
            Head::Anything => all.collect(),
            Head::It | Head::Them => {
                if self.spoken.is_empty() {
                    all.filter(|index| self.object(*index).held).collect()
                } else {
                    self.spoken.clone()
                }
            }
        };
        found.retain(|index| {
            let object = self.object(*index);
            let has = |attribute: &Attribute| has(object, attribute, self.words);
            phrase.attributes.iter().all(|attribute| has(attribute) && self.is_so(object, attribute))
                && !phrase.excluded_attributes.iter().any(has)
        });
        for modifier in &phrase.modifiers {
            found = self.related(found, modifier, depth)?;
        }
        for except in &phrase.except {
            let out = self.described(except, depth + 1)?;
            found.retain(|index| !out.contains(index));
        }
        for selector in &phrase.selectors {
            found = self.selected(found, selector, depth)?;
        }
        Ok(found)
    }

    fn targets(&self, phrases: &[NounPhrase], depth: usize) -> Result<Vec<usize>, Refusal> {
        let mut found = Vec::new();
        for phrase in phrases {
            found.extend(self.group(phrase, depth + 1)?.members);
        }
        Ok(found)
    }

    fn related(&self, found: Vec<usize>, modifier: &Modifier, depth: usize) -> Result<Vec<usize>, Refusal> {
        if let Some(room) = self.room_of(modifier) {
            let is_there = |index: &usize| self.stands_in(room, *index) != modifier.negated;
            return Ok(found.into_iter().filter(is_there).collect());
        }
        let targets = self.targets(&modifier.targets, depth)?;
        let holds = |index: usize, loose: bool| {
            self.holds(modifier.relation, index, &targets, loose) != modifier.negated
        };
        let strict: Vec<usize> = found.iter().copied().filter(|index| holds(*index, false)).collect();
        if modifier.relation == Spatial::Near && !modifier.negated && strict.len() > 1 {
            return Ok(self.clearly_nearest(strict, &targets));
        }
        if !strict.is_empty() || modifier.negated {
            return Ok(strict);
        }
        // Nothing is quite left of it: then what is more left than not.
        Ok(found.into_iter().filter(|index| holds(*index, true)).collect())
    }

    /// The room that a modifier names ("in the kitchen"); a room has no body that could be resolved.
    fn room_of<'m>(&self, modifier: &'m Modifier) -> Option<&'m str> {
        let [NounPhrase { head: Head::Noun(noun), .. }] = modifier.targets.as_slice() else { return None };
        let is_place = matches!(modifier.relation, Spatial::In | Spatial::At | Spatial::On);
        let is_room = self.truth.base.is_some() && self.words.lexicon.rooms.is_room(noun);
        (is_place && is_room && self.names.named(noun, &Quantity::One, &self.words.synonyms).is_empty())
            .then_some(noun)
    }

    /// Whether an object stands in a room: the nearest furniture that tells of a room tells of that one.
    fn stands_in(&self, room: &str, index: usize) -> bool {
        let object = self.object(index);
        let told = self.truth.objects.iter().filter_map(|other| {
            Some((place::gap(object, other), self.words.lexicon.rooms.tells(room, &other.class)?))
        });
        told.min_by(|a, b| a.0.total_cmp(&b.0)).is_some_and(|(gap, tells)| tells && gap < SAME_ROOM)
    }

    /// The nearest to the targets when it is clearly nearer than the next, else all.
    fn clearly_nearest(&self, mut found: Vec<usize>, targets: &[usize]) -> Vec<usize> {
        let gap = |index: usize| {
            let others = targets.iter().filter(|target| **target != index);
            others.map(|t| place::gap(self.object(index), self.object(*t))).fold(f64::MAX, f64::min)
        };
        found.sort_by(|a, b| gap(*a).total_cmp(&gap(*b)));
        if let [first, second, ..] = found.as_slice()
            && gap(*first) < NEARER * gap(*second)
        {
            found.truncate(1);
        }
        found
    }

    fn holds(&self, relation: Spatial, index: usize, targets: &[usize], loose: bool) -> bool {
        let object = self.object(index);
        let mut others = targets.iter().filter(|target| **target != index).map(|target| self.object(*target));
        let aside = |target: &ObjectTruth, side: Side| {
            let (along, across) = place::offset(object, target, side);
            if loose { along > 0.01 } else { along > 0.03 && across.abs() <= 1.5 * along + 0.05 }
        };
        let on = |a: &ObjectTruth, b: &ObjectTruth| {
            place::is_on(self.truth, a, b) || a.on.contains(&b.name) || a.inside.contains(&b.name)
        };
        let reach = if loose { 2.0 } else { 1.0 };
        let near = |target: &ObjectTruth| place::gap(object, target) <= NEAR * reach;
        match relation {
            Spatial::On => others.any(|target| on(object, target)),
            Spatial::In => others.any(|t| place::is_in(object, t) || object.inside.contains(&t.name)),
            Spatial::At => others.any(|target| on(object, target) || near(target)),
            Spatial::Near => others.any(near),
            Spatial::FarFrom => others.all(|target| place::gap(object, target) >= FAR / reach),
            Spatial::LeftOf => others.any(|target| aside(target, Side::Left)),
            Spatial::RightOf => others.any(|target| aside(target, Side::Right)),
            Spatial::InFrontOf => others.any(|target| aside(target, Side::Front)),
            Spatial::Behind => others.any(|target| aside(target, Side::Back)),
            Spatial::Between => {
                let ends: Vec<&ObjectTruth> = others.collect();
                matches!(ends.as_slice(), [a, b] if place::is_between(object, a, b))
            }
            Spatial::Under | Spatial::With => others.any(|target| on(target, object)),
            Spatial::Above => others.any(|target| on(object, target)),
            Spatial::PartOf => targets.contains(&index) || others.any(|target| is_part(object, target)),
            Spatial::OnTable => place::is_on_table(self.truth, object),
            Spatial::InRegion(region) => in_region(object, region),
            Spatial::Held => object.held,
        }
    }

    fn selected(&self, found: Vec<usize>, selector: &Selector, depth: usize) -> Result<Vec<usize>, Refusal> {
        let measure = |dimension: Dimension| move |index: usize| size(self.object(index), dimension);
        let nearest = |targets: Vec<usize>| {
            move |index: usize| {
                let gaps = targets.iter().filter(|t| **t != index).map(|t| {
                    let (a, b) = (self.object(index), self.object(*t));
                    (a.position[0] - b.position[0]).hypot(a.position[1] - b.position[1])
                });
                gaps.fold(f64::MAX, f64::min)
            }
        };
        let away = |index: usize| self.object(index).position[0].hypot(self.object(index).position[1]);
        Ok(match selector {
            Selector::Most(dimension) => greatest(found, measure(*dimension), 1.0),
            Selector::Least(dimension) => greatest(found, measure(*dimension), -1.0),
            Selector::Side(region) => self.to_side(found, *region),
            Selector::Nth(n, region) => {
                let mut order = found;
                order.sort_by(|a, b| self.toward(*b, *region).total_cmp(&self.toward(*a, *region)));
                let place = (*n as usize).checked_sub(1);
                place.and_then(|place| order.get(place).copied()).into_iter().collect()
            }
            Selector::Level(top) => self.rows(found, *top).into_iter().next().unwrap_or_default(),
            Selector::NthLevel(n, top) => {
                let place = (*n as usize).checked_sub(1);
                place.and_then(|place| self.rows(found, *top).into_iter().nth(place)).unwrap_or_default()
            }
            Selector::Number(n) => {
                let rows = self.rows(found.clone(), true);
                // Side by side nobody can tell from where it is counted.
                let place = (*n as usize).checked_sub(1).filter(|_| self.is_stacked(&found));
                place.and_then(|place| rows.into_iter().nth(place)).unwrap_or(found)
            }
            Selector::Closest(phrases) => {
                let targets = self.targets(phrases, depth)?;
                let found: Vec<usize> = found.into_iter().filter(|i| !targets.contains(i)).collect();
                greatest(found, nearest(targets), -1.0)
            }
            Selector::Farthest(phrases) => {
                let targets = self.targets(phrases, depth)?;
                let found: Vec<usize> = found.into_iter().filter(|i| !targets.contains(i)).collect();
                greatest(found, nearest(targets), 1.0)
            }
            Selector::ClosestToRobot => greatest(found, away, -1.0),
            Selector::FarthestFromRobot => greatest(found, away, 1.0),
            Selector::MoreThan(dimension, phrases) | Selector::LessThan(dimension, phrases) => {
                let more = matches!(selector, Selector::MoreThan(..));
                let targets = self.targets(phrases, depth)?;
                let value = measure(*dimension);
                let keeps = |index: &usize| {
                    targets.iter().all(|target| *target != *index && (value(*index) > value(*target)) == more)
                };
                found.into_iter().filter(keeps).collect()
            }
        })
    }

    /// Things in rows of one height, from the top or the bottom; of things with links of one class each counts for itself.
    fn rows(&self, mut found: Vec<usize>, top: bool) -> Vec<Vec<usize>> {
        let height = |index: &usize| self.object(*index).position[2] * if top { -1.0 } else { 1.0 };
        found.sort_by(|a, b| height(a).total_cmp(&height(b)));
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for index in found {
            match rows.last_mut() {
                Some(row) if (height(&row[0]) - height(&index)).abs() < 0.02 => row.push(index),
                _ => rows.push(vec![index]),
            }
        }
        rows
    }

    /// Whether things are above each other rather than side by side.
    fn is_stacked(&self, found: &[usize]) -> bool {
        let spread = |axis: usize| {
            let values = || found.iter().map(|index| self.object(*index).position[axis]);
            values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
        };
        let links = found.iter().all(|index| self.object(*index).name.contains('/'));
        self.rows(found.to_vec(), true).len() == found.len()
            && (links || spread(2) > spread(0).max(spread(1)))
    }

    /// Whether a thing is in the state that an attribute names ("the open drawer"); other attributes and things without joints are.
    fn is_so(&self, object: &ObjectTruth, attribute: &Attribute) -> bool {
        let state = match attribute.word.as_str() {
            "open" | "opened" => "open",
            "closed" | "shut" => "closed",
            _ => return true,
        };
        let mut joints = self.truth.mechanisms.iter().filter(|joint| joint.entity == object.name).peekable();
        joints.peek().is_none() || joints.any(|joint| joint.states.iter().any(|held| held == state))
    }

    /// How far an object is towards a side, metres.
    fn toward(&self, index: usize, region: TableRegion) -> f64 {
        let [x, y, _] = self.object(index).position;
        match region {
            TableRegion::Left => y,
            TableRegion::Right => -y,
            TableRegion::Front => -x,
            TableRegion::Back => x,
            TableRegion::Center | TableRegion::Edge => 0.0,
        }
    }

    fn to_side(&self, found: Vec<usize>, region: TableRegion) -> Vec<usize> {
        match region {
            TableRegion::Center if found.len() > 2 && self.is_stacked(&found) => {
                let rows = self.rows(found, true);
                if rows.len() % 2 == 1 { rows[rows.len() / 2].clone() } else { rows.concat() }
            }
            TableRegion::Center if found.len() > 2 => {
                let mut order = found;
                order.sort_by(|a, b| {
                    self.toward(*a, TableRegion::Left).total_cmp(&self.toward(*b, TableRegion::Left))
                });
                if order.len() % 2 == 1 { vec![order[order.len() / 2]] } else { order }
            }
            TableRegion::Center | TableRegion::Edge => found,
            TableRegion::Left | TableRegion::Right | TableRegion::Front | TableRegion::Back => {
                let best = found.iter().map(|i| self.toward(*i, region)).fold(f64::MIN, f64::max);
                found.into_iter().filter(|i| self.toward(*i, region) > best - 0.015).collect()
            }
        }
    }
}

/// Whether an object is a link of another: the simulator calls it `object/link`.
fn is_part(part: &ObjectTruth, whole: &ObjectTruth) -> bool {
    part.name.strip_prefix(&whole.name).is_some_and(|link| link.starts_with('/'))
}

/// The ones with the greatest value (sign 1) or the least (-1); several when they are alike.
fn greatest(found: Vec<usize>, value: impl Fn(usize) -> f64, sign: f64) -> Vec<usize> {
    let best = found.iter().map(|index| sign * value(*index)).fold(f64::MIN, f64::max);
    let margin = ALIKE * best.abs();
    found.into_iter().filter(|index| sign * value(*index) >= best - margin).collect()
}

/// A size, metres (or cubic metres).
fn size(object: &ObjectTruth, dimension: Dimension) -> f64 {
    let half = object.half_extents;
    match dimension {
        Dimension::Size => 8.0 * half.iter().product::<f64>(),
        Dimension::Height => 2.0 * place::half_height(object),
        Dimension::Length => 2.0 * half[0].max(half[1]),
        Dimension::Thickness => 2.0 * half.iter().copied().fold(f64::MAX, f64::min),
    }
}

fn in_region(object: &ObjectTruth, region: TableRegion) -> bool {
    let [x, y, _] = object.position;
    match region {
        TableRegion::Left => y > 0.02,
        TableRegion::Right => y < -0.02,
        TableRegion::Front => x < 0.44,
        TableRegion::Back => x > 0.46,
        TableRegion::Center => y.abs() < 0.15,
        TableRegion::Edge => true,
    }
}

/// Whether an object has a property; what cannot be known of it counts as had.
fn has(object: &ObjectTruth, attribute: &Attribute, words: &Vocabulary) -> bool {
    match attribute.kind {
        AttributeKind::Color => has_color(object, &attribute.word, &words.synonyms),
        AttributeKind::Shape => has_shape(&object.shape, &attribute.word),
        AttributeKind::Material | AttributeKind::Other => true,
    }
}

fn has_shape(shape: &Shape, word: &str) -> bool {
    let flat_sided = matches!(shape, Shape::Box { .. } | Shape::Tray { .. });
    match word {
        "round" | "circular" | "curved" | "oval" => !flat_sided,
        "spherical" => matches!(shape, Shape::Sphere { .. }),
        "cylindrical" => {
            matches!(
                shape,
                Shape::Cylinder { .. } | Shape::Can { .. } | Shape::Mug { .. } | Shape::Bottle { .. }
            )
        }
        "square" | "rectangular" | "cubic" | "cubical" | "boxy" | "box-shaped" | "angular" => flat_sided,
        "hollow" => shape.hollow().is_some(),
        _ => true,
    }
}
