//! Why a run went as it did: its trace, read into the decisions that were made, each with its rule, its numbers and what would have
//! changed it.
//!
//! For: explaining a run to people, from what it has told; answering questions about it. Not for: judging it (`prehend-eval`) or guessing:
//! what the trace does not tell, the explanation says is not recorded. Read [`Explanation`] first, then [`explain`].
//!
//! Times are seconds of the graph's clock.

mod answer;
mod aside;
mod choice;
mod commit;
mod comparison;
mod event;
mod hands;
pub mod html;
mod last;
mod motion;
mod page;
mod question;
mod reason;
mod recent;
mod seen;
mod sketch;
mod story;
mod text;
mod words;

pub use answer::{Answer, answer};
pub use event::{Event, events};
pub use hands::Hand;
pub use page::{Picture, page};
pub use question::{ASKABLE, Asked, Questions, of_last_goal};
pub use recent::{Bounds, Heard, Recent};
pub use seen::Seen;
pub use text::text;
pub use words::Words;

use serde::Serialize;
use serde_json::Value;

/// A run, explained.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// What the person asked for; `None` when no goal is in the trace.
    pub goal: Option<String>,
    /// How the sentence was read, in the notation of the trace; empty when it was not understood or refused before.
    pub readings: Vec<String>,
    /// Whether it is still under way.
    pub is_at_work: bool,
    /// How it ended; `None` when the trace has no end, as that of a run that was killed.
    pub ending: Option<Ending>,
    /// Everything that was decided, in order.
    pub decisions: Vec<Decision>,
    /// Which of the decisions led to the end, where the goal was not done: an index into `decisions`.
    pub decisive: Option<usize>,
    /// What the map had at its last look, by key.
    pub seen: Vec<Seen>,
    /// Where the time went, seconds, the longest first.
    pub times: Vec<(String, f64)>,
    /// What the trace does not tell, and what could not be read of it.
    pub not_recorded: Vec<String>,
}

impl Explanation {
    /// Whether anything was decided or done about a thing but that words mean it.
    pub fn acted_on(&self, key: &str) -> bool {
        let acts = |decision: &&Decision| !matches!(decision.kind, Kind::Choice | Kind::Look | Kind::Measure);
        self.decisions.iter().filter(acts).any(|decision| decision.objects.iter().any(|one| one == key))
    }
}

/// How a goal ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ending {
    /// done, refused or failed.
    pub outcome: String,
    /// Code of the reason; `None` when it is done.
    pub reason: Option<String>,
    /// What the robot said.
    pub message: String,
    /// Whether physics agrees, where a judge was asked.
    pub physics_ok: Option<bool>,
}

/// What a decision was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What the sentence means.
    Reading,
    /// What was seen in a look.
    Look,
    /// Which things words mean.
    Choice,
    /// What a word that no table knows means.
    Word,
    /// A measure or a fact of the map.
    Measure,
    /// Whether the evidence about a thing suffices.
    Evidence,
    /// Where to touch, where to put.
    Candidates,
    /// Whether a plan may be executed.
    Verdict,
    /// A motion and what became of it.
    Motion,
    /// Whether the world is as the skill wanted it.
    Outcome,
    /// Something that did not go as wished.
    Warning,
}

/// How a decision came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// As the goal needs it.
    Well,
    /// Against the goal.
    Badly,
}

/// One decision with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// When, seconds.
    pub t: f64,
    /// What it was about.
    pub kind: Kind,
    /// What was decided, as a sentence.
    pub what: String,
    /// How it came out.
    pub came: Came,
    /// How often the same was decided, one after the other.
    pub times: usize,
    /// Keys of the things that were chosen or acted on.
    pub objects: Vec<String>,
    /// The rule, with its source.
    pub rule: Option<String>,
    /// The numbers that the rule looked at.
    pub numbers: Vec<Number>,
    /// What was not taken, and why not.
    pub rejected: Vec<Rejected>,
    /// The hands that it was about: where something could be held, or put.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hands: Vec<Hand>,
    /// Where the things were then, for drawings; empty where none is needed.
    #[serde(skip)]
    pub scene: Vec<Seen>,
    /// Each reason why not, of a refusal; each step, of evidence and motions.
    pub because: Vec<String>,
    /// What would have changed it.
    pub otherwise: Vec<String>,
}

impl Decision {
    fn new(t: f64, kind: Kind, what: impl Into<String>) -> Self {
        Self {
            t,
            kind,
            what: what.into(),
            came: Came::Well,
            times: 1,
            objects: Vec::new(),
            rule: None,
            numbers: Vec::new(),
            rejected: Vec::new(),
            hands: Vec::new(),
            scene: Vec::new(),
            because: Vec::new(),
            otherwise: Vec::new(),
        }
    }

    /// Whether it says the same as another, whenever that was.
    fn is_like(&self, other: &Self) -> bool {
        // What a thing is called may change from look to look.
        let subject = |one: &Self| one.what.split(" (the ").next().map(str::to_owned);
        (self.kind, self.came, &self.objects) == (other.kind, other.came, &other.objects)
            && (self.what == other.what || (self.kind == Kind::Choice && subject(self) == subject(other)))
            && self.because == other.because
    }
}

/// A number that a rule looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// What the rule holds it against; `None` when there is no limit, or the trace does not tell it.
    pub limit: Option<f64>,
    /// Whether it is on the right side of the limit.
    pub holds: Option<bool>,
}

impl Number {
    /// A number that is compared with nothing.
    fn plain(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, limit: None, holds: None }
    }

    /// A number that must be at least so much.
    fn at_least(name: impl Into<String>, value: f64, limit: f64) -> Self {
        Self { name: name.into(), value, limit: Some(limit), holds: Some(value >= limit) }
    }
}

/// A thing that was looked at and not taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rejected {
    /// Its key.
    pub key: String,
    /// Why not, as the robot told it.
    pub reason: String,
    /// Words that would have meant it; `None` when the reason does not tell.
    pub would_be: Option<String>,
}

/// Explains a run. `trace` is the text of its `trace.jsonl`: lines that cannot be read are left out, and said so. `result` is its
/// `result.json`; null when there is none.
pub fn explain(trace: &str, result: &Value, words: &Words) -> Explanation {
    read(trace, result, None, words).0
}

/// Answers a question about a run, with the explanation that the answer rests on: as [`explain`] gives it, of the last goal that the question
/// can be about.
pub fn ask(trace: &str, result: &Value, question: &str, words: &Words) -> (Explanation, Answer) {
    let asked = question::read(question, words);
    let (explained, earlier) = read(trace, result, asked.as_ref(), words);
    let mut answer = answer(&explained, question, words);
    answer.of_earlier(earlier);
    (explained, answer)
}

fn read(trace: &str, result: &Value, asked: Option<&Asked>, words: &Words) -> (Explanation, Option<String>) {
    let (events, unreadable) = events(trace);
    let (events, beside) = aside::without(events);
    let (mut explained, earlier) = last::goal_of(events, asked, words, false);
    explained.not_recorded.splice(0..0, unreadable);
    explained.not_recorded.extend(beside);
    if earlier.is_some() {
        return (explained, earlier);
    }
    if let Some(ending) = &mut explained.ending {
        ending.physics_ok = result["physics_ok"].as_bool();
    } else if let Some(outcome) = result["outcome"].as_str() {
        explained.ending = Some(Ending {
            outcome: outcome.to_owned(),
            reason: result["reason"].as_str().map(str::to_owned),
            message: result["message"].as_str().unwrap_or_default().to_owned(),
            physics_ok: result["physics_ok"].as_bool(),
        });
    }
    if explained.goal.is_none() {
        explained.goal = result["goal"].as_str().map(str::to_owned);
    }
    (explained, None)
}

#[cfg(test)]
mod tests;
