//! Which node has which endpoint: topic `ros_discovery_info`, as every ROS 2 process publishes it.

use super::matches::{Prefix, prefix};
use super::participant::{NodeKey, Participant, TopicType};
use super::wire::{RawAdapter, Sink};
use crate::backend::{decode, encode};
use crate::sync::lock;
use crate::{QosProfile, RosError};
use bytes::Bytes;
use rustdds::no_key::DataWriter;
use rustdds::{GUID, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use tracing::debug;

/// How long the leaving process waits for its peers to know.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(300);

/// `rmw_dds_common/msg/ParticipantEntitiesInfo` (Iron and newer: 16-byte ids).
#[derive(Serialize, Deserialize)]
struct ParticipantEntities {
    participant: [u8; 16],
    nodes: Vec<NodeEntities>,
}

/// `rmw_dds_common/msg/NodeEntitiesInfo`.
#[derive(Clone, Serialize, Deserialize)]
struct NodeEntities {
    namespace: String,
    name: String,
    readers: Vec<[u8; 16]>,
    writers: Vec<[u8; 16]>,
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

/// One end of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Discovered {
    /// DDS name of the topic.
    pub(crate) topic: String,
    /// DDS name of the type.
    pub(crate) type_name: String,
    /// Whether it writes (else it reads).
    pub(crate) writes: bool,
    /// Fully qualified name of its node, once known.
    pub(crate) node: Option<String>,
}

/// Our nodes and those of others.
pub(super) struct Roster {
    guid: GUID,
    own: Mutex<BTreeMap<NodeKey, NodeEntities>>,
    others: Arc<Mutex<HashMap<Prefix, Vec<NodeEntities>>>>,
    writer: Mutex<Option<DataWriter<Bytes, RawAdapter>>>,
}

impl Roster {
    pub(super) fn new(guid: GUID) -> Self {
        Self { guid, own: Mutex::default(), others: Arc::default(), writer: Mutex::new(None) }
    }

    /// Makes the two endpoints of the discovery topic.
    pub(super) fn connect(&self, participant: &Participant) -> Result<(), RosError> {
        let topic = TopicType {
            name: "ros_discovery_info".to_owned(),
            type_name: "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_".to_owned(),
        };
        let qos = QosProfile::transient_local();
        let others = self.others.clone();
        let sink: Sink =
            Arc::new(move |sample| match decode::<ParticipantEntities>(&sample.payload, sample.encoding) {
                Ok(info) => {
                    lock(&others).insert(prefix(GUID::from_bytes(info.participant)), info.nodes);
                }
                Err(error) => debug!(%error, "ros_discovery_info"),
            });
        participant.raw_reader(&topic, qos.depth(64), sink)?;
        *lock(&self.writer) = Some(participant.raw_writer(&topic, qos)?);
        Ok(())
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
        match encode(&info, &AtomicUsize::new(256)) {
            Ok(payload) => {
                if let Err(error) = writer.write(payload, Some(Timestamp::now())) {
                    debug!(%error, "ros_discovery_info");
                }
            }
            Err(error) => debug!(%error, "ros_discovery_info"),
        }
    }
}

impl Participant {
    /// Every end of every topic known in the domain, ours included, without the discovery topic itself.
    pub(crate) fn graph(&self) -> Vec<Discovered> {
        let mut node_of: HashMap<[u8; 16], String> = HashMap::new();
        {
            let own = lock(&self.roster.own);
            let others = lock(&self.roster.others);
            for node in own.values().chain(others.values().flatten()) {
                for id in node.readers.iter().chain(&node.writers) {
                    node_of.insert(*id, node.full_name());
                }
            }
        }
        let (writers, readers) = self.discovered_endpoints();
        let mut ends: HashMap<GUID, (TopicType, bool)> = HashMap::new();
        ends.extend(writers.into_iter().map(|(topic, guid)| (guid, (topic, true))));
        ends.extend(readers.into_iter().map(|(topic, guid)| (guid, (topic, false))));
        // What DDS still says of our own endpoints may be stale.
        ends.retain(|guid, _| prefix(*guid) != self.own());
        for (topic, readers, writers) in self.locals.endpoints() {
            ends.extend(readers.into_iter().map(|guid| (guid, (topic.clone(), false))));
            ends.extend(writers.into_iter().map(|guid| (guid, (topic.clone(), true))));
        }
        let mut found: Vec<Discovered> = ends
            .into_iter()
            .filter(|(_, (topic, _))| topic.name != "ros_discovery_info")
            .map(|(guid, (topic, writes))| Discovered {
                topic: topic.name,
                type_name: topic.type_name,
                writes,
                node: node_of.get(&guid.to_bytes()).cloned(),
            })
            .collect();
        found.sort();
        found
    }

    /// Fully qualified names of our nodes and of those processes that DDS still knows.
    pub(crate) fn node_names(&self) -> Vec<String> {
        let (writers, _) = self.discovered_endpoints();
        let alive: HashSet<Prefix> = writers.iter().map(|(_, guid)| prefix(*guid)).collect();
        let own = lock(&self.roster.own);
        let others = lock(&self.roster.others);
        let mut names: Vec<String> = own.values().map(NodeEntities::full_name).collect();
        for (process, nodes) in others.iter() {
            if alive.contains(process) && *process != self.own() {
                names.extend(nodes.iter().map(NodeEntities::full_name));
            }
        }
        names.sort();
        names
    }
}
