//! Why a skill did not do what it was asked for.

use crate::forbidden::Forbidden;
use prehend_scene::{ObjectKey, Reason};
use prehend_skills::{ContractError, GraspError, PartError, PlaceError};

/// A skill's typed failure; every variant has one reason and one error code.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SkillFault {
    /// The request is no request.
    #[error("bad request: {0}")]
    BadRequest(String),
    /// A precondition does not hold.
    #[error(transparent)]
    Precondition(#[from] ContractError),
    /// The object is not in the map.
    #[error("`{0}` is not in the object map")]
    UnknownObject(ObjectKey),
    /// No grasp fits what was seen.
    #[error("no grasp on `{object}`: {cause}{}", named(in_the_way))]
    NoGrasp {
        /// The object.
        object: ObjectKey,
        /// Why.
        cause: GraspError,
        /// What would have to be elsewhere for a grasp.
        in_the_way: Vec<ObjectKey>,
    },
    /// No place fits what was seen.
    #[error("no place for `{object}`: {cause}")]
    NoPlace {
        /// The object.
        object: ObjectKey,
        /// Why.
        cause: PlaceError,
    },
    /// No way to act on the part fits what was seen.
    #[error("nothing can be done at the part of `{object}`: {cause}")]
    NoPart {
        /// The object.
        object: ObjectKey,
        /// Why.
        cause: PartError,
    },
    /// The part did not give way, or not far enough to count, under the force that is allowed.
    #[error("{phase}: the part does not move on ({moved:.1} mm at {force:.0} N): it may be locked, blocked, or at its end already", moved = moved * 1e3)]
    Immovable {
        /// When it was noticed.
        phase: &'static str,
        /// How far the hand went, metres.
        moved: f64,
        /// Force on the hand, newtons; 0 when it is not measured.
        force: f64,
    },
    /// The tips met nothing where the part should be.
    #[error("{phase}: nothing was touched within {:.0} mm of where the part was seen", searched * 1e3)]
    NoContact {
        /// When it was noticed.
        phase: &'static str,
        /// How far the tips went beyond, metres.
        searched: f64,
    },
    /// A motion would leave what the permit allows.
    #[error("{phase}: the next motion leaves the corridor that was permitted")]
    Corridor {
        /// Which motion.
        phase: &'static str,
    },
    /// Candidates there are, but the arm gets to none.
    #[error("{phase}: no motion found ({tried} candidates tried: {detail})")]
    NoPlan {
        /// What was to be reached.
        phase: &'static str,
        /// Number of candidates tried.
        tried: usize,
        /// How each failed.
        detail: String,
    },
    /// The robot must not move, or not move on.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// A node or the robot fell silent.
    #[error("{peer} is lost during {phase}")]
    PeerLost {
        /// Who.
        peer: String,
        /// What was going on.
        phase: &'static str,
    },
    /// MoveIt answers, but cannot plan or execute anything until somebody has mended something.
    #[error("{phase}: MoveIt cannot: {advice} (code {code})")]
    Planner {
        /// What was asked for.
        phase: &'static str,
        /// MoveIt's error code.
        code: i32,
        /// What is wrong, and where to look.
        advice: &'static str,
        /// What it is for the other nodes.
        reason: Reason,
    },
    /// The controller failed or met an obstacle.
    #[error("{phase}: the motion failed: {detail}")]
    ControlFailed {
        /// Which motion.
        phase: &'static str,
        /// What the controller said.
        detail: String,
    },
    /// The arm does not come forward (VLA2 III-C).
    #[error("{phase}: the arm is stuck after {:.0} % of the motion", share * 100.0)]
    Stuck {
        /// Which motion.
        phase: &'static str,
        /// How much of it is behind, [0, 1].
        share: f64,
    },
    /// The object is not in the gripper any more, or never was.
    #[error("{phase}: nothing is between the pads (opening {:.1} mm)", opening * 1e3)]
    Slipped {
        /// When it was noticed.
        phase: &'static str,
        /// Measured opening, metres.
        opening: f64,
    },
    /// The new observation does not show the postcondition.
    #[error("not observed: {0}")]
    Outcome(String),
    /// Another skill is being executed.
    #[error("another skill is being executed: {0}")]
    Busy(String),
    /// A sensor gave nothing usable.
    #[error("no usable {what}: {detail}")]
    Sensor {
        /// Which sensor.
        what: &'static str,
        /// What is wrong.
        detail: String,
    },
}

/// Keys in brackets; nothing of none.
fn named(keys: &[ObjectKey]) -> String {
    match keys {
        [] => String::new(),
        keys => format!(" ({})", keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>().join(", ")),
    }
}

impl SkillFault {
    /// What would have to be elsewhere for the skill to go on; empty when that is not known to help.
    pub fn in_the_way(&self) -> &[ObjectKey] {
        match self {
            Self::NoGrasp { in_the_way, .. } => in_the_way,
            _ => &[],
        }
    }

    /// The reason, as every node knows it.
    pub fn reason(&self) -> Reason {
        match self {
            Self::BadRequest(_) => Reason::Internal,
            Self::Precondition(_) => Reason::Infeasible,
            Self::UnknownObject(_) => Reason::NotFound,
            // Neither another try nor another view changes it.
            Self::NoGrasp { cause, .. } if cause.is_final() => Reason::Infeasible,
            Self::NoGrasp { .. } => Reason::NoGrasp,
            Self::NoPlace { .. } => Reason::NoPlace,
            Self::NoPart { .. } => Reason::NoGrasp,
            // More force would be needed than is allowed: trying again changes nothing.
            Self::Immovable { .. } => Reason::Infeasible,
            Self::NoContact { .. } => Reason::OutcomeNotObserved,
            Self::Corridor { .. } => Reason::ControlFailed,
            Self::NoPlan { .. } => Reason::NoPlan,
            Self::Forbidden(forbidden) => forbidden.reason(),
            Self::PeerLost { .. } => Reason::PeerLost,
            Self::Planner { reason, .. } => *reason,
            Self::ControlFailed { .. } | Self::Stuck { .. } => Reason::ControlFailed,
            Self::Slipped { .. } => Reason::Slipped,
            Self::Outcome(_) => Reason::OutcomeNotObserved,
            Self::Busy(_) => Reason::Busy,
            Self::Sensor { .. } => Reason::SensorFault,
        }
    }

    /// Whether it ends a motion wherever the arm is, so that arm, hand and map are not as a skill leaves them.
    pub fn cuts_short(&self) -> bool {
        match self {
            Self::Forbidden(forbidden) => !forbidden.is_of_the_plan(),
            Self::PeerLost { .. } | Self::Stuck { .. } | Self::Sensor { .. } => true,
            Self::BadRequest(_)
            | Self::Precondition(_)
            | Self::UnknownObject(_)
            | Self::NoGrasp { .. }
            | Self::NoPlace { .. }
            | Self::NoPart { .. }
            | Self::Immovable { .. }
            | Self::NoContact { .. }
            | Self::Corridor { .. }
            | Self::NoPlan { .. }
            | Self::Planner { .. }
            | Self::ControlFailed { .. }
            | Self::Slipped { .. }
            | Self::Outcome(_)
            | Self::Busy(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_other_view_changes_is_infeasible() {
        let reason = |narrowest, is_closed| {
            let cause = GraspError::TooWide { narrowest, usable: 0.078, is_closed };
            SkillFault::NoGrasp { object: "box".into(), cause, in_the_way: Vec::new() }.reason()
        };
        assert_eq!(reason(0.12, true), Reason::Infeasible);
        for open in [reason(0.12, false), reason(0.08, true)] {
            assert_eq!(open, Reason::NoGrasp);
        }
    }
}
