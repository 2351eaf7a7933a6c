//! Who a goal is from.

use crate::running;
use prehend_agent::{Fault, Outcome};
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_ros::ExecutingGoal;

/// Where a goal came from, and who is told its end.
pub(super) enum Source {
    /// The service: the trace tells.
    Service,
    /// The action.
    Action(ExecutingGoal<ExecuteGoal::Action>),
}

impl Source {
    /// Tells the end to who waits for it.
    pub(super) fn end(self, result: ExecuteGoal::Result) {
        let Self::Action(handle) = self else { return };
        let is_done = result.outcome == Outcome::Done.name();
        running::end(handle, result, is_done);
    }

    /// Completes when whoever asked cancels the goal.
    pub(super) async fn canceled(&self) {
        match self {
            Self::Action(handle) => handle.cancelled().await,
            Self::Service => std::future::pending().await,
        }
    }
}

/// A goal that is not taken up, with who waits for its end.
pub(super) struct Refused {
    pub(super) goal_id: String,
    pub(super) fault: Fault,
    pub(super) source: Source,
}
