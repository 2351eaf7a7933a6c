//! A goal that is only planned: what its steps and skills would be, gathered while nothing moves, told with a picture.

use super::eyes::Eyes;
use super::source::Source;
use crate::pictures::{Mark, plan_marks};
use prehend_agent::Report;
use prehend_agent::world::{Fault, PlannedStep, SkillOutcome, SkillRequest, StepStatus};
use prehend_msgs::prehend_interfaces::action::{ExecuteGoal, ExecuteSkill};
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, GoalPlan, PlannedStep as StepMsg, Prospect};
use prehend_scene::{ObjectKey, PartEffect, Reason, Skill};
use serde_json::{Value, json};
use std::time::Instant;

/// What is planned of one goal.
#[derive(Debug)]
pub(super) struct Rehearsal {
    since: Instant,
    /// What the skills of the step at hand would do.
    pub(super) prospects: Vec<Prospect>,
    steps: Vec<StepMsg>,
}

impl Rehearsal {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), prospects: Vec::new(), steps: Vec::new() }
    }

    /// The grasp after which the next skill of the step would begin, if one was planned.
    pub(super) fn assumed(&self, skill: Skill) -> Vec<Prospect> {
        match skill {
            Skill::Place | Skill::Drop => self
                .prospects
                .last()
                .or_else(|| self.steps.last().and_then(|step| step.prospects.last()))
                .filter(|prospect| {
                    [Skill::Grasp.name(), Skill::GraspPart.name()].contains(&prospect.plan.skill.as_str())
                })
                .cloned()
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Takes what a skill that was only planned came to: what would be held then, or why it cannot be done.
    pub(super) fn planned(
        &mut self,
        request: &SkillRequest,
        result: ExecuteSkill::Result,
    ) -> Result<SkillOutcome, Fault> {
        let reason = Reason::parse(&result.reason).unwrap_or(Reason::Internal);
        let holds = request.effect.map_or(request.relation.is_none(), PartEffect::ends_held);
        let held = holds.then(|| request.object.clone());
        let unchanged = (!result.held_object.is_empty()).then(|| ObjectKey(result.held_object.clone()));
        let refused = match result.prospects.first() {
            _ if result.error_code != ErrorCode::SUCCESS => Some((reason, result.error_message.clone())),
            None => Some((Reason::Internal, "the skill planned nothing".to_owned())),
            Some(prospect) if !prospect.granted => {
                Some((Reason::VerifierRefused, format!("the verifier would refuse: {}", prospect.reason)))
            }
            Some(_) => None,
        };
        self.prospects.extend(result.prospects);
        match refused {
            Some((reason, message)) => {
                let after = Some(SkillOutcome { held: unchanged, map_stale: false });
                let in_the_way = result.in_the_way.into_iter().map(ObjectKey).collect();
                Err(Fault { in_the_way, after, ..Fault::new(reason, message) })
            }
            None => Ok(SkillOutcome { held, map_stale: false }),
        }
    }

    /// Takes a step with what its skills would do.
    pub(super) fn step(&mut self, step: &PlannedStep) {
        let reason = match step.status {
            StepStatus::Refused(reason) => reason.code(),
            StepStatus::Planned | StepStatus::Later => "",
        };
        self.steps.push(StepMsg {
            words: step.words.clone(),
            prospects: std::mem::take(&mut self.prospects),
            status: step.status.name().to_owned(),
            reason: reason.to_owned(),
            detail: step.detail.clone(),
        });
    }

    /// The plan, when the goal has ended.
    pub(super) fn end(
        self,
        (goal_id, text): (&str, &str),
        readings: Vec<String>,
        report: &Report,
    ) -> GoalPlan {
        GoalPlan {
            goal_id: goal_id.to_owned(),
            text: text.to_owned(),
            readings,
            outcome: report.outcome.name().to_owned(),
            reason: report.reason.map_or("", Reason::code).to_owned(),
            message: report.message.clone(),
            steps: self.steps,
            picture: Vec::new(),
            map_version: report.state.map_version,
            seconds: self.since.elapsed().as_secs_f64(),
        }
    }
}

impl super::Node {
    /// Tells a goal that was only planned to everybody; what the agent knows stays as it was.
    pub(super) fn finish_plan(&mut self, plan: GoalPlan, report: &Report, source: Source) {
        let goal_id = plan.goal_id.clone();
        if let Err(error) = self.clients.plans.publish(&plan) {
            tracing::warn!("the plan was not published: {error}");
        }
        self.trace(&goal_id, "planned", report.outcome.name(), &report.message, data(&plan));
        self.tell_end(&goal_id, report, true);
        self.publish_state("");
        source.end(ExecuteGoal::Result {
            goal_id,
            outcome: plan.outcome.clone(),
            reason: plan.reason.clone(),
            message: plan.message.clone(),
            tool_calls: report.tool_calls,
            plans: vec![plan],
        });
    }

    /// What a plan's picture is taken with; kept, because transforms are heard only after a while.
    pub(super) fn plan_eyes(&mut self) -> Option<Eyes> {
        if self.plan_eyes.is_none() {
            let made = Eyes::new(&self.shell.node, &self.shell.robot);
            self.plan_eyes = made.inspect_err(|error| tracing::warn!("no eyes for pictures: {error}")).ok();
        }
        self.plan_eyes.clone()
    }
}

/// The hands of a plan in the map's frame.
pub(super) fn marks(plan: &GoalPlan, frame: &str) -> Vec<Mark> {
    let prospects = plan.steps.iter().flat_map(|step| &step.prospects);
    plan_marks(prospects.map(|prospect| (&prospect.plan, prospect.others.as_slice())), frame)
}

/// A plan as data for the trace.
pub(super) fn data(plan: &GoalPlan) -> Value {
    let skill = |prospect: &Prospect| {
        let (plan, d) = (&prospect.plan, &prospect.diagnostics);
        json!({ "skill": plan.skill, "object": plan.object_key, "plan_hash": plan.plan_hash, "granted": prospect.granted,
            "reason": prospect.reason, "asks": prospect.asks, "candidates": prospect.candidates, "v": d.score })
    };
    let steps: Vec<Value> = plan
        .steps
        .iter()
        .map(|step| {
            let skills: Vec<Value> = step.prospects.iter().map(skill).collect();
            json!({ "words": step.words, "status": step.status, "detail": step.detail, "skills": skills })
        })
        .collect();
    json!({ "plan_only": true, "readings": plan.readings, "steps": steps, "map_version": plan.map_version, "seconds": plan.seconds })
}
