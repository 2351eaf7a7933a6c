//! Going to where things are, and finding them there again (ASP III-D).

use super::executor::{Executor, How, Remembered};
use crate::planner::{is_furniture, is_made, meant_here, stands_in_or_on};
use crate::world::Fault;
use prehend_scene::{
    Intent, Object, ObjectKey, ObjectMap, Reason, Relation, Scope, Skill, furniture, spatial,
};

/// How far from where the map of the room shows it a thing may be found and be taken for it, metres: errors of localisation and
/// of the map.
const DRIFT: f64 = 0.30;
/// Distance within which a thing that is found stands for another object of the room, metres.
const EXPLAINED: f64 = 0.15;
/// How much higher or lower than the map of the room shows it a drawer may be found, metres.
const ROW: f64 = 0.08;
/// Candidates asked for: other things of the kind may stand about.
const SEVERAL: u32 = 16;
/// Survey poses from which a thing is looked for before it counts as gone, the first one included.
const LOOKS: u32 = 3;

impl Executor<'_, '_> {
    /// Brings the robot to an object of the plan and finds it there; its key in the local map. On a fixed arm the object is only
    /// located.
    pub(super) fn reach(&mut self, object: &ObjectKey, intent: Option<&Intent>) -> Result<ObjectKey, Fault> {
        if !self.tools.rooms() {
            return self.locate(object);
        }
        if self.is_held(object) {
            return Ok(self.alias(object));
        }
        self.travel(object, intent)?;
        self.redetect(object)
    }

    /// Drives to an object of the plan, or to what it was put in or on.
    pub(super) fn travel(&mut self, object: &ObjectKey, intent: Option<&Intent>) -> Result<(), Fault> {
        let stop = self.moved_to.get(object).unwrap_or(object).clone();
        if stop.scope() != Scope::Room {
            // A thing that was in the hand before the room was mapped: it is where the robot is.
            return Ok(());
        }
        let arrival = self.tools.go_to(&stop, intent)?;
        if arrival.moved {
            // Other keys are of the place that was left.
            let held = self.tools.state().held_object.clone();
            self.aliases.retain(|_, alias| Some(&*alias) == held.as_ref());
        }
        Ok(())
    }

    /// Whether something that was driven to is already as an action makes it, which from afar nobody can tell: two views from near by
    /// have to agree.
    pub(super) fn is_so_already(&mut self, key: &ObjectKey, action: &str) -> Result<bool, Fault> {
        if !self.tools.rooms() || !self.shows(key, action)? {
            return Ok(false);
        }
        self.tools.survey(Skill::Look, self.front_view.unwrap_or(""), Some(key))?;
        let shows = self.shows(key, action)?;
        self.tools.add_to_inventory(key);
        Ok(shows)
    }

    /// Whether the local map shows something to be as an action makes it.
    fn shows(&mut self, key: &ObjectKey, action: &str) -> Result<bool, Fault> {
        let map = self.tools.map()?;
        let Some(object) = map.get(key) else { return Ok(false) };
        let makes = self.tools.lexicon().actions.rule(action, &object.class_name).and_then(|rule| rule.makes);
        Ok(makes.is_some_and(|makes| is_made(key, makes, &map)))
    }

    /// Whether something that the map of the room shows where it shall be put is seen to be there now. `false` without a look when
    /// the map does not show it so.
    pub(super) fn stands_already(
        &mut self,
        object: &ObjectKey,
        relation: Relation,
        targets: &[ObjectKey],
        room: &ObjectMap,
    ) -> Result<bool, Fault> {
        let (Some(known), [target]) = (room.get(object), targets) else { return Ok(false) };
        let untouched = !self.moved_to.contains_key(object) && !self.is_held(object);
        let is_shown = room.get(target).is_some_and(|target| stands_in_or_on(known, relation, target, room));
        if !self.tools.rooms() || !untouched || !is_shown {
            return Ok(false);
        }
        let key = self.reach(object, None)?;
        let target_here = match room.get(target).is_some_and(is_furniture) {
            true => None,
            false => Some(self.redetect(target)?),
        };
        let map = self.tools.map()?;
        let Some(seen) = map.get(&key) else { return Ok(false) };
        match (target_here.and_then(|target| map.get(&target)), self.tools.map_from_arm()) {
            (Some(target), _) => Ok(stands_in_or_on(seen, relation, target, &map)),
            (None, Some(map_from_arm)) => {
                let moved = (map_from_arm * spatial::centre(seen) - spatial::centre(known)).norm();
                Ok(moved <= DRIFT)
            }
            (None, None) => Ok(false),
        }
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
            let singled_out = self.singled_out(object)?;
            let map = self.tools.map()?;
            let (found, _) = self.tools.object_retrieval(&query, SEVERAL)?;
            let fits = |candidate: &&Object| match singled_out.as_slice() {
                [] => found.keys.contains(&candidate.key) || candidate.class_name == remembered.class_name,
                keys => keys.contains(&candidate.key),
            };
            let candidates: Vec<&Object> = map.objects.iter().filter(fits).collect();
            let by_phrase = self.tools.phrase_of(object).is_some();
            // The floor is level: heights have no error of localisation.
            let row = if by_phrase && !self.is_several_here(object, &map)? { ROW } else { f64::INFINITY };
            if let Some(key) = self.nearest_to(object, &remembered, row, &candidates, &found.keys) {
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

    /// Of drawers or doors in one piece of furniture the one that the phrase singles out, looked at from before them; empty when
    /// none was meant.
    fn singled_out(&mut self, object: &ObjectKey) -> Result<Vec<ObjectKey>, Fault> {
        let Some(phrase) = self.tools.phrase_of(object).cloned() else { return Ok(Vec::new()) };
        // From above first: what carries the furniture shows there.
        self.tools.map()?;
        if let Some(view) = self.front_view {
            self.tools.survey(Skill::Look, view, None)?;
        }
        meant_here(&phrase, self.tools, self.knowledge)
    }

    /// Whether what the map of the room has as one drawer or door is several from near by: then its height there says nothing.
    fn is_several_here(&mut self, object: &ObjectKey, here: &ObjectMap) -> Result<bool, Fault> {
        let room = self.tools.room()?;
        let (Some(known), Some(map_from_arm)) = (room.get(object), self.tools.map_from_arm()) else {
            return Ok(false);
        };
        let panels = here.objects.iter().filter(|panel| furniture::is_panel(&panel.class_name)).collect();
        let inside = furniture::without_pieces(panels).into_iter().filter(|panel| {
            let off = map_from_arm * spatial::centre(panel) - spatial::centre(known);
            off.z.abs() < spatial::height_of(known) / 2.0 && off.xy().norm() < DRIFT
        });
        Ok(inside.count() > 1)
    }

    /// Which of the candidates is the object; none is more than `row` higher or lower, metres.
    fn nearest_to(
        &self,
        object: &ObjectKey,
        remembered: &Remembered,
        row: f64,
        candidates: &[&Object],
        confirmed: &[ObjectKey],
    ) -> Option<ObjectKey> {
        let map_from_arm = self.tools.map_from_arm()?;
        let in_room = |candidate: &Object| map_from_arm * spatial::centre(candidate);
        let in_row = |candidate: &Object| (in_room(candidate).z - remembered.place.z).abs() <= row;
        let taken =
            |key: &ObjectKey| self.aliases.iter().any(|(other, alias)| other != object && alias == key);
        // Of those that the query confirms first.
        for confirmed_only in [true, false] {
            let nearest = candidates
                .iter()
                .filter(|candidate| !confirmed_only || confirmed.contains(&candidate.key))
                .filter(|candidate| !taken(&candidate.key) && in_row(candidate))
                .map(|candidate| ((in_room(candidate) - remembered.place).norm(), candidate))
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
            .filter(|candidate| in_row(candidate))
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
        how: How,
    ) -> Result<(), Fault> {
        let intent = Intent::Place { relation, drop: how.drop, compartment: how.compartment };
        let Some(first) = targets.first() else {
            return self.put(relation, &[], how);
        };
        self.travel(first, Some(&intent))?;
        let is_support = |target: &ObjectKey| {
            self.memory.get(target).is_some_and(|it| it.is_furniture && relation == Relation::On)
        };
        if targets.len() == 1 && is_support(first) {
            // A table or a counter is no thing of the local map, but what carries them.
            self.put(Relation::Table, &[], how)?;
        } else {
            let mut keys = Vec::new();
            for target in targets {
                keys.push(self.redetect(target)?);
            }
            self.put(relation, &keys, how)?;
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
