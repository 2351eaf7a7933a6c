//! Which thing is meant, by the parts that were seen on it.

use super::ground::Grounder;
use crate::language::{Head, NounPhrase, Quantity};
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey};

/// Share of the votes for another name from which a thing may be misnamed.
const DISPUTED: f64 = 0.15;

impl Grounder<'_, '_, '_> {
    /// Of several things that a phrase for one fits, the only one on which a part was seen that serves the action, when the names of
    /// all others are disputed: of a bell and a ball that some views call a bell, who says "ring the bell" means the one with a button.
    pub(super) fn with_its_part(
        &mut self,
        action: &str,
        np: &NounPhrase,
    ) -> Result<Option<ObjectKey>, Fault> {
        let (Head::Noun(noun), Quantity::One) = (&np.head, np.quantity) else { return Ok(None) };
        let fitting = self.loose(np)?;
        let map = self.map()?;
        let table = &self.knowledge.lexicon.actions;
        let Some(rule) = table.rule(action, noun) else { return Ok(None) };
        let serves = |name: &str| {
            let kind = table.part_kind(name);
            rule.ways.iter().any(|way| way.part == name || kind == Some(way.part.as_str()))
        };
        let has_part = |object: &Object| object.parts.iter().any(|part| serves(&part.class_name));
        let objects = fitting.iter().filter_map(|key| map.get(key));
        let (with, without): (Vec<&Object>, Vec<&Object>) = objects.partition(|object| has_part(object));
        match with.as_slice() {
            [one] if without.iter().all(|object| is_disputed(object)) => Ok(Some(one.key.clone())),
            _ => Ok(None),
        }
    }

    /// Objects on which a part was seen: of exactly this name, else of its kind.
    pub(super) fn owners_of(
        &mut self,
        noun: &str,
        kind: &str,
        np: &NounPhrase,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.map()?;
        let table = &self.knowledge.lexicon.actions;
        let owners = |fits: &dyn Fn(&str) -> bool| -> Vec<ObjectKey> {
            map.objects
                .iter()
                .filter(|object| object.parts.iter().any(|part| fits(&part.class_name)))
                .map(|object| object.key.clone())
                .collect()
        };
        let mut found = owners(&|name| name == noun);
        if found.is_empty() && np.attributes.is_empty() {
            found = owners(&|name| table.part_kind(name) == Some(kind));
        }
        for key in &found {
            self.tools.add_to_inventory(key);
        }
        Ok(found)
    }
}

/// Whether views call a thing by different names.
fn is_disputed(object: &Object) -> bool {
    let votes = || object.class_votes.iter().filter(|(name, _)| !name.is_empty());
    let named: f64 = votes().map(|(_, weight)| weight).sum();
    votes().any(|(name, weight)| *name != object.class_name && *weight >= DISPUTED * named)
}
