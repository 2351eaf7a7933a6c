//! The embedded robot as the graph and the judge see it: topics with one stamp, transforms, controllers with their
//! errors, faults. The robot runs as a process of its own: this test binary, started again with the ignored test.

use futures::StreamExt;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::control_msgs::msg::GripperCommand as Command;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image, JointState};
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_msgs::vision_msgs::msg::Detection2DArray;
use prehend_robots::NodeOptions;
use prehend_ros::{
    ActionClient, Context, DomainLease, GoalStatus, Node, NodeOptions as RosOptions, QosProfile, Subscription,
};
use prehend_sim::world::{Motions, Truth};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);
const HOME: [f64; 6] = [0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0];

#[test]
#[ignore = "is the robot's process, started by the other tests"]
fn robot_process() {
    // Nobody arms it here.
    let overrides = vec!["arming:=off".to_owned()];
    let options = NodeOptions { seed: 3, watch_stdin: true, overrides, ..NodeOptions::default() };
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(prehend_sim_node::sim::run(options)).expect("the robot runs");
}

struct Robot {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    node: Node,
    _context: Context,
    _lease: DomainLease,
}

impl Robot {
    fn start() -> Self {
        let lease = DomainLease::take().expect("a free domain");
        let mut child = std::process::Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "robot_process", "--ignored", "--nocapture"])
            .env("ROS_DOMAIN_ID", lease.domain_id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("robot");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let context = Context::create_in_domain(lease.domain_id()).expect("context");
        let node = Node::create(&context, "probe", "", RosOptions::default()).expect("node");
        Self { child, stdin, stdout, node, _context: context, _lease: lease }
    }

    fn ask(&mut self, question: &Value) -> Value {
        let stdin = self.stdin.as_mut().expect("open");
        writeln!(stdin, "{question}").expect("asked");
        stdin.flush().expect("asked");
        // The test runner of the robot's process has something to say, too.
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).expect("answer") > 0, "the robot is gone");
            if let Ok(answer) = serde_json::from_str(&line) {
                return answer;
            }
        }
    }

    fn subscribe<T: prehend_msgs::Message>(&self, topic: &str) -> Subscription<T> {
        self.node.subscribe(topic, QosProfile::default().depth(20)).expect("subscription")
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn next<T: prehend_msgs::Message>(subscription: &mut Subscription<T>, what: &str) -> T {
    let message = tokio::time::timeout(DEADLINE, subscription.next()).await;
    message.unwrap_or_else(|_| panic!("no {what}")).expect("open")
}

fn trajectory(names: &[&str], points: &[(f64, [f64; 6])]) -> FollowJointTrajectory::Goal {
    let points = points
        .iter()
        .map(|(seconds, positions)| {
            let mut point = JointTrajectoryPoint {
                positions: positions.to_vec(),
                velocities: vec![0.0; 6],
                ..Default::default()
            };
            point.time_from_start.sec = seconds.floor() as i32;
            point.time_from_start.nanosec = (seconds.fract() * 1e9) as u32;
            point
        })
        .collect();
    let joint_names = names.iter().map(ToString::to_string).collect();
    FollowJointTrajectory::Goal {
        trajectory: JointTrajectory { joint_names, points, ..Default::default() },
        ..Default::default()
    }
}

const JOINTS: [&str; 6] = ["joint1", "joint2", "joint3", "joint4", "joint5", "joint6"];

async fn follow(
    client: &ActionClient<FollowJointTrajectory::Action>,
    goal: FollowJointTrajectory::Goal,
) -> (GoalStatus, FollowJointTrajectory::Result) {
    let mut handle = client.send_goal(goal, DEADLINE).await.expect("accepted");
    handle.result(DEADLINE).await.expect("result")
}

#[tokio::test(flavor = "multi_thread")]
async fn sensors_transforms_and_the_judge_agree() {
    let mut robot = Robot::start();
    let mut color = robot.subscribe::<Image>("/camera/color/image_raw");
    let mut depth = robot.subscribe::<Image>("/camera/aligned_depth_to_color/image_raw");
    let mut info = robot.subscribe::<CameraInfo>("/camera/color/camera_info");
    let mut labels = robot.subscribe::<Image>("/detector/label_image");
    let mut detections = robot.subscribe::<Detection2DArray>("/detector/detections");
    let mut joints = robot.subscribe::<JointState>("/joint_states");
    let tf = robot.node.tf().expect("tf");

    let picture = next(&mut color, "colour").await;
    assert_eq!((picture.width, picture.height, picture.encoding.as_str()), (640, 480, "rgb8"));
    assert_eq!(picture.header.frame_id, "camera_color_optical_frame");
    // All of one frame carry one stamp.
    let stamp = picture.header.stamp.clone();
    loop {
        let message = next(&mut depth, "depth").await;
        if message.header.stamp == stamp {
            assert_eq!((message.encoding.as_str(), message.data.len()), ("16UC1", 640 * 480 * 2));
            break;
        }
    }
    while next(&mut info, "camera info").await.header.stamp != stamp {}
    while next(&mut labels, "labels").await.header.stamp != stamp {}
    let found = loop {
        let message = next(&mut detections, "detections").await;
        if message.header.stamp == stamp {
            break message;
        }
    };
    assert!(found.detections.len() >= 3, "{} detections", found.detections.len());
    for (index, detection) in found.detections.iter().enumerate() {
        assert_eq!(detection.id, (index + 1).to_string());
        assert!(!detection.results[0].hypothesis.class_id.is_empty());
    }
    let state = next(&mut joints, "joint states").await;
    assert_eq!(state.name, ["joint1", "joint2", "joint3", "joint4", "joint5", "joint6", "drive_joint"]);
    for (position, home) in state.position.iter().zip(HOME) {
        assert!((position - home).abs() < 1e-6, "{:?}", state.position);
    }
    // Where the picture was taken from can be looked up at the picture's own time.
    let camera = loop {
        match tf.lookup("link_base", "camera_color_optical_frame", &stamp) {
            Ok(transform) => break transform.isometry(),
            Err(_) => drop(next(&mut joints, "joint states").await),
        }
    };
    let view = camera.rotation * nalgebra::Vector3::z();
    assert!(view.z < -0.7, "the camera looks down at home, not along {view}");

    let truth: Truth = serde_json::from_value(robot.ask(&json!({"ask": "snapshot"}))).expect("truth");
    assert!(truth.objects.len() >= 8 && truth.objects.iter().all(|object| !object.fallen && !object.held));
    let motions: Motions = serde_json::from_value(robot.ask(&json!({"ask": "motions"}))).expect("motions");
    assert!(motions.arm.is_empty() && motions.gripper.is_empty(), "{motions:?}");
    let path = std::env::temp_dir().join(format!("prehend-overview-{}.png", std::process::id()));
    assert_eq!(robot.ask(&json!({"ask": "overview", "path": path})), json!({"written": path}));
    assert!(std::fs::metadata(&path).expect("picture").len() > 10_000);
    std::fs::remove_file(&path).expect("removed");
    for garbage in ["x", "{}", "{\"ask\":\"everything\"}", "[]"] {
        let stdin = robot.stdin.as_mut().expect("open");
        writeln!(stdin, "{garbage}").expect("asked");
        let answer = robot.ask(&json!({"ask": "fault"}));
        assert!(answer["error"].is_string(), "{garbage}: {answer}");
        // The answer to the fault request that followed.
        let mut line = String::new();
        robot.stdout.read_line(&mut line).expect("answer");
        assert!(line.contains("done"), "{garbage}: {line}");
    }
    // What only physics knows is on no topic.
    let names: Vec<String> = robot.node.topics().into_iter().map(|topic| topic.name).collect();
    let secret = ["truth", "pose", "object", "contact", "state_hash"];
    let told: Vec<&String> =
        names.iter().filter(|name| secret.iter().any(|word| name.contains(word))).collect();
    assert!(told.is_empty(), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn controllers_move_refuse_and_stop() {
    use FollowJointTrajectory::Result as Codes;
    let mut robot = Robot::start();
    let arm = robot
        .node
        .create_action_client::<FollowJointTrajectory::Action>(
            "/xarm6_traj_controller/follow_joint_trajectory",
        )
        .expect("client");
    arm.wait_available(DEADLINE).await.expect("controller");
    let mut there = HOME;
    there[0] += 0.3;
    let (status, result) = follow(&arm, trajectory(&JOINTS, &[(0.6, there)])).await;
    assert_eq!((status, result.error_code), (GoalStatus::Succeeded, Codes::SUCCESSFUL), "{result:?}");

    let mut beyond = there;
    beyond[2] = 1.0;
    let mut broken = there;
    broken[3] = f64::NAN;
    let mut reversed = JOINTS;
    reversed.reverse();
    let mut flipped = HOME;
    flipped.reverse();
    for (goal, code) in [
        (trajectory(&JOINTS, &[(1.0, beyond)]), Codes::INVALID_GOAL),
        (trajectory(&JOINTS, &[(1.0, broken)]), Codes::INVALID_GOAL),
        (trajectory(&JOINTS, &[]), Codes::INVALID_GOAL),
        (trajectory(&JOINTS, &[(0.001, HOME), (1.0, there)]), Codes::PATH_TOLERANCE_VIOLATED),
        (trajectory(&JOINTS, &[(0.02, HOME)]), Codes::INVALID_GOAL),
        (trajectory(&JOINTS[..5], &[(1.0, there)]), Codes::INVALID_JOINTS),
        (trajectory(&["a", "b", "c", "d", "e", "f"], &[(1.0, there)]), Codes::INVALID_JOINTS),
    ] {
        let (status, result) = follow(&arm, goal).await;
        assert_eq!((status, result.error_code), (GoalStatus::Aborted, code), "{result:?}");
        assert!(!result.error_string.is_empty());
    }
    // Another joint order is the same motion.
    let (status, _) = follow(&arm, trajectory(&reversed, &[(0.6, flipped)])).await;
    assert_eq!(status, GoalStatus::Succeeded);

    // A cancelled motion ends cancelled and stands before its goal.
    let mut far = HOME;
    far[0] = 1.5;
    let mut handle = arm.send_goal(trajectory(&JOINTS, &[(3.0, far)]), DEADLINE).await.expect("accepted");
    let mut joints = robot.subscribe::<JointState>("/joint_states");
    while next(&mut joints, "joint states").await.position[0] < 0.2 {}
    handle.cancel(DEADLINE).await.expect("cancel");
    let (status, _) = handle.result(DEADLINE).await.expect("result");
    assert_eq!(status, GoalStatus::Canceled);
    let truth: Truth = serde_json::from_value(robot.ask(&json!({"ask": "snapshot"}))).expect("truth");
    assert!(!truth.moving && (0.2..1.2).contains(&truth.joints[0]), "{:?}", truth.joints);
    let motions: Motions = serde_json::from_value(robot.ask(&json!({"ask": "motions"}))).expect("motions");
    assert_eq!(motions.arm.len(), 3, "{motions:?}");

    let gripper = robot
        .node
        .create_action_client::<GripperCommand::Action>("/xarm_gripper/gripper_action")
        .expect("client");
    gripper.wait_available(DEADLINE).await.expect("gripper");
    for (position, reached) in [(0.4, 0.4), (0.85, 0.85), (7.0, 0.85), (0.0, 0.0)] {
        let command = Command { position, max_effort: 20.0 };
        let mut handle =
            gripper.send_goal(GripperCommand::Goal { command }, DEADLINE).await.expect("accepted");
        let (status, result) = handle.result(DEADLINE).await.expect("result");
        assert_eq!(status, GoalStatus::Succeeded);
        assert!((result.position - reached).abs() < 0.03 && result.reached_goal, "{position}: {result:?}");
    }
    let broken = Command { position: f64::NAN, max_effort: 1.0 };
    assert!(gripper.send_goal(GripperCommand::Goal { command: broken }, DEADLINE).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_come_and_go_and_the_end_of_stdin_ends_the_process() {
    let mut robot = Robot::start();
    let mut depth = robot.subscribe::<Image>("/camera/aligned_depth_to_color/image_raw");
    next(&mut depth, "depth").await;
    robot.ask(&json!({"ask": "fault", "depth": "nan"}));
    while next(&mut depth, "depth").await.encoding != "32FC1" {}
    robot.ask(&json!({"ask": "fault", "depth": "zero"}));
    loop {
        let image = next(&mut depth, "depth").await;
        if image.encoding == "16UC1" && image.data.iter().all(|byte| *byte == 0) {
            break;
        }
    }
    robot.ask(&json!({"ask": "fault", "depth": "ok", "frame": "unknown"}));
    while next(&mut depth, "depth").await.header.frame_id == "camera_color_optical_frame" {}
    robot.ask(&json!({"ask": "fault", "frame": "ok"}));
    while next(&mut depth, "depth").await.header.frame_id != "camera_color_optical_frame" {}

    let before: Truth = serde_json::from_value(robot.ask(&json!({"ask": "snapshot"}))).expect("truth");
    let name = before.objects[0].name.clone();
    let moved = robot.ask(&json!({"ask": "move_object", "object": name, "position": [0.2, 0.5, 0.06]}));
    assert_eq!(moved, json!({"done": true}));
    let after: Truth = serde_json::from_value(robot.ask(&json!({"ask": "snapshot"}))).expect("truth");
    assert!((after.objects[0].position[1] - 0.5).abs() < 0.02, "{:?}", after.objects[0]);
    assert!(
        robot.ask(&json!({"ask": "move_object", "object": "nothing", "position": [0, 0, 0]}))["error"]
            .is_string()
    );

    drop(robot.stdin.take());
    let status = tokio::task::spawn_blocking(move || robot.child.wait().expect("end")).await.expect("joined");
    assert!(status.success(), "{status}");
}
