//! The answer to who asked, with the trace of how it came about.

use super::failure::Failure;
use super::gathering::Assessed;
use super::question::Question;
use super::{Goal, Worker};
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::action::DetectAffordance;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_scene::Affordance;
use serde_json::json;

impl Worker {
    /// Tells the step at hand.
    pub(super) fn feedback(&self, goal: &Goal, step: &str) {
        if let Err(error) = goal.publish_feedback(DetectAffordance::Feedback { step: step.to_owned() }) {
            tracing::debug!("feedback not sent: {error}");
        }
    }

    /// Aborts the goal with why there is no answer.
    pub(super) fn refuse(&self, goal: Goal, goal_id: &str, about: &str, failure: &Failure) {
        let (error_code, error_message) = (failure.code(), failure.to_string());
        self.trace.event(
            goal_id,
            TraceEvent::KIND_WARNING,
            "affordance",
            "failed",
            format!("{about}: {error_message}"),
            json!({ "error_code": error_code }),
        );
        goal.abort(DetectAffordance::Result { error_code, error_message, ..Default::default() });
    }

    /// Gives what was found: as a success when the verifier commits.
    pub(super) fn answer(&self, goal: Goal, asked: &Question, found: &[Affordance], assessed: &Assessed) {
        let gathered = &assessed.gathered;
        let d = gathered.diagnostics;
        let words = asked.intent.to_string();
        for step in &gathered.steps {
            let s = step.diagnostics;
            self.trace.event(
                &asked.goal_id,
                TraceEvent::KIND_EVIDENCE,
                &step.tool,
                if step.added.is_empty() { "nothing" } else { "added" },
                format!(
                    "{}: {} record(s) by {}; omega {:.2}, zeta {:.2}, mu {:.2}, v {:.2}{}",
                    asked.object,
                    step.added.len(),
                    step.tool,
                    s.omega,
                    s.zeta,
                    s.mu,
                    s.score,
                    step.advice
                        .as_ref()
                        .map(|why| format!("; the model chose it: {why}"))
                        .unwrap_or_default()
                ),
                json!({ "object": asked.object, "action": words, "records": step.added,
                    "remedy_for": step.remedy_for, "advice": step.advice, "diagnostics": s }),
            );
        }
        let parts: Vec<String> = found.iter().map(|a| format!("{} ({:.2})", a.part, a.score)).collect();
        self.trace.event(
            &asked.goal_id,
            TraceEvent::KIND_EVIDENCE,
            "affordance",
            if d.committed { "committed" } else { "not_committed" },
            format!(
                "{} to {}: {}; v {:.2}",
                asked.object,
                asked.intent,
                parts.join(", "),
                d.score
            ),
            json!({ "object": asked.object, "action": words, "parts": parts, "assessment": assessed.id, "spent": gathered.spent, "diagnostics": d,
                "records": gathered.evidence.iter().map(|e| &e.id).collect::<Vec<_>>() }),
        );
        let stamp = gathered.evidence.iter().map(|e| e.stamp).fold(0.0, f64::max);
        let diagnostics = convert::diagnostics_to_msg(&d);
        let mut result = DetectAffordance::Result {
            affordances: found.iter().map(|a| convert::affordance_to_msg(a, &self.base, stamp)).collect(),
            assessment_id: assessed.id.clone(),
            diagnostics,
            ..Default::default()
        };
        if d.committed {
            goal.succeed(result);
        } else {
            result.error_code = ErrorCode::AFFORDANCE_NOT_COMMITTED;
            result.error_message = format!(
                "the evidence for {} does not suffice (v {:.2}, omega {:.2}, zeta {:.2}, mu {:.2}); remedy: {}",
                asked.object, d.score, d.omega, d.zeta, d.mu, result.diagnostics.remedy
            );
            goal.abort(result);
        }
    }
}

/// Text of others as it is shown in a line.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
