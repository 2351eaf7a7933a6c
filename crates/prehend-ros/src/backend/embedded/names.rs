//! What nodes and topics are told apart by.

use crate::backend::EndpointName;

/// A node of this participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeKey(pub(super) u64);

/// A topic as DDS knows it: `rt/joint_states` of `sensor_msgs::msg::dds_::JointState_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TopicType {
    pub(super) name: String,
    pub(super) type_name: String,
}

impl TopicType {
    /// The topic of `named`, as DDS knows it.
    pub(super) fn of_topic(named: &EndpointName) -> Self {
        Self { name: format!("rt{}", named.name), type_name: dds_type(&named.type_name, "") }
    }

    /// The topics of requests and of answers of the service `named`.
    pub(super) fn of_service(named: &EndpointName) -> (Self, Self) {
        let topic = |kind: &str, end: &str, part: &str| Self {
            name: format!("{kind}{}{end}", named.name),
            type_name: dds_type(&named.type_name, part),
        };
        (topic("rq", "Request", "_Request"), topic("rr", "Reply", "_Response"))
    }
}

/// `sensor_msgs::msg::dds_::Image_` of `sensor_msgs/msg/Image`.
fn dds_type(ros: &str, part: &str) -> String {
    let (package, name) = ros.rsplit_once('/').unwrap_or(("", ros));
    format!("{}::dds_::{name}{part}_", package.replace('/', "::"))
}
