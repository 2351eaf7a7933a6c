//! The robot's own safety, through the drivers' real interfaces: nothing moves before it is confirmed, each refusal is told with its reason, a
//! loss in motion stops the robot and ends the goal, and the node that ends leaves the robot stopped.

use crate::harness::{EASY_GOAL, EASY_PLACE, Stage, StageOptions, one_at_a_time, wait_for};
use prehend_cli::node::NodeName;
use prehend_cli::outcome::Outcome;
use serde_json::{Value, json};
use std::cell::RefCell;

/// Changes the driver, and says how it is then.
async fn driver(stage: &mut Stage, change: Value) -> Value {
    let mut request = json!({"ask": "vendor"});
    for (key, value) in change.as_object().expect("keys") {
        request[key] = value.clone();
    }
    stage.graph.judge.ask(&request).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until the driver is as wanted.
async fn driver_is(stage: &mut Stage, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let judge = &mut stage.graph.judge;
    wait_for(what, async || {
        let state = judge.ask(&json!({"ask": "vendor"})).await.unwrap_or_else(|error| panic!("{error}"));
        wanted(&state).then_some(state)
    })
    .await
}

/// Waits for a word of a node about arming.
async fn told(stage: &mut Stage, status: &str) {
    stage.event(status, |event| event.name == "arming" && event.status == status).await;
}

/// A goal ends with `not_armed` and these words, and nothing moves.
async fn is_refused(stage: &mut Stage, goal: &str, words: &str) {
    let before = stage.motions().await;
    let refused = stage.goal(goal).await;
    assert_eq!(refused.ending.outcome, Outcome::Refused, "{words}: {:?}\n{}", refused.ending, stage.story());
    assert_eq!(refused.ending.reason.as_deref(), Some("not_armed"), "{words}: {:?}", refused.ending);
    assert!(refused.ending.message.contains(words), "{words}: {:?}", refused.ending);
    assert_eq!(stage.motions().await, before, "{words}: it moved");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_xarm_is_armed_first_watched_and_left_stopped() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;

    // What was set, in the controller's units: millimetres, radians, kilograms.
    let armed = driver_is(&mut stage, "the arm is armed", |state| state["state"] == 2).await;
    for (key, value) in [
        ("boundary", json!([830, 30, 600, -600, 850, -100])),
        ("fence_on", json!(1)),
        ("reduced", json!(1)),
        ("mode", json!(1)),
        ("sensitivity", json!(3)),
        ("max_tcp_speed", json!(1000.0)),
        ("offset", json!([0.0, 0.0, 172.0, 0.0, 0.0, 0.0])),
        ("load_center", json!([0.0, 0.0, 48.0])),
    ] {
        assert_eq!(armed[key], value, "{key}: {armed}");
    }
    let calls: Vec<&str> =
        armed["calls"].as_array().expect("calls").iter().filter_map(Value::as_str).collect();
    assert!(!calls.contains(&"clean_error"), "nobody asked to clear an error: {calls:?}");
    assert_eq!(stage.motions().await, 0);
    stage.easy_goal_is_reached("arming").await;
    stage.put("red block", EASY_PLACE).await;

    // An error of the controller on the way: it stands, and stays so until a person clears it.
    let collision = json!({"ask": "vendor", "error": 31});
    let hit = stage.goal_with_requests(EASY_GOAL, "transit", &[collision]).await;
    assert_eq!(hit.ending.outcome, Outcome::Failed, "{:?}\n{}", hit.ending, stage.story());
    assert_eq!(hit.ending.reason.as_deref(), Some("not_armed"), "{:?}\n{}", hit.ending, stage.story());
    assert!(hit.ending.message.contains("C31"), "{:?}", hit.ending);
    stage.arm_stands().await;
    is_refused(&mut stage, EASY_GOAL, "C31").await;

    // Each way in which the driver does not do what it is asked, met when a person has the arm armed again.
    for (change, words) in [
        (json!({"refuse": "set_fence_mode"}), "/xarm/set_fence_mode was refused with code 11"),
        (json!({"refuse": "set_tcp_load"}), "/xarm/set_tcp_load was refused"),
        (json!({"refuse": "set_state"}), "/xarm/set_state was refused"),
        (json!({"mute": "set_reduced_mode"}), "/xarm/set_reduced_mode did not answer"),
    ] {
        driver(&mut stage, json!({"error": 22, "refuse": "", "mute": ""})).await;
        driver(&mut stage, change).await;
        stage.graph.observer.set_stop(false, "").await.expect("an answer");
        is_refused(&mut stage, EASY_GOAL, words).await;
    }
    // Granted at last, it arms by itself: the error was cleared when the person asked.
    driver(&mut stage, json!({"refuse": "", "mute": ""})).await;
    told(&mut stage, "armed").await;
    stage.easy_goal_is_reached("refusals").await;
    stage.put("red block", EASY_PLACE).await;

    // A driver that falls silent in motion: nobody knows what the arm's safety is.
    let silent =
        stage.goal_with_requests(EASY_GOAL, "transit", &[json!({"ask": "vendor", "silent": true})]).await;
    assert_eq!(silent.ending.reason.as_deref(), Some("not_armed"), "{:?}\n{}", silent.ending, stage.story());
    assert!(silent.ending.message.contains("/xarm/robot_states"), "{:?}", silent.ending);
    stage.arm_stands().await;
    driver(&mut stage, json!({"silent": false})).await;
    told(&mut stage, "armed").await;

    // Whoever else pauses the arm keeps it until a person gives it back.
    driver(&mut stage, json!({"state": 3})).await;
    told(&mut stage, "state").await;
    is_refused(&mut stage, EASY_GOAL, "state is 3").await;
    stage.graph.observer.set_stop(false, "").await.expect("an answer");
    stage.easy_goal_is_reached("a pause").await;

    // The node that ends leaves the arm stopped and the fence on; the next one arms it again.
    let pid = stage.graph.supervisor.pid(NodeName::Skills.name()).expect("it runs");
    let ended = std::process::Command::new("kill").arg(pid.to_string()).status().expect("kill runs");
    assert!(ended.success());
    let stopped = driver_is(&mut stage, "the arm is stopped", |state| state["state"] == 4).await;
    assert_eq!((&stopped["fence_on"], &stopped["reduced"]), (&json!(1), &json!(1)), "{stopped}");
    driver_is(&mut stage, "it is armed again", |state| state["state"] == 2).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_fence_an_xarm_does_not_move() {
    let _turn = one_at_a_time().await;
    let options = StageOptions {
        parameters: vec![
            (NodeName::Sim, "detector:=perfect"),
            (NodeName::Sim, "vendor_without:=set_fence_mode"),
        ],
        ..StageOptions::default()
    };
    let mut stage = Stage::start(options).await;
    is_refused(&mut stage, EASY_GOAL, "/xarm/set_fence_mode is not there: switch it on").await;
    assert_eq!(stage.motions().await, 0);
    // Questions are answered all the same.
    let answered = stage.goal("where is the red block?").await;
    assert_eq!(answered.ending.outcome, Outcome::Done, "{:?}", answered.ending);
    stage.end().await;
}

/// Somebody who does not ask for arming is refused by the robot side, as by a real one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_nobody_armed_refuses() {
    let _turn = one_at_a_time().await;
    let options = StageOptions {
        parameters: vec![(NodeName::Sim, "detector:=perfect"), (NodeName::Skills, "arming:=off")],
        ..StageOptions::default()
    };
    let mut stage = Stage::start(options).await;
    let refused = stage.goal(EASY_GOAL).await;
    assert_eq!(refused.ending.outcome, Outcome::Failed, "{:?}", refused.ending);
    assert_eq!(refused.ending.reason.as_deref(), Some("control_failed"), "{:?}", refused.ending);
    assert_eq!(stage.motions().await, 0, "it moved");
    stage.end().await;
}

const ROOM: &str = "\
name: room of the test
robot: {xy: [1.0, 1.3], yaw: 0.4}
room: {size: [3.6, 2.6]}
objects:
- {name: table, model: table, parameters: {length: 1.0, depth: 0.7, height: 0.70}, pose: {xy: [2.9, 1.3], yaw: 0.0}}
- {name: apple, class: apple, shape: sphere, color: red, size: {radius: 0.034}, mass: 0.15,
   on: table, region: {x: [-0.22, -0.14], y: [0.10, 0.22]}}
";

/// Waits until both nodes that move a Stretch have said it.
async fn both_told(stage: &mut Stage, status: &str) {
    let silent = RefCell::new(vec!["skills", "go_to"]);
    stage
        .event(status, |event| {
            if event.name == "arming" && event.status == status {
                silent.borrow_mut().retain(|node| *node != event.node);
            }
            silent.borrow().is_empty()
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stretch_stops_at_its_runstop_and_moves_in_its_modes() {
    let _turn = one_at_a_time().await;
    let options = StageOptions { scene: ROOM, robot: "stretch", speed: 4.0, ..StageOptions::default() };
    let mut stage = Stage::start(options).await;

    // Not homed, pressed: refused, each with what to do.
    driver(&mut stage, json!({"homed": false})).await;
    both_told(&mut stage, "not_homed").await;
    is_refused(&mut stage, "look around", "/home_the_robot").await;
    driver(&mut stage, json!({"homed": true, "runstop": true})).await;
    both_told(&mut stage, "runstopped").await;
    is_refused(&mut stage, "look around", "runstop is pressed").await;
    driver(&mut stage, json!({"runstop": false})).await;
    both_told(&mut stage, "armed").await;

    // Pressed on the way: it stands. Released, it does not go on by itself.
    let pressed =
        stage.goal_with_requests("look around", "drive", &[json!({"ask": "vendor", "runstop": true})]).await;
    assert_eq!(
        pressed.ending.reason.as_deref(),
        Some("not_armed"),
        "{:?}\n{}",
        pressed.ending,
        stage.story()
    );
    let state = driver(&mut stage, json!({"runstop": false})).await;
    let calls: Vec<&str> =
        state["calls"].as_array().expect("calls").iter().filter_map(Value::as_str).collect();
    assert!(calls.contains(&"switch_to_navigation_mode"), "it was driven in its mode: {calls:?}");
    both_told(&mut stage, "armed").await;
    stage.arm_stands().await;

    // Somebody takes the robot into another mode on the way.
    let taken = stage
        .goal_with_requests("look around", "drive", &[json!({"ask": "vendor", "mode": "position"})])
        .await;
    assert_eq!(taken.ending.reason.as_deref(), Some("not_armed"), "{:?}\n{}", taken.ending, stage.story());
    assert!(taken.ending.message.contains("`position`, not `navigation`"), "{:?}", taken.ending);

    let toured = stage.goal("look around").await;
    assert_eq!(toured.ending.outcome, Outcome::Done, "{:?}\n{}", toured.ending, stage.story());
    stage.end().await;
}
