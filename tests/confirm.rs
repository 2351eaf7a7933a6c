//! The object_map node as a process with a vision-language model that follows a script: its word decides what is retrieved, and
//! without it the built-in confirm does.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod harness;
#[path = "../crates/prehend-llm/tests/scripted/mod.rs"]
mod scripted;

use harness::{Stage, StageOptions, one_at_a_time, wait_for};
use prehend_cli::node::{NODES, NodeName};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_msgs::prehend_interfaces::srv::{RetrieveObjects, UpdateMap};
use prehend_ros::QosProfile;
use scripted::{Reply, ScriptedModel, nowhere};
use std::time::Duration;

/// Deadline of one call.
const CALL: Duration = Duration::from_secs(40);

/// The robot side and an object map that asks the model at `base_url`, with things on the map.
async fn stage(base_url: &str, folder: &tempfile::TempDir) -> Stage {
    let settings = folder.path().join("object_map.yaml");
    // PATH stands in for a key: it is set everywhere, and nobody else sends it.
    let vlm = format!(
        "vlm: {{base_url: \"{base_url}\", model: scripted, key_env: PATH, retries: 1, backoff: 0.01, timeout: 20}}\n"
    );
    std::fs::write(&settings, vlm).unwrap();
    let parameter: &'static str = format!("settings:={}", settings.display()).leak();
    let stage = Stage::start(StageOptions {
        parameters: vec![(NodeName::Sim, "detector:=perfect"), (NodeName::ObjectMap, parameter)],
        without: NODES
            .into_iter()
            .filter(|node| ![NodeName::Sim, NodeName::ObjectMap].contains(node))
            .collect(),
        ..Default::default()
    })
    .await;
    let services = QosProfile::services();
    let update =
        stage.graph.observer.node.create_client::<UpdateMap::Service>(names::OBJECT_MAP_UPDATE, services);
    let update = update.unwrap();
    let mut seen = 0;
    wait_for("block and plate are on the map", async || {
        let request = UpdateMap::Request { timeout: 5.0, ..Default::default() };
        let answer = update.request(request, CALL).await.ok()?;
        seen += answer.added.len();
        (seen >= 2).then_some(())
    })
    .await;
    stage
}

async fn retrieve(stage: &Stage, query: &str) -> RetrieveObjects::Response {
    let services = QosProfile::services();
    let client = stage
        .graph
        .observer
        .node
        .create_client::<RetrieveObjects::Service>(names::OBJECT_MAP_RETRIEVE, services);
    let request = RetrieveObjects::Request { query: query.to_owned(), ..Default::default() };
    let answer = client.unwrap().request(request, CALL).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answer.error_code, 0, "{answer:?}");
    answer
}

/// The next word of the node on who confirmed.
async fn confirm_event(stage: &mut Stage) -> TraceEvent {
    stage.event("who confirmed", |event| event.name == "confirm").await
}

/// What the node wrote to its log.
fn log(stage: &Stage) -> String {
    std::fs::read_to_string(stage.folder.path().join("object_map.log")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_word_of_the_model_decides_what_is_retrieved() {
    let _turn = one_at_a_time().await;
    let script = vec![
        Reply::judging(|label| label.contains("plate")),
        Reply::judging(|_| true),
        Reply::judging(|_| false),
    ];
    let server = ScriptedModel::start(script).await;
    let folder = tempfile::tempdir().unwrap();
    let mut stage = stage(&server.base_url, &folder).await;

    let answer = retrieve(&stage, "red block").await;
    assert!(answer.keys.len() == 1 && answer.keys[0].starts_with("plate"), "{answer:?}");
    assert!(answer.rejected_reasons[0].contains("says no: as scripted"), "{answer:?}");
    let event = confirm_event(&mut stage).await;
    assert_eq!((event.kind.as_str(), event.status.as_str()), (TraceEvent::KIND_PERCEPTION, "done"));
    assert_eq!(retrieve(&stage, "red block").await.keys.len(), 2);
    assert_eq!(retrieve(&stage, "red block").await.keys.len(), 0);

    let heard = server.heard();
    assert_eq!(heard.len(), 3);
    assert_eq!(heard[0].data()["query"], "red block");
    let key = std::env::var("PATH").unwrap();
    assert_eq!(heard[0].authorization, Some(format!("Bearer {key}")));
    assert!(!log(&stage).contains(&key), "the key is in the log");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_model_the_built_in_confirm_answers_with_a_warning() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().unwrap();
    let mut stage = stage(&nowhere(), &folder).await;
    let answer = retrieve(&stage, "red block").await;
    assert!(answer.keys.len() == 1 && answer.keys[0].contains("block"), "{answer:?}");
    let event = confirm_event(&mut stage).await;
    assert_eq!((event.kind.as_str(), event.status.as_str()), (TraceEvent::KIND_WARNING, "built_in"));
    assert!(event.message.contains("no answer in 2 attempts"), "{}", event.message);
    let told = format!("{} {}", event.message, event.data);
    let key = std::env::var("PATH").unwrap();
    assert!(!told.contains(&key) && !told.contains("red block"), "{told}");
    assert!(!log(&stage).contains(&key), "the key is in the log");
    stage.end().await;
}
