//! The gate's answers: a permit, a refusal, or a question to a person.

use super::desk::Word;
use super::{INACTIVE, Verifier};
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::Gate;
use prehend_scene::{PlanHash, SkillPlan};
use prehend_verify::gate::judge;
use prehend_verify::{Finding, GateContext, Verdict};
use serde_json::{Value, json};

impl Verifier<'_> {
    /// Judges a plan: permits it, refuses it, or asks a person first.
    pub(super) fn judge_request(&mut self, request: &Gate::Request) -> Gate::Response {
        let bad = |message: String| Gate::Response {
            error_code: ErrorCode::VERIFIER_BAD_REQUEST,
            error_message: message.clone(),
            reason: message,
            ..Default::default()
        };
        let (plan, claimed) = match convert::plan_from_msg(&request.plan) {
            Ok(plan) => plan,
            Err(error) => return bad(error.to_string()),
        };
        if !self.shell.is_active() {
            return bad(INACTIVE.to_owned());
        }
        let hash = plan.hash();
        if hash != claimed {
            return bad(format!("the plan hashes to {hash}, but it claims {claimed}"));
        }
        let same_name = |a: &str, b: &str| self.words.same(a, b);
        let context = GateContext {
            map: self.map.as_ref(),
            room: self.room.as_ref(),
            ground: self.ground.as_ref(),
            assessments: &self.assessments,
            same_name: &same_name,
            settings: &self.settings,
            now: self.now(),
        };
        let verdict = judge(&plan, &request.assessment_id, &context);
        self.answer_verdict(request, &plan, hash, &verdict)
    }

    fn answer_verdict(
        &mut self,
        request: &Gate::Request,
        plan: &SkillPlan,
        hash: PlanHash,
        verdict: &Verdict,
    ) -> Gate::Response {
        let reasons = verdict.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let diagnostics = verdict.diagnostics.as_ref().map(convert::diagnostics_to_msg).unwrap_or_default();
        let granted = verdict.granted() || !self.enforce;
        let answered = Gate::Response { reason: reasons.clone(), diagnostics, ..Default::default() };
        let refused = |error_code: i32, why: String| Gate::Response {
            error_code,
            error_message: why.clone(),
            reason: why,
            ..answered.clone()
        };
        let judged = (plan, verdict);
        if request.foresee {
            self.tell_verdict(
                request,
                judged,
                &hash,
                if granted { "would_grant" } else { "would_refuse" },
                &reasons,
            );
            let waits = granted && self.desk.would_ask(&request.goal_id, judged, &self.settings);
            return Gate::Response { granted, waits, ..answered };
        }
        if !granted {
            self.tell_verdict(request, judged, &hash, "refused", &reasons);
            return refused(ErrorCode::VERIFIER_REFUSED, reasons);
        }
        match self.desk.take(request, judged, &self.settings) {
            Word::Go => {}
            Word::Wait { id, why } => {
                return Gate::Response { waits: true, approval_id: id, reason: why, ..answered };
            }
            Word::No(error) => {
                self.tell_verdict(request, judged, &hash, "refused", &error.to_string());
                return refused(ErrorCode::VERIFIER_NOT_APPROVED, error.to_string());
            }
        }
        self.tell_verdict(request, judged, &hash, "granted", &reasons);
        let now = self.now();
        let permit = self.ledger.issue(hash, plan.map_version, now, now + self.settings.permit_seconds);
        self.desk.issued(&permit.id, plan.skill, &request.goal_id);
        Gate::Response { granted: true, permit: convert::permit_to_msg(&permit), ..answered }
    }

    /// Tells the trace what became of a plan at the gate.
    fn tell_verdict(
        &self,
        request: &Gate::Request,
        (plan, verdict): (&SkillPlan, &Verdict),
        hash: &PlanHash,
        status: &str,
        reasons: &str,
    ) {
        let subject = format!("{} {}", plan.skill.name(), plan.object);
        let message = match (status, &verdict.diagnostics) {
            ("refused" | "would_refuse", _) => format!("{subject}: refused: {reasons}"),
            _ if !verdict.granted() => {
                format!("{subject}: permitted only because the gate is off: {reasons}")
            }
            (_, Some(d)) => format!(
                "{subject}: commit (v {:.2}, omega {:.2}, zeta {:.2}, mu {:.2})",
                d.score, d.omega, d.zeta, d.mu
            ),
            (_, None) => format!("{subject}: commit"),
        };
        self.shell.trace.event(
            &request.goal_id,
            TraceEvent::KIND_VERDICT,
            plan.skill.name(),
            status,
            message,
            json!({ "object": plan.object.0, "plan_hash": hash.0, "map_version": plan.map_version,
                "findings": verdict.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "rules": verdict.findings.iter().map(explained).collect::<Vec<_>>(),
                "diagnostics": verdict.diagnostics,
                // Without evidence the rule was not asked.
                "commit_rule": verdict.diagnostics.is_some().then_some(self.settings.commit) }),
        );
    }
}

/// A finding as the trace tells it: its rule with the numbers, and what would have changed it.
fn explained(finding: &Finding) -> Value {
    let mut rule = json!(finding);
    rule["otherwise"] = json!(finding.otherwise());
    rule
}
