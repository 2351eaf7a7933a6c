//! The newest object map of a topic, and what is known of moving parts in it, kept by tasks of their own.

use futures::StreamExt;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ArticulatedThings, ObjectMap as ObjectMapMsg};
use prehend_ros::{Node, QosProfile, RosError};
use prehend_scene::{ObjectKey, ObjectMap};
use prehend_skills::part::KnownJoint;
use std::collections::BTreeMap;
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

/// Joints that were measured, by the keys of their parts in one version of the object map.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownJoints {
    pub(crate) map_version: u64,
    pub(crate) joints: BTreeMap<ObjectKey, KnownJoint>,
}

/// Keeps the newest joints that the describer tells of; `None` until it does.
pub(crate) fn follow_joints(node: &Node) -> Result<watch::Receiver<Option<Arc<KnownJoints>>>, RosError> {
    let latched = QosProfile::transient_local();
    let mut lists = node.subscribe::<ArticulatedThings>(names::ARTICULATED, latched)?;
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        loop {
            let message = tokio::select! {
                () = sender.closed() => return,
                message = lists.next() => message,
            };
            let Some(message) = message else { return };
            match convert::known_joints(&message) {
                Ok(joints) => {
                    let known = KnownJoints { map_version: message.map_version, joints };
                    sender.send_replace(Some(Arc::new(known)));
                }
                Err(error) => tracing::warn!("what is known of moving parts is refused: {error}"),
            }
        }
    });
    Ok(receiver)
}
