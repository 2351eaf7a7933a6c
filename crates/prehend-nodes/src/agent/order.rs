//! What a goal asks of the node, and what a refusal is on the wire.

use prehend_agent::language::{Goal, Question, Step};
use prehend_agent::mind::Order;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_scene::Reason;

/// Whether a sentence is the wish to stop, and nothing else.
pub(super) fn is_stop(readings: &[Goal]) -> bool {
    matches!(readings, [Goal::Steps(steps)] if steps.as_slice() == [Step::Stop])
}

/// Whether all that a sentence can mean is a question about what is there.
pub(super) fn is_question(order: &Order) -> bool {
    let readings = &order.readings;
    !readings.is_empty() && readings.iter().all(|reading| matches!(reading, Goal::Question(_)))
}

/// Whether an order may move the robot; what only a model understands may.
pub(super) fn needs_motion(order: &Order) -> bool {
    let readings = &order.readings;
    if readings.is_empty() {
        return true;
    }
    readings.iter().any(|reading| !matches!(reading, Goal::Question(_) | Goal::Lesson { .. }))
        && !readings.iter().all(|reading| matches!(reading, Goal::Question(Question::Abilities)))
}

/// The wire code of a refusal at once.
pub(super) fn error_code(reason: Reason) -> i32 {
    match reason {
        Reason::NotUnderstood => ErrorCode::AGENT_NOT_UNDERSTOOD,
        Reason::NotFound | Reason::Stale => ErrorCode::AGENT_NOT_FOUND,
        Reason::Ambiguous => ErrorCode::AGENT_AMBIGUOUS,
        Reason::Infeasible => ErrorCode::AGENT_INFEASIBLE,
        Reason::Unsafe => ErrorCode::AGENT_UNSAFE,
        Reason::Busy => ErrorCode::AGENT_BUSY,
        Reason::Stopped => ErrorCode::AGENT_STOPPED,
        Reason::NotArmed => ErrorCode::SKILL_NOT_ARMED,
        Reason::VerifierLost => ErrorCode::SKILL_VERIFIER_LOST,
        Reason::VerifierRefused => ErrorCode::SKILL_REFUSED,
        Reason::NotApproved => ErrorCode::SKILL_NOT_APPROVED,
        Reason::PeerLost => ErrorCode::SKILL_PEER_LOST,
        Reason::NoGrasp => ErrorCode::SKILL_NO_GRASP,
        Reason::NoPlace => ErrorCode::SKILL_NO_PLACE,
        Reason::NoPlan => ErrorCode::SKILL_NO_PLAN,
        Reason::Slipped => ErrorCode::SKILL_SLIPPED,
        Reason::OutcomeNotObserved => ErrorCode::SKILL_OUTCOME,
        Reason::ControlFailed => ErrorCode::SKILL_CONTROL_FAILED,
        Reason::Canceled => ErrorCode::SKILL_CANCELED,
        Reason::SensorFault => ErrorCode::SKILL_SENSOR,
        Reason::Timeout | Reason::Internal => ErrorCode::SKILL_BAD_REQUEST,
    }
}
