//! What every node has in common: start, trace, heartbeat, peers, life and end.

mod bond;
mod claim;
mod diagnostics;
mod life;
mod limits;

pub use diagnostics::CLOCK_TICKS;
pub use life::Work;

use crate::RobotConfig;
use claim::{Hold, TwinWatch};
use life::Life as NodeLife;
use prehend_config::Findings;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{Heartbeat, TraceEvent};
use prehend_ros::{Context, Node, Publisher, QosProfile, RosArguments, RosError, Subscription};
use prehend_scene::Reason;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::StreamExt;
use tokio::sync::watch;

/// Last part of the topic on which is claimed what an action moves.
const CLAIM: &str = "/prehend_holder";

/// Period of the heartbeat, wall clock.
pub const HEARTBEAT_PERIOD: Duration = Duration::from_millis(100);

/// How a node process is started.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The robot file; relative paths are looked up in the share folder.
    pub robot: PathBuf,
    /// Scene file and seed, for the embedded robot.
    pub scene: Option<PathBuf>,
    /// Seed of the scene and of the sensors' noise.
    pub seed: u64,
    /// Simulated seconds per wall second; 0 = as fast as the machine can, 10 at most.
    pub speed: f64,
    /// ROS parameter files, later ones win.
    pub params_files: Vec<PathBuf>,
    /// `name:=value` parameters, each wins over every file.
    pub overrides: Vec<String>,
    /// What stands after `--ros-args`: names, namespace, parameters; these win over the ones above.
    pub arguments: RosArguments,
    /// Whether time comes from `/clock` unless the parameter `use_sim_time` says otherwise; `false`: never.
    pub use_sim_time: bool,
    /// Whether the end of stdin means that the parent is gone.
    pub watch_stdin: bool,
}

impl Default for NodeOptions {
    fn default() -> Self {
        Self {
            robot: PathBuf::from("config/robots/xarm6.yaml"),
            scene: None,
            seed: 0,
            speed: 1.0,
            params_files: Vec::new(),
            overrides: Vec::new(),
            arguments: RosArguments::default(),
            use_sim_time: true,
            watch_stdin: false,
        }
    }
}

/// Why a node ended otherwise than asked.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The middleware failed.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// A configuration file is wrong.
    #[error("{0}")]
    Config(#[from] Findings),
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] prehend_ros::ParameterError),
    /// Another node of the same name has been active for longer.
    #[error(
        "another node is {twin} already: end that one, or give this one another namespace (--ros-args -r __ns:=/NAME/prehend) \
         or another ROS_DOMAIN_ID"
    )]
    Twin {
        /// Its name, which is ours.
        twin: String,
    },
    /// The robot's model or the scene cannot be used.
    #[error("cannot start {node}: {reason}")]
    Start {
        /// The node.
        node: &'static str,
        /// What is wrong, and what to do.
        reason: String,
    },
}

/// Why a node must not move the robot, although it could.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Bar {
    /// It is not active.
    #[error("the node is not active: its lifecycle has to activate it")]
    Inactive,
    /// Another Prehend moves it.
    #[error("the robot is held by {0}")]
    Held(String),
    /// It has not listened for long enough to know that no other Prehend moves it.
    #[error("it is not known yet whether another Prehend holds the robot")]
    Unsettled,
}

impl Bar {
    /// The reason, as every node knows it.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Inactive => Reason::Stopped,
            Self::Held(_) | Self::Unsettled => Reason::Busy,
        }
    }
}

/// A running node: its ROS node, its robot, and what it tells the others; clones are the same.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The ROS node.
    pub node: Node,
    /// The robot.
    pub robot: RobotConfig,
    /// Publisher of trace lines.
    pub trace: Trace,
    /// Liveness of the other nodes.
    pub peers: Peers,
    motion_active: Arc<AtomicBool>,
    life: Arc<NodeLife>,
    incarnation: u64,
    /// Since when others are heard.
    listening: Instant,
    _leaving: Arc<Leaving>,
}

/// Leaves the domain with the last clone of the shell: tasks hold endpoints until the runtime ends, which may be after the
/// process, and its peers would list the node on.
#[derive(Debug)]
struct Leaving(Context);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.shutdown();
    }
}

impl Shell {
    /// Starts node `name`: reads the robot file, joins the graph, begins its heartbeat.
    pub async fn start(name: &'static str, options: &NodeOptions) -> Result<Self, NodeError> {
        // First: a signal that comes during the start ends the node as one that comes later does.
        let life = NodeLife::new();
        let signal = prehend_ros::shutdown_signal(options.watch_stdin);
        let ends = Arc::clone(&life);
        tokio::spawn(async move {
            let _ = signal.await;
            ends.ending.send_replace(true);
        });
        let robot = RobotConfig::load(&options.robot)?;
        let context = Context::create()?;
        let node = Node::create(
            &context,
            name,
            names::NAMESPACE,
            prehend_ros::NodeOptions {
                params_files: options.params_files.clone(),
                overrides: options.overrides.clone(),
                arguments: options.arguments.clone(),
                use_sim_time: (!options.use_sim_time).then_some(false),
                sim_time_by_default: true,
                ..Default::default()
            },
        )?;
        let trace = Trace {
            node: node.clone(),
            name,
            publisher: node.create_publisher(names::TRACE, QosProfile::default().depth(200))?,
        };
        limits::show(&node, &robot, &RobotConfig::file(&options.robot))?;
        node.serve_parameters()?;
        let beating = Beating { name, incarnation: incarnation(), sequence: Arc::default() };
        let peers = Peers::new(
            node.subscribe(names::HEARTBEAT, QosProfile::default().best_effort().depth(50))?,
            Duration::from_secs_f64(robot.limits.peer_silence),
            (node.fully_qualified_name(), beating.clone()),
            &life,
        );
        let listening = Instant::now();
        let motion_active = Arc::new(AtomicBool::new(false));
        let publisher = node.create_publisher(names::HEARTBEAT, QosProfile::default().depth(1))?;
        let incarnation = beating.incarnation;
        tokio::spawn(beat(beating, publisher, Arc::clone(&motion_active), life.active.subscribe()));
        tokio::spawn(diagnostics::report(
            node.clone(),
            robot.name.clone(),
            node.create_publisher("/diagnostics", QosProfile::default())?,
            peers.clone(),
            Arc::clone(&life),
            node.resolve_topic(names::HEARTBEAT),
        ));
        Ok(Self {
            node,
            robot,
            trace,
            peers,
            motion_active,
            life,
            incarnation,
            listening,
            _leaving: Arc::new(Leaving(context)),
        })
    }

    /// Tells the others whether this node is moving the robot.
    pub fn set_motion_active(&self, active: bool) {
        self.motion_active.store(active, Ordering::Relaxed);
    }

    /// Claims what the action `action` moves, against every other Prehend that sends it goals.
    ///
    /// Errors: [`RosError`] of the middleware.
    pub fn claim(&self, action: &str) -> Result<(), RosError> {
        let topic = format!("{}{CLAIM}", self.node.resolve_action(action));
        let claims = self.node.create_publisher(&topic, QosProfile::default().depth(1))?;
        let others = self.node.subscribe(&topic, QosProfile::default().best_effort().depth(20))?;
        let name = self.node.fully_qualified_name().to_owned();
        let hold = self.peers.hold.clone();
        hold.send_replace(Hold::Listening);
        tokio::spawn(claim::claim(name, self.incarnation, claims, others, self.activity(), hold));
        Ok(())
    }
}

/// A number that differs between lives of a process.
pub fn incarnation() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_nanos() as u64) ^ (u64::from(std::process::id()) << 48)
}

/// A node's own heartbeat.
#[derive(Clone, Debug)]
struct Beating {
    name: &'static str,
    incarnation: u64,
    /// Beats since the node is active.
    sequence: Arc<AtomicU64>,
}

/// Beats while the node is active.
async fn beat(
    beating: Beating,
    publisher: Publisher<Heartbeat>,
    motion_active: Arc<AtomicBool>,
    mut active: watch::Receiver<bool>,
) {
    let mut interval = tokio::time::interval(HEARTBEAT_PERIOD);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        if active.wait_for(|active| *active).await.is_err() {
            return;
        }
        interval.tick().await;
        if !*active.borrow() {
            beating.sequence.store(0, Ordering::Relaxed);
            continue;
        }
        let beat = Heartbeat {
            node: beating.name.to_owned(),
            incarnation: beating.incarnation,
            sequence: beating.sequence.fetch_add(1, Ordering::Relaxed) + 1,
            motion_active: motion_active.load(Ordering::Relaxed),
        };
        match publisher.publish(&beat) {
            Ok(()) => {}
            Err(RosError::Closed) => return,
            Err(error) => tracing::warn!("heartbeat not sent: {error}"),
        }
    }
}

/// Publishes trace lines of one node.
#[derive(Clone, Debug)]
pub struct Trace {
    node: Node,
    name: &'static str,
    publisher: Publisher<TraceEvent>,
}

impl Trace {
    /// Publishes one line. `kind` is one of the constants of `TraceEvent`; `data` must not hold secrets.
    pub fn event(
        &self,
        goal_id: &str,
        kind: &str,
        name: &str,
        status: &str,
        message: impl Into<String>,
        data: serde_json::Value,
    ) {
        let event = TraceEvent {
            stamp: self.node.now(),
            goal_id: goal_id.to_owned(),
            node: self.name.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            status: status.to_owned(),
            message: message.into(),
            duration: 0.0,
            data: data.to_string(),
        };
        // Messages tell what was asked for, which is nobody's business by default.
        tracing::info!("{} {} {}", event.kind, event.name, event.status);
        tracing::debug!("{} {} {}: {}", event.kind, event.name, event.status, event.message);
        if let Err(error) = self.publisher.publish(&event) {
            tracing::warn!("trace line not sent: {error}");
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Life {
    incarnation: u64,
    heard: Instant,
    motion_active: bool,
}

/// Who is alive, by their heartbeats; and whether this node may move the robot.
#[derive(Clone, Debug)]
pub struct Peers {
    lives: Arc<Mutex<HashMap<String, Life>>>,
    silence: Duration,
    active: watch::Receiver<bool>,
    hold: watch::Sender<Hold>,
    twin: Arc<Mutex<Option<String>>>,
}

impl Peers {
    fn new(
        mut beats: Subscription<Heartbeat>,
        silence: Duration,
        (full_name, own): (&str, Beating),
        node: &Arc<NodeLife>,
    ) -> Self {
        let lives = Arc::new(Mutex::new(HashMap::new()));
        let twin = Arc::new(Mutex::new(None));
        let (heard, found, ends, full_name) =
            (Arc::clone(&lives), Arc::clone(&twin), Arc::clone(node), full_name.to_owned());
        tokio::spawn(async move {
            let mut watch = TwinWatch::default();
            while let Some(beat) = beats.next().await {
                let ours = (own.sequence.load(Ordering::Relaxed), own.incarnation);
                if beat.node == own.name && watch.hear(&beat, ours) {
                    *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(full_name.clone());
                    ends.ending.send_replace(true);
                }
                let life = Life {
                    incarnation: beat.incarnation,
                    heard: Instant::now(),
                    motion_active: beat.motion_active,
                };
                heard.lock().unwrap_or_else(PoisonError::into_inner).insert(beat.node, life);
            }
        });
        Self { lives, silence, active: node.active.subscribe(), hold: watch::Sender::default(), twin }
    }

    /// The full name that another node has as well, when that one came first.
    fn twin(&self) -> Option<String> {
        self.twin.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why this node must not move the robot now, if it must not.
    pub fn bar(&self) -> Option<Bar> {
        if !*self.active.borrow() {
            return Some(Bar::Inactive);
        }
        match &*self.hold.borrow() {
            Hold::Theirs(holder) => Some(Bar::Held(holder.clone())),
            Hold::Nothing | Hold::Listening | Hold::Ours => None,
        }
    }

    /// Completes when this node must not move the robot any more.
    pub async fn barred(&self) -> Bar {
        let (mut active, mut hold) = (self.active.clone(), self.hold.subscribe());
        loop {
            if let Some(bar) = self.bar() {
                return bar;
            }
            tokio::select! {
                changed = active.changed() => if changed.is_err() { return Bar::Inactive },
                // The sender lives in these peers.
                _ = hold.changed() => {}
            }
        }
    }

    /// Waits until this node is known to hold what it moves.
    ///
    /// Errors: the [`Bar`] when it does not, or when that is not known in time.
    pub async fn settled(&self, patience: Duration) -> Result<(), Bar> {
        let mut hold = self.hold.subscribe();
        let known = hold.wait_for(|hold| *hold != Hold::Listening);
        let known = tokio::time::timeout(patience, known).await.is_ok();
        match self.bar() {
            Some(bar) => Err(bar),
            None if known => Ok(()),
            None => Err(Bar::Unsettled),
        }
    }

    fn life(&self, name: &str) -> Option<Life> {
        self.lives.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
    }

    /// Every node that was heard: how long it is silent, whether that is too long, whether it said that it moves the robot.
    fn ages(&self) -> Vec<(String, Duration, bool, bool)> {
        let lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ages: Vec<_> = lives
            .iter()
            .map(|(name, life)| {
                (name.clone(), life.heard.elapsed(), life.heard.elapsed() >= self.silence, life.motion_active)
            })
            .collect();
        ages.sort();
        ages
    }

    /// Whether `name` was heard within the permitted silence.
    pub fn alive(&self, name: &str) -> bool {
        self.life(name).is_some_and(|life| life.heard.elapsed() < self.silence)
    }

    /// Whether `name` is alive and says that it moves the robot.
    pub fn motion_active(&self, name: &str) -> bool {
        self.life(name).is_some_and(|life| life.heard.elapsed() < self.silence && life.motion_active)
    }

    /// Waits until `name` does not say that it moves the robot, for at most `patience`: its last heartbeat may be from before it
    /// ended. Whether it stands.
    pub async fn at_rest(&self, name: &str, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while self.motion_active(name) {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(HEARTBEAT_PERIOD / 4).await;
        }
        true
    }

    /// Whether `name` was moving the robot when it fell silent.
    pub fn fell_silent_in_motion(&self, name: &str) -> bool {
        self.life(name).is_some_and(|life| life.heard.elapsed() >= self.silence && life.motion_active)
    }

    /// The number that tells lives of `name` apart, once it was heard.
    pub fn incarnation(&self, name: &str) -> Option<u64> {
        self.life(name).map(|life| life.incarnation)
    }

    /// Names among `wanted` that are not alive now.
    pub fn missing<'a>(&self, wanted: &[&'a str]) -> Vec<&'a str> {
        wanted.iter().copied().filter(|name| !self.alive(name)).collect()
    }

    /// Waits until each of `wanted` was heard once, for at most `patience`: who starts, or is asked at once, may not have been told
    /// yet of a node that is there. Who was heard and fell silent is not waited for. Whether all were heard.
    pub async fn introduced(&self, wanted: &[&str], patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while wanted.iter().any(|name| self.life(name).is_none()) {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(HEARTBEAT_PERIOD / 4).await;
        }
        true
    }

    /// Completes with the first of `watched` that falls silent or was replaced by a new process.
    pub async fn lost(&self, watched: &[&str]) -> String {
        let started: Vec<Option<u64>> =
            watched.iter().map(|name| self.life(name).map(|life| life.incarnation)).collect();
        let mut interval = tokio::time::interval(HEARTBEAT_PERIOD / 2);
        loop {
            interval.tick().await;
            for (name, incarnation) in watched.iter().zip(&started) {
                let replaced = incarnation
                    .is_some_and(|old| self.life(name).is_some_and(|life| life.incarnation != old));
                if replaced || !self.alive(name) {
                    return (*name).to_owned();
                }
            }
        }
    }
}
