//! What a skill would do: its plan and motions, judged by the verifier, and not made.

use crate::assumed::{Assumed, Before};
use crate::course::{Course, Order};
use crate::fault::SkillFault;
use crate::hand::held_after;
use crate::misses::Misses;
use crate::robot::{Prospect, Robot};
use nalgebra::Isometry3;
use prehend_scene::{ObjectMap, Skill, SkillPlan};

/// Poses of other candidates that are told.
const OTHERS: usize = 12;

/// A pose of the tool in the map's frame, and the opening of the pads there, metres.
pub(crate) type ToolPose = (Isometry3<f64>, f64);

/// What a skill found, beside its plan.
#[derive(Debug)]
pub(crate) struct Chosen<'a, T> {
    /// The tool poses of the ways that were found, best first, and the one that was taken.
    pub(crate) candidates: Vec<ToolPose>,
    /// Why some of them were passed over.
    pub(crate) misses: Misses,
    pub(crate) taken: ToolPose,
    /// Distance between the pads when they hold, metres.
    pub(crate) grip_width: f64,
    /// The motions in order, by phase.
    pub(crate) motions: Vec<(&'static str, &'a T)>,
}

impl<R: Robot> Course<'_, R> {
    /// What the order takes to have been done before; the skill starts from there.
    ///
    /// Errors: it is not a grasp, of what the map knows, with its motions.
    pub(crate) fn assume(&self, order: &Order, map: &ObjectMap) -> Result<Option<Assumed>, SkillFault> {
        let bad = |why: &str| SkillFault::BadRequest(format!("what is assumed to have been done: {why}"));
        let Some(Before { plan, grip_width, arm }) = &order.before else { return Ok(None) };
        if !matches!(plan.skill, Skill::Grasp | Skill::GraspPart) || plan.object != order.object {
            return Err(bad("it is no grasp of what is put down"));
        }
        let object = map.get(&plan.object).ok_or_else(|| SkillFault::UnknownObject(plan.object.clone()))?;
        let tool = plan.pose_goals.get(1).ok_or_else(|| bad("it has no pose"))?;
        let opening = *grip_width;
        if !(opening.is_finite() && opening > 0.0) {
            return Err(bad("the pads are no distance apart"));
        }
        let held = held_after(object, map, tool, opening).ok_or_else(|| bad("its shape is not known"))?;
        let arm = arm.clone().ok_or_else(|| bad("it has no motion of this arm"))?;
        Ok(Some(Assumed { held, arm, opening }))
    }

    /// Lets the verifier say what it would of a plan. Nothing moves and no permit is issued.
    pub(crate) fn foresee(
        &self,
        plan: &SkillPlan,
        chosen: &Chosen<'_, R::Planned>,
    ) -> Result<String, SkillFault> {
        let others = chosen.candidates.iter().map(|(pose, _)| *pose).filter(|pose| *pose != chosen.taken.0);
        let prospect = Prospect {
            plan,
            candidates: chosen.candidates.len(),
            others: others.take(OTHERS).collect(),
            grip_width: chosen.grip_width,
            motions: &chosen.motions,
        };
        let foreseen = self.robot.foresee(&prospect, self.assessment_of(plan.skill))?;
        Ok(match (foreseen.granted, foreseen.asks) {
            (true, false) => "planned; the verifier would permit it".to_owned(),
            (true, true) => "planned; a person would be asked first".to_owned(),
            (false, _) => format!("planned; the verifier would refuse it: {}", foreseen.reason),
        })
    }
}
