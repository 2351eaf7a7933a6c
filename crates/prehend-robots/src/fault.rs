//! What goes wrong on the robot side, as a fault of a skill or of an errand.

use crate::arming::ArmingFault;
use crate::joints::JointsUnknown;
use crate::live_frames::FramesError;
use crate::shell::Bar;
use prehend_execution::errand::ErrandFault;
use prehend_execution::{Forbidden, SkillFault};
use prehend_ros::RosError;

impl From<FramesError> for SkillFault {
    fn from(error: FramesError) -> Self {
        Self::Sensor { what: "transforms", detail: error.to_string() }
    }
}

impl From<FramesError> for ErrandFault {
    fn from(error: FramesError) -> Self {
        Self::NotLocalized(error.to_string())
    }
}

impl From<JointsUnknown> for SkillFault {
    fn from(error: JointsUnknown) -> Self {
        Self::Sensor { what: "joint states", detail: error.to_string() }
    }
}

impl From<ArmingFault> for Forbidden {
    fn from(fault: ArmingFault) -> Self {
        Self::NotArmed(fault.to_string())
    }
}

impl From<Bar> for Forbidden {
    fn from(bar: Bar) -> Self {
        Self::Barred { why: bar.to_string(), reason: bar.reason() }
    }
}

/// A failed call to the robot side. Who is there and gives no answer in time is lost as well.
pub fn of_robot(phase: &'static str, error: &RosError) -> SkillFault {
    match error {
        RosError::PeerLost { peer, .. }
        | RosError::Unavailable { peer, .. }
        | RosError::Timeout { peer, .. } => {
            let peer = format!("{peer} of the robot side (do MoveIt and the controllers run?)");
            SkillFault::PeerLost { peer, phase }
        }
        other => SkillFault::ControlFailed { phase, detail: other.to_string() },
    }
}
