//! The judge channel: what physics knows, asked of the sim process over its own pipes.
//!
//! One JSON object a line in each direction. No node has a handle on it: the pipes belong to the process that started
//! the sim, and to no other.

use crate::supervisor::Pipes;
use prehend_sim::world::{Motions, Truth};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};

/// Longest time the sim may take for an answer.
const DEADLINE: Duration = Duration::from_secs(20);

/// Why physics could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The sim process is gone.
    #[error("the sim process is gone")]
    Gone,
    /// The sim did not answer, now or to an earlier request.
    #[error("the sim did not answer within {DEADLINE:?}")]
    Silent,
    /// The answer is not a JSON object.
    #[error("the sim answered `{line}`, which is not a JSON object")]
    NotJson {
        /// What it answered.
        line: String,
    },
    /// The answer is not what was asked for.
    #[error("the sim's answer to `{question}` cannot be used: {error}")]
    Unexpected {
        /// What was asked.
        question: &'static str,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// The sim refused the request.
    #[error("the sim refused: {message}")]
    Refused {
        /// What it said.
        message: String,
    },
}

/// The parent's end of the judge channel.
#[derive(Debug)]
pub struct Judge {
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// After a silence a late answer would be taken for the answer to the next request.
    broken: bool,
}

impl Judge {
    /// Takes over the pipes of the sim process; dropping the judge asks that process to exit.
    pub fn new(pipes: Pipes) -> Self {
        Self { stdin: pipes.stdin, lines: BufReader::new(pipes.stdout).lines(), broken: false }
    }

    /// Sends one request and waits for its answer.
    ///
    /// Errors: [`JudgeError`]; an answer with a field `error` is [`JudgeError::Refused`].
    pub async fn ask(&mut self, request: &Value) -> Result<Value, JudgeError> {
        if self.broken {
            return Err(JudgeError::Silent);
        }
        // Also when the caller drops this future halfway.
        self.broken = true;
        let exchange = async {
            let line = format!("{request}\n");
            self.stdin.write_all(line.as_bytes()).await.map_err(|_| JudgeError::Gone)?;
            self.stdin.flush().await.map_err(|_| JudgeError::Gone)?;
            self.lines.next_line().await.ok().flatten().ok_or(JudgeError::Gone)
        };
        let line = tokio::time::timeout(DEADLINE, exchange).await.map_err(|_| JudgeError::Silent)??;
        self.broken = false;
        let answer: Value =
            serde_json::from_str(&line).map_err(|_| JudgeError::NotJson { line: line.clone() })?;
        if !answer.is_object() {
            return Err(JudgeError::NotJson { line });
        }
        match answer.get("error") {
            None | Some(Value::Null) => Ok(answer),
            Some(Value::String(message)) => Err(JudgeError::Refused { message: message.clone() }),
            Some(other) => Err(JudgeError::Refused { message: other.to_string() }),
        }
    }

    async fn ask_for<T: DeserializeOwned>(&mut self, question: &'static str) -> Result<T, JudgeError> {
        let answer = self.ask(&json!({ "ask": question })).await?;
        serde_json::from_value(answer).map_err(|error| JudgeError::Unexpected { question, error })
    }

    /// Poses, contacts and what is held, as physics has it now.
    ///
    /// Errors: [`JudgeError`].
    pub async fn snapshot(&mut self) -> Result<Truth, JudgeError> {
        self.ask_for("snapshot").await
    }

    /// When the robot moved, and how hard it touched.
    ///
    /// Errors: [`JudgeError`].
    pub async fn motions(&mut self) -> Result<Motions, JudgeError> {
        self.ask_for("motions").await
    }

    /// Switches faults of the sensors on or off: `{"camera": "silent"}`; for tests.
    ///
    /// Errors: [`JudgeError`].
    pub async fn fault(&mut self, mut change: Value) -> Result<(), JudgeError> {
        change["ask"] = json!("fault");
        self.ask(&change).await.map(drop)
    }

    /// Draws a picture of the scene from outside into a PNG file.
    ///
    /// Errors: [`JudgeError`].
    pub async fn overview(&mut self, path: &Path) -> Result<(), JudgeError> {
        // The sim's working folder is ours, yet an absolute path cannot be misread.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.ask(&json!({"ask": "overview", "path": path})).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::{Output, ProcessSpec, Restart, Supervisor};

    /// A judge on a shell that answers each request with the next line of `answers`, then exits.
    fn judge(folder: &Path, answers: &str) -> (Supervisor, Judge) {
        let script = format!("while read -r request; do {answers}; done");
        let mut supervisor = Supervisor::new(Path::new("/bin/sh"), Vec::new(), folder);
        let pipes = supervisor
            .start(ProcessSpec {
                name: "sim".into(),
                arguments: vec!["-c".into(), script],
                restart: Restart::Never,
                output: Output::Piped,
            })
            .unwrap();
        (supervisor, Judge::new(pipes.unwrap()))
    }

    #[tokio::test]
    async fn answers_and_what_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (_keep, mut sim) = judge(folder.path(), r#"printf '%s\n' "$request""#);
        assert_eq!(sim.ask(&json!({"ask": "x"})).await.unwrap(), json!({"ask": "x"}));
        assert!(matches!(sim.snapshot().await, Err(JudgeError::Unexpected { question: "snapshot", .. })));
        assert!(matches!(sim.ask(&json!([1])).await, Err(JudgeError::NotJson { .. })));
        let refused = sim.ask(&json!({"error": "no such object"})).await;
        assert!(matches!(refused, Err(JudgeError::Refused { message }) if message == "no such object"));
    }

    #[tokio::test]
    async fn a_sim_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (_keep, mut sim) = judge(folder.path(), "exit 1");
        assert!(matches!(sim.motions().await, Err(JudgeError::Gone)));
    }
}
