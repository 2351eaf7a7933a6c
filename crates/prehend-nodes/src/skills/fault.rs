//! What the verifier's answers are as a skill's fault, and the codes of faults on the wire.

use crate::permit::PermitError;
use prehend_execution::SkillFault;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;

impl From<PermitError> for SkillFault {
    fn from(error: PermitError) -> Self {
        match error {
            PermitError::Refused(why) => Self::Refused(why),
            PermitError::NotApproved(why) => Self::NotApproved(why),
            PermitError::Lost(why) => Self::VerifierLost(why),
        }
    }
}

/// The code of a fault on the wire.
pub(super) fn code(fault: &SkillFault) -> i32 {
    match fault {
        SkillFault::BadRequest(_) => ErrorCode::SKILL_BAD_REQUEST,
        SkillFault::Precondition(_) => ErrorCode::SKILL_PRECONDITION,
        SkillFault::UnknownObject(_) => ErrorCode::SKILL_UNKNOWN_OBJECT,
        SkillFault::NoGrasp { .. } => ErrorCode::SKILL_NO_GRASP,
        SkillFault::NoPlace { .. } => ErrorCode::SKILL_NO_PLACE,
        SkillFault::NoPart { .. } => ErrorCode::SKILL_NO_PART,
        SkillFault::Immovable { .. } => ErrorCode::SKILL_IMMOVABLE,
        SkillFault::NoContact { .. } => ErrorCode::SKILL_NO_CONTACT,
        SkillFault::Corridor { .. } => ErrorCode::SKILL_CORRIDOR,
        SkillFault::NoPlan { .. } => ErrorCode::SKILL_NO_PLAN,
        SkillFault::Refused(_) => ErrorCode::SKILL_REFUSED,
        SkillFault::NotApproved(_) => ErrorCode::SKILL_NOT_APPROVED,
        SkillFault::VerifierLost(_) => ErrorCode::SKILL_VERIFIER_LOST,
        SkillFault::PeerLost { .. } => ErrorCode::SKILL_PEER_LOST,
        SkillFault::NotArmed(_) => ErrorCode::SKILL_NOT_ARMED,
        SkillFault::Stopped(_) => ErrorCode::SKILL_STOPPED,
        SkillFault::Canceled => ErrorCode::SKILL_CANCELED,
        SkillFault::Planner { .. } => ErrorCode::SKILL_PLANNER,
        SkillFault::ControlFailed { .. } | SkillFault::Stuck { .. } => ErrorCode::SKILL_CONTROL_FAILED,
        SkillFault::Slipped { .. } => ErrorCode::SKILL_SLIPPED,
        SkillFault::Outcome(_) => ErrorCode::SKILL_OUTCOME,
        SkillFault::Barred { .. } => ErrorCode::SKILL_BARRED,
        SkillFault::Busy(_) => ErrorCode::SKILL_BUSY,
        SkillFault::Sensor { .. } => ErrorCode::SKILL_SENSOR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_robots::shell::Bar;
    use prehend_scene::Reason;
    use prehend_skills::{ContractError, GraspError, PartError, PlaceError};
    use std::collections::HashSet;

    #[test]
    fn every_fault_has_a_code_of_its_own() {
        let all = [
            SkillFault::BadRequest(String::new()),
            SkillFault::Precondition(ContractError::NoRelation),
            SkillFault::UnknownObject("cup".into()),
            SkillFault::NoGrasp {
                object: "cup".into(),
                cause: GraspError::NoContact,
                in_the_way: Vec::new(),
            },
            SkillFault::NoPlace { object: "cup".into(), cause: PlaceError::Unsteady },
            SkillFault::NoPart { object: "cup".into(), cause: PartError::NoNormal },
            SkillFault::Immovable { phase: "pull", moved: 0.001, force: 60.0 },
            SkillFault::NoContact { phase: "touch", searched: 0.012 },
            SkillFault::Corridor { phase: "pull" },
            SkillFault::NoPlan { phase: "grasp", tried: 1, detail: String::new() },
            SkillFault::Refused(String::new()),
            SkillFault::NotApproved(String::new()),
            SkillFault::VerifierLost(String::new()),
            SkillFault::PeerLost { peer: String::new(), phase: "lift" },
            SkillFault::NotArmed(String::new()),
            SkillFault::Stopped(String::new()),
            SkillFault::Canceled,
            SkillFault::Planner { phase: "plan", code: -15, advice: "", reason: Reason::Internal },
            SkillFault::ControlFailed { phase: "lift", detail: String::new() },
            SkillFault::Slipped { phase: "lift", opening: 0.0 },
            SkillFault::Outcome(String::new()),
            Bar::Inactive.into(),
            SkillFault::Busy(String::new()),
            SkillFault::Sensor { what: "joint states", detail: String::new() },
        ];
        let codes: HashSet<i32> = all.iter().map(code).collect();
        assert_eq!(codes.len(), all.len());
        assert!(codes.iter().all(|code| (401..500).contains(code)));
    }
}
