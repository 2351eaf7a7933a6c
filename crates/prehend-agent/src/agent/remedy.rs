//! What is done about the fault of a step.

use prehend_scene::Reason;

/// What to do about a fault of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Try again from a new map.
    Retry,
    /// Look from elsewhere, then try again.
    LookFirst,
    /// Put aside what stands in the way, then try again.
    MakeWay,
    /// End the goal.
    Give,
}

/// What a fault of a step leads to, whatever the step was.
pub(crate) fn remedy(reason: Reason) -> Remedy {
    match reason {
        Reason::NoGrasp
        | Reason::NoPlan
        | Reason::NoPlace
        | Reason::Slipped
        | Reason::OutcomeNotObserved
        | Reason::ControlFailed
        | Reason::SensorFault => Remedy::Retry,
        // Thin evidence, or a thing lost from sight: another view may show it.
        Reason::VerifierRefused | Reason::NotFound => Remedy::LookFirst,
        // A precondition of a skill: the map or the hand is not as assumed.
        Reason::Infeasible => Remedy::Retry,
        Reason::NotUnderstood
        | Reason::Ambiguous
        | Reason::Unsafe
        | Reason::Busy
        | Reason::Stopped
        | Reason::NotArmed
        | Reason::NotApproved
        | Reason::VerifierLost
        | Reason::PeerLost
        | Reason::Canceled
        | Reason::Timeout
        | Reason::Stale
        | Reason::Internal => Remedy::Give,
    }
}

/// Whether an action on a part that ended so may have moved it.
pub(super) fn has_touched(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Infeasible | Reason::OutcomeNotObserved | Reason::Slipped | Reason::ControlFailed
    )
}
