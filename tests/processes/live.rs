//! `prehend up` and the commands that ask it, as a user has them; and two graphs at once.

use crate::harness::{
    CALL, EASY_GOAL, EASY_SCENE, PATIENCE, PREHEND, children_of, in_time, is_alive, one_at_a_time,
    repository, wait_for,
};
use prehend_cli::domain::{Domain, Purpose};
use prehend_cli::graph::{Graph, GraphOptions};
use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_robots::RobotConfig;
use prehend_ros::{Context, GoalStatus, Node, NodeOptions, RosArguments};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Output, Stdio};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A graph that is up, and the domain in which it is found.
struct Up {
    process: Child,
    domain: Domain,
    folder: tempfile::TempDir,
}

impl Up {
    async fn start() -> Self {
        let domain = Domain::free(Purpose::Run).expect("a domain");
        let folder = tempfile::tempdir().expect("a folder");
        let scene = folder.path().join("scene.yaml");
        std::fs::write(&scene, EASY_SCENE).expect("the scene file");
        let mut command = command(&domain);
        command.args(["up", "--perfect-detector", "--speed", "3", "--scene"]).arg(scene);
        command.arg("--out").arg(folder.path().join("run"));
        let errors = folder.path().join("errors");
        let file = std::fs::File::create(&errors).expect("a file");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file).kill_on_drop(true);
        let mut process = command.spawn().expect("runs");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        in_time("the graph is up", async {
            while let Some(line) = lines.next_line().await.expect("text") {
                if line.starts_with("ready in") {
                    return;
                }
            }
            panic!("it ended before it was ready: {}", std::fs::read_to_string(&errors).unwrap_or_default());
        })
        .await;
        // Whoever does not read on blocks the process.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, domain, folder }
    }

    async fn ask(&self, arguments: &[&str]) -> Output {
        let output = command(&self.domain).args(arguments).output();
        in_time("an answer", output).await.expect("runs")
    }

    /// The one JSON object that a command prints, and its exit code.
    async fn json(&self, arguments: &[&str]) -> (Value, Option<i32>) {
        let output = self.ask(arguments).await;
        (one_object(&output), output.status.code())
    }

    async fn state(&self) -> Value {
        self.json(&["state", "--json"]).await.0
    }

    fn trace(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("run/trace.jsonl")).unwrap_or_default()
    }

    /// Gives a goal and waits until it moves the arm.
    async fn goal_under_way(&self) -> Child {
        let begun =
            |trace: &str| trace.matches(r#""name":"transit","node":"skills","status":"started""#).count();
        let before = begun(&self.trace());
        let goal = command(&self.domain)
            .args(["goal", "--json", EASY_GOAL])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("runs");
        wait_for("a motion", async || (begun(&self.trace()) > before).then_some(())).await;
        goal
    }
}

fn command(domain: &Domain) -> Command {
    let mut command = Command::new(PREHEND);
    command.current_dir(repository()).env("ROS_DOMAIN_ID", domain.id.to_string());
    command
}

fn one_object(output: &Output) -> Value {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(stdout.lines().count(), 1, "{stdout}\n{stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

async fn interrupt(process: &Child) {
    let pid = process.id().expect("a process").to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().await.expect("kill runs").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_that_is_up_is_asked_stopped_and_ended() {
    let _turn = one_at_a_time().await;
    let mut up = Up::start().await;
    let children = children_of(up.process.id().expect("a process"));
    assert_eq!(children.len(), 6);

    // Stopped in the middle: the goal says so, the state shows it, the next goal is refused until it is cleared.
    let goal = up.goal_under_way().await;
    assert!(up.ask(&["stop"]).await.status.success());
    let output = in_time("the goal ends", goal.wait_with_output()).await.expect("runs");
    let report = one_object(&output);
    assert_eq!((&report["outcome"], &report["reason"]), (&"failed".into(), &"stopped".into()), "{report}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(up.state().await["stopped"], true);
    let (report, code) = up.json(&["goal", "--json", EASY_GOAL]).await;
    assert_eq!((&report["outcome"], &report["reason"]), (&"refused".into(), &"stopped".into()), "{report}");
    assert_eq!(code, Some(2));
    assert!(up.ask(&["stop", "--clear"]).await.status.success());
    assert_eq!(up.state().await["stopped"], false);

    // The same sentence again.
    let (report, code) = up.json(&["goal", "--json", EASY_GOAL]).await;
    assert_eq!((&report["outcome"], code), (&"done".into(), Some(0)), "{report}");
    assert_eq!(report["physics_ok"], Value::Null, "nobody but the parent of the robot can ask physics");
    let (report, code) = up.json(&["goal", "--json", "where is the red block?"]).await;
    assert_eq!((&report["outcome"], code), (&"done".into(), Some(0)), "{report}");
    assert!(report["message"].as_str().unwrap_or_default().contains("plate"), "{report}");

    let state = up.state().await;
    assert_eq!(state["held_object"], Value::Null);
    let (map, code) = up.json(&["map", "--json"]).await;
    assert_eq!(code, Some(0));
    let mut classes: Vec<&str> = map["objects"]
        .as_array()
        .expect("objects")
        .iter()
        .filter_map(|object| object["class"].as_str())
        .collect();
    classes.sort_unstable();
    assert_eq!(classes, ["block", "plate"], "{map}");
    for shown in ["map", "state"] {
        let output = up.ask(&[shown]).await;
        assert!(output.status.success() && !output.stdout.is_empty(), "{shown}");
    }

    somebody_moves_the_arm(&up.domain).await;

    // Ctrl-C in the middle of a motion.
    let goal = command(&up.domain)
        .args(["goal", "--json", "put the red block on the table"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    let begun = up.trace().matches(r#""name":"approach","node":"skills","status":"started""#).count();
    wait_for("a motion", async || {
        (up.trace().matches(r#""name":"approach","node":"skills","status":"started""#).count() > begun)
            .then_some(())
    })
    .await;
    interrupt(&up.process).await;
    let ended = in_time("it ends", up.process.wait()).await.expect("ended");
    assert_eq!(ended.code(), Some(0));
    for child in children {
        assert!(!is_alive(child), "process {child} was left behind");
    }
    assert!(
        up.trace().contains(r#""name":"stop","node":"skills","status":"engaged""#),
        "the arm was not stopped first"
    );
    let output = in_time("the goal ends", goal.wait_with_output()).await.expect("runs");
    let report = one_object(&output);
    assert_eq!(report["outcome"], "failed", "{report}");
    assert!(report["reason"].is_string(), "{report}");
    let moved = std::fs::read_to_string(up.folder.path().join("run/result.json")).expect("what physics says");
    let moved: Value = serde_json::from_str(&moved).expect("JSON");
    assert!(moved["arm_motions"].as_u64() > Some(5), "{moved}");
    assert_eq!(moved["ungated_motions"].as_array().map(Vec::len), Some(1), "one was not Prehend's: {moved}");
}

async fn somebody_moves_the_arm(domain: &Domain) {
    let robot = RobotConfig::load(&repository().join("config/robots/xarm6.yaml")).expect("the robot");
    let context = Context::create_in_domain(domain.id).expect("joined");
    let node = Node::create(&context, "somebody", "/", NodeOptions::default()).expect("a node");
    let controller = node.create_action_client::<FollowJointTrajectory::Action>(&robot.arm.controller);
    let positions = robot.home.iter().map(|joint| joint + 0.2).collect();
    let time_from_start = prehend_msgs::builtin_interfaces::msg::Duration { sec: 2, nanosec: 0 };
    let point = JointTrajectoryPoint { positions, time_from_start, ..Default::default() };
    let trajectory =
        JointTrajectory { joint_names: robot.arm.joints, points: vec![point], ..Default::default() };
    let goal = FollowJointTrajectory::Goal { trajectory, ..Default::default() };
    let mut sent = controller.expect("a client").send_goal(goal, CALL).await.expect("taken");
    let (status, result) = sent.result(CALL).await.expect("an end");
    assert_eq!(status, GoalStatus::Succeeded, "{result:?}");
}

/// `doctor --graph` where the graph is, and where it is not: another namespace, domain, middleware; other names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_says_who_is_missing_and_where_to_look() {
    let _turn = one_at_a_time().await;
    let up = Up::start().await;
    let robot = std::fs::read_to_string(repository().join("config/robots/xarm6.yaml")).expect("the file");
    let renamed = up.folder.path().join("renamed.yaml");
    let text =
        robot.replace("joint: drive_joint", "joint: left_knuckle").replace("/camera/color", "/head/color");
    assert_ne!(robot, text);
    std::fs::write(&renamed, text).expect("written");
    let renamed = renamed.display().to_string();
    let other = Domain::free(Purpose::Run).expect("a domain");
    let cases: [(&Domain, &[&str], &[&str]); 4] = [
        (
            &up.domain,
            &[],
            &["in /prehend: object_map, affordance, verifier, skills, agent", "all that the file"],
        ),
        (
            &up.domain,
            &["--namespace", "/nobody/prehend"],
            &["nobody in /nobody/prehend", "all that the file"],
        ),
        (
            &up.domain,
            &["--robot", &renamed],
            &["nobody offers /head/color/", "names left_knuckle", "in /prehend: object_map"],
        ),
        (&other, &[], &["nobody in /prehend", "nobody offers /", "no joint states on /joint_states"]),
    ];
    for (number, (domain, more, words)) in cases.into_iter().enumerate() {
        let output = command(domain).args(["doctor", "--graph"]).args(more).output();
        let output = in_time("an answer", output).await.expect("runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(i32::from(number > 0)), "{more:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{more:?}: `{word}` is missing in:\n{said}");
        }
        let domains = said.lines().next().unwrap_or_default();
        let told = domains.split([' ', ',', ';']).any(|word| word == up.domain.id.to_string());
        assert!(told, "{}: {domains}", up.domain.id);
    }
    let mut doctor = command(&up.domain);
    doctor.args(["doctor", "--graph"]).env("RMW_IMPLEMENTATION", "rmw_zenoh_cpp");
    let output = in_time("an answer", doctor.output()).await.expect("runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("RMW_IMPLEMENTATION is rmw_zenoh_cpp"), "{said}");
}

/// Two at once, in the same second, in the same folder: each has a domain and a folder of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_demos_at_once_do_not_meet() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("scene.yaml"), EASY_SCENE).expect("the scene file");
    let demo = |goal: &'static str| {
        let output = demo(folder.path(), goal).output();
        async { one_object(&tokio::time::timeout(PATIENCE, output).await.expect("in time").expect("runs")) }
    };
    let (one, two) = tokio::join!(demo(EASY_GOAL), demo("put the red block to the left of the plate"));
    for report in [&one, &two] {
        assert_eq!(report["outcome"], "done", "{report}");
        assert_eq!(report["physics_ok"], true, "{report}");
    }
    assert_ne!(one["run_dir"], two["run_dir"]);
}

fn demo(folder: &Path, goal: &str) -> Command {
    let mut command = Command::new(PREHEND);
    command
        .current_dir(folder)
        .env("PREHEND_SHARE", repository())
        .env_remove("ROS_DOMAIN_ID")
        .args(["demo", "--json", "--perfect-detector", "--scene", "scene.yaml", "--goal", goal])
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// A node that hangs in the middleware ends with a code of its own; the graph is started once more then. In the domain that the
/// environment chose nobody of the first start may be left: the nodes would take them for another Prehend.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_is_started_once_more_in_the_domain_of_the_environment() {
    let _turn = one_at_a_time().await;
    let domain = Domain::free(Purpose::Run).expect("a domain");
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args(["--exact", "live::started_once_more", "--ignored", "--nocapture"]);
    child.env("ROS_DOMAIN_ID", domain.id.to_string()).stdin(Stdio::null()).kill_on_drop(true);
    let output = in_time("the graph comes up", child.output()).await.expect("runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// The process of the test above.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "another test starts it with a domain in its environment"]
async fn started_once_more() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("scene.yaml"), EASY_SCENE).expect("the scene file");
    // Its first affordance lives long enough for the others to be there, and ends as one that hung.
    let script = format!(
        "#!/bin/sh\nif [ \"$2\" = affordance ] && mkdir {} 2>/dev/null; then sleep 2; exit {}; fi\nexec {PREHEND} \"$@\"\n",
        at("hung").display(),
        prehend_ros::STUCK_EXIT_CODE,
    );
    std::fs::write(at("prehend"), script).expect("a script");
    std::fs::set_permissions(at("prehend"), std::fs::Permissions::from_mode(0o755)).expect("executable");
    let options = GraphOptions {
        program: at("prehend"),
        robot: repository().join("config/robots/xarm6.yaml"),
        scene: at("scene.yaml"),
        seed: 1,
        speed: 1.0,
        overrides: BTreeMap::new(),
        arguments: RosArguments::default(),
        purpose: Purpose::Up,
        without: Vec::new(),
        also: Vec::new(),
        restart: true,
        logs: folder.path().to_owned(),
    };
    let mut graph = Graph::start(&options).unwrap_or_else(|error| panic!("{error}"));
    let took = graph.ready(|_| (), std::future::pending()).await.unwrap_or_else(|error| panic!("{error}"));
    assert!(at("hung").is_dir() && took.as_secs_f64() > 2.0, "nothing hung");
    graph.stop().await;
}
