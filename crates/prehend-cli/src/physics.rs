//! What physics says of a goal: the sim is asked for the truth before and after, and the sentence is judged against it.

use crate::judge::Judge;
use serde_json::Value;
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
    /// Whether the world is as the sentence wanted it.
    pub ok: bool,
    /// One sentence for a person.
    pub message: String,
}

/// Lets simulated time pass, so that what was let go is at rest.
pub async fn settle(judge: &mut Judge) {
    let started = Instant::now();
    let mut first = None;
    while started.elapsed() < SETTLE_DEADLINE {
        let Ok(snapshot) = judge.snapshot().await else { return };
        let Some(now) = time(&snapshot) else { return };
        if now - *first.get_or_insert(now) >= SETTLE {
            return;
        }
        tokio::time::sleep(LOOK_PERIOD).await;
    }
}

/// Simulated time of a snapshot, seconds.
pub fn time(snapshot: &Value) -> Option<f64> {
    snapshot.get("time").and_then(Value::as_f64)
}

/// Judges a sentence against the truth before and after; `None` where it asks for no change.
pub fn judge(_goal: &str, _before: &Value, _after: &Value) -> Option<Judgement> {
    None
}
