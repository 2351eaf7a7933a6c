//! Finding the objects of a plan again in a newer map (remapping, ASP III-C).

use super::executor::Executor;
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey, Reason, spatial};

/// How far a thing may have moved and still be taken for the one that was lost from the map, metres.
const SAME_PLACE: f64 = 0.12;
/// How much farther a drawer or door, which slides or turns, metres.
const TRAVEL: f64 = 0.25;

impl Executor<'_, '_> {
    /// Finds an object of the plan in the current map and puts it into the inventory again (remapping, ASP III-C).
    pub(super) fn locate(&mut self, object: &ObjectKey) -> Result<ObjectKey, Fault> {
        let key = self.alias(object);
        let map = self.tools.map()?;
        let row = self.memory.get(object).and_then(|it| it.row.map(|row| (it.place.z, row)));
        let in_row = |candidate: &Object| {
            row.is_none_or(|(height, row)| (spatial::centre(candidate).z - height).abs() <= row)
        };
        if self.tools.state().inventory.contains(&key) && map.get(&key).is_some_and(in_row) {
            return Ok(key);
        }
        let Some(remembered) = self.memory.get(object).cloned() else {
            return Err(Fault::new(Reason::NotFound, format!("{object} is not in the map any more")));
        };
        let (found, _) = self.tools.object_retrieval(&remembered.query, 0)?;
        let map = self.tools.map()?;
        if map.get(&key).is_some_and(in_row) {
            self.tools.add_to_inventory(&key);
            return Ok(key);
        }
        // A thing the plan did not know, of the same kind where it was: it got a new key.
        let new = |candidate: &&Object| !self.known.contains(&candidate.key);
        let nearest = map
            .objects
            .iter()
            .filter(new)
            .filter(|candidate| in_row(candidate))
            .filter(|candidate| {
                found.keys.contains(&candidate.key) || candidate.class_name == remembered.class_name
            })
            .map(|candidate| ((spatial::centre(candidate) - remembered.place).norm(), candidate))
            .filter(|(distance, _)| *distance <= SAME_PLACE + row.map_or(0.0, |_| TRAVEL))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, candidate)| candidate.key.clone());
        // Else the only new thing that fits the description, wherever it is now.
        let fitting: Vec<&ObjectKey> = found.keys.iter().filter(|key| !self.known.contains(key)).collect();
        let only = match fitting.as_slice() {
            [one] if map.get(one).is_some_and(in_row) => Some((*one).clone()),
            _ => None,
        };
        match nearest.or(only) {
            Some(new) => {
                self.aliases.insert(object.clone(), new.clone());
                self.tools.add_to_inventory(&new);
                Ok(new)
            }
            None => Err(Fault::new(Reason::NotFound, format!("I lost sight of the {}.", remembered.query))),
        }
    }
}
