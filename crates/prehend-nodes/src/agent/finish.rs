//! The end of a goal: what stays of it, and how it is told.

use super::Node;
use super::goal::Ended;
use prehend_agent::{Fault, Planner, Report};
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_scene::Reason;
use serde_json::json;
use std::time::Instant;

impl Node {
    /// Keeps what stays of a goal that has ended, and tells its end to all and to who waits for it.
    pub(super) fn finish(&mut self, ended: Ended) {
        let Ended { goal_id, mut report, source, plan } = ended;
        if self.running.as_ref().is_some_and(|running| running.goal_id() == goal_id) {
            self.running = None;
            if let Some(plan) = plan {
                return self.finish_plan(*plan, &report, source);
            }
            self.asked_to_hold.end(report.outcome, report.state.held_object.as_ref());
            self.state = report.state.clone();
        }
        let at_work =
            self.at_work.take_if(|_| report.reason == Some(Reason::Ambiguous) && report.talk.is_none());
        self.asked = at_work.filter(|asked| !asked.readings.is_empty()).map(|asked| (asked, Instant::now()));
        self.tell_end(&goal_id, &report, false);
        if let Some(session) = self.remote.take_if(|session| session.goal_id == goal_id) {
            session.end(&report);
        }
        self.open = report.talk.take_if(|talk| talk.question.is_some()).map(|talk| (talk, Instant::now()));
        self.publish_state("");
        source.end(ExecuteGoal::Result {
            goal_id,
            outcome: report.outcome.name().to_owned(),
            reason: report.reason.map_or("", Reason::code).to_owned(),
            message: report.message,
            tool_calls: report.tool_calls,
            plans: Vec::new(),
        });
    }

    /// Tells the end of a goal to the trace.
    pub(super) fn tell_end(&self, goal_id: &str, report: &Report, plan_only: bool) {
        let talk = report.talk.as_ref();
        let asked = talk.and_then(|talk| talk.question.clone());
        let asks = report.reason.is_some_and(|reason| Fault::new(reason, report.message.as_str()).asks());
        let warning = talk.and_then(|talk| talk.warning.as_ref());
        // Without a model that was of use, the grammar and the built-in planner have decided.
        let planner = if talk.is_some() && warning.is_none() { Planner::Model } else { Planner::Builtin };
        let data = json!({
            "outcome": report.outcome.name(),
            "plan_only": plan_only,
            "reason": report.reason.map(Reason::code),
            "message": report.message,
            "tool_calls": report.tool_calls,
            "planner": planner,
            "model": talk.map(|talk| json!({
                "calls": talk.turns.len(),
                "tokens_in": talk.usage.tokens_in,
                "tokens_out": talk.usage.tokens_out,
                "seconds": talk.usage.seconds,
            })),
            "question": asked.or_else(|| asks.then(|| report.message.clone())),
        });
        if let Some(warning) = warning {
            self.shell.trace.event(goal_id, TraceEvent::KIND_WARNING, "model", "unaided", warning, json!({}));
        }
        self.trace(goal_id, "finished", report.outcome.name(), &report.message, data);
    }
}
