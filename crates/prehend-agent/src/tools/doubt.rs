//! What an end of a plan rests on without being seen well: a look could settle it.
//!
//! Actions look for themselves before they touch anything. A refusal and an answer are final: what they rest on is looked at first.

use super::Toolbox;
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey, ObjectMap, Scope, spatial};

/// Further frames from the same place: they move nothing, and settle what one frame missed or misnamed.
pub(crate) const FRAMES: usize = 2;
/// Most things in doubt that one drive is for: a person waits for it.
const MOST_OPEN: usize = 4;
/// Two sightings of one thing in a room are hardly farther apart than this, metres: what localisation errs by.
const MAY_BE_ONE: f64 = 0.05;
/// Stamps nearer to each other than this are of one frame, seconds: cameras are slower, and a stamp as a float is coarser than
/// its nanoseconds.
const SAME_FRAME: f64 = 1e-3;

/// What the end of a plan rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestsOn {
    /// Which of several is meant: things that one description fits alike.
    Which,
    /// Everything that was asked for, there or not.
    Everything,
}

/// What the plan that is being made went by.
#[derive(Debug, Default)]
pub(super) struct Considered {
    /// What each retrieval found.
    found: Vec<Vec<ObjectKey>>,
    /// Of which it is open whether they are meant, by their names.
    doubtful: Vec<ObjectKey>,
    /// Of which more of the front must be seen to tell.
    unclear: Vec<ObjectKey>,
    /// Among which a choice failed.
    undecided: Vec<ObjectKey>,
    /// Of the doubtful ones those beside which something was found.
    rivals: Vec<ObjectKey>,
    /// When the first look of the goal was taken, seconds.
    since: Option<f64>,
    /// What was driven to in this goal because of doubt.
    neared: Vec<ObjectKey>,
}

impl Considered {
    /// Notes what a retrieval found.
    pub(super) fn found(&mut self, keys: &[ObjectKey], doubtful: &[ObjectKey]) {
        self.found.push(keys.to_vec());
        self.doubtful.extend_from_slice(doubtful);
        if !keys.is_empty() {
            self.rivals.extend(doubtful.iter().filter(|key| !keys.contains(key)).cloned());
        }
    }

    /// At most so many things of those that were not driven to yet; from now on they were.
    fn near(&mut self, most: usize, keys: impl IntoIterator<Item = ObjectKey>) -> Vec<ObjectKey> {
        let before = self.neared.len();
        for key in keys {
            if self.neared.len() < before + most && !self.neared.contains(&key) {
                self.neared.push(key);
            }
        }
        self.neared[before..].to_vec()
    }

    /// Notes when a look was taken; the first one of a goal counts.
    pub(super) fn looked(&mut self, stamp: f64) {
        self.since.get_or_insert(stamp);
    }
}

impl Toolbox<'_> {
    /// Begins a new plan: what another went by does not count.
    pub(crate) fn begin_plan(&mut self) {
        let Considered { since, neared, .. } = std::mem::take(&mut self.considered);
        self.considered = Considered { since, neared, ..Considered::default() };
    }

    /// Whether names left open what is meant.
    pub(crate) fn names_in_doubt(&self) -> bool {
        self.scope == Scope::Local && !self.considered.doubtful.is_empty()
    }

    /// Says of which things it is open whether one of them is meant: nothing else is left.
    pub(crate) fn doubt(&mut self, keys: Vec<ObjectKey>) {
        self.considered.found(&[], &keys);
    }

    /// Says of whose front too little is seen, in place of what was said before.
    pub(crate) fn unclear(&mut self, keys: Vec<ObjectKey>) {
        self.considered.unclear = keys;
    }

    /// Says of one thing more that too little of its front is seen.
    pub(crate) fn unclear_too(&mut self, key: &ObjectKey) {
        self.considered.unclear.push(key.clone());
    }

    /// Says of things that a choice among them failed: another of them, or how they differ, may not have been seen.
    pub(crate) fn not_chosen(&mut self, keys: &[ObjectKey]) {
        self.considered.undecided.extend_from_slice(keys);
    }

    /// Whether only memory shows a thing: the looks of this goal did not see it.
    pub(crate) fn is_remembered(&self, object: &Object) -> bool {
        self.considered.since.is_some_and(|since| object.last_seen < since - SAME_FRAME)
    }

    /// What the end of the plan rests on and a look could settle, in the order it came up, each once: what only memory shows, for
    /// the looks of this goal did not see it; what views name differently; what shows too little of its front.
    ///
    /// Errors: those of a map update.
    pub(crate) fn doubts(&mut self, end: RestsOn) -> Result<Vec<ObjectKey>, Fault> {
        if self.scope == Scope::Room {
            // No further view of the room is to be had from here; see `doubts_in_room`.
            return Ok(Vec::new());
        }
        let map = self.map()?;
        let Considered { found, doubtful, unclear, .. } = &self.considered;
        let is_remembered = |key: &ObjectKey| map.get(key).is_some_and(|object| self.is_remembered(object));
        let held = self.state.held_object.as_ref();
        let counts = |group: &&Vec<ObjectKey>| end == RestsOn::Everything || group.len() > 1;
        let rests_on: Vec<&ObjectKey> = found.iter().filter(counts).flatten().collect();
        let nothing_found = found.iter().any(Vec::is_empty) && end == RestsOn::Everything;
        // Who names nothing here is not looking from the wrong place: no motion follows from a detector without names.
        let names_come = map.objects.iter().any(|object| !object.class_name.is_empty());
        let mut doubts: Vec<ObjectKey> = Vec::new();
        let in_doubt = rests_on
            .iter()
            .copied()
            .filter(|key| is_remembered(key) || doubtful.contains(key))
            .chain(doubtful.iter().filter(|_| nothing_found && names_come))
            .chain(unclear);
        for key in in_doubt.filter(|key| Some(*key) != held && map.get(key).is_some()) {
            if !doubts.contains(key) {
                doubts.push(key.clone());
            }
        }
        Ok(doubts)
    }

    /// What a drive nearer to it could settle in a room, each thing once in a goal. Always: what may be meant beside what was found, and
    /// was hardly seen or has no name that most views give it. Before the plan ends otherwise than with actions (`end`) also: what is
    /// unclear, those among which a choice failed, and of several that fit alike those that were hardly seen or may be one.
    pub(super) fn doubts_in_room(&mut self, map: &ObjectMap, end: Option<RestsOn>) -> Vec<ObjectKey> {
        let is_hardly_seen = |key: &ObjectKey| map.get(key).is_some_and(Object::is_hardly_seen);
        let is_unsure = |key: &ObjectKey| map.get(key).is_some_and(Object::is_unsure);
        let may_be_one = |key: &ObjectKey, other: &ObjectKey| match (map.get(key), map.get(other)) {
            (Some(one), Some(another)) => {
                let level = (spatial::centre(one).z - spatial::centre(another).z).abs()
                    < spatial::height_of(one).min(spatial::height_of(another)) / 2.0;
                key != other && level && spatial::gap(one, another) < MAY_BE_ONE
            }
            _ => false,
        };
        let Considered { found, unclear, undecided, rivals, .. } = &mut self.considered;
        let mut open: Vec<ObjectKey> = std::mem::take(rivals);
        open.retain(|key| is_hardly_seen(key) || is_unsure(key));
        if end.is_some() {
            open.extend(unclear.iter().chain(undecided.iter()).cloned());
            for group in found.iter().filter(|group| group.len() > 1) {
                let is_open = |key: &&ObjectKey| {
                    is_hardly_seen(key) || group.iter().any(|other| may_be_one(key, other))
                };
                open.extend(group.iter().filter(is_open).cloned());
            }
        }
        open.retain(|key| map.get(key).is_some());
        self.considered.near(MOST_OPEN, open)
    }
}
