//! Sensors that fail: a typed end, and no motion.

mod harness;

use harness::{EASY_GOAL, Stage, StageOptions, one_at_a_time};
use prehend_cli::outcome::Outcome;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_faulty_sensor_ends_the_goal_typed_without_a_motion() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    for fault in [
        json!({"camera": "silent"}),
        json!({"depth": "zero"}),
        json!({"depth": "nan"}),
        json!({"detector": "silent"}),
        json!({"detector": "garbage"}),
        json!({"frame": "unknown"}),
        json!({"tf": "frozen"}),
    ] {
        let before = stage.motions().await;
        stage.graph.judge.fault(fault.clone()).await.unwrap();
        let followed = stage.goal(EASY_GOAL).await;
        assert_ne!(followed.ending.outcome, Outcome::Done, "{fault}: {:?}", followed.ending);
        assert_eq!(followed.ending.reason.as_deref(), Some("sensor_fault"), "{fault}: {:?}", followed.ending);
        assert_eq!(stage.motions().await, before, "{fault}: the arm moved");
        let healthy = json!({"camera": "ok", "depth": "ok", "detector": "ok", "frame": "ok", "tf": "ok"});
        stage.graph.judge.fault(healthy).await.unwrap();
    }
    let followed = stage.goal(EASY_GOAL).await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "after all faults: {:?}", followed.ending);
    stage.end().await;
}
