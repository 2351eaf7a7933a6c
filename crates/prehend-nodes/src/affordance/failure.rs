//! Why an answer cannot be given, and what that is on the wire.

use prehend_convert::ConvertError;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_ros::RosError;
use prehend_scene::{Intent, ObjectKey};

/// Why an answer cannot be given.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    BadRequest(String),
    #[error("object_map does not answer: {0}")]
    MapLost(RosError),
    #[error("{0}")]
    UnknownKey(String),
    #[error("object_map's answer cannot be read: {0}")]
    Unreadable(#[from] ConvertError),
    #[error("{object} has no part that serves to {intent}")]
    NoneFound { object: ObjectKey, intent: Intent },
    #[error("the verifier does not answer: {0}")]
    VerifierLost(RosError),
    #[error("the verifier could not judge the evidence: {0}")]
    NotJudged(String),
    #[error("the search ended without a result")]
    Broken,
}

impl Failure {
    /// The wire code.
    pub(super) fn code(&self) -> i32 {
        match self {
            Self::BadRequest(_) => ErrorCode::AFFORDANCE_BAD_REQUEST,
            Self::MapLost(_) | Self::Unreadable(_) => ErrorCode::AFFORDANCE_MAP_LOST,
            Self::UnknownKey(_) => ErrorCode::AFFORDANCE_UNKNOWN_KEY,
            Self::NoneFound { .. } => ErrorCode::AFFORDANCE_NONE_FOUND,
            Self::VerifierLost(_) | Self::NotJudged(_) | Self::Broken => ErrorCode::AFFORDANCE_VERIFIER_LOST,
        }
    }
}
