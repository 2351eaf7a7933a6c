//! Whether the robot's own frames are still told of: nothing begins to move by transforms of a while ago.

use prehend_ros::{Clock, Node, RosError, TfBuffer, TfError, nanoseconds};
use std::time::Duration;

/// Age beyond which a transform does not say where the robot is, seconds of the node's clock. Drivers are late by some 0.1 s.
const MAX_AGE: f64 = 1.0;
/// Longest wait for a transform of now, wall clock.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why nobody knows where the robot is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum FramesError {
    /// Nothing new was told within two seconds.
    #[error(
        "nothing new was told of the robot's frames for two seconds ({0}): does its state publisher run?"
    )]
    NotTold(#[from] TfError),
    /// What is told is of a while ago.
    #[error(
        "the transform from `{frame}` to `{target}` is {seconds:.1} s old: are the clocks of all computers synchronised?"
    )]
    Late {
        /// The frame transformed into.
        target: String,
        /// The frame transformed from.
        frame: String,
        /// Its age, seconds.
        seconds: f64,
    },
}

/// Two frames of the robot that move against each other.
#[derive(Clone, Debug)]
pub(crate) struct LiveFrames {
    tf: TfBuffer,
    clock: Clock,
    target: String,
    source: String,
}

impl LiveFrames {
    pub(crate) fn new(node: &Node, target: &str, source: &str) -> Result<Self, RosError> {
        let (target, source) = (target.to_owned(), source.to_owned());
        Ok(Self { tf: node.tf()?, clock: node.clock(), target, source })
    }

    /// Waits until the transform is known at the time of this call.
    ///
    /// Errors: [`FramesError`].
    pub(crate) async fn confirm(&self) -> Result<(), FramesError> {
        let (target, source) = (&self.target, &self.source);
        self.tf.wait(target, source, &self.clock.now(), PATIENCE).await?;
        let newest = self.tf.lookup(target, source, &Default::default())?;
        let is_fixed = nanoseconds(&newest.stamp) == 0;
        let seconds = (self.clock.now_nanoseconds() - nanoseconds(&newest.stamp)) as f64 * 1e-9;
        if !is_fixed && seconds > MAX_AGE {
            return Err(FramesError::Late { target: target.clone(), frame: source.clone(), seconds });
        }
        Ok(())
    }
}
