//! Driving among the other nodes, and what goes wrong on the way: a stop, a lost node, a blocked doorway, a localisation that jumps, a
//! bump, things that are gone, a robot that dies. Each ends typed, and what is claimed is so.

use crate::harness::{CALL, SILENCE, Stage, StageOptions, begins, one_at_a_time, wait_for};
use prehend_cli::node::NodeName;
use prehend_cli::outcome::{Ending, Outcome};
use prehend_msgs::geometry_msgs::msg::{Point, PoseStamped};
use prehend_msgs::names;
use prehend_msgs::nav2_msgs::action::NavigateToPose;
use prehend_msgs::prehend_interfaces::action::GoTo;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::Stop;
use prehend_ros::{ActionClient, GoalStatus, QosProfile};
use serde_json::{Value, json};

/// A block on one table, a plate on another, and between them a wall with a doorway of 1.2 m.
const ROOM: &str = include_str!("../scenes/two_rooms.yaml");

const GOAL: &str = "put the red block on the plate";

async fn base_stands(stage: &mut Stage) {
    let mut before: Option<[f64; 3]> = None;
    wait_for("the base stands", async || {
        let now = stage.truth().await.base.expect("a base").pose;
        let stands = before.is_some_and(|before| (0..3).all(|axis| (before[axis] - now[axis]).abs() < 1e-4));
        before = Some(now);
        stands.then_some(())
    })
    .await;
}

async fn stop(stage: &Stage, engage: bool) {
    let node = &stage.graph.observer.node;
    let stop = node.create_client::<Stop::Service>(names::STOP, QosProfile::services()).expect("a client");
    let request = Stop::Request { engage, reason: "test".to_owned() };
    assert!(stop.request(request, CALL).await.expect("an answer").success);
}

/// Errands that end typed, without a drive.
async fn errands_are_refused(stage: &Stage) {
    let node = &stage.graph.observer.node;
    let client = node.create_action_client::<GoTo::Action>(names::GO_TO).expect("a client");
    let pose = |x: f64| GoTo::Goal {
        kind: "pose".to_owned(),
        pose: prehend_msgs::geometry_msgs::msg::Pose2D { x, y: 1.0, theta: 0.0 },
        ..Default::default()
    };
    let object = GoTo::Goal {
        kind: "object".to_owned(),
        object_key: "room_unicorn_0".to_owned(),
        ..Default::default()
    };
    let visit = |places: &[f64]| GoTo::Goal {
        kind: "visit".to_owned(),
        places: places.iter().map(|x| Point { x: *x, y: 1.0, z: 0.7 }).collect(),
        ..Default::default()
    };
    let none = GoTo::Goal { kind: "dance".to_owned(), ..Default::default() };
    for (goal, code) in [
        (pose(40.0), ErrorCode::GOTO_OUTSIDE_MAP),
        (pose(f64::NAN), ErrorCode::GOTO_BAD_REQUEST),
        // In the middle of a table: the verifier looks itself.
        (pose(4.3), ErrorCode::GOTO_REFUSED),
        (object, ErrorCode::GOTO_UNKNOWN_OBJECT),
        (none, ErrorCode::GOTO_BAD_REQUEST),
        (visit(&[]), ErrorCode::GOTO_BAD_REQUEST),
        (visit(&[4.0, f64::INFINITY]), ErrorCode::GOTO_BAD_REQUEST),
        (visit(&[4.0; 101]), ErrorCode::GOTO_BAD_REQUEST),
        (visit(&[40.0]), ErrorCode::GOTO_NOTHING_SEEN),
    ] {
        let what = format!("{goal:?}");
        let mut handle = client.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"));
        let (_, result) = handle.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(result.error_code, code, "{what}: {}", result.error_message);
    }
}

/// In the doorway, 0.4 m of 1.2 m: what is left is too narrow for a base of 0.5 m.
fn obstacle(position: Option<[f64; 2]>) -> Value {
    json!({"ask": "put_obstacle", "position": position})
}

/// Where the block stands on its table.
const BLOCK: [f64; 3] = [4.15, 1.3, 0.727];

async fn is_on_the_plate(stage: &mut Stage) -> bool {
    let truth = stage.arm_stands().await;
    let block = truth.objects.iter().find(|object| object.name == "red block").expect("the block");
    block.on.iter().chain(&block.inside).any(|under| under == "plate") && !block.held
}

/// The way is blocked, for good or until somebody has gone on; then the localisation jumps and the base bumps, and it arrives all the same.
async fn obstacles_are_overcome_or_told(stage: &mut Stage) {
    let this_side = stage.goal("go to the plate").await;
    assert_eq!(this_side.ending.outcome, Outcome::Done, "{:?}", this_side.ending);
    let blocked = stage.goal_with_requests(GOAL, "drive", &[obstacle(Some([2.5, 1.3]))]).await;
    assert_eq!(blocked.ending.outcome, Outcome::Failed, "{:?}\n{}", blocked.ending, stage.story());
    let reason = blocked.ending.reason.as_deref().unwrap_or_default();
    assert!(["control_failed", "no_plan"].contains(&reason), "{:?}", blocked.ending);
    assert!(!is_on_the_plate(stage).await);
    base_stands(stage).await;
    stage.graph.judge.ask(&obstacle(None)).await.expect("the way is free");
    // Somebody who steps into the doorway and goes on is waited for.
    let passes = |event: &TraceEvent, step: usize| match step {
        0 => begins(event, "drive"),
        _ => event.name == "go_to/way",
    };
    let steps_into_it = [obstacle(Some([2.5, 1.3])), obstacle(None)];
    let waited = stage.goal_with_request_at("go to the red block", passes, &steps_into_it).await;
    assert_eq!(waited.ending.outcome, Outcome::Done, "{:?}\n{}", waited.ending, stage.story());
    assert!(stage.story().contains("waiting for one"), "{}", stage.story());
    let back = stage.goal("go to the plate").await;
    assert_eq!(back.ending.outcome, Outcome::Done, "{:?}", back.ending);
    let bumps = stage.truth().await.base.expect("a base").bumps;
    let faults = [json!({"ask": "jump_localisation", "by": [0.0, 0.4, 0.0]}), json!({"ask": "bump"})];
    let shaken = stage.goal_with_requests(GOAL, "drive", &faults).await;
    assert_eq!(shaken.ending.outcome, Outcome::Done, "{:?}\n{}", shaken.ending, stage.story());
    assert!(is_on_the_plate(stage).await, "{}", stage.story());
    assert!(stage.truth().await.base.expect("a base").bumps > bumps);
}

async fn has_a_goal(navigator: &ActionClient<NavigateToPose::Action>) {
    wait_for("the navigator has a goal", async || navigator.occupied()).await;
}

fn is_stopped_by_somebody_else(stage: &Stage, ending: &Ending) {
    assert_eq!(ending.reason.as_deref(), Some("stopped"), "{ending:?}\n{}", stage.story());
    assert!(ending.message.contains("somebody else"), "{ending:?}");
}

/// A person at RViz, or another program, cancels the drive at the navigation, or sends the base somewhere else: Prehend does not insist.
async fn somebody_else_decides(stage: &mut Stage) {
    let node = stage.graph.observer.node.clone();
    let navigator = &stage.graph.robot.navigation.as_ref().expect("a base").action;
    let client = node.create_action_client::<NavigateToPose::Action>(navigator).expect("a client");
    // From one room to the other: the way is long enough for somebody to decide something.
    let at_the_plate = stage.goal("go to the plate").await;
    assert_eq!(at_the_plate.ending.outcome, Outcome::Done, "{:?}", at_the_plate.ending);
    let cancelled = stage
        .goal_and(
            "go to the red block",
            |event| begins(event, "drive"),
            async |_| {
                has_a_goal(&client).await;
                assert_eq!(client.cancel_all(CALL).await.expect("an answer"), 1);
            },
        )
        .await;
    is_stopped_by_somebody_else(stage, &cancelled.ending);
    base_stands(stage).await;
    let at_the_block = stage.goal("go to the red block").await;
    assert_eq!(at_the_block.ending.outcome, Outcome::Done, "{:?}", at_the_block.ending);

    let mut pose = PoseStamped::default();
    pose.header.frame_id = "map".to_owned();
    (pose.pose.position.x, pose.pose.position.y) = (1.0, 1.0);
    pose.pose.orientation.w = 1.0;
    let elsewhere = NavigateToPose::Goal { pose, ..Default::default() };
    let mut theirs = None;
    let sent_away = stage
        .goal_and(
            "go to the plate",
            |event| begins(event, "drive"),
            async |_| {
                has_a_goal(&client).await;
                theirs = Some(client.send_goal(elsewhere, CALL).await.expect("taken"));
            },
        )
        .await;
    is_stopped_by_somebody_else(stage, &sent_away.ending);
    let (status, _) = theirs.expect("sent").result(SILENCE).await.expect("an end");
    assert_eq!(status, GoalStatus::Succeeded, "their drive goes on");
    base_stands(stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drive_ends_typed_whatever_happens() {
    let _turn = one_at_a_time().await;
    let options = StageOptions { scene: ROOM, robot: "ranger_xarm6", speed: 4.0, ..StageOptions::default() };
    let mut stage = Stage::start(options).await;
    let toured = stage.goal("look around").await;
    assert_eq!(toured.ending.outcome, Outcome::Done, "{:?}", toured.ending);
    errands_are_refused(&stage).await;

    // A stop on the way.
    let node = &stage.graph.observer.node;
    let service = node.create_client::<Stop::Service>(names::STOP, QosProfile::services()).expect("a client");
    let engage = Stop::Request { engage: true, reason: "test".to_owned() };
    let stopped = stage
        .goal_and(
            GOAL,
            |event| begins(event, "drive"),
            async |_| {
                assert!(service.request(engage, CALL).await.expect("an answer").success);
            },
        )
        .await;
    assert_eq!(stopped.ending.reason.as_deref(), Some("stopped"), "{:?}", stopped.ending);
    base_stands(&mut stage).await;
    stop(&stage, false).await;

    somebody_else_decides(&mut stage).await;

    // The node that drives is lost: the verifier stops the base.
    let go_to = NodeName::GoTo.name();
    let lost =
        stage.goal_and(GOAL, |event| begins(event, "drive"), async |supervisor| supervisor.kill(go_to)).await;
    assert_eq!(lost.ending.reason.as_deref(), Some("peer_lost"), "{:?}", lost.ending);
    base_stands(&mut stage).await;
    stage.everybody_is_there().await;

    stage.put("red block", BLOCK).await;
    obstacles_are_overcome_or_told(&mut stage).await;

    // What is not there any more is told, not claimed.
    stage.put("red block", [0.4, 0.4, 0.03]).await;
    let stale = stage.goal(GOAL).await;
    assert_eq!(stale.ending.outcome, Outcome::Failed, "{:?}", stale.ending);
    assert_eq!(stale.ending.reason.as_deref(), Some("stale"), "{:?}", stale.ending);

    // The navigation dies on the way, and with it whatever moves.
    stage.put("red block", BLOCK).await;
    let sim = NodeName::Sim.name();
    let dead =
        stage.goal_and(GOAL, |event| begins(event, "drive"), async |supervisor| supervisor.kill(sim)).await;
    assert_eq!(dead.ending.outcome, Outcome::Failed, "{:?}", dead.ending);
    assert_eq!(dead.ending.reason.as_deref(), Some("peer_lost"), "{:?}", dead.ending);
    stage.end().await;
}
