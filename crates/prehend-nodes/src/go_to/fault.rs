//! The codes of an errand's faults on the wire, and what the navigation's errors are.

use prehend_execution::Forbidden;
use prehend_execution::errand::ErrandFault;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_robots::nav2::{End, meaning};
use prehend_ros::RosError;

/// The code of a fault on the wire.
pub(super) fn code(fault: &ErrandFault) -> i32 {
    match fault {
        ErrandFault::BadRequest(_) => ErrorCode::GOTO_BAD_REQUEST,
        ErrandFault::UnknownObject(_) => ErrorCode::GOTO_UNKNOWN_OBJECT,
        ErrandFault::NoMap { .. } => ErrorCode::GOTO_NO_MAP,
        ErrandFault::NotLocalized(_) => ErrorCode::GOTO_NOT_LOCALIZED,
        ErrandFault::NoPose { .. } => ErrorCode::GOTO_NO_POSE,
        ErrandFault::OutsideMap { .. } => ErrorCode::GOTO_OUTSIDE_MAP,
        ErrandFault::Forbidden(Forbidden::Refused(_)) => ErrorCode::GOTO_REFUSED,
        ErrandFault::Forbidden(Forbidden::NotApproved(_)) => ErrorCode::GOTO_NOT_APPROVED,
        ErrandFault::Forbidden(Forbidden::VerifierLost(_)) => ErrorCode::GOTO_VERIFIER_LOST,
        ErrandFault::Forbidden(Forbidden::NotArmed(_)) => ErrorCode::GOTO_NOT_ARMED,
        ErrandFault::Forbidden(Forbidden::Stopped(_)) => ErrorCode::GOTO_STOPPED,
        ErrandFault::Forbidden(Forbidden::Canceled) => ErrorCode::GOTO_CANCELED,
        ErrandFault::Forbidden(Forbidden::Barred { .. }) => ErrorCode::GOTO_BARRED,
        ErrandFault::Rejected { .. } => ErrorCode::GOTO_REJECTED,
        ErrandFault::Aborted { .. } => ErrorCode::GOTO_ABORTED,
        ErrandFault::NavigationInactive { .. } => ErrorCode::GOTO_NAVIGATION_INACTIVE,
        ErrandFault::NavigationLost(_) => ErrorCode::GOTO_NAVIGATION_LOST,
        ErrandFault::Timeout { .. } => ErrorCode::GOTO_TIMEOUT,
        ErrandFault::Busy(_) => ErrorCode::GOTO_BUSY,
        ErrandFault::PeerLost(_) => ErrorCode::GOTO_PEER_LOST,
        ErrandFault::NotThere { .. } => ErrorCode::GOTO_NOT_THERE,
        ErrandFault::Arm { .. } => ErrorCode::GOTO_ARM,
        ErrandFault::NothingSeen(_) => ErrorCode::GOTO_NOTHING_SEEN,
    }
}

/// What an error of the navigation's action means.
pub(super) fn of_navigation(error: &RosError, [x, y]: [f64; 2]) -> ErrandFault {
    match error {
        RosError::Rejected { .. } => ErrandFault::Rejected { x, y },
        other => ErrandFault::NavigationLost(other.to_string()),
    }
}

/// A drive that the navigation ended before it was there.
pub(super) fn aborted(End { code, message }: End) -> ErrandFault {
    let (meaning, reason) = meaning(code);
    ErrandFault::Aborted { code, meaning, reason, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_robots::shell::Bar;
    use prehend_scene::Reason;
    use std::collections::HashSet;

    #[test]
    fn every_fault_has_a_code_of_its_own() {
        let text = String::new;
        let all = [
            ErrandFault::BadRequest(text()),
            ErrandFault::UnknownObject(text()),
            ErrandFault::NoMap { topic: text() },
            ErrandFault::NotLocalized(text()),
            ErrandFault::NoPose { object: text(), cause: text() },
            ErrandFault::OutsideMap { x: 0.0, y: 0.0 },
            Forbidden::Refused(text()).into(),
            Forbidden::NotApproved(text()).into(),
            Forbidden::VerifierLost(text()).into(),
            Forbidden::NotArmed(text()).into(),
            Forbidden::Stopped(text()).into(),
            Forbidden::Canceled.into(),
            ErrandFault::Forbidden(Bar::Inactive.into()),
            ErrandFault::Rejected { x: 0.0, y: 0.0 },
            aborted(End::default()),
            ErrandFault::NavigationInactive { state: text() },
            ErrandFault::NavigationLost(text()),
            ErrandFault::Timeout { seconds: 1.0 },
            ErrandFault::Busy(text()),
            ErrandFault::PeerLost(text()),
            ErrandFault::NotThere { distance: 1.0, angle: 0.0 },
            ErrandFault::Arm { reason: Reason::Internal, message: text() },
            ErrandFault::NothingSeen(text()),
        ];
        let codes: HashSet<i32> = all.iter().map(code).collect();
        assert_eq!(codes.len(), all.len());
        assert!(codes.iter().all(|code| (601..700).contains(code)));
    }

    #[test]
    fn a_drive_that_was_aborted_says_what_navs_code_means() {
        let fault = aborted(End { code: 208, message: "no valid path".to_owned() });
        assert_eq!(
            fault.to_string(),
            "the drive was aborted: there is no way to the goal (Nav2 code 208) no valid path"
        );
        assert_eq!(fault.reason(), Reason::NoPlan);
    }
}
