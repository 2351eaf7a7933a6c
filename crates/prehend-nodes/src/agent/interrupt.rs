//! What ends a goal at work before its time.

use prehend_agent::Fault;
use prehend_scene::Reason;
use tokio::sync::watch;

/// Completes when something ends the goal, with what that is.
pub(super) async fn interrupted(interrupt: &mut watch::Receiver<Option<Fault>>) -> Fault {
    match interrupt.wait_for(Option::is_some).await {
        Ok(fault) => fault.clone().unwrap_or_else(|| Fault::new(Reason::Canceled, "the goal was cancelled")),
        // The goal's keeper is gone: the process ends.
        Err(_) => Fault::new(Reason::Canceled, "the agent is ending"),
    }
}
