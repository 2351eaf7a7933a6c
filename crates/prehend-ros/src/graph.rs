//! Who is in the domain.

/// A topic with the nodes at its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicInfo {
    /// Name as nodes write it, such as `/joint_states`.
    pub name: String,
    /// Types as ROS writes them, such as `sensor_msgs/msg/JointState`.
    pub types: Vec<String>,
    /// Nodes that publish; `None` for one whose name is not known.
    pub publishers: Vec<Option<String>>,
    /// Nodes that subscribe.
    pub subscribers: Vec<Option<String>>,
}
