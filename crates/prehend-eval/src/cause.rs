//! Why a run was not right.

use crate::goal::{Expected, GoalSpec};
use crate::judge::{Judgement, Outcome, Reported};
use prehend_scene::Reason;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Cause of a wrong outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The sentence was not understood.
    NotUnderstood,
    /// An object that is there was not found.
    NotSeen,
    /// One object fits, and it found several.
    SeenTwice,
    /// It called something impossible that can be done.
    WronglyInfeasible,
    /// It called something unsafe that is not.
    WronglyUnsafe,
    /// Another object was moved.
    WrongObject,
    /// The right object ended in the wrong place.
    WrongPlace,
    /// It claims success, and the object has not moved.
    NothingDone,
    /// It was done, and not claimed.
    NotClaimed,
    /// No grasp was found.
    NoGrasp,
    /// The object slipped or was lost.
    Slipped,
    /// The controller stopped: a contact or a path that could not be followed.
    Collision,
    /// No motion plan or no free place was found.
    Planner,
    /// The verifier refused.
    VerifierRefused,
    /// The verifier did not see the outcome.
    OutcomeNotObserved,
    /// The answer is wrong.
    WrongAnswer,
    /// It should have been refused.
    NotRefused,
    /// It was refused for another reason.
    WrongReason,
    /// It moved although the answer or the refusal needs no motion.
    MovedWithoutNeed,
    /// A node was lost, busy or stopped.
    PeerLost,
    /// A sensor gave no data.
    SensorFault,
    /// It took too long.
    Timeout,
    /// The scene of a task could not be set up.
    NoScene,
    /// A defect, or no result at all.
    Internal,
}

impl Cause {
    /// Every cause with its code in reports.
    pub const ALL: [(Self, &'static str); 24] = [
        (Self::NotUnderstood, "not_understood"),
        (Self::NotSeen, "not_seen"),
        (Self::SeenTwice, "seen_twice"),
        (Self::WronglyInfeasible, "wrongly_infeasible"),
        (Self::WronglyUnsafe, "wrongly_unsafe"),
        (Self::WrongObject, "wrong_object"),
        (Self::WrongPlace, "wrong_place"),
        (Self::NothingDone, "nothing_done"),
        (Self::NotClaimed, "not_claimed"),
        (Self::NoGrasp, "no_grasp"),
        (Self::Slipped, "slipped"),
        (Self::Collision, "collision"),
        (Self::Planner, "planner"),
        (Self::VerifierRefused, "verifier_refused"),
        (Self::OutcomeNotObserved, "outcome_not_observed"),
        (Self::WrongAnswer, "wrong_answer"),
        (Self::NotRefused, "not_refused"),
        (Self::WrongReason, "wrong_reason"),
        (Self::MovedWithoutNeed, "moved_without_need"),
        (Self::PeerLost, "peer_lost"),
        (Self::SensorFault, "sensor_fault"),
        (Self::Timeout, "timeout"),
        (Self::NoScene, "no_scene"),
        (Self::Internal, "internal"),
    ];

    /// The code in reports.
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(cause, _)| *cause == self).map_or("internal", |(_, code)| code)
    }

    /// The cause of a wrong outcome; `None` of a right one.
    pub fn of(spec: &GoalSpec, judgement: &Judgement, reported: &Reported) -> Option<Self> {
        if judgement.right {
            return None;
        }
        Some(match (&spec.expected, reported.outcome) {
            (Expected::World(_) | Expected::Carried, Outcome::Done) => {
                let other = !judgement.collateral.is_empty();
                match (judgement.moved, other) {
                    (false, _) => Self::NothingDone,
                    (true, true) => Self::WrongObject,
                    (true, false) => Self::WrongPlace,
                }
            }
            (Expected::World(_), _) if judgement.physics_ok == Some(true) => Self::NotClaimed,
            (Expected::Refusal(_), Outcome::Done | Outcome::Failed) => Self::NotRefused,
            (Expected::Refusal(reasons), Outcome::Refused) => {
                if reported.reason.is_some_and(|reason| reasons.contains(&reason)) {
                    Self::MovedWithoutNeed
                } else {
                    Self::WrongReason
                }
            }
            (Expected::Answer(_), Outcome::Done) => {
                if judgement.needless {
                    Self::MovedWithoutNeed
                } else {
                    Self::WrongAnswer
                }
            }
            (Expected::World(_) | Expected::Carried | Expected::Answer(_), _) => {
                reported.reason.map_or(Self::Internal, Self::of_reason)
            }
        })
    }

    /// The cause when something that can be done ended with this reason.
    pub fn of_reason(reason: Reason) -> Self {
        match reason {
            Reason::NotUnderstood => Self::NotUnderstood,
            Reason::NotFound | Reason::Stale => Self::NotSeen,
            Reason::Ambiguous => Self::SeenTwice,
            Reason::Infeasible => Self::WronglyInfeasible,
            Reason::Unsafe => Self::WronglyUnsafe,
            Reason::VerifierRefused => Self::VerifierRefused,
            Reason::NoGrasp => Self::NoGrasp,
            Reason::NoPlace | Reason::NoPlan => Self::Planner,
            Reason::Slipped => Self::Slipped,
            Reason::OutcomeNotObserved => Self::OutcomeNotObserved,
            Reason::ControlFailed => Self::Collision,
            Reason::Busy
            | Reason::Stopped
            | Reason::NotArmed
            | Reason::NotApproved
            | Reason::Canceled
            | Reason::VerifierLost
            | Reason::PeerLost => Self::PeerLost,
            Reason::Timeout => Self::Timeout,
            Reason::SensorFault => Self::SensorFault,
            Reason::Internal => Self::Internal,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
