//! Which thing is meant, by the parts that were seen on it.

use super::ground::Grounder;
use crate::language::NounPhrase;
use crate::world::Fault;
use prehend_scene::{ObjectKey, is_same_part};

impl Grounder<'_, '_, '_> {
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
        let mut found = owners(&|name| is_same_part(name, noun));
        if found.is_empty() && np.attributes.is_empty() {
            found = owners(&|name| table.part_kind(name) == Some(kind));
        }
        for key in &found {
            self.tools.add_to_inventory(key);
        }
        Ok(found)
    }
}
