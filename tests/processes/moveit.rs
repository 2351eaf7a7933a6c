//! What a real MoveIt may answer besides the truth: error codes, part of a line, trajectories that are none, a scene that it does not
//! take. Each ends typed and moves nothing, and afterwards the same sentence is carried out.

use crate::harness::stand_in::{Role, StandIn, elsewhere, remapped};
use crate::harness::{
    CALL, EASY_GOAL, EASY_PLACE, Stage, StageOptions, begins_in, in_time, one_at_a_time, repository, wait_for,
};
use futures::StreamExt;
use prehend_cli::outcome::Outcome;
use prehend_msgs::moveit_msgs::msg::ContactInformation;
use prehend_msgs::moveit_msgs::srv::{ApplyPlanningScene, GetPlanningScene, GetStateValidity};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, ObjectMap, TraceEvent};
use prehend_ros::{GoalHandle, QosProfile};
use serde_json::{Value, json};
use std::cell::Cell;

async fn moveit(stage: &mut Stage, how: &Value) {
    let mut request = json!({"ask": "moveit"});
    for (key, value) in how.as_object().expect("keys") {
        request[key] = value.clone();
    }
    stage.graph.judge.ask(&request).await.unwrap_or_else(|error| panic!("{error}"));
}

/// What MoveIt is asked to do wrong, the reasons one of which the goal must end with, and what must be said.
type Case = (Value, &'static [&'static str], &'static str);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_moveit_answers_ends_typed_and_moves_nothing() {
    let cases: [Case; 16] = [
        // A planning group that is not in the SRDF, a transform that is missing: no other grasp would help.
        (json!({"planning": -15}), &["internal"][..], "moveit.group"),
        (json!({"planning": -21}), &["sensor_fault"], "robot_state_publisher"),
        (json!({"planning": -25}), &["peer_lost"], "controllers"),
        // Somebody pressed stop in RViz.
        (json!({"planning": -7}), &["stopped"], "somebody else stopped it"),
        (json!({"execution": -7}), &["stopped"], "somebody else stopped it"),
        // Other grasps are tried, and fail the same way.
        (json!({"planning": -1}), &["no_plan", "no_grasp"], "no path"),
        (json!({"planning": -6}), &["no_plan", "no_grasp"], "timed out"),
        (json!({"fraction": 0.6}), &["no_plan", "no_grasp"], "60 %"),
        (json!({"trajectory": "empty"}), &["no_plan", "no_grasp"], "it is empty"),
        (json!({"trajectory": "nan"}), &["no_plan", "no_grasp"], "no numbers"),
        (json!({"trajectory": "names"}), &["no_plan", "no_grasp"], "not the arm's"),
        (json!({"trajectory": "joint"}), &["no_plan", "no_grasp"], "not the arm's"),
        (json!({"trajectory": "order"}), &["no_plan", "no_grasp"], "away from where the arm is"),
        (json!({"trajectory": "start"}), &["no_plan", "no_grasp"], "away from where the arm is"),
        (json!({"execution": -4}), &["control_failed"], "list_controllers"),
        (json!({"scene": true}), &["control_failed"], "planning scene"),
    ];
    answers("xarm6", &cases).await;
}

/// The same robot with a MoveIt of Humble's layout: codes without words, and lines that are timed at full speed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn humble_answers_in_its_own_layout() {
    let folder = tempfile::tempdir().expect("a folder");
    let jazzy = std::fs::read_to_string(repository().join("config/robots/xarm6.yaml")).expect("the file");
    assert!(jazzy.contains("distribution: installed"));
    let file = folder.path().join("xarm6_humble.yaml");
    std::fs::write(&file, jazzy.replace("distribution: installed", "distribution: humble")).expect("written");
    let robot: &'static str = Box::leak(file.with_extension("").display().to_string().into_boxed_str());
    let cases: [Case; 6] = [
        (json!({"planning": -15}), &["internal"], "moveit.group"),
        (json!({"planning": -7}), &["stopped"], "somebody else stopped it"),
        (json!({"execution": -7}), &["stopped"], "somebody else stopped it"),
        (json!({"fraction": 0.6}), &["no_plan", "no_grasp"], "60 %"),
        (json!({"trajectory": "joint"}), &["no_plan", "no_grasp"], "not the arm's"),
        (json!({"execution": -4}), &["control_failed"], "list_controllers"),
    ];
    answers(robot, &cases).await;
}

async fn answers(robot: &'static str, cases: &[Case]) {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions { robot, ..StageOptions::default() }).await;
    for (how, reasons, words) in cases {
        let (before, told_before) = (stage.motions().await, stage.events.len());
        moveit(&mut stage, how).await;
        let ended = stage.goal(EASY_GOAL).await;
        let reason = ended.ending.reason.as_deref().unwrap_or_default();
        assert_ne!(ended.ending.outcome, Outcome::Done, "{how}: {:?}", ended.ending);
        assert!(reasons.contains(&reason), "{how}: {:?}\n{}", ended.ending, stage.story());
        let told = ended.ending.message.contains(*words)
            || stage.events.iter().rev().take(200).any(|event| event.message.contains(*words));
        assert!(told, "{how}: nobody says `{words}`: {:?}\n{}", ended.ending, stage.story());
        // It may look from elsewhere in between, and go home from there: that needs no straight line.
        let looks: &[&str] = if how.get("fraction").is_some() { &["look", "home"] } else { &[] };
        let looked = |event: &&TraceEvent| looks.iter().any(|skill| begins_in(event, skill, ""));
        let looked = stage.events[told_before..].iter().filter(looked).count();
        assert_eq!(stage.motions().await, before + looked, "{how}: it moved\n{}", stage.story());
    }
    moveit(&mut stage, &json!({})).await;
    stage.put("red block", EASY_PLACE).await;
    stage.easy_goal_is_reached("all that").await;
    stage.end().await;
}

/// A service of MoveIt that nobody offers: a typed end that says whom to look for, and no motion.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_of_moveit_that_is_not_there() {
    let _turn = one_at_a_time().await;
    for name in ["/compute_cartesian_path", "/apply_planning_scene"] {
        let arguments = remapped("skills", &[name]);
        let mut stage = Stage::start(StageOptions { arguments, ..StageOptions::default() }).await;
        let before = stage.motions().await;
        let ended = stage.goal(EASY_GOAL).await;
        assert_ne!(ended.ending.outcome, Outcome::Done, "{name}: {:?}", ended.ending);
        assert_eq!(ended.ending.reason.as_deref(), Some("peer_lost"), "{name}: {:?}", ended.ending);
        let told = ended.ending.message.contains(&elsewhere(name))
            && ended.ending.message.contains("do MoveIt and the controllers run?");
        assert!(told, "{name}: {:?}", ended.ending);
        assert_eq!(stage.motions().await, before, "{name}: it moved\n{}", stage.story());
        stage.end().await;
    }
}

/// MoveIt hangs: it is there, and answers nothing. That is told as soon as of one that died, and not as a motion that failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moveit_that_answers_nothing() {
    let _turn = one_at_a_time().await;
    let arguments = remapped("skills", &["/get_planning_scene", "/apply_planning_scene"]);
    let mut stage = Stage::start(StageOptions { arguments, ..StageOptions::default() }).await;
    let node = &stage.graph.observer.node;
    let name = elsewhere("/get_planning_scene");
    let _scene =
        node.create_service::<GetPlanningScene::Service>(&name, QosProfile::services()).expect("one");
    let changes = elsewhere("/apply_planning_scene");
    let _changes =
        node.create_service::<ApplyPlanningScene::Service>(&changes, QosProfile::services()).expect("one");
    let before = stage.motions().await;
    let ended = stage.goal(EASY_GOAL).await;
    assert_eq!(ended.ending.reason.as_deref(), Some("peer_lost"), "{:?}\n{}", ended.ending, stage.story());
    assert!(ended.ending.message.contains(&name), "{:?}", ended.ending);
    assert_eq!(stage.motions().await, before, "it moved\n{}", stage.story());
    stage.end().await;
}

/// Jazzy's MoveIt gives no reason when it finds no plan. It is asked what the arm touches.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_plan_and_no_reason_for_it() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    moveit(&mut stage, &json!({"planning": 99999})).await;
    let blind = result_of(look_left(&stage).await).await;
    assert!(blind.error_message.contains("without a reason"), "{blind:?}");

    let services = QosProfile::services();
    let name = stage.graph.robot.moveit.state_validity();
    let node = &stage.graph.observer.node;
    let mut states = node.create_service::<GetStateValidity::Service>(&name, services).expect("a service");
    tokio::spawn(async move {
        while let Some(request) = states.next().await {
            let (asked, answer) = request.into_parts();
            assert_eq!(asked.group_name, "xarm6");
            let contact = ContactInformation {
                contact_body_1: "somebodys_box".to_owned(),
                contact_body_2: "left_finger".to_owned(),
                ..Default::default()
            };
            // Only where the arm would go.
            let is_home = asked.robot_state.joint_state.position[0].abs() < 0.05;
            let contacts = if is_home { Vec::new() } else { vec![contact] };
            let response = GetStateValidity::Response { valid: is_home, contacts, ..Default::default() };
            answer.respond(response).expect("answered");
        }
    });
    let told = "where the arm would go, left_finger touches somebodys_box";
    wait_for("who looks at states is found", async || {
        let ended = result_of(look_left(&stage).await).await;
        ended.error_message.contains(told).then_some(())
    })
    .await;
    stage.end().await;
}

/// Has the arm look to its left.
async fn look_left(stage: &Stage) -> GoalHandle<ExecuteSkill::Action> {
    let node = &stage.graph.observer.node;
    let client = node.create_action_client::<ExecuteSkill::Action>(names::EXECUTE_SKILL).expect("a client");
    let goal = ExecuteSkill::Goal { skill: "look".to_owned(), part: "left".to_owned(), ..Default::default() };
    client.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn result_of(mut goal: GoalHandle<ExecuteSkill::Action>) -> ExecuteSkill::Result {
    in_time("the look ends", goal.result(CALL)).await.unwrap_or_else(|error| panic!("{error}")).1
}

/// Whether the arm is where it looks to its left.
async fn is_left(stage: &mut Stage) -> bool {
    let looks = stage.graph.robot.looks.clone();
    let (_, left) = looks.iter().find(|(name, _)| name == "left").expect("the look");
    let now = stage.arm_stands().await.joints;
    now.iter().zip(left).all(|(now, left)| (now - left).abs() < 0.02)
}

/// While it executes, MoveIt is silent for longer than a robot side may be. It is asked something else, and lives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_motion_that_moveit_is_silent_about_goes_to_its_end() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions { speed: 0.25, ..StageOptions::default() }).await;
    let looked = result_of(look_left(&stage).await).await;
    assert_eq!(looked.error_code, ErrorCode::SUCCESS, "{looked:?}\n{}", stage.story());
    assert!(is_left(&mut stage).await, "{}", stage.story());
    stage.end().await;
}

/// MoveIt is not there, comes, dies while the arm moves, and comes back. Its controller would carry the motion to its end: the arm is
/// stopped there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moveit_that_dies_in_a_motion_and_comes_back() {
    let _turn = one_at_a_time().await;
    let arguments = remapped("skills", &["/move_action", "/execute_trajectory"]);
    let mut stage = Stage::start(StageOptions { arguments, speed: 0.4, ..StageOptions::default() }).await;
    let domain = stage.graph.domain.id;
    let missing = result_of(look_left(&stage).await).await;
    assert_eq!(missing.reason, "peer_lost", "{missing:?}");
    assert!(missing.error_message.contains("do MoveIt and the controllers run?"), "{missing:?}");
    assert_eq!(stage.motions().await, 0, "it moved without MoveIt");
    assert_eq!(missing.map_version, 0, "no map was taken");

    let mut moveit = StandIn::start(Role::MoveIt, domain);
    let goal = in_time("MoveIt is found, and the arm moves", async {
        loop {
            let goal = look_left(&stage).await;
            while !goal.status().is_terminal() {
                if stage.truth().await.moving {
                    return goal;
                }
            }
        }
    })
    .await;
    moveit.kill();
    let lost = result_of(goal).await;
    assert_eq!(lost.reason, "peer_lost", "{lost:?}");
    assert!(!is_left(&mut stage).await, "nobody stopped the arm\n{}", stage.story());

    let _moveit = StandIn::start(Role::MoveIt, domain);
    let taken = Cell::new(0);
    wait_for("the look is done by the new one", async || {
        let result = result_of(look_left(&stage).await).await;
        taken.set(taken.get().max(result.map_version));
        let looked = result.error_code == ErrorCode::SUCCESS;
        assert!(looked || ["peer_lost", "control_failed"].contains(&result.reason.as_str()), "{result:?}");
        looked.then_some(())
    })
    .await;
    assert!(is_left(&mut stage).await, "{}", stage.story());
    // After a motion that was cut short the next skill looks first, and says which map it took.
    assert_ne!(taken.get(), 0, "{}", stage.story());
    let mut map = stage.graph.observer.map.clone();
    let is_taken = |map: &Option<ObjectMap>| map.as_ref().is_some_and(|map| map.version >= taken.get());
    in_time("that map is published", map.wait_for(is_taken)).await.expect("maps");
    stage.end().await;
}
