//! What stands in the way of a grasp is put aside first, if nobody can mind.

use super::{Executor, Remedy, remedy};
use crate::planner::{Action, describe, is_furniture, judge, listed, stands_in_or_on};
use crate::world::Fault;
use prehend_scene::{Intent, Object, ObjectKey, ObjectMap, Relation, fixture};

impl Executor<'_, '_> {
    /// Puts one of the things aside without which an object could be grasped; what it is called, or `None` when none of them may be
    /// moved, or could be.
    ///
    /// Errors: what ends the goal whatever else is tried.
    pub(super) fn make_way(
        &mut self,
        object: &ObjectKey,
        in_the_way: &[ObjectKey],
    ) -> Result<Option<String>, Fault> {
        for key in self.movable(object, in_the_way)? {
            let map = self.tools.map()?;
            let name = describe(&key, &map);
            match self.put_away(&key, object) {
                Ok(()) => return Ok(Some(name)),
                Err(fault) if remedy(fault.reason) == Remedy::Give => return Err(fault),
                // Held, and no place far enough away: any place on the table will do.
                Err(_) if self.tools.state().held_object.is_some() => {
                    self.put_aside(&map)?;
                    return Ok(Some(name));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Which of these things may be put aside for an object: what stands on the table by itself, carries and holds nothing, was not put
    /// there by this goal, and which policy and hand allow.
    pub(super) fn movable(
        &mut self,
        object: &ObjectKey,
        in_the_way: &[ObjectKey],
    ) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.tools.map()?;
        let wanted = self.alias(object);
        let mut movable = Vec::new();
        for key in in_the_way {
            let is_fixed = |it: &Object| is_furniture(it) || fixture::is_panel(&it.class_name);
            let Some(thing) = map.get(key).filter(|thing| !is_fixed(thing)) else { continue };
            let is_placed = self.taken.iter().any(|taken| self.alias(taken) == *key);
            let allowed =
                [Action::Pick { object: key.clone(), part: None }, Action::put_on_table(key.clone(), None)];
            let allowed = allowed.iter().all(|action| judge(action, self.tools, self.knowledge).is_ok());
            if !is_placed && allowed && stands_alone(thing, &map) && *key != wanted {
                movable.push(key.clone());
            }
        }
        Ok(movable)
    }

    fn put_away(&mut self, key: &ObjectKey, object: &ObjectKey) -> Result<(), Fault> {
        self.tools.add_to_inventory(key);
        self.tools.interact(key, &Intent::Grasp { part: None }, &[], None)?;
        let target = self.alias(object);
        self.tools.add_to_inventory(&target);
        let away = Intent::Place { relation: Relation::Away, drop: false, compartment: None };
        self.tools.interact(&target, &away, &[], None).map(drop)
    }
}

/// Whether nothing is in or on a thing of the map, and it is in or on nothing.
fn stands_alone(thing: &Object, map: &ObjectMap) -> bool {
    let is_at = |one: &Object, other: &Object| {
        [Relation::In, Relation::On].iter().any(|relation| stands_in_or_on(one, *relation, other, map))
    };
    let others = map.objects.iter().filter(|other| other.key != thing.key && !is_furniture(other));
    others.into_iter().all(|other| !is_at(thing, other) && !is_at(other, thing))
}

/// Why an object is not taken, for the person who may help.
pub(super) fn blocked(object: &ObjectKey, fault: Fault, map: &ObjectMap) -> Fault {
    let names: Vec<String> = fault.in_the_way.iter().map(|key| describe(key, map)).collect();
    let (stand, them) = if names.len() == 1 { ("stands", "it") } else { ("stand", "them") };
    let message = format!(
        "I cannot take {}: {} {stand} in the way. Move {them} aside, or tell me where to put {them}.",
        describe(object, map),
        listed(&names)
    );
    Fault { message, ..fault }
}
