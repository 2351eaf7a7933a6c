//! A program that calls the agent's tools from outside: to the agent it is a model like any other.

use prehend_agent::talk::{Call, End, Message, ModelFault, Turn, Usage};
use prehend_agent::{Fault, Report};
use prehend_scene::Reason;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Longest silence of a caller: then its session ends.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a caller gets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    /// JSON.
    pub(super) text: String,
    /// The session is over.
    pub(super) ended: bool,
}

/// A call that waits for its answer.
struct Asked {
    name: String,
    arguments: String,
    reply: oneshot::Sender<Answer>,
}

/// Who waits for the answer to the call at work.
type Waiting = Arc<Mutex<Option<oneshot::Sender<Answer>>>>;

/// A session as the node has it.
pub(super) struct Session {
    pub(super) client: String,
    pub(super) goal_id: String,
    calls: mpsc::Sender<Asked>,
    waiting: Waiting,
}

/// A session as the agent has it.
pub(super) struct Caller {
    calls: mpsc::Receiver<Asked>,
    waiting: Waiting,
    number: u64,
}

/// A session of this client, and the other end of it. The caller has its goal's id as soon as there is one.
pub(super) fn session(client: &str) -> (Session, Caller) {
    let (sender, calls) = mpsc::channel(1);
    let waiting = Waiting::default();
    let session = Session {
        client: client.to_owned(),
        goal_id: String::new(),
        calls: sender,
        waiting: Arc::clone(&waiting),
    };
    (session, Caller { calls, waiting, number: 0 })
}

impl Session {
    /// Hands on a call; the answer comes when the tool has answered, or the session ends.
    ///
    /// Errors: busy, while another call is at work.
    pub(super) fn call(&self, name: &str, arguments: &str) -> Result<oneshot::Receiver<Answer>, Fault> {
        let (reply, answer) = oneshot::channel();
        let asked = Asked { name: name.to_owned(), arguments: arguments.to_owned(), reply };
        match self.calls.try_send(asked) {
            Ok(()) => Ok(answer),
            Err(_) => Err(Fault::new(Reason::Busy, "A call of this session is at work.")),
        }
    }

    /// Tells whoever waits how the session ended.
    pub(super) fn end(self, report: &Report) {
        let text = json!({
            "outcome": report.outcome.name(),
            "reason": report.reason.map(Reason::code),
            "message": report.message,
        });
        tell(&self.waiting, Answer { text: text.to_string(), ended: true });
    }
}

fn tell(waiting: &Waiting, answer: Answer) {
    let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(reply) = waiting {
        // Whoever asked may be gone by now.
        let _ = reply.send(answer);
    }
}

impl Caller {
    /// The next call as a turn; before it is waited for, the last one is answered with what the agent said.
    pub(super) async fn turn(
        &mut self,
        messages: &[Message],
        interrupt: &mut watch::Receiver<Option<Fault>>,
    ) -> Result<Turn, ModelFault> {
        let text = match messages.last() {
            Some(Message::Tool { content, .. }) => content.clone(),
            Some(Message::User { text }) => json!({ "success": false, "feedback_msg": text }).to_string(),
            _ => Value::Null.to_string(),
        };
        tell(&self.waiting, Answer { text, ended: false });
        let next = tokio::select! {
            biased;
            fault = super::interrupt::interrupted(interrupt) => return Err(ModelFault::Interrupted(fault)),
            next = tokio::time::timeout(PATIENCE, self.calls.recv()) => next,
        };
        let Asked { name, arguments, reply } = match next {
            Ok(Some(asked)) => asked,
            Ok(None) => return Err(ModelFault::Unavailable("the caller is gone".to_owned())),
            Err(_) => {
                let message = format!("the caller was silent for {} s", PATIENCE.as_secs());
                return Err(ModelFault::Unavailable(message));
            }
        };
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
        self.number += 1;
        let call = Call { id: format!("call_{}", self.number), name, arguments, signature: None };
        Ok(Turn { text: String::new(), calls: vec![call], end: End::Complete, usage: Usage::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_agent::Outcome;

    fn tool(content: &str) -> [Message; 1] {
        [Message::Tool { id: "call_1".to_owned(), name: "near".to_owned(), content: content.to_owned() }]
    }

    #[tokio::test]
    async fn a_call_becomes_a_turn_and_its_answer_comes_back() {
        let (session, mut caller) = session("a");
        let (_keep, mut interrupt) = watch::channel(None);
        let first = session.call("near", "{}").expect("nothing is at work");
        // One waits in the channel: a second one is too many.
        let busy = session.call("near", "{}").expect_err("one is at work");
        assert_eq!(busy.reason, Reason::Busy);
        let turn = caller.turn(&[], &mut interrupt).await.expect("a turn");
        assert_eq!((turn.calls[0].name.as_str(), turn.calls[0].id.as_str()), ("near", "call_1"));
        let second = session.call("finish", "{}").expect("the channel is free");
        caller.turn(&tool("{\"success\":true}"), &mut interrupt).await.expect("a turn");
        assert_eq!(first.await, Ok(Answer { text: "{\"success\":true}".to_owned(), ended: false }));
        let report = Report {
            outcome: Outcome::Done,
            reason: None,
            message: "I hold it.".to_owned(),
            tool_calls: 1,
            state: Default::default(),
            talk: None,
        };
        session.end(&report);
        let end = second.await.expect("an end");
        assert!(end.ended && end.text.contains("I hold it."), "{end:?}");
    }

    #[tokio::test]
    async fn what_ends_the_goal_ends_the_wait() {
        let (_session, mut caller) = session("a");
        let (sender, mut interrupt) = watch::channel(None);
        sender.send_replace(Some(Fault::new(Reason::Stopped, "stopped")));
        let ended = caller.turn(&[], &mut interrupt).await;
        assert!(matches!(ended, Err(ModelFault::Interrupted(fault)) if fault.reason == Reason::Stopped));
    }
}
