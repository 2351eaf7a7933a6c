//! The object_map node as a process with a vision-language model that follows a script: its word decides what is retrieved, and
//! without it the built-in confirm does.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{
    EASY_GOAL, EASY_SCENE, PREHEND, Stage, StageOptions, one_at_a_time, repository, wait_for,
};
use crate::scripted::{Reply, ScriptedModel, nowhere};
use futures::StreamExt;
use prehend_bags::stored_messages;
use prehend_cli::domain::{Domain, Purpose};
use prehend_cli::node::{NODES, NodeName};
use prehend_msgs::diagnostic_msgs::msg::DiagnosticArray;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_msgs::prehend_interfaces::srv::{RetrieveObjects, UpdateMap};
use prehend_msgs::rcl_interfaces::msg::{Log, ParameterEvent};
use prehend_msgs::{Message, names};
use prehend_ros::{Context, Node, NodeOptions, QosProfile};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
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

/// What nobody but the server may see.
const KEY: &str = "sk-prehend-test-7f3a9c1e5b2d8046";

/// Everything that was said, by where.
type Said = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Notes everything that is said on a topic.
fn listen<T: Message + std::fmt::Debug>(node: &Node, topic: &str, qos: QosProfile, said: &Said) {
    let mut heard = node.subscribe::<T>(topic, qos).unwrap();
    let (topic, said) = (topic.to_owned(), Arc::clone(said));
    tokio::spawn(async move {
        while let Some(message) = heard.next().await {
            let text = format!("{message:?}\n");
            said.lock().unwrap().entry(topic.clone()).or_default().extend(text.bytes());
        }
    });
}

/// Notes every file below a folder, and every message of the recording there.
fn read_all(folder: &Path, said: &Said) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, said);
        } else {
            said.lock().unwrap().insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
        if path.file_name().is_some_and(|name| name == "recording") {
            let take = |topic: &str, data: &[u8]| {
                let place = format!("recorded {topic}");
                said.lock().unwrap().entry(place).or_default().extend_from_slice(data);
            };
            stored_messages(&path, false, &mut |message| {
                take(message.topic, message.data);
                true
            })
            .unwrap();
        }
    }
}

/// Where a text was said.
fn places(said: &Said, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    said.lock().unwrap().iter().filter(|(_, bytes)| holds(bytes)).map(|(place, _)| place.clone()).collect()
}

/// A server that refuses the key and sends it back: it is in no log, at the most talkative level, on no topic and in no recording.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_is_nowhere_even_when_the_server_sends_it_back() {
    let _turn = one_at_a_time().await;
    let server = ScriptedModel::start(vec![Reply::Refused]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let vlm = format!(
        "vlm: {{base_url: \"{}\", model: scripted, key_env: PREHEND_TEST_KEY, timeout: 20}}\n",
        server.base_url
    );
    std::fs::write(path("object_map.yaml"), vlm).unwrap();
    std::fs::write(path("scene.yaml"), EASY_SCENE).unwrap();

    let said = Said::default();
    let domain = Domain::free(Purpose::Run).unwrap();
    let context = Context::create_in_domain(domain.id).unwrap();
    let node = Node::create(&context, "listener", names::NAMESPACE, NodeOptions::default()).unwrap();
    listen::<Log>(&node, "/rosout", QosProfile::transient_local().depth(2000), &said);
    listen::<DiagnosticArray>(&node, "/diagnostics", QosProfile::default().depth(100), &said);
    listen::<ParameterEvent>(&node, "/parameter_events", QosProfile::default().depth(1000), &said);
    listen::<TraceEvent>(&node, names::TRACE, QosProfile::default().depth(2000), &said);
    let demo = tokio::process::Command::new(PREHEND)
        .current_dir(repository())
        .env("ROS_DOMAIN_ID", domain.id.to_string())
        .env("PREHEND_TEST_KEY", KEY)
        .args(["demo", "--json", "--record", "--perfect-detector", "--speed", "1", "--goal", EASY_GOAL])
        .args(["--param", &format!("object_map:settings:={}", path("object_map.yaml").display()), "--scene"])
        .args([path("scene.yaml"), "--out".into(), path("run")])
        .args(["--ros-args", "--log-level", "debug"])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(180), demo).await.unwrap().unwrap();
    // How the goal ends is another test's; this one's many words may make a slow machine lose it.
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("recorded "), "it did not run to its end: {stderr}");
    let heard = server.heard();
    assert!(!heard.is_empty(), "the model was never asked");
    assert_eq!(heard[0].authorization, Some(format!("Bearer {KEY}")));

    read_all(&path("run"), &said);
    said.lock().unwrap().extend([("stdout".to_owned(), output.stdout), ("stderr".to_owned(), output.stderr)]);
    assert_eq!(places(&said, KEY), Vec::<String>::new(), "the key was told");
    // It was looked for where everything else is found.
    let told = places(&said, "401").join(" ");
    for place in ["object_map.log", "trace.jsonl", "recorded /prehend/trace", "/rosout", names::TRACE] {
        assert!(told.contains(place), "nobody says in {place} that the server refused: {told}");
    }
    let heard = said.lock().unwrap().keys().cloned().collect::<Vec<_>>();
    assert!(heard.iter().any(|place| place == "/diagnostics"), "{heard:?}");
}
