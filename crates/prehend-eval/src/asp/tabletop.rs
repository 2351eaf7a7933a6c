//! The tabletop benchmark: fifteen tasks after ASP's Fig. 3 and §V-A, each on random tables.

use super::scene::{place, scene_yaml};
use super::task::TabletopTask;
use super::tasks;
use crate::scenario::sentence::finish;
use crate::scenario::{Conditions, Kind, Scenario, ScenarioError};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Tables tried for one seed.
const ATTEMPTS: u64 = 200;

/// The scenario of a task and a seed; the same two always give the same one.
///
/// Errors: [`ScenarioError`].
pub fn tabletop(task: TabletopTask, seed: u64, conditions: Conditions) -> Result<Scenario, ScenarioError> {
    let mut failed = ScenarioError::NoTable { seed, kind: Kind::Task };
    for attempt in 0..ATTEMPTS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(1 + attempt + ATTEMPTS * task as u64);
        let draft = tasks::draft(&mut rng, task);
        let Some(placed) = place(&mut rng, draft.things).filter(|placed| (draft.is_clear)(placed)) else {
            continue;
        };
        let scenario = Scenario {
            seed,
            kind: Kind::Task,
            sentence: finish(&mut rng, draft.sentence),
            scene_yaml: scene_yaml(&format!("{task} {seed}"), conditions, &draft.confusions, &placed),
            spec: draft.spec,
            group: task.code().to_owned(),
            subject: Some(draft.subject),
        };
        match scenario.placed() {
            Ok(_) => return Ok(scenario),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

#[cfg(test)]
mod tests;
