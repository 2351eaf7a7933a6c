//! What the process tests share: a graph in a ROS domain of its own, goals, faults, kills, the truth.
//!
//! Every wait is for a condition and has a deadline.

pub(crate) mod stand_in;

use futures::StreamExt;
use prehend_cli::domain::Purpose;
use prehend_cli::goal::{self, Followed};
use prehend_cli::graph::{Graph, GraphOptions};
use prehend_cli::judge::Judge;
use prehend_cli::node::{NODES, NodeName};
use prehend_cli::outcome::Outcome;
use prehend_cli::supervisor::{Event, Output, ProcessSpec, Restart, Supervisor};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_ros::RosArguments;
use prehend_sim::world::Truth;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The executable under test.
pub(crate) const PREHEND: &str = env!("CARGO_BIN_EXE_prehend");
/// Nothing here may take longer, on the slowest machine; it is no measure of speed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// No goal may take longer: an errand of a robot that drives, with what it tries again, on the slowest machine.
const ERRAND: Duration = Duration::from_secs(200);
/// Deadline of one call.
pub(crate) const CALL: Duration = Duration::from_secs(20);
/// Longest silence of an action server.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);
/// Pause between two looks at a condition.
const LOOK: Duration = Duration::from_millis(20);

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a repository").to_path_buf()
}

/// What the executable prints with these arguments, run in the repository.
pub(crate) fn prehend(arguments: &[&str]) -> std::process::Output {
    std::process::Command::new(PREHEND)
        .args(arguments)
        .current_dir(repository())
        .env_remove("ROS_DOMAIN_ID")
        .output()
        .expect("the executable runs")
}

/// What was printed.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The one JSON object on stdout.
pub(crate) fn json(output: &std::process::Output) -> serde_json::Value {
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 1, "{stdout}\n{}", text(&output.stderr));
    serde_json::from_str(&stdout).expect("JSON")
}

/// One graph at a time: each has six processes and more, and machines have few processors.
pub(crate) async fn one_at_a_time() -> tokio::sync::MutexGuard<'static, ()> {
    static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    TURN.lock().await
}

/// A demo of a goal in a scene, with more arguments: its report, and the exit code. It may take no longer than `patience`.
pub(crate) async fn demo_in(
    scene: &str,
    goal: &str,
    more: &[&str],
    patience: Duration,
) -> (serde_json::Value, Option<i32>) {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scene.yaml");
    std::fs::write(&file, scene).expect("the scene file");
    let output = tokio::process::Command::new(PREHEND)
        .current_dir(repository())
        .env_remove("ROS_DOMAIN_ID")
        .args(["demo", "--json", "--speed", "0", "--perfect-detector", "--seed", "1"])
        .args(["--goal", goal, "--timeout", "200", "--scene"])
        .arg(&file)
        .arg("--out")
        .arg(folder.path().join("run"))
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(patience, output).await.expect("in time").expect("runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"));
    (report, output.status.code())
}

/// Waits until `condition` gives something; says `what` was waited for when it does not.
pub(crate) async fn wait_for<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(started.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether an event tells that a phase of motion begins; any phase when `phase` is empty.
pub(crate) fn begins(event: &TraceEvent, phase: &str) -> bool {
    let of_phase = phase.is_empty() || event.name == phase;
    event.kind == TraceEvent::KIND_MOTION && event.status == "started" && of_phase
}

/// Whether an event tells that a phase of motion begins in the course of a skill.
pub(crate) fn begins_in(event: &TraceEvent, skill: &str, phase: &str) -> bool {
    let data: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
    begins(event, phase) && data["skill"] == skill
}

/// Ends `future` with a failure when it takes longer than anything may.
pub(crate) async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not within {PATIENCE:?}"),
    }
}

/// Whether a process exists and is not just waiting to be reaped.
pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// Processes whose parent is `parent`.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            status
                .lines()
                .any(|line| line.strip_prefix("PPid:").is_some_and(|id| id.trim() == parent.to_string()))
        })
        .collect()
}

/// A scene with one red block to move and one plate to put it on: nothing about it is hard. Its camera is slow: drawing and
/// sending pictures is most of what a graph at rest does, and on a busy machine the middleware may lose some of many.
pub(crate) const EASY_SCENE: &str = "\
name: easy
camera: {rate_hz: 4}
objects:
- {name: red block, class: block, shape: box, color: red, size: [0.04, 0.04, 0.05], mass: 0.08, pose: {xy: [0.40, 0.12]}}
- {name: plate, class: plate, shape: plate, color: white, size: {radius: 0.095}, mass: 0.4, pose: {xy: [0.45, -0.12]}}
";

/// A table with an apple and a bowl, and room for a robot that drives.
pub(crate) const STRETCH_ROOM: &str = "\
name: room of the test
robot: {xy: [1.0, 1.3], yaw: 0.4}
room: {size: [3.6, 2.6]}
objects:
- {name: table, model: table, parameters: {length: 1.0, depth: 0.7, height: 0.70}, pose: {xy: [2.9, 1.3], yaw: 0.0}}
- {name: apple, class: apple, shape: sphere, color: red, size: {radius: 0.034}, mass: 0.15,
   on: table, region: {x: [-0.22, -0.14], y: [0.10, 0.22]}}
- {name: bowl, class: bowl, shape: bowl, color: white, size: {radius: 0.10, foot: 0.072, height: 0.05}, mass: 0.4,
   on: table, region: {x: [-0.20, -0.14], y: [-0.24, -0.14]}}
";

/// Where the red block of [`EASY_SCENE`] is at first: its middle, metres.
pub(crate) const EASY_PLACE: [f64; 3] = [0.40, 0.12, 0.026];

/// The goal that goes with [`EASY_SCENE`].
pub(crate) const EASY_GOAL: &str = "put the red block on the plate";

/// A whole graph, ready, with the events of its trace.
pub(crate) struct Stage {
    /// The processes.
    pub(crate) graph: Graph,
    /// Every event so far.
    pub(crate) events: Vec<TraceEvent>,
    /// Logs of the processes; kept when a test fails.
    pub(crate) folder: TempDir,
}

/// What a stage is started with.
pub(crate) struct StageOptions {
    /// Scene file text.
    pub(crate) scene: &'static str,
    /// Name of the robot.
    pub(crate) robot: &'static str,
    /// Nodes that are left out.
    pub(crate) without: Vec<NodeName>,
    /// Nodes beside those of the robot.
    pub(crate) also: Vec<NodeName>,
    /// Parameters by node.
    pub(crate) parameters: Vec<(NodeName, &'static str)>,
    /// Simulated seconds per wall second; 0 = as fast as possible.
    pub(crate) speed: f64,
    /// What every node is told after `--ros-args`.
    pub(crate) arguments: RosArguments,
}

impl Default for StageOptions {
    fn default() -> Self {
        Self {
            scene: EASY_SCENE,
            robot: "xarm6",
            without: Vec::new(),
            also: Vec::new(),
            parameters: vec![(NodeName::Sim, "detector:=perfect")],
            speed: 3.0,
            arguments: RosArguments::default(),
        }
    }
}

impl Stage {
    /// Starts a graph and waits until it is ready.
    pub(crate) async fn start(options: StageOptions) -> Self {
        let mut stage = Self::begin(options);
        if let Err(error) = stage.graph.ready(|_| (), std::future::pending()).await {
            panic!("{error}\nlogs: {}", stage.folder.path().display());
        }
        stage
    }

    /// Starts a graph with something `beside` it of which [`Graph::ready`] knows nothing, and waits until nobody is missing. Begun anew when
    /// a process hangs in the middleware at its start, as `Graph::ready` does it.
    pub(crate) async fn start_beside<T>(
        options: impl Fn() -> StageOptions,
        beside: impl Fn(&mut Self) -> T,
    ) -> (Self, T) {
        let hung = format!("exit status: {}", prehend_ros::STUCK_EXIT_CODE);
        for _ in 0..3 {
            let mut stage = Self::begin(options());
            let there = beside(&mut stage);
            let graph = &mut stage.graph;
            let ready = wait_for("everybody is there", async || {
                let dead = |event: &Event| matches!(event, Event::Died { status, .. } if *status == hung);
                while let Some(event) = graph.supervisor.try_event() {
                    if dead(&event) {
                        return Some(false);
                    }
                }
                graph.missing().is_empty().then_some(true)
            });
            if ready.await {
                return (stage, there);
            }
            drop(there);
            stage.end().await;
        }
        panic!("a process hung in the middleware, again and again");
    }

    /// Starts the processes of a graph; they are not ready yet.
    pub(crate) fn begin(options: StageOptions) -> Self {
        let mut folder = tempfile::tempdir().expect("a folder for the logs");
        // Removed by a test that passed; see `end`.
        folder.disable_cleanup(true);
        let scene = folder.path().join("scene.yaml");
        std::fs::write(&scene, options.scene).expect("the scene file");
        let mut overrides: BTreeMap<NodeName, Vec<String>> = BTreeMap::new();
        for (node, parameter) in options.parameters {
            overrides.entry(node).or_default().push(parameter.to_owned());
        }
        let options = GraphOptions {
            program: PREHEND.into(),
            robot: repository().join("config/robots").join(format!("{}.yaml", options.robot)),
            scene,
            seed: 1,
            speed: options.speed,
            overrides,
            arguments: options.arguments,
            purpose: Purpose::Run,
            without: options.without,
            also: options.also,
            restart: true,
            logs: folder.path().to_owned(),
        };
        let graph = Graph::start(&options).unwrap_or_else(|error| panic!("{error}"));
        Self { graph, events: Vec::new(), folder }
    }

    /// Gives a goal and follows it to its end.
    pub(crate) async fn goal(&mut self, text: &str) -> Followed {
        self.goal_and(text, |_| false, async |_| ()).await
    }

    /// Gives a goal, does `then` at the first event that fits, and follows the goal to its end.
    ///
    /// `then` gets the supervisor, because what is done is often a kill.
    pub(crate) async fn goal_and(
        &mut self,
        text: &str,
        fits: impl Fn(&TraceEvent) -> bool,
        then: impl AsyncFnOnce(&Supervisor),
    ) -> Followed {
        let Graph { supervisor, observer, .. } = &mut self.graph;
        let events = &mut self.events;
        // Not a second subscription: what it hears first may be old.
        let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let at_the_event = async {
            if heard.recv().await.is_some() {
                then(supervisor).await;
            }
            std::future::pending().await
        };
        let mut told = false;
        let keep = |event: &TraceEvent| {
            if !told && fits(event) {
                told = true;
                sender.send(()).expect("somebody listens");
            }
            events.push(event.clone());
        };
        goal::run(observer, text, ERRAND, keep, at_the_event).await
    }

    /// Gives a goal, sets a fault of the robot side when a phase of motion begins, and follows the goal to its end.
    pub(crate) async fn goal_with_fault(
        &mut self,
        text: &str,
        phase: &str,
        fault: serde_json::Value,
    ) -> Followed {
        let Graph { judge, observer, .. } = &mut self.graph;
        let events = &mut self.events;
        let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let at_the_event = async {
            if heard.recv().await.is_some() {
                judge.fault(fault).await.unwrap_or_else(|error| panic!("{error}"));
            }
            std::future::pending().await
        };
        let mut told = false;
        let keep = |event: &TraceEvent| {
            if !told && begins(event, phase) {
                told = true;
                sender.send(()).expect("somebody listens");
            }
            events.push(event.clone());
        };
        goal::run(observer, text, ERRAND, keep, at_the_event).await
    }

    /// Gives a goal and follows it to its end; each time a phase of motion begins, the judge asks the robot side for the next of
    /// these.
    pub(crate) async fn goal_with_requests(
        &mut self,
        text: &str,
        phase: &str,
        requests: &[serde_json::Value],
    ) -> Followed {
        self.goal_with_request_at(text, |event, _| begins(event, phase), requests).await
    }

    /// Gives a goal, asks the judge for each of these when an event fits it, by its index, and follows the goal to its end.
    pub(crate) async fn goal_with_request_at(
        &mut self,
        text: &str,
        fits: impl Fn(&TraceEvent, usize) -> bool,
        requests: &[serde_json::Value],
    ) -> Followed {
        let Graph { judge, observer, .. } = &mut self.graph;
        let events = &mut self.events;
        let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let at_the_events = async {
            for request in requests {
                if heard.recv().await.is_some() {
                    judge.ask(request).await.unwrap_or_else(|error| panic!("{error}"));
                }
            }
            std::future::pending().await
        };
        let mut told = 0;
        let keep = |event: &TraceEvent| {
            if fits(event, told) {
                told += 1;
                // Nobody listens any more when the goal ends.
                let _ = sender.send(());
            }
            events.push(event.clone());
        };
        goal::run(observer, text, ERRAND, keep, at_the_events).await
    }

    /// Process ids of the nodes that run.
    pub(crate) fn pids(&self) -> Vec<Option<u32>> {
        NODES.iter().map(|node| self.graph.supervisor.pid(node.name())).collect()
    }

    /// Reads the trace until an event fits.
    pub(crate) async fn event(&mut self, what: &str, fits: impl Fn(&TraceEvent) -> bool) -> TraceEvent {
        let (trace, events) = (&mut self.graph.observer.trace, &mut self.events);
        in_time(what, async {
            loop {
                let event = trace.next().await.expect("the trace has no end");
                events.push(event.clone());
                if fits(&event) {
                    return event;
                }
            }
        })
        .await
    }

    /// Physics now.
    pub(crate) async fn truth(&mut self) -> Truth {
        truth(&mut self.graph.judge).await
    }

    /// Waits until neither the arm nor anything it holds moves.
    pub(crate) async fn arm_stands(&mut self) -> Truth {
        let judge = &mut self.graph.judge;
        wait_for("the arm stands", async || {
            let truth = truth(judge).await;
            (!truth.moving).then_some(truth)
        })
        .await
    }

    /// How often the arm has moved so far.
    pub(crate) async fn motions(&mut self) -> usize {
        self.graph.judge.motions().await.expect("motions").arm.len()
    }

    /// Gives [`EASY_GOAL`] and expects it to be reached, as physics has it.
    pub(crate) async fn easy_goal_is_reached(&mut self, after: &str) {
        let followed = self.goal(EASY_GOAL).await;
        assert_eq!(
            followed.ending.outcome,
            Outcome::Done,
            "after {after}: {:?}\n{}",
            followed.ending,
            self.story()
        );
        let truth = self.arm_stands().await;
        let block = truth.objects.iter().find(|object| object.name == "red block").expect("the block");
        let under = block.on.iter().chain(&block.inside).any(|under| under == "plate");
        assert!(under && !block.held, "after {after}: {block:?}\n{}", self.story());
    }

    /// Puts an object of the scene somewhere, as a person does between two goals.
    pub(crate) async fn put(&mut self, object: &str, position: [f64; 3]) {
        let request = serde_json::json!({"ask": "move_object", "object": object, "position": position});
        self.graph.judge.ask(&request).await.unwrap_or_else(|error| panic!("{error}"));
    }

    /// The last lines of the trace.
    pub(crate) fn story(&self) -> String {
        let from = self.events.len().saturating_sub(60);
        let line = |event: &TraceEvent| {
            format!("{} {} {} {}: {}", event.node, event.kind, event.name, event.status, event.message)
        };
        self.events[from..].iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Waits until everybody is there.
    pub(crate) async fn everybody_is_there(&mut self) {
        let graph = &self.graph;
        wait_for("everybody is there", async || graph.missing().is_empty().then_some(())).await;
    }

    /// Kills a node as `kill -9` does and waits until it is dead.
    pub(crate) async fn kill(&mut self, node: NodeName) {
        let pid = self.graph.supervisor.pid(node.name()).expect("it runs");
        self.graph.supervisor.kill(node.name());
        wait_for("the node is dead", async || (!is_alive(pid)).then_some(())).await;
    }

    /// Ends the graph; removes the logs.
    pub(crate) async fn end(self) {
        let pids: Vec<u32> =
            self.graph.supervisor.names().filter_map(|name| self.graph.supervisor.pid(name)).collect();
        in_time("the graph ends", self.graph.stop()).await;
        for pid in pids {
            assert!(!is_alive(pid), "process {pid} was left behind");
        }
        let _ = std::fs::remove_dir_all(self.folder.path());
    }
}

async fn truth(judge: &mut Judge) -> Truth {
    judge.snapshot().await.unwrap_or_else(|error| panic!("{error}"))
}

/// One node without a graph.
pub(crate) fn lone_node(node: NodeName, domain: u16, logs: &Path) -> Supervisor {
    lone_node_with(node, &[], domain, logs)
}

/// As [`lone_node`], with parameters such as `approval:=each`.
pub(crate) fn lone_node_with(node: NodeName, parameters: &[&str], domain: u16, logs: &Path) -> Supervisor {
    let mut arguments = vec!["node".to_owned(), node.name().to_owned(), "--supervised".to_owned()];
    if !parameters.is_empty() {
        arguments.push("--ros-args".to_owned());
    }
    for parameter in parameters {
        arguments.extend(["-p".to_owned(), (*parameter).to_owned()]);
    }
    let environment = vec![("ROS_DOMAIN_ID".to_owned(), domain.to_string())];
    let mut supervisor = Supervisor::new(Path::new(PREHEND), environment, logs);
    supervisor
        .start(ProcessSpec {
            name: node.name().to_owned(),
            arguments,
            restart: Restart::Never,
            output: Output::Logged,
        })
        .unwrap_or_else(|error| panic!("{error}"));
    supervisor
}
