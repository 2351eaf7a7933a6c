//! The bond of a managed node: by it Nav2's lifecycle manager knows that the node still lives (its parameter `bond_timeout`).
//!
//! Both sides beat on `bond` in the namespace of the manager, under the node's name. The manager breaks off everything when it has not
//! heard one for `bond_timeout`, and brings everything up again. The node does not listen: it works on when its manager is gone.

use super::incarnation;
use prehend_msgs::bond::msg::Status;
use prehend_ros::{Node, Publisher, QosProfile, RosError};
use std::time::Duration;
use tokio::sync::watch;

/// Relative: below the namespace of the node, which is that of its manager.
const TOPIC: &str = "bond";
/// Wall time between two beats.
const PERIOD: Duration = Duration::from_millis(250);
/// After which silence the node is gone: as Nav2's own nodes say it, seconds.
const TIMEOUT: f32 = 4.0;

/// Beats while the node is active, until it is gone.
///
/// Errors: [`RosError`] when the topic cannot be joined.
pub(super) fn hold(node: &Node, name: &'static str, active: watch::Receiver<bool>) -> Result<(), RosError> {
    let publisher = node.create_publisher(TOPIC, QosProfile::default().depth(5))?;
    tokio::spawn(beat(node.clone(), name, publisher, active));
    Ok(())
}

async fn beat(
    node: Node,
    name: &'static str,
    publisher: Publisher<Status>,
    mut active: watch::Receiver<bool>,
) {
    while active.wait_for(|active| *active).await.is_ok() {
        // Another one each time: a bond that was broken is not formed again.
        let instance_id = format!("{name}-{:x}", incarnation());
        let status = |active| Status {
            header: prehend_msgs::std_msgs::msg::Header { stamp: node.now(), ..Default::default() },
            id: name.to_owned(),
            instance_id: instance_id.clone(),
            active,
            heartbeat_timeout: TIMEOUT,
            heartbeat_period: PERIOD.as_secs_f32(),
        };
        let mut tick = tokio::time::interval(PERIOD);
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                ended = active.wait_for(|active| !*active) => {
                    if ended.is_err() {
                        return;
                    }
                    break;
                }
            }
            match publisher.publish(&status(true)) {
                Ok(()) => {}
                Err(RosError::Closed) => return,
                Err(error) => tracing::warn!("bond not sent: {error}"),
            }
        }
        if let Err(error) = publisher.publish(&status(false)) {
            tracing::debug!("the end of the bond not sent: {error}");
        }
    }
}
