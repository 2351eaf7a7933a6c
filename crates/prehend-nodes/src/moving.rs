//! A goal that moves the robot, at an action of the robot side: sent, and stopped by what ends it.

use prehend_execution::Forbidden;
use prehend_msgs::Action;
use prehend_robots::arming::Arming;
use prehend_ros::{ActionClient, GoalHandle, RosError};
use std::time::{Duration, Instant};

/// Deadline for the acceptance of a goal.
const ACCEPT: Duration = Duration::from_secs(3);
/// Longest wait for what moves to stop after a cancel.
pub(crate) const HALT: Duration = Duration::from_secs(3);
/// How long after a motion that failed the robot's own word about its safety is waited for: it comes later than the failure. So does the
/// word that a goal has ended.
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

/// Who decided against a motion that has failed: the robot, which is not armed any more, or somebody else who gave the server that moves it
/// another goal since it had `begun`, such as a person at RViz. What a server told before it died says nothing.
pub(crate) async fn overruled<A: Action>(
    arming: &Arming,
    server: &ActionClient<A>,
    begun: Instant,
) -> Option<Forbidden> {
    match tokio::time::timeout(REPORTED, arming.lost()).await {
        Ok(forbidden) => Some(forbidden.into()),
        Err(_) if server.occupied().is_some_and(|told| told > begun) => {
            Some(Forbidden::Stopped("somebody else moves the robot".to_owned()))
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt;
    use prehend_msgs::moveit_msgs::action::ExecuteTrajectory;
    use prehend_ros::{Context, DomainLease, GoalStatus, Node, NodeOptions};
    use tokio::sync::watch;

    /// MoveIt's execution server hears of nothing but the controller while the arm moves: it does not end its goal for a cancel.
    #[tokio::test]
    async fn a_server_that_is_deaf_while_it_works_is_stopped_through_the_controller() {
        let lease = DomainLease::take().expect("a domain is free");
        let context = Context::create_in_domain(lease.domain_id()).expect("joined");
        let node = Node::create(&context, "moving", "/", NodeOptions::default()).expect("node");
        let mut goals =
            node.create_action_server::<ExecuteTrajectory::Action>("/execute_trajectory").expect("server");
        let (stands, mut moves) = watch::channel(false);
        tokio::spawn(async move {
            let executing = goals.next().await.expect("a goal").accept();
            moves.wait_for(|stands| *stands).await.expect("a controller");
            executing.abort(ExecuteTrajectory::Result::default());
        });
        let client =
            node.create_action_client::<ExecuteTrajectory::Action>("/execute_trajectory").expect("client");
        let begun = begin(&client, Default::default(), std::future::pending::<()>(), async || {}).await;
        let mut handle = begun.unwrap_or_else(|_| panic!("not begun"));
        stop(&mut handle, Duration::from_secs(5), async || {
            stands.send_replace(true);
        })
        .await;
        assert_eq!(handle.status(), GoalStatus::Aborted, "what moves is waited for after it was halted");
    }
}
