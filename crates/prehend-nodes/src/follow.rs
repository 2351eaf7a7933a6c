//! The newest object map of a topic, kept by a task of its own.

use crate::convert;
use futures::StreamExt;
use prehend_msgs::prehend_interfaces::msg::ObjectMap as ObjectMapMsg;
use prehend_ros::{Node, QosProfile, RosError};
use prehend_scene::ObjectMap;
use std::sync::Arc;
use tokio::sync::watch;

/// Keeps the newest map of a topic; `None` until one is heard.
pub(crate) fn follow_map(
    node: &Node,
    topic: &str,
) -> Result<watch::Receiver<Option<Arc<ObjectMap>>>, RosError> {
    let mut maps = node.subscribe::<ObjectMapMsg>(topic, QosProfile::transient_local())?;
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        loop {
            let message = tokio::select! {
                () = sender.closed() => return,
                message = maps.next() => message,
            };
            let Some(message) = message else { return };
            match convert::map_from_msg(&message) {
                Ok(map) => {
                    sender.send_replace(Some(Arc::new(map)));
                }
                Err(error) => tracing::warn!("object map refused: {error}"),
            }
        }
    });
    Ok(receiver)
}
