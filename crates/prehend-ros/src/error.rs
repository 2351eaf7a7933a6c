//! What can go wrong on the way to another node.

use std::time::Duration;

/// Why a call into ROS did not do what it was asked for.
///
/// A peer that is absent ([`Unavailable`](Self::Unavailable)), dead ([`PeerLost`](Self::PeerLost)), slow
/// ([`Timeout`](Self::Timeout)) or unwilling ([`Rejected`](Self::Rejected)) stays distinct.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RosError {
    /// `ROS_DOMAIN_ID` is not a number from 0 to 101 or 215 to 232.
    #[error("ROS_DOMAIN_ID is `{value}`: expected a number from 0 to 101 or from 215 to 232")]
    BadDomainId {
        /// The value as found.
        value: String,
    },
    /// A variable that says how far others are looked for has no such value.
    #[error("{variable} is `{value}`: expected {expected}")]
    BadDiscovery {
        /// Name of the variable.
        variable: &'static str,
        /// The value as found.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A node, topic, service or action name breaks the rules of ROS names.
    #[error("`{name}` is not a ROS name: {reason}")]
    InvalidName {
        /// The name as given.
        name: String,
        /// Which rule it breaks.
        reason: String,
    },
    /// The middleware could not be started or refused to make an endpoint.
    #[error("cannot create {what}: {reason}")]
    Create {
        /// What was to be made, with its name.
        what: String,
        /// What the middleware said.
        reason: String,
    },
    /// A parameter is missing, misspelt or of the wrong type.
    #[error(transparent)]
    Parameter(#[from] crate::ParameterError),
    /// Nobody offers the service or action.
    #[error("nobody offers {peer}: waited {waited:?}")]
    Unavailable {
        /// Name of the service or action.
        peer: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The peer is there but did not answer within the deadline.
    #[error("{peer} did not answer within {deadline:?}")]
    Timeout {
        /// Name of the service or action.
        peer: String,
        /// The deadline of the call.
        deadline: Duration,
    },
    /// The peer that was working for us is gone or has fallen silent.
    #[error("{peer} is lost: silent for {silent:?}")]
    PeerLost {
        /// Name of the service or action.
        peer: String,
        /// Time since its last sign of life.
        silent: Duration,
    },
    /// The action server refused the goal.
    #[error("{action} rejected the goal")]
    Rejected {
        /// Name of the action.
        action: String,
    },
    /// The action server refused to cancel, or does not know the goal.
    #[error("{action} did not cancel: {reason}")]
    CancelRejected {
        /// Name of the action.
        action: String,
        /// What the server gave as the cause.
        reason: CancelRejection,
    },
    /// The send window is full: the peer takes no more. Topics drop and count instead.
    #[error("{peer} takes no more: the send window is full")]
    WouldBlock {
        /// Name of the service or action.
        peer: String,
    },
    /// The middleware has no way to bring an answer of this size to the DDS of whoever asked.
    #[error(
        "an answer of {bytes} bytes on {peer} does not reach an asker on this DDS, {limit} do: \
         start the asker with rmw_cyclonedds_cpp, or build prehend with the backend `ros2`"
    )]
    AnswerTooLong {
        /// Name of the topic of the answers.
        peer: String,
        /// Size of the answer.
        bytes: usize,
        /// What gets there.
        limit: usize,
    },
    /// A message could not be turned into bytes.
    #[error("cannot encode {type_name}: {reason}")]
    Encode {
        /// Rust type of the message.
        type_name: &'static str,
        /// What the encoder said.
        reason: String,
    },
    /// Bytes that arrived are no message of the type of the topic or service.
    #[error("cannot decode {type_name}: {reason}")]
    Decode {
        /// Rust type of the message.
        type_name: &'static str,
        /// What the decoder said.
        reason: String,
    },
    /// Simulated time did not arrive or stood still.
    #[error("/clock does not tick: waited {waited:?}")]
    ClockStopped {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The context was closed while the call was under way.
    #[error("the ROS context is closed")]
    Closed,
}

/// Why a cancel request had no effect (`action_msgs/srv/CancelGoal`, `return_code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CancelRejection {
    /// The server refused.
    #[error("refused")]
    Refused,
    /// The server does not know the goal.
    #[error("unknown goal")]
    UnknownGoal,
    /// The goal has already ended.
    #[error("the goal has ended")]
    GoalTerminated,
}
