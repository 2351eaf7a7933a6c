//! What is told of a goal at work: to the trace, to who waits for its end, and to all who follow the agent's state.

use super::NodeWorld;
use prehend_agent::talk::Turn;
use prehend_agent::tools::{ToolOutput, ToolValue};
use prehend_agent::world::Comparison;
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_scene::ObjectKey;
use serde_json::json;
use std::time::Instant;

impl NodeWorld {
    /// Tells which things were compared, and by what.
    pub(super) fn tell_comparison(&self, comparison: &Comparison) {
        let Comparison { by, measured, taken, why_none } = comparison;
        let list = |keys: &[ObjectKey]| keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>().join(", ");
        let (status, message) = match why_none.as_str() {
            "" => ("ok", format!("of {} by {by}: {}", measured.len(), list(taken))),
            why => ("failed", format!("of {} by {by}: {why}", measured.len())),
        };
        let finite = measured.iter().filter(|(_, value)| value.is_finite());
        let measured: Vec<_> = finite.map(|(key, value)| json!({ "key": key.0, "value": value })).collect();
        let taken: Vec<&str> = taken.iter().map(|key| key.0.as_str()).collect();
        let data = json!({ "by": by, "measured": measured, "taken": taken });
        self.trace.event(&self.goal_id, TraceEvent::KIND_EVIDENCE, "comparison", status, message, data);
    }

    /// Tells that a tool is at work.
    pub(super) fn tell_call(&mut self, name: &str, arguments: &str) {
        self.called = Some((Instant::now(), arguments.to_owned()));
        let feedback = ExecuteGoal::Feedback { tool: name.to_owned(), message: arguments.to_owned() };
        // Nobody listens when the goal came through the service.
        let _ = self.feedback.send(feedback);
    }

    /// Tells what a tool answered, and the state when it is one.
    pub(super) fn tell_answer(&mut self, name: &str, output: &ToolOutput) {
        let (seconds, arguments) = self
            .called
            .take()
            .map_or((0.0, String::new()), |(since, arguments)| (since.elapsed().as_secs_f64(), arguments));
        let status = if output.success { "ok" } else { "failed" };
        let planned = if self.rehearsal.is_some() { "only planned: " } else { "" };
        let message = format!("({arguments}) -> {planned}{}", output.feedback_msg);
        let data = json!({ "arguments": arguments, "output": output, "seconds": seconds, "plan_only": self.rehearsal.is_some() });
        self.trace.event(&self.goal_id, TraceEvent::KIND_TOOL, name, status, message, data);
        // Where the base stands is of use to others before the goal has ended; what would be held is not held.
        if let (Some(ToolValue::State(state)), None) = (&output.output, &self.rehearsal) {
            self.clients.tell_state(state, &self.goal_id);
        }
    }

    /// Tells what a language model said, and what that cost.
    pub(super) fn tell_turn(&self, turn: &Turn) {
        let calls: Vec<&str> = turn.calls.iter().map(|call| call.name.as_str()).collect();
        let usage = &turn.usage;
        let message = format!(
            "calls {}; {} tokens read, {} written, {:.2} s",
            if calls.is_empty() { "nothing".to_owned() } else { calls.join(", ") },
            usage.tokens_in,
            usage.tokens_out,
            usage.seconds
        );
        let data = json!({ "turn": turn });
        self.trace.event(&self.goal_id, TraceEvent::KIND_TOOL, "model", "ok", &message, data);
    }
}
