//! What became of a skill, answered to who executed it and told to all who learn from it.

use super::Verifier;
use crate::waiting::respond;
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Outcome as OutcomeMsg, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::CheckOutcome;
use prehend_ros::ServiceRequest;
use prehend_verify::{Outcome, check_outcome};
use serde_json::json;

impl Verifier<'_> {
    /// Says what became of a skill, by what was seen before and after it.
    pub(super) fn check_outcome(&self, request: ServiceRequest<CheckOutcome::Service>) {
        let response = match self.judge_outcome(&request.message) {
            Ok(response) => response,
            Err(error) => CheckOutcome::Response {
                error_code: ErrorCode::VERIFIER_BAD_REQUEST,
                error_message: error.to_string(),
                ..Default::default()
            },
        };
        respond(request, response);
    }

    fn judge_outcome(
        &self,
        request: &CheckOutcome::Request,
    ) -> Result<CheckOutcome::Response, convert::ConvertError> {
        let (plan, _) = convert::plan_from_msg(&request.plan)?;
        let before = convert::observation_from_msg(&request.before)?;
        let after = convert::observation_from_msg(&request.after)?;
        if !self.enforce {
            return Ok(CheckOutcome::Response {
                succeeded: true,
                reason: "believed without a look, because the verifier is off".to_owned(),
                ..Default::default()
            });
        }
        let (status, succeeded, reason) = match check_outcome(&plan, &before, &after) {
            Outcome::Succeeded { because } => ("succeeded", true, because),
            Outcome::Failed { because } => ("failed", false, because),
            Outcome::NotObserved { because } => ("not_observed", false, because),
        };
        self.shell.trace.event(
            "",
            TraceEvent::KIND_VERDICT,
            "outcome",
            status,
            format!("{} {}: {reason}", plan.skill.name(), plan.object),
            json!({ "skill": plan.skill.name(), "object": plan.object.0 }),
        );
        if status != "not_observed" {
            self.tell_outcome(OutcomeMsg {
                assessment_id: request.assessment_id.clone(),
                object_key: plan.object.0.clone(),
                skill: plan.skill.name().to_owned(),
                succeeded,
                reason: reason.clone(),
            });
        }
        Ok(CheckOutcome::Response { succeeded, reason: format!("{status}: {reason}"), ..Default::default() })
    }

    fn tell_outcome(&self, outcome: OutcomeMsg) {
        if let Err(error) = self.outcomes.publish(&outcome) {
            tracing::warn!("outcome not published: {error}");
        }
    }
}
