//! MoveIt and the controllers missing, rejecting, dying, coming back with another time, and used by somebody else.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{
    CALL, EASY_GOAL, PREHEND, Stage, StageOptions, begins, begins_in, in_time, one_at_a_time, repository,
    wait_for,
};
use futures::StreamExt;
use prehend_cli::node::NodeName;
use prehend_cli::outcome::Outcome;
use prehend_msgs::Action;
use prehend_msgs::builtin_interfaces::msg::Duration;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::moveit_msgs::action::{ExecuteTrajectory, MoveGroup};
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_ros::{GoalStatus, Node, RosArguments};
use std::process::Stdio;

/// A graph whose skills know one name of the robot side by another.
async fn stage_with(name: &str, other: &str) -> Stage {
    let mut arguments = RosArguments::default();
    arguments.add_remap(&format!("skills:{name}:={other}")).unwrap();
    Stage::start(StageOptions { arguments, ..Default::default() }).await
}

/// A server that takes no goal, as an inactive controller or a MoveIt that is shutting down.
fn rejecting<A: Action>(node: &Node, name: &str) {
    let mut server = node.create_action_server::<A>(name).unwrap();
    tokio::spawn(async move {
        while let Some(request) = server.next().await {
            request.reject();
        }
    });
}

/// Nobody is there, or whoever is there takes nothing: a typed end, the arm has not moved, and no node died.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_and_rejecting_servers() {
    let _turn = one_at_a_time().await;
    for (name, reasons) in [
        ("/move_action", ["control_failed", "peer_lost"]),
        ("/execute_trajectory", ["control_failed", "peer_lost"]),
    ] {
        for offered in [false, true] {
            let mut stage = stage_with(name, "/elsewhere").await;
            let node = stage.graph.observer.node.clone();
            match (offered, name) {
                (false, _) => {}
                (true, "/move_action") => rejecting::<MoveGroup::Action>(&node, "/elsewhere"),
                (true, _) => rejecting::<ExecuteTrajectory::Action>(&node, "/elsewhere"),
            }
            let (pids, before) = (stage.pids(), stage.motions().await);
            let followed = stage.goal(EASY_GOAL).await;
            let reason = followed.ending.reason.clone().unwrap_or_default();
            let what = format!("{name}, offered: {offered}: {:?}\n{}", followed.ending, stage.story());
            assert_ne!(followed.ending.outcome, Outcome::Done, "{what}");
            assert!(reasons.contains(&reason.as_str()), "{what}");
            assert_eq!(stage.motions().await, before, "it moved: {what}");
            assert_eq!(stage.pids(), pids, "{what}");
            stage.end().await;
        }
    }
}

/// A gripper whose controller is inactive rejects: the goal ends typed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gripper_that_takes_no_goal() {
    let _turn = one_at_a_time().await;
    let mut stage = stage_with("/xarm_gripper/gripper_action", "/elsewhere").await;
    rejecting::<GripperCommand::Action>(&stage.graph.observer.node, "/elsewhere");
    let followed = stage.goal(EASY_GOAL).await;
    assert_eq!(followed.ending.outcome, Outcome::Failed, "{:?}", followed.ending);
    assert_eq!(followed.ending.reason.as_deref(), Some("control_failed"), "{:?}", followed.ending);
    stage.arm_stands().await;
    stage.end().await;
}

/// The whole robot side dies during a motion and comes back: its clock begins anew, and the next goal is carried out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_robot_side_restarts_and_its_clock_jumps_back() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let sim = NodeName::Sim.name();
    let followed =
        stage.goal_and(EASY_GOAL, |event| begins(event, ""), async |supervisor| supervisor.kill(sim)).await;
    assert_eq!(followed.ending.outcome, Outcome::Failed, "{:?}", followed.ending);
    let clock = stage.graph.observer.node.clock();
    let (jumps, before) = (clock.jumps(), clock.now_nanoseconds());
    let again = tokio::process::Command::new(PREHEND)
        .args(["node", sim, "--supervised", "--speed", "3", "--param", "detector:=perfect", "--scene"])
        .arg(stage.folder.path().join("scene.yaml"))
        .env("ROS_DOMAIN_ID", stage.graph.domain.id.to_string())
        .current_dir(repository())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    wait_for("the clock begins anew", async || (clock.jumps() > jumps).then_some(())).await;
    assert!(clock.now_nanoseconds() < before);
    stage.everybody_is_there().await;
    let followed = in_time("the goal", async {
        loop {
            let followed = stage.goal(EASY_GOAL).await;
            match followed.ending.reason.as_deref() {
                // The agent may still wait for the end of the goal that was lost.
                Some("busy") => {}
                // A driver that began anew is in another mode than was armed: a person has to say that this is well.
                Some("not_armed") => drop(stage.graph.observer.set_stop(false, "").await.expect("an answer")),
                _ => break followed,
            }
        }
    })
    .await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "{:?}\n{}", followed.ending, stage.story());
    drop(again);
    stage.end().await;
}

/// A person at RViz, or another program, gives the arm's controller a trajectory, which takes the place of ours: Prehend leaves the arm to them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_arm_that_somebody_else_moves_is_left_to_them() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions { speed: 1.0, ..StageOptions::default() }).await;
    let arm = stage.graph.robot.arm.clone();
    let begins_at = stage.arm_stands().await.joints;
    let node = stage.graph.observer.node.clone();
    let controller = node.create_action_client::<FollowJointTrajectory::Action>(&arm.controller).unwrap();
    let back = JointTrajectoryPoint {
        positions: begins_at.clone(),
        velocities: vec![0.0; begins_at.len()],
        time_from_start: Duration { sec: 3, nanosec: 0 },
        ..Default::default()
    };
    let trajectory =
        JointTrajectory { joint_names: arm.joints.clone(), points: vec![back], ..Default::default() };
    let mut theirs = None;
    let followed = stage
        .goal_and(
            EASY_GOAL,
            |event| begins_in(event, "grasp", "transit"),
            async |_| {
                wait_for("the controller has a goal", async || controller.occupied()).await;
                let goal = FollowJointTrajectory::Goal { trajectory, ..Default::default() };
                theirs = Some(controller.send_goal(goal, CALL).await.expect("taken"));
            },
        )
        .await;
    let what = format!("{:?}\n{}", followed.ending, stage.story());
    assert_eq!(followed.ending.reason.as_deref(), Some("stopped"), "{what}");
    assert!(followed.ending.message.contains("somebody else"), "{what}");
    let (status, result) = theirs.expect("sent").result(CALL).await.expect("an end");
    assert_eq!(status, GoalStatus::Succeeded, "their motion was cut short: {result:?}\n{what}");
    let now = stage.arm_stands().await.joints;
    assert!(now.iter().zip(&begins_at).all(|(now, begins)| (now - begins).abs() < 0.01), "{now:?}\n{what}");
    let again = stage.goal(EASY_GOAL).await;
    assert_eq!(again.ending.outcome, Outcome::Done, "{:?}\n{}", again.ending, stage.story());
    stage.end().await;
}
