//! The transform tree of a node.

use crate::stub::builtin_interfaces::msg::Time;
use std::time::Duration;

/// Pose of `source` in `target`: takes points of `source` to `target`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Time of the transform.
    pub stamp: Time,
    /// Origin of `source` in `target`, metres.
    pub translation: [f64; 3],
    /// Unit quaternion `[x, y, z, w]`.
    pub rotation: [f64; 4],
}

/// Why there is no transform.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TfError {
    /// A frame nobody has told of.
    #[error("unknown frame `{frame}`")]
    UnknownFrame {
        /// Its name.
        frame: String,
    },
}

/// The transforms heard on `/tf` and `/tf_static`.
#[derive(Clone, Debug)]
pub struct TfBuffer {}

impl TfBuffer {
    /// `target_from_source` at `time`; the newest common time when `time` is zero.
    pub fn lookup(&self, _target: &str, _source: &str, _time: Time) -> Result<Transform, TfError> {
        Err(TfError::UnknownFrame { frame: String::new() })
    }
    /// As [`lookup`](Self::lookup), waiting for it at most `deadline` of wall time; the last error then.
    pub async fn wait(
        &self,
        _target: &str,
        _source: &str,
        _time: Time,
        _deadline: Duration,
    ) -> Result<Transform, TfError> {
        Err(TfError::UnknownFrame { frame: String::new() })
    }
}
