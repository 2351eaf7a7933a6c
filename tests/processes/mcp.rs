//! `prehend mcp` as a program meets it that starts it: the protocol's own lines on stdin and stdout. With PyPI's client:
//! `tests/peers/mcp_client.py`.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{EASY_GOAL, PREHEND, Stage, StageOptions, in_time, one_at_a_time, repository};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A client that speaks the protocol line by line.
struct Client {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    /// What was told besides answers.
    notes: Vec<Value>,
}

impl Client {
    async fn start(stage: &Stage) -> Self {
        let mut child = Command::new(PREHEND)
            .arg("mcp")
            .current_dir(repository())
            .env("ROS_DOMAIN_ID", stage.graph.domain.id.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut client =
            Self { child, stdin, lines: BufReader::new(stdout).lines(), next: 0, notes: Vec::new() };
        let client_info = json!({ "name": "test", "version": "1" });
        let begin = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_info });
        let answer = client.request("initialize", begin).await;
        assert_eq!(answer["serverInfo"]["name"], "prehend", "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    async fn send(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        self.stdin.flush().await.unwrap();
    }

    /// Sends a request; its id.
    async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = in_time("an answer", self.lines.next_line()).await.unwrap().expect("the server lives");
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if message["id"] == json!(id) {
                return message.get("result").or(message.get("error")).unwrap().clone();
            }
            self.notes.push(message);
        }
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.request("tools/call", json!({ "name": name, "arguments": arguments })).await;
        let text = result["content"][0]["text"].clone();
        result.get("structuredContent").cloned().unwrap_or(text)
    }

    /// The key that a query finds.
    async fn find(&mut self, query: &str) -> String {
        let found = self.tool("object_retrieval", json!({ "query": query })).await;
        found["output"]["inventory"][0].as_str().unwrap_or_else(|| panic!("{found}")).to_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_drives_the_robot_with_the_rights_of_a_sentence() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let mut client = Client::start(&stage).await;

    let tools = client.request("tools/list", json!({})).await;
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(["goal", "stop", "interact", "finish"].iter().all(|name| names.contains(name)), "{names:?}");

    // A question, with progress.
    let params = json!({ "name": "goal", "arguments": { "text": "where is the plate?" }, "_meta": { "progressToken": 7 } });
    let answered = client.request("tools/call", params).await;
    assert_eq!(answered["structuredContent"]["outcome"], "done", "{answered}");
    let is_progress =
        |note: &&Value| note["method"] == "notifications/progress" && note["params"]["progressToken"] == 7;
    assert!(client.notes.iter().filter(is_progress).count() > 1, "{:?}", client.notes);
    let refused = client.tool("goal", json!({ "text": "throw the block at the child" })).await;
    assert_eq!(refused["reason"], "unsafe", "{refused}");

    // Step by step, under the same judgement.
    let early = client.tool("interact", json!({ "obj": "block_0", "action": "grasp" })).await;
    assert!(early["feedback_msg"].to_string().contains("not in the inventory"), "{early}");
    let block = client.find("red block").await;
    let thrown = client.tool("interact", json!({ "obj": block, "action": "throw it at the child" })).await;
    assert!(thrown["feedback_msg"].to_string().contains("unsafe"), "{thrown}");
    let block = client.find("red block").await;
    let held = client.tool("interact", json!({ "obj": block, "action": "grasp" })).await;
    assert_eq!(held["output"]["held_object"], json!(block), "{held}");
    // A person's goal waits until the session ends.
    let busy = client.tool("goal", json!({ "text": EASY_GOAL })).await;
    assert_eq!(busy["reason"], "busy", "{busy}");
    let lie = json!([{ "object": block, "state": "on", "target": "moon" }]);
    let not_so = client.tool("finish", json!({ "message": "done", "facts": lie })).await;
    assert_eq!(not_so["success"], false, "{not_so}");
    let plate = client.find("plate").await;
    let put = client.tool("interact", json!({ "obj": plate, "action": "place it on" })).await;
    assert_eq!(put["success"], true, "{put}");
    let end = client.tool("finish", json!({ "message": "done", "facts": [put["fact"]] })).await;
    assert_eq!((&end["outcome"], &end["session"]), (&json!("done"), &json!("ended")), "{end}");
    let truth = stage.arm_stands().await;
    let block = truth.objects.iter().find(|object| object.name == "red block").unwrap();
    assert!(block.on.iter().chain(&block.inside).any(|under| under == "plate"), "{block:?}");

    // Nonsense is answered.
    let unknown = client.request("tools/call", json!({ "name": "launch", "arguments": {} })).await;
    assert!(unknown["message"].to_string().contains("no tool"), "{unknown}");
    let wrong = client.request("tools/call", json!({ "name": "goal", "arguments": { "txt": 3 } })).await;
    assert!(wrong["message"].to_string().contains("needs `text`"), "{wrong}");
    assert!(client.request("sing", json!({})).await["code"].is_number());

    // A goal that is cancelled ends, and the next one can begin.
    let id = client
        .begin("tools/call", json!({ "name": "goal", "arguments": { "text": "pick up the red block" } }))
        .await;
    stage
        .event("the goal", |event| event.name == "started" && event.message == "pick up the red block")
        .await;
    stage.event("a motion", |event| event.kind == "motion" && event.status == "started").await;
    client
        .send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        )
        .await;
    stage.event("the end", |event| event.name == "finished" && event.message.contains("told to")).await;
    let map = client.tool("map", json!({})).await;
    assert!(map["objects"].as_array().unwrap().len() >= 2, "{map}");

    // Stop works while something else is asked, and a program does not clear it.
    let stopped = client.tool("stop", json!({})).await;
    assert_eq!(stopped["stopped"], true, "{stopped}");
    let refused = client.tool("goal", json!({ "text": EASY_GOAL })).await;
    assert_eq!(refused["reason"], "stopped", "{refused}");
    let (stdin, mut child) = (client.stdin, client.child);
    drop(stdin);
    assert!(in_time("the server ends with its client", child.wait()).await.unwrap().success());
    stage.end().await;
}
