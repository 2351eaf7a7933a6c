//! This process's place in the graph: what it hears, and the calls a user can make.

use crate::node::NodeName;
use futures::StreamExt;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteGoal, ExecuteSkill, GoTo};
use prehend_msgs::prehend_interfaces::msg::{Heartbeat, ObjectMap, StopState, SymbolicState, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{
    CheckOutcome, Describe, Gate, GetObject, QueryMemory, RedeemPermit, RetrieveObjects, Stop, SubmitGoal,
    UpdateMap,
};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_msgs::{Message, Service, moveit_msgs, moveit_msgs_humble, names};
use prehend_robots::RobotConfig;
use prehend_robots::nav2::Lifecycle;
use prehend_robots::robot::{Distribution, Navigation};
use prehend_ros::{Context, Node, NodeOptions, QosProfile, RosArguments, RosError, Subscription, TfBuffer};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// A node is not heard any more when it was silent for longer.
pub const SILENCE: Duration = Duration::from_secs(2);
/// Wall time between two questions to a navigator that is not active.
const NAVIGATOR_PERIOD: Duration = Duration::from_millis(300);
/// Longest time a description may take.
const DESCRIBE_DEADLINE: Duration = Duration::from_secs(30);
/// Longest time a call to stop may take.
const STOP_DEADLINE: Duration = Duration::from_secs(2);

/// One node as last heard.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// Differs between lives of a process.
    pub incarnation: u64,
    /// When it was heard.
    pub heard: Instant,
}

/// A service that must be there, and who offers it.
struct Needed {
    owner: NodeName,
    name: String,
    available: Box<dyn Fn() -> bool + Send + Sync>,
}

/// What this process hears of a graph, and its calls into it.
pub struct Observer {
    /// This process's ROS node.
    pub node: Node,
    /// Trace of all nodes.
    pub trace: Subscription<TraceEvent>,
    /// The agent's state, once heard.
    pub state: watch::Receiver<Option<SymbolicState>>,
    /// The object map, once heard.
    pub map: watch::Receiver<Option<ObjectMap>>,
    /// The stop latch, once heard.
    pub stopped: watch::Receiver<Option<StopState>>,
    /// The camera's parameters, once heard.
    pub camera_info: watch::Receiver<Option<CameraInfo>>,
    /// Submits goals.
    pub goal: prehend_ros::Client<SubmitGoal::Service>,
    /// Transforms, for drawing.
    pub tf: TfBuffer,
    stop: prehend_ros::Client<Stop::Service>,
    lives: Arc<Mutex<HashMap<String, Life>>>,
    needed: Vec<Needed>,
    context: Context,
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("node", &self.node).finish_non_exhaustive()
    }
}

/// The newest sample of a topic.
fn newest<T: Message>(
    node: &Node,
    topic: &str,
    qos: QosProfile,
) -> Result<watch::Receiver<Option<T>>, RosError> {
    let mut samples = node.subscribe::<T>(topic, qos)?;
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = sender.closed() => return,
                sample = samples.next() => match sample {
                    Some(sample) => drop(sender.send_replace(Some(sample))),
                    None => return,
                },
            }
        }
    });
    Ok(receiver)
}

impl Observer {
    /// Joins domain `domain_id` as a node of its own, in the namespace and with the names that `arguments` give the nodes of
    /// the graph.
    ///
    /// Errors: [`RosError`] of the middleware.
    pub fn join(domain_id: u16, robot: &RobotConfig, arguments: &RosArguments) -> Result<Self, RosError> {
        let context = Context::create_in_domain(domain_id)?;
        let name = format!("prehend_{}", std::process::id());
        let options = NodeOptions {
            use_sim_time: Some(true),
            arguments: arguments.for_observer(),
            ..Default::default()
        };
        let node = Node::create(&context, &name, names::NAMESPACE, options)?;
        let trace = node.subscribe(names::TRACE, QosProfile::default().depth(2000))?;
        let goal = node.create_client::<SubmitGoal::Service>(names::GOAL, QosProfile::services())?;
        let stop = node.create_client::<Stop::Service>(names::STOP, QosProfile::services())?;
        let lives = hear_heartbeats(&node)?;
        let mut needed = needed(&node, robot, &goal, &stop)?;
        if let Some(navigation) = &robot.navigation {
            needed.push(navigator(&node, navigation)?);
        }
        Ok(Self {
            trace,
            state: newest(&node, names::STATE, QosProfile::transient_local())?,
            map: newest(&node, names::OBJECT_MAP, QosProfile::transient_local())?,
            stopped: newest(&node, names::STOP_STATE, QosProfile::transient_local())?,
            camera_info: newest(&node, &robot.camera.info, QosProfile::sensor_data())?,
            goal,
            tf: node.tf()?,
            stop,
            lives,
            needed,
            node,
            context,
        })
    }

    /// The ROS domain.
    pub fn domain_id(&self) -> u16 {
        self.context.domain_id()
    }

    /// The namespace in which the graph is looked for.
    pub fn namespace(&self) -> &str {
        match self.node.fully_qualified_name().rsplit_once('/') {
            Some(("", _)) | None => "/",
            Some((namespace, _)) => namespace,
        }
    }

    /// The newest sample of a latched topic of the graph.
    ///
    /// Errors: [`RosError`] of the subscription.
    pub fn latched<T: Message>(&self, topic: &str) -> Result<watch::Receiver<Option<T>>, RosError> {
        newest(&self.node, topic, QosProfile::transient_local())
    }

    /// What the newest sample of a topic comes to, heard with each of the `qos`: who asks for what was is not served by those who publish for
    /// now only, and who does not ask does not hear it. `read` gives nothing for a sample that is not to be kept.
    ///
    /// Errors: [`RosError`] of the subscriptions.
    pub fn follow<T: Message, V: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: &[QosProfile],
        read: impl Fn(T) -> Option<V> + Send + 'static,
    ) -> Result<watch::Receiver<Option<V>>, RosError> {
        let heard: Result<Vec<_>, _> = qos.iter().map(|qos| self.node.subscribe::<T>(topic, *qos)).collect();
        let mut samples = futures::stream::select_all(heard?);
        let (sender, receiver) = watch::channel(None);
        tokio::spawn(async move {
            loop {
                let sample = tokio::select! {
                    () = sender.closed() => return,
                    sample = samples.next() => sample,
                };
                let Some(sample) = sample else { return };
                if let Some(value) = read(sample) {
                    sender.send_replace(Some(value));
                }
            }
        });
        Ok(receiver)
    }

    /// Waits until somebody offers to stop the robot; whether somebody does.
    pub async fn wait_for_stop_service(&self, deadline: Duration) -> bool {
        self.stop.wait_available(deadline).await.is_ok()
    }

    /// A node as last heard; `None` before it was.
    pub fn life(&self, name: &str) -> Option<Life> {
        self.lives.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
    }

    /// Whether a node was heard within [`SILENCE`].
    pub fn alive(&self, name: &str) -> bool {
        self.life(name).is_some_and(|life| life.heard.elapsed() < SILENCE)
    }

    /// What is not heard of a node, in words; empty when it is there.
    fn unheard(&self, node: NodeName) -> Vec<String> {
        let name = node.name();
        if node != NodeName::Sim {
            return if self.alive(name) { Vec::new() } else { vec![name.to_owned()] };
        }
        let heard =
            [("clock", self.node.clock().is_ticking()), ("camera", self.camera_info.borrow().is_some())];
        heard.into_iter().filter(|(_, heard)| !heard).map(|(what, _)| format!("{name} ({what})")).collect()
    }

    /// Whether one of `nodes` is not heard: its process hangs, or is not there.
    pub fn misses_a_node(&self, nodes: &[NodeName]) -> bool {
        nodes.iter().any(|node| !self.unheard(*node).is_empty())
    }

    /// What of `nodes` is not ready yet, in words.
    pub fn missing(&self, nodes: &[NodeName]) -> Vec<String> {
        let mut missing = Vec::new();
        for &node in nodes {
            let unheard = self.unheard(node);
            if unheard.is_empty()
                && let Some(needed) = self.needed.iter().find(|n| n.owner == node && !(n.available)())
            {
                missing.push(format!("{} ({})", node.name(), needed.name));
            }
            missing.extend(unheard);
        }
        missing
    }

    /// Asks the describer about a thing; `None` when there is none in the graph.
    ///
    /// Errors: the cause, when it does not answer.
    pub async fn describe(&self, object: &str, adaptive: bool) -> Result<Option<Describe::Response>, String> {
        if !self.alive(NodeName::Describer.name()) {
            return Ok(None);
        }
        let client = self.node.create_client::<Describe::Service>(names::DESCRIBE, QosProfile::services());
        let client = client.map_err(|error| error.to_string())?;
        client.wait_available(DESCRIBE_DEADLINE).await.map_err(|error| error.to_string())?;
        let request = Describe::Request { object: object.to_owned(), adaptive };
        client.request(request, DESCRIBE_DEADLINE).await.map(Some).map_err(|error| error.to_string())
    }

    /// Engages or clears the stop; gives what was answered.
    ///
    /// Errors: the cause, when nobody confirmed.
    pub async fn set_stop(&self, engage: bool, reason: &str) -> Result<String, String> {
        let request = Stop::Request { engage, reason: reason.to_owned() };
        let answer = match engage {
            true => self.stop.insist(request, STOP_DEADLINE).await,
            false => self.stop.request(request, STOP_DEADLINE).await,
        };
        match answer {
            Ok(answer) if answer.success => Ok(answer.message),
            Ok(answer) => Err(answer.message),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Engages the stop as far as anybody listens: for the way out.
    pub async fn stop_robot(&self, reason: &str) {
        if self.alive(NodeName::Skills.name())
            && let Err(error) = self.set_stop(true, reason).await
        {
            tracing::warn!("the stop was not confirmed: {error}");
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.context.shutdown();
    }
}

fn hear_heartbeats(node: &Node) -> Result<Arc<Mutex<HashMap<String, Life>>>, RosError> {
    let lives: Arc<Mutex<HashMap<String, Life>>> = Arc::default();
    let mut beats =
        node.subscribe::<Heartbeat>(names::HEARTBEAT, QosProfile::default().best_effort().depth(50))?;
    let heard = Arc::downgrade(&lives);
    tokio::spawn(async move {
        while let Some(beat) = beats.next().await {
            let Some(lives) = heard.upgrade() else { return };
            let life = Life { incarnation: beat.incarnation, heard: Instant::now() };
            lives.lock().unwrap_or_else(PoisonError::into_inner).insert(beat.node, life);
        }
    });
    Ok(lives)
}

fn service<S: Service>(node: &Node, owner: NodeName, name: &str) -> Result<Needed, RosError> {
    let client = node.create_client::<S>(name, QosProfile::services())?;
    Ok(Needed { owner, name: node.resolve_service(name), available: Box::new(move || client.is_available()) })
}

/// Nav2, once it is active: that of the simulated robot, or a real one in its place.
fn navigator(node: &Node, navigation: &Navigation) -> Result<Needed, RosError> {
    let lifecycle = Lifecycle::new(node, navigation)?;
    let active = Arc::new(AtomicBool::new(false));
    let told = Arc::downgrade(&active);
    tokio::spawn(async move {
        while let Some(active) = told.upgrade() {
            if lifecycle.is_active().await {
                active.store(true, Ordering::Relaxed);
                return;
            }
            drop(active);
            tokio::time::sleep(NAVIGATOR_PERIOD).await;
        }
    });
    let name = format!("{} is not active", navigation.navigator);
    Ok(Needed { owner: NodeName::Sim, name, available: Box::new(move || active.load(Ordering::Relaxed)) })
}

fn needed(
    node: &Node,
    robot: &RobotConfig,
    goal: &prehend_ros::Client<SubmitGoal::Service>,
    stop: &prehend_ros::Client<Stop::Service>,
) -> Result<Vec<Needed>, RosError> {
    let (goal, stop) = (goal.clone(), stop.clone());
    let affordance = node.create_action_client::<DetectAffordance::Action>(names::DETECT_AFFORDANCE)?;
    let skill = node.create_action_client::<ExecuteSkill::Action>(names::EXECUTE_SKILL)?;
    let execute = node.create_action_client::<ExecuteGoal::Action>(names::EXECUTE_GOAL)?;
    let go_to = node.create_action_client::<GoTo::Action>(names::GO_TO)?;
    let path = &robot.moveit.cartesian_path;
    Ok(vec![
        match robot.moveit.distribution {
            Distribution::Jazzy => {
                service::<moveit_msgs::srv::GetCartesianPath::Service>(node, NodeName::Sim, path)?
            }
            Distribution::Humble => {
                service::<moveit_msgs_humble::srv::GetCartesianPath::Service>(node, NodeName::Sim, path)?
            }
        },
        service::<UpdateMap::Service>(node, NodeName::ObjectMap, names::OBJECT_MAP_UPDATE)?,
        service::<RetrieveObjects::Service>(node, NodeName::ObjectMap, names::OBJECT_MAP_RETRIEVE)?,
        service::<GetObject::Service>(node, NodeName::ObjectMap, names::OBJECT_MAP_GET_OBJECT)?,
        service::<Gate::Service>(node, NodeName::Verifier, names::VERIFIER_GATE)?,
        service::<RedeemPermit::Service>(node, NodeName::Verifier, names::VERIFIER_REDEEM)?,
        service::<CheckOutcome::Service>(node, NodeName::Verifier, names::VERIFIER_CHECK_OUTCOME)?,
        service::<QueryMemory::Service>(node, NodeName::Memory, names::MEMORY_QUERY)?,
        service::<Describe::Service>(node, NodeName::Describer, names::DESCRIBE)?,
        Needed {
            owner: NodeName::Affordance,
            name: node.resolve_action(names::DETECT_AFFORDANCE),
            available: Box::new(move || affordance.is_available()),
        },
        Needed {
            owner: NodeName::Skills,
            name: node.resolve_action(names::EXECUTE_SKILL),
            available: Box::new(move || skill.is_available()),
        },
        Needed {
            owner: NodeName::Skills,
            name: node.resolve_service(names::STOP),
            available: Box::new(move || stop.is_available()),
        },
        Needed {
            owner: NodeName::GoTo,
            name: node.resolve_action(names::GO_TO),
            available: Box::new(move || go_to.is_available()),
        },
        Needed {
            owner: NodeName::Agent,
            name: node.resolve_action(names::EXECUTE_GOAL),
            available: Box::new(move || execute.is_available()),
        },
        Needed {
            owner: NodeName::Agent,
            name: node.resolve_service(names::GOAL),
            available: Box::new(move || goal.is_available()),
        },
    ])
}
