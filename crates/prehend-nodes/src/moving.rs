//! A goal that moves the robot, at an action of the robot side: sent, and stopped by what ends it.

use prehend_execution::Forbidden;
use prehend_msgs::Action;
use prehend_robots::arming::Arming;
use prehend_ros::{ActionClient, GoalHandle, RosError};
use std::time::Duration;

/// Deadline for the acceptance of a goal.
const ACCEPT: Duration = Duration::from_secs(3);
/// Longest wait for what moves to stop after a cancel.
pub(crate) const HALT: Duration = Duration::from_secs(3);
/// How long after a motion that failed the robot's own word about its safety is waited for: it comes later than the failure.
const REPORTED: Duration = Duration::from_millis(250);

/// Why a motion was not begun; whatever may have begun to move was halted.
pub(crate) enum NotBegun<F> {
    /// Something ended it first.
    Raised(F),
    /// The goal was not taken.
    NotTaken(RosError),
}

/// Sends a goal. `raised` completes when something ends it, `halt` stops whatever moves.
pub(crate) async fn begin<A: Action, F>(
    client: &ActionClient<A>,
    goal: A::Goal,
    raised: impl Future<Output = F>,
    halt: impl AsyncFnOnce(),
) -> Result<GoalHandle<A>, NotBegun<F>> {
    let sent = tokio::select! {
        fault = raised => Err(NotBegun::Raised(fault)),
        sent = client.send_goal(goal, ACCEPT) => sent.map_err(NotBegun::NotTaken),
    };
    match &sent {
        Ok(_) | Err(NotBegun::NotTaken(RosError::Rejected { .. } | RosError::Unavailable { .. })) => {}
        // It may have been taken although its acceptance did not arrive.
        Err(_) => halt().await,
    }
    sent
}

/// Cancels a goal, halts whatever moves, and waits until the robot side, which is never `silence` long without a word, has ended it.
///
/// Both at once: MoveIt's thread that would take the cancel of an execution works that execution off, and takes it when the arm has arrived.
/// The controller stops the arm meanwhile.
pub(crate) async fn stop<A: Action>(handle: &mut GoalHandle<A>, silence: Duration, halt: impl AsyncFnOnce()) {
    let ended = async {
        let cancelled = handle.cancel(HALT).await;
        (cancelled, tokio::time::timeout(HALT, handle.result(silence)).await)
    };
    let ((cancelled, ended), ()) = tokio::join!(ended, halt());
    if let (Err(error), Err(_)) = (cancelled, ended) {
        tracing::warn!("what was stopped has not ended: {error}");
    }
}

/// Whether a motion that failed did so because the robot is not armed any more.
pub(crate) async fn unarmed(arming: &Arming) -> Option<Forbidden> {
    tokio::time::timeout(REPORTED, arming.lost()).await.ok().map(Into::into)
}
