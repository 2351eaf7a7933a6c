//! What ends a goal that moves the robot before its time: cancel, stop, a bar, a lost peer, a robot that is not armed any more.

use prehend_execution::Forbidden;
use prehend_msgs::Action;
use prehend_robots::arming::Arming;
use prehend_robots::shell::Peers;
use prehend_ros::ExecutingGoal;
use std::time::Duration;
use tokio::sync::watch;

/// Longest wait for the first heartbeat of a needed node that was never heard.
const INTRODUCTION: Duration = Duration::from_secs(3);

/// The stop latch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StopLatch {
    /// Whether it is engaged.
    pub(crate) engaged: bool,
    /// Why.
    pub(crate) reason: String,
}

/// Everything that may end the goal that is at work.
pub(crate) struct Interrupt<'a, A: Action> {
    pub(crate) goal: &'a ExecutingGoal<A>,
    pub(crate) stop: watch::Receiver<StopLatch>,
    pub(crate) peers: &'a Peers,
    pub(crate) arming: &'a Arming,
    /// Nodes without which the robot does not move.
    pub(crate) needed: &'static [&'static str],
}

impl<A: Action> Interrupt<'_, A> {
    /// Waits a moment for nodes that were never heard: whoever asks may know them sooner.
    pub(crate) async fn introduced(&self) {
        self.peers.introduced(self.needed, INTRODUCTION).await;
    }

    /// Whether the goal is neither stopped, cancelled nor barred now.
    pub(crate) fn check(&self) -> Result<(), Forbidden> {
        let latch = self.stop.borrow();
        if latch.engaged {
            return Err(Forbidden::Stopped(latch.reason.clone()));
        }
        if self.goal.is_cancel_requested() {
            return Err(Forbidden::Canceled);
        }
        match self.peers.bar() {
            Some(bar) => Err(bar.into()),
            None => Ok(()),
        }
    }

    /// The first needed node that is not there.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.peers.missing(self.needed).first().copied()
    }

    /// Completes when the goal is stopped, cancelled or barred.
    pub(crate) async fn raised(&self) -> Forbidden {
        let mut stop = self.stop.clone();
        let stopped = async {
            match stop.wait_for(|latch| latch.engaged).await {
                Ok(latch) => Forbidden::Stopped(latch.reason.clone()),
                // The latch lives as long as the node.
                Err(_) => Forbidden::Stopped("the node is ending".to_owned()),
            }
        };
        tokio::select! {
            forbidden = stopped => forbidden,
            () = self.goal.cancelled() => Forbidden::Canceled,
            bar = self.peers.barred() => bar.into(),
        }
    }

    /// Completes with the first needed node that is lost.
    pub(crate) async fn lost(&self) -> String {
        self.peers.lost(self.needed).await
    }
}

/// What it is that a needed node is not there: without the verifier nothing is permitted, the others are `lost`.
pub(crate) fn silent<F: From<Forbidden>>(peer: &str, lost: impl FnOnce(String) -> F) -> F {
    match peer {
        "verifier" => Forbidden::VerifierLost("its heartbeat is silent".to_owned()).into(),
        peer => lost(peer.to_owned()),
    }
}
