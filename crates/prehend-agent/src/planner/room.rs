//! Furniture of a room that a phrase means.

use super::describe::class_of;
use super::furniture::{carried, is_furniture, support};
use super::ground::Grounder;
use crate::language::{Head, NounPhrase, Quantity};
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey, spatial};

/// Farthest that furniture which could stand in any room is from what tells the room it stands in, metres.
const SAME_ROOM: f64 = 2.5;

impl Grounder<'_, '_, '_> {
    /// The furniture of a room that a phrase names ("the kitchen"): what is known to stand in such rooms, and what else is nearer to
    /// it than to that of another. Empty when the phrase names no room, or nothing here tells of it.
    pub(super) fn furniture_of(&mut self, np: &NounPhrase) -> Result<Vec<ObjectKey>, Fault> {
        let names = &self.knowledge.lexicon.rooms;
        let Head::Noun(noun) = &np.head else { return Ok(Vec::new()) };
        if !self.tools.rooms() || !names.is_room(noun) {
            return Ok(Vec::new());
        }
        let map = self.map()?;
        let told: Vec<(&Object, Option<bool>)> = map
            .objects
            .iter()
            .filter(|object| is_furniture(object))
            .map(|object| (object, names.tells(noun, class_of(object))))
            .collect();
        let is_there = |object: &Object| {
            let away = |other: &Object| (spatial::centre(other) - spatial::centre(object)).xy().norm();
            let telling = told.iter().filter_map(|(other, tells)| Some((away(other), (*tells)?)));
            telling.min_by(|a, b| a.0.total_cmp(&b.0)).is_some_and(|(away, tells)| tells && away < SAME_ROOM)
        };
        let keys: Vec<ObjectKey> = told
            .iter()
            .filter(|(object, _)| is_there(object))
            .map(|(object, _)| object.key.clone())
            .collect();
        for key in &keys {
            self.tools.add_to_inventory(key);
        }
        Ok(keys)
    }

    /// Of several tables that a plain phrase fits alike ("the table"), the one that is meant as a place for objects: what is in or
    /// on something else is put down on the table where that stands, what stands on one of two tables goes to the other. `None`
    /// when the phrase means something else, or nothing tells which.
    pub(super) fn table_for(
        &mut self,
        np: &NounPhrase,
        objects: &[ObjectKey],
    ) -> Result<Option<ObjectKey>, Fault> {
        let is_plain = matches!(np.head, Head::Noun(_))
            && np.quantity == Quantity::One
            && np.modifiers.is_empty()
            && np.selectors.is_empty();
        if !self.tools.rooms() || !is_plain {
            return Ok(None);
        }
        let fitting = self.loose(np)?;
        let map = self.map()?;
        if fitting.len() < 2 || !fitting.iter().all(|key| map.get(key).is_some_and(is_furniture)) {
            return Ok(None);
        }
        let stands = |key: &ObjectKey| {
            let object = map.get(key)?;
            Some((support(object, &map)?.key.clone(), carried(object, &map)))
        };
        let mut places: Vec<(ObjectKey, bool)> = objects.iter().filter_map(stands).collect();
        places.dedup();
        let [(here, is_carried)] = places.as_slice() else { return Ok(None) };
        if *is_carried {
            return Ok(fitting.contains(here).then(|| here.clone()));
        }
        let mut others = fitting.into_iter().filter(|key| key != here);
        Ok(match (others.next(), others.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        })
    }
}
