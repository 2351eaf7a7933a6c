//! What the agent needs from the world: perception, skills and somebody who listens.

pub use crate::fault::{Fault, SkillOutcome};
use crate::output::ToolOutput;
use crate::talk::Turn;
use crate::words::Words;
use nalgebra::Isometry3;
use prehend_scene::{
    Area, Direction, Intent, ObjectKey, ObjectMap, PartEffect, Reason, Relation, Scope, Skill,
};
use std::sync::Arc;

/// An object that was looked at and is not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The object.
    pub key: ObjectKey,
    /// Why it is not meant, such as `it is blue, not red`.
    pub reason: String,
}

/// Answer to a retrieval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retrieval {
    /// Confirmed objects, best first.
    pub keys: Vec<ObjectKey>,
    /// Rejected candidates, nearest first.
    pub rejected: Vec<Rejected>,
    /// Objects, matched or not, of which it is open whether they are meant; more views may settle it.
    pub doubtful: Vec<ObjectKey>,
}

/// A part that was found on an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionablePart {
    /// Name such as `handle`.
    pub name: String,
    /// Skill that acts on it.
    pub skill: Skill,
    /// How well it fits, [0, 1].
    pub score: f64,
}

/// What a skill shall do.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillRequest {
    /// The skill.
    pub skill: Skill,
    /// Object to grasp, or held object; empty for look and home.
    pub object: ObjectKey,
    /// Targets of the relation.
    pub targets: Vec<ObjectKey>,
    /// Where to place.
    pub relation: Option<Relation>,
    /// Where on the table, with [`Relation::Table`].
    pub area: Option<Area>,
    /// Part to grasp; empty = anywhere.
    pub part: String,
    /// What shall become of the part; only for skills on parts.
    pub effect: Option<PartEffect>,
    /// Which way the part shall move; `None` is what is usual for the effect.
    pub direction: Option<Direction>,
    /// Map version the request is made from.
    pub map_version: u64,
}

/// Where the base stands after a go_to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Whether it was driven; otherwise it stood well already.
    pub moved: bool,
    /// Where the base is: x, y in metres, yaw in radians, map frame.
    pub pose: [f64; 3],
    /// The arm's base frame in the map frame: from the room map to the local one.
    pub map_from_arm: Isometry3<f64>,
}

/// A choice among several things that the other words fit: "the largest", "the second from the left".
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// By what, in the notation of goals: `most size`, `side left`; `sight` of which one is seen while the others are shut away.
    pub by: String,
    /// The things, with what was measured of each, metres: a size, a gap, how far it is to a side or up.
    pub measured: Vec<(ObjectKey, f64)>,
    /// Those that were taken; none when it could not be told, or none fits.
    pub taken: Vec<ObjectKey>,
    /// Why none was taken; empty when one was.
    pub why_none: String,
}

/// Something that was seen before.
#[derive(Clone, Debug, PartialEq)]
pub struct Remembered {
    /// The thing, such as `red mug`.
    pub words: String,
    /// What it stood on or in, such as `white table`; empty when that is not known.
    pub on: String,
    /// The kind of room, such as `kitchen`; empty when that is not known.
    pub room: String,
    /// Where in the map frame, metres.
    pub center: [f64; 3],
    /// How long ago it was seen last, seconds.
    pub ago: f64,
    /// How sure it is that it is still there, [0, 1].
    pub still_there: f64,
}

/// How far a step of a goal that is only planned came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepStatus {
    /// It could be carried out as planned.
    Planned,
    /// It is planned when the steps before it are done.
    Later,
    /// It cannot be carried out as things are.
    Refused(Reason),
}

impl StepStatus {
    /// Name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Later => "later",
            Self::Refused(_) => "refused",
        }
    }
}

/// One step of a goal that is planned and not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// What is done, as an order.
    pub words: String,
    /// How far it could be planned.
    pub status: StepStatus,
    /// Why it is not planned, for the person; empty otherwise.
    pub detail: String,
}

/// What the agent's tools act on. Calls block until they are answered, fail typed, or are interrupted.
pub trait World {
    /// Brings arm and hand to where a goal can start: home, with what is held known. Moves nothing when it is so already.
    fn settle(&mut self) -> Result<SkillOutcome, Fault>;
    /// Whether what is held is held because a person asked for that; else a goal that failed has left it in the gripper.
    fn was_asked_to_hold(&self) -> bool {
        true
    }
    /// Takes a new look from where the camera is (no motion) and gives the map.
    fn update_map(&mut self) -> Result<Arc<ObjectMap>, Fault>;
    /// The newest map, without a new look; skills take looks of their own.
    fn newest_map(&mut self) -> Result<Arc<ObjectMap>, Fault>;
    /// Top-k retrieval with confirmation in one of the maps (ASP IV-C); `k` = 0 is the default.
    fn retrieve(&mut self, query: &str, k: u32, scope: Scope) -> Result<Retrieval, Fault>;
    /// Whether the robot drives, so that there is a map of the room (ASP III-D).
    fn rooms(&self) -> bool {
        false
    }
    /// The map of the room as it is; version 0 before the first tour.
    fn room_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Err(Fault::new(Reason::Infeasible, "this robot does not drive"))
    }
    /// Drives round the room and maps it anew.
    fn explore(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Err(Fault::new(Reason::Infeasible, "this robot does not drive"))
    }
    /// Drives to where these places are seen, map frame in metres, and takes what is there into the map of the room. A map that was whole
    /// stays whole.
    fn visit(&mut self, _places: &[[f64; 3]]) -> Result<Arc<ObjectMap>, Fault> {
        Err(Fault::new(Reason::Infeasible, "this robot does not drive"))
    }
    /// Whether the map of the room comes from visits alone: most of the room was not looked at.
    fn room_is_partial(&self) -> bool {
        false
    }
    /// Drives to where an object of the room map can be acted on so, or seen when nothing is to be done (ASP III-D).
    fn go_to(&mut self, _object: &ObjectKey, _intent: Option<&Intent>) -> Result<Arrival, Fault> {
        Err(Fault::new(Reason::Infeasible, "this robot does not drive"))
    }
    /// Where the base is now, when the robot drives and knows it: x, y in metres, yaw in radians, map frame.
    fn base_pose(&self) -> Option<[f64; 3]> {
        None
    }
    /// Detects parts of an object that serve an intent; their evidence goes with the next skill on it.
    fn detect_affordance(
        &mut self,
        object: &ObjectKey,
        intent: &Intent,
    ) -> Result<Vec<ActionablePart>, Fault>;
    /// Executes a skill to its end.
    fn execute(&mut self, request: &SkillRequest) -> Result<SkillOutcome, Fault>;
    /// Why the goal must end now, if it must.
    fn interrupted(&self) -> Option<Fault>;
    /// What was seen in this or an earlier session that fits about equally well, best first; none without a memory.
    fn remembered(&mut self, _description: &str) -> Vec<Remembered> {
        Vec::new()
    }
    /// A step of a goal that is only planned is planned, with the skills and drives since the step before it.
    fn step_planned(&mut self, _step: &PlannedStep) {}
    /// Several things that fit were compared.
    fn compared(&mut self, _comparison: &Comparison) {}
    /// A tool is about to be called: one line for a person.
    fn tool_called(&mut self, name: &str, arguments: &str);
    /// A tool has answered.
    fn tool_answered(&mut self, name: &str, output: &ToolOutput);
    /// What the camera sees now with each thing of the map and its key, as the bytes of a PNG; `None` when there is no picture.
    fn picture(&mut self) -> Option<Vec<u8>> {
        None
    }
    /// Who knows words and learns new ones, when there is somebody.
    fn words(&mut self) -> Option<&mut dyn Words> {
        None
    }
    /// A language model has made a turn.
    fn model_said(&mut self, _turn: &Turn) {}
}
