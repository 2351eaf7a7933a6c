//! Why a goal with a model ends otherwise than done.

use crate::talk::ModelFault;
use crate::world::Fault;
use prehend_scene::Reason;

/// Why a conversation ended otherwise than done.
#[derive(Debug)]
pub(super) enum Broken {
    /// The goal ended.
    Goal(Fault),
    /// The model is of no use.
    Model(ModelFault),
}

impl Broken {
    /// What the person is told.
    pub(super) fn told(&self) -> Fault {
        match self {
            Self::Goal(fault) | Self::Model(ModelFault::Interrupted(fault)) => fault.clone(),
            Self::Model(fault @ ModelFault::Unavailable(_)) => {
                Fault::new(Reason::PeerLost, format!("The language model is of no use now: {fault}."))
            }
            Self::Model(fault @ (ModelFault::TooLong | ModelFault::Spent(_))) => {
                Fault::new(Reason::Timeout, format!("The language model did not come to an end: {fault}."))
            }
        }
    }

    /// Whether it was the model that was of no use.
    pub(super) fn is_of_model(&self) -> bool {
        matches!(self, Self::Model(ModelFault::Unavailable(_) | ModelFault::TooLong | ModelFault::Spent(_)))
    }
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self::Goal(fault)
    }
}

/// Whether a fault ends the goal whatever a model would do next.
pub(super) fn ends(reason: Reason) -> bool {
    match reason {
        Reason::Busy
        | Reason::Stopped
        | Reason::NotArmed
        | Reason::NotApproved
        | Reason::VerifierLost
        | Reason::PeerLost
        | Reason::Canceled
        | Reason::Timeout
        | Reason::Internal => true,
        Reason::NotUnderstood
        | Reason::NotFound
        | Reason::Ambiguous
        | Reason::Infeasible
        | Reason::Unsafe
        | Reason::VerifierRefused
        | Reason::NoGrasp
        | Reason::NoPlace
        | Reason::NoPlan
        | Reason::Slipped
        | Reason::OutcomeNotObserved
        | Reason::ControlFailed
        | Reason::SensorFault
        | Reason::Stale => false,
    }
}
