//! The memory among the other nodes: what was seen and done is there afterwards, in this session and in the next one.

use crate::harness::{CALL, PATIENCE, PREHEND, Stage, StageOptions, one_at_a_time, repository, wait_for};
use prehend_cli::node::NodeName;
use prehend_msgs::Service;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, MemoryThing};
use prehend_msgs::prehend_interfaces::srv::{QueryMemory, WriteMemory};
use prehend_ros::{Client, QosProfile};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

async fn call<S: Service>(client: &Client<S>, request: S::Request) -> S::Response {
    client.request(request, CALL).await.unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_is_learned_from_and_forgotten_on_request() {
    let _turn = one_at_a_time().await;
    let kept = tempfile::tempdir().expect("a folder");
    let store = format!("store:={}", kept.path().join("deep/memory.db").display());
    let mut stage = Stage::start(StageOptions {
        also: vec![NodeName::Memory],
        parameters: vec![(NodeName::Sim, "detector:=perfect"), (NodeName::Memory, store.leak())],
        ..StageOptions::default()
    })
    .await;
    let node = stage.graph.observer.node.clone();
    let services = QosProfile::services();
    let query = node.create_client::<QueryMemory::Service>(names::MEMORY_QUERY, services).expect("a client");
    let write = node.create_client::<WriteMemory::Service>(names::MEMORY_WRITE, services).expect("a client");
    let ask = async |text: &str, action: &str| {
        let asked =
            QueryMemory::Request { text: text.to_owned(), action: action.to_owned(), ..Default::default() };
        call(&query, asked).await
    };
    wait_for("the service", async || query.is_available().then_some(())).await;
    assert_eq!(ask("the red block", "").await.error_code, ErrorCode::MEMORY_NOTHING_FOUND);
    stage.easy_goal_is_reached("a memory listens").await;
    let block = wait_for("the block in memory", async || {
        // It was taken and put down: a look after that must have come.
        let seen = |thing: &MemoryThing| thing.words == "red block" && thing.still_there > 0.9;
        ask("the red block", "pick").await.things.into_iter().find(seen)
    })
    .await;
    assert_eq!((block.role.as_str(), block.building.as_str()), ("target", "home"));
    assert!(block.fits > 0.5 && block.can > 0.5, "{block:?}");
    assert!(block.key.starts_with("block"), "{block:?}");
    let outcome = WriteMemory::Request {
        what: "outcome".to_owned(),
        thing: block.id,
        action: "pick".to_owned(),
        succeeded: false,
        reason: "it slipped".to_owned(),
        ..Default::default()
    };
    for _ in 0..4 {
        let learned = call(&write, outcome.clone()).await;
        assert_eq!((learned.error_code, learned.changed), (ErrorCode::SUCCESS, 1), "{learned:?}");
    }
    let after = ask("the red block", "pick").await.things.remove(0);
    assert!(after.can < block.can - 0.2, "{} and then {}", block.can, after.can);
    for (text, action) in [("", ""), ("the red block", "dance"), ("x".repeat(2000).as_str(), "")] {
        assert_eq!(ask(text, action).await.error_code, ErrorCode::MEMORY_BAD_REQUEST, "{action}");
    }
    for wrong in [
        WriteMemory::Request { what: "sing".to_owned(), ..Default::default() },
        WriteMemory::Request { thing: -7, ..outcome.clone() },
        WriteMemory::Request { action: "dance".to_owned(), ..outcome },
    ] {
        assert_eq!(call(&write, wrong).await.error_code, ErrorCode::MEMORY_BAD_REQUEST);
    }
    let forget = WriteMemory::Request { what: "forget_building".to_owned(), ..Default::default() };
    assert!(call(&write, forget).await.changed > 0);
    assert_eq!(ask("the red block", "").await.error_code, ErrorCode::MEMORY_NOTHING_FOUND);
    stage.end().await;
}

async fn demo(folder: &Path, store: &Path, run: &str, goal: &str) -> Value {
    let output = Command::new(PREHEND)
        .current_dir(repository())
        .env_remove("ROS_DOMAIN_ID")
        .args([
            "demo",
            "--json",
            "--speed",
            "0",
            "--perfect-detector",
            "--scene",
            "config/scenes/room_two_tables.yaml",
        ])
        .args(["--goal", goal, "--memory"])
        .arg(store)
        .arg("--out")
        .arg(folder.join(run))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, output).await.expect("in time").expect("runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_session_knows_where_the_last_one_put_a_thing() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("home.db");
    let asked = |arguments: &[&str]| {
        let output = std::process::Command::new(PREHEND)
            .current_dir(repository())
            .args(["memory", "--json", "--store"])
            .arg(&store)
            .args(arguments)
            .output()
            .expect("runs");
        let told: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code(), told)
    };
    let look = demo(folder.path(), &store, "look", "look around").await;
    assert_eq!(look["outcome"], "done", "{look}");
    let known = asked(&["list"]).1["things"].clone();
    // The next session looks where the things were, not round the whole room, and what it sees is what was known.
    let first = demo(folder.path(), &store, "first", "put the apple in the bowl").await;
    assert_eq!((&first["outcome"], &first["physics_ok"]), (&"done".into(), &true.into()), "{first}");
    let trace = std::fs::read_to_string(folder.path().join("first/trace.jsonl")).expect("a trace");
    let began = |errand: &str| {
        let lines = trace.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|event| event["name"] == errand && event["status"] == "started").count()
    };
    assert_eq!((began("go_to/visit"), began("go_to/tour")), (1, 0));
    assert_eq!(asked(&["list"]).1["things"], known);
    let second = demo(folder.path(), &store, "second", "where is the apple?").await;
    assert_eq!(second["outcome"], "done", "{second}");
    let said = second["message"].as_str().expect("text");
    assert!(said.contains("apple was in a white bowl"), "{said}");
    assert_eq!(second["seconds"]["first_motion"], Value::Null, "nothing moved");
    let pictures = folder.path().join("found").display().to_string();
    let (code, found) = asked(&["query", "bring the apple to the bowl", "--pictures", &pictures]);
    assert_eq!(code, Some(0), "{found}");
    let roles: Vec<&str> =
        found.as_array().expect("things").iter().filter_map(|thing| thing["role"].as_str()).collect();
    assert!(roles.contains(&"target") && roles.contains(&"receptacle"), "{found}");
    let picture = found[0]["picture"].as_str().expect("a picture of the apple");
    assert!(std::fs::read(picture).expect("written").starts_with(b"\x89PNG"));
    let (_, episodes) = asked(&["episodes"]);
    assert_eq!(
        (&episodes[0]["action"], &episodes[0]["target"]),
        (&"place".into(), &"white bowl".into()),
        "{episodes}"
    );
    let (_, all) = asked(&["export"]);
    assert!(all["buildings"]["home"]["things"].as_array().is_some_and(|things| things.len() > 3));
    assert_eq!(asked(&["query", "the elephant"]).0, Some(1));
    assert_eq!(asked(&["forget", "--robot", "ranger_xarm6"]).0, Some(0));
    assert_eq!(asked(&["list"]).1["things"], 0);
}
