//! Goals as they come, by the service or the action: taken up, or refused with a reason.

use super::mind::Mind;
use super::order::{error_code, is_stop, needs_motion};
use super::peers::{lost, peers_of};
use super::source::{Refused, Source};
use super::{ANSWER_PATIENCE, Node};
use crate::waiting::respond;
use prehend_agent::language::answer::Asked;
use prehend_agent::mind::Order;
use prehend_agent::{Fault, Outcome, Planner, Report};
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_msgs::prehend_interfaces::srv::SubmitGoal;
use prehend_ros::{GoalRequest, ServiceRequest};
use prehend_scene::Reason;
use serde_json::json;
use std::time::{Duration, Instant};

/// Longest wait for the news that the stop was cleared.
const STOP_NEWS: Duration = Duration::from_millis(500);

/// How a goal is to be gone about.
struct How {
    /// Turns of a recorded conversation with a language model; empty is none.
    model_turns: String,
    /// Whether it is only planned.
    plan_only: bool,
}

impl Node {
    /// A goal comes by the service.
    pub(super) fn submit(&mut self, request: ServiceRequest<SubmitGoal::Service>) {
        let SubmitGoal::Request { text, model_turns, plan_only } = request.message.clone();
        let how = How { model_turns, plan_only };
        let response = match self.begin(&text, &how, Source::Service) {
            Ok(goal_id) => SubmitGoal::Response { accepted: true, goal_id, ..Default::default() },
            Err(refused) => SubmitGoal::Response {
                accepted: false,
                goal_id: refused.goal_id,
                error_code: error_code(refused.fault.reason),
                reason: refused.fault.reason.code().to_owned(),
                message: refused.fault.message,
            },
        };
        respond(request, response);
    }

    /// A goal comes by the action.
    pub(super) fn execute(&mut self, request: GoalRequest<ExecuteGoal::Action>) {
        let text = request.goal.text.clone();
        let how = How { model_turns: String::new(), plan_only: request.goal.plan_only };
        // Refused goals are accepted and aborted, so that the reason reaches the client.
        let handle = request.accept();
        if let Err(refused) = self.begin(&text, &how, Source::Action(handle)) {
            let Refused { goal_id, fault, source } = *refused;
            source.end(ExecuteGoal::Result {
                goal_id,
                outcome: Outcome::Refused.name().to_owned(),
                reason: fault.reason.code().to_owned(),
                message: fault.message,
                tool_calls: 0,
                plans: Vec::new(),
            });
        }
    }

    /// Starts a goal, or says why not, giving the source back. A question about the last goal is answered, whatever is at work.
    fn begin(&mut self, text: &str, how: &How, source: Source) -> Result<String, Box<Refused>> {
        if self.asks_of_past(text) {
            return self.answer_of_past(text, source);
        }
        let goal_id = self.announce(text);
        match self.take_up(text, how) {
            Ok((order, planner, mind)) => {
                self.start(&goal_id, order, (planner, mind), how.plan_only, source);
                Ok(goal_id)
            }
            Err(fault) => {
                if fault.asks() && !how.plan_only {
                    self.asked =
                        Some((Asked { text: text.to_owned(), readings: Vec::new() }, Instant::now()));
                }
                let report = Report {
                    outcome: Outcome::Refused,
                    reason: Some(fault.reason),
                    message: fault.message.clone(),
                    tool_calls: 0,
                    state: self.state.clone(),
                    talk: None,
                };
                self.tell_end(&goal_id, &report, how.plan_only);
                Err(Box::new(Refused { goal_id, fault, source }))
            }
        }
    }

    /// The id of what comes next, which no other has in this life or another.
    pub(super) fn next_id(&mut self) -> String {
        self.goals += 1;
        format!("goal-{:08x}-{}", self.incarnation & 0xffff_ffff, self.goals)
    }

    /// A new goal's id, told to the trace.
    pub(super) fn announce(&mut self, text: &str) -> String {
        let goal_id = self.next_id();
        self.newest = Some(goal_id.clone());
        self.trace(&goal_id, "started", "started", text, json!({ "text": text }));
        goal_id
    }

    /// Waits a moment for the stop to be cleared, if it is latched: whoever cleared it may be faster than the news of it.
    pub(super) async fn news_of_the_stop(&self) {
        let mut stop = self.clients.stop.clone();
        // It stays latched, or nobody tells any more: the goal is refused.
        let _ = tokio::time::timeout(STOP_NEWS, stop.wait_for(Option::is_none)).await;
    }

    /// A sentence as an order, with who plans it.
    ///
    /// Errors: it is refused at once.
    fn take_up(&mut self, text: &str, how: &How) -> Result<(Order, Planner, Option<Mind>), Fault> {
        if how.plan_only {
            // A language model decides step by step, from what each step brought: its steps are not known before.
            let order = self.agent.order(text, Planner::Builtin, None)?;
            self.may_start(&order, true)?;
            return Ok((order, Planner::Builtin, None));
        }
        let (planner, mind) = self.minds.of_goal(&how.model_turns)?;
        let open = self.open.as_ref().filter(|(_, asked)| asked.elapsed() < ANSWER_PATIENCE);
        let open = open.map(|(conversation, _)| conversation.clone());
        let asked = self.asked.as_ref().filter(|(_, asked)| asked.elapsed() < ANSWER_PATIENCE);
        let asked = asked.map(|(asked, _)| asked.clone());
        let (order, asked) = match (self.agent.order(text, planner, open), asked) {
            (Ok(order), Some(asked)) if order.readings.is_empty() && order.answers.is_none() => {
                self.agent.answer(&asked, text)?.unwrap_or((order, asked))
            }
            (Err(fault), Some(asked)) if fault.reason == Reason::NotUnderstood => {
                self.agent.answer(&asked, text)?.ok_or(fault)?
            }
            (order, _) => {
                let order = order?;
                let asked = Asked { text: text.to_owned(), readings: order.readings.clone() };
                (order, asked)
            }
        };
        self.may_start(&order, false)?;
        self.open = None;
        self.asked = None;
        self.at_work = Some(asked);
        Ok((order, planner, mind))
    }

    /// Whether the goal may start now: nothing else runs, the stop is clear, the peers are there.
    pub(super) fn may_start(&self, order: &Order, plan_only: bool) -> Result<(), Fault> {
        if !self.shell.is_active() {
            return Err(Fault::new(
                Reason::Stopped,
                "The agent is not active: its lifecycle has to activate it.",
            ));
        }
        if is_stop(&order.readings) && !plan_only {
            return Ok(());
        }
        if self.running.is_some() {
            return Err(Fault::new(Reason::Busy, "Another goal is being executed; say \"stop\" to end it."));
        }
        if !needs_motion(order) {
            return Ok(());
        }
        if let Some(reason) = self.clients.stop.borrow().as_ref().filter(|_| !plan_only) {
            return Err(Fault::new(
                Reason::Stopped,
                format!("The robot is stopped ({reason}); clear the stop first."),
            ));
        }
        match self.shell.peers.missing(peers_of(&self.shell)).first() {
            None => Ok(()),
            Some(peer) => Err(lost(peer)),
        }
    }
}
