//! The Rust side of `tests/peers/ros2_interop.py`, on whichever backend it was compiled with.
//!
//! It offers one of everything below `/interop/NAME`, and uses what another peer offers below `/interop/OTHER`: one command a line on
//! stdin, one JSON object a line on stdout. It ends with its stdin. Only the facade is used.
//!
//! ```text
//! interop_peer [NAME [OTHER]]        (peer, ros2)
//! ```

mod commands;
mod offers;

use prehend_ros::{Context, Node, NodeOptions, init_logging};
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use tokio::io::{AsyncBufReadExt, BufReader};

/// What a command may end with.
type Failure = Box<dyn Error + Send + Sync>;

fn say(line: &Value) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

async fn run() -> Result<(), Failure> {
    let context = Context::create()?;
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "peer".to_owned());
    let other = arguments.next().unwrap_or_else(|| "ros2".to_owned());
    let node = Node::create(&context, &name, "/interop", NodeOptions::default())?;
    let gain = node.parameters().live_f64("gain", 1.5, 0.0..=10.0, "A number that may be set.")?;
    node.parameters().finish()?;
    node.serve_parameters()?;
    let offers = offers::Offers::make(&node, &format!("/interop/{name}"))?;
    let uses = commands::Uses::make(&node, &format!("/interop/{other}"))?;
    say(&json!({"ready": true, "gain": gain.get(), "domain": node.domain_id()}))?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut answer = match commands::obey(&node, &offers, &uses, &words).await {
            Ok(seen) => json!({"ok": true, "seen": seen}),
            Err(error) => json!({"ok": false, "error": error.to_string()}),
        };
        answer["command"] = json!(line);
        say(&answer)?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    init_logging(&prehend_ros::RosArguments::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let outcome = runtime.block_on(run());
    // Tasks hold endpoints: with the runtime they go, and the process leaves the domain.
    drop(runtime);
    outcome
}
