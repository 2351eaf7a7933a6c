//! What physics says of a goal: the sim is asked for the truth before and after, and the sentence is judged against it.

use crate::judge::Judge;
use crate::outcome::{Ending, Outcome};
use prehend_eval::{Reported, Vocabulary};
use prehend_scene::Reason;
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
pub struct Verdict {
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

/// Judges a sentence by what it means in the true scene, from the truth before and after and the motions between.
///
/// `Err` says why there is no judgement.
pub fn judge(
    sentence: &str,
    before: &Truth,
    after: &Truth,
    motions: &Motions,
    ending: &Ending,
) -> Result<Verdict, String> {
    let words = Vocabulary::built_in().map_err(|findings| findings.to_string())?;
    let spec = prehend_eval::ground(sentence, before, &words);
    let reported = reported(ending.outcome, ending.reason.as_deref(), &ending.message);
    let judgement =
        prehend_eval::judge(&spec, before, after, motions, &reported).map_err(|error| error.to_string())?;
    let mut lines = judgement.findings.clone();
    lines.extend(judgement.collateral.iter().map(|thing| {
        let fell = if thing.fallen { " and fell" } else { "" };
        format!("{} was moved {:.0} mm{fell} without being asked for", thing.object, thing.metres * 1e3)
    }));
    if lines.is_empty() {
        lines.push(
            if judgement.right { "as the sentence wanted it" } else { "not as the sentence wanted it" }
                .to_owned(),
        );
    }
    Ok(Verdict { ok: judgement.physics_ok, message: lines.join("; ") })
}

/// What the robot says, as the judge takes it.
pub fn reported(outcome: Outcome, reason: Option<&str>, message: &str) -> Reported {
    let outcome = match outcome {
        Outcome::Done => prehend_eval::Outcome::Done,
        Outcome::Refused => prehend_eval::Outcome::Refused,
        Outcome::Failed => prehend_eval::Outcome::Failed,
    };
    Reported { outcome, reason: reason.and_then(Reason::parse), message: message.to_owned() }
}
