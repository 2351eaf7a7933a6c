//! What of the interruptions is an errand's own: a lost peer ends it whatever it does.

use crate::interrupt::{Interrupt, silent};
use prehend_execution::Forbidden;
use prehend_execution::errand::ErrandFault;
use prehend_msgs::prehend_interfaces::action::GoTo;

/// Nodes without which the base is not driven.
pub(super) const NEEDED: [&str; 4] = ["verifier", "agent", "object_map", "skills"];

impl Interrupt<'_, GoTo::Action> {
    /// Whether the errand may go on now.
    pub(super) fn check_all(&self) -> Result<(), ErrandFault> {
        self.check()?;
        match self.missing() {
            Some(peer) => Err(silent(peer, ErrandFault::PeerLost)),
            None => Ok(()),
        }
    }

    /// Completes with the first cause to end the errand.
    pub(super) async fn ended(&self) -> ErrandFault {
        tokio::select! {
            forbidden = self.raised() => forbidden.into(),
            peer = self.lost() => silent(&peer, ErrandFault::PeerLost),
        }
    }

    /// As [`ended`](Self::ended), and when the robot is not armed any more.
    pub(super) async fn ended_in_motion(&self) -> ErrandFault {
        tokio::select! {
            fault = self.ended() => fault,
            fault = self.arming.lost() => Forbidden::from(fault).into(),
        }
    }

    /// Runs something until it ends or something ends the errand.
    pub(super) async fn guard<T, E: Into<ErrandFault>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ErrandFault> {
        self.check_all()?;
        tokio::select! {
            fault = self.ended() => Err(fault),
            result = work => result.map_err(Into::into),
        }
    }
}
