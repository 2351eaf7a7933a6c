//! Doors and drawers through the whole graph, judged by physics: opened; locked; blocked.

use crate::harness::demo_in;
use serde_json::Value;
use std::time::Duration;

/// A goal of several actions on a slow machine.
const LONG: Duration = Duration::from_secs(240);

/// The report of a demo of this goal in a scene of these objects.
async fn demo(objects: &str, goal: &str) -> Value {
    demo_in(&format!("name: furniture\nobjects:\n{objects}"), goal, &["--no-pictures"], LONG).await.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_door_of_a_microwave_is_opened_along_its_arc() {
    let microwave = "- {name: microwave, model: microwave, pose: {xy: [0.74, 0.12], yaw: 0.0}}\n";
    let report = demo(microwave, "open the microwave").await;
    assert_eq!((&report["outcome"], &report["physics_ok"]), (&"done".into(), &true.into()), "{report}");
}

/// A locked drawer holds; the goal fails with what was felt, and nothing is claimed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_drawer_is_felt_and_not_claimed() {
    let cabinet = "- {name: cabinet, model: drawer_cabinet, joints: {top: {locked: true}}, pose: {xy: [0.74, 0.0], yaw: 0.0}}\n";
    let report = demo(cabinet, "open the top drawer").await;
    assert_eq!(report["outcome"], "failed", "{report}");
    let reason = report["reason"].as_str().unwrap_or_default();
    assert!(["infeasible", "outcome_not_observed"].contains(&reason), "{report}");
    assert_ne!(report["physics_ok"], true, "{report}");
}

/// Something fixed stands in the way of a door: whatever the robot tries, it does not say that the door is open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_door_is_not_claimed_to_be_open() {
    let objects = "- {name: microwave, model: microwave, pose: {xy: [0.74, 0.12], yaw: 0.0}}\n\
                   - {name: post, class: box, shape: box, color: blue, size: [0.03, 0.03, 0.16], fixed: true, \
                   pose: {xy: [0.545, 0.20], yaw: 0.0}}\n";
    let report = demo(objects, "open the microwave").await;
    assert_ne!(report["outcome"], "done", "{report}");
    assert!(report["reason"].is_string(), "{report}");
    assert_ne!(report["physics_ok"], true, "{report}");
}
