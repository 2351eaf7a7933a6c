//! New observations, for judging what a skill did.

use crate::Object;
use nalgebra::Isometry3;
use serde::{Deserialize, Serialize};

/// What was observed at one moment; outcome checks use nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Time, seconds.
    pub stamp: f64,
    /// Measured distance between the finger pads, metres.
    pub gripper_opening: f64,
    /// Commanded distance between the finger pads, metres.
    pub gripper_command: f64,
    /// Measured pad force, newtons; 0 when the gripper does not report it.
    pub gripper_effort: f64,
    /// Tool pose, `map_from_tool`.
    pub tool_pose: Isometry3<f64>,
    /// Objects seen in new frames; `None` when no frame was taken.
    pub objects: Option<Vec<Object>>,
    /// Map version of `objects`.
    pub map_version: u64,
}
