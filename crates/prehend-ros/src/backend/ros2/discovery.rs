//! What rcl tells of the graph through r2r: topics, and who publishes on them.

use super::participant::Participant;
use crate::backend::EndpointName;
use crate::{Durability, QosProfile, Reliability};
use r2r::qos::{DurabilityPolicy, ReliabilityPolicy};
use std::collections::BTreeSet;

/// One end of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Discovered {
    /// Name of the topic, such as `/joint_states`.
    pub(crate) topic: String,
    /// Name of the type, such as `sensor_msgs/msg/JointState`.
    pub(crate) type_name: String,
    /// Whether it writes (else it reads).
    pub(crate) writes: bool,
    /// Fully qualified name of its node, once known.
    pub(crate) node: Option<String>,
}

/// The name every node publishes its logs under.
const ROSOUT: &str = "/rosout";

fn publishers(node: &r2r::Node, topic: &str) -> r2r::Result<Vec<Discovered>> {
    let found = node.get_publishers_info_by_topic(topic, false)?;
    Ok(found
        .into_iter()
        .map(|end| Discovered {
            topic: topic.to_owned(),
            type_name: end.topic_type,
            writes: true,
            node: full_name(&end.node_namespace, &end.node_name),
        })
        .collect())
}

/// `None` for what rmw says of an endpoint whose node it does not know yet.
fn full_name(namespace: &str, name: &str) -> Option<String> {
    let known = !name.is_empty() && !name.starts_with('_') || name.starts_with("_ros2cli");
    known.then(|| format!("{}/{name}", namespace.trim_end_matches('/')))
}

impl Participant {
    /// Every publisher in the domain, ours included; a topic that has only subscribers is left out.
    pub(crate) fn graph(&self) -> Vec<Discovered> {
        let Some(spinner) = self.nodes().0 else { return Vec::new() };
        let found = spinner.ask("the graph", |spun| {
            // r2r 0.9.7 takes names of other topics for further types of one that has several; only the keys are used.
            let mut found = Vec::new();
            for topic in spun.node.get_topic_names_and_types()?.into_keys() {
                found.extend(publishers(&spun.node, &topic)?);
            }
            found.sort();
            Ok(found)
        });
        found.unwrap_or_default()
    }

    /// What the publishers of a topic offer, ours included; others do not tell their depth: 0.
    pub(crate) fn offered_qos(&self, named: &EndpointName) -> Vec<QosProfile> {
        let (Some(spinner), topic) = (self.nodes().0, named.name.clone()) else { return Vec::new() };
        let found =
            spinner.ask("the publishers", move |spun| spun.node.get_publishers_info_by_topic(&topic, false));
        let offered = |end: r2r::qos::QosProfile| QosProfile {
            reliability: match end.reliability {
                ReliabilityPolicy::BestEffort => Reliability::BestEffort,
                _ => Reliability::Reliable,
            },
            durability: match end.durability {
                DurabilityPolicy::TransientLocal => Durability::TransientLocal,
                _ => Durability::Volatile,
            },
            depth: end.depth,
        };
        found.unwrap_or_default().into_iter().map(|end| offered(end.qos_profile)).collect()
    }

    /// Fully qualified names of our nodes and of those that publish logs, as all do that were not told otherwise.
    pub(crate) fn node_names(&self) -> Vec<String> {
        let (spinner, own) = self.nodes();
        let others =
            spinner.and_then(|spinner| spinner.ask("the graph", |spun| publishers(&spun.node, ROSOUT)).ok());
        let others = others.into_iter().flatten().filter_map(|end| end.node);
        own.into_iter().chain(others).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::full_name;

    #[test]
    fn nodes_are_named_once_known() {
        assert_eq!(full_name("/", "talker").as_deref(), Some("/talker"));
        assert_eq!(full_name("/prehend", "agent").as_deref(), Some("/prehend/agent"));
        assert_eq!(full_name("_NODE_NAMESPACE_UNKNOWN_", "_NODE_NAME_UNKNOWN_"), None);
    }
}
