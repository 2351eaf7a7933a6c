//! What the agent sees (ASP III-B, III-D).

use crate::ObjectKey;
use serde::{Deserialize, Serialize};

/// ASP's `State`: the held object and the objects the agent can reason on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SymbolicState {
    /// The object in the gripper.
    pub held_object: Option<ObjectKey>,
    /// Objects that were retrieved and may be reasoned on or acted on.
    pub inventory: Vec<ObjectKey>,
    /// Version of the map the inventory was taken from.
    pub map_version: u64,
    /// The object of the room map the base was last driven to; `None` on a fixed arm.
    pub at_object: Option<ObjectKey>,
    /// Where the base then was: x, y in metres, yaw in radians, map frame.
    pub base_pose: Option<[f64; 3]>,
}
