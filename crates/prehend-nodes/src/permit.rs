//! The way to a motion: the verifier's gate, and the permit that is redeemed once.

use prehend_convert as convert;
use prehend_execution::Forbidden;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Prospect};
use prehend_msgs::prehend_interfaces::srv::{Gate, RedeemPermit};
use prehend_ros::{Client, Node, QosProfile, RosError};
use prehend_scene::{Permit, SkillPlan};
use std::time::Duration;

/// Deadline of an answer of the verifier. It waits up to 1.5 s for a map that is on its way.
const DEADLINE: Duration = Duration::from_millis(2500);

/// How often a person's answer is asked for.
const ANSWER_PERIOD: Duration = Duration::from_millis(300);

/// A plan the verifier has permitted, with its permit. It moves nothing yet.
#[derive(Debug)]
pub(crate) struct Permitted {
    plan: SkillPlan,
    permit: Permit,
}

/// Proof that a permit was redeemed: the only key to the arm and to the base.
///
/// It is made by [`Gatekeeper::redeem`] alone and used up by value.
#[derive(Debug)]
pub(crate) struct RedeemedPermit {
    plan: SkillPlan,
    id: String,
}

impl RedeemedPermit {
    /// The plan the permit is good for.
    pub(crate) fn plan(&self) -> &SkillPlan {
        &self.plan
    }

    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

/// Asks the verifier.
#[derive(Clone, Debug)]
pub(crate) struct Gatekeeper {
    gate: Client<Gate::Service>,
    redeem: Client<RedeemPermit::Service>,
    frame: String,
}

impl Gatekeeper {
    /// Asks about plans whose poses are in `frame`.
    pub(crate) fn new(node: &Node, frame: &str) -> Result<Self, RosError> {
        Ok(Self {
            gate: node.create_client(names::VERIFIER_GATE, QosProfile::services())?,
            redeem: node.create_client(names::VERIFIER_REDEEM, QosProfile::services())?,
            frame: frame.to_owned(),
        })
    }

    /// Asks for a permit. `assessment` is the verifier's id of the evidence; empty for skills that need none. When a person has to be
    /// asked, `waits` is told why, once, and the answer is waited for. No answer of the verifier is a refusal of its own kind.
    pub(crate) async fn ask(
        &self,
        plan: SkillPlan,
        (assessment, goal_id): (&str, &str),
        waits: impl Fn(&str),
    ) -> Result<Permitted, Forbidden> {
        let mut request = Gate::Request {
            plan: convert::plan_to_msg(&plan, &self.frame),
            assessment_id: assessment.to_owned(),
            goal_id: goal_id.to_owned(),
            ..Default::default()
        };
        let answer = loop {
            let answer = self.judged(request.clone()).await?;
            if !answer.waits {
                break answer;
            }
            if request.approval_id.is_empty() {
                waits(&answer.reason);
            }
            request.approval_id = answer.approval_id;
            tokio::time::sleep(ANSWER_PERIOD).await;
        };
        if !answer.granted {
            let why = if answer.reason.is_empty() { answer.error_message } else { answer.reason };
            return Err(match answer.error_code {
                ErrorCode::VERIFIER_NOT_APPROVED => Forbidden::NotApproved(why),
                _ => Forbidden::Refused(why),
            });
        }
        let permit = convert::permit_from_msg(&answer.permit);
        if permit.plan_hash != plan.hash() || permit.map_version != plan.map_version {
            return Err(Forbidden::Refused("the permit is for another plan".to_owned()));
        }
        Ok(Permitted { plan, permit })
    }

    /// What the verifier would say of a plan: no permit is issued and nobody is asked.
    pub(crate) async fn foresee(
        &self,
        plan: &SkillPlan,
        (assessment, goal_id): (&str, &str),
    ) -> Result<Prospect, Forbidden> {
        let plan = convert::plan_to_msg(plan, &self.frame);
        let request = Gate::Request {
            plan: plan.clone(),
            assessment_id: assessment.to_owned(),
            goal_id: goal_id.to_owned(),
            foresee: true,
            ..Default::default()
        };
        let answer = self.judged(request).await?;
        let reason = if answer.reason.is_empty() { answer.error_message } else { answer.reason };
        let (granted, asks, diagnostics) = (answer.granted, answer.waits, answer.diagnostics);
        Ok(Prospect { plan, granted, reason, asks, diagnostics, ..Default::default() })
    }

    async fn judged(&self, request: Gate::Request) -> Result<Gate::Response, Forbidden> {
        self.gate.request(request, DEADLINE).await.map_err(|error| Forbidden::VerifierLost(error.to_string()))
    }

    /// Redeems a permit; the verifier refuses one that is used, expired, stale or unknown.
    pub(crate) async fn redeem(&self, permitted: Permitted) -> Result<RedeemedPermit, Forbidden> {
        let Permitted { plan, permit } = permitted;
        let request = RedeemPermit::Request {
            permit_id: permit.id.clone(),
            plan_hash: permit.plan_hash.0,
            map_version: permit.map_version,
        };
        let answer = self
            .redeem
            .request(request, DEADLINE)
            .await
            .map_err(|error| Forbidden::VerifierLost(error.to_string()))?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(Forbidden::Refused(answer.error_message));
        }
        Ok(RedeemedPermit { plan, id: permit.id })
    }
}
