//! How a goal ended, in the fields scripts rely on, and the exit code of the process.

use crate::tally::Permits;
use prehend_scene::Reason;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Exit codes of `prehend`, told in its help.
pub mod exit {
    /// Done, and physics does not object.
    pub const DONE: u8 = 0;
    /// The goal failed, or physics says that it was not reached.
    pub const FAILED: u8 = 1;
    /// The goal was refused: no motion was wanted.
    pub const REFUSED: u8 = 2;
    /// The command line, the scene file or another file is wrong; nothing was started.
    pub const BAD_INPUT: u8 = 3;
    /// The graph could not be started, or was not ready in time.
    pub const NOT_READY: u8 = 4;
    /// Stopped by Ctrl-C or SIGTERM.
    pub const INTERRUPTED: u8 = 130;
}

/// How a goal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent says that the goal is reached.
    Done,
    /// The agent refused it.
    Refused,
    /// It was tried, or could not be tried.
    Failed,
}

impl Outcome {
    /// The outcome with this name on the wire.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "done" => Some(Self::Done),
            "refused" => Some(Self::Refused),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// The end of a goal as the graph tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How it ended.
    pub outcome: Outcome,
    /// The typed code; `None` when done.
    pub reason: Option<String>,
    /// One sentence for a person.
    pub message: String,
}

impl Ending {
    /// A failure with a typed code.
    pub fn failed(reason: Reason, message: impl Into<String>) -> Self {
        Self { outcome: Outcome::Failed, reason: Some(reason.code().to_owned()), message: message.into() }
    }
}

/// Wall seconds of a run; `None` for what was not reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// From the start of the processes until the graph was ready.
    pub ready: Option<f64>,
    /// From the submission of the goal to its first motion.
    pub first_motion: Option<f64>,
    /// From the submission of the goal to its end.
    pub total: Option<f64>,
}

/// Who planned a goal, and what a language model took for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planning {
    /// `builtin` or `model`.
    pub planner: String,
    /// What was asked of a model; null when none was.
    pub model: Option<ModelUse>,
    /// The question that the person has to answer; null when there is none.
    pub question: Option<String>,
}

impl Default for Planning {
    fn default() -> Self {
        Self { planner: "builtin".to_owned(), model: None, question: None }
    }
}

/// What a language model took for a goal, by its provider's count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelUse {
    /// Turns of the model.
    pub calls: u64,
    /// Tokens it read.
    pub tokens_in: u64,
    /// Tokens it wrote.
    pub tokens_out: u64,
    /// Wall seconds it took.
    pub seconds: f64,
}

/// The one JSON object of `demo --json` and `goal --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalReport {
    /// The sentence.
    pub goal: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The typed code, or null.
    pub reason: Option<String>,
    /// One sentence for a person.
    pub message: String,
    /// What physics says; null where the goal asks for no change, or nothing could be judged.
    pub physics_ok: Option<bool>,
    /// Who planned.
    #[serde(flatten)]
    pub planning: Planning,
    /// Permits.
    pub permits: Permits,
    /// Times.
    pub seconds: Seconds,
    /// Folder with the trace and the pictures; null when there is none.
    pub run_dir: Option<PathBuf>,
    /// What a plan that was made before said; absent when none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Foretold>,
    /// How somebody interfered; absent when nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<String>,
}

/// What a plan said of a goal before it was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Foretold {
    /// How the goal would end, and why not done.
    pub outcome: Outcome,
    /// The typed code, or null.
    pub reason: Option<String>,
    /// Wall seconds that planning took, with the way there and back.
    pub seconds: f64,
    /// Motions of the arm until the plan was told, as physics has it: there should be none. `None` when physics could not be asked.
    pub motions: Option<usize>,
}

impl GoalReport {
    /// A report of a goal that never came to run.
    pub fn not_run(goal: &str, ending: Ending) -> Self {
        Self {
            goal: goal.to_owned(),
            outcome: ending.outcome,
            reason: ending.reason,
            message: ending.message,
            physics_ok: None,
            planning: Planning::default(),
            permits: Permits::default(),
            seconds: Seconds::default(),
            run_dir: None,
            plan: None,
            disturbance: None,
        }
    }

    /// Exit code of a process that ends with this report.
    pub fn exit_code(&self) -> u8 {
        match self.outcome {
            Outcome::Done if self.physics_ok == Some(false) => exit::FAILED,
            Outcome::Done => exit::DONE,
            Outcome::Refused => exit::REFUSED,
            Outcome::Failed => exit::FAILED,
        }
    }
}

/// Reason code of a command line that is none.
const BAD_ARGUMENTS: &str = "bad_arguments";

/// What `demo --json` and `goal --json` print when the rest of their arguments is wrong; `None` for other commands.
pub fn bad_arguments(arguments: impl Iterator<Item = String>, message: &str) -> Option<GoalReport> {
    let arguments: Vec<String> = arguments.collect();
    let of_goal = matches!(arguments.first().map(String::as_str), Some("demo" | "goal"));
    if !of_goal || !arguments.iter().any(|argument| argument == "--json") {
        return None;
    }
    let goal = arguments.windows(2).find(|pair| pair[0] == "--goal").map_or("", |pair| pair[1].as_str());
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let ending = Ending {
        outcome: Outcome::Failed,
        reason: Some(BAD_ARGUMENTS.to_owned()),
        message: first.to_owned(),
    };
    Some(GoalReport::not_run(goal, ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn physics_has_the_last_word_on_the_exit_code() {
        let ending = Ending { outcome: Outcome::Done, reason: None, message: String::new() };
        let mut report = GoalReport::not_run("x", ending);
        for (outcome, physics_ok, code) in [
            (Outcome::Done, Some(true), exit::DONE),
            (Outcome::Done, None, exit::DONE),
            (Outcome::Done, Some(false), exit::FAILED),
            (Outcome::Refused, None, exit::REFUSED),
            (Outcome::Failed, Some(true), exit::FAILED),
        ] {
            (report.outcome, report.physics_ok) = (outcome, physics_ok);
            assert_eq!(report.exit_code(), code, "{outcome:?} {physics_ok:?}");
        }
    }

    #[test]
    fn the_json_has_exactly_the_promised_fields() {
        let report = GoalReport::not_run("put it there", Ending::failed(Reason::Internal, "no"));
        let json = serde_json::to_value(&report).unwrap();
        let keys = |value: &serde_json::Value| {
            let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys.join(" ")
        };
        assert_eq!(
            keys(&json),
            "goal message model outcome permits physics_ok planner question reason run_dir seconds"
        );
        assert_eq!(keys(&json["permits"]), "asked granted refused");
        assert_eq!(keys(&json["seconds"]), "first_motion ready total");
        assert_eq!(json["outcome"], "failed");
        assert_eq!(json["reason"], "internal");
    }
}
