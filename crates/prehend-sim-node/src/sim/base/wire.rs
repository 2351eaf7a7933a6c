//! `NavigateToPose` as either distribution lays it out, the navigator's lifecycle state, and what the judge has go wrong with them.

use prehend_msgs::Action;
use prehend_msgs::builtin_interfaces::msg::Duration;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::lifecycle_msgs::msg::State;
use prehend_msgs::lifecycle_msgs::srv::GetState;
use prehend_msgs::nav2_msgs::action::NavigateToPose as Jazzy;
use prehend_msgs::nav2_msgs_humble::action::NavigateToPose as Humble;
use serde::Deserialize;

/// What is wrong with Nav2; absent keys are right again.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sim) struct Nav2Fault {
    /// Whether the navigator's lifecycle is inactive: it rejects every goal.
    #[serde(default)]
    inactive: bool,
    /// Whether every goal is rejected.
    #[serde(default)]
    reject: bool,
    /// Code with which every goal is aborted before it begins.
    code: Option<u16>,
}

impl Nav2Fault {
    pub(super) fn rejects(&self) -> bool {
        self.inactive || self.reject
    }

    pub(super) fn code(&self) -> Option<u16> {
        self.code
    }

    /// The answer of the navigator's `get_state`.
    pub(super) fn state(&self) -> GetState::Response {
        let (id, label) = match self.inactive {
            true => (State::PRIMARY_STATE_INACTIVE, "inactive"),
            false => (State::PRIMARY_STATE_ACTIVE, "active"),
        };
        GetState::Response { current_state: State { id, label: label.to_owned() } }
    }
}

/// How far a drive is.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) pose: PoseStamped,
    pub(super) since: Duration,
    pub(super) remaining: Duration,
    pub(super) recoveries: i16,
    pub(super) distance: f32,
}

/// One distribution's layout.
pub(super) trait Wire: Action {
    fn pose(goal: &Self::Goal) -> &PoseStamped;
    fn result(code: u16, message: String) -> Self::Result;
    fn feedback(progress: Progress) -> Self::Feedback;
}

impl Wire for Jazzy::Action {
    fn pose(goal: &Self::Goal) -> &PoseStamped {
        &goal.pose
    }

    fn result(error_code: u16, error_msg: String) -> Self::Result {
        Jazzy::Result { error_code, error_msg }
    }

    fn feedback(progress: Progress) -> Self::Feedback {
        Jazzy::Feedback {
            current_pose: progress.pose,
            navigation_time: progress.since,
            estimated_time_remaining: progress.remaining,
            number_of_recoveries: progress.recoveries,
            distance_remaining: progress.distance,
        }
    }
}

impl Wire for Humble::Action {
    fn pose(goal: &Self::Goal) -> &PoseStamped {
        &goal.pose
    }

    fn result(_: u16, message: String) -> Self::Result {
        if !message.is_empty() {
            // Humble's clients are not told.
            tracing::warn!("drive: {message}");
        }
        Humble::Result::default()
    }

    fn feedback(progress: Progress) -> Self::Feedback {
        Humble::Feedback {
            current_pose: progress.pose,
            navigation_time: progress.since,
            estimated_time_remaining: progress.remaining,
            number_of_recoveries: progress.recoveries,
            distance_remaining: progress.distance,
        }
    }
}
