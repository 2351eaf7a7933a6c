//! A goal that may start: told as it was understood, and set to work.

use super::Node;
use super::goal::{Ended, Running, Start};
use super::mind::Mind;
use super::order::{is_question, is_stop};
use super::peers::needed;
use super::source::Source;
use prehend_agent::mind::Order;
use prehend_agent::{Fault, Outcome, Planner, Report};
use prehend_scene::{ObjectKey, Reason};
use serde_json::json;
use std::sync::Arc;

impl Node {
    /// Starts a goal that may start.
    pub(super) fn start(
        &mut self,
        goal_id: &str,
        order: Order,
        (planner, mind): (Planner, Option<Mind>),
        plan_only: bool,
        source: Source,
    ) {
        let understood: Vec<String> = order.readings.iter().map(ToString::to_string).collect();
        let said = match (&order.answers, understood.as_slice()) {
            (Some(_), _) => "the answer to the language model's question".to_owned(),
            (None, []) => "left to the language model".to_owned(),
            (None, readings) => readings.join(" or "),
        };
        let is_question = is_question(&order);
        let data = json!({ "readings": understood, "question": is_question });
        self.trace(goal_id, "understood", "ok", &said, data);
        if is_stop(&order.readings) && !plan_only {
            let message = match self.running.as_ref() {
                Some(running) => {
                    running.interrupt(Fault::new(Reason::Canceled, format!("told to \"{}\"", order.text)));
                    "I stop what I am doing."
                }
                None => "I am doing nothing and hold still.",
            };
            let report = Report {
                outcome: Outcome::Done,
                reason: None,
                message: message.to_owned(),
                tool_calls: 0,
                state: self.state.clone(),
                talk: None,
            };
            let ended = Ended { goal_id: goal_id.to_owned(), report, source, plan: None };
            // The end is told after the answer to the submission, as with every goal.
            let _ = self.ended.send(ended);
            return;
        }
        self.tuning.apply(&mut Arc::make_mut(&mut self.agent).settings);
        let watched = needed(&order, &self.shell);
        let held = self.in_hand();
        let asked_to_hold = self.asked_to_hold.begin(held.as_ref());
        let plan_eyes = plan_only.then(|| self.plan_eyes()).flatten();
        let words = self.minds.words(mind.as_ref());
        let running = Running::start(Start {
            work: self.shell.work(),
            goal_id: goal_id.to_owned(),
            order,
            planner,
            mind,
            words,
            eyes: self.eyes.clone(),
            agent: Arc::clone(&self.agent),
            clients: self.clients.clone(),
            trace: self.shell.trace.clone(),
            peers: self.shell.peers.clone(),
            watched,
            held,
            asked_to_hold,
            source,
            plan_only,
            plan_eyes,
            ended: self.ended.clone(),
        });
        self.running = Some(running);
        self.publish_state(goal_id);
    }

    /// What the skills say is in the hand; before they said anything, what the last goal left.
    fn in_hand(&self) -> Option<ObjectKey> {
        match self.clients.in_hand.borrow().as_ref() {
            Some(in_hand) => in_hand.objects.first().map(|object| object.key.clone()),
            None => self.state.held_object.clone(),
        }
    }
}
