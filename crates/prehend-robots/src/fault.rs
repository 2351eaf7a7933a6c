//! What goes wrong on the robot side, as a skill's fault.

use crate::arming::ArmingFault;
use crate::joints::JointsUnknown;
use crate::live_frames::FramesError;
use crate::shell::Bar;
use prehend_execution::SkillFault;
use prehend_ros::RosError;

impl From<FramesError> for SkillFault {
    fn from(error: FramesError) -> Self {
        Self::Sensor { what: "transforms", detail: error.to_string() }
    }
}

impl From<JointsUnknown> for SkillFault {
    fn from(error: JointsUnknown) -> Self {
        Self::Sensor { what: "joint states", detail: error.to_string() }
    }
}

impl From<ArmingFault> for SkillFault {
    fn from(fault: ArmingFault) -> Self {
        Self::NotArmed(fault.to_string())
    }
}

impl From<Bar> for SkillFault {
    fn from(bar: Bar) -> Self {
        Self::Barred { why: bar.to_string(), reason: bar.reason() }
    }
}

/// A failed call to the robot side.
pub fn of_robot(phase: &'static str, error: &RosError) -> SkillFault {
    match error {
        RosError::PeerLost { peer, .. } | RosError::Unavailable { peer, .. } => {
            let peer = format!("{peer} of the robot side (do MoveIt and the controllers run?)");
            SkillFault::PeerLost { peer, phase }
        }
        other => SkillFault::ControlFailed { phase, detail: other.to_string() },
    }
}
