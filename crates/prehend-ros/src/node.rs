//! A node: where every endpoint is made.

use crate::action::{ActionTopics, ClientEnds, ServerEnds};
use crate::backend::{
    Caller, NodeKey, Participant, Reader, Responder, Sink, TopicType, check_node_name, dds_name,
};
use crate::graph::topics;
use crate::logging::{Rosout, Severity};
use crate::sync::lock;
use crate::{
    ActionClient, ActionServer, Client, Clock, Context, Parameters, Publisher, QosProfile, RawPublisher,
    RawSubscription, RosError, ServiceServer, Subscription, TfBuffer, TopicInfo,
};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::{Action, Message, Service};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

/// How a node starts.
#[derive(Clone, Debug, Default)]
pub struct NodeOptions {
    /// ROS parameter files (`--params-file`), later ones win.
    pub params_files: Vec<PathBuf>,
    /// `name:=value`, each wins over every file.
    pub overrides: Vec<String>,
    /// Whether time comes from `/clock`; `None`: the parameter `use_sim_time`, else wall time.
    pub use_sim_time: Option<bool>,
    /// How services are laid on DDS; `None`: the parameter `service_mapping` (`auto`, `enhanced` or `cyclone`), else the environment's
    /// `PREHEND_SERVICE_MAPPING`, else auto.
    pub service_mapping: Option<ServiceMapping>,
}

/// How a request is tied to its answer on the wire; both ends must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceMapping {
    /// As the peer does it, told by the vendor in its GUID: Cyclone for Cyclone DDS, else enhanced.
    Auto,
    /// In the sample's inline QoS: rmw_fastrtps, the default of ROS 2.
    Enhanced,
    /// In a header before the payload: rmw_cyclonedds.
    Cyclone,
}

impl ServiceMapping {
    fn parse(text: &str) -> Result<Self, RosError> {
        match text {
            "auto" => Ok(Self::Auto),
            "enhanced" => Ok(Self::Enhanced),
            "cyclone" => Ok(Self::Cyclone),
            _ => Err(RosError::Create {
                what: "the service mapping".to_owned(),
                reason: format!("`{text}` is none of `auto`, `enhanced` and `cyclone`"),
            }),
        }
    }
}

/// A node of the graph; clones are the same node, which leaves the graph with the last of them.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
}

struct Inner {
    participant: Arc<Participant>,
    key: NodeKey,
    full_name: String,
    parameters: Parameters,
    clock: Clock,
    rosout: Rosout,
    mapping: ServiceMapping,
    tf: OnceLock<TfBuffer>,
    making_tf: Mutex<()>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("name", &self.inner.full_name).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        Rosout::detach(&self.full_name);
        self.participant.remove_node(self.key);
    }
}

fn message_type<T: Message>() -> String {
    format!("{}::msg::dds_::{}_", T::PACKAGE, T::NAME)
}

fn topic_type<T: Message>(node: &str, topic: &str) -> Result<TopicType, RosError> {
    Ok(TopicType { name: dds_name("rt", node, topic, "")?, type_name: message_type::<T>() })
}

/// The topic with its type as ROS writes it: `sensor_msgs/msg/Image`.
fn named_type(node: &str, topic: &str, type_name: &str) -> Result<TopicType, RosError> {
    let parts: Vec<&str> = type_name.split('/').collect();
    match parts.as_slice() {
        [package, kind, name] if ![package, kind, name].iter().any(|part| part.is_empty()) => Ok(TopicType {
            name: dds_name("rt", node, topic, "")?,
            type_name: format!("{package}::{kind}::dds_::{name}_"),
        }),
        _ => Err(RosError::InvalidName {
            name: type_name.to_owned(),
            reason: "a type is PACKAGE/msg/NAME".to_owned(),
        }),
    }
}

fn service_topics<S: Service>(node: &str, service: &str) -> Result<(TopicType, TopicType), RosError> {
    let type_name = |part: &str| format!("{}::srv::dds_::{}_{part}_", S::PACKAGE, S::NAME);
    Ok((
        TopicType { name: dds_name("rq", node, service, "Request")?, type_name: type_name("Request") },
        TopicType { name: dds_name("rr", node, service, "Reply")?, type_name: type_name("Response") },
    ))
}

/// Goal status as rcl_action has it.
fn status_qos() -> QosProfile {
    QosProfile::transient_local()
}

impl Node {
    /// Makes node `name` in `namespace` (`""`, `/prehend`), reads its parameters and starts its clock and `/rosout`.
    ///
    /// Errors: [`RosError::InvalidName`], [`RosError::Parameter`], [`RosError::Create`], [`RosError::Closed`].
    pub fn create(
        context: &Context,
        name: &str,
        namespace: &str,
        options: NodeOptions,
    ) -> Result<Self, RosError> {
        let full_name = check_node_name(namespace, name)?;
        let parameters = Parameters::load(&full_name, &options.params_files, &options.overrides)?;
        let sim_time = parameters.bool_or("use_sim_time", false)?;
        let sim_time = options.use_sim_time.unwrap_or(sim_time);
        let named = parameters.string_or("service_mapping", "")?;
        let mapping = match options.service_mapping {
            Some(mapping) => mapping,
            None if !named.is_empty() => ServiceMapping::parse(&named)?,
            None => match std::env::var("PREHEND_SERVICE_MAPPING") {
                Ok(text) if !text.is_empty() => ServiceMapping::parse(&text)?,
                _ => ServiceMapping::Auto,
            },
        };
        let participant = context.participant.clone();
        let key = participant.add_node(&full_name);
        let made = Self::start(&participant, key, &full_name, sim_time);
        let (clock, rosout) = match made {
            Ok(made) => made,
            Err(error) => {
                participant.remove_node(key);
                return Err(error);
            }
        };
        rosout.attach();
        let (tf, making_tf) = (OnceLock::new(), Mutex::new(()));
        let inner = Inner { participant, key, full_name, parameters, clock, rosout, mapping, tf, making_tf };
        Ok(Self { inner: Arc::new(inner) })
    }

    fn start(
        participant: &Arc<Participant>,
        key: NodeKey,
        full_name: &str,
        sim_time: bool,
    ) -> Result<(Clock, Rosout), RosError> {
        let clock = if sim_time {
            let topic = topic_type::<prehend_msgs::rosgraph_msgs::msg::Clock>(full_name, "/clock")?;
            Clock::simulated(|sink| participant.reader(key, topic, QosProfile::sensor_data().depth(1), sink))?
        } else {
            Clock::wall()
        };
        let topic = topic_type::<prehend_msgs::rcl_interfaces::msg::Log>(full_name, "/rosout")?;
        let writer = participant.writer(key, topic, QosProfile::transient_local().depth(1000))?;
        let publisher = Publisher::new("/rosout", writer);
        Ok((clock.clone(), Rosout { publisher, node: full_name.to_owned(), clock }))
    }

    /// `/namespace/name`.
    pub fn fully_qualified_name(&self) -> &str {
        &self.inner.full_name
    }

    /// The domain the node is in.
    pub fn domain_id(&self) -> u16 {
        self.inner.participant.domain_id()
    }

    fn reader(&self, topic: TopicType, qos: QosProfile, sink: Sink) -> Result<Reader, RosError> {
        self.inner.participant.reader(self.inner.key, topic, qos, sink)
    }

    /// Subscribes to `topic` (`/a/b`; `b` in the node's namespace; `~/b` below the node). Make it once and keep it.
    ///
    /// Errors, here and below: [`RosError::InvalidName`], [`RosError::Create`], [`RosError::Closed`].
    pub fn subscribe<T: Message>(&self, topic: &str, qos: QosProfile) -> Result<Subscription<T>, RosError> {
        let dds_topic = topic_type::<T>(&self.inner.full_name, topic)?;
        Subscription::new(topic, qos, |sink| self.reader(dds_topic, qos, sink))
    }

    /// Makes a publisher on `topic`. Make it once and clone it.
    pub fn create_publisher<T: Message>(
        &self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<Publisher<T>, RosError> {
        let dds_topic = topic_type::<T>(&self.inner.full_name, topic)?;
        Ok(Publisher::new(topic, self.inner.participant.writer(self.inner.key, dds_topic, qos)?))
    }

    /// Subscribes to `topic` of the type `PACKAGE/msg/NAME` without looking into its messages. Make it once and keep it.
    ///
    /// Errors: as [`subscribe`](Self::subscribe).
    pub fn subscribe_raw(
        &self,
        topic: &str,
        type_name: &str,
        qos: QosProfile,
    ) -> Result<RawSubscription, RosError> {
        let dds_topic = named_type(&self.inner.full_name, topic, type_name)?;
        RawSubscription::new(topic, qos, |sink| self.reader(dds_topic, qos, sink))
    }

    /// Makes a publisher on `topic` of stored messages of the type `PACKAGE/msg/NAME`. Make it once and clone it.
    ///
    /// Errors: as [`subscribe`](Self::subscribe).
    pub fn create_raw_publisher(
        &self,
        topic: &str,
        type_name: &str,
        qos: QosProfile,
    ) -> Result<RawPublisher, RosError> {
        let dds_topic = named_type(&self.inner.full_name, topic, type_name)?;
        Ok(RawPublisher::new(topic, self.inner.participant.writer(self.inner.key, dds_topic, qos)?))
    }

    /// What each publisher of `topic` (`/a/b`) offers, as far as discovery tells: the depth it does not tell is 0.
    ///
    /// Errors: [`RosError::InvalidName`].
    pub fn offered_qos(&self, topic: &str) -> Result<Vec<QosProfile>, RosError> {
        let name = dds_name("rt", &self.inner.full_name, topic, "")?;
        Ok(self.inner.participant.offered_qos(&name))
    }

    fn caller(
        &self,
        name: &str,
        topics: (TopicType, TopicType),
        qos: QosProfile,
    ) -> Result<Caller, RosError> {
        Caller::new(&self.inner.participant, self.inner.key, name.to_owned(), topics, qos, self.inner.mapping)
    }

    fn responder(
        &self,
        topics: (TopicType, TopicType),
        qos: QosProfile,
        sink: Box<dyn Fn(crate::backend::Incoming) + Send + Sync>,
    ) -> Result<Responder, RosError> {
        Responder::new(&self.inner.participant, self.inner.key, topics, qos, self.inner.mapping, sink)
    }

    /// Makes a client of `service`; use [`QosProfile::services`]. Make it once and clone it.
    pub fn create_client<S: Service>(&self, service: &str, qos: QosProfile) -> Result<Client<S>, RosError> {
        let topics = service_topics::<S>(&self.inner.full_name, service)?;
        Ok(Client::new(self.caller(service, topics, qos)?))
    }

    /// Offers `service`; use [`QosProfile::services`].
    pub fn create_service<S: Service>(
        &self,
        service: &str,
        qos: QosProfile,
    ) -> Result<ServiceServer<S>, RosError> {
        let topics = service_topics::<S>(&self.inner.full_name, service)?;
        ServiceServer::new(service, |sink| self.responder(topics, qos, sink))
    }

    /// Makes a client of `action`. Make it once and clone it.
    pub fn create_action_client<A: Action>(&self, action: &str) -> Result<ActionClient<A>, RosError> {
        let topics = ActionTopics::of::<A>(&self.inner.full_name, action)?;
        let qos = QosProfile::services();
        let ends = ClientEnds {
            name: action.to_owned(),
            participant: self.inner.participant.clone(),
            send_goal: self.caller(action, topics.send_goal, qos)?,
            cancel: self.caller(action, topics.cancel, qos)?,
            result: self.caller(action, topics.result, qos)?,
        };
        // A burst of feedback must not fall out unread.
        let feedback_qos = QosProfile::default().depth(512);
        ActionClient::new(ends, |feedback, status| {
            let feedback = self.reader(topics.feedback, feedback_qos, feedback)?;
            Ok((feedback, self.reader(topics.status, status_qos(), status)?))
        })
    }

    /// Offers `action`.
    pub fn create_action_server<A: Action>(&self, action: &str) -> Result<ActionServer<A>, RosError> {
        let topics = ActionTopics::of::<A>(&self.inner.full_name, action)?;
        let participant = &self.inner.participant;
        let ends = ServerEnds {
            name: action.to_owned(),
            participant: participant.clone(),
            clock: self.inner.clock.clone(),
            feedback: participant.writer(self.inner.key, topics.feedback, QosProfile::default())?,
            status: participant.writer(self.inner.key, topics.status, status_qos())?,
        };
        let qos = QosProfile::services();
        ActionServer::new(ends, |[goal, cancel, result]| {
            Ok([
                self.responder(topics.send_goal, qos, goal)?,
                self.responder(topics.cancel, qos, cancel)?,
                self.responder(topics.result, qos, result)?,
            ])
        })
    }

    /// Now, by the node's clock.
    pub fn now(&self) -> Time {
        self.inner.clock.now()
    }

    /// The node's clock.
    pub fn clock(&self) -> Clock {
        self.inner.clock.clone()
    }

    /// The node's parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.inner.parameters
    }

    /// The node's transforms; subscribes to `/tf` and `/tf_static` at the first call.
    ///
    /// Errors: [`RosError::Create`], [`RosError::Closed`].
    pub fn tf(&self) -> Result<TfBuffer, RosError> {
        let _one_at_a_time = lock(&self.inner.making_tf);
        if let Some(buffer) = self.inner.tf.get() {
            return Ok(buffer.clone());
        }
        let topic = |name| topic_type::<prehend_msgs::tf2_msgs::msg::TFMessage>(&self.inner.full_name, name);
        let (moving, fixed) = (topic("/tf")?, topic("/tf_static")?);
        let buffer = TfBuffer::new(&self.inner.clock, |moving_sink, fixed_sink| {
            Ok([
                // The next sample heals a lost one; a reliable reader that waits for it hears nothing meanwhile.
                self.reader(moving, QosProfile::default().best_effort().depth(100), moving_sink)?,
                self.reader(fixed, QosProfile::transient_local().depth(100), fixed_sink)?,
            ])
        })?;
        Ok(self.inner.tf.get_or_init(|| buffer).clone())
    }

    /// Every topic known in the domain, with its types; see [`topics`](Self::topics).
    pub fn topic_names_and_types(&self) -> BTreeMap<String, Vec<String>> {
        self.topics().into_iter().map(|topic| (topic.name, topic.types)).collect()
    }

    /// Every topic known in the domain, with the nodes at its ends, sorted by name. Discovery takes some 0.1 s after the
    /// start of either process.
    pub fn topics(&self) -> Vec<TopicInfo> {
        topics(self.inner.participant.graph())
    }

    /// Fully qualified names of every node known in the domain, this one included, sorted.
    pub fn node_names(&self) -> Vec<String> {
        self.inner.participant.node_names()
    }

    /// Publishes a line on `/rosout`; lines of `tracing` go there by themselves after
    /// [`init_logging`](crate::init_logging).
    pub fn log(&self, severity: Severity, message: &str) {
        self.inner.rosout.publish(severity, message, ("", "", 0));
    }
}
