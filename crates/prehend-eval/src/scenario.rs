//! Random tables with goals made from what stands on them.
//!
//! A seed gives a scene file, a sentence and the goal it means; the same seed always gives the same three. Sentences are
//! unambiguous under the robot's conventions (left is +y, in front of is nearer to the robot), with margins: where a relation
//! decides, the other candidates fail it clearly. Seeds from [`HELD_OUT`] on are for final figures only: nothing is to be
//! developed or tuned on them.

pub(crate) mod catalogue;
mod kinds;
pub(crate) mod layout;
pub(crate) mod sentence;

use crate::asp::Subject;
use crate::goal::{Expected, GoalSpec};
use prehend_config::Findings;
use prehend_sim::Scene;
use prehend_sim::scene::{PlaceError, PlacedScene};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::fmt;

/// First seed of the held-out scenarios.
pub const HELD_OUT: u64 = 1_000_000;
/// Tables tried for one seed.
const ATTEMPTS: u64 = 400;

/// What a goal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A colour or size tells which object.
    Attribute,
    /// A relation tells which object.
    Relation,
    /// Into or onto something.
    Container,
    /// Beside something.
    Placement,
    /// Something that others stand too close around for a hand.
    Crowded,
    /// A place on the table that no thing marks.
    Place,
    /// Two goals in one sentence.
    TwoStep,
    /// Several objects.
    Count,
    /// A question.
    Question,
    /// Cannot or must not be done.
    Impossible,
    /// Two objects fit.
    Ambiguous,
    /// A task of a benchmark.
    Task,
}

impl Kind {
    /// Every kind with its code in reports.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Attribute, "attribute"),
        (Self::Relation, "relation"),
        (Self::Container, "container"),
        (Self::Placement, "placement"),
        (Self::Crowded, "crowded"),
        (Self::Place, "place"),
        (Self::TwoStep, "two_step"),
        (Self::Count, "count"),
        (Self::Question, "question"),
        (Self::Impossible, "impossible"),
        (Self::Ambiguous, "ambiguous"),
        (Self::Task, "task"),
    ];

    /// The code in reports.
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, code)| code)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// How hard the robot is made to see and to hold; the table and the sentence of a seed are the same under each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conditions {
    /// The `imperfect` detector of scene files, ordinary friction.
    #[default]
    Imperfect,
    /// The `perfect` detector, for the ablation.
    Perfect,
    /// A detector that errs about three times as often as the imperfect one and keeps half of its errors while the
    /// camera stands, and things so smooth that many slip out of the gripper.
    Hard,
}

impl Conditions {
    /// The detector's keys in a scene file.
    pub(crate) fn detector(self) -> &'static str {
        match self {
            Self::Imperfect => "preset: imperfect",
            Self::Perfect => "preset: perfect",
            Self::Hard => {
                "preset: imperfect, miss: 0.18, wrong_class: 0.18, split: 0.08, merge: 0.08, erode_px: 2, persistence: 0.5"
            }
        }
    }

    /// Coulomb friction of the thing of this number.
    fn friction(self, index: usize) -> f64 {
        match self {
            Self::Imperfect | Self::Perfect => 0.7,
            Self::Hard => [0.12, 0.3, 0.2, 0.5][index % 4],
        }
    }
}

/// A table, a sentence, and what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its seed; also the seed for placing the scene.
    pub seed: u64,
    /// What the goal is about.
    pub kind: Kind,
    /// The sentence.
    pub sentence: String,
    /// The scene file.
    pub scene_yaml: String,
    /// What is right.
    pub spec: GoalSpec,
    /// What it is counted under in reports: the code of its kind, the suite of a task, or the task.
    pub group: String,
    /// What its progress is scored by, in benchmarks that score it.
    #[serde(default)]
    pub subject: Option<Subject>,
}

/// Why a seed gives no scenario.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScenarioError {
    /// The scene file it wrote is not valid.
    #[error("the scene of seed {seed} is not valid:\n{findings}")]
    Scene {
        /// The seed.
        seed: u64,
        /// What is wrong with it.
        findings: Findings,
    },
    /// No table was found on which the goal is clear and everything has room.
    #[error("seed {seed} found no table for a goal of kind {kind}")]
    NoTable {
        /// The seed.
        seed: u64,
        /// The kind.
        kind: Kind,
    },
}

impl Scenario {
    /// The scene, placed as the robot side will place it.
    ///
    /// Errors: [`ScenarioError`].
    pub fn placed(&self) -> Result<PlacedScene, ScenarioError> {
        let no_table = |_: PlaceError| ScenarioError::NoTable { seed: self.seed, kind: self.kind };
        let scene = Scene::parse("tabletop", &self.scene_yaml)
            .map_err(|findings| ScenarioError::Scene { seed: self.seed, findings })?;
        scene.instantiate(self.seed).map_err(no_table)
    }

    /// Whether a refusal is right.
    pub fn refusal_expected(&self) -> bool {
        matches!(self.spec.expected, Expected::Refusal(_))
    }
}

/// The scenario of a seed: 4 to 10 objects, an imperfect detector, and a goal; one in six is impossible or ambiguous.
///
/// Errors: [`ScenarioError`].
pub fn tabletop(seed: u64) -> Result<Scenario, ScenarioError> {
    tabletop_under(seed, Conditions::Imperfect)
}

/// [`tabletop`] under other conditions; everything else stays the same.
///
/// Errors: [`ScenarioError`].
pub fn tabletop_under(seed: u64, conditions: Conditions) -> Result<Scenario, ScenarioError> {
    of_kind(seed, kinds::kind(&mut ChaCha8Rng::seed_from_u64(seed)), conditions)
}

/// The scenario of a seed about a thing that four others stand close around, most of the time too close for a hand.
///
/// Errors: [`ScenarioError`].
pub fn crowded(seed: u64, conditions: Conditions) -> Result<Scenario, ScenarioError> {
    of_kind(seed, Kind::Crowded, conditions)
}

fn of_kind(seed: u64, kind: Kind, conditions: Conditions) -> Result<Scenario, ScenarioError> {
    for attempt in 0..ATTEMPTS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(attempt + 1);
        let Some(draft) = kinds::draft(&mut rng, kind) else { continue };
        let name = format!("tabletop {seed}");
        let scene_yaml = layout::scene_yaml(&name, conditions, &draft.placed);
        let group = kind.code().to_owned();
        let scenario = Scenario {
            seed,
            kind,
            sentence: draft.sentence,
            scene_yaml,
            spec: draft.spec,
            group,
            subject: None,
        };
        match scenario.placed() {
            Ok(_) => return Ok(scenario),
            Err(ScenarioError::NoTable { .. }) => {}
            // A layout may overlap by a hair where its circles do not: the next one will not.
            Err(error @ ScenarioError::Scene { .. }) if attempt + 1 == ATTEMPTS => return Err(error),
            Err(ScenarioError::Scene { .. }) => {}
        }
    }
    Err(ScenarioError::NoTable { seed, kind })
}

#[cfg(test)]
mod tests;
