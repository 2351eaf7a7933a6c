//! New observations, for judging what a skill did.

use crate::Object;
use nalgebra::{Isometry3, Vector3};
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
    /// What the hand felt while it touched a part; `None` when it touched none, or cannot feel.
    pub felt: Option<Felt>,
}

/// What the hand felt while it pushed or pulled a part: measured joint positions and efforts, nothing commanded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Felt {
    /// How far the hand went with the part, metres along its path; not negative.
    pub travel: f64,
    /// How far the part followed the hand back when it was let go, metres; 0 when it stayed.
    pub returned: f64,
    /// From where the hand took the part to where it let go of it, map frame, metres.
    pub displacement: Vector3<f64>,
    /// Greatest force on the hand, newtons; 0 when the robot measures none.
    pub force: f64,
    /// Whether the part stopped the hand in the end.
    pub stopped: bool,
}
