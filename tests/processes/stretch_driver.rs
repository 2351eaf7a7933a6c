//! The nodes `stretch` and `move_group` between Prehend and a driver that speaks stretch_driver's interface, over the embedded robot's
//! physics: what a real Stretch is run with.

use crate::harness::stand_in::{Role, StandIn, elsewhere, remapped};
use crate::harness::{CALL, SILENCE, STRETCH_ROOM, Stage, StageOptions, one_at_a_time, wait_for};
use futures::StreamExt;
use prehend_cli::node::NodeName;
use prehend_cli::outcome::Outcome;
use prehend_cli::supervisor::{Output, ProcessSpec, Restart};
use prehend_msgs::builtin_interfaces::msg::Duration as WireDuration;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::control_msgs::msg::GripperCommand as GripperGoal;
use prehend_msgs::lifecycle_msgs::msg::Transition;
use prehend_msgs::lifecycle_msgs::srv::ChangeState;
use prehend_msgs::names;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_robots::RobotConfig;
use prehend_ros::{
    ActionClient, Context, GoalHandle, GoalStatus, Node, NodeOptions, QosProfile, RosArguments, TfBuffer,
};
use serde_json::json;
use std::path::Path;
use tokio::sync::watch;

/// A node of Prehend's on the robot's side, of which these names are below `/elsewhere`; started again when it dies.
fn beside(node: NodeName, names: &[&str]) -> ProcessSpec {
    let mut arguments =
        ["node", node.name(), "--supervised", "--robot", "stretch", "--ros-args"].map(str::to_owned).to_vec();
    for name in names {
        arguments.extend(["-r".to_owned(), format!("{name}:={}", elsewhere(name))]);
    }
    ProcessSpec { name: node.name().to_owned(), arguments, restart: Restart::Always, output: Output::Logged }
}

/// The room, with everything between: the driver's names are its own, those of the robot file that the node `stretch` offers are below
/// `/elsewhere`, for the embedded robot has them as well.
async fn begun() -> (Stage, StandIn) {
    let robot = RobotConfig::load(Path::new("stretch")).expect("the robot file");
    let odometry = robot.navigation.as_ref().expect("a base").odometry.as_str();
    let (arm, gripper, states) =
        (robot.arm.controller.as_str(), robot.gripper.action.as_str(), robot.joint_states.as_str());
    let options = || StageOptions {
        scene: STRETCH_ROOM,
        robot: "stretch",
        // As a real one: from point to point the driver answers through four processes, and what that takes of the machine's time is
        // no standing arm. At speed 3 it counts three times.
        speed: 1.0,
        parameters: vec![(NodeName::Sim, "detector:=perfect"), (NodeName::Sim, "moveit:=off")],
        arguments: remapped("skills", &[arm, gripper, states]),
        ..StageOptions::default()
    };
    let nodes = |stage: &mut Stage| {
        for node in [
            beside(NodeName::Stretch, &[arm, gripper, states, odometry, "/tf"]),
            beside(NodeName::MoveGroup, &[arm, states]),
        ] {
            stage.graph.supervisor.start(node).unwrap_or_else(|error| panic!("{error}"));
        }
        StandIn::start(Role::StretchDriver, stage.graph.domain.id)
    };
    Stage::start_beside(options, nodes).await
}

type Codes = FollowJointTrajectory::Result;

/// A client of the node `stretch`, beside the graph.
struct Client {
    joints: Vec<String>,
    arm: ActionClient<FollowJointTrajectory::Action>,
    gripper: ActionClient<GripperCommand::Action>,
    states: watch::Receiver<Option<JointState>>,
    /// Frames as the node has them.
    tf: TfBuffer,
    _node: Node,
    _context: Context,
}

impl Client {
    fn of(stage: &Stage) -> Self {
        let robot = RobotConfig::load(Path::new("stretch")).expect("the robot file");
        let context = Context::create_in_domain(stage.graph.domain.id).expect("joined");
        let mut arguments = RosArguments::default();
        arguments.add_remap("/tf:=/elsewhere/tf").expect("a rule");
        let options = NodeOptions { arguments, ..NodeOptions::default() };
        let node = Node::create(&context, "client", names::NAMESPACE, options).expect("a node");
        let mut heard = node
            .subscribe::<JointState>(&elsewhere(&robot.joint_states), QosProfile::sensor_data())
            .expect("a topic");
        let (sender, states) = watch::channel(None);
        tokio::spawn(async move {
            while let Some(state) = heard.next().await {
                sender.send_replace(Some(state));
            }
        });
        Self {
            joints: robot.arm.joints.clone(),
            arm: node.create_action_client(&elsewhere(&robot.arm.controller)).expect("a client"),
            gripper: node.create_action_client(&elsewhere(&robot.gripper.action)).expect("a client"),
            states,
            tf: node.tf().expect("transforms"),
            _node: node,
            _context: context,
        }
    }

    /// Positions of the arm's joints and of the gripper, once the node tells them.
    async fn positions(&self) -> (Vec<f64>, f64) {
        let mut states = self.states.clone();
        states.mark_unchanged();
        tokio::time::timeout(CALL, states.changed()).await.expect("joint states").expect("a subscription");
        let state = states.borrow().clone().expect("a state");
        let position =
            |name: &String| state.position[state.name.iter().position(|n| n == name).expect("a joint")];
        (self.joints.iter().map(position).collect(), position(&"gripper_aperture".to_owned()))
    }

    /// Begins a motion that changes two joints, the base's roll and the lift, in some seconds.
    async fn begins(
        &self,
        [roll, lift]: [f64; 2],
        seconds: i32,
        names: &[String],
    ) -> GoalHandle<FollowJointTrajectory::Action> {
        let (from, _) = self.positions().await;
        let mut to = from.clone();
        to[0] += roll;
        to[1] += lift;
        let point = |positions: Vec<f64>, sec: i32| JointTrajectoryPoint {
            positions,
            time_from_start: WireDuration { sec, nanosec: 0 },
            ..Default::default()
        };
        let trajectory = JointTrajectory {
            joint_names: names.to_vec(),
            points: vec![point(from, 0), point(to, seconds)],
            ..Default::default()
        };
        let goal = FollowJointTrajectory::Goal { trajectory, ..Default::default() };
        self.arm.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Where the arm is once the lift has left where it was.
    async fn on_its_way(&self, from: &[f64]) -> Vec<f64> {
        wait_for("the arm moves", async || {
            let (now, _) = self.positions().await;
            ((now[1] - from[1]).abs() > 0.02).then_some(now)
        })
        .await
    }

    async fn moves(&self, way: [f64; 2], names: &[String]) -> (GoalStatus, FollowJointTrajectory::Result) {
        let mut begun = self.begins(way, 2, names).await;
        begun.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The tool in the arm's base, by the node's frames and by the embedded robot's.
    async fn tools(&self, robots: &TfBuffer) -> [[f64; 3]; 2] {
        let newest = Default::default();
        let tool = |tf: &TfBuffer| {
            tf.lookup("link_arm_base", "link_tcp", &newest).ok().map(|found| found.translation)
        };
        wait_for("frames of both", async || Some([tool(&self.tf)?, tool(robots)?])).await
    }
}

fn near(found: &[f64], expected: &[f64], what: &str) {
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 0.012, "{what}: {found:?}, not {expected:?}");
}

/// What the node makes of single goals: it arrives, says where it is in frames and joint states, and refuses what is none; it stops when told to,
/// when the driver takes another mode, and says so when the driver dies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_goals_end_as_a_controllers_do() {
    let _turn = one_at_a_time().await;
    let (mut stage, mut driver) = begun().await;
    let client = Client::of(&stage);
    let robots = stage.graph.observer.node.tf().expect("transforms");
    let names = client.joints.clone();
    let (home, open) = client.positions().await;
    assert!(open > 0.0 && home[0].abs() < 1e-3, "{home:?} {open}");

    // The base is a joint, and stays one when it comes back.
    let (status, ended) = client.moves([0.12, 0.06], &names).await;
    assert_eq!((status, ended.error_code), (GoalStatus::Succeeded, Codes::SUCCESSFUL), "{ended:?}");
    let (there, _) = client.positions().await;
    near(&there[..2], &[home[0] + 0.12, home[1] + 0.06], "there");
    let [by_node, by_robot] = client.tools(&robots).await;
    near(&by_node, &by_robot, "the tool");
    // The judge's roll is the robot's own: it was not only said.
    near(&stage.truth().await.joints[..2], &there[..2], "physics");

    // What is no trajectory of this arm moves nothing.
    for wrong in [names[1..].to_vec(), vec!["joint_lift".to_owned(); 8]] {
        let (status, ended) = client.moves([0.0, 0.1], &wrong).await;
        assert_eq!((status, ended.error_code), (GoalStatus::Aborted, Codes::INVALID_JOINTS), "{ended:?}");
    }
    near(&client.positions().await.0, &there, "refused");

    // One goal at a time; a cancelled one stops on its way.
    let mut long = client.begins([-0.12, 0.2], 12, &names).await;
    let second = client.gripper.send_goal(GripperCommand::Goal::default(), CALL).await;
    assert!(second.is_err(), "a second goal is refused");
    let on_its_way = client.on_its_way(&there).await;
    long.cancel(CALL).await.expect("cancelled");
    let (status, _) = long.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(status, GoalStatus::Canceled);
    let stood = stage.arm_stands().await;
    assert!((stood.joints[1] - on_its_way[1]).abs() < 0.08, "{on_its_way:?} {:?}", stood.joints);

    // The fingers go where they are sent.
    let command = GripperGoal { position: 0.03, max_effort: 10.0 };
    let mut closing =
        client.gripper.send_goal(GripperCommand::Goal { command }, CALL).await.expect("it is taken");
    let (status, closed) = closing.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}"));
    assert!(status == GoalStatus::Succeeded && closed.reached_goal, "{status:?} {closed:?}");
    near(&[closed.position], &[0.03], "the fingers");

    // A node that is deactivated stops what moves, and takes nothing until it is active again.
    let node = format!("{}/stretch", names::NAMESPACE);
    let change = async |transition: u8| {
        let name = format!("{node}/change_state");
        let asked =
            stage.graph.observer.node.create_client::<ChangeState::Service>(&name, QosProfile::services());
        let transition = Transition { id: transition, ..Default::default() };
        let answer = asked.expect("a client").request(ChangeState::Request { transition }, CALL).await;
        assert!(answer.expect("an answer").success, "transition {name}");
    };
    let (from, _) = client.positions().await;
    let mut cut = client.begins([0.0, 0.15], 12, &names).await;
    client.on_its_way(&from).await;
    change(Transition::TRANSITION_DEACTIVATE).await;
    let (status, ended) = cut.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (status, ended.error_code),
        (GoalStatus::Aborted, Codes::PATH_TOLERANCE_VIOLATED),
        "{ended:?}"
    );
    assert!(ended.error_string.contains("not active"), "{ended:?}");
    let goal = GripperCommand::Goal::default();
    assert!(client.gripper.send_goal(goal, CALL).await.is_err(), "it is not active");
    change(Transition::TRANSITION_ACTIVATE).await;

    // In another mode the arm is not moved; a base that was driven in between is parked anew.
    let mode = async |stage: &mut Stage, mode: &str| {
        let request = json!({"ask": "vendor", "mode": mode});
        stage.graph.judge.ask(&request).await.unwrap_or_else(|error| panic!("{error}"));
    };
    mode(&mut stage, "navigation").await;
    let ended = wait_for("the node hears of the mode", async || {
        // Until then it is the driver that refuses.
        let (status, ended) = client.moves([0.0, 0.0], &names).await;
        (status == GoalStatus::Aborted && ended.error_code == Codes::INVALID_GOAL).then_some(ended)
    })
    .await;
    assert!(ended.error_string.contains("mode `navigation`"), "{ended:?}");
    mode(&mut stage, "position").await;
    wait_for("it moves again", async || {
        let (status, _) = client.moves([0.0, 0.0], &names).await;
        (status == GoalStatus::Succeeded).then_some(())
    })
    .await;
    near(&client.positions().await.0[..1], &[0.0], "parked anew");

    // A driver that dies ends the motion, and is told from one that is there.
    let (from, _) = client.positions().await;
    let mut last = client.begins([0.0, -0.2], 12, &names).await;
    client.on_its_way(&from).await;
    driver.kill();
    let (status, ended) = last.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}"));
    assert!(status == GoalStatus::Aborted && ended.error_code != Codes::SUCCESSFUL, "{status:?} {ended:?}");
    let (status, ended) = {
        let goal = FollowJointTrajectory::Goal {
            trajectory: JointTrajectory {
                joint_names: names.clone(),
                points: vec![JointTrajectoryPoint { positions: there.clone(), ..Default::default() }],
                ..Default::default()
            },
            ..Default::default()
        };
        let mut sent = client.arm.send_goal(goal, CALL).await.expect("it is taken");
        sent.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!((status, ended.error_code), (GoalStatus::Aborted, Codes::INVALID_GOAL), "{ended:?}");
    assert!(ended.error_string.contains("does stretch_driver run"), "{ended:?}");
    stage.end().await;
}

/// A whole errand through the driver: the base drives and rolls, the arm goes from point to point, the gripper holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_apple_is_put_in_a_bowl_through_the_driver() {
    let _turn = one_at_a_time().await;
    let (mut stage, _driver) = begun().await;
    let followed = stage.goal("put the apple in the bowl").await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "{:?}\n{}", followed.ending, stage.story());
    let truth = stage.truth().await;
    let place = |name: &str| truth.objects.iter().find(|object| object.name == name).expect(name).position;
    let (apple, bowl) = (place("apple"), place("bowl"));
    assert!((apple[0] - bowl[0]).hypot(apple[1] - bowl[1]) < 0.08, "{apple:?} {bowl:?}");
    stage.end().await;
}
