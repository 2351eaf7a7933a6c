//! Nav2's face of the embedded robot, as a client sees it: goals, refusals, cancel, and what goes wrong on the way.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{CALL, SILENCE, Stage, StageOptions, in_time, one_at_a_time, wait_for};
use futures::StreamExt;
use prehend_cli::node::{NODES, NodeName};
use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::geometry_msgs::msg::{Quaternion, TransformStamped};
use prehend_msgs::nav_msgs::msg::OccupancyGrid;
use prehend_msgs::nav2_msgs::action::NavigateToPose;
use prehend_msgs::sensor_msgs::msg::LaserScan;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_ros::{ActionClient, GoalHandle, GoalStatus, QosProfile};
use prehend_sim::world::BaseTruth;
use serde_json::json;

/// A doorway of 1.2 m divides the room; a table stands in the far half.
const ROOM: &str = "\
name: room of the test
robot: {xy: [1.0, 1.0], yaw: 0.0}
room:
  size: [5.0, 3.0]
  walls:
  - {from: [2.5, -0.05], to: [2.5, 0.9]}
  - {from: [2.5, 2.1], to: [2.5, 3.05]}
objects:
- {name: table, model: table, pose: {xy: [4.4, 1.5], yaw: 0.0}}
- {name: block, class: block, shape: box, color: red, on: table, region: {x: [-0.2, -0.1], y: [-0.2, 0.2]}}
";

async fn start() -> Stage {
    Stage::start(StageOptions {
        scene: ROOM,
        robot: "ranger_xarm6",
        without: NODES.into_iter().filter(|node| *node != NodeName::Sim).collect(),
        speed: 4.0,
        // Nobody is there to arm it.
        parameters: vec![(NodeName::Sim, "arming:=off")],
        ..StageOptions::default()
    })
    .await
}

fn goal(frame: &str, x: f64, y: f64, yaw: f64) -> NavigateToPose::Goal {
    let mut goal = NavigateToPose::Goal::default();
    goal.pose.header.frame_id = frame.to_owned();
    (goal.pose.pose.position.x, goal.pose.pose.position.y) = (x, y);
    let (z, w) = (yaw / 2.0).sin_cos();
    goal.pose.pose.orientation = Quaternion { z, w, ..Default::default() };
    goal
}

async fn send(
    client: &ActionClient<NavigateToPose::Action>,
    goal: NavigateToPose::Goal,
) -> GoalHandle<NavigateToPose::Action> {
    client.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn base(stage: &mut Stage) -> BaseTruth {
    stage.truth().await.base.expect("a base")
}

async fn ask(stage: &mut Stage, request: serde_json::Value) {
    stage.graph.judge.ask(&request).await.unwrap_or_else(|error| panic!("{error}"));
}

fn is_near(base: &BaseTruth, x: f64, y: f64) -> bool {
    (base.pose[0] - x).hypot(base.pose[1] - y) < 0.15
}

async fn goals_are_driven_to(stage: &mut Stage, client: &ActionClient<NavigateToPose::Action>) {
    let mut handle = send(client, goal("map", 3.4, 1.5, 0.0)).await;
    let mut feedback = handle.feedback();
    let first = in_time("feedback", feedback.next()).await.unwrap();
    assert_eq!(first.current_pose.header.frame_id, "map");
    let (status, result) = handle.result(SILENCE).await.unwrap();
    assert_eq!((status, result.error_code), (GoalStatus::Succeeded, 0), "{}", result.error_msg);
    // As Nav2, it says so while it rolls out.
    let at = wait_for("it stands", async || Some(base(stage).await).filter(|base| !base.moving)).await;
    assert!(is_near(&at, 3.4, 1.5) && at.bumps == 0, "{at:?}");
}

async fn what_cannot_be_is_rejected(client: &ActionClient<NavigateToPose::Action>) {
    for (what, wrong) in [
        ("outside", goal("map", 50.0, 0.0, 0.0)),
        ("in a table", goal("map", 4.4, 1.5, 0.0)),
        ("in another frame", goal("moon", 1.0, 1.0, 0.0)),
        ("no number", goal("map", f64::NAN, 1.0, 0.0)),
    ] {
        assert!(client.send_goal(wrong, CALL).await.is_err(), "{what}");
    }
}

async fn a_cancelled_goal_stops(stage: &mut Stage, client: &ActionClient<NavigateToPose::Action>) {
    let mut handle = send(client, goal("map", 1.0, 1.5, 0.0)).await;
    let graph = &mut stage.graph;
    wait_for("it drives", async || {
        graph.judge.snapshot().await.unwrap().base.is_some_and(|base| base.moving).then_some(())
    })
    .await;
    handle.cancel(CALL).await.unwrap();
    let (status, _) = handle.result(SILENCE).await.unwrap();
    assert_eq!(status, GoalStatus::Canceled);
    assert!(!base(stage).await.moving);
}

async fn arm_and_base_lock_each_other(stage: &mut Stage, client: &ActionClient<NavigateToPose::Action>) {
    let robot = stage.graph.robot.clone();
    let node = &stage.graph.observer.node;
    let arm = node.create_action_client::<FollowJointTrajectory::Action>(&robot.arm.controller).unwrap();
    arm.wait_available(CALL).await.unwrap();
    let point = |positions: &[f64], sec: i32| {
        let mut point = JointTrajectoryPoint { positions: positions.to_vec(), ..Default::default() };
        point.time_from_start.sec = sec;
        point
    };
    let mut to = robot.home.clone();
    to[0] += 0.8;
    let turn = |from: &[f64], to: &[f64]| FollowJointTrajectory::Goal {
        trajectory: JointTrajectory {
            joint_names: robot.arm.joints.clone(),
            points: vec![point(from, 0), point(to, 6)],
            ..Default::default()
        },
        ..Default::default()
    };
    let mut driving = send(client, goal("map", 1.0, 1.0, 0.0)).await;
    let judge = &mut stage.graph.judge;
    wait_for("it drives", async || {
        judge.snapshot().await.unwrap().base.is_some_and(|base| base.moving).then_some(())
    })
    .await;
    let mut refused = arm.send_goal(turn(&robot.home, &to), CALL).await.unwrap();
    let (status, result) = refused.result(SILENCE).await.unwrap();
    assert_eq!(status, GoalStatus::Aborted);
    assert!(result.error_string.contains("driving"), "{result:?}");
    let (status, _) = driving.result(SILENCE).await.unwrap();
    assert_eq!(status, GoalStatus::Succeeded);
    wait_for("it stands", async || {
        judge.snapshot().await.unwrap().base.is_some_and(|base| !base.moving).then_some(())
    })
    .await;
    let mut moving = arm.send_goal(turn(&robot.home, &to), CALL).await.unwrap();
    wait_for("the arm moves", async || judge.snapshot().await.unwrap().moving.then_some(())).await;
    let mut refused = send(client, goal("map", 1.0, 1.8, 0.0)).await;
    let (status, result) = refused.result(SILENCE).await.unwrap();
    assert_eq!(status, GoalStatus::Aborted);
    assert!(result.error_msg.contains("the arm is moving"), "{result:?}");
    assert_eq!(moving.result(SILENCE).await.unwrap().0, GoalStatus::Succeeded);
}

async fn a_jump_and_a_bump_are_survived(stage: &mut Stage, client: &ActionClient<NavigateToPose::Action>) {
    let mut handle = send(client, goal("map", 3.4, 1.5, 0.0)).await;
    for fault in [json!({"ask": "jump_localisation", "by": [0.0, 0.5, 0.0]}), json!({"ask": "bump"})] {
        let judge = &mut stage.graph.judge;
        wait_for("it drives", async || {
            judge.snapshot().await.unwrap().base.is_some_and(|base| base.moving).then_some(())
        })
        .await;
        ask(stage, fault).await;
    }
    let mut feedback = handle.feedback();
    let (status, result) = handle.result(SILENCE).await.unwrap();
    assert_eq!((status, result.error_code), (GoalStatus::Succeeded, 0), "{}", result.error_msg);
    let mut recoveries = 0;
    while let Some(Some(message)) = futures::FutureExt::now_or_never(feedback.next()) {
        recoveries = recoveries.max(message.number_of_recoveries);
    }
    assert!(recoveries >= 1, "{recoveries}");
    let at = base(stage).await;
    assert!(is_near(&at, 3.4, 1.5) && at.bumps == 1, "{at:?}");
}

async fn a_blocked_way_aborts(stage: &mut Stage, client: &ActionClient<NavigateToPose::Action>) {
    // In the doorway, 0.4 m of 1.2 m: what is left is too narrow for a base of 0.5 m.
    let mut handle = send(client, goal("map", 1.0, 1.0, 0.0)).await;
    ask(stage, json!({"ask": "put_obstacle", "position": [2.5, 1.5]})).await;
    let (status, result) = handle.result(SILENCE).await.unwrap();
    assert_eq!(status, GoalStatus::Aborted);
    assert!([106, 206, 208].contains(&result.error_code), "{result:?}");
    let at = base(stage).await;
    assert!(at.pose[0] > 2.5 && at.bumps == 1, "nothing was touched: {at:?}");
    ask(stage, json!({"ask": "put_obstacle", "position": null})).await;
    wait_for("the way is seen to be free", async || {
        let mut handle = client.send_goal(goal("map", 1.0, 1.0, 0.0), CALL).await.ok()?;
        let (status, _) = handle.result(SILENCE).await.ok()?;
        (status == GoalStatus::Succeeded).then_some(())
    })
    .await;
}

async fn the_map_and_the_scan_are_there(stage: &Stage) {
    let node = &stage.graph.observer.node;
    let mut maps = node.subscribe::<OccupancyGrid>("/map", QosProfile::transient_local().depth(1)).unwrap();
    let map = in_time("the map", maps.next()).await.unwrap();
    assert_eq!(map.data.len(), (map.info.width * map.info.height) as usize);
    assert!(map.data.contains(&100) && map.data.contains(&0) && map.data.contains(&-1));
    let mut costs = node
        .subscribe::<OccupancyGrid>("/global_costmap/costmap", QosProfile::transient_local().depth(1))
        .unwrap();
    assert_eq!(in_time("the costmap", costs.next()).await.unwrap().data.len(), map.data.len());
    let mut scans = node.subscribe::<LaserScan>("/scan", QosProfile::sensor_data()).unwrap();
    let scan = in_time("a scan", scans.next()).await.unwrap();
    assert_eq!((scan.ranges.len(), scan.header.frame_id.as_str()), (541, "laser_link"));
    let mut transforms = node.subscribe::<TFMessage>("/tf", QosProfile::default().depth(50)).unwrap();
    for (parent, child) in [("map", "odom"), ("odom", "base_link")] {
        in_time("a transform", async {
            loop {
                let message = transforms.next().await.unwrap();
                let is =
                    |one: &TransformStamped| one.header.frame_id == parent && one.child_frame_id == child;
                if message.transforms.iter().any(is) {
                    return;
                }
            }
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_behind_nav2s_names() {
    let _turn = one_at_a_time().await;
    let mut stage = start().await;
    let client = stage
        .graph
        .observer
        .node
        .create_action_client::<NavigateToPose::Action>("/navigate_to_pose")
        .unwrap();
    client.wait_available(CALL).await.unwrap();
    the_map_and_the_scan_are_there(&stage).await;
    what_cannot_be_is_rejected(&client).await;
    goals_are_driven_to(&mut stage, &client).await;
    a_cancelled_goal_stops(&mut stage, &client).await;
    arm_and_base_lock_each_other(&mut stage, &client).await;
    a_jump_and_a_bump_are_survived(&mut stage, &client).await;
    a_blocked_way_aborts(&mut stage, &client).await;
    stage.end().await;
}
