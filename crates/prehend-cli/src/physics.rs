//! What physics says of a goal: the sim is asked for the truth before and after, and the sentence is judged against it.

use crate::judge::Judge;
use crate::outcome::Ending;
use prehend_sim::world::{Motions, Truth};
use std::time::{Duration, Instant};

/// Simulated time after the end of a goal in which what was let go comes to rest, seconds.
const SETTLE: f64 = 1.0;
/// Longest wall time for that.
const SETTLE_DEADLINE: Duration = Duration::from_secs(10);
/// Pause between two looks at the sim's time.
const LOOK_PERIOD: Duration = Duration::from_millis(20);

/// What physics says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the world is as the sentence wanted it; `None` where it asks for no change.
    pub ok: Option<bool>,
    /// One sentence for a person.
    pub message: String,
}

/// Lets simulated time pass, so that what was let go is at rest.
pub async fn settle(judge: &mut Judge) {
    let started = Instant::now();
    let mut first = None;
    while started.elapsed() < SETTLE_DEADLINE {
        let Ok(truth) = judge.snapshot().await else { return };
        if truth.time - *first.get_or_insert(truth.time) >= SETTLE {
            return;
        }
        tokio::time::sleep(LOOK_PERIOD).await;
    }
}

/// Judges a sentence against the truth before and after; `None` where there is nothing to judge by.
pub fn judge(
    _ending: &Ending,
    _goal: &str,
    _before: &Truth,
    _after: &Truth,
    _motions: &Motions,
) -> Option<Judgement> {
    None
}
