//! The parts of objects that affordance finds, and the skills that act on them.

use super::requests::CANCEL;
use super::{NodeWorld, unforeseen};
use nalgebra::Vector3;
use prehend_agent::world::{ActionablePart, Fault, SkillOutcome, SkillRequest};
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteSkill};
use prehend_msgs::prehend_interfaces::msg::{Affordance, ErrorCode};
use prehend_scene::{Intent, ObjectKey, PartEffect, Reason, Relation, Skill};
use std::time::{Duration, Instant};

/// How often a busy robot is asked again.
const BUSY_PERIOD: Duration = Duration::from_millis(100);

/// What a detection found, and the verifier's id of the evidence for it, for the next grasp of the object.
pub(super) type Detected = (Vec<Affordance>, String);

impl NodeWorld {
    /// Brings the arm home, when the skill of before has come to its end.
    pub(super) fn go_home(&mut self) -> Result<SkillOutcome, Fault> {
        if self.rehearsal.is_some() {
            return Err(unforeseen());
        }
        let home = SkillRequest {
            skill: Skill::Home,
            object: ObjectKey::default(),
            targets: Vec::new(),
            relation: None,
            area: None,
            part: String::new(),
            effect: None,
            direction: None,
            map_version: 0,
        };
        let started = Instant::now();
        loop {
            match self.run(&home) {
                // The skill of an earlier goal, or of an earlier life of this node, still brings the arm to a stop.
                Err(fault) if fault.reason == Reason::Busy && started.elapsed() < CANCEL => {
                    self.wait(async {
                        tokio::time::sleep(BUSY_PERIOD).await;
                        Ok(())
                    })?;
                }
                other => return other,
            }
        }
    }

    /// The parts of an object that serve an intent; what was found is kept for the skill to come.
    pub(super) fn detect(
        &mut self,
        object: &ObjectKey,
        intent: &Intent,
    ) -> Result<Vec<ActionablePart>, Fault> {
        let goal = DetectAffordance::Goal {
            object_key: object.0.clone(),
            intent: convert::intent_to_msg(Some(intent)),
            goal_id: self.goal_id.clone(),
            ..Default::default()
        };
        let result = self.act(&self.clients.affordance, goal, "affordance").map_err(|(fault, _)| fault)?;
        let reason = match result.error_code {
            // Thin evidence is for the gate to judge: it names the remedy.
            ErrorCode::SUCCESS | ErrorCode::AFFORDANCE_NOT_COMMITTED => None,
            ErrorCode::AFFORDANCE_UNKNOWN_KEY => Some(Reason::NotFound),
            ErrorCode::AFFORDANCE_NONE_FOUND => Some(Reason::NoGrasp),
            ErrorCode::AFFORDANCE_MAP_LOST => Some(Reason::PeerLost),
            ErrorCode::AFFORDANCE_VERIFIER_LOST => Some(Reason::VerifierLost),
            _ => Some(Reason::Internal),
        };
        if let Some(reason) = reason {
            return Err(Fault::new(reason, result.error_message));
        }
        let parts = result
            .affordances
            .iter()
            .filter_map(|affordance| {
                let skill = Skill::parse(&affordance.skill)?;
                Some(ActionablePart {
                    name: affordance.part.clone(),
                    skill,
                    score: f64::from(affordance.score),
                })
            })
            .collect();
        self.detected.insert(object.clone(), (result.affordances, result.assessment_id));
        Ok(parts)
    }

    /// Runs a skill to its end, with what was detected of its object.
    pub(super) fn run(&mut self, request: &SkillRequest) -> Result<SkillOutcome, Fault> {
        let (affordances, assessment_id) = self.detected.get(&request.object).cloned().unwrap_or_default();
        let affordances = chosen_first(affordances, request);
        // Which way the part shall move is said of the part that was found.
        let normal = affordances.first().map(|a| Vector3::new(a.normal.x, a.normal.y, a.normal.z));
        let direction = match (request.direction, normal) {
            (Some(way), Some(normal)) => way.vector(&normal),
            _ => Vector3::zeros(),
        };
        let goal = ExecuteSkill::Goal {
            skill: request.skill.name().to_owned(),
            object_key: request.object.0.clone(),
            target_keys: request.targets.iter().map(|key| key.0.clone()).collect(),
            relation: request.relation.map_or("", Relation::name).to_owned(),
            area: request.area.map_or_else(Vec::new, |area| area.corners().to_vec()),
            part: request.part.clone(),
            goal_id: self.goal_id.clone(),
            map_version: request.map_version,
            affordances,
            assessment_id,
            effect: request.effect.map_or("", PartEffect::name).to_owned(),
            direction: convert::vector_to_msg(&direction),
            extent: 0.0,
            plan_only: self.rehearsal.is_some(),
            assumed: self
                .rehearsal
                .as_ref()
                .map_or_else(Vec::new, |rehearsal| rehearsal.assumed(request.skill)),
        };
        let outcome_of = |result: &ExecuteSkill::Result| SkillOutcome {
            held: (!result.held_object.is_empty()).then(|| ObjectKey(result.held_object.clone())),
            map_stale: result.map_stale,
        };
        let result = self.act(&self.clients.skills, goal, "skills").map_err(|(fault, ended)| {
            // Cut short: things may be elsewhere, whatever the skill got to.
            let after = ended.map(|result| SkillOutcome { map_stale: true, ..outcome_of(&result) });
            Fault { after, ..fault }
        })?;
        if let Some(rehearsal) = &mut self.rehearsal {
            return rehearsal.planned(request, result);
        }
        let outcome = outcome_of(&result);
        self.catch_up(result.map_version);
        if result.error_code == ErrorCode::SUCCESS {
            return Ok(outcome);
        }
        let reason = Reason::parse(&result.reason).unwrap_or(Reason::Internal);
        let in_the_way = result.in_the_way.into_iter().map(ObjectKey).collect();
        Err(Fault { in_the_way, after: Some(outcome), ..Fault::new(reason, result.error_message) })
    }
}

/// The part that a skill on a part acts on comes first: of its name and skill, as the detection ranked them.
fn chosen_first(mut affordances: Vec<Affordance>, request: &SkillRequest) -> Vec<Affordance> {
    if request.skill.acts_on_part() {
        let chosen =
            affordances.iter().position(|a| a.part == request.part && a.skill == request.skill.name());
        if let Some(place) = chosen {
            affordances[..=place].rotate_right(1);
        }
    }
    affordances
}
