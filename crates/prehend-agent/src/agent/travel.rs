//! Going to where things are, and finding them there again (ASP III-D).

use super::{Executor, Remembered};
use crate::tools::Interaction;
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey, ObjectMap, Reason, Relation, Scope, Skill, spatial};

/// How far from where the map of the room shows it a thing may be found and be taken for it, metres: errors of localisation and
/// of the map.
const DRIFT: f64 = 0.30;
/// Distance within which a thing that is found stands for another object of the room, metres.
const EXPLAINED: f64 = 0.15;
/// Candidates asked for: other things of the kind may stand about.
const SEVERAL: u32 = 16;
/// Survey poses from which a thing is looked for before it counts as gone, the first one included.
const LOOKS: u32 = 3;
/// A thing with sides from which it is furniture that carries things rather than a thing itself, metres.
const FURNITURE: f64 = 0.35;

impl Executor<'_, '_> {
    /// Brings the robot to an object of the plan and finds it there; its key in the local map. On a fixed arm the object is only
    /// located.
    pub(super) fn reach(&mut self, object: &ObjectKey, action: &str) -> Result<ObjectKey, Fault> {
        if !self.tools.rooms() {
            return self.locate(object);
        }
        if self.is_held(object) {
            return Ok(self.alias(object));
        }
        self.travel(object, action)?;
        self.redetect(object)
    }

    /// Drives to an object of the plan, or to what it was put in or on.
    pub(super) fn travel(&mut self, object: &ObjectKey, action: &str) -> Result<(), Fault> {
        let stop = self.moved_to.get(object).unwrap_or(object).clone();
        if stop.scope() != Scope::Room {
            // A thing that was in the hand before the room was mapped: it is where the robot is.
            return Ok(());
        }
        let arrival = self.tools.go_to(&stop, action)?;
        if arrival.moved {
            // Other keys are of the place that was left.
            let held = self.tools.state().held_object.clone();
            self.aliases.retain(|_, alias| Some(&*alias) == held.as_ref());
        }
        Ok(())
    }

    /// Finds an object of the room in the local map by the query it was grounded with (ASP III-D ii): the match nearest to where
    /// it should be; else the only match that is no other known thing; further looks before it counts as stale.
    fn redetect(&mut self, object: &ObjectKey) -> Result<ObjectKey, Fault> {
        let Some(remembered) = self.memory.get(object).cloned() else {
            return Err(Fault::new(Reason::NotFound, format!("{object} is not in the map of the room")));
        };
        let query = self.tools.query_of(object).unwrap_or(&remembered.query).to_owned();
        for look in 0..LOOKS {
            if look > 0 {
                self.tools.survey(Skill::Look, "", Some(&self.alias(object)))?;
            }
            let map = self.tools.map()?;
            let (found, _) = self.tools.object_retrieval(&query, SEVERAL)?;
            let fits = |candidate: &&Object| {
                found.keys.contains(&candidate.key) || candidate.class_name == remembered.class_name
            };
            let candidates: Vec<&Object> = map.objects.iter().filter(fits).collect();
            if let Some(key) = self.nearest_to(object, &remembered, &candidates, &found.keys) {
                self.aliases.insert(object.clone(), key.clone());
                self.tools.add_to_inventory(&key);
                return Ok(key);
            }
        }
        let name = &remembered.query;
        self.gone = Some(object.clone());
        Err(Fault::new(
            Reason::Stale,
            format!("The {name} is not where I saw it when I mapped the room; I do not see it there."),
        ))
    }

    /// Which of the candidates is the object.
    fn nearest_to(
        &self,
        object: &ObjectKey,
        remembered: &Remembered,
        candidates: &[&Object],
        confirmed: &[ObjectKey],
    ) -> Option<ObjectKey> {
        let map_from_arm = self.tools.map_from_arm()?;
        let in_room = |candidate: &Object| map_from_arm * spatial::centre(candidate);
        let taken =
            |key: &ObjectKey| self.aliases.iter().any(|(other, alias)| other != object && alias == key);
        // Of those that the query confirms first.
        for confirmed_only in [true, false] {
            let nearest = candidates
                .iter()
                .filter(|candidate| !confirmed_only || confirmed.contains(&candidate.key))
                .filter(|candidate| !taken(&candidate.key))
                .map(|candidate| ((in_room(candidate) - remembered.place).xy().norm(), candidate))
                .filter(|(distance, _)| *distance <= DRIFT.max(0.5 * remembered.size))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, found)) = nearest {
                return Some(found.key.clone());
            }
        }
        // It may have been moved about its place: the only one that is nothing else the room is known to have.
        let explained = |candidate: &Object| {
            self.places.iter().any(|(key, class, place)| {
                key != object
                    && *class == candidate.class_name
                    && (in_room(candidate) - place).xy().norm() <= EXPLAINED
            })
        };
        let mut strangers = candidates
            .iter()
            .filter(|candidate| confirmed.contains(&candidate.key) && !taken(&candidate.key))
            .filter(|candidate| !explained(candidate));
        match (strangers.next(), strangers.next()) {
            (Some(only), None) => Some(only.key.clone()),
            _ => None,
        }
    }

    /// Puts what is held where the plan says, after driving there.
    pub(super) fn place_there(
        &mut self,
        object: &ObjectKey,
        relation: Relation,
        targets: &[ObjectKey],
        drop: bool,
    ) -> Result<(), Fault> {
        let action = Interaction::place_text(relation, drop);
        let Some(first) = targets.first() else {
            return self.put(relation, &[], drop);
        };
        self.travel(first, &action)?;
        let is_support = |target: &ObjectKey| {
            self.memory.get(target).is_some_and(|it| it.width > FURNITURE && relation == Relation::On)
        };
        if targets.len() == 1 && is_support(first) {
            // A table or a counter is no thing of the local map, but what carries them.
            self.put(Relation::Table, &[], drop)?;
        } else {
            let mut keys = Vec::new();
            for target in targets {
                keys.push(self.redetect(target)?);
            }
            self.put(relation, &keys, drop)?;
        }
        // The map of the room still shows it where it was.
        self.moved_to.insert(object.clone(), first.clone());
        if let Some(place) = self.memory.get(first).map(|target| target.place)
            && let Some(memory) = self.memory.get_mut(object)
        {
            memory.place = place;
        }
        Ok(())
    }
}

/// Where every object of the room is: key, class and middle.
pub(super) fn places(map: &ObjectMap) -> Vec<(ObjectKey, String, nalgebra::Point3<f64>)> {
    let place = |object: &Object| (object.key.clone(), object.class_name.clone(), spatial::centre(object));
    map.objects.iter().map(place).collect()
}
