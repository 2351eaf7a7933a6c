//! Action clients and servers: three services and two topics, as ROS 2 lays actions on DDS.
//!
//! Read [`GoalHandle`](client::GoalHandle) for the client's side and [`ExecutingGoal`](server::ExecutingGoal) for the server's.

mod client;
mod server;
mod wire;

pub(crate) use client::ClientEnds;
pub use client::{ActionClient, FeedbackStream, GoalCanceller, GoalHandle, Pulse};
pub(crate) use server::ServerEnds;
pub use server::{ActionServer, ExecutingGoal, GoalRequest, Occupied};
pub(crate) use wire::ActionTopics;

/// State of a goal (`action_msgs/msg/GoalStatus`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoalStatus {
    /// Not known to the server.
    Unknown,
    /// Accepted, not yet executing.
    Accepted,
    /// Executing.
    Executing,
    /// A cancel request was accepted.
    Canceling,
    /// Done as asked.
    Succeeded,
    /// Ended on request.
    Canceled,
    /// Ended by the server.
    Aborted,
}

impl GoalStatus {
    /// The number on the wire; anything unheard of is `Unknown`.
    pub fn from_wire(number: i8) -> Self {
        match number {
            1 => Self::Accepted,
            2 => Self::Executing,
            3 => Self::Canceling,
            4 => Self::Succeeded,
            5 => Self::Canceled,
            6 => Self::Aborted,
            _ => Self::Unknown,
        }
    }

    /// The number on the wire.
    pub fn to_wire(self) -> i8 {
        match self {
            Self::Unknown => 0,
            Self::Accepted => 1,
            Self::Executing => 2,
            Self::Canceling => 3,
            Self::Succeeded => 4,
            Self::Canceled => 5,
            Self::Aborted => 6,
        }
    }

    /// Whether the goal has ended.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

#[cfg(test)]
mod tests {
    use super::GoalStatus;

    #[test]
    fn status_numbers() {
        for number in 0..=6 {
            assert_eq!(GoalStatus::from_wire(number).to_wire(), number);
        }
        assert_eq!(GoalStatus::from_wire(77), GoalStatus::Unknown);
        assert!(GoalStatus::Aborted.is_terminal() && !GoalStatus::Canceling.is_terminal());
    }
}
