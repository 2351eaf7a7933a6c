//! Questions about what the robot has done, answered from what the graph told of it: nothing is asked of anybody, and nothing moves.

use super::source::{Refused, Source};
use super::{ANSWER_PATIENCE, Node};
use futures::StreamExt;
use prehend_agent::language::answer::Asked;
use prehend_agent::{Fault, Outcome};
use prehend_convert as convert;
use prehend_explain::{Answer, Event, Heard, Recent, Words, of_last_goal};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_robots::shell::Trace;
use prehend_ros::{Node as Ros, QosProfile, RosError};
use prehend_scene::Reason;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// Longest wait for the news of the end of a goal that has ended.
const NEWS: Duration = Duration::from_secs(1);
/// Most questions that wait for their answer at once.
const MOST: usize = 16;

/// What was told of the last goals, and the words that questions about them are read with.
#[derive(Clone)]
pub(super) struct Past {
    recent: Arc<Mutex<Recent>>,
    /// Changes when something was told.
    told: watch::Receiver<()>,
    words: Arc<Words>,
    room: Arc<Semaphore>,
}

/// A question about the last goal.
struct Question {
    goal_id: String,
    text: String,
    /// The newest goal, and whether it is still at work; `None` when there was none.
    last: Option<(String, bool)>,
}

impl Past {
    /// Hears from now on what all nodes tell.
    ///
    /// Errors: [`RosError`] of the subscription.
    pub(super) fn follow(node: &Ros, words: Words) -> Result<Self, RosError> {
        let mut events = node.subscribe::<TraceEvent>(names::TRACE, QosProfile::default().depth(2000))?;
        let recent: Arc<Mutex<Recent>> = Arc::default();
        let kept = Arc::clone(&recent);
        let (sender, told) = watch::channel(());
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                kept.lock().unwrap_or_else(PoisonError::into_inner).take(heard(event));
                sender.send_replace(());
            }
        });
        Ok(Self { recent, told, words: Arc::new(words), room: Arc::new(Semaphore::new(MOST)) })
    }

    /// Whether a sentence that is no goal, for this reason, asks about the last one.
    fn is_asked(&self, text: &str, refused: Reason) -> bool {
        of_last_goal(text, refused, &self.words).is_some()
    }

    /// Answers a question, and tells it to the trace and to who has asked.
    ///
    /// Errors: busy, when too many wait already; the source is given back.
    fn answer(&self, question: Question, trace: Trace, source: Source) -> Result<(), Box<Refused>> {
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
            let fault = Fault::new(Reason::Busy, format!("{MOST} questions wait for their answers already."));
            return Err(Box::new(Refused { goal_id: question.goal_id, fault, source }));
        };
        let past = self.clone();
        tokio::spawn(async move {
            let _room = room;
            let Question { goal_id, text, last } = question;
            past.news(last.as_ref()).await;
            let is_at_work = last.is_some_and(|(_, is_at_work)| is_at_work);
            // A long trace takes a moment to read.
            let read = tokio::task::spawn_blocking(move || {
                // What is kept is copied, so that what comes meanwhile waits for nothing.
                let recent = past.recent.lock().unwrap_or_else(PoisonError::into_inner).clone();
                recent.answer(&text, &past.words, is_at_work)
            });
            let result = match read.await {
                Ok(answer) => told_as(&goal_id, &answer, &trace),
                Err(error) => ExecuteGoal::Result {
                    outcome: Outcome::Failed.name().to_owned(),
                    reason: Reason::Internal.code().to_owned(),
                    message: format!("the question was not answered: {error}"),
                    ..Default::default()
                },
            };
            source.end(ExecuteGoal::Result { goal_id, ..result });
        });
        Ok(())
    }

    /// Waits a moment for the end of a goal that has ended: whoever asks may be faster than the news of it.
    async fn news(&self, last: Option<&(String, bool)>) {
        let Some((goal_id, is_at_work)) = last else { return };
        let is_told = |_: &()| {
            let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_at_work { recent.has(goal_id, "started") } else { recent.has(goal_id, "finished") }
        };
        // What is not heard by then is answered as not recorded.
        let _ = tokio::time::timeout(NEWS, self.told.clone().wait_for(is_told)).await;
    }
}

impl Node {
    /// Whether a sentence is a question about the last goal. A goal, another question and an answer to what was asked come first.
    pub(super) fn asks_of_past(&self, text: &str) -> bool {
        if !self.shell.is_active() {
            return false;
        }
        let Err(fault) = self.agent.understand(text) else { return false };
        let is_answer = |(asked, since): &(Asked, Instant)| {
            since.elapsed() < ANSWER_PATIENCE && matches!(self.agent.answer(asked, text), Ok(Some(_)))
        };
        self.past.is_asked(text, fault.reason) && !self.asked.as_ref().is_some_and(is_answer)
    }

    /// Answers a question about the last goal: the trace tells, and who waits for it. It is no goal, and changes nothing.
    pub(super) fn answer_of_past(&mut self, text: &str, source: Source) -> Result<String, Box<Refused>> {
        let goal_id = self.next_id();
        self.trace(&goal_id, "asked", "asked", text, json!({ "text": text }));
        let running = self.running.as_ref().map(|running| (running.goal_id().to_owned(), true));
        let last = running.or_else(|| self.newest.clone().map(|id| (id, false)));
        let question = Question { goal_id: goal_id.clone(), text: text.to_owned(), last };
        self.past.answer(question, self.shell.trace.clone(), source).map(|()| goal_id)
    }
}

fn heard(event: TraceEvent) -> Heard {
    let TraceEvent { stamp, goal_id, node, kind, name, status, message, data, .. } = event;
    let t = convert::seconds(&stamp);
    Heard { event: Event { t, goal_id, node, kind, name, status, message, ..Event::default() }, data }
}

/// Tells an answer to the trace, and gives it as the result of who has asked. It is no goal that begins or ends: what follows goals does not
/// take it for one.
fn told_as(goal_id: &str, answer: &Answer, trace: &Trace) -> ExecuteGoal::Result {
    let (outcome, message) = (Outcome::Done.name(), answer.said.join(" "));
    let data = json!({
        "outcome": outcome,
        "message": message,
        "said": answer.said,
        "asked": answer.asked,
        "objects": answer.objects,
    });
    trace.event(goal_id, TraceEvent::KIND_GOAL, "answered", outcome, message.as_str(), data);
    ExecuteGoal::Result { outcome: outcome.to_owned(), message, ..Default::default() }
}
