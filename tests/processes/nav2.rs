//! What Nav2 of either distribution answers: aborted with and without a code, rejected, inactive. Each ends typed and nothing
//! moves, and afterwards the base arrives.

use crate::harness::stand_in::{Role, StandIn, elsewhere, remapped};
use crate::harness::{CALL, SILENCE, Stage, StageOptions, one_at_a_time, repository, wait_for};
use futures::StreamExt;
use prehend_cli::outcome::Outcome;
use prehend_msgs::action_msgs::msg::GoalInfo;
use prehend_msgs::action_msgs::srv::CancelGoal;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::GoTo;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_ros::{GoalHandle, QosProfile};
use serde_json::{Value, json};

const ROOM: &str = "\
name: room of the test
robot: {xy: [1.0, 1.0], yaw: 0.0}
room: {size: [3.6, 2.6]}
objects:
- {name: table, model: table, pose: {xy: [2.9, 1.3], yaw: 0.0}}
";

async fn sent_to_a_place(stage: &Stage) -> GoalHandle<GoTo::Action> {
    let client =
        stage.graph.observer.node.create_action_client::<GoTo::Action>(names::GO_TO).expect("a client");
    let goal = GoTo::Goal {
        kind: "pose".to_owned(),
        pose: prehend_msgs::geometry_msgs::msg::Pose2D { x: 1.4, y: 1.3, theta: 0.0 },
        ..Default::default()
    };
    client.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn result_of(mut goal: GoalHandle<GoTo::Action>) -> GoTo::Result {
    goal.result(SILENCE).await.unwrap_or_else(|error| panic!("{error}")).1
}

async fn to_a_place(stage: &Stage) -> GoTo::Result {
    result_of(sent_to_a_place(stage).await).await
}

/// Fails when the base is not where it began.
async fn it_stands(stage: &mut Stage, begun: [f64; 3], what: &str) {
    let now = stage.truth().await.base.expect("a base").pose;
    let moved = (0..3).any(|axis| (begun[axis] - now[axis]).abs() > 1e-3);
    assert!(!moved, "{what}: it moved from {begun:?} to {now:?}");
}

async fn it_has_arrived(stage: &mut Stage) {
    let now = stage.truth().await.base.expect("a base").pose;
    assert!((now[0] - 1.4).hypot(now[1] - 1.3) < 0.2, "{now:?}");
}

/// Each answer, as the distribution gives it.
async fn answers(robot: &'static str, cases: &[(Value, i32, &str, &str)]) {
    let options = StageOptions { scene: ROOM, robot, speed: 4.0, ..StageOptions::default() };
    let mut stage = Stage::start(options).await;
    let begun = stage.truth().await.base.expect("a base").pose;
    for (how, code, reason, words) in cases {
        let mut request = json!({"ask": "nav2"});
        for (key, value) in how.as_object().expect("keys") {
            request[key] = value.clone();
        }
        stage.graph.judge.ask(&request).await.unwrap_or_else(|error| panic!("{error}"));
        let result = to_a_place(&stage).await;
        assert_eq!((result.error_code, result.reason.as_str()), (*code, *reason), "{how}: {result:?}");
        assert!(result.error_message.contains(words), "{how}: {result:?}");
        it_stands(&mut stage, begun, &how.to_string()).await;
    }
    stage.graph.judge.ask(&json!({"ask": "nav2"})).await.unwrap_or_else(|error| panic!("{error}"));
    let arrived = to_a_place(&stage).await;
    assert_eq!(arrived.error_code, ErrorCode::SUCCESS, "{arrived:?}");
    it_has_arrived(&mut stage).await;
    let toured = stage.goal("look around").await;
    assert_eq!(toured.ending.outcome, Outcome::Done, "{:?}\n{}", toured.ending, stage.story());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jazzy_says_why() {
    let _turn = one_at_a_time().await;
    answers(
        "ranger_xarm6",
        &[
            (json!({"code": 208}), ErrorCode::GOTO_ABORTED, "no_plan", "there is no way to the goal"),
            (json!({"code": 102}), ErrorCode::GOTO_ABORTED, "sensor_fault", "is the base localized"),
            (json!({"code": 106}), ErrorCode::GOTO_ABORTED, "control_failed", "would touch something"),
            (json!({"code": 9999}), ErrorCode::GOTO_ABORTED, "control_failed", "does not know"),
            (json!({"reject": true}), ErrorCode::GOTO_REJECTED, "no_plan", "rejected"),
            (
                json!({"inactive": true}),
                ErrorCode::GOTO_NAVIGATION_INACTIVE,
                "peer_lost",
                "inactive, not active",
            ),
        ],
    )
    .await;
}

/// The same robot behind Humble's layout, which gives no code.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn humble_says_that() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let jazzy =
        std::fs::read_to_string(repository().join("config/robots/ranger_xarm6.yaml")).expect("the file");
    assert!(jazzy.contains("distribution: installed"));
    let file = folder.path().join("ranger_humble.yaml");
    std::fs::write(&file, jazzy.replace("distribution: installed", "distribution: humble")).expect("written");
    let robot: &'static str = Box::leak(file.with_extension("").display().to_string().into_boxed_str());
    answers(
        robot,
        &[
            (json!({"code": 208}), ErrorCode::GOTO_ABORTED, "control_failed", "no reason given"),
            (json!({"reject": true}), ErrorCode::GOTO_REJECTED, "no_plan", "rejected"),
            (
                json!({"inactive": true}),
                ErrorCode::GOTO_NAVIGATION_INACTIVE,
                "peer_lost",
                "inactive, not active",
            ),
        ],
    )
    .await;
}

/// Nav2 is not there, comes, dies on the way, and comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nav2_that_is_missing_dies_and_comes_back() {
    let _turn = one_at_a_time().await;
    let options = StageOptions {
        scene: ROOM,
        robot: "ranger_xarm6",
        speed: 4.0,
        arguments: remapped("go_to", &["/navigate_to_pose"]),
        ..StageOptions::default()
    };
    let mut stage = Stage::start(options).await;
    let begun = stage.truth().await.base.expect("a base").pose;
    let domain = stage.graph.domain.id;
    let lost = (ErrorCode::GOTO_NAVIGATION_LOST, "peer_lost");

    let missing = to_a_place(&stage).await;
    assert_eq!((missing.error_code, missing.reason.as_str()), lost, "{missing:?}");
    let told = missing.error_message.contains(&elsewhere("/navigate_to_pose"))
        && missing.error_message.contains("does Nav2 run?");
    assert!(told, "{missing:?}");
    let toured = stage.goal("look around").await;
    assert_eq!(toured.ending.outcome, Outcome::Failed, "{:?}\n{}", toured.ending, stage.story());
    assert_eq!(toured.ending.reason.as_deref(), Some("peer_lost"), "{:?}", toured.ending);
    it_stands(&mut stage, begun, "Nav2 is not there").await;

    // It may take a while until a process is found, or found to be gone.
    let mut stuck = StandIn::start(Role::StuckNav2, domain);
    let goal = loop {
        let mut goal = sent_to_a_place(&stage).await;
        let mut feedback = goal.feedback();
        let driven = wait_for("it is driven, or is not", async || match feedback.next().await {
            Some(heard) if heard.phase == "drive" => Some(true),
            Some(_) => None,
            None => Some(false),
        });
        if driven.await {
            break goal;
        }
    };
    // The servers behind a navigator drive on without it.
    let node = &stage.graph.observer.node;
    let cancel = "/follow_path/_action/cancel_goal";
    let mut controller =
        node.create_service::<CancelGoal::Service>(cancel, QosProfile::services()).expect("a service");
    stuck.kill();
    let halted = tokio::spawn(async move {
        let request = controller.next().await.expect("the controller is told to stop");
        let every = request.message.goal_info.clone();
        request.respond(CancelGoal::Response::default()).expect("answered");
        every
    });
    let died = result_of(goal).await;
    assert_eq!((died.error_code, died.reason.as_str()), lost, "{died:?}");
    it_stands(&mut stage, begun, "Nav2 died").await;
    assert_eq!(halted.await.expect("halted"), GoalInfo::default(), "every goal of the controller");

    let _nav2 = StandIn::start(Role::Nav2, domain);
    wait_for("the new one drives", async || {
        let result = to_a_place(&stage).await;
        let arrived = result.error_code == ErrorCode::SUCCESS;
        assert!(arrived || (result.error_code, result.reason.as_str()) == lost, "{result:?}");
        arrived.then_some(())
    })
    .await;
    it_has_arrived(&mut stage).await;
    stage.end().await;
}

/// The base's own transform ends while that of the arm goes on: nobody knows where the base is going, so it stands.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_odometry_no_drive_begins() {
    let _turn = one_at_a_time().await;
    let options = StageOptions { scene: ROOM, robot: "ranger_xarm6", speed: 4.0, ..StageOptions::default() };
    let mut stage = Stage::start(options).await;
    let begun = stage.truth().await.base.expect("a base").pose;
    stage.graph.judge.fault(json!({"tf": "odometry"})).await.unwrap_or_else(|error| panic!("{error}"));
    let result = to_a_place(&stage).await;
    let typed = (result.error_code, result.reason.as_str());
    assert_eq!(typed, (ErrorCode::GOTO_NOT_LOCALIZED, "sensor_fault"), "{result:?}");
    assert!(result.error_message.contains("robot's frames"), "{result:?}");
    it_stands(&mut stage, begun, "no odometry").await;
    stage.graph.judge.fault(json!({"tf": "ok"})).await.unwrap_or_else(|error| panic!("{error}"));
    let arrived = to_a_place(&stage).await;
    assert_eq!(arrived.error_code, ErrorCode::SUCCESS, "{arrived:?}");
    it_has_arrived(&mut stage).await;
    stage.end().await;
}
