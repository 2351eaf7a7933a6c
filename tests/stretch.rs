//! Stretch in a room, through the whole graph: it drives to a table, works to its right, and physics agrees with what it says.

mod harness;

use harness::{PREHEND, one_at_a_time, repository};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// A tour of the room and one thing moved, on a slow machine.
const LONG: Duration = Duration::from_secs(240);

const ROOM: &str = "\
name: room of the test
robot: {xy: [1.0, 1.3], yaw: 0.4}
room: {size: [3.6, 2.6]}
objects:
- {name: table, model: table, parameters: {length: 1.0, depth: 0.7, height: 0.70}, pose: {xy: [2.9, 1.3], yaw: 0.0}}
- {name: apple, class: apple, shape: sphere, color: red, size: {radius: 0.034}, mass: 0.15,
   on: table, region: {x: [-0.22, -0.14], y: [0.10, 0.22]}}
- {name: bowl, class: bowl, shape: bowl, color: white, size: {radius: 0.10, foot: 0.072, height: 0.05}, mass: 0.4,
   on: table, region: {x: [-0.20, -0.14], y: [-0.24, -0.14]}}
";

/// The report of a demo of this goal, and the exit code.
async fn demo(goal: &str) -> (Value, Option<i32>) {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scene.yaml");
    std::fs::write(&file, ROOM).expect("the scene file");
    let output = Command::new(PREHEND)
        .current_dir(repository())
        .env_remove("ROS_DOMAIN_ID")
        .args(["demo", "--json", "--speed", "0", "--perfect-detector", "--robot", "stretch", "--seed", "1"])
        .args(["--goal", goal, "--timeout", "200", "--scene"])
        .arg(&file)
        .arg("--out")
        .arg(folder.path().join("run"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LONG, output).await.expect("in time").expect("runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"));
    (report, output.status.code())
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
