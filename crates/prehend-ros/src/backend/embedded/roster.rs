//! Which nodes there are and what ends they have: topic `ros_discovery_info`, as every ROS 2 process publishes it.

use super::matches::{Prefix, prefix};
use super::names::{NodeKey, TopicType};
use super::wire::{RawAdapter, Sink};
use crate::backend::{Encoding, decode, encode};
use crate::sync::lock;
use crate::{QosProfile, RosError};
use bytes::Bytes;
use rustdds::no_key::DataWriter;
use rustdds::{GUID, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tracing::debug;

/// DDS name of the topic.
pub(super) const TOPIC: &str = "ros_discovery_info";
/// `ROS_DISTRO` of the one distribution whose ids are longer.
const HUMBLE: &str = "humble";
/// How long the leaving process waits for its peers to know.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(300);

/// `rmw_dds_common/msg/ParticipantEntitiesInfo`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ParticipantEntities<Id = ShortId> {
    participant: Id,
    nodes: Vec<NodeEntities<Id>>,
}

/// `rmw_dds_common/msg/NodeEntitiesInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NodeEntities<Id = ShortId> {
    namespace: String,
    name: String,
    readers: Vec<Id>,
    writers: Vec<Id>,
}

/// `rmw_dds_common/msg/Gid` since Iron: the endpoint's GUID.
pub(super) type ShortId = [u8; 16];

/// `rmw_dds_common/msg/Gid` of Humble: the GUID and eight zeros.
type LongId = (ShortId, [u8; 8]);

impl<Id> ParticipantEntities<Id> {
    fn with<To>(self, id: impl Fn(Id) -> To) -> ParticipantEntities<To> {
        let with_node = |node: NodeEntities<Id>| NodeEntities {
            namespace: node.namespace,
            name: node.name,
            readers: node.readers.into_iter().map(&id).collect(),
            writers: node.writers.into_iter().map(&id).collect(),
        };
        ParticipantEntities {
            participant: id(self.participant),
            nodes: self.nodes.into_iter().map(with_node).collect(),
        }
    }

    fn payload(&self) -> Result<Bytes, RosError>
    where
        Id: Serialize,
    {
        encode(self, &AtomicUsize::new(256))
    }
}

impl ParticipantEntities {
    /// Reads either layout; says whether it was Humble's.
    fn read(payload: &[u8], encoding: Encoding) -> Result<(Self, bool), RosError> {
        // Behind the short id is the number of nodes, and nothing else when it is zero; behind the GUID in a long one are eight zeros.
        let is_long = payload.get(16..24).is_some_and(|rest| rest == [0; 8]);
        let info = if is_long {
            decode::<ParticipantEntities<LongId>>(payload, encoding)?.with(|(guid, _)| guid)
        } else {
            decode::<Self>(payload, encoding)?
        };
        Ok((info, is_long))
    }

    fn write(self, is_long: bool) -> Result<Bytes, RosError> {
        if is_long { self.with(|guid| -> LongId { (guid, [0; 8]) }).payload() } else { self.payload() }
    }
}

impl NodeEntities {
    fn full_name(&self) -> String {
        if self.namespace.ends_with('/') {
            format!("{}{}", self.namespace, self.name)
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }
}

/// The topic, and how it is written.
pub(super) fn topic() -> (TopicType, QosProfile) {
    let topic = TopicType {
        name: TOPIC.to_owned(),
        type_name: "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_".to_owned(),
    };
    (topic, QosProfile::transient_local())
}

/// Our nodes and those of others.
pub(super) struct Roster {
    guid: GUID,
    own: Mutex<BTreeMap<NodeKey, NodeEntities>>,
    others: Mutex<HashMap<Prefix, Vec<NodeEntities>>>,
    writer: Mutex<Option<DataWriter<Bytes, RawAdapter>>>,
    /// Whether ids are written as Humble reads them.
    is_humble: AtomicBool,
    /// The distribution that is sourced: it decides what is written; without one, what is heard does.
    distro: Option<String>,
}

impl Roster {
    pub(super) fn new(guid: GUID) -> Arc<Self> {
        let distro = super::BACKEND.distro();
        Arc::new(Self {
            guid,
            own: Mutex::default(),
            others: Mutex::default(),
            writer: Mutex::new(None),
            is_humble: AtomicBool::new(distro.as_deref() == Some(HUMBLE)),
            distro,
        })
    }

    /// Takes what is heard on the topic.
    pub(super) fn ear(self: &Arc<Self>) -> Sink {
        let roster = Arc::downgrade(self);
        Arc::new(move |sample| {
            let Some(roster) = roster.upgrade() else { return };
            match ParticipantEntities::read(&sample.payload, sample.encoding) {
                Ok((info, is_humble)) => roster.hear(info, is_humble),
                Err(error) => debug!(%error, "ros_discovery_info"),
            }
        })
    }

    /// The writer by which our nodes are announced.
    pub(super) fn speak_with(&self, writer: DataWriter<Bytes, RawAdapter>) {
        *lock(&self.writer) = Some(writer);
    }

    /// Fully qualified name of the node of each end.
    pub(super) fn node_of_ends(&self) -> HashMap<ShortId, String> {
        let mut node_of = HashMap::new();
        let own = lock(&self.own);
        let others = lock(&self.others);
        for node in own.values().chain(others.values().flatten()) {
            for id in node.readers.iter().chain(&node.writers) {
                node_of.insert(*id, node.full_name());
            }
        }
        node_of
    }

    /// Fully qualified names of our nodes and of those of the other processes that count.
    pub(super) fn names(&self, counts: impl Fn(&Prefix) -> bool) -> Vec<String> {
        let own = lock(&self.own);
        let others = lock(&self.others);
        let mut names: Vec<String> = own.values().map(NodeEntities::full_name).collect();
        for (_, nodes) in others.iter().filter(|(process, _)| counts(process)) {
            names.extend(nodes.iter().map(NodeEntities::full_name));
        }
        names
    }

    /// Fully qualified names of the nodes of another process.
    pub(super) fn names_in(&self, process: &Prefix) -> Vec<String> {
        lock(&self.others).get(process).into_iter().flatten().map(NodeEntities::full_name).collect()
    }

    fn hear(&self, info: ParticipantEntities, is_humble: bool) {
        lock(&self.others).insert(prefix(GUID::from_bytes(info.participant)), info.nodes);
        // Once there is one process of Humble there is none of a newer distribution: their ids have no common layout either.
        if is_humble && self.distro.is_none() && !self.is_humble.swap(true, Ordering::SeqCst) {
            self.announce();
        }
    }

    /// Takes our nodes off the graph. Waits until the peers know: RustDDS drops what it has not sent when it ends, and a ROS 2 peer
    /// would list the nodes until their lease is over.
    pub(super) fn disconnect(&self) {
        lock(&self.own).clear();
        self.announce();
        let Some(writer) = lock(&self.writer).take() else { return };
        match writer.wait_for_acknowledgments(FAREWELL) {
            Ok(true) => {}
            // A peer that was killed never answers.
            Ok(false) => debug!("not every peer knows that our nodes leave"),
            Err(error) => debug!(%error, "ros_discovery_info"),
        }
    }

    pub(super) fn add_node(&self, key: NodeKey, full_name: &str) {
        let (namespace, name) = full_name.rsplit_once('/').unwrap_or(("", full_name));
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        let node = NodeEntities {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            readers: Vec::new(),
            writers: Vec::new(),
        };
        lock(&self.own).insert(key, node);
        self.announce();
    }

    pub(super) fn remove_node(&self, key: NodeKey) {
        lock(&self.own).remove(&key);
        self.announce();
    }

    pub(super) fn add_writer(&self, key: NodeKey, guid: GUID) {
        if let Some(node) = lock(&self.own).get_mut(&key) {
            node.writers.push(guid.to_bytes());
        }
        self.announce();
    }

    pub(super) fn add_reader(&self, key: NodeKey, guid: GUID) {
        if let Some(node) = lock(&self.own).get_mut(&key) {
            node.readers.push(guid.to_bytes());
        }
        self.announce();
    }

    pub(super) fn forget(&self, key: NodeKey, guid: GUID) {
        let gone = guid.to_bytes();
        if let Some(node) = lock(&self.own).get_mut(&key) {
            node.readers.retain(|id| *id != gone);
            node.writers.retain(|id| *id != gone);
        }
        self.announce();
    }

    fn announce(&self) {
        let writer = lock(&self.writer);
        let Some(writer) = writer.as_ref() else { return };
        let nodes = lock(&self.own).values().cloned().collect();
        let info = ParticipantEntities { participant: self.guid.to_bytes(), nodes };
        match info.write(self.is_humble.load(Ordering::SeqCst)) {
            Ok(payload) => {
                if let Err(error) = writer.write(payload, Some(Timestamp::now())) {
                    debug!(%error, "ros_discovery_info");
                }
            }
            Err(error) => debug!(%error, "ros_discovery_info"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(nodes: usize) -> ParticipantEntities {
        let node = |number: usize| NodeEntities {
            namespace: "/robot".to_owned(),
            name: format!("node_{number}"),
            readers: vec![[1; 16]; number],
            writers: vec![[0; 16], [2; 16]],
        };
        ParticipantEntities { participant: [7; 16], nodes: (0..nodes).map(node).collect() }
    }

    #[test]
    fn ids_of_both_lengths_are_read_and_told_apart() {
        for nodes in [0, 1, 3] {
            for is_humble in [false, true] {
                let payload = info(nodes).write(is_humble).expect("bytes");
                let read = ParticipantEntities::read(&payload, Encoding::Little);
                assert_eq!(read.expect("read"), (info(nodes), is_humble));
            }
        }
        // The length of an id of Humble counts: the participant's and the number of nodes.
        assert_eq!(info(0).write(true).expect("bytes").len(), 24 + 4);
        for length in 0..16 {
            assert!(ParticipantEntities::read(&vec![0; length], Encoding::Little).is_err());
        }
    }
}
