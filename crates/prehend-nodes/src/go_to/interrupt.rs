//! What ends a drive before its time: cancel, stop, a lost peer.

use super::fault::GoToFault;
use prehend_msgs::prehend_interfaces::action::GoTo;
use prehend_robots::arming::Arming;
use prehend_robots::shell::Peers;
use prehend_ros::ExecutingGoal;
use std::future::Future;
use std::time::Duration;
use tokio::sync::watch;

/// Nodes without which the base is not driven.
const NEEDED: [&str; 4] = ["verifier", "agent", "object_map", "skills"];
/// Longest wait for the first heartbeat of one of them that was never heard.
const INTRODUCTION: Duration = Duration::from_secs(3);

/// Everything that may end the errand.
pub(super) struct Interrupt<'a> {
    pub(super) goal: &'a ExecutingGoal<GoTo::Action>,
    /// Why the stop is latched, when it is.
    pub(super) stop: watch::Receiver<Option<String>>,
    pub(super) peers: &'a Peers,
    pub(super) arming: &'a Arming,
}

impl Interrupt<'_> {
    /// Waits a moment for nodes that were never heard: whoever asks may know them sooner.
    pub(super) async fn introduced(&self) {
        self.peers.introduced(&NEEDED, INTRODUCTION).await;
    }

    /// Whether the errand may go on now.
    pub(super) fn check(&self) -> Result<(), GoToFault> {
        if let Some(reason) = self.stop.borrow().as_ref() {
            return Err(GoToFault::Stopped(reason.clone()));
        }
        if self.goal.is_cancel_requested() {
            return Err(GoToFault::Canceled);
        }
        if let Some(bar) = self.peers.bar() {
            return Err(GoToFault::Barred(bar));
        }
        match self.peers.missing(&NEEDED).first() {
            Some(peer) => Err(GoToFault::lost(peer)),
            None => Ok(()),
        }
    }

    /// Completes with the first cause to end.
    pub(super) async fn raised(&self) -> GoToFault {
        let mut stop = self.stop.clone();
        let stopped = async {
            match stop.wait_for(Option::is_some).await {
                Ok(reason) => GoToFault::Stopped(reason.clone().unwrap_or_default()),
                Err(_) => GoToFault::Stopped("the node is ending".to_owned()),
            }
        };
        tokio::select! {
            fault = stopped => fault,
            () = self.goal.cancelled() => GoToFault::Canceled,
            bar = self.peers.barred() => GoToFault::Barred(bar),
            peer = self.peers.lost(&NEEDED) => GoToFault::lost(&peer),
        }
    }

    /// As [`raised`](Self::raised), and when the robot is not armed any more.
    pub(super) async fn raised_in_motion(&self) -> GoToFault {
        tokio::select! {
            fault = self.raised() => fault,
            fault = self.arming.lost() => GoToFault::NotArmed(fault),
        }
    }

    /// Runs something until it ends or something ends the errand.
    pub(super) async fn guard<T, E: Into<GoToFault>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, GoToFault> {
        self.check()?;
        tokio::select! {
            fault = self.raised() => Err(fault),
            result = work => result.map_err(Into::into),
        }
    }
}
