//! The processes of one graph: started, waited for, ended together.

use crate::domain::{Domain, DomainError, Purpose};
use crate::judge::Judge;
use crate::node::{NodeName, nodes_of};
use crate::observer::Observer;
use crate::supervisor::{Event, Output, ProcessSpec, Restart, Supervisor, SupervisorError};
use prehend_robots::{ArmingConfig, RobotConfig};
use prehend_ros::{RosArguments, RosError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Pause between two lines that say what is waited for.
const REPORT_PERIOD: Duration = Duration::from_millis(500);
/// Longest time until the graph is ready.
pub const READY_DEADLINE: Duration = Duration::from_secs(30);
/// After this time everything is started once more when a node is not heard.
const PATIENCE: Duration = Duration::from_secs(12);

/// What a graph runs.
#[derive(Clone, Debug)]
pub struct GraphOptions {
    /// Program with the subcommand `node`; this executable.
    pub program: PathBuf,
    /// Robot file.
    pub robot: PathBuf,
    /// Scene file.
    pub scene: PathBuf,
    /// Seed of everything random.
    pub seed: u64,
    /// Simulated seconds per wall second; 0 = as fast as the machine can, 10 at most.
    pub speed: f64,
    /// Parameters `name:=value` by node.
    pub overrides: BTreeMap<NodeName, Vec<String>>,
    /// What every node is told after `--ros-args`, this process's own node, too.
    pub arguments: RosArguments,
    /// What the graph is for.
    pub purpose: Purpose,
    /// Nodes that are left out.
    pub without: Vec<NodeName>,
    /// Nodes beside those of the robot.
    pub also: Vec<NodeName>,
    /// Whether dead nodes are started again. The sim never is: what stood on the table is lost with it.
    pub restart: bool,
    /// Folder of the log files.
    pub logs: PathBuf,
}

/// Why there is no graph.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// No ROS domain.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A process could not be started.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// This process could not join the graph.
    #[error("cannot join the graph: {0}")]
    Ros(#[from] RosError),
    /// The robot file is wrong.
    #[error("{0}")]
    Robot(#[from] prehend_config::Findings),
    /// The sim has no pipes to judge through.
    #[error("the sim process has no pipes")]
    NoJudge,
    /// Something did not come up.
    #[error("not ready after {:.0} s: still waiting for {missing}", waited.as_secs_f64())]
    NotReady {
        /// What is missing, comma-separated.
        missing: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A process ended while the graph was coming up.
    #[error("{name} ended while the graph was starting ({status})\n{log}")]
    Died {
        /// The process.
        name: String,
        /// How it ended.
        status: String,
        /// End of its log.
        log: String,
    },
    /// The user asked to end.
    #[error("interrupted while the graph was starting")]
    Interrupted,
}

/// A running graph and this process's place in it. End it with [`stop`](Self::stop).
#[derive(Debug)]
pub struct Graph {
    /// The processes.
    pub supervisor: Supervisor,
    /// Physics.
    pub judge: Judge,
    /// What is heard of the graph, and calls into it.
    pub observer: Observer,
    /// The robot.
    pub robot: RobotConfig,
    /// The ROS domain, held.
    pub domain: Domain,
    /// When the first process was started.
    pub started: Instant,
    nodes: Vec<NodeName>,
    /// What it was started with, until it was started once more.
    once_more: Option<GraphOptions>,
}

impl Graph {
    /// Starts every process; they are not ready yet.
    ///
    /// Errors: [`GraphError`]; nothing is left running then.
    pub fn start(options: &GraphOptions) -> Result<Self, GraphError> {
        let robot = RobotConfig::load(&options.robot)?;
        let domain = Domain::choose(options.purpose)?;
        let options = &without_driver(&robot, &prehend_ros::check_interfaces().missing, options);
        let started = Instant::now();
        let environment = vec![("ROS_DOMAIN_ID".to_owned(), domain.id.to_string())];
        let mut supervisor = Supervisor::new(&options.program, environment, &options.logs);
        let nodes: Vec<NodeName> = nodes_of(&robot)
            .into_iter()
            .filter(|node| !options.without.contains(node))
            .chain(options.also.iter().copied())
            .collect();
        let mut judge = None;
        for &node in &nodes {
            let pipes = supervisor.start(process(node, options))?;
            judge = judge.or(pipes.map(Judge::new));
        }
        let observer = Observer::join(domain.id, &robot, &options.arguments)?;
        Ok(Self {
            supervisor,
            judge: judge.ok_or(GraphError::NoJudge)?,
            observer,
            robot,
            domain,
            started,
            nodes,
            once_more: Some(options.clone()),
        })
    }

    /// Ends everything and starts it anew, once; whether it did. In another domain, unless the environment chose it: whoever were still
    /// there would be taken for another Prehend.
    ///
    /// Joining a domain can hang in the middleware for ever when many others join at the same time; see
    /// [`prehend_ros::STUCK_EXIT_CODE`]. Errors: as [`start`](Self::start).
    async fn start_once_more(&mut self) -> Result<bool, GraphError> {
        let Some(options) = self.once_more.take() else { return Ok(false) };
        self.supervisor.stop().await;
        let fresh = Self::start(&options)?;
        *self = Self { started: self.started, once_more: None, ..fresh };
        Ok(true)
    }

    /// What is not ready yet, in words; empty when the graph is ready.
    pub fn missing(&self) -> Vec<String> {
        self.observer.missing(&self.nodes)
    }

    /// Waits until the graph is ready, telling `report` now and then what it waits for.
    ///
    /// Errors: [`GraphError::NotReady`], [`GraphError::Died`], [`GraphError::Interrupted`] when `interrupt` completes.
    pub async fn ready(
        &mut self,
        mut report: impl FnMut(&[String]),
        interrupt: impl Future<Output = ()>,
    ) -> Result<Duration, GraphError> {
        let mut interrupt = std::pin::pin!(interrupt);
        let mut told: Vec<String> = Vec::new();
        let mut told_at: Option<Instant> = None;
        let mut tick = tokio::time::interval(Duration::from_millis(25));
        loop {
            let missing = self.missing();
            if missing.is_empty() {
                return Ok(self.started.elapsed());
            }
            if missing != told && told_at.is_none_or(|at| at.elapsed() > REPORT_PERIOD) {
                report(&missing);
                told_at = Some(Instant::now());
                told = missing.clone();
            }
            // Who else is waited for, such as a navigator that is not this graph's, comes no sooner for it.
            if self.started.elapsed() > PATIENCE
                && self.observer.misses_a_node(&self.nodes)
                && self.start_once_more().await?
            {
                tracing::warn!("the graph did not come up within {PATIENCE:?}; it is started once more");
                continue;
            }
            if self.started.elapsed() > READY_DEADLINE {
                return Err(GraphError::NotReady {
                    missing: missing.join(", "),
                    waited: self.started.elapsed(),
                });
            }
            tokio::select! {
                _ = tick.tick() => {}
                () = &mut interrupt => return Err(GraphError::Interrupted),
                event = self.supervisor.event() => match event {
                    Event::Died { status, .. } if is_stuck(&status) && self.start_once_more().await? => {
                        tracing::warn!("a process hung in the middleware; the graph is started once more");
                    }
                    Event::Died { name, status, .. } => {
                        let log = log_tail(&self.supervisor.log_path(&name), 15);
                        return Err(GraphError::Died { name, status, log });
                    }
                    Event::NotStarted { .. } | Event::Started { .. } => {}
                },
            }
        }
    }

    /// Ends the graph: every process is asked, killed after a grace, reaped.
    pub async fn stop(mut self) {
        drop(self.observer);
        drop(self.judge);
        self.supervisor.stop().await;
    }

    /// Stops the robot (latched) if anybody is there to do it, then ends the graph.
    pub async fn stop_robot_then_end(self, reason: &str) {
        self.observer.stop_robot(reason).await;
        self.stop().await;
    }
}

/// Whether a process ended because joining the domain hung.
fn is_stuck(status: &str) -> bool {
    status.rsplit(|c: char| !c.is_ascii_digit()).next() == Some(&prehend_ros::STUCK_EXIT_CODE.to_string())
}

/// The options for a simulated robot whose driver's interfaces are among those that are `missing` where this was compiled: no
/// driver, nothing to arm.
fn without_driver(robot: &RobotConfig, missing: &[String], options: &GraphOptions) -> GraphOptions {
    let mut options = options.clone();
    let Some(package) = robot.arming.as_ref().and_then(ArmingConfig::package) else { return options };
    if missing.iter().any(|missing| missing == package) {
        tracing::warn!(
            "{package} was not there when this was compiled: the simulated robot has no driver to arm"
        );
        for node in [NodeName::Sim, NodeName::Skills, NodeName::GoTo] {
            // First, so that what the user says wins.
            options.overrides.entry(node).or_default().insert(0, "arming:=off".to_owned());
        }
    }
    options
}

fn process(node: NodeName, options: &GraphOptions) -> ProcessSpec {
    let mut arguments = vec!["node".to_owned(), node.name().to_owned(), "--supervised".to_owned()];
    let mut argument = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    argument("--robot", options.robot.display().to_string());
    if node == NodeName::Sim {
        argument("--scene", options.scene.display().to_string());
        argument("--seed", options.seed.to_string());
        argument("--speed", options.speed.to_string());
    }
    for parameter in options.overrides.get(&node).into_iter().flatten() {
        argument("--param", parameter.clone());
    }
    arguments.extend(options.arguments.words());
    let sim = node == NodeName::Sim;
    ProcessSpec {
        name: node.name().to_owned(),
        arguments,
        restart: if options.restart && !sim { Restart::Always } else { Restart::Never },
        output: if sim { Output::Piped } else { Output::Logged },
    }
}

/// The last `lines` lines of a log file, indented.
pub fn log_tail(path: &Path, lines: usize) -> String {
    let text =
        std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    let tail: Vec<String> =
        all[all.len().saturating_sub(lines)..].iter().map(|line| format!("    {line}")).collect();
    if tail.is_empty() { format!("    ({} is empty)", path.display()) } else { tail.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_cannot_be_spoken_to_is_left_out() {
        let check = |robot: &str, missing: &[&str], expected: bool| {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/robots").join(robot);
            let options = GraphOptions {
                program: PathBuf::new(),
                robot: file.clone(),
                scene: PathBuf::new(),
                seed: 0,
                speed: 1.0,
                overrides: BTreeMap::from([(NodeName::Skills, vec!["arming:=robot".to_owned()])]),
                arguments: RosArguments::default(),
                purpose: Purpose::Up,
                without: Vec::new(),
                also: Vec::new(),
                restart: false,
                logs: PathBuf::new(),
            };
            let missing: Vec<String> = missing.iter().map(|name| (*name).to_owned()).collect();
            let told = without_driver(&RobotConfig::load(&file).unwrap(), &missing, &options).overrides;
            let off = |node| {
                told.get(&node).is_some_and(|told| told.first().is_some_and(|told| told == "arming:=off"))
            };
            let all = [NodeName::Sim, NodeName::Skills, NodeName::GoTo].map(off);
            assert_eq!(all, [expected; 3], "{robot} {missing:?}");
            assert_eq!(told[&NodeName::Skills].last().unwrap(), "arming:=robot", "the user's comes last");
        };
        check("xarm6.yaml", &[], false);
        check("xarm6.yaml", &["vision_msgs"], false);
        check("xarm6.yaml", &["vision_msgs", "xarm_msgs"], true);
        check("stretch.yaml", &["xarm_msgs"], false);
    }
}
