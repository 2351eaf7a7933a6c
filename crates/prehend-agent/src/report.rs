//! How a goal ended.

use crate::talk::Conversation;
use prehend_scene::{Reason, SymbolicState};

/// How a goal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done, or the question is answered.
    Done,
    /// Nothing was moved.
    Refused,
    /// It was begun and did not succeed.
    Failed,
}

impl Outcome {
    /// Name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// The end of a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// Why not done.
    pub reason: Option<Reason>,
    /// For the person.
    pub message: String,
    /// Tool calls made, without the spatial ones.
    pub tool_calls: u32,
    /// What is held and known at the end.
    pub state: SymbolicState,
    /// What was said with a language model, when one was asked.
    pub talk: Option<Box<Conversation>>,
}

/// A fault before anything moved is a refusal, unless it is a defect or a loss.
pub(crate) fn ended_unmoved(reason: Reason) -> Outcome {
    match reason {
        Reason::NotUnderstood
        | Reason::NotFound
        | Reason::Ambiguous
        | Reason::Infeasible
        | Reason::Unsafe
        | Reason::Busy
        | Reason::Stopped
        | Reason::NotArmed
        | Reason::NoGrasp
        | Reason::NoPlace
        | Reason::NoPlan
        | Reason::VerifierRefused
        | Reason::NotApproved
        | Reason::VerifierLost
        | Reason::Stale => Outcome::Refused,
        Reason::PeerLost
        | Reason::Slipped
        | Reason::OutcomeNotObserved
        | Reason::ControlFailed
        | Reason::Canceled
        | Reason::Timeout
        | Reason::SensorFault
        | Reason::Internal => Outcome::Failed,
    }
}
