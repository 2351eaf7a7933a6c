//! Requests to other nodes, ended by whatever ends the goal.

use super::super::interrupt::interrupted;
use super::NodeWorld;
use futures::StreamExt;
use prehend_agent::world::Fault;
use prehend_msgs::Action;
use prehend_ros::{ActionClient, RosError};
use prehend_scene::Reason;
use std::future::Future;
use std::time::Duration;

/// Deadline of an action's acceptance.
const ACCEPT: Duration = Duration::from_secs(2);
/// Silence after which an action server is lost.
const SILENCE: Duration = Duration::from_secs(3);
/// Longest wait for a cancelled skill to stop the arm.
pub(super) const CANCEL: Duration = Duration::from_secs(5);

impl NodeWorld {
    /// Waits for an answer, or for what ends the goal.
    pub(super) fn wait<T>(&self, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let mut interrupt = self.interrupt.clone();
        self.runtime.block_on(async move {
            tokio::select! {
                biased;
                fault = interrupted(&mut interrupt) => Err(fault),
                answer = call => answer,
            }
        })
    }

    /// Runs an action to its end; cancels it and waits for its end when the goal must end: the fault comes with the result
    /// then, if there is one.
    pub(super) fn act<A: Action>(
        &self,
        client: &ActionClient<A>,
        goal: A::Goal,
        peer: &'static str,
    ) -> Result<A::Result, (Fault, Option<A::Result>)>
    where
        A::Result: Send,
    {
        self.act_heard(client, goal, peer, drop)
    }

    /// As [`act`](Self::act); `heard` gets the feedback.
    pub(super) fn act_heard<A: Action>(
        &self,
        client: &ActionClient<A>,
        goal: A::Goal,
        peer: &'static str,
        heard: impl Fn(A::Feedback) + Send + 'static,
    ) -> Result<A::Result, (Fault, Option<A::Result>)>
    where
        A::Result: Send,
    {
        let mut interrupt = self.interrupt.clone();
        self.runtime.block_on(async move {
            let none = |error: &RosError| (lost(peer, error), None);
            let mut handle = client.send_goal(goal, ACCEPT).await.map_err(|error| none(&error))?;
            let mut told = handle.feedback();
            // It ends with the goal.
            tokio::spawn(async move {
                while let Some(feedback) = told.next().await {
                    heard(feedback);
                }
            });
            let fault = tokio::select! {
                biased;
                result = handle.result(SILENCE) => {
                    return result.map(|(_, result)| result).map_err(|error| none(&error));
                }
                fault = interrupted(&mut interrupt) => fault,
            };
            if let Err(error) = handle.cancel(CANCEL).await {
                tracing::warn!("{peer} was not cancelled: {error}");
            }
            // Whether it ended because of that or before: its result tells how far it came.
            let ended = match tokio::time::timeout(CANCEL, handle.result(SILENCE)).await {
                Ok(Ok((_, result))) => Some(result),
                Ok(Err(error)) => {
                    tracing::warn!("{peer} gave no result after its cancellation: {error}");
                    None
                }
                Err(_) => {
                    tracing::warn!("{peer} did not end within {CANCEL:?} of its cancellation");
                    None
                }
            };
            Err((fault, ended))
        })
    }
}

/// A call that got no answer, as a fault.
pub(super) fn lost(peer: &'static str, error: &RosError) -> Fault {
    let reason = match error {
        RosError::Timeout { .. } | RosError::Unavailable { .. } | RosError::PeerLost { .. } => {
            Reason::PeerLost
        }
        RosError::Rejected { .. } => Reason::Busy,
        _ => Reason::Internal,
    };
    Fault::new(reason, format!("{peer}: {error}"))
}
