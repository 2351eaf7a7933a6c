//! Outcomes, and how parts move, learned one after the other in the order in which they came: what is put down is what was picked up before.

use super::keeper::Keeper;
use super::{locked, now};
use prehend_msgs::prehend_interfaces::msg::{Outcome, TraceEvent};
use prehend_robots::shell::Trace;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long what waits is learned at the end of a session.
const LAST: Duration = Duration::from_secs(3);

/// What is learned of a thing, with what was known when it came.
pub(super) struct Lesson {
    pub(super) what: Taught,
    /// What the thing is called.
    pub(super) words: String,
    /// Key, as it is remembered, of the thing, or in a room of what the base stood at.
    pub(super) key: String,
}

/// What a lesson is about.
pub(super) enum Taught {
    /// What became of an action.
    Outcome(Outcome),
    /// How its parts move, as URDF.
    Model(String),
}

/// Learns on a task of its own.
pub(super) struct Lessons {
    sender: mpsc::UnboundedSender<Lesson>,
    learner: JoinHandle<()>,
}

impl Lessons {
    /// Nothing is learned yet.
    pub(super) fn new(keeper: Arc<Mutex<Keeper>>, trace: Trace) -> Self {
        let (sender, mut lessons) = mpsc::unbounded_channel();
        let learner = tokio::spawn(async move {
            while let Some(lesson) = lessons.recv().await {
                let (keeper, trace) = (Arc::clone(&keeper), trace.clone());
                // A lesson that panics is one lesson less.
                let _ = tokio::task::spawn_blocking(move || learn(&keeper, &trace, &lesson)).await;
            }
        });
        Self { sender, learner }
    }

    /// Learns an outcome after those that came before.
    pub(super) fn add(&self, lesson: Lesson) {
        if self.sender.send(lesson).is_err() {
            tracing::warn!("an outcome is not remembered: nobody learns any more");
        }
    }

    /// Learns what still waits, if that does not take too long.
    pub(super) async fn end(self) {
        drop(self.sender);
        if tokio::time::timeout(LAST, self.learner).await.is_err() {
            tracing::warn!("the last outcomes are not remembered: the store is slow");
        }
    }
}

fn learn(keeper: &Mutex<Keeper>, trace: &Trace, lesson: &Lesson) {
    let Lesson { what, words, key } = lesson;
    let (learned, data) = match what {
        Taught::Outcome(outcome) => (
            locked(keeper).learn(outcome, words, key, now()),
            json!({ "object": outcome.object_key, "skill": outcome.skill }),
        ),
        Taught::Model(urdf) => (locked(keeper).keep_model(key, words, urdf), json!({ "object": words })),
    };
    match learned {
        Ok(Some(said)) => trace.event("", TraceEvent::KIND_EVIDENCE, "memory", "learned", said, data),
        Ok(None) => {}
        Err(error) => tracing::warn!("what was learned is not remembered: {error}"),
    }
}
