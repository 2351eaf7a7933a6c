//! A recording played to the nodes again: would they decide the same?
//!
//! There are two parts.
//!
//! - *Perception*: the node object_map gets the very frames that it took in the recording, one by one, with the transforms of their time.
//!   It also gets each question that it was asked. Which frame it takes does not depend on the speed of the machine.
//! - *Goal*: the nodes that decide get the first goal, and the frames before its first motion. The robot side plans, but moves nothing. So the
//!   comparison ends where the recorded robot began to move.
//!
//! For: `prehend replay`. Not for: what a robot would do after a motion. Read [`story::Story`] first: what a recording tells.

pub mod compare;
mod goal;
mod perception;
mod stage;
pub mod story;

pub use goal::goal;
pub use perception::perception;
pub use stage::Options;

use crate::domain::DomainError;
use crate::supervisor::SupervisorError;
use prehend_bags::ContainerError;
use prehend_robots::NodeError;
use prehend_ros::RosError;

/// Why a recording was not replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording cannot be read.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// There is nothing in it to compare.
    #[error("{0}")]
    Nothing(String),
    /// The robot file is wrong.
    #[error("{0}")]
    Robot(#[from] prehend_config::Findings),
    /// No ROS domain.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The middleware.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// A process could not be started.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// The robot side of the replay.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The nodes did not come up.
    #[error("not ready after {waited:.0} s: still waiting for {missing}")]
    NotReady {
        /// What is missing.
        missing: String,
        /// How long it was waited for, seconds.
        waited: f64,
    },
}
