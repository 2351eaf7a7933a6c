//! `stretch_driver` in mode `position`, as a client of the embedded Stretch: its joint names, its joint states, its odometry of a base that moves as
//! a joint of the arm, one point after the other, and what it refuses. By stretch_ros2's joint_trajectory_server.py and command_groups.py.

use super::elsewhere;
use futures::StreamExt;
use prehend_msgs::builtin_interfaces::msg::Duration as WireDuration;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::control_msgs::msg::GripperCommand as Command;
use prehend_msgs::nav_msgs::msg::Odometry;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_msgs::std_msgs::msg::String as Text;
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_robots::RobotConfig;
use prehend_ros::{ActionClient, ExecutingGoal, GoalStatus, Node, QosProfile};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Deadline of one call to the embedded robot.
const CALL: Duration = Duration::from_secs(20);
/// Time for one point, after which the driver gives up (`default_goal_timeout_s`).
const POINT: Duration = Duration::from_secs(10);
/// Half of the aperture for an angle of a finger (`GripperConversion.finger_length_m`).
const FINGER: f64 = 0.171;
/// How near the gripper must come for the driver to be content, metres.
const CONTENT: f64 = 0.015;
/// What the base is called when it is to go some way.
const TRANSLATE: &str = "translate_mobile_base";

type Goal = ExecutingGoal<FollowJointTrajectory::Action>;

struct Driver {
    robot: RobotConfig,
    arm: ActionClient<FollowJointTrajectory::Action>,
    gripper: ActionClient<GripperCommand::Action>,
    states: watch::Receiver<Option<JointState>>,
    modes: watch::Receiver<String>,
}

/// Serves for as long as the node lives.
pub(super) fn serve(node: &Node) {
    let robot = RobotConfig::load(Path::new("stretch")).expect("the robot file");
    let names = robot.driver.clone().expect("a driver");
    let navigation = robot.navigation.clone().expect("a base");
    let (heard, states) = watch::channel(None);
    let (moded, modes) = watch::channel(String::new());
    let mut incoming =
        node.subscribe::<JointState>(&robot.joint_states, QosProfile::sensor_data()).expect("a topic");
    let outgoing =
        node.create_publisher(&names.joint_states, QosProfile::default().depth(1)).expect("a topic");
    let mut modes_heard = node.subscribe::<Text>("/mode", QosProfile::sensor_data()).expect("a topic");
    let mut parked =
        node.subscribe::<Odometry>(&navigation.odometry, QosProfile::sensor_data()).expect("a topic");
    let odometry = node
        .create_publisher::<Odometry>(&elsewhere(&navigation.odometry), QosProfile::default().depth(1))
        .expect("a topic");
    let latest = states.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                Some(state) = incoming.next() => {
                    outgoing.publish(&vendor_state(&state)).expect("sent");
                    heard.send_replace(Some(state));
                }
                Some(mode) = modes_heard.next() => drop(moded.send_replace(mode.data)),
                Some(place) = parked.next() => {
                    let roll = latest.borrow().as_ref().map_or(0.0, |state| position(state, "joint_mobile_base_translation"));
                    odometry.publish(&rolled(place, roll)).expect("sent");
                }
                else => return,
            }
        }
    });
    let driver = Arc::new(Driver {
        arm: node.create_action_client(&robot.arm.controller).expect("a client"),
        gripper: node.create_action_client(&robot.gripper.action).expect("a client"),
        robot,
        states,
        modes,
    });
    let mut server =
        node.create_action_server::<FollowJointTrajectory::Action>(&names.controller).expect("a server");
    tokio::spawn(async move {
        while let Some(request) = server.next().await {
            let (goal, driver) = (request.accept(), Arc::clone(&driver));
            tokio::spawn(async move { driver.execute(goal).await });
        }
    });
}

fn position(state: &JointState, name: &str) -> f64 {
    let index = state.name.iter().position(|known| known == name).expect("a joint");
    state.position[index]
}

/// Without the base, with the fingers' angles and the arm's four tubes.
fn vendor_state(state: &JointState) -> JointState {
    let aperture = position(state, "gripper_aperture");
    let extension = position(state, "wrist_extension");
    let mut told = vec![("wrist_extension", extension), ("joint_lift", position(state, "joint_lift"))];
    told.extend(
        ["joint_arm_l3", "joint_arm_l2", "joint_arm_l1", "joint_arm_l0"].map(|name| (name, extension / 4.0)),
    );
    let same =
        ["joint_head_pan", "joint_head_tilt", "joint_wrist_yaw", "joint_wrist_pitch", "joint_wrist_roll"];
    told.extend(same.map(|name| (name, position(state, name))));
    let fingers = ["joint_gripper_finger_left", "joint_gripper_finger_right"];
    told.extend(fingers.map(|name| (name, aperture / 2.0 / FINGER)));
    JointState {
        header: state.header.clone(),
        name: told.iter().map(|(name, _)| (*name).to_owned()).collect(),
        position: told.iter().map(|(_, position)| *position).collect(),
        ..Default::default()
    }
}

/// The place, a way further along its heading.
fn rolled(mut place: Odometry, roll: f64) -> Odometry {
    let q = &place.pose.pose.orientation;
    let yaw = 2.0 * q.z.atan2(q.w);
    place.pose.pose.position.x += roll * yaw.cos();
    place.pose.pose.position.y += roll * yaw.sin();
    place
}

fn result(error_code: i32, words: &str) -> FollowJointTrajectory::Result {
    FollowJointTrajectory::Result { error_code, error_string: words.to_owned() }
}

impl Driver {
    async fn execute(&self, goal: Goal) {
        type Code = FollowJointTrajectory::Result;
        let trajectory = goal.goal().trajectory.clone();
        let mode = self.modes.borrow().clone();
        if mode != "position" {
            // In mode `trajectory` it wants two points at least, in any other it moves nothing by goals.
            return goal.abort(result(Code::INVALID_GOAL, &format!("not in mode={mode}")));
        }
        let known = |name: &String| {
            let others = ["joint_mobile_base_translation", "gripper_aperture"];
            name == TRANSLATE
                || name == others[1]
                || name != others[0] && self.robot.arm.joints.contains(name)
        };
        if trajectory.joint_names.is_empty() || !trajectory.joint_names.iter().all(known) {
            return goal.abort(result(
                Code::INVALID_JOINTS,
                "joint names violated one of command group's requirements",
            ));
        }
        for point in &trajectory.points {
            let done = tokio::select! {
                done = self.go(&goal, &trajectory.joint_names, point) => done,
                () = goal.cancelled() => {
                    // The joints go on to the point.
                    return goal.canceled(FollowJointTrajectory::Result::default());
                }
            };
            if let Err(words) = done {
                return goal.abort(result(Code::PATH_TOLERANCE_VIOLATED, &words));
            }
        }
        goal.succeed(result(Code::SUCCESSFUL, "Achieved all target points."));
    }

    /// One point, all joints at once, each with its speed.
    async fn go(&self, goal: &Goal, names: &[String], point: &JointTrajectoryPoint) -> Result<(), String> {
        let state = self.states.borrow().clone().expect("it was heard");
        let asked = |name: &str| names.iter().position(|known| known == name);
        if let Some(index) = asked("gripper_aperture") {
            return self.grip(goal, point.positions[index]).await;
        }
        let from: Vec<f64> = self.robot.arm.joints.iter().map(|name| position(&state, name)).collect();
        let mut to = from.clone();
        let mut time: f64 = 0.1;
        for (joint, name) in self.robot.arm.joints.iter().enumerate() {
            let index = if name == "joint_mobile_base_translation" {
                asked(TRANSLATE).inspect(|index| to[joint] += point.positions[*index])
            } else {
                asked(name).inspect(|index| to[joint] = point.positions[*index])
            };
            if let Some(speed) = index.and_then(|index| point.velocities.get(index)) {
                time = time.max((to[joint] - from[joint]).abs() / speed);
            }
        }
        // Ramps: they begin and end at rest.
        let time = 1.6 * time;
        let samples = (time / 0.02).ceil() as u32;
        let sample = |index: u32| {
            let share = f64::from(index) / f64::from(samples);
            let eased = share * share * (3.0 - 2.0 * share);
            let seconds = time * share;
            JointTrajectoryPoint {
                positions: from.iter().zip(&to).map(|(from, to)| from + (to - from) * eased).collect(),
                time_from_start: WireDuration {
                    sec: seconds.floor() as i32,
                    nanosec: (seconds.fract() * 1e9) as u32,
                },
                ..Default::default()
            }
        };
        let trajectory = JointTrajectory {
            joint_names: self.robot.arm.joints.clone(),
            points: (0..=samples).map(sample).collect(),
            ..Default::default()
        };
        let sent = FollowJointTrajectory::Goal { trajectory, ..Default::default() };
        let mut moving = self.arm.send_goal(sent, CALL).await.map_err(|error| error.to_string())?;
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        loop {
            tokio::select! {
                ended = moving.result(CALL) => return match ended.map_err(|error| error.to_string())? {
                    (GoalStatus::Succeeded, _) => Ok(()),
                    (_, ended) => Err(ended.error_string),
                },
                _ = tick.tick() => feed_back(goal),
            }
        }
    }

    /// It is content when it is near, and gives up when its time is over; what it holds keeps it from both.
    async fn grip(&self, goal: &Goal, aperture: f64) -> Result<(), String> {
        let command = Command { position: aperture, max_effort: self.robot.gripper.grip_force };
        self.gripper
            .send_goal(GripperCommand::Goal { command }, CALL)
            .await
            .map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        while begun.elapsed() < POINT {
            tick.tick().await;
            feed_back(goal);
            let found = self.states.borrow().as_ref().map(|state| position(state, "gripper_aperture"));
            if found.is_some_and(|found| (found - aperture).abs() < CONTENT) {
                return Ok(());
            }
        }
        Err("Time to execute the current goal point exceeded the default_goal_timeout".to_owned())
    }
}

fn feed_back(goal: &Goal) {
    goal.publish_feedback(FollowJointTrajectory::Feedback::default()).expect("sent");
}
