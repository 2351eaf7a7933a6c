//! Why a goal ended otherwise than done: one typed code each, the same in every process.

use serde::{Deserialize, Serialize};

/// Typed code of a refusal or a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The sentence has no meaning the planner knows.
    NotUnderstood,
    /// A named object was not found.
    NotFound,
    /// Several objects fit and the sentence does not say which.
    Ambiguous,
    /// It cannot be done with this robot and scene.
    Infeasible,
    /// It would hurt people or things.
    Unsafe,
    /// Another goal is being executed.
    Busy,
    /// The stop is latched.
    Stopped,
    /// The robot's own safety is not confirmed, or was lost: runstop, error, a fence that was refused.
    NotArmed,
    /// The verifier refused to commit.
    VerifierRefused,
    /// A person was asked and said no, or nothing in time.
    NotApproved,
    /// The verifier did not answer.
    VerifierLost,
    /// Another node was lost during the goal.
    PeerLost,
    /// No grasp could be found or planned.
    NoGrasp,
    /// No free place was found.
    NoPlace,
    /// No motion plan was found.
    NoPlan,
    /// The object slipped or was not held.
    Slipped,
    /// The skill ended, but the new observation does not show its postcondition.
    OutcomeNotObserved,
    /// The controller failed or met an obstacle.
    ControlFailed,
    /// The goal was cancelled.
    Canceled,
    /// A deadline passed.
    Timeout,
    /// What the room map shows is not there any more.
    Stale,
    /// A sensor gave no usable data.
    SensorFault,
    /// A defect of Prehend itself.
    Internal,
}

impl Reason {
    /// Every reason with its code on the wire.
    pub const ALL: [(Self, &'static str); 23] = [
        (Self::NotUnderstood, "not_understood"),
        (Self::NotFound, "not_found"),
        (Self::Ambiguous, "ambiguous"),
        (Self::Infeasible, "infeasible"),
        (Self::Unsafe, "unsafe"),
        (Self::Busy, "busy"),
        (Self::Stopped, "stopped"),
        (Self::NotArmed, "not_armed"),
        (Self::VerifierRefused, "verifier_refused"),
        (Self::NotApproved, "not_approved"),
        (Self::VerifierLost, "verifier_lost"),
        (Self::PeerLost, "peer_lost"),
        (Self::NoGrasp, "no_grasp"),
        (Self::NoPlace, "no_place"),
        (Self::NoPlan, "no_plan"),
        (Self::Slipped, "slipped"),
        (Self::OutcomeNotObserved, "outcome_not_observed"),
        (Self::ControlFailed, "control_failed"),
        (Self::Canceled, "canceled"),
        (Self::Timeout, "timeout"),
        (Self::Stale, "stale"),
        (Self::SensorFault, "sensor_fault"),
        (Self::Internal, "internal"),
    ];

    /// The code on the wire.
    pub fn code(self) -> &'static str {
        match Self::ALL.iter().find(|(reason, _)| *reason == self) {
            Some((_, code)) => code,
            None => "internal",
        }
    }

    /// The reason with this code.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, c)| *c == code).map(|(reason, _)| reason)
    }
}
