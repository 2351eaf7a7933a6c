//! The commit gate: may this plan be executed on this evidence?

use crate::{Finding, GateContext, Verdict, drive};
use nalgebra::Point3;
use prehend_scene::{Diagnostics, Object, ObjectMap, PartMotion, Relation, Skill, SkillPlan};

/// Widest range of positions a plan may hold; more is not a plan for one skill.
const MAX_POSE_GOALS: usize = 64;

/// Longest motion of a part that is permitted, metres: the arm's reach.
const MAX_PART_MOTION: f64 = 0.5;
/// Widest corridor: a fixed part for the tool's own errors, metres, and a share of the motion, for doors.
const MAX_CORRIDOR: [f64; 2] = [0.03, 0.6];

/// Judges a plan. Only a grasp, or another first touch, needs evidence: it is the moment the robot commits to an object (AAH eq. 10);
/// what is placed afterwards is the object that was committed to, at poses that are checked here. `assessment` is the id that
/// [`Assessments::keep`](crate::Assessments::keep) gave; empty = none.
///
/// Look and home move no object and need no map.
pub fn judge(plan: &SkillPlan, assessment: &str, context: &GateContext<'_>) -> Verdict {
    if plan.skill == Skill::GoTo {
        return drive::judge(plan, context);
    }
    let mut findings = Vec::new();
    check_poses(plan, context, &mut findings);
    check_motion(plan, context, &mut findings);
    let moves_object = match plan.skill {
        Skill::Look | Skill::Home | Skill::GoTo => false,
        Skill::Grasp
        | Skill::Place
        | Skill::Drop
        | Skill::GraspPart
        | Skill::TipPush
        | Skill::PinchPull
        | Skill::HookPull => true,
    };
    let (mut diagnostics, mut name_share) = (None, None);
    if moves_object {
        match context.map {
            None => findings.push(Finding::NoMap),
            Some(map) => {
                if map.version != plan.map_version {
                    findings.push(Finding::StaleMap { planned: plan.map_version, current: map.version });
                }
                for key in &plan.targets {
                    if map.get(key).is_none() {
                        findings.push(Finding::UnknownObject { key: key.clone() });
                    }
                }
                if plan.skill.needs_evidence() {
                    check_grasp(plan, map, context, &mut findings);
                    diagnostics = check_evidence(plan, assessment, map, context, &mut findings);
                    name_share = map.get(&plan.object).map(|object| object.confidence);
                }
            }
        }
        if !plan.skill.needs_evidence() {
            check_place(plan, &mut findings);
        }
    }
    Verdict { findings, diagnostics, name_share }
}

fn check_poses(plan: &SkillPlan, context: &GateContext<'_>, findings: &mut Vec<Finding>) {
    let workspace = &context.settings.workspace;
    let count = plan.pose_goals.len();
    if !(1..=MAX_POSE_GOALS).contains(&count) {
        findings.push(Finding::PoseCount { count });
    }
    let opening = plan.gripper_opening;
    if !(opening.is_finite() && (0.0..=workspace.max_opening + 1e-9).contains(&opening)) {
        findings.push(Finding::Opening { opening, limit: workspace.max_opening });
    }
    for (index, pose) in plan.pose_goals.iter().enumerate() {
        let p = pose.translation.vector;
        let finite = p.iter().chain(pose.rotation.coords.iter()).all(|n| n.is_finite())
            && (pose.rotation.coords.norm() - 1.0).abs() < 1e-3;
        if !finite {
            findings.push(Finding::PoseNotFinite { index });
            continue;
        }
        if workspace.distance(&Point3::from(p)) > 0.0 {
            findings.push(Finding::PoseOutsideWorkspace { index, x: p.x, y: p.y, z: p.z });
        }
        if let Some(map) = context.map.filter(|map| map.support_plane.is_some()) {
            let height = p.z - map.support_height(p.x, p.y);
            if height < workspace.support_clearance {
                findings.push(Finding::BelowSupport { index, height, limit: workspace.support_clearance });
            }
        }
    }
}

/// Whether the motion of the part is stated where there is one, and bounds what may happen.
fn check_motion(plan: &SkillPlan, context: &GateContext<'_>, findings: &mut Vec<Finding>) {
    let skill = plan.skill;
    let Some(motion) = &plan.motion else {
        if skill.acts_on_part() {
            findings.push(Finding::PartMotion { skill, given: false });
        }
        return;
    };
    if !skill.acts_on_part() {
        findings.push(Finding::PartMotion { skill, given: true });
    } else if !motion.effect.fits(skill) {
        findings.push(Finding::PartEffect { skill, effect: motion.effect });
    }
    let PartMotion { extent, least, corridor, .. } = *motion;
    let widest = MAX_CORRIDOR[0] + MAX_CORRIDOR[1] * extent;
    let off_unit = (motion.direction.norm() - 1.0).abs();
    for (what, value, limit) in
        [("extent", extent, MAX_PART_MOTION), ("least motion", least, extent), ("corridor", corridor, widest)]
    {
        // NaN is in no range.
        if !(value > 0.0 && value <= limit + 1e-9) {
            findings.push(Finding::PartBounds { what, value, limit });
        }
    }
    if off_unit.is_nan() || off_unit > 1e-3 {
        findings.push(Finding::PartBounds {
            what: "a direction off unit length by",
            value: off_unit,
            limit: 0.001,
        });
    }
    // The workspace is convex: lines between pose goals that are in it stay in it, and need no judgement of their own.
    if let Some(tool) = nearest_goal(plan, &motion.anchor) {
        let moved = tool + motion.direction * least;
        let beyond = context.settings.workspace.distance(&moved);
        if beyond > corridor {
            let (x, y, z) = (moved.x, moved.y, moved.z);
            findings.push(Finding::PartLeavesWorkspace { x, y, z, beyond, corridor });
        }
    }
    let object = context.map.and_then(|map| map.get(&plan.object));
    if let Some(object) = object {
        let near = object.cloud.points.iter().map(|p| (p - motion.anchor).norm());
        let distance = near.filter(|d| d.is_finite()).fold(f64::INFINITY, f64::min);
        let limit = context.settings.grasp_reach;
        if distance > limit {
            let object = plan.object.clone();
            findings.push(Finding::PartAwayFromObject { object, distance, limit });
        }
    }
}

/// The pose goal at which the tool touches a part with this middle.
fn nearest_goal(plan: &SkillPlan, anchor: &Point3<f64>) -> Option<Point3<f64>> {
    let places = plan.pose_goals.iter().map(|pose| Point3::from(pose.translation.vector));
    places.min_by(|a, b| (a - anchor).norm().total_cmp(&(b - anchor).norm()))
}

fn check_grasp(plan: &SkillPlan, map: &ObjectMap, context: &GateContext<'_>, findings: &mut Vec<Finding>) {
    if let Some(held) = &plan.held_object {
        findings.push(Finding::HandNotEmpty { held: held.clone() });
    }
    match map.get(&plan.object) {
        None => findings.push(Finding::UnknownObject { key: plan.object.clone() }),
        Some(object) => {
            check_name(object, context, findings);
            let limit = context.settings.grasp_reach;
            let distance = nearest_distance(plan, object);
            if distance > limit {
                let object = plan.object.clone();
                findings.push(Finding::GraspAwayFromObject { object, distance, limit });
            }
        }
    }
}

/// Whether the evidence behind the plan was assessed here, is about the plan's object, is of now, and suffices.
fn check_evidence(
    plan: &SkillPlan,
    id: &str,
    map: &ObjectMap,
    context: &GateContext<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Diagnostics> {
    if id.is_empty() {
        findings.push(Finding::NotAssessed { object: plan.object.clone() });
        return None;
    }
    let Some(assessment) = context.assessments.get(id) else {
        findings.push(Finding::UnknownAssessment { id: id.to_owned() });
        return None;
    };
    let id = id.to_owned();
    if assessment.object != plan.object {
        let (assessed, planned) = (assessment.object.clone(), plan.object.clone());
        findings.push(Finding::AssessedOther { id, assessed, planned });
        return None;
    }
    let (age, limit) = (context.now - assessment.made, context.settings.assessment_seconds);
    // A clock that is not a number, or that was set back, must not make an assessment younger.
    if !(0.0..=limit).contains(&age) {
        findings.push(Finding::AssessmentExpired { id, age, limit });
    }
    if map.get(&plan.object).is_some_and(|object| !assessment.is_where_it_was(object)) {
        findings.push(Finding::MovedSinceAssessed { object: plan.object.clone() });
    }
    let judged = &assessment.judged;
    findings.extend(judged.doubts.iter().map(|doubt| Finding::Doubted { doubt: doubt.clone() }));
    if judged.doubts.is_empty() && !judged.diagnostics.committed {
        findings.push(Finding::NotCommitted { diagnostics: judged.diagnostics });
    }
    Some(judged.diagnostics)
}

/// Share of the votes behind what the object is called, [0, 1]; votes for names that mean the same count as one: who calls a pan a
/// skillet does not doubt that it is a pan.
fn name_confidence(object: &Object, same_name: &dyn Fn(&str, &str) -> bool) -> f64 {
    let name = object.class_name.as_str();
    let total: f64 = object.class_votes.iter().map(|(_, weight)| weight).sum();
    let means_it = |other: &str| other == name || same_name(other, name);
    let own: f64 =
        object.class_votes.iter().filter(|(other, _)| means_it(other)).map(|(_, weight)| weight).sum();
    if total > 0.0 { object.confidence.max(own / total) } else { object.confidence }
}

fn check_name(object: &Object, context: &GateContext<'_>, findings: &mut Vec<Finding>) {
    let (confidence, limit) = (name_confidence(object, context.same_name), context.settings.min_confidence);
    // A confidence that is not a number is none.
    if !object.class_name.is_empty() && (confidence.is_nan() || confidence < limit) {
        let (object, class_name) = (object.key.clone(), object.class_name.clone());
        findings.push(Finding::UncertainName { object, class_name, confidence, limit });
    }
}

fn nearest_distance(plan: &SkillPlan, object: &Object) -> f64 {
    let finite = |p: &nalgebra::Point3<f64>| p.coords.iter().all(|n| n.is_finite());
    plan.pose_goals
        .iter()
        .map(|pose| nalgebra::Point3::from(pose.translation.vector))
        .filter(finite)
        .flat_map(|tool| object.cloud.points.iter().filter(|p| finite(p)).map(move |p| (p - tool).norm()))
        .fold(f64::INFINITY, f64::min)
}

fn check_place(plan: &SkillPlan, findings: &mut Vec<Finding>) {
    if plan.held_object.as_ref() != Some(&plan.object) || plan.object.0.is_empty() {
        findings.push(Finding::NotHeld { object: plan.object.clone() });
    }
    let relation = plan.relation.unwrap_or(Relation::Table);
    let needed = match relation {
        Relation::Away | Relation::Table => 0,
        Relation::Between => 2,
        _ => 1,
    };
    if plan.targets.len() < needed {
        findings.push(Finding::MissingTarget {
            relation: relation.name(),
            needed,
            given: plan.targets.len(),
        });
    }
}

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
pub(crate) use tests::{context as example_context, settings as example_settings};
