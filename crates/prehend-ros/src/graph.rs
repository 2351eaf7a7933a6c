//! Who is in the domain.

use crate::backend::Discovered;
use std::collections::{BTreeMap, BTreeSet};

/// A topic with the nodes at its ends. Services and actions are topics, too: `rq/..` of requests and `rr/..` of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicInfo {
    /// Name as nodes write it, such as `/joint_states`; of a service the name as DDS has it, such as `rq/addRequest`.
    pub name: String,
    /// Types as ROS writes them, such as `sensor_msgs/msg/JointState`; more than one when nodes disagree.
    pub types: Vec<String>,
    /// Fully qualified name of each publishing node; `None` for an end whose node has not told of itself (yet).
    pub publishers: Vec<Option<String>>,
    /// Fully qualified name of each subscribing node.
    pub subscribers: Vec<Option<String>>,
}

/// `sensor_msgs/msg/Image` of `sensor_msgs::msg::dds_::Image_`.
fn ros_type(dds: &str) -> String {
    let plain = dds.replace("::dds_::", "/").replace("::", "/");
    plain.strip_suffix('_').map(str::to_owned).unwrap_or(plain)
}

/// `/joint_states` of `rt/joint_states`.
fn ros_topic(dds: &str) -> String {
    dds.strip_prefix("rt").filter(|name| name.starts_with('/')).map_or_else(|| dds.to_owned(), str::to_owned)
}

/// The ends, gathered by topic.
pub(crate) fn topics(ends: Vec<Discovered>) -> Vec<TopicInfo> {
    let mut topics: BTreeMap<String, (BTreeSet<String>, TopicInfo)> = BTreeMap::new();
    for end in ends {
        let name = ros_topic(&end.topic);
        let (types, info) = topics.entry(name).or_default();
        types.insert(ros_type(&end.type_name));
        if end.writes { info.publishers.push(end.node) } else { info.subscribers.push(end.node) }
    }
    topics
        .into_iter()
        .map(|(name, (types, info))| TopicInfo { name, types: types.into_iter().collect(), ..info })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_gathered_by_topic() {
        let end = |topic: &str, writes, node: &str| Discovered {
            topic: topic.to_owned(),
            type_name: "sensor_msgs::msg::dds_::Image_".to_owned(),
            writes,
            node: (!node.is_empty()).then(|| node.to_owned()),
        };
        let found =
            topics(vec![end("rt/a", true, "/x"), end("rt/a", false, ""), end("rq/sRequest", false, "/y")]);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].name.as_str(), found[1].name.as_str()), ("/a", "rq/sRequest"));
        assert_eq!(found[0].types, ["sensor_msgs/msg/Image"]);
        assert_eq!(
            (&found[0].publishers, &found[0].subscribers),
            (&vec![Some("/x".to_owned())], &vec![None])
        );
    }
}
