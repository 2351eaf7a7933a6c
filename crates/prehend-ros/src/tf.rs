//! The transform tree of a node.
//!
//! Frames form a forest: every frame has one parent, told on `/tf` (moving, kept for ten seconds) or `/tf_static`.

mod tree;

use crate::backend::{Reader, Sample, Sink, decode};
use crate::sync::lock;
use crate::{Clock, RosError};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tracing::warn;
pub use tree::TfTree;

/// Pose of `source` in `target`: takes points of `source` to `target`.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// Time of the transform; zero when only fixed frames are between.
    pub stamp: Time,
    /// Origin of `source` in `target`, metres.
    pub translation: [f64; 3],
    /// Unit quaternion `[x, y, z, w]`.
    pub rotation: [f64; 4],
}

impl Transform {
    /// The same as a rigid transform `target_from_source`.
    pub fn isometry(&self) -> Isometry3<f64> {
        let [x, y, z, w] = self.rotation;
        Isometry3::from_parts(
            Translation3::from(self.translation),
            UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
        )
    }
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
    /// Both frames are known, but no chain of frames joins them.
    #[error("frames `{target}` and `{frame}` are not connected")]
    NotConnected {
        /// The frame to transform into.
        target: String,
        /// The frame to transform from.
        frame: String,
    },
    /// The time asked for is older than what is remembered of a frame.
    #[error("frame `{frame}` at that time: {seconds:.3} s older than the oldest known")]
    TooOld {
        /// The frame on the way that is the cause.
        frame: String,
        /// By how much.
        seconds: f64,
    },
    /// The time asked for is newer than what has arrived of a frame.
    #[error("frame `{frame}` at that time: {seconds:.3} s newer than the newest known")]
    TooNew {
        /// The frame on the way that is the cause.
        frame: String,
        /// By how much.
        seconds: f64,
    },
    /// A transform with NaN, a rotation that is none, an empty frame name, or a frame as its own parent; it was left out.
    #[error("the transform from `{child}` to `{parent}` is invalid: {reason}")]
    Invalid {
        /// Frame it is given in.
        parent: String,
        /// Frame it places.
        child: String,
        /// What is wrong.
        reason: &'static str,
    },
}

/// The transforms heard on `/tf` and `/tf_static`; clones are the same buffer.
#[derive(Clone)]
pub struct TfBuffer {
    shared: Arc<Shared>,
    _readers: Arc<[Reader; 2]>,
}

struct Shared {
    tree: Mutex<TfTree>,
    /// How often time went back.
    jumps: Box<dyn Fn() -> u64 + Send + Sync>,
    changed: watch::Sender<()>,
}

impl fmt::Debug for TfBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = lock(&self.shared.tree).links.len();
        f.debug_struct("TfBuffer").field("frames", &frames).finish_non_exhaustive()
    }
}

impl Shared {
    fn sink(self: &Arc<Self>, fixed: bool) -> Sink {
        let shared = self.clone();
        Arc::new(move |sample: Sample| {
            let message: TFMessage = match decode(&sample.payload, sample.encoding) {
                Ok(message) => message,
                Err(error) => return warn!(%error, "a transform was left out"),
            };
            {
                let jumps = (shared.jumps)();
                let mut tree = lock(&shared.tree);
                for transform in &message.transforms {
                    if let Err(error) = tree.insert_after(transform, fixed, jumps) {
                        warn!(%error, "a transform was left out");
                    }
                }
            }
            shared.changed.send_replace(());
        })
    }
}

impl TfBuffer {
    /// `subscribe` makes the readers of `/tf` and `/tf_static`.
    pub(crate) fn new(
        clock: &Clock,
        subscribe: impl FnOnce(Sink, Sink) -> Result<[Reader; 2], RosError>,
    ) -> Result<Self, RosError> {
        let jumps = Box::new(clock.jump_counter());
        let shared = Arc::new(Shared { tree: Mutex::default(), jumps, changed: watch::Sender::new(()) });
        let readers = subscribe(shared.sink(false), shared.sink(true))?;
        Ok(Self { shared, _readers: Arc::new(readers) })
    }

    /// `target_from_source` at `time`, interpolated; at the newest time all frames between have when `time` is zero.
    ///
    /// Errors: [`TfError::UnknownFrame`], [`TfError::NotConnected`], [`TfError::TooOld`], [`TfError::TooNew`].
    pub fn lookup(&self, target: &str, source: &str, time: &Time) -> Result<Transform, TfError> {
        lock(&self.shared.tree).lookup(target, source, time)
    }

    /// As [`lookup`](Self::lookup), waiting for it at most `deadline` of wall time; then the last error.
    pub async fn wait(
        &self,
        target: &str,
        source: &str,
        time: &Time,
        deadline: Duration,
    ) -> Result<Transform, TfError> {
        let end = tokio::time::Instant::now() + deadline;
        let mut changed = self.shared.changed.subscribe();
        loop {
            match self.lookup(target, source, time) {
                Ok(transform) => return Ok(transform),
                // What is too old will not come any more.
                Err(error @ TfError::TooOld { .. }) => return Err(error),
                Err(error) => {
                    if !matches!(tokio::time::timeout_at(end, changed.changed()).await, Ok(Ok(()))) {
                        return Err(error);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
