//! LIBERO's tasks in this world: the scene of a task, its sentence, and its goal predicates for the judge.
//!
//! A line of a `libero_*.jsonl` file is one task: fixtures, objects, regions of the table or floor, initial and goal
//! predicates, and two sentences, the one in the file and the one that LIBERO shows to a policy. The table is turned so that the
//! robot stands where LIBERO's speaker does; else regions keep their directions and, but for the scale, their distances; see
//! `libero/scene.rs` for what has to give way. Bodies are those of the
//! object catalogue, not LIBERO's meshes: success rates may be compared among runs of this program only.

mod goal;
mod scene;
mod station;

use crate::scenario::{Kind, Scenario};
use serde::Deserialize;
use std::collections::BTreeMap;

pub use scene::SceneError;

/// One task as the file has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Task {
    /// Suite, such as `libero_goal`.
    pub suite: String,
    /// File the task comes from.
    pub file: String,
    /// The sentence of the file.
    pub language: String,
    /// The sentence that LIBERO shows to a policy.
    #[serde(default)]
    pub benchmark_language: Option<String>,
    /// Fixture to category.
    pub fixtures: BTreeMap<String, String>,
    /// Object to category.
    pub objects: BTreeMap<String, String>,
    /// Region, by its full name.
    pub regions: BTreeMap<String, Region>,
    /// What holds at first.
    pub init: Vec<Vec<String>>,
    /// What shall hold in the end: all of these.
    pub goal: Vec<Vec<String>>,
}

/// A part of a table, the floor, a fixture or an object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Region {
    /// Fixture or object it is a part of.
    pub target: String,
    /// Its name there, such as `top_region`.
    pub region: String,
    /// Rectangles `[x_min, y_min, x_max, y_max]` on the target, metres; none for a part of a fixture.
    #[serde(default)]
    pub ranges: Vec<[f64; 4]>,
}

/// Which sentence of a task is given to the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// That of the file.
    File,
    /// That of the benchmark.
    Benchmark,
}

/// Why a file gives no tasks.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A line is no task.
    #[error("line {line}: {error}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// There is nothing in it.
    #[error("the file has no task")]
    Empty,
}

/// Reads a file of tasks, one JSON object a line.
///
/// Errors: [`TaskError`].
pub fn tasks(text: &str) -> Result<Vec<Task>, TaskError> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let read =
        lines.map(|(text, line)| serde_json::from_str(text).map_err(|error| TaskError::Line { line, error }));
    let tasks: Vec<Task> = read.collect::<Result<_, _>>()?;
    if tasks.is_empty() { Err(TaskError::Empty) } else { Ok(tasks) }
}

impl Task {
    /// The sentence in a language; `None` when the file does not have it, or it is the same as the file's.
    pub fn sentence(&self, language: Language) -> Option<&str> {
        match language {
            Language::File => Some(&self.language),
            Language::Benchmark => self.benchmark_language.as_deref().filter(|text| *text != self.language),
        }
    }

    /// A short name: the file's without its ending.
    pub fn name(&self) -> &str {
        self.file.strip_suffix(".bddl").unwrap_or(&self.file)
    }

    /// The task as a scenario: places drawn under `seed`, `sentence` as it is given to the robot.
    ///
    /// `parse` says whether a scene file is valid and has room, and why not.
    /// Errors: [`SceneError`].
    pub fn scenario(
        &self,
        sentence: &str,
        seed: u64,
        parse: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<Scenario, SceneError> {
        let spec = goal::spec(self)?;
        let scene_yaml = scene::yaml(self, seed, parse)?;
        Ok(Scenario {
            seed,
            kind: Kind::Task,
            sentence: sentence.to_owned(),
            scene_yaml,
            spec,
            group: self.suite.clone(),
            subject: None,
        })
    }
}

#[cfg(test)]
mod tests;
