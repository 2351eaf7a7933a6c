//! Reads the judge's questions from stdin and writes the answers to stdout.

use super::arm_handle::{ArmHandle, Command};
use super::judge::{Answer, Request};
use prehend_robots::NodeError;
use prehend_sim::body::Frame;
use prehend_sim::sensors::render::View;
use prehend_sim::sensors::{Stage, view_png};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The open channel.
pub(super) struct JudgeChannel {
    ended: Option<oneshot::Receiver<()>>,
}

impl JudgeChannel {
    /// Completes at the end of stdin, if that means the end.
    pub(super) async fn closed(self) {
        match self.ended {
            Some(ended) => {
                // Sent or dropped: the reading thread is at its end.
                let _ = ended.await;
            }
            None => std::future::pending().await,
        }
    }
}

/// Starts the thread that answers. It blocks in stdin, so it is not joined: the process ends without it.
pub(super) fn open(
    arm: ArmHandle,
    stage: Arc<Stage>,
    view: View,
    watch_stdin: bool,
) -> Result<JudgeChannel, NodeError> {
    let (end, ended) = oneshot::channel();
    let body = move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if line.trim().is_empty() {
                continue;
            }
            let answer = answer(&line, &arm, &stage, &view);
            let mut out = std::io::stdout().lock();
            if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
                break;
            }
        }
        let _ = end.send(());
    };
    super::spawn("judge", body)?;
    Ok(JudgeChannel { ended: watch_stdin.then_some(ended) })
}

/// The answer to one line.
fn answer(line: &str, arm: &ArmHandle, stage: &Stage, view: &View) -> Value {
    let request: Request = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return json!({ "error": format!("not a request: {error}") }),
    };
    if let Request::Vendor(change) = request {
        let state = arm.vendor().change(change);
        arm.heed();
        return state;
    }
    if let Request::Nav2(how) = request {
        arm.spoil_nav2(how);
        return json!({ "done": true });
    }
    if let Request::Moveit(how) = request {
        arm.misbehave(how);
        return json!({ "done": true });
    }
    let path = match &request {
        Request::Overview { path } => path.clone(),
        _ => String::new(),
    };
    let (reply, answer) = oneshot::channel();
    if let Err(error) = arm.send(Command::Judge(request, reply)) {
        return json!({ "error": error.to_string() });
    }
    match answer.blocking_recv() {
        Ok(Answer::Json(value)) => value,
        Ok(Answer::Draw(frame)) => match draw(&frame, stage, view, &path) {
            Ok(()) => json!({ "written": path }),
            Err(error) => json!({ "error": format!("{path}: {error}") }),
        },
        Ok(Answer::Error(error)) => json!({ "error": error }),
        Err(_) => json!({ "error": "the robot is gone" }),
    }
}

fn draw(frame: &Frame, stage: &Stage, view: &View, path: &str) -> Result<(), String> {
    let drawables = stage.drawables(frame).map_err(|error| error.to_string())?;
    let png = view_png(&drawables, view).map_err(|error| error.to_string())?;
    std::fs::write(path, png).map_err(|error| error.to_string())
}
