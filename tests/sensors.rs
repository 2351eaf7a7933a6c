//! Sensors that fail: a typed end, and no motion.

mod harness;

use harness::{EASY_GOAL, EASY_PLACE, Stage, StageOptions, one_at_a_time};
use prehend_cli::outcome::Outcome;
use serde_json::json;

/// Every fault of the robot side off.
fn healthy() -> serde_json::Value {
    json!({"camera": "ok", "depth": "ok", "detector": "ok", "frame": "ok", "tf": "ok", "info": "ok", "joints": "ok"})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_faulty_sensor_ends_the_goal_typed_without_a_motion() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    // Things are seen, but not what they are called. They come first: a map that knows the names keeps them.
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
    let pids = stage.pids();
    for (fault, reason) in unnamed.into_iter().chain(faults) {
        let before = stage.motions().await;
        stage.graph.judge.fault(fault.clone()).await.unwrap();
        let followed = stage.goal(EASY_GOAL).await;
        assert_ne!(followed.ending.outcome, Outcome::Done, "{fault}: {:?}", followed.ending);
        assert_eq!(followed.ending.reason.as_deref(), Some(reason), "{fault}: {:?}", followed.ending);
        assert_eq!(stage.motions().await, before, "{fault}: the arm moved");
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
