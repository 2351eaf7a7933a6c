//! What a real MoveIt may answer besides the truth: error codes, part of a line, trajectories that are none, a scene that it does not
//! take. Each ends typed and moves nothing, and afterwards the same sentence is carried out.

mod harness;

use harness::{EASY_GOAL, EASY_PLACE, Stage, StageOptions, one_at_a_time, repository};
use prehend_cli::outcome::Outcome;
use serde_json::{Value, json};

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
    assert!(jazzy.contains("distribution: jazzy"));
    let file = folder.path().join("xarm6_humble.yaml");
    std::fs::write(&file, jazzy.replace("distribution: jazzy", "distribution: humble")).expect("written");
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
        let before = stage.motions().await;
        moveit(&mut stage, how).await;
        let ended = stage.goal(EASY_GOAL).await;
        let reason = ended.ending.reason.as_deref().unwrap_or_default();
        assert_ne!(ended.ending.outcome, Outcome::Done, "{how}: {:?}", ended.ending);
        assert!(reasons.contains(&reason), "{how}: {:?}\n{}", ended.ending, stage.story());
        let told = ended.ending.message.contains(*words)
            || stage.events.iter().rev().take(200).any(|event| event.message.contains(*words));
        assert!(told, "{how}: nobody says `{words}`: {:?}\n{}", ended.ending, stage.story());
        // It may look from elsewhere in between: that needs no straight line.
        let may_look = how.get("fraction").is_some();
        assert!(may_look || stage.motions().await == before, "{how}: it moved\n{}", stage.story());
    }
    moveit(&mut stage, &json!({})).await;
    stage.put("red block", EASY_PLACE).await;
    stage.easy_goal_is_reached("all that").await;
    stage.end().await;
}
