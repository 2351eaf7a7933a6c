//! What the gate answers: a verdict, and each reason to refuse.

use crate::Doubt;
use prehend_scene::{Diagnostics, ObjectKey, PartEffect, Skill};
use serde::Serialize;

/// One reason to refuse. As JSON: the rule by name, with its numbers and limits.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Finding {
    /// The verifier has never seen a map.
    #[error("the verifier has no object map yet; update the map first")]
    NoMap,
    /// The plan was made from another map.
    #[error("the plan was made from map version {planned}, the map is at {current}; plan again")]
    StaleMap {
        /// Version in the plan.
        planned: u64,
        /// Version the verifier knows.
        current: u64,
    },
    /// A key that is not in the map.
    #[error("the map has no object {key}")]
    UnknownObject {
        /// The key.
        key: ObjectKey,
    },
    /// A pose goal that is not a pose.
    #[error("pose goal {index} is not finite")]
    PoseNotFinite {
        /// Index into the plan's pose goals.
        index: usize,
    },
    /// A pose goal outside the permitted workspace.
    #[error("pose goal {index} at ({x:.3}, {y:.3}, {z:.3}) m is outside the workspace")]
    PoseOutsideWorkspace {
        /// Index into the plan's pose goals.
        index: usize,
        /// Position, metres.
        x: f64,
        /// Position, metres.
        y: f64,
        /// Position, metres.
        z: f64,
    },
    /// A pose goal that would push the fingers into the table.
    #[error("pose goal {index} is {height:.3} m above the table; {limit:.3} m is the least")]
    BelowSupport {
        /// Index into the plan's pose goals.
        index: usize,
        /// Height above the supporting plane, metres.
        height: f64,
        /// Least height, metres.
        limit: f64,
    },
    /// A plan without goals, or with absurdly many.
    #[error("a plan needs 1 to 64 pose goals, this one has {count}")]
    PoseCount {
        /// Number of pose goals.
        count: usize,
    },
    /// An opening the gripper does not have.
    #[error("gripper opening {opening:.3} m is not between 0 and {limit:.3} m")]
    Opening {
        /// Opening, metres.
        opening: f64,
        /// Limit, metres.
        limit: f64,
    },
    /// A grasp with a full hand.
    #[error("the hand holds {held}; a grasp needs an empty hand")]
    HandNotEmpty {
        /// What is held.
        held: ObjectKey,
    },
    /// A placement with an empty hand, or of something else than what is held.
    #[error("{object} is to be put down, but it is not what the hand holds")]
    NotHeld {
        /// What was to be placed.
        object: ObjectKey,
    },
    /// A relation without what it relates to.
    #[error("relation {relation} needs {needed} target(s), the plan names {given}")]
    MissingTarget {
        /// The relation's name.
        relation: &'static str,
        /// Targets needed.
        needed: usize,
        /// Targets given.
        given: usize,
    },
    /// No tool pose comes near the object.
    #[error("no pose goal comes within {limit:.3} m of {object}; the nearest is {distance:.3} m away")]
    GraspAwayFromObject {
        /// The object.
        object: ObjectKey,
        /// Nearest distance, metres.
        distance: f64,
        /// Limit, metres.
        limit: f64,
    },
    /// The object's name is not certain enough.
    #[error("{object} is called {class_name} by only {confidence:.2} of the votes; {limit:.2} is needed")]
    UncertainName {
        /// The object.
        object: ObjectKey,
        /// Its name.
        class_name: String,
        /// Vote share.
        confidence: f64,
        /// Limit.
        limit: f64,
    },
    /// A skill on a part without its motion, or a motion without such a skill.
    #[error("{} {} the motion of a part", skill.name(), if *given { "must not have" } else { "needs" })]
    PartMotion {
        /// The skill.
        skill: Skill,
        /// Whether the plan has one.
        given: bool,
    },
    /// An effect the skill cannot have.
    #[error("{} cannot {} a part", skill.name(), effect.name())]
    PartEffect {
        /// The skill.
        skill: Skill,
        /// The effect.
        effect: PartEffect,
    },
    /// Bounds of a part's motion that bound nothing.
    #[error("the part's motion has {what} {value:.3}; {limit:.3} is the limit")]
    PartBounds {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The limit.
        limit: f64,
    },
    /// A motion that begins somewhere else than at the object.
    #[error("the part's middle is {distance:.3} m from {object}; {limit:.3} m is the farthest")]
    PartAwayFromObject {
        /// The object.
        object: ObjectKey,
        /// Nearest distance, metres.
        distance: f64,
        /// Limit, metres.
        limit: f64,
    },
    /// A motion whose least already takes the tool out of the workspace, whichever way within its corridor the part goes.
    #[error(
        "the part would have to be moved to ({x:.3}, {y:.3}, {z:.3}) m, {beyond:.3} m outside the workspace; \
        its corridor is {corridor:.3} m wide"
    )]
    PartLeavesWorkspace {
        /// Where the tool would be, metres.
        x: f64,
        /// Likewise.
        y: f64,
        /// Likewise.
        z: f64,
        /// Distance from there to the workspace, metres.
        beyond: f64,
        /// How far from there the tool may be instead, metres.
        corridor: f64,
    },
    /// A plan to drive that has not exactly one pose.
    #[error("a plan to drive needs one pose of the base, this one has {count}")]
    BasePoseCount {
        /// Number of pose goals.
        count: usize,
    },
    /// A pose of the base that is no pose on the ground.
    #[error("the base's pose is not level on the ground: tilt {tilt:.3} rad, height {height:.3} m")]
    BaseNotLevel {
        /// Angle of the base's z axis to the vertical, radians.
        tilt: f64,
        /// Height over the ground, metres.
        height: f64,
    },
    /// The verifier has never seen a costmap.
    #[error("the verifier has no costmap yet, so it permits no driving")]
    NoGround,
    /// A goal that is outside the costmap or where nothing is known.
    #[error("the base's goal ({x:.2}, {y:.2}) m is outside the known ground")]
    OffTheGround {
        /// Position, map frame, metres.
        x: f64,
        /// Position, map frame, metres.
        y: f64,
    },
    /// Something stands where the base would.
    #[error("the ground at ({x:.2}, {y:.2}) m under the base's goal is taken or unknown")]
    GroundTaken {
        /// Position, map frame, metres.
        x: f64,
        /// Position, map frame, metres.
        y: f64,
    },
    /// A grasp without an assessment of evidence.
    #[error(
        "{object} is to be grasped without an assessment of evidence about it; detect the affordance first"
    )]
    NotAssessed {
        /// The object.
        object: ObjectKey,
    },
    /// An assessment that this verifier does not have.
    #[error("assessment {id} is not one of this verifier's; detect the affordance again")]
    UnknownAssessment {
        /// The id.
        id: String,
    },
    /// Evidence about another object.
    #[error("assessment {id} is about {assessed}, the plan is for {planned}")]
    AssessedOther {
        /// The id.
        id: String,
        /// What the evidence is about.
        assessed: ObjectKey,
        /// What is to be touched.
        planned: ObjectKey,
    },
    /// An assessment that is too old.
    #[error("assessment {id} is {age:.0} s old, {limit:.0} s is the most; detect the affordance again")]
    AssessmentExpired {
        /// The id.
        id: String,
        /// Its age, seconds.
        age: f64,
        /// The limit, seconds.
        limit: f64,
    },
    /// The object is elsewhere than it was assessed.
    #[error("{object} has moved since its evidence was assessed; detect the affordance again")]
    MovedSinceAssessed {
        /// The object.
        object: ObjectKey,
    },
    /// The evidence is not about the object.
    #[error("{doubt}")]
    Doubted {
        /// Why.
        doubt: Doubt,
    },
    /// The commit rule does not hold (AAH eq. 10).
    #[error("evidence does not suffice: v {:.2}, omega {:.2}, zeta {:.2}, mu {:.2}",
        .diagnostics.score, .diagnostics.omega, .diagnostics.zeta, .diagnostics.mu)]
    NotCommitted {
        /// The diagnostics.
        diagnostics: Diagnostics,
    },
}

/// The answer of the gate, with everything it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Every reason to refuse; empty = commit.
    pub findings: Vec<Finding>,
    /// Diagnostics of the assessed evidence; `None` where the skill needs none (look, home, place, drop) or none was assessed.
    pub diagnostics: Option<Diagnostics>,
    /// Share of the votes behind the name of the object that is touched first; `None` where nothing is.
    pub name_share: Option<f64>,
}

impl Verdict {
    /// Whether the plan may be executed.
    pub fn granted(&self) -> bool {
        self.findings.is_empty()
    }
}
