//! The newest message of a topic, kept by a task of its own: object maps, and what is known of moving parts in them.

use futures::StreamExt;
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::msg::{ArticulatedThings, ObjectMap as ObjectMapMsg};
use prehend_msgs::{Message, names};
use prehend_ros::{Node, QosProfile, RosError};
use prehend_scene::{ObjectKey, ObjectMap};
use prehend_skills::part::KnownJoint;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use tokio::sync::watch;

/// Keeps what `read` makes of the newest message of a topic; `None` until one is heard. Of what it does not take, `refused` is warned.
pub(crate) fn follow<M: Message, T: Send + Sync + 'static, E: Display>(
    node: &Node,
    (topic, qos): (&str, QosProfile),
    refused: &'static str,
    read: impl Fn(M) -> Result<T, E> + Send + 'static,
) -> Result<watch::Receiver<Option<T>>, RosError> {
    let mut messages = node.subscribe::<M>(topic, qos)?;
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        loop {
            let message = tokio::select! {
                () = sender.closed() => return,
                message = messages.next() => message,
            };
            let Some(message) = message else { return };
            match read(message) {
                Ok(newest) => drop(sender.send_replace(Some(newest))),
                Err(error) => tracing::warn!("{refused}: {error}"),
            }
        }
    });
    Ok(receiver)
}

/// Keeps the newest map of a topic; `None` until one is heard.
pub(crate) fn follow_map(
    node: &Node,
    topic: &str,
) -> Result<watch::Receiver<Option<Arc<ObjectMap>>>, RosError> {
    let read = |message: ObjectMapMsg| convert::map_from_msg(&message).map(Arc::new);
    follow(node, (topic, QosProfile::transient_local()), "object map refused", read)
}

/// Joints that were measured, by the keys of their parts in one version of the object map.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownJoints {
    pub(crate) map_version: u64,
    pub(crate) joints: BTreeMap<ObjectKey, KnownJoint>,
}

/// Keeps the newest joints that the describer tells of; `None` until it does.
pub(crate) fn follow_joints(node: &Node) -> Result<watch::Receiver<Option<Arc<KnownJoints>>>, RosError> {
    let read = |message: ArticulatedThings| {
        let known = |joints| Arc::new(KnownJoints { map_version: message.map_version, joints });
        convert::known_joints(&message).map(known)
    };
    let topic = (names::ARTICULATED, QosProfile::transient_local());
    follow(node, topic, "what is known of moving parts is refused", read)
}
