//! What ends a skill before its time: cancel, stop, a lost peer.

use prehend_execution::SkillFault;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_robots::arming::Arming;
use prehend_robots::shell::Peers;
use prehend_ros::ExecutingGoal;
use std::time::Duration;
use tokio::sync::watch;

/// Nodes without which the robot does not move.
const NEEDED: [&str; 4] = ["verifier", "agent", "object_map", "affordance"];
/// Longest wait for the first heartbeat of one of them that was never heard.
const INTRODUCTION: Duration = Duration::from_secs(3);

/// The stop latch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StopLatch {
    /// Whether it is engaged.
    pub(super) engaged: bool,
    /// Why.
    pub(super) reason: String,
}

/// Everything that may end the running skill.
pub(super) struct Interrupt<'a> {
    pub(super) goal: &'a ExecutingGoal<ExecuteSkill::Action>,
    pub(super) stop: watch::Receiver<StopLatch>,
    pub(super) peers: &'a Peers,
    pub(super) arming: &'a Arming,
}

impl Interrupt<'_> {
    /// Waits a moment for nodes that were never heard: whoever asks may know them sooner.
    pub(super) async fn introduced(&self) {
        self.peers.introduced(&NEEDED, INTRODUCTION).await;
    }

    /// Whether the skill may go on now.
    pub(super) fn check(&self) -> Result<(), SkillFault> {
        let latch = self.stop.borrow();
        if latch.engaged {
            return Err(SkillFault::Stopped(latch.reason.clone()));
        }
        if self.goal.is_cancel_requested() {
            return Err(SkillFault::Canceled);
        }
        match self.peers.bar() {
            Some(bar) => Err(bar.into()),
            None => Ok(()),
        }
    }

    /// Whether everybody is there who must be there while the robot moves.
    pub(super) fn check_peers(&self, phase: &'static str) -> Result<(), SkillFault> {
        match self.peers.missing(&NEEDED).first() {
            Some(&"verifier") => Err(SkillFault::VerifierLost("its heartbeat is silent".to_owned())),
            Some(peer) => Err(SkillFault::PeerLost { peer: (*peer).to_owned(), phase }),
            None => Ok(()),
        }
    }

    async fn stopped_or_cancelled(&self) -> SkillFault {
        let mut stop = self.stop.clone();
        let stopped = async {
            match stop.wait_for(|latch| latch.engaged).await {
                Ok(latch) => SkillFault::Stopped(latch.reason.clone()),
                // The latch lives as long as the node.
                Err(_) => SkillFault::Stopped("the node is ending".to_owned()),
            }
        };
        tokio::select! {
            fault = stopped => fault,
            () = self.goal.cancelled() => SkillFault::Canceled,
            bar = self.peers.barred() => bar.into(),
        }
    }

    /// Completes with the first cause to end a motion.
    pub(super) async fn raised_in_motion(&self, phase: &'static str) -> SkillFault {
        tokio::select! {
            fault = self.stopped_or_cancelled() => fault,
            fault = self.arming.lost() => fault.into(),
            peer = self.peers.lost(&NEEDED) => SkillFault::PeerLost { peer, phase },
        }
    }

    /// Runs something that moves nothing, until it ends or the skill is stopped or cancelled.
    pub(super) async fn guard<T, E: Into<SkillFault>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, SkillFault> {
        self.check()?;
        tokio::select! {
            fault = self.stopped_or_cancelled() => Err(fault),
            result = work => result.map_err(Into::into),
        }
    }
}
