//! The desk at which a person is asked before a motion.

use crate::waiting::respond;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{
    Approval as ApprovalMsg, Approvals as ApprovalsMsg, ErrorCode, TraceEvent,
};
use prehend_msgs::prehend_interfaces::srv::{Approve, Gate};
use prehend_robots::shell::{NodeError, Shell, incarnation};
use prehend_ros::{Publisher, QosProfile, ServiceRequest};
use prehend_scene::{PlanHash, Skill, SkillPlan};
use prehend_verify::{Approval, ApprovalError, Approvals, Claim, Settings, Verdict};
use serde_json::json;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Silence after which who asked does not wait any more; it asks several times a second.
const FORGOTTEN: Duration = Duration::from_secs(3);

/// Permits that are remembered until they are redeemed: one skill is executed at a time, and each asks for few.
const ISSUED: usize = 16;

/// What the desk says of a plan that the gate would permit.
pub(super) enum Word {
    /// Nobody has to be asked, or a person said yes.
    Go,
    /// A person has not answered yet.
    Wait {
        /// Under which it is asked again.
        id: String,
        /// Why a person is asked.
        why: String,
    },
    /// A person said no, or nothing in time.
    No(ApprovalError),
}

/// Questions to a person, on wall time: it is people who wait and answer.
pub(super) struct Desk<'a> {
    shell: &'a Shell,
    when: Approval,
    approvals: Approvals,
    /// What waits, and when it was last asked for.
    open: Vec<(Instant, ApprovalMsg)>,
    /// Permits that are not redeemed yet, with their skills and goals, the oldest first.
    issued: VecDeque<(String, Skill, String)>,
    publisher: Publisher<ApprovalsMsg>,
    started: Instant,
}

impl<'a> Desk<'a> {
    /// A desk that asks as the settings say, and at least as the robot file demands.
    pub(super) fn new(shell: &'a Shell, settings: &Settings) -> Result<Self, NodeError> {
        let desk = Self {
            shell,
            when: settings.approval.max(shell.robot.limits.approval),
            approvals: Approvals::new(incarnation()),
            open: Vec::new(),
            issued: VecDeque::new(),
            publisher: shell
                .node
                .create_publisher(names::VERIFIER_APPROVALS, QosProfile::transient_local())?,
            started: Instant::now(),
        };
        desk.publish();
        Ok(desk)
    }

    /// Whether a person would be asked about a plan that the gate would permit.
    pub(super) fn would_ask(
        &mut self,
        goal_id: &str,
        judged: (&SkillPlan, &Verdict),
        settings: &Settings,
    ) -> bool {
        self.approvals.foretell(self.when, judged, goal_id, settings).is_some()
    }

    /// What is to be done about a plan that the gate would permit.
    pub(super) fn take(
        &mut self,
        request: &Gate::Request,
        (plan, verdict): (&SkillPlan, &Verdict),
        settings: &Settings,
    ) -> Word {
        let judged = (plan, verdict);
        let Some(why) = self.approvals.wanted(self.when, judged, &request.goal_id, settings) else {
            return Word::Go;
        };
        let now = self.now();
        let hash = plan.hash();
        if request.approval_id.is_empty() {
            let id = self.approvals.ask(hash, now, now + settings.approval_seconds);
            let words = words_of(plan);
            let message = format!(
                "{words}? {why}; `prehend approve {id}` says yes, no answer in {:.0} s is a no",
                settings.approval_seconds
            );
            self.trace(
                &request.goal_id,
                "asked",
                message,
                json!({ "id": id, "plan_hash": request.plan.plan_hash, "why": why }),
            );
            let asked = ApprovalMsg {
                id: id.clone(),
                goal_id: request.goal_id.clone(),
                words,
                why: why.clone(),
                plan: request.plan.clone(),
                diagnostics: verdict
                    .diagnostics
                    .as_ref()
                    .map(convert::diagnostics_to_msg)
                    .unwrap_or_default(),
                seconds: settings.approval_seconds,
            };
            self.open.push((Instant::now(), asked));
            self.publish();
            return Word::Wait { id, why };
        }
        let id = request.approval_id.clone();
        match self.approvals.claim(&id, &hash, now) {
            Ok(Claim::Waiting) => {
                if let Some((heard, _)) = self.open.iter_mut().find(|(_, asked)| asked.id == id) {
                    *heard = Instant::now();
                }
                Word::Wait { id, why }
            }
            Ok(Claim::Approved { who }) => {
                self.close(&id);
                let message = format!("{}: approved by {who}", words_of(plan));
                self.trace(
                    &request.goal_id,
                    "used",
                    message,
                    json!({ "id": id, "who": who, "plan_hash": hash.0 }),
                );
                Word::Go
            }
            Err(error) => {
                self.close(&id);
                self.trace(
                    &request.goal_id,
                    "not_given",
                    error.to_string(),
                    json!({ "id": id, "plan_hash": hash.0 }),
                );
                Word::No(error)
            }
        }
    }

    /// Notes for which goal a permit was issued.
    pub(super) fn issued(&mut self, permit: &str, skill: Skill, goal_id: &str) {
        if self.issued.len() == ISSUED {
            self.issued.pop_front();
        }
        self.issued.push_back((permit.to_owned(), skill, goal_id.to_owned()));
    }

    /// Notes that a permit was redeemed: where only the first plan of a goal is asked for, the others go on from it. One that was
    /// approved and never moved is no first.
    pub(super) fn redeemed(&mut self, permit: &str) {
        if let Some(at) = self.issued.iter().position(|(id, ..)| id == permit)
            && let Some((_, skill, goal_id)) = self.issued.remove(at)
        {
            self.approvals.redeemed(skill, &goal_id);
        }
    }

    /// Takes a person's answer.
    pub(super) fn answer(&mut self, request: ServiceRequest<Approve::Service>) {
        let asked = &request.message;
        let now = self.now();
        let hash = PlanHash(asked.plan_hash.clone());
        let goal_id =
            self.open.iter().find(|(_, open)| open.id == asked.id).map(|(_, open)| open.goal_id.clone());
        let taken = self.approvals.answer(&asked.id, &hash, (&asked.who, asked.approve), now);
        let (status, message) = match &taken {
            Ok(()) => {
                let word = if asked.approve { "yes" } else { "no" };
                (
                    if asked.approve { "given" } else { "denied" },
                    format!("{}: {word} to {}", asked.who, asked.id),
                )
            }
            Err(error) => ("failed", error.to_string()),
        };
        let data = json!({ "id": asked.id, "plan_hash": asked.plan_hash, "who": asked.who, "approve": asked.approve });
        self.trace(&goal_id.unwrap_or_default(), status, message, data);
        let (error_code, error_message) = match taken {
            Ok(()) => {
                self.close(&request.message.id.clone());
                (ErrorCode::SUCCESS, String::new())
            }
            Err(error) => (ErrorCode::VERIFIER_NOT_APPROVED, error.to_string()),
        };
        respond(request, Approve::Response { error_code, error_message });
    }

    /// Takes back what nobody waits for any more: its goal was cancelled or stopped.
    pub(super) fn tidy(&mut self) {
        let gone: Vec<ApprovalMsg> = self
            .open
            .iter()
            .filter(|(heard, _)| heard.elapsed() > FORGOTTEN)
            .map(|(_, asked)| asked.clone())
            .collect();
        for asked in gone {
            self.approvals.withdraw(&asked.id);
            self.close(&asked.id);
            let message = format!("{}: nobody waits for the answer any more", asked.words);
            self.trace(&asked.goal_id, "withdrawn", message, json!({ "id": asked.id }));
        }
    }

    fn close(&mut self, id: &str) {
        let before = self.open.len();
        self.open.retain(|(_, asked)| asked.id != id);
        if self.open.len() != before {
            self.publish();
        }
    }

    fn publish(&self) {
        let open = self.open.iter().map(|(_, asked)| asked.clone()).collect();
        let message = ApprovalsMsg { stamp: self.shell.node.now(), open };
        if let Err(error) = self.publisher.publish(&message) {
            tracing::warn!("what waits for approval was not published: {error}");
        }
    }

    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn trace(&self, goal_id: &str, status: &str, message: String, data: serde_json::Value) {
        self.shell.trace.event(goal_id, TraceEvent::KIND_VERDICT, "approval", status, message, data);
    }
}

/// A plan in a few words.
fn words_of(plan: &SkillPlan) -> String {
    let skill = plan.skill.name().replace('_', " ");
    let mut words = match &plan.motion {
        Some(motion) => format!("{skill} ({})", motion.effect.name().replace('_', " ")),
        None => skill,
    };
    if !plan.object.0.is_empty() {
        words.push_str(&format!(" {}", plan.object));
    }
    if let Some(relation) = plan.relation {
        words.push_str(&format!(" {}", relation.name().replace('_', " ")));
        let targets: Vec<&str> = plan.targets.iter().map(|key| key.0.as_str()).collect();
        words.push_str(&format!(
            " {}",
            if targets.is_empty() { "table".to_owned() } else { targets.join(", ") }
        ));
    }
    words
}
