//! Why the base is not where it was sent.

use crate::permit::PermitError;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_robots::arming::ArmingFault;
use prehend_robots::live_frames::FramesError;
use prehend_robots::nav2;
use prehend_robots::shell::Bar;
use prehend_ros::RosError;
use prehend_scene::Reason;

/// A typed failure of go_to; every variant has one reason and one error code.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GoToFault {
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
    /// The verifier refused.
    #[error("the verifier refused: {0}")]
    Refused(String),
    /// A person was asked about the drive, and did not say yes.
    #[error("not approved: {0}")]
    NotApproved(String),
    /// The verifier did not answer.
    #[error("the verifier did not answer: {0}")]
    VerifierLost(String),
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
    #[error("the drive was aborted: {} (Nav2 code {code}) {message}", nav2::meaning(*code).0)]
    Aborted {
        /// The navigation's own code.
        code: u16,
        /// What it said.
        message: String,
    },
    /// The navigation does not answer.
    #[error("the navigation is lost: {0}; does Nav2 run?")]
    NavigationLost(String),
    /// The drive took too long.
    #[error("not there after {seconds:.0} s")]
    Timeout {
        /// How long it was waited for.
        seconds: f64,
    },
    /// The robot's own safety is not confirmed, or was lost.
    #[error("not armed: {0}")]
    NotArmed(#[from] ArmingFault),
    /// The stop is latched.
    #[error("stopped: {0}")]
    Stopped(String),
    /// The goal was cancelled.
    #[error("cancelled")]
    Canceled,
    /// This node must not move the robot: it is not active, or another Prehend holds the robot.
    #[error(transparent)]
    Barred(#[from] Bar),
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

impl GoToFault {
    /// The reason, as every node knows it.
    pub fn reason(&self) -> Reason {
        match self {
            Self::BadRequest(_) => Reason::Internal,
            Self::UnknownObject(_) => Reason::NotFound,
            Self::OutsideMap { .. } => Reason::Infeasible,
            Self::NoPose { .. } | Self::Rejected { .. } => Reason::NoPlan,
            Self::NoMap { .. } | Self::NotLocalized(_) | Self::NothingSeen(_) => Reason::SensorFault,
            Self::Refused(_) => Reason::VerifierRefused,
            Self::NotApproved(_) => Reason::NotApproved,
            Self::VerifierLost(_) => Reason::VerifierLost,
            Self::Aborted { code, .. } => nav2::meaning(*code).1,
            Self::NotThere { .. } => Reason::ControlFailed,
            Self::NavigationInactive { .. } | Self::NavigationLost(_) | Self::PeerLost(_) => Reason::PeerLost,
            Self::Timeout { .. } => Reason::Timeout,
            Self::NotArmed(_) => Reason::NotArmed,
            Self::Stopped(_) => Reason::Stopped,
            Self::Canceled => Reason::Canceled,
            Self::Barred(bar) => bar.reason(),
            Self::Busy(_) => Reason::Busy,
            Self::Arm { reason, .. } => *reason,
        }
    }

    /// The code on the wire.
    pub fn code(&self) -> i32 {
        match self {
            Self::BadRequest(_) => ErrorCode::GOTO_BAD_REQUEST,
            Self::UnknownObject(_) => ErrorCode::GOTO_UNKNOWN_OBJECT,
            Self::NoMap { .. } => ErrorCode::GOTO_NO_MAP,
            Self::NotLocalized(_) => ErrorCode::GOTO_NOT_LOCALIZED,
            Self::NoPose { .. } => ErrorCode::GOTO_NO_POSE,
            Self::OutsideMap { .. } => ErrorCode::GOTO_OUTSIDE_MAP,
            Self::Refused(_) => ErrorCode::GOTO_REFUSED,
            Self::NotApproved(_) => ErrorCode::GOTO_NOT_APPROVED,
            Self::VerifierLost(_) => ErrorCode::GOTO_VERIFIER_LOST,
            Self::Rejected { .. } => ErrorCode::GOTO_REJECTED,
            Self::Aborted { .. } => ErrorCode::GOTO_ABORTED,
            Self::NavigationInactive { .. } => ErrorCode::GOTO_NAVIGATION_INACTIVE,
            Self::NavigationLost(_) => ErrorCode::GOTO_NAVIGATION_LOST,
            Self::Timeout { .. } => ErrorCode::GOTO_TIMEOUT,
            Self::NotArmed(_) => ErrorCode::GOTO_NOT_ARMED,
            Self::Stopped(_) => ErrorCode::GOTO_STOPPED,
            Self::Canceled => ErrorCode::GOTO_CANCELED,
            Self::Barred(_) => ErrorCode::GOTO_BARRED,
            Self::Busy(_) => ErrorCode::GOTO_BUSY,
            Self::PeerLost(_) => ErrorCode::GOTO_PEER_LOST,
            Self::NotThere { .. } => ErrorCode::GOTO_NOT_THERE,
            Self::Arm { .. } => ErrorCode::GOTO_ARM,
            Self::NothingSeen(_) => ErrorCode::GOTO_NOTHING_SEEN,
        }
    }

    /// Whether the whole errand must end: another stop of a tour would end the same way.
    pub(super) fn ends_a_tour(&self) -> bool {
        !matches!(
            self,
            Self::NoPose { .. }
                | Self::OutsideMap { .. }
                | Self::Refused(_)
                | Self::Rejected { .. }
                | Self::Aborted { .. }
                | Self::NotThere { .. }
                | Self::Timeout { .. }
        )
    }

    /// The fault of a peer that is not there.
    pub(super) fn lost(peer: &str) -> Self {
        match peer {
            "verifier" => Self::VerifierLost("its heartbeat is silent".to_owned()),
            peer => Self::PeerLost(peer.to_owned()),
        }
    }

    /// What an error of the navigation's action means.
    pub(super) fn of_navigation(error: &RosError, [x, y]: [f64; 2]) -> Self {
        match error {
            RosError::Rejected { .. } => Self::Rejected { x, y },
            other => Self::NavigationLost(other.to_string()),
        }
    }
}

impl From<FramesError> for GoToFault {
    fn from(error: FramesError) -> Self {
        Self::NotLocalized(error.to_string())
    }
}

impl From<PermitError> for GoToFault {
    fn from(error: PermitError) -> Self {
        match error {
            PermitError::Refused(why) => Self::Refused(why),
            PermitError::NotApproved(why) => Self::NotApproved(why),
            PermitError::Lost(why) => Self::VerifierLost(why),
        }
    }
}
