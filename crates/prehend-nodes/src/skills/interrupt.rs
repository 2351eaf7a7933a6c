//! What of the interruptions is a skill's own: in which phase a peer is lost.

use crate::interrupt::{Interrupt, silent};
use prehend_execution::SkillFault;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;

/// Nodes without which the arm does not move.
pub(super) const NEEDED: [&str; 4] = ["verifier", "agent", "object_map", "affordance"];

impl Interrupt<'_, ExecuteSkill::Action> {
    /// Whether everybody is there who must be there while the robot moves.
    pub(super) fn check_peers(&self, phase: &'static str) -> Result<(), SkillFault> {
        match self.missing() {
            Some(peer) => Err(silent(peer, |peer| SkillFault::PeerLost { peer, phase })),
            None => Ok(()),
        }
    }

    /// Completes with the first cause to end a motion.
    pub(super) async fn raised_in_motion(&self, phase: &'static str) -> SkillFault {
        tokio::select! {
            forbidden = self.raised() => forbidden.into(),
            fault = self.arming.lost() => SkillFault::Forbidden(fault.into()),
            peer = self.lost() => SkillFault::PeerLost { peer, phase },
        }
    }

    /// Runs something that moves nothing, until it ends or the skill is stopped or cancelled.
    pub(super) async fn guard<T, E: Into<SkillFault>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, SkillFault> {
        self.check()?;
        tokio::select! {
            forbidden = self.raised() => Err(forbidden.into()),
            result = work => result.map_err(Into::into),
        }
    }
}
