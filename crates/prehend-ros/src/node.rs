//! A node: where every endpoint is made.

use crate::stub::{Action, Message, Service, builtin_interfaces::msg::Time};
use crate::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How a node starts.
#[derive(Clone, Debug, Default)]
pub struct NodeOptions {
    /// ROS parameter files, later ones win.
    pub params_files: Vec<PathBuf>,
    /// `name:=value`, each wins over every file.
    pub overrides: Vec<String>,
    /// Whether time comes from `/clock`; `None`: the parameter `use_sim_time`, else wall time.
    pub use_sim_time: Option<bool>,
    /// How services are laid on DDS; `None`: `PREHEND_SERVICE_MAPPING` (`enhanced` or `cyclone`), else enhanced.
    pub service_mapping: Option<ServiceMapping>,
}

/// How a request is tied to its answer on the wire; depends on the RMW of the peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceMapping {
    /// In the sample's inline QoS: rmw_fastrtps (default of ROS 2).
    Enhanced,
    /// In a header before the payload: rmw_cyclonedds.
    Cyclone,
}

/// A node of the graph.
#[derive(Clone, Debug)]
pub struct Node {}

impl Node {
    /// Makes node `name` in `namespace` (empty or `/prehend`).
    pub fn create(_context: &Context, _name: &str, _namespace: &str, _options: NodeOptions) -> Result<Self, RosError> {
        Err(RosError::Closed)
    }
    /// `/namespace/name`.
    pub fn fully_qualified_name(&self) -> &str {
        ""
    }
    /// Subscribes to a topic.
    pub fn subscribe<T: Message>(&self, _topic: &str, _qos: QosProfile) -> Result<Subscription<T>, RosError> {
        Err(RosError::Closed)
    }
    /// Announces a topic.
    pub fn create_publisher<T: Message>(&self, _topic: &str, _qos: QosProfile) -> Result<Publisher<T>, RosError> {
        Err(RosError::Closed)
    }
    /// Makes a client of a service.
    pub fn create_client<S: Service>(&self, _service: &str, _qos: QosProfile) -> Result<Client<S>, RosError> {
        Err(RosError::Closed)
    }
    /// Offers a service.
    pub fn create_service<S: Service>(&self, _service: &str, _qos: QosProfile) -> Result<ServiceServer<S>, RosError> {
        Err(RosError::Closed)
    }
    /// Makes a client of an action.
    pub fn create_action_client<A: Action>(&self, _action: &str) -> Result<ActionClient<A>, RosError> {
        Err(RosError::Closed)
    }
    /// Offers an action.
    pub fn create_action_server<A: Action>(&self, _action: &str) -> Result<ActionServer<A>, RosError> {
        Err(RosError::Closed)
    }
    /// Now, by the node's clock.
    pub fn now(&self) -> Time {
        Time::default()
    }
    /// The node's clock.
    pub fn clock(&self) -> Clock {
        Clock {}
    }
    /// The node's parameters.
    pub fn parameters(&self) -> &Parameters {
        const { &Parameters {} }
    }
    /// The node's transforms; subscribes to `/tf` and `/tf_static` at the first call.
    pub fn tf(&self) -> Result<TfBuffer, RosError> {
        Err(RosError::Closed)
    }
    /// Every topic of the domain that was discovered, with its types.
    pub fn topic_names_and_types(&self) -> BTreeMap<String, Vec<String>> {
        BTreeMap::new()
    }
    /// Every topic with the nodes at its ends.
    pub fn topics(&self) -> Vec<TopicInfo> {
        Vec::new()
    }
    /// Fully qualified names of every node discovered.
    pub fn node_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// Publishes a line on `/rosout`.
    pub fn log(&self, _severity: Severity, _message: &str) {}
}
