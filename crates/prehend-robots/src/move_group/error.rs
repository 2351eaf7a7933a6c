//! What can go wrong in MoveIt's face, and the one place where it becomes a MoveIt error code.

use crate::trajectory_check::TrajectoryFault;
use prehend_convert::ConvertError;
use prehend_motion::{CartesianError, IkError, JointError, PlanError, SceneError, TimingError};
use prehend_msgs::moveit_msgs::msg::MoveItErrorCodes;

/// Why a request is not done.
#[expect(missing_docs, reason = "each message says what it is")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MoveGroupError {
    #[error("unknown planning group `{found}`; this robot has `{known}`")]
    UnknownGroup { found: String, known: String },
    #[error("link `{link}` cannot be planned for; goals are for `{tip}` or a link rigid to it")]
    UnknownLink { link: String, tip: String },
    #[error("unknown frame `{frame}`")]
    UnknownFrame { frame: String },
    #[error("robot state: {reason}")]
    RobotState { reason: String },
    #[error("where the arm is now is not known: {reason}")]
    Stale { reason: String },
    #[error("start state: {0}")]
    StartState(JointError),
    #[error("goal constraints: {reason}")]
    Goal { reason: String },
    #[error("{what} is not supported")]
    Unsupported { what: &'static str },
    #[error("object `{object}`: {reason}")]
    Object { object: String, reason: String },
    #[error(transparent)]
    Scene(#[from] SceneError),
    #[error("{what}: {error}")]
    Message { what: &'static str, error: ConvertError },
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("{0}")]
    Ik(#[from] IkError),
    #[error("every solution for the pose is in collision: {0}")]
    IkInCollision(prehend_motion::Contact),
    #[error("the pose is beyond the constraints' box, at ({:.3}, {:.3}, {:.3}) m", place[0], place[1], place[2])]
    IkBeyondFence { place: [f64; 3] },
    #[error("line: {0}")]
    Line(#[from] CartesianError),
    #[error("timing: {0}")]
    Timing(#[from] TimingError),
    #[error("trajectory: {0}")]
    Trajectory(#[from] TrajectoryFault),
    #[error("the arm did not start: {reason}")]
    NotStarted { reason: String },
    #[error("the controller {controller} ended the motion: {end}")]
    Controller { controller: String, end: String },
    #[error("the arm was stopped")]
    Stopped,
    #[error("planning ended without an answer")]
    Crash,
}

impl MoveGroupError {
    /// MoveIt's number for it.
    pub(super) fn code(&self) -> i32 {
        type Code = MoveItErrorCodes;
        match self {
            Self::UnknownGroup { .. } => Code::INVALID_GROUP_NAME,
            Self::UnknownLink { .. } => Code::INVALID_LINK_NAME,
            Self::UnknownFrame { .. } => Code::FRAME_TRANSFORM_FAILURE,
            Self::RobotState { .. } => Code::INVALID_ROBOT_STATE,
            Self::Stale { .. } => Code::ROBOT_STATE_STALE,
            Self::StartState(_) => Code::START_STATE_INVALID,
            Self::Goal { .. } => Code::INVALID_GOAL_CONSTRAINTS,
            Self::Unsupported { .. } => Code::PLANNING_FAILED,
            Self::Object { .. } | Self::Scene(SceneError::UnknownObject { .. }) => Code::INVALID_OBJECT_NAME,
            Self::Scene(SceneError::UnknownLink { .. }) => Code::INVALID_LINK_NAME,
            Self::Scene(SceneError::BadShape { .. } | SceneError::BadPose { .. }) => {
                Code::INVALID_OBJECT_NAME
            }
            Self::Message { .. } => Code::INVALID_GOAL_CONSTRAINTS,
            Self::Plan(error) => match error {
                PlanError::Start(_) => Code::START_STATE_INVALID,
                PlanError::Goal(_) => Code::GOAL_STATE_INVALID,
                PlanError::NoGoal => Code::INVALID_GOAL_CONSTRAINTS,
                PlanError::NoIk(_) => Code::NO_IK_SOLUTION,
                PlanError::StartInCollision(_) => Code::START_STATE_IN_COLLISION,
                PlanError::GoalInCollision(_) => Code::GOAL_IN_COLLISION,
                PlanError::StartBeyondFence { .. } => Code::START_STATE_VIOLATES_PATH_CONSTRAINTS,
                PlanError::GoalBeyondFence { .. } => Code::GOAL_VIOLATES_PATH_CONSTRAINTS,
                PlanError::NoPath { .. } => Code::PLANNING_FAILED,
            },
            Self::Ik(IkError::Seed(_)) => Code::INVALID_ROBOT_STATE,
            Self::Ik(IkError::BadGoal) => Code::INVALID_GOAL_CONSTRAINTS,
            Self::Ik(IkError::Unreachable { .. }) | Self::IkInCollision(_) | Self::IkBeyondFence { .. } => {
                Code::NO_IK_SOLUTION
            }
            Self::Line(CartesianError::Start(_)) => Code::START_STATE_INVALID,
            Self::Line(CartesianError::BadWaypoint { .. } | CartesianError::BadStep) => {
                Code::INVALID_GOAL_CONSTRAINTS
            }
            Self::Timing(_) => Code::INVALID_MOTION_PLAN,
            // As MoveIt has it: the plan is one, but the arm is elsewhere.
            Self::Trajectory(TrajectoryFault::Start { .. }) => Code::CONTROL_FAILED,
            Self::Trajectory(_) => Code::INVALID_MOTION_PLAN,
            Self::NotStarted { .. } | Self::Controller { .. } => Code::CONTROL_FAILED,
            Self::Stopped => Code::PREEMPTED,
            Self::Crash => Code::CRASH,
        }
    }

    /// As MoveIt sends it.
    pub(super) fn to_msg(&self) -> MoveItErrorCodes {
        MoveItErrorCodes { val: self.code(), message: self.to_string(), source: SOURCE.to_owned() }
    }
}

const SOURCE: &str = "prehend";

/// Success, with something to say about it.
pub(super) fn success(message: impl Into<String>) -> MoveItErrorCodes {
    MoveItErrorCodes { val: MoveItErrorCodes::SUCCESS, message: message.into(), source: SOURCE.to_owned() }
}
