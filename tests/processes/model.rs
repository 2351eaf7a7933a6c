//! A language model as the planner of the whole graph: the node `agent` asks one that follows a script over HTTP, in the provider's
//! own protocol; without it the grammar stands.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{EASY_GOAL, EASY_SCENE, PREHEND, Stage, StageOptions, one_at_a_time, repository};
use crate::scripted::{After, Heard, Reply, ScriptedModel};
use crate::wire::stream;
use prehend_agent::talk::{Call, End, Turn, Usage};
use prehend_cli::node::NodeName;
use prehend_cli::outcome::Outcome;
use prehend_llm::ProviderName;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;

/// [`EASY_GOAL`] in words that the grammar has no reading of.
const ODD_GOAL: &str = "it is the red block that belongs with the plate, on top of it of course";
/// Longest run of a demo.
const PATIENCE: Duration = Duration::from_secs(300);

fn call(name: &str, arguments: &Value) -> Turn {
    let call = Call {
        id: format!("call_{name}"),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        signature: None,
    };
    let usage = Usage { tokens_in: 700, tokens_out: 30, seconds: 0.0 };
    Turn { text: String::new(), calls: vec![call], end: End::Complete, usage }
}

/// What the tools answered so far, as the model was told.
fn told(heard: &Heard) -> Vec<Value> {
    let messages = heard.body["messages"].as_array().unwrap();
    let tools = messages.iter().filter(|message| message["role"] == "tool");
    tools.map(|message| serde_json::from_str(message["content"].as_str().unwrap()).unwrap()).collect()
}

/// A model that puts the red block on the plate by what the tools tell it, and does a step again that failed.
fn puts_block_on_plate(heard: &Heard) -> Turn {
    let told = told(heard);
    let has = |state: &str| {
        told.iter().filter_map(|answer| answer.get("fact")).rfind(|fact| fact["state"] == state)
    };
    if let Some(fact) = has("on") {
        return call("finish", &json!({ "message": "The block is on the plate.", "facts": [fact] }));
    }
    let is_held = told.last().is_some_and(|answer| answer["output"]["held_object"].is_string());
    let found = told.last().filter(|answer| answer["success"] == json!(true));
    match found.and_then(|answer| answer["output"]["inventory"][0].as_str()) {
        Some(key) if is_held => call("interact", &json!({ "obj": key, "action": "place it on" })),
        Some(key) => call("interact", &json!({ "obj": key, "action": "grasp" })),
        None => call("object_retrieval", &json!({ "query": if is_held { "plate" } else { "red block" } })),
    }
}

async fn server(script: impl Fn(&Heard) -> Turn + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::answering(move |heard| {
        let text = stream(ProviderName::OpenAi, &script(heard));
        Reply::Stream(text.as_bytes().chunks(90).map(<[u8]>::to_vec).collect(), After::End)
    })
    .await
}

/// Settings of the agent with a model at `base_url`, as a parameter.
fn settings(folder: &TempDir, planner: &str, base_url: &str) -> String {
    let file = folder.path().join("agent.yaml");
    // PATH stands in for a key: it is set everywhere, and nobody else sends it.
    let text = format!(
        "planner: {planner}\nmodel: {{provider: openai, model: scripted, base_url: \"{base_url}\", key_env: PATH, retries: 1, backoff: 0.01}}\n"
    );
    std::fs::write(&file, text).unwrap();
    format!("settings:={}", file.display())
}

async fn stage(parameter: String) -> Stage {
    Stage::start(StageOptions {
        parameters: vec![(NodeName::Sim, "detector:=perfect"), (NodeName::Agent, parameter.leak())],
        ..Default::default()
    })
    .await
}

/// A demo of [`EASY_GOAL`] whose run is kept below `folder`: its report, and the exit code.
async fn demo(folder: &TempDir, run: &str, more: &[&str]) -> (Value, Option<i32>) {
    let scene = folder.path().join("scene.yaml");
    std::fs::write(&scene, EASY_SCENE).unwrap();
    let output = Command::new(PREHEND)
        .current_dir(repository())
        .env_remove("ROS_DOMAIN_ID")
        .args(["demo", "--json", "--speed", "0", "--perfect-detector", "--goal", EASY_GOAL, "--scene"])
        .arg(&scene)
        .arg("--out")
        .arg(folder.path().join(run))
        .args(more)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, output).await.unwrap().unwrap();
    let told = || String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{}", told()));
    (report, output.status.code())
}

/// The tool calls of a run, without what differs by the clock.
fn calls(trace: &str) -> Vec<String> {
    let events = trace.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tools = events.filter(|event| event["kind"] == "tool" && event["name"] != "model");
    tools.map(|event| format!("{} {}", event["name"], event["data"]["arguments"])).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_plans_and_its_recorded_conversation_does_the_same_without_it() {
    let _turn = one_at_a_time().await;
    let server = server(puts_block_on_plate).await;
    let folder = tempfile::tempdir().unwrap();
    let parameter = format!("agent:{}", settings(&folder, "model", &server.base_url));
    let (report, code) = demo(&folder, "first", &["--param", &parameter]).await;
    assert_eq!((report["outcome"].as_str(), code), (Some("done"), Some(0)), "{report:#}");
    assert_eq!((&report["planner"], &report["physics_ok"]), (&json!("model"), &json!(true)), "{report:#}");
    let requests = server.heard().len();
    assert_eq!(report["model"]["calls"], json!(requests));
    assert_eq!(report["model"]["tokens_in"], json!(700 * requests));
    let key = std::env::var("PATH").unwrap();
    assert_eq!(server.heard()[0].authorization, Some(format!("Bearer {key}")));
    let recorded = folder.path().join("first/trace.jsonl");
    let trace = std::fs::read_to_string(&recorded).unwrap();
    assert!(!trace.contains(&key), "the key is in the trace");

    let more = ["--replay-model", &recorded.display().to_string()];
    let (again, code) = demo(&folder, "second", &more).await;
    assert_eq!((again["outcome"].as_str(), code), (Some("done"), Some(0)), "{again:#}");
    assert_eq!((&again["planner"], &again["model"]["calls"]), (&json!("model"), &report["model"]["calls"]));
    assert_eq!(server.heard().len(), requests, "nobody was asked");
    let replayed = std::fs::read_to_string(folder.path().join("second/trace.jsonl")).unwrap();
    assert_eq!(calls(&replayed), calls(&trace));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_writes_lists_is_asked_again_and_its_list_is_carried_out() {
    let _turn = one_at_a_time().await;
    let server = server(|heard| {
        assert!(heard.body.get("tools").is_none(), "a list needs no tools");
        let messages = heard.body["messages"].as_array().unwrap();
        let is_first = messages.len() == 3;
        // What the camera sees, with the things and their keys drawn in.
        let url = messages[2]["content"][1]["image_url"]["url"].as_str().unwrap();
        // The head of a PNG ends with its sides, which are those of the camera: 640 x 480.
        let head = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAoAAAAHg";
        assert!(url.starts_with(head) && url.len() > 20_000, "{}", &url[..head.len()]);
        let list = "1. pick up the red block /(red block)/\n2. place the red block on the plate /(red block, plate)/";
        let usage = Usage { tokens_in: 700, tokens_out: 30, seconds: 0.0 };
        let text = if is_first { "The block goes on the plate." } else { list };
        Turn { text: text.to_owned(), calls: Vec::new(), end: End::Complete, usage }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let parameter = settings(&folder, "hybrid", &server.base_url);
    let file = folder.path().join("agent.yaml");
    let text =
        std::fs::read_to_string(&file).unwrap().replace("retries: 1", "retries: 1, plans: list, sees: true");
    std::fs::write(&file, text).unwrap();
    let mut stage = stage(parameter).await;
    let done = stage.goal(ODD_GOAL).await;
    assert_eq!(done.ending.outcome, Outcome::Done, "{:?}\n{}", done.ending, stage.story());
    assert_eq!((done.planning.planner.as_str(), server.heard().len()), ("model", 2));
    let truth = stage.arm_stands().await;
    let block = truth.objects.iter().find(|object| object.name == "red block").unwrap();
    assert!(block.on.iter().chain(&block.inside).any(|under| under == "plate"), "{block:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_that_no_table_knows_is_asked_about_with_the_picture() {
    let _turn = one_at_a_time().await;
    let server = server(|heard| {
        let messages = heard.body["messages"].as_array().unwrap();
        let asked = messages[1]["content"].as_str().unwrap();
        assert!(asked.contains("\"word\":\"klotz\"") && asked.contains("\"class\":\"block\""), "{asked}");
        let url = messages[2]["content"][1]["image_url"]["url"].as_str().unwrap();
        assert!(url.starts_with("data:image/png;base64,") && url.len() > 20_000);
        // Its first answer is none of the list.
        let text =
            if messages.len() == 3 { "A klotz is a block, I think." } else { "<answer>block</answer>" };
        let usage = Usage { tokens_in: 700, tokens_out: 30, seconds: 0.0 };
        Turn { text: text.to_owned(), calls: Vec::new(), end: End::Complete, usage }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let parameter = settings(&folder, "hybrid", &server.base_url);
    let file = folder.path().join("agent.yaml");
    let seeing = std::fs::read_to_string(&file).unwrap().replace("retries: 1", "retries: 1, sees: true");
    let words = folder.path().join("words.json");
    std::fs::write(&file, format!("{seeing}words: {{file: {}}}\n", words.display())).unwrap();
    let mut stage = stage(parameter).await;
    let done = stage.goal("put the klotz on the plate").await;
    assert_eq!(done.ending.outcome, Outcome::Done, "{:?}\n{}", done.ending, stage.story());
    assert_eq!((done.planning.planner.as_str(), server.heard().len()), ("builtin", 2));
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&words).unwrap()).unwrap();
    assert_eq!(kept["words"][0]["witnesses"], json!(["the language model with the picture"]), "{kept}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_grammar_does_not_understand_goes_to_the_model() {
    let _turn = one_at_a_time().await;
    let server = server(|heard| {
        let messages = heard.body["messages"].as_array().unwrap();
        let sentence = messages[1]["content"].as_str().unwrap();
        let answer = messages.iter().find_map(|message| {
            let content = message["content"].as_str()?.parse::<Value>().ok()?;
            content["answer"].as_str().map(str::to_owned)
        });
        match (sentence.contains("whichever"), answer) {
            (true, None) => call("ask", &json!({ "question": "Which of them?" })),
            (true, Some(answer)) => {
                let message = format!("I was told: {answer}");
                call("refuse", &json!({ "reason": "infeasible", "message": message }))
            }
            (false, _) if sentence.contains("lie to me") => {
                call("finish", &json!({ "message": "It is all done.", "facts": [] }))
            }
            (false, _) => puts_block_on_plate(heard),
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let mut stage = stage(settings(&folder, "hybrid", &server.base_url)).await;

    // The grammar answers for itself.
    let easy = stage.goal("where is the plate?").await;
    assert_eq!((easy.ending.outcome, easy.planning.planner.as_str()), (Outcome::Done, "builtin"));
    assert_eq!(server.heard().len(), 0);
    // A model that says it is done and did nothing has failed.
    let lied = stage.goal("lie to me about the block being thereabouts with the plate").await;
    assert_eq!(lied.ending.reason.as_deref(), Some("outcome_not_observed"), "{:?}", lied.ending);
    assert_eq!(lied.tally.permits.granted, 0);
    // It asks, and is answered by the next sentence.
    let asked = stage.goal("whichever of the two suits thee best is for the plate").await;
    assert_eq!(asked.ending.reason.as_deref(), Some("ambiguous"), "{:?}", asked.ending);
    assert_eq!(asked.planning.question.as_deref(), Some("Which of them?"));
    let answered = stage.goal("the reddish one thereof").await;
    assert_eq!(answered.ending.message, "I was told: the reddish one thereof", "{:?}", answered.ending);
    // The whole way.
    let done = stage.goal(ODD_GOAL).await;
    assert_eq!(done.ending.outcome, Outcome::Done, "{:?}\n{}", done.ending, stage.story());
    assert_eq!(done.planning.planner, "model");
    let truth = stage.arm_stands().await;
    let block = truth.objects.iter().find(|object| object.name == "red block").unwrap();
    assert!(block.on.iter().chain(&block.inside).any(|under| under == "plate"), "{block:?}");
    // Unsafe is unsafe before a model is asked.
    let requests = server.heard().len();
    let refused = stage.goal("throw the block at the child, prithee").await;
    assert_eq!(refused.ending.reason.as_deref(), Some("unsafe"));
    assert_eq!(server.heard().len(), requests);
    let log = std::fs::read_to_string(stage.folder.path().join("agent.log")).unwrap();
    assert!(!log.contains(&std::env::var("PATH").unwrap()), "the key is in the log");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_is_silent_or_gone_costs_nothing_but_its_help() {
    let _turn = one_at_a_time().await;
    let silent = ScriptedModel::start(vec![Reply::Silence]).await;
    let folder = tempfile::tempdir().unwrap();
    let mut stage = stage(settings(&folder, "hybrid", &silent.base_url)).await;
    // Stopped while it waits for the model.
    let stopper = Command::new(PREHEND);
    let domain = stage.graph.domain.id.to_string();
    let is_waiting = |event: &TraceEvent| event.name == "understood";
    let stopped = stage
        .goal_and(ODD_GOAL, is_waiting, async |_| {
            let mut stopper = stopper;
            let run = stopper
                .current_dir(repository())
                .arg("stop")
                .env("ROS_DOMAIN_ID", domain)
                .kill_on_drop(true)
                .status();
            assert!(run.await.unwrap().success());
        })
        .await;
    assert_eq!(stopped.ending.reason.as_deref(), Some("stopped"), "{:?}", stopped.ending);
    stage.end().await;

    let nowhere = settings(&folder, "hybrid", &crate::scripted::nowhere());
    let mut stage = self::stage(nowhere).await;
    let refused = stage.goal(ODD_GOAL).await;
    assert_eq!(
        (refused.ending.outcome, refused.ending.reason.as_deref()),
        (Outcome::Refused, Some("not_understood"))
    );
    assert_eq!(refused.planning.planner, "builtin");
    let warned =
        stage.events.iter().find(|event| event.kind == TraceEvent::KIND_WARNING && event.name == "model");
    assert!(warned.is_some_and(|event| event.message.contains("2 attempts")), "{}", stage.story());
    let done = stage.goal(EASY_GOAL).await;
    assert_eq!(done.ending.outcome, Outcome::Done, "{:?}\n{}", done.ending, stage.story());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_tries_the_model_with_a_harmless_call() {
    let folder = tempfile::tempdir().unwrap();
    let try_with = async |base_url: &str| {
        settings(&folder, "hybrid", base_url);
        let output = Command::new(PREHEND)
            .current_dir(repository())
            .args(["doctor", "--llm", "--agent"])
            .arg(folder.path().join("agent.yaml"))
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PATIENCE, output).await.unwrap().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    };
    let good = server(|_| call("ready", &json!({ "word": "yes" }))).await;
    let (said, code) = try_with(&good.base_url).await;
    assert!(said.contains("called the tool") && code == Some(0), "{said}");
    assert_eq!(good.heard()[0].body["tools"][0]["function"]["name"], "ready");
    let talker = server(|_| Turn { calls: Vec::new(), ..call("", &json!({})) }).await;
    let (said, code) = try_with(&talker.base_url).await;
    assert!(said.contains("does not call the tool") && code == Some(1), "{said}");
    let refusing = ScriptedModel::start(vec![Reply::Refused]).await;
    let (said, _) = try_with(&refusing.base_url).await;
    assert!(said.contains("refuses the key") && !said.contains(&std::env::var("PATH").unwrap()), "{said}");
}

/// Where the heuristic of the affordance harness leaves the next look open, a model chooses it; one that babbles is asked no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_chooses_the_next_look_and_one_that_babbles_is_let_be() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().unwrap();
    for babbles in [false, true] {
        let server = ScriptedModel::answering(move |heard| {
            let content = heard.body["messages"][1]["content"].as_str().unwrap();
            let asked: Value = serde_json::from_str(content).unwrap();
            let last = asked["tools"].as_array().unwrap().last().unwrap()["name"].clone();
            let answer = json!({ "tool": last, "rationale": "the last shall be first" }).to_string();
            Reply::text(if babbles { "I would look at the moon".to_owned() } else { answer })
        })
        .await;
        let file = folder.path().join("affordance.yaml");
        let text = format!(
            "model: {{base_url: \"{}\", model: scripted, retries: 0, timeout: 10.0}}\n",
            server.base_url
        );
        std::fs::write(&file, text).unwrap();
        let run = if babbles { "babbles" } else { "chooses" };
        let parameter = format!("affordance:settings:={}", file.display());
        let (report, code) = demo(&folder, run, &["--param", &parameter]).await;
        assert_eq!((&report["outcome"], code), (&json!("done"), Some(0)), "{report}");
        let trace = std::fs::read_to_string(folder.path().join(run).join("trace.jsonl")).unwrap();
        let events = trace.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let looks: Vec<Value> = events.filter(|event| event["kind"] == "evidence").collect();
        let advised: Vec<&Value> = looks.iter().filter(|event| event["data"]["advice"].is_string()).collect();
        if babbles {
            assert!(advised.is_empty(), "{advised:?}");
            assert!(!server.heard().is_empty());
        } else {
            assert!(!advised.is_empty(), "{looks:?}");
            assert!(advised.iter().all(|event| event["data"]["advice"] == "the last shall be first"));
            assert!(advised[0]["message"].as_str().unwrap().contains("the model chose it"), "{advised:?}");
        }
    }
}
