//! Why a frame could not be taken into a map, and what that is on the wire.

use prehend_convert::ConvertError;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_perception::KeyframeError;
use prehend_ros::TfError;

/// Why a frame could not be taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("no frame newer than the request came within {waited:.1} s; silent: {silent}")]
    NoFrame { waited: f64, silent: String },
    #[error("the camera did not come to rest within {waited:.1} s")]
    Moving { waited: f64 },
    #[error("no transform from {camera} to {base} at the frame's time: {source}")]
    Transform { base: String, camera: String, source: TfError },
    #[error("the transform from {camera} to {base} is invalid: {source}")]
    BadTransform { base: String, camera: String, source: ConvertError },
    #[error(
        "depth is in `{depth}`, colour in `{color}`: the depth topic must be the one that is aligned with colour"
    )]
    Unaligned { depth: String, color: String },
    #[error("the frame cannot be read: {0}")]
    Message(#[from] ConvertError),
    #[error(transparent)]
    Frame(#[from] KeyframeError),
    #[error(
        "nothing that the detector sees can be measured: {undrawn} things without a mask, {unmeasured} without depth"
    )]
    NoPoints { undrawn: usize, unmeasured: usize },
    #[error("the map update failed; the map was reset")]
    Broken,
}

impl Failure {
    /// The wire code.
    pub(super) fn code(&self) -> i32 {
        match self {
            Self::NoFrame { .. } | Self::Moving { .. } => ErrorCode::MAP_NO_FRAME,
            Self::Transform { .. } | Self::BadTransform { .. } => ErrorCode::MAP_NO_TRANSFORM,
            Self::Message(_) | Self::Broken => ErrorCode::MAP_BAD_REQUEST,
            Self::Unaligned { .. } => ErrorCode::MAP_BAD_DEPTH,
            Self::NoPoints { .. } | Self::Frame(KeyframeError::BadDepth { .. }) => ErrorCode::MAP_BAD_DEPTH,
            Self::Frame(KeyframeError::Size { image: "depth", .. }) => ErrorCode::MAP_BAD_DEPTH,
            Self::Frame(KeyframeError::Pose) => ErrorCode::MAP_NO_TRANSFORM,
            Self::Frame(KeyframeError::Empty) => ErrorCode::MAP_NOTHING_SEEN,
            Self::Frame(KeyframeError::Model(_)) => ErrorCode::MAP_NO_MODEL,
            Self::Frame(KeyframeError::Intrinsics(_) | KeyframeError::Size { .. }) => ErrorCode::MAP_NO_FRAME,
        }
    }
}
