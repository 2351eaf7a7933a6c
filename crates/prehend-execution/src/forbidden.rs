//! Why the robot must not move, or not move on: arm and base for the same reasons.

use prehend_scene::Reason;

/// What forbids a motion, whatever was to be moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// The verifier refused the plan.
    #[error("the verifier refused: {0}")]
    Refused(String),
    /// A person was asked about the plan, and did not say yes.
    #[error("not approved: {0}")]
    NotApproved(String),
    /// The verifier did not answer.
    #[error("the verifier did not answer: {0}")]
    VerifierLost(String),
    /// The robot's own safety is not confirmed, or was lost.
    #[error("not armed: {0}")]
    NotArmed(String),
    /// The stop is latched.
    #[error("stopped: {0}")]
    Stopped(String),
    /// The goal was cancelled.
    #[error("cancelled")]
    Canceled,
    /// This node must not move the robot: it is not active, or another Prehend holds the robot.
    #[error("{why}")]
    Barred {
        /// What bars it.
        why: String,
        /// What it is for the other nodes.
        reason: Reason,
    },
}

impl Forbidden {
    /// The reason, as every node knows it.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Refused(_) => Reason::VerifierRefused,
            Self::NotApproved(_) => Reason::NotApproved,
            Self::VerifierLost(_) => Reason::VerifierLost,
            Self::NotArmed(_) => Reason::NotArmed,
            Self::Stopped(_) => Reason::Stopped,
            Self::Canceled => Reason::Canceled,
            Self::Barred { reason, .. } => *reason,
        }
    }

    /// Whether it says so of one plan alone: another may be permitted.
    pub(crate) fn is_of_the_plan(&self) -> bool {
        match self {
            Self::Refused(_) | Self::NotApproved(_) => true,
            Self::VerifierLost(_)
            | Self::NotArmed(_)
            | Self::Stopped(_)
            | Self::Canceled
            | Self::Barred { .. } => false,
        }
    }
}
