//! Action clients and servers.

use crate::{RosError, stub::Action};
use futures::Stream;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

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

/// Sends goals to an action server; clones share their endpoints.
#[derive(Debug)]
pub struct ActionClient<A: Action>(PhantomData<fn() -> A>);

impl<A: Action> Clone for ActionClient<A> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<A: Action> ActionClient<A> {
    /// Sends `goal` and waits for its acceptance, all within `deadline`.
    pub async fn send_goal(&self, _goal: A::Goal, _deadline: Duration) -> Result<GoalHandle<A>, RosError> {
        Err(RosError::Closed)
    }
    /// Cancels every goal at the server, whoever sent it; the number of goals that began to cancel.
    pub async fn cancel_all(&self, _deadline: Duration) -> Result<usize, RosError> {
        Err(RosError::Closed)
    }
    /// Whether a server is matched now.
    pub fn is_available(&self) -> bool {
        false
    }
    /// Waits for a server.
    pub async fn wait_available(&self, _deadline: Duration) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
}

/// An accepted goal, seen from the client. Dropping it does not cancel the goal.
#[derive(Debug)]
pub struct GoalHandle<A: Action>(PhantomData<fn() -> A>);

impl<A: Action> GoalHandle<A> {
    /// Id of the goal.
    pub fn id(&self) -> [u8; 16] {
        [0; 16]
    }
    /// The feedback stream: independent of the handle, so both can be polled at once; it ends with the goal.
    pub fn feedback(&mut self) -> FeedbackStream<A> {
        FeedbackStream(PhantomData)
    }
    /// State of the goal as last heard.
    pub fn status(&self) -> GoalStatus {
        GoalStatus::Unknown
    }
    /// Waits for the end; `PeerLost` when the server shows no sign of life for `silence`. May be called again after
    /// it was cancelled (in a `select!`).
    pub async fn result(&mut self, _silence: Duration) -> Result<(GoalStatus, A::Result), RosError> {
        Err(RosError::Closed)
    }
    /// Asks the server to cancel the goal; the end still comes through [`result`](Self::result).
    pub async fn cancel(&self, _deadline: Duration) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
    /// A second handle that can only cancel, for another task.
    pub fn canceller(&self) -> GoalCanceller<A> {
        GoalCanceller(PhantomData)
    }
}

/// Cancels one goal from another task.
#[derive(Clone, Debug)]
pub struct GoalCanceller<A: Action>(PhantomData<fn() -> A>);

impl<A: Action> GoalCanceller<A> {
    /// As [`GoalHandle::cancel`].
    pub async fn cancel(&self, _deadline: Duration) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
}

/// Feedback of one goal.
#[derive(Debug)]
pub struct FeedbackStream<A: Action>(PhantomData<fn() -> A>);

impl<A: Action> Stream for FeedbackStream<A> {
    type Item = A::Feedback;
    fn poll_next(self: Pin<&mut Self>, _cx: &mut TaskContext<'_>) -> Poll<Option<A::Feedback>> {
        Poll::Pending
    }
}

/// A stream of goals that ask to be accepted. Never ends.
#[derive(Debug)]
pub struct ActionServer<A: Action>(PhantomData<fn() -> A>);

impl<A: Action> Stream for ActionServer<A> {
    type Item = GoalRequest<A>;
    fn poll_next(self: Pin<&mut Self>, _cx: &mut TaskContext<'_>) -> Poll<Option<GoalRequest<A>>> {
        Poll::Pending
    }
}

/// A goal that asks to be accepted; dropping it rejects it.
#[derive(Debug)]
pub struct GoalRequest<A: Action> {
    /// What is asked.
    pub goal: A::Goal,
}

impl<A: Action> GoalRequest<A> {
    /// Id of the goal.
    pub fn id(&self) -> [u8; 16] {
        [0; 16]
    }
    /// Accepts the goal, which is executing from now on.
    pub fn accept(self) -> ExecutingGoal<A> {
        ExecutingGoal(PhantomData)
    }
    /// Rejects the goal.
    pub fn reject(self) {}
}

/// A goal at work; dropping it aborts it with a default result.
#[derive(Debug)]
pub struct ExecutingGoal<A: Action>(PhantomData<fn() -> A>);

impl<A: Action> ExecutingGoal<A> {
    /// Id of the goal.
    pub fn id(&self) -> [u8; 16] {
        [0; 16]
    }
    /// Tells the client how far the goal is.
    pub fn publish_feedback(&self, _feedback: A::Feedback) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
    /// Whether the goal was asked to cancel.
    pub fn is_cancel_requested(&self) -> bool {
        false
    }
    /// Completes once the goal is asked to cancel.
    pub async fn cancelled(&self) {}
    /// Ends the goal as done; as canceled when a cancel request was accepted before.
    pub fn succeed(self, _result: A::Result) {}
    /// Ends the goal as failed.
    pub fn abort(self, _result: A::Result) {}
    /// Ends the goal as canceled.
    pub fn canceled(self, _result: A::Result) {}
}
