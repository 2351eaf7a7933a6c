//! What every node has in common: start, trace, heartbeat, peers, shutdown.

use crate::RobotConfig;
use prehend_config::Findings;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{Heartbeat, TraceEvent};
use prehend_ros::{Context, Node, Publisher, QosProfile, RosError, Subscription};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicBool, atomic::Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::StreamExt;

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
    /// Simulated seconds per wall second; 0 = as fast as possible.
    pub speed: f64,
    /// ROS parameter files, later ones win.
    pub params_files: Vec<PathBuf>,
    /// `name:=value` parameters, each wins over every file.
    pub overrides: Vec<String>,
    /// Whether time comes from `/clock`.
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
    /// The robot's model or the scene cannot be used.
    #[error("cannot start {node}: {reason}")]
    Start {
        /// The node.
        node: &'static str,
        /// What is wrong, and what to do.
        reason: String,
    },
}

/// A running node: its ROS node, its robot, and what it tells the others.
#[derive(Debug)]
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
    watch_stdin: bool,
    context: Context,
}

/// Tasks hold endpoints until the runtime ends, which may be after the process: without this its peers would list the node on.
impl Drop for Shell {
    fn drop(&mut self) {
        self.context.shutdown();
    }
}

impl Shell {
    /// Starts node `name`: reads the robot file, joins the graph, begins its heartbeat.
    pub async fn start(name: &'static str, options: &NodeOptions) -> Result<Self, NodeError> {
        let robot = RobotConfig::load(&options.robot)?;
        let context = Context::create()?;
        let node = Node::create(
            &context,
            name,
            names::NAMESPACE,
            prehend_ros::NodeOptions {
                params_files: options.params_files.clone(),
                overrides: options.overrides.clone(),
                use_sim_time: Some(options.use_sim_time),
                ..Default::default()
            },
        )?;
        let trace = Trace {
            node: node.clone(),
            name,
            publisher: node.create_publisher(names::TRACE, QosProfile::default().depth(200))?,
        };
        let peers = Peers::new(
            node.subscribe(names::HEARTBEAT, QosProfile::default().best_effort().depth(50))?,
            Duration::from_secs_f64(robot.limits.peer_silence),
        );
        let motion_active = Arc::new(AtomicBool::new(false));
        let publisher = node.create_publisher(names::HEARTBEAT, QosProfile::default().depth(1))?;
        spawn_heartbeat(name, publisher, Arc::clone(&motion_active));
        Ok(Self { node, robot, trace, peers, motion_active, watch_stdin: options.watch_stdin, context })
    }

    /// Tells the others whether this node is moving the robot.
    pub fn set_motion_active(&self, active: bool) {
        self.motion_active.store(active, Ordering::Relaxed);
    }

    /// Completes when the process is to end.
    pub async fn shutdown(&self) {
        let _ = prehend_ros::shutdown_signal(self.watch_stdin).await;
    }
}

/// A number that differs between lives of a process.
pub fn incarnation() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_nanos() as u64) ^ (u64::from(std::process::id()) << 48)
}

fn spawn_heartbeat(name: &'static str, publisher: Publisher<Heartbeat>, motion_active: Arc<AtomicBool>) {
    let incarnation = incarnation();
    tokio::spawn(async move {
        let mut interval = tokio::time::interval(HEARTBEAT_PERIOD);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut sequence = 0;
        loop {
            interval.tick().await;
            sequence += 1;
            let beat = Heartbeat {
                node: name.to_owned(),
                incarnation,
                sequence,
                motion_active: motion_active.load(Ordering::Relaxed),
            };
            match publisher.publish(&beat) {
                Ok(()) => {}
                Err(RosError::Closed) => return,
                Err(error) => tracing::warn!("heartbeat not sent: {error}"),
            }
        }
    });
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
        tracing::info!("{} {} {}: {}", event.kind, event.name, event.status, event.message);
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

/// Who is alive, by their heartbeats.
#[derive(Clone, Debug)]
pub struct Peers {
    lives: Arc<Mutex<HashMap<String, Life>>>,
    silence: Duration,
}

impl Peers {
    fn new(mut beats: Subscription<Heartbeat>, silence: Duration) -> Self {
        let lives = Arc::new(Mutex::new(HashMap::new()));
        let heard = Arc::clone(&lives);
        tokio::spawn(async move {
            while let Some(beat) = beats.next().await {
                let life = Life {
                    incarnation: beat.incarnation,
                    heard: Instant::now(),
                    motion_active: beat.motion_active,
                };
                heard.lock().unwrap_or_else(PoisonError::into_inner).insert(beat.node, life);
            }
        });
        Self { lives, silence }
    }

    fn life(&self, name: &str) -> Option<Life> {
        self.lives.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
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
