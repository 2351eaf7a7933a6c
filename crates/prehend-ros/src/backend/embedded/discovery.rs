//! What is known of the graph: the ends of topics, and which node has them.

use super::matches::{Prefix, prefix};
use super::names::TopicType;
use super::participant::Participant;
use super::roster::TOPIC;
use rustdds::GUID;
use std::collections::{HashMap, HashSet};

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

impl Participant {
    /// Every end of every topic known in the domain, ours included, without the discovery topic itself.
    pub(crate) fn graph(&self) -> Vec<Discovered> {
        let node_of = self.roster.node_of_ends();
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
            .filter(|(_, (topic, _))| topic.name != TOPIC)
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
        let mut names = self.roster.names(|process| alive.contains(process) && *process != self.own());
        names.sort();
        names
    }
}
