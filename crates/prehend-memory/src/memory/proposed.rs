//! What a model proposes for a view, after the view was kept with the scores of the rule (Affordance RAG IV-A.1).

use super::Memory;
use crate::error::MemoryError;
use crate::propose::combined;
use crate::record::{Action, Id};
use std::collections::BTreeSet;

/// A triplet of a model: `f_k` of one action on one thing, as a view shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proposed {
    /// The thing.
    pub thing: Id,
    /// The action.
    pub action: Action,
    /// The model's score, [0, 1].
    pub score: f64,
}

impl Memory {
    /// Combines a model's scores with those of the rule, in the sighting of each thing in a view and in what the thing's sightings come
    /// to. What was forgotten since, and actions that the rule did not propose, stay as they are. How many scores were combined.
    ///
    /// To be called once for a view: each call combines with what is there.
    ///
    /// Errors: the store's; nothing is changed then.
    pub fn propose(&mut self, building: &str, view: Id, said: &[Proposed]) -> Result<usize, MemoryError> {
        let things: BTreeSet<Id> = said.iter().map(|proposed| proposed.thing).collect();
        let things: Vec<Id> = things.into_iter().collect();
        self.atomically(building, |memory| {
            let mut changed = 0;
            for mut thing in memory.store.things(&things)? {
                let sightings = memory.store.sightings_of(thing.id)?;
                let Some(mut sighting) = sightings.into_iter().find(|sighting| sighting.view == view) else {
                    continue;
                };
                for Proposed { action, score, .. } in said.iter().filter(|said| said.thing == thing.id) {
                    let known = sighting.seen.actions.iter_mut().find(|(known, _)| known == action);
                    let (Some((_, known)), Some(mean)) = (known, thing.proposed.get_mut(action)) else {
                        continue;
                    };
                    let both = combined(*known, *score);
                    // The mean over all sightings, one of which has another score now.
                    *mean = (*mean + (both - *known) / f64::from(thing.count.max(1))).clamp(0.0, 1.0);
                    *known = both;
                    changed += 1;
                }
                memory.store.put_sighting(&sighting)?;
                memory.store.put_thing(&thing)?;
            }
            Ok(changed)
        })
    }
}
