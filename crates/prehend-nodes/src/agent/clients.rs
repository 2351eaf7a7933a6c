//! The other nodes, seen from the agent: what is asked of them, what is heard of them, and what is told to all.

use crate::follow::follow_map;
use futures::StreamExt;
use nalgebra::Vector3;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteSkill, GoTo};
use prehend_msgs::prehend_interfaces::msg::{GoalPlan, StopState, SymbolicState as StateMsg};
use prehend_msgs::prehend_interfaces::srv::{QueryMemory, RetrieveObjects, UpdateMap};
use prehend_robots::robot::Navigation;
use prehend_robots::shell::Shell;
use prehend_ros::{ActionClient, Client, Node, Publisher, QosProfile, RosError, TfBuffer};
use prehend_scene::{ObjectMap, SymbolicState};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::watch;

/// The other nodes, seen from here.
#[derive(Clone)]
pub(super) struct Clients {
    pub(super) update: Client<UpdateMap::Service>,
    pub(super) retrieve: Client<RetrieveObjects::Service>,
    pub(super) memory: Client<QueryMemory::Service>,
    pub(super) affordance: Arc<ActionClient<DetectAffordance::Action>>,
    pub(super) skills: Arc<ActionClient<ExecuteSkill::Action>>,
    pub(super) map: watch::Receiver<Option<Arc<ObjectMap>>>,
    pub(super) in_hand: watch::Receiver<Option<Arc<ObjectMap>>>,
    /// On a robot that drives.
    pub(super) driving: Option<Driving>,
    pub(super) stop: watch::Receiver<Option<String>>,
    states: States,
    pub(super) plans: Publisher<GoalPlan>,
}

impl Clients {
    /// Joins them.
    ///
    /// Errors: those of the middleware.
    pub(super) fn new(shell: &Shell) -> Result<Self, RosError> {
        let services = QosProfile::services();
        let ros = &shell.node;
        Ok(Self {
            update: ros.create_client(names::OBJECT_MAP_UPDATE, services)?,
            retrieve: ros.create_client(names::OBJECT_MAP_RETRIEVE, services)?,
            memory: ros.create_client(names::MEMORY_QUERY, services)?,
            affordance: Arc::new(ros.create_action_client(names::DETECT_AFFORDANCE)?),
            skills: Arc::new(ros.create_action_client(names::EXECUTE_SKILL)?),
            map: follow_map(ros, names::OBJECT_MAP)?,
            in_hand: follow_map(ros, names::IN_HAND)?,
            driving: match &shell.robot.navigation {
                Some(navigation) => Some(Driving::new(ros, navigation)?),
                None => None,
            },
            stop: follow_stop(ros)?,
            plans: ros.create_publisher(names::GOAL_PLAN, QosProfile::transient_local())?,
            states: States {
                publisher: ros.create_publisher(names::STATE, QosProfile::transient_local())?,
                node: ros.clone(),
                frame: shell.robot.frames.base.clone(),
            },
        })
    }

    /// Tells everybody the state of the agent.
    pub(super) fn tell_state(&self, state: &SymbolicState, goal_id: &str) {
        let States { publisher, node, frame } = &self.states;
        let mut message = convert::state_to_msg(state, frame, convert::seconds(&node.now()));
        message.goal_id = goal_id.to_owned();
        message.stopped = self.stop.borrow().is_some();
        if let Err(error) = publisher.publish(&message) {
            tracing::warn!("state not published: {error}");
        }
    }
}

/// What the agent has of a robot that drives.
#[derive(Clone)]
pub(super) struct Driving {
    pub(super) go_to: Arc<ActionClient<GoTo::Action>>,
    pub(super) room: watch::Receiver<Option<Arc<ObjectMap>>>,
    tf: TfBuffer,
    frame: String,
    base: String,
    /// The map of the room comes from visits alone.
    pub(super) partial: Arc<AtomicBool>,
}

impl Driving {
    /// Joins go_to and the map of the room.
    fn new(node: &Node, navigation: &Navigation) -> Result<Self, RosError> {
        Ok(Self {
            go_to: Arc::new(node.create_action_client(names::GO_TO)?),
            room: follow_map(node, names::ROOM_MAP)?,
            tf: node.tf()?,
            frame: navigation.frame.clone(),
            base: navigation.base.clone(),
            partial: Arc::default(),
        })
    }

    /// Where the base is, in the frame of the map of the room: x, y, and how far it is turned, radians.
    pub(super) fn base_pose(&self) -> Option<[f64; 3]> {
        let Self { tf, frame, base, .. } = self;
        let pose = tf.lookup(frame, base, &Default::default()).ok()?.isometry();
        let forward = pose.rotation * Vector3::x();
        Some([pose.translation.x, pose.translation.y, forward.y.atan2(forward.x)])
    }
}

/// Where the agent's state is told.
#[derive(Clone)]
struct States {
    publisher: Publisher<StateMsg>,
    node: Node,
    frame: String,
}

/// Keeps why the stop is latched, when it is.
fn follow_stop(node: &Node) -> Result<watch::Receiver<Option<String>>, RosError> {
    let mut states = node.subscribe::<StopState>(names::STOP_STATE, QosProfile::transient_local())?;
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        while let Some(state) = states.next().await {
            sender.send_replace(state.engaged.then_some(state.reason));
        }
    });
    Ok(receiver)
}
