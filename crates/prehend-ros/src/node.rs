//! A node: where every endpoint is made.

use crate::action::{ActionTopics, ClientEnds, ServerEnds};
use crate::backend::{Caller, EndpointName, NodeKey, Participant, Reader, Responder, Sink};
use crate::graph::topics;
use crate::health::Counter;
use crate::logging::Rosout;
use crate::names::{Kind, Names};
use crate::severity::Severity;
use crate::sync::lock;
use crate::{
    ActionClient, ActionServer, Client, Clock, Context, Parameters, Publisher, QosProfile, RawPublisher,
    RawSubscription, RosArguments, RosError, ServiceMapping, ServiceServer, Subscription, TfBuffer,
    TopicHealth, TopicInfo,
};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::{Action, Message, Service};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use tokio::task::AbortHandle;

/// How a node starts.
#[derive(Clone, Debug, Default)]
pub struct NodeOptions {
    /// ROS parameter files (`--params-file`), later ones win.
    pub params_files: Vec<PathBuf>,
    /// `name:=value`, each wins over every file.
    pub overrides: Vec<String>,
    /// What the command line says after `--ros-args`; its parameters win over those above.
    pub arguments: RosArguments,
    /// Whether time comes from `/clock`; `None`: the parameter `use_sim_time`, else wall time.
    pub use_sim_time: Option<bool>,
    /// Whether time comes from `/clock` when neither `use_sim_time` nor the parameter says anything.
    pub sim_time_by_default: bool,
    /// How services are laid on DDS; `None`: the parameter `service_mapping` (`auto`, `enhanced` or `cyclone`), else the environment's
    /// `PREHEND_SERVICE_MAPPING`, else auto. A ROS 2 below chooses for itself.
    pub service_mapping: Option<ServiceMapping>,
}

/// A node of the graph; clones are the same node, which leaves the graph with the last of them.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
}

struct Inner {
    participant: Arc<Participant>,
    key: NodeKey,
    names: Names,
    parameters: Parameters,
    clock: Clock,
    rosout: Rosout,
    mapping: ServiceMapping,
    tf: OnceLock<TfBuffer>,
    making_tf: Mutex<()>,
    /// What answers for the node; ended with it.
    tasks: Mutex<Vec<AbortHandle>>,
    /// Counters of its publishers and subscriptions.
    counters: Mutex<Vec<Weak<Counter>>>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("name", &self.inner.names.node()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        lock(&self.tasks).iter().for_each(AbortHandle::abort);
        Rosout::detach(self.names.node());
        self.participant.remove_node(self.key);
    }
}

fn topic_name<T: Message>(topic: &str) -> Result<EndpointName, RosError> {
    EndpointName::of(topic, format!("{}/msg/{}", T::PACKAGE, T::NAME))
        .map(|named| named.laid_out_as(T::LAYOUT))
}

fn service_name<S: Service>(service: &str) -> Result<EndpointName, RosError> {
    EndpointName::of(service, format!("{}/srv/{}", S::PACKAGE, S::NAME))
        .map(|named| named.laid_out_as(S::LAYOUT))
}

/// The topic with its type as ROS writes it: `sensor_msgs/msg/Image`.
fn named_type(topic: &str, type_name: &str) -> Result<EndpointName, RosError> {
    let parts: Vec<&str> = type_name.split('/').collect();
    match parts.as_slice() {
        [package, kind, name] if ![package, kind, name].iter().any(|part| part.is_empty()) => {
            EndpointName::of(topic, type_name.to_owned())
        }
        _ => Err(RosError::InvalidName {
            name: type_name.to_owned(),
            reason: "a type is PACKAGE/msg/NAME".to_owned(),
        }),
    }
}

/// Goal status as rcl_action has it.
fn status_qos() -> QosProfile {
    QosProfile::transient_local()
}

impl Node {
    /// Makes node `name` in `namespace` (`""`, `/prehend`), reads its parameters and starts its clock and `/rosout`. The
    /// arguments may give it another name and namespace, and its topics and services, too.
    ///
    /// Errors: [`RosError::InvalidName`], [`RosError::Parameter`], [`RosError::Create`], [`RosError::Closed`].
    pub fn create(
        context: &Context,
        name: &str,
        namespace: &str,
        options: NodeOptions,
    ) -> Result<Self, RosError> {
        let names = Names::of_node(namespace, name, &options.arguments.remaps)?;
        let own_name = names.node().rsplit('/').next().unwrap_or(name);
        let files = [options.params_files, options.arguments.params_files.clone()].concat();
        let overrides = [options.overrides, options.arguments.params_of(own_name)].concat();
        let parameters = Parameters::load(names.node(), &files, &overrides)?;
        let sim_time = parameters.bool_or("use_sim_time", options.sim_time_by_default)?;
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
        parameters.describe("use_sim_time", "Whether time comes from /clock.");
        parameters.describe("service_mapping", "How services are laid on DDS: auto, enhanced or cyclone.");
        let participant = context.participant.clone();
        let key = participant.add_node(names.node())?;
        let made = Self::start(&participant, key, &names, sim_time);
        let (clock, rosout) = match made {
            Ok(made) => made,
            Err(error) => {
                participant.remove_node(key);
                return Err(error);
            }
        };
        if options.arguments.rosout_logs != Some(false) {
            rosout.attach();
        }
        let (tf, making_tf) = (OnceLock::new(), Mutex::new(()));
        let (tasks, counters) = (Mutex::default(), Mutex::default());
        let inner = Inner {
            participant,
            key,
            names,
            parameters,
            clock,
            rosout,
            mapping,
            tf,
            making_tf,
            tasks,
            counters,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    fn start(
        participant: &Arc<Participant>,
        key: NodeKey,
        names: &Names,
        sim_time: bool,
    ) -> Result<(Clock, Rosout), RosError> {
        let clock = if sim_time {
            let clock = names.resolve(Kind::Topic, "/clock");
            let topic = topic_name::<prehend_msgs::rosgraph_msgs::msg::Clock>(&clock)?;
            Clock::simulated(|sink| {
                participant.reader(key, &topic, QosProfile::sensor_data().depth(1), sink)
            })?
        } else {
            Clock::wall()
        };
        let rosout = names.resolve(Kind::Topic, "/rosout");
        let topic = topic_name::<prehend_msgs::rcl_interfaces::msg::Log>(&rosout)?;
        let writer = participant.writer(key, &topic, QosProfile::transient_local().depth(1000))?;
        let publisher = Publisher::new(&rosout, writer);
        Ok((clock.clone(), Rosout { publisher, node: names.node().to_owned(), clock }))
    }

    /// `/namespace/name`.
    pub fn fully_qualified_name(&self) -> &str {
        self.inner.names.node()
    }

    /// The absolute name of the topic that this node calls `topic`, after remapping.
    pub fn resolve_topic(&self, topic: &str) -> String {
        self.inner.names.resolve(Kind::Topic, topic)
    }

    /// The absolute name of the service that this node calls `service`, after remapping.
    pub fn resolve_service(&self, service: &str) -> String {
        self.inner.names.resolve(Kind::Service, service)
    }

    /// The absolute name of the action that this node calls `action`, after remapping.
    pub fn resolve_action(&self, action: &str) -> String {
        self.inner.names.resolve(Kind::Action, action)
    }

    /// The domain the node is in.
    pub fn domain_id(&self) -> u16 {
        self.inner.participant.domain_id()
    }

    fn reader(&self, named: &EndpointName, qos: QosProfile, sink: Sink) -> Result<Reader, RosError> {
        self.inner.participant.reader(self.inner.key, named, qos, sink)
    }

    /// Subscribes to `topic` (`/a/b`; `b` in the node's namespace; `~/b` below the node). Make it once and keep it.
    ///
    /// Errors, here and below: [`RosError::InvalidName`], [`RosError::Create`], [`RosError::Closed`].
    pub fn subscribe<T: Message>(&self, topic: &str, qos: QosProfile) -> Result<Subscription<T>, RosError> {
        let topic = &self.resolve_topic(topic);
        let named = topic_name::<T>(topic)?;
        let made = Subscription::new(topic, qos, |sink| self.reader(&named, qos, sink))?;
        self.watch(made.counter());
        Ok(made)
    }

    /// Makes a publisher on `topic`. Make it once and clone it.
    pub fn create_publisher<T: Message>(
        &self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<Publisher<T>, RosError> {
        let topic = &self.resolve_topic(topic);
        let named = topic_name::<T>(topic)?;
        let made = Publisher::new(topic, self.inner.participant.writer(self.inner.key, &named, qos)?);
        self.watch(made.counter());
        Ok(made)
    }

    fn watch(&self, counter: &Arc<Counter>) {
        let mut counters = lock(&self.inner.counters);
        counters.retain(|counter| counter.strong_count() > 0);
        counters.push(Arc::downgrade(counter));
    }

    /// How the publishers and subscriptions that were made of this node are doing.
    pub fn topic_health(&self) -> Vec<TopicHealth> {
        let counters: Vec<_> = lock(&self.inner.counters).iter().filter_map(Weak::upgrade).collect();
        counters.iter().map(|counter| counter.health()).collect()
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
        let topic = &self.resolve_topic(topic);
        let named = named_type(topic, type_name)?;
        RawSubscription::new(topic, qos, |sink| self.reader(&named, qos, sink))
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
        let topic = &self.resolve_topic(topic);
        let named = named_type(topic, type_name)?;
        Ok(RawPublisher::new(topic, self.inner.participant.writer(self.inner.key, &named, qos)?))
    }

    /// What each publisher of `topic` (`/a/b`) offers, as far as discovery tells: the depth it does not tell is 0.
    ///
    /// Errors: [`RosError::InvalidName`].
    pub fn offered_qos(&self, topic: &str) -> Result<Vec<QosProfile>, RosError> {
        let named = EndpointName::of(&self.resolve_topic(topic), String::new())?;
        Ok(self.inner.participant.offered_qos(&named))
    }

    fn caller(&self, name: &str, named: &EndpointName, qos: QosProfile) -> Result<Caller, RosError> {
        Caller::new(&self.inner.participant, self.inner.key, name.to_owned(), named, qos, self.inner.mapping)
    }

    fn responder(
        &self,
        named: &EndpointName,
        qos: QosProfile,
        sink: Box<dyn Fn(crate::backend::Incoming) + Send + Sync>,
    ) -> Result<Responder, RosError> {
        Responder::new(&self.inner.participant, self.inner.key, named, qos, self.inner.mapping, sink)
    }

    /// Makes a client of `service`; use [`QosProfile::services`]. Make it once and clone it.
    pub fn create_client<S: Service>(&self, service: &str, qos: QosProfile) -> Result<Client<S>, RosError> {
        let service = &self.resolve_service(service);
        let named = service_name::<S>(service)?;
        Ok(Client::new(self.caller(service, &named, qos)?))
    }

    /// Offers `service`; use [`QosProfile::services`].
    pub fn create_service<S: Service>(
        &self,
        service: &str,
        qos: QosProfile,
    ) -> Result<ServiceServer<S>, RosError> {
        let service = &self.resolve_service(service);
        let named = service_name::<S>(service)?;
        ServiceServer::new(service, |sink| self.responder(&named, qos, sink))
    }

    /// Makes a client of `action`. Make it once and clone it.
    pub fn create_action_client<A: Action>(&self, action: &str) -> Result<ActionClient<A>, RosError> {
        let action = &self.resolve_action(action);
        let topics = ActionTopics::of::<A>(action)?;
        let qos = QosProfile::services();
        let ends = ClientEnds {
            name: action.to_owned(),
            participant: self.inner.participant.clone(),
            send_goal: self.caller(action, &topics.send_goal, qos)?,
            cancel: self.caller(action, &topics.cancel, qos)?,
            result: self.caller(action, &topics.result, qos)?,
        };
        // A burst of feedback must not fall out unread.
        let feedback_qos = QosProfile::default().depth(512);
        ActionClient::new(ends, |feedback, status| {
            let feedback = self.reader(&topics.feedback, feedback_qos, feedback)?;
            Ok((feedback, self.reader(&topics.status, status_qos(), status)?))
        })
    }

    /// Offers `action`.
    pub fn create_action_server<A: Action>(&self, action: &str) -> Result<ActionServer<A>, RosError> {
        let action = &self.resolve_action(action);
        let topics = ActionTopics::of::<A>(action)?;
        let participant = &self.inner.participant;
        let ends = ServerEnds {
            name: action.to_owned(),
            participant: participant.clone(),
            clock: self.inner.clock.clone(),
            feedback: participant.writer(self.inner.key, &topics.feedback, QosProfile::default())?,
            status: participant.writer(self.inner.key, &topics.status, status_qos())?,
        };
        let qos = QosProfile::services();
        ActionServer::new(ends, |[goal, cancel, result]| {
            Ok([
                self.responder(&topics.send_goal, qos, goal)?,
                self.responder(&topics.cancel, qos, cancel)?,
                self.responder(&topics.result, qos, result)?,
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

    /// Ends a task when the node goes.
    pub(crate) fn end_with_node(&self, task: AbortHandle) {
        lock(&self.inner.tasks).push(task);
    }

    /// The node's transforms; subscribes to `/tf` and `/tf_static` at the first call.
    ///
    /// Errors: [`RosError::Create`], [`RosError::Closed`].
    pub fn tf(&self) -> Result<TfBuffer, RosError> {
        let _one_at_a_time = lock(&self.inner.making_tf);
        if let Some(buffer) = self.inner.tf.get() {
            return Ok(buffer.clone());
        }
        let topic = |name| topic_name::<prehend_msgs::tf2_msgs::msg::TFMessage>(&self.resolve_topic(name));
        let (moving, fixed) = (topic("/tf")?, topic("/tf_static")?);
        // The next sample heals a lost one; a reliable reader that waits for it hears nothing meanwhile.
        let streamed = QosProfile::default().best_effort().depth(100);
        let counter = Arc::new(Counter::subscription(&self.resolve_topic("/tf"), streamed));
        let buffer = TfBuffer::new(&self.inner.clock, |moving_sink, fixed_sink| {
            let counted = counter.clone();
            let counting = move |sample| {
                counted.count();
                moving_sink(sample);
            };
            Ok([
                self.reader(&moving, streamed, Arc::new(counting))?,
                self.reader(&fixed, QosProfile::transient_local().depth(100), fixed_sink)?,
            ])
        })?;
        self.watch(&counter);
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
