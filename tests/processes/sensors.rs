//! Sensors that fail: a typed end, and no motion.

use crate::harness::{CALL, EASY_GOAL, EASY_PLACE, Stage, StageOptions, in_time, one_at_a_time, wait_for};
use prehend_cli::outcome::Outcome;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::UpdateMap;
use prehend_ros::QosProfile;
use prehend_sim::world::Truth;
use serde_json::json;

/// How old the last transform is when a motion is asked for, nanoseconds: young enough for everything but the wait for a new one.
const YOUNG: i64 = 300_000_000;

/// Every fault of the robot side off.
fn healthy() -> serde_json::Value {
    json!({"camera": "ok", "depth": "ok", "detector": "ok", "frame": "ok", "tf": "ok", "info": "ok", "joints": "ok"})
}

/// How far anything is from where it lay, metres.
fn displacement(before: &Truth, after: &Truth) -> f64 {
    let of_one = before.objects.iter().zip(&after.objects).map(|(was, is)| {
        let square = |axis: usize| (was.position[axis] - is.position[axis]).powi(2);
        (square(0) + square(1) + square(2)).sqrt()
    });
    of_one.fold(0.0, f64::max)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_faulty_sensor_ends_the_goal_typed_without_a_motion() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    // Things are measured, but not named, or by names that are none: the arm may look from elsewhere, and touches nothing. They
    // come first: a map that knows the names keeps them.
    let unnamed = [(json!({"detector": "names"}), "not_found"), (json!({"detector": "empty"}), "not_found")];
    let faults = [
        // Nothing is measured, or what is measured is no measurement.
        (json!({"camera": "silent"}), "sensor_fault"),
        (json!({"depth": "zero"}), "sensor_fault"),
        (json!({"depth": "nan"}), "sensor_fault"),
        (json!({"depth": "holes"}), "sensor_fault"),
        (json!({"depth": "small"}), "sensor_fault"),
        (json!({"depth": "unaligned"}), "sensor_fault"),
        (json!({"info": "zero"}), "sensor_fault"),
        (json!({"detector": "silent"}), "sensor_fault"),
        (json!({"detector": "garbage"}), "sensor_fault"),
        (json!({"detector": "small"}), "sensor_fault"),
        (json!({"frame": "unknown"}), "sensor_fault"),
        (json!({"tf": "frozen"}), "sensor_fault"),
        (json!({"tf": "late"}), "sensor_fault"),
        (json!({"joints": "nan"}), "sensor_fault"),
        (json!({"joints": "names"}), "sensor_fault"),
    ];
    // What a set-up has wrong is told with what to look at.
    let advice = [
        (json!({"depth": "unaligned"}), "the depth topic must be the one that is aligned with colour"),
        (json!({"joints": "names"}), "does it call its joints as the robot file does?"),
    ];
    let pids = stage.pids();
    for (fault, reason) in unnamed.into_iter().chain(faults) {
        let (before, things) = (stage.motions().await, stage.truth().await);
        stage.graph.judge.fault(fault.clone()).await.unwrap();
        let followed = stage.goal(EASY_GOAL).await;
        assert_ne!(followed.ending.outcome, Outcome::Done, "{fault}: {:?}", followed.ending);
        assert_eq!(followed.ending.reason.as_deref(), Some(reason), "{fault}: {:?}", followed.ending);
        let words = advice.iter().find(|(of, _)| *of == fault).map_or("", |(_, words)| words);
        assert!(followed.ending.message.contains(words), "{fault}: {:?}", followed.ending);
        let displacement = displacement(&things, &stage.arm_stands().await);
        assert!(displacement < 0.002, "{fault}: something was touched, {displacement} m");
        assert!(reason == "not_found" || stage.motions().await == before, "{fault}: the arm moved");
        assert_eq!(stage.pids(), pids, "{fault}: a node died");
        stage.graph.judge.fault(healthy()).await.unwrap();
        if reason == "not_found" {
            continue;
        }
        let followed = stage.goal("how many things are on the table?").await;
        assert_eq!(followed.ending.outcome, Outcome::Done, "after {fault}: {:?}", followed.ending);
    }
    stage.easy_goal_is_reached("all faults").await;
    stage.end().await;
}

/// Joint states that end, or are no numbers, during a motion: nobody knows where the arm is, so it stops.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_joint_states_the_arm_stops() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    for fault in ["silent", "nan"] {
        let followed = stage.goal_with_fault(EASY_GOAL, "approach", json!({"joints": fault})).await;
        assert_eq!(followed.ending.outcome, Outcome::Failed, "{fault}: {:?}", followed.ending);
        assert_eq!(followed.ending.reason.as_deref(), Some("sensor_fault"), "{fault}: {:?}", followed.ending);
        stage.arm_stands().await;
        stage.graph.judge.fault(healthy()).await.unwrap();
        stage.easy_goal_is_reached(fault).await;
        stage.put("red block", EASY_PLACE).await;
    }
    stage.end().await;
}

/// Takes the newest frames into the map.
async fn the_map_is_of_now(stage: &Stage) {
    let services = QosProfile::services();
    let update =
        stage.graph.observer.node.create_client::<UpdateMap::Service>(names::OBJECT_MAP_UPDATE, services);
    let update = update.expect("a client");
    wait_for("the map is updated", async || {
        let request = UpdateMap::Request { timeout: 5.0, ..Default::default() };
        let answer = update.request(request, CALL).await.ok()?;
        (answer.error_code == ErrorCode::SUCCESS).then_some(())
    })
    .await;
}

/// Has the arm look from a pose, without a goal around it that would look first.
async fn look_from(stage: &Stage, pose: &str) -> ExecuteSkill::Result {
    let node = &stage.graph.observer.node;
    let client = node.create_action_client::<ExecuteSkill::Action>(names::EXECUTE_SKILL).expect("a client");
    let goal = ExecuteSkill::Goal { skill: "look".to_owned(), part: pose.to_owned(), ..Default::default() };
    let mut handle = client.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"));
    in_time("the look ends", handle.result(CALL)).await.unwrap_or_else(|error| panic!("{error}")).1
}

/// Transforms or joint states end, or are of a while ago, after the map was updated and before the motion. What was told before is
/// still young then; nothing begins to move by it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_begins_to_move_by_what_was_told_before_it_was_asked_for() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions { speed: 1.0, ..StageOptions::default() }).await;
    let poses = ["left", "right"];
    for (number, (fault, words)) in [
        (json!({"tf": "frozen"}), "no usable transforms"),
        (json!({"joints": "silent"}), "no usable joint states"),
        (json!({"tf": "late"}), "no usable transforms"),
        (json!({"joints": "nan"}), "no usable joint states"),
    ]
    .into_iter()
    .enumerate()
    {
        the_map_is_of_now(&stage).await;
        let (pose, before) = (poses[number % 2], stage.motions().await);
        stage.graph.judge.fault(fault.clone()).await.expect("a fault");
        let clock = stage.graph.observer.node.clock();
        let since = clock.now_nanoseconds();
        wait_for("what is under way has arrived", async || {
            (clock.now_nanoseconds() - since > YOUNG).then_some(())
        })
        .await;
        let result = look_from(&stage, pose).await;
        assert_eq!(result.reason, "sensor_fault", "{fault}: {result:?}");
        assert!(result.error_message.contains(words), "{fault}: {result:?}");
        assert_eq!(stage.motions().await, before, "{fault}: it moved\n{}", stage.story());

        stage.graph.judge.fault(healthy()).await.expect("no fault");
        let result = look_from(&stage, pose).await;
        assert_eq!(result.error_code, ErrorCode::SUCCESS, "after {fault}: {result:?}");
        assert_eq!(stage.motions().await, before + 1, "after {fault}: it did not move");
    }
    stage.easy_goal_is_reached("all that").await;
    stage.end().await;
}
