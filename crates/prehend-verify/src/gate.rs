//! The commit gate: may this plan be executed on this evidence?

use crate::{Assessments, Doubt, Ground, Settings, drive};
use nalgebra::Point3;
use prehend_scene::{
    Diagnostics, Object, ObjectKey, ObjectMap, PartEffect, PartMotion, Relation, Skill, SkillPlan,
};
use serde::Serialize;

/// Widest range of positions a plan may hold; more is not a plan for one skill.
const MAX_POSE_GOALS: usize = 64;

/// Longest motion of a part that is permitted, metres: the arm's reach.
const MAX_PART_MOTION: f64 = 0.5;
/// Widest corridor: a fixed part for the tool's own errors, metres, and a share of the motion, for doors.
const MAX_CORRIDOR: [f64; 2] = [0.03, 0.6];

/// One reason to refuse. As JSON: the rule by name, with its numbers and limits.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Finding {
    /// The verifier has never seen a map.
    #[error("the verifier has no object map yet; update the map first")]
    NoMap,
    /// The plan was made from another map.
    #[error("the plan was made from map version {planned}, the map is at {current}; plan again")]
    StaleMap {
        /// Version in the plan.
        planned: u64,
        /// Version the verifier knows.
        current: u64,
    },
    /// A key that is not in the map.
    #[error("the map has no object {key}")]
    UnknownObject {
        /// The key.
        key: ObjectKey,
    },
    /// A pose goal that is not a pose.
    #[error("pose goal {index} is not finite")]
    PoseNotFinite {
        /// Index into the plan's pose goals.
        index: usize,
    },
    /// A pose goal outside the permitted workspace.
    #[error("pose goal {index} at ({x:.3}, {y:.3}, {z:.3}) m is outside the workspace")]
    PoseOutsideWorkspace {
        /// Index into the plan's pose goals.
        index: usize,
        /// Position, metres.
        x: f64,
        /// Position, metres.
        y: f64,
        /// Position, metres.
        z: f64,
    },
    /// A pose goal that would push the fingers into the table.
    #[error("pose goal {index} is {height:.3} m above the table; {limit:.3} m is the least")]
    BelowSupport {
        /// Index into the plan's pose goals.
        index: usize,
        /// Height above the supporting plane, metres.
        height: f64,
        /// Least height, metres.
        limit: f64,
    },
    /// A plan without goals, or with absurdly many.
    #[error("a plan needs 1 to 64 pose goals, this one has {count}")]
    PoseCount {
        /// Number of pose goals.
        count: usize,
    },
    /// An opening the gripper does not have.
    #[error("gripper opening {opening:.3} m is not between 0 and {limit:.3} m")]
    Opening {
        /// Opening, metres.
        opening: f64,
        /// Limit, metres.
        limit: f64,
    },
    /// A grasp with a full hand.
    #[error("the hand holds {held}; a grasp needs an empty hand")]
    HandNotEmpty {
        /// What is held.
        held: ObjectKey,
    },
    /// A placement with an empty hand, or of something else than what is held.
    #[error("{object} is to be put down, but it is not what the hand holds")]
    NotHeld {
        /// What was to be placed.
        object: ObjectKey,
    },
    /// A relation without what it relates to.
    #[error("relation {relation} needs {needed} target(s), the plan names {given}")]
    MissingTarget {
        /// The relation's name.
        relation: &'static str,
        /// Targets needed.
        needed: usize,
        /// Targets given.
        given: usize,
    },
    /// No tool pose comes near the object.
    #[error("no pose goal comes within {limit:.3} m of {object}; the nearest is {distance:.3} m away")]
    GraspAwayFromObject {
        /// The object.
        object: ObjectKey,
        /// Nearest distance, metres.
        distance: f64,
        /// Limit, metres.
        limit: f64,
    },
    /// The object's name is not certain enough.
    #[error("{object} is called {class_name} by only {confidence:.2} of the votes; {limit:.2} is needed")]
    UncertainName {
        /// The object.
        object: ObjectKey,
        /// Its name.
        class_name: String,
        /// Vote share.
        confidence: f64,
        /// Limit.
        limit: f64,
    },
    /// A skill on a part without its motion, or a motion without such a skill.
    #[error("{} {} the motion of a part", skill.name(), if *given { "must not have" } else { "needs" })]
    PartMotion {
        /// The skill.
        skill: Skill,
        /// Whether the plan has one.
        given: bool,
    },
    /// An effect the skill cannot have.
    #[error("{} cannot {} a part", skill.name(), effect.name())]
    PartEffect {
        /// The skill.
        skill: Skill,
        /// The effect.
        effect: PartEffect,
    },
    /// Bounds of a part's motion that bound nothing.
    #[error("the part's motion has {what} {value:.3}; {limit:.3} is the limit")]
    PartBounds {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The limit.
        limit: f64,
    },
    /// A motion that begins somewhere else than at the object.
    #[error("the part's middle is {distance:.3} m from {object}; {limit:.3} m is the farthest")]
    PartAwayFromObject {
        /// The object.
        object: ObjectKey,
        /// Nearest distance, metres.
        distance: f64,
        /// Limit, metres.
        limit: f64,
    },
    /// A motion whose least already takes the tool out of the workspace, whichever way within its corridor the part goes.
    #[error(
        "the part would have to be moved to ({x:.3}, {y:.3}, {z:.3}) m, {beyond:.3} m outside the workspace; \
        its corridor is {corridor:.3} m wide"
    )]
    PartLeavesWorkspace {
        /// Where the tool would be, metres.
        x: f64,
        /// Likewise.
        y: f64,
        /// Likewise.
        z: f64,
        /// Distance from there to the workspace, metres.
        beyond: f64,
        /// How far from there the tool may be instead, metres.
        corridor: f64,
    },
    /// A plan to drive that has not exactly one pose.
    #[error("a plan to drive needs one pose of the base, this one has {count}")]
    BasePoseCount {
        /// Number of pose goals.
        count: usize,
    },
    /// A pose of the base that is no pose on the ground.
    #[error("the base's pose is not level on the ground: tilt {tilt:.3} rad, height {height:.3} m")]
    BaseNotLevel {
        /// Angle of the base's z axis to the vertical, radians.
        tilt: f64,
        /// Height over the ground, metres.
        height: f64,
    },
    /// The verifier has never seen a costmap.
    #[error("the verifier has no costmap yet, so it permits no driving")]
    NoGround,
    /// A goal that is outside the costmap or where nothing is known.
    #[error("the base's goal ({x:.2}, {y:.2}) m is outside the known ground")]
    OffTheGround {
        /// Position, map frame, metres.
        x: f64,
        /// Position, map frame, metres.
        y: f64,
    },
    /// Something stands where the base would.
    #[error("the ground at ({x:.2}, {y:.2}) m under the base's goal is taken or unknown")]
    GroundTaken {
        /// Position, map frame, metres.
        x: f64,
        /// Position, map frame, metres.
        y: f64,
    },
    /// A grasp without an assessment of evidence.
    #[error(
        "{object} is to be grasped without an assessment of evidence about it; detect the affordance first"
    )]
    NotAssessed {
        /// The object.
        object: ObjectKey,
    },
    /// An assessment that this verifier does not have.
    #[error("assessment {id} is not one of this verifier's; detect the affordance again")]
    UnknownAssessment {
        /// The id.
        id: String,
    },
    /// Evidence about another object.
    #[error("assessment {id} is about {assessed}, the plan is for {planned}")]
    AssessedOther {
        /// The id.
        id: String,
        /// What the evidence is about.
        assessed: ObjectKey,
        /// What is to be touched.
        planned: ObjectKey,
    },
    /// An assessment that is too old.
    #[error("assessment {id} is {age:.0} s old, {limit:.0} s is the most; detect the affordance again")]
    AssessmentExpired {
        /// The id.
        id: String,
        /// Its age, seconds.
        age: f64,
        /// The limit, seconds.
        limit: f64,
    },
    /// The object is elsewhere than it was assessed.
    #[error("{object} has moved since its evidence was assessed; detect the affordance again")]
    MovedSinceAssessed {
        /// The object.
        object: ObjectKey,
    },
    /// The evidence is not about the object.
    #[error("{doubt}")]
    Doubted {
        /// Why.
        doubt: Doubt,
    },
    /// The commit rule does not hold (AAH eq. 10).
    #[error("evidence does not suffice: v {:.2}, omega {:.2}, zeta {:.2}, mu {:.2}",
        .diagnostics.score, .diagnostics.omega, .diagnostics.zeta, .diagnostics.mu)]
    NotCommitted {
        /// The diagnostics.
        diagnostics: Diagnostics,
    },
}

/// What the verifier knows by itself when it is asked.
#[derive(Clone, Copy)]
pub struct GateContext<'a> {
    /// The newest map the verifier received.
    pub map: Option<&'a ObjectMap>,
    /// The newest map of the room it received; only mobile robots have one.
    pub room: Option<&'a ObjectMap>,
    /// The newest costmap it received, with the base's outline.
    pub ground: Option<&'a Ground>,
    /// The verifier's own assessments of evidence.
    pub assessments: &'a Assessments,
    /// Whether two class names mean the same.
    pub same_name: &'a dyn Fn(&str, &str) -> bool,
    /// Thresholds and limits.
    pub settings: &'a Settings,
    /// The time, seconds.
    pub now: f64,
}

/// The answer of the gate, with everything it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Every reason to refuse; empty = commit.
    pub findings: Vec<Finding>,
    /// Diagnostics of the assessed evidence; `None` where the skill needs none (look, home, place, drop) or none was assessed.
    pub diagnostics: Option<Diagnostics>,
    /// Share of the votes behind the name of the object that is touched first; `None` where nothing is.
    pub name_share: Option<f64>,
}

impl Verdict {
    /// Whether the plan may be executed.
    pub fn granted(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Judges a plan. Only a grasp, or another first touch, needs evidence: it is the moment the robot commits to an object (AAH eq. 10);
/// what is placed afterwards is the object that was committed to, at poses that are checked here. `assessment` is the id that
/// [`Assessments::keep`] gave; empty = none.
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
