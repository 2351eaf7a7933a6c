//! Why the base is not where it was sent.

use crate::forbidden::Forbidden;
use prehend_scene::Reason;

/// An errand's typed failure; every variant has one reason and one error code.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ErrandFault {
    /// The request is no request.
    #[error("bad request: {0}")]
    BadRequest(String),
    /// The object is not in the map of the room.
    #[error("{0}")]
    UnknownObject(String),
    /// No costmap was received.
    #[error("no costmap on {topic}: is the navigation running?")]
    NoMap {
        /// Its topic.
        topic: String,
    },
    /// Nobody says where the base is.
    #[error("the base is not localized: {0}")]
    NotLocalized(String),
    /// No place to stand is free or can be reached.
    #[error("no place to stand for {object}: {cause}")]
    NoPose {
        /// What should be stood at.
        object: String,
        /// What the search said.
        cause: String,
    },
    /// The goal is outside the map.
    #[error("({x:.2}, {y:.2}) m is outside the map")]
    OutsideMap {
        /// Metres, map frame.
        x: f64,
        /// Metres, map frame.
        y: f64,
    },
    /// The robot must not move, or not move on.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The navigation took no goal.
    #[error("the navigation rejected ({x:.2}, {y:.2}) m")]
    Rejected {
        /// Metres, map frame.
        x: f64,
        /// Metres, map frame.
        y: f64,
    },
    /// The navigation is there, but its lifecycle is not active.
    #[error("the navigation is {state}, not active: start it (ros2 lifecycle, or its lifecycle manager)")]
    NavigationInactive {
        /// Name of the state that its navigator is in.
        state: String,
    },
    /// The navigation gave up on the way.
    #[error("the drive was aborted: {meaning} (Nav2 code {code}) {message}")]
    Aborted {
        /// The navigation's own code.
        code: u16,
        /// What the code means.
        meaning: &'static str,
        /// What it is for the other nodes.
        reason: Reason,
        /// What it said.
        message: String,
    },
    /// The navigation does not answer.
    #[error("the navigation is lost: {0}; does Nav2 run?")]
    NavigationLost(String),
    /// It took too long.
    #[error("not there after {seconds:.0} s")]
    Timeout {
        /// How long it was waited for.
        seconds: f64,
    },
    /// Another drive is under way, or the arm moves.
    #[error("busy: {0}")]
    Busy(String),
    /// A node without which the base is not driven fell silent.
    #[error("{0} is lost")]
    PeerLost(String),
    /// The navigation says it arrived, the localisation says elsewhere.
    #[error("the base should be at its goal, but it is {distance:.2} m and {angle:.2} rad off")]
    NotThere {
        /// Metres.
        distance: f64,
        /// Radians.
        angle: f64,
    },
    /// The arm could not be folded for driving.
    #[error("the arm is not in its pose for driving: {message}")]
    Arm {
        /// Why, as the skills say.
        reason: Reason,
        /// In words.
        message: String,
    },
    /// A tour brought no keyframe.
    #[error("the tour showed nothing: {0}")]
    NothingSeen(String),
}

impl ErrandFault {
    /// The reason, as every node knows it.
    pub fn reason(&self) -> Reason {
        match self {
            Self::BadRequest(_) => Reason::Internal,
            Self::UnknownObject(_) => Reason::NotFound,
            Self::OutsideMap { .. } => Reason::Infeasible,
            Self::NoPose { .. } | Self::Rejected { .. } => Reason::NoPlan,
            Self::NoMap { .. } | Self::NotLocalized(_) | Self::NothingSeen(_) => Reason::SensorFault,
            Self::Forbidden(forbidden) => forbidden.reason(),
            Self::NotThere { .. } => Reason::ControlFailed,
            Self::NavigationInactive { .. } | Self::NavigationLost(_) | Self::PeerLost(_) => Reason::PeerLost,
            Self::Timeout { .. } => Reason::Timeout,
            Self::Busy(_) => Reason::Busy,
            Self::Aborted { reason, .. } | Self::Arm { reason, .. } => *reason,
        }
    }

    /// Whether another place may be reached: the navigation did not bring the base to this one.
    pub(super) fn is_of_the_place(&self) -> bool {
        matches!(
            self,
            Self::Rejected { .. } | Self::Aborted { .. } | Self::NotThere { .. } | Self::Timeout { .. }
        )
    }

    /// Whether the whole errand must end: another stop of a tour would end the same way.
    pub(super) fn ends_a_tour(&self) -> bool {
        match self {
            Self::NoPose { .. }
            | Self::OutsideMap { .. }
            | Self::Forbidden(Forbidden::Refused(_))
            | Self::Rejected { .. }
            | Self::Aborted { .. }
            | Self::NotThere { .. }
            | Self::Timeout { .. }
            | Self::NothingSeen(_) => false,
            Self::BadRequest(_)
            | Self::UnknownObject(_)
            | Self::NoMap { .. }
            | Self::NotLocalized(_)
            | Self::Forbidden(_)
            | Self::NavigationInactive { .. }
            | Self::NavigationLost(_)
            | Self::Busy(_)
            | Self::PeerLost(_)
            | Self::Arm { .. } => true,
        }
    }
}
