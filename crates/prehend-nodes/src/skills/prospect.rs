//! What a skill would do: its plan and motions, judged by the verifier, and not made.

use super::fault::SkillFault;
use super::grasp::held_after;
use super::hand::Held;
use super::job::{Asked, Job};
use super::misses::Misses;
use super::planning::Planned;
use super::shown::ToolPose;
use crate::convert;
use nalgebra::Isometry3;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::prehend_interfaces::msg::Prospect;
use prehend_scene::{ObjectMap, Skill, SkillPlan};
use std::sync::PoisonError;

/// Poses of other candidates that are told.
const OTHERS: usize = 12;

/// What is taken to have been done before: the object is in the hand, and the arm is where its lift ends.
#[derive(Clone, Debug)]
pub(super) struct Assumed {
    pub(super) held: Held,
    /// Joints of the arm, radians or metres.
    pub(super) arm: Vec<f64>,
    /// Distance between the pads, metres.
    pub(super) opening: f64,
}

/// What a skill found, beside its plan.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    /// The tool poses of the ways that were found, best first, and the one that was taken.
    pub(super) candidates: Vec<ToolPose>,
    /// Why some of them were passed over.
    pub(super) misses: Misses,
    pub(super) taken: ToolPose,
    /// Distance between the pads when they hold, metres.
    pub(super) grip_width: f64,
    /// The motions in order, by phase.
    pub(super) motions: Vec<(&'static str, &'a Planned)>,
}

impl Job<'_> {
    /// What the request takes to have been done before; the skill starts from there.
    ///
    /// Errors: it is not a grasp, of what the map knows, with its motions.
    pub(super) fn assume(&self, asked: &Asked, map: &ObjectMap) -> Result<Option<Assumed>, SkillFault> {
        let bad = |why: &str| SkillFault::BadRequest(format!("what is assumed to have been done: {why}"));
        let prospect = match self.goal.assumed.as_slice() {
            [] => return Ok(None),
            [_] if !self.goal.plan_only => return Err(bad("only a plan can assume something")),
            [prospect] => prospect,
            _ => return Err(bad("there is more than one")),
        };
        let (plan, _) = convert::plan_from_msg(&prospect.plan).map_err(|error| bad(&error.to_string()))?;
        if !matches!(plan.skill, Skill::Grasp | Skill::GraspPart) || plan.object != asked.object {
            return Err(bad("it is no grasp of what is put down"));
        }
        let object = map.get(&plan.object).ok_or_else(|| SkillFault::UnknownObject(plan.object.clone()))?;
        let tool = plan.pose_goals.get(1).ok_or_else(|| bad("it has no pose"))?;
        let opening = prospect.grip_width;
        if !(opening.is_finite() && opening > 0.0) {
            return Err(bad("the pads are no distance apart"));
        }
        let held = held_after(object, map, tool, opening).ok_or_else(|| bad("its shape is not known"))?;
        let arm = prospect.motions.last().and_then(|motion| self.skills.planner.end_of(motion));
        let arm = arm.ok_or_else(|| bad("it has no motion of this arm"))?;
        Ok(Some(Assumed { held, arm, opening }))
    }

    /// Lets the verifier say what it would of a plan, and keeps both as the result. Nothing moves and no permit is issued.
    pub(super) async fn foresee(&self, plan: &SkillPlan, chosen: Chosen<'_>) -> Result<String, SkillFault> {
        let about = (self.assessment_of(plan.skill), self.goal.goal_id.as_str());
        let judged = self.interrupt.guard(self.skills.gatekeeper.foresee(plan, about)).await?;
        let frame = &self.skills.shell.robot.frames.base;
        let stamped = |pose: &Isometry3<f64>| PoseStamped {
            header: convert::header(frame, 0.0),
            pose: convert::pose_to_msg(pose),
        };
        let others = chosen.candidates.iter().map(|(pose, _)| pose).filter(|pose| **pose != chosen.taken.0);
        let trajectory = |planned: &Planned| planned.trajectory.joint_trajectory.clone();
        let prospect = Prospect {
            candidates: u32::try_from(chosen.candidates.len()).unwrap_or(u32::MAX),
            others: others.take(OTHERS).map(stamped).collect(),
            grip_width: chosen.grip_width,
            phases: chosen.motions.iter().map(|(phase, _)| (*phase).to_owned()).collect(),
            motions: chosen.motions.iter().map(|(_, planned)| trajectory(planned)).collect(),
            ..judged
        };
        let message = match (prospect.granted, prospect.asks) {
            (true, false) => "planned; the verifier would permit it".to_owned(),
            (true, true) => "planned; a person would be asked first".to_owned(),
            (false, _) => format!("planned; the verifier would refuse it: {}", prospect.reason),
        };
        *self.prospect.lock().unwrap_or_else(PoisonError::into_inner) = Some(prospect);
        Ok(message)
    }
}
