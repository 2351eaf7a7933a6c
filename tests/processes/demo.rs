//! `prehend demo` as a script has it: one JSON object, a run folder, nothing left behind.

use crate::harness::{
    EASY_GOAL, EASY_SCENE, PATIENCE, PREHEND, children_of, is_alive, one_at_a_time, repository, wait_for,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

fn demo(folder: &TempDir, goal: &str) -> Command {
    let scene = folder.path().join("scene.yaml");
    std::fs::write(&scene, EASY_SCENE).expect("the scene file");
    let mut command = Command::new(PREHEND);
    command
        .current_dir(repository())
        .env_remove("ROS_DOMAIN_ID")
        .args([
            "demo",
            "--json",
            "--speed",
            "0",
            "--perfect-detector",
            "--goal",
            goal,
            "--seed",
            "1",
            "--scene",
        ])
        .arg(scene)
        .arg("--param")
        .arg(format!("affordance:memory:={}", memory(folder).display()))
        .arg("--out")
        .arg(folder.path().join("run"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Where the node `affordance` keeps what it learned.
fn memory(folder: &TempDir) -> PathBuf {
    folder.path().join("kept/memory.json")
}

fn keys(value: &Value) -> String {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys.join(" ")
}

fn is_picture(path: &Path, told: &str) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}\n{told}", path.display()));
    assert!(bytes.starts_with(b"\x89PNG"), "{}", path.display());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_goal_is_carried_out_and_told() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let output = tokio::time::timeout(PATIENCE, demo(&folder, EASY_GOAL).output())
        .await
        .expect("in time")
        .expect("runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(stdout.lines().count(), 1, "{stdout}\n{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(
        keys(&report),
        "goal message model outcome permits physics_ok planner question reason run_dir seconds"
    );
    assert_eq!(report["goal"], EASY_GOAL);
    assert_eq!(report["outcome"], "done", "{report}\n{stderr}");
    assert_eq!(report["physics_ok"], true, "{report}\n{stderr}");
    assert_eq!(report["reason"], Value::Null);
    assert_eq!(output.status.code(), Some(0));
    let permits = &report["permits"];
    assert!(permits["granted"].as_u64() >= Some(2), "{report}");
    assert_eq!(
        permits["asked"].as_u64(),
        Some(permits["granted"].as_u64().unwrap() + permits["refused"].as_u64().unwrap())
    );
    for time in ["ready", "first_motion", "total"] {
        assert!(report["seconds"][time].as_f64() > Some(0.0), "{report}");
    }
    let run = folder.path().join("run");
    for picture in ["camera_before", "camera_after", "map_over_camera", "scene_before", "scene_after"] {
        is_picture(&run.join(format!("{picture}.png")), &stderr);
    }
    let trace = std::fs::read_to_string(run.join("trace.jsonl")).expect("the trace");
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for kind in ["goal", "tool", "evidence", "verdict", "permit", "motion", "perception"] {
        assert!(events.iter().any(|event| event["kind"] == kind), "no event of kind {kind}");
    }
    let learned: Value =
        serde_json::from_slice(&std::fs::read(memory(&folder)).expect("what was learned")).expect("JSON");
    let episodes = learned["memory"]["episodes"].as_array().expect("episodes");
    assert_eq!(episodes.len(), 1, "one thing was touched: {learned}");
    assert_eq!(episodes[0]["appearance"]["class"], "block", "{learned}");
    let state: Value =
        serde_json::from_slice(&std::fs::read(run.join("state.json")).expect("the state")).expect("JSON");
    assert_eq!(state["held_object"], "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_has_its_own_code_and_moves_nothing() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let output = tokio::time::timeout(PATIENCE, demo(&folder, "throw the red block").output())
        .await
        .expect("in time")
        .expect("runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["outcome"], &report["reason"]), (&"refused".into(), &"unsafe".into()), "{report}");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(report["seconds"]["first_motion"], Value::Null);
    assert_ne!(report["physics_ok"], false);
}

/// Ctrl-C during a motion: the goal ends typed, with a code of its own, and every child is gone with the parent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_ends_everything() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let parent = demo(&folder, EASY_GOAL).spawn().expect("runs");
    let pid = parent.id().expect("a process");
    let trace = folder.path().join("run/trace.jsonl");
    wait_for("a motion", async || {
        std::fs::read_to_string(&trace).ok().filter(|text| text.contains(r#""kind":"motion""#))
    })
    .await;
    let children = children_of(pid);
    let sent = Command::new("kill").args(["-INT", &pid.to_string()]).status().await.expect("kill runs");
    assert!(sent.success());
    let output =
        tokio::time::timeout(PATIENCE, parent.wait_with_output()).await.expect("in time").expect("ends");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["outcome"], &report["reason"]), (&"failed".into(), &"canceled".into()), "{report}");
    assert_eq!(children.len(), 6);
    for child in children {
        assert!(!is_alive(child), "process {child} was left behind");
    }
}

/// The parent is killed as nothing can prevent: every child ends by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_behind_when_the_parent_is_killed() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut parent = demo(&folder, EASY_GOAL).spawn().expect("runs");
    let pid = parent.id().expect("a process");
    let children = wait_for("six children", async || {
        let children = children_of(pid);
        (children.len() == 6).then_some(children)
    })
    .await;
    parent.kill().await.expect("killed");
    for child in children {
        wait_for("the child ends", async || (!is_alive(child)).then_some(())).await;
    }
}
