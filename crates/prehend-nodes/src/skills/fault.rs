//! The codes of a skill's faults on the wire.

use prehend_execution::{Forbidden, SkillFault};
use prehend_msgs::prehend_interfaces::msg::ErrorCode;

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
        SkillFault::Forbidden(Forbidden::Refused(_)) => ErrorCode::SKILL_REFUSED,
        SkillFault::Forbidden(Forbidden::NotApproved(_)) => ErrorCode::SKILL_NOT_APPROVED,
        SkillFault::Forbidden(Forbidden::VerifierLost(_)) => ErrorCode::SKILL_VERIFIER_LOST,
        SkillFault::PeerLost { .. } => ErrorCode::SKILL_PEER_LOST,
        SkillFault::Forbidden(Forbidden::NotArmed(_)) => ErrorCode::SKILL_NOT_ARMED,
        SkillFault::Forbidden(Forbidden::Stopped(_)) => ErrorCode::SKILL_STOPPED,
        SkillFault::Forbidden(Forbidden::Canceled) => ErrorCode::SKILL_CANCELED,
        SkillFault::Planner { .. } => ErrorCode::SKILL_PLANNER,
        SkillFault::ControlFailed { .. } | SkillFault::Stuck { .. } => ErrorCode::SKILL_CONTROL_FAILED,
        SkillFault::Slipped { .. } => ErrorCode::SKILL_SLIPPED,
        SkillFault::Outcome(_) => ErrorCode::SKILL_OUTCOME,
        SkillFault::Forbidden(Forbidden::Barred { .. }) => ErrorCode::SKILL_BARRED,
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
            Forbidden::Refused(String::new()).into(),
            Forbidden::NotApproved(String::new()).into(),
            Forbidden::VerifierLost(String::new()).into(),
            SkillFault::PeerLost { peer: String::new(), phase: "lift" },
            Forbidden::NotArmed(String::new()).into(),
            Forbidden::Stopped(String::new()).into(),
            Forbidden::Canceled.into(),
            SkillFault::Planner { phase: "plan", code: -15, advice: "", reason: Reason::Internal },
            SkillFault::ControlFailed { phase: "lift", detail: String::new() },
            SkillFault::Slipped { phase: "lift", opening: 0.0 },
            SkillFault::Outcome(String::new()),
            SkillFault::Forbidden(Bar::Inactive.into()),
            SkillFault::Busy(String::new()),
            SkillFault::Sensor { what: "joint states", detail: String::new() },
        ];
        let codes: HashSet<i32> = all.iter().map(code).collect();
        assert_eq!(codes.len(), all.len());
        assert!(codes.iter().all(|code| (401..500).contains(code)));
    }
}
