//! Stretch in a room, through the whole graph: it drives to a table, works to its right, and physics agrees with what it says.

use crate::harness::{STRETCH_ROOM, demo_in};
use serde_json::Value;
use std::time::Duration;

/// A tour of the room and one thing moved, on a slow machine.
const LONG: Duration = Duration::from_secs(240);

async fn demo(goal: &str) -> (Value, Option<i32>) {
    demo_in(STRETCH_ROOM, goal, &["--robot", "stretch"], LONG).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_apple_is_put_in_a_bowl() {
    let (report, code) = demo("put the apple in the bowl").await;
    assert_eq!((&report["outcome"], &report["physics_ok"]), (&"done".into(), &true.into()), "{report}");
    assert_eq!(code, Some(0));
    let permits = &report["permits"];
    assert_eq!(permits["refused"], 0, "{report}");
    assert!(permits["granted"].as_u64() >= Some(4), "{report}");
}

/// What is not in the room is refused with its reason, and nothing has been claimed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_there_is_refused() {
    let (report, code) = demo("put the teapot in the bowl").await;
    assert_eq!((&report["outcome"], &report["reason"]), (&"refused".into(), &"not_found".into()), "{report}");
    assert_ne!(code, Some(0));
}
