//! The joint critic: type, axis, origin, limit, in this order; the first that fails is the finding.
//!
//! Each question holds more of the model's joint and lets the rest be fitted. When holding one thing more explains the looks clearly
//! worse, that thing is wrong.

use super::Candidate;
use crate::evidence::Evidence;
use crate::fit::Given;
use crate::fitted::Fitted;
use crate::model::{Joint, JointKind};
use crate::motions::{ASTRAY, Motions, TOLD, is_worse, tolerance};
use crate::observation::Observation;
use crate::screw::Screw;
use serde::{Deserialize, Serialize};

/// How far beyond a limit a part may have been: a share of the way, and metres or radians.
const BEYOND: (f64, f64) = (0.06, 0.012);
/// How much farther than the stop that was felt a limit may be, as a share of the way.
const TOO_FAR: f64 = 0.2;
/// Root mean square distance at which a joint without a fault has the least rating of a success, metres.
const POOR: f64 = 0.006;

/// `failure_reason` of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointFailure {
    /// It slides and should turn, or the other way round, or moves and should not.
    JointType,
    /// Its direction is wrong.
    JointAxis,
    /// It turns about another place.
    JointOrigin,
    /// Its limits or its direction of opening.
    JointLimit,
    /// Nothing was found.
    Success,
}

impl JointFailure {
    /// The document's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::JointType => "joint_type",
            Self::JointAxis => "joint_axis",
            Self::JointOrigin => "joint_origin",
            Self::JointLimit => "joint_limit",
            Self::Success => "success",
        }
    }

    /// `realism_rating` that belongs to a failure; a success has 5 to 10.
    fn rating(self) -> f64 {
        match self {
            Self::JointType => 0.0,
            Self::JointAxis => 1.0,
            Self::JointOrigin => 2.0,
            Self::JointLimit => 3.0,
            Self::Success => 5.0,
        }
    }
}

/// The document's output, with the numbers behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointVerdict {
    /// Name of the joint; empty when the part has none.
    pub joint: String,
    /// Index of the part.
    pub part: usize,
    /// What was seen.
    pub gt_description: String,
    /// What the model does.
    pub pred_description: String,
    /// The model's joint in words.
    pub candidate_function_description: String,
    /// The first thing that is wrong.
    pub failure_reason: JointFailure,
    /// What to change.
    pub improvement_suggestion: String,
    /// 0 to 10.
    pub realism_rating: f64,
    /// The motion that was seen; `None` when the part was not seen to move.
    pub seen: Option<Fitted>,
    /// Where the model's joint was in each look, when its screw was tried.
    pub positions: Vec<Option<f64>>,
}

/// Judges the joint of each part that the candidate has a link for.
pub fn judge_joints(
    candidate: Candidate<'_>,
    observation: &Observation,
    motions: &Motions,
) -> Vec<JointVerdict> {
    (0..observation.parts.len())
        .filter_map(|part| {
            let link = candidate.links.get(part).copied().flatten()?;
            let joint = candidate.model.joint_of(link)?;
            let moved = motions.of_part(part);
            Some(judge(candidate, observation, part, joint, moved))
        })
        .collect()
}

/// The model's joint as a motion in the frame of the observation.
fn screw_of(candidate: Candidate<'_>, joint: &Joint) -> Option<Screw> {
    let map_from_parent = candidate.map_from_model * candidate.model.poses(&[]).get(joint.parent).copied()?;
    let axis = map_from_parent.rotation * joint.axis;
    match joint.kind {
        JointKind::Fixed => None,
        JointKind::Prismatic => Some(Screw::Slide { axis }),
        JointKind::Revolute | JointKind::Continuous => {
            Some(Screw::Turn { axis, origin: map_from_parent * joint.origin })
        }
    }
}

fn judge(
    candidate: Candidate<'_>,
    observation: &Observation,
    part: usize,
    joint: &Joint,
    moved: Option<&(Evidence, Fitted)>,
) -> JointVerdict {
    let seen = moved.map(|(_, seen)| seen);
    let name = &observation.parts[part].name;
    let mut verdict = JointVerdict {
        joint: joint.name.clone(),
        part,
        gt_description: match seen {
            Some(seen) => described(name, seen),
            None => format!("{name} was not seen to move."),
        },
        pred_description: String::new(),
        candidate_function_description: format!(
            "{}, limits {:.3} to {:.3}",
            joint.say(),
            joint.limits[0],
            joint.limits[1]
        ),
        failure_reason: JointFailure::Success,
        improvement_suggestion: "None".to_owned(),
        realism_rating: 5.0,
        seen: None,
        positions: Vec::new(),
    };
    let Some((evidence, seen)) = moved else {
        // What nobody saw move can only be judged as a whole: see the URDF critic.
        verdict.pred_description = "Nothing to compare it with.".to_owned();
        verdict.improvement_suggestion = format!("Move {name} and look again.");
        return verdict;
    };
    let failed = compare(candidate, evidence, seen, joint, &mut verdict);
    verdict.seen = Some(seen.clone());
    if let Some((reason, suggestion)) = failed {
        verdict.failure_reason = reason;
        verdict.improvement_suggestion = suggestion;
        verdict.realism_rating = reason.rating();
    }
    verdict
}

/// The first thing of a joint that the looks contradict, and what to change. Fills in what the model does.
fn compare(
    candidate: Candidate<'_>,
    evidence: &Evidence,
    seen: &Fitted,
    joint: &Joint,
    verdict: &mut JointVerdict,
) -> Option<(JointFailure, String)> {
    let Some(screw) = screw_of(candidate, joint) else {
        verdict.pred_description = "It does not move.".to_owned();
        let wanted = if seen.screw.turns() { "revolute" } else { "prismatic" };
        return Some((JointFailure::JointType, format!("Make it {wanted}: it was seen to move.")));
    };
    let turns = screw.turns();
    let same = if seen.screw.turns() == turns { seen.clone() } else { evidence.fit(&Given::Kind { turns }) };
    let told = |fit: &Fitted| format!("{:.1} mm off", 1e3 * fit.left.sqrt());
    if turns != seen.screw.turns() && (is_worse(evidence, same.left, seen.left) || !seen.screw.turns()) {
        verdict.pred_description =
            format!("{} it is {}.", if turns { "Turning," } else { "Sliding," }, told(&same));
        let wanted = if seen.screw.turns() { "revolute" } else { "prismatic" };
        return Some((
            JointFailure::JointType,
            format!("Consider changing the joint type to {wanted}: that is {}.", told(seen)),
        ));
    }
    // The motion that was measured needs no other to be held against it.
    let measured = screw.is(&seen.screw);
    let axis = if measured { seen.clone() } else { evidence.fit(&Given::Axis { turns, axis: screw.axis() }) };
    let off = screw.angle_to(&same.screw);
    if is_worse(evidence, axis.left, same.left) && off > tolerance(evidence) {
        let off = off.to_degrees();
        verdict.pred_description = format!("Along that axis it is {} at best.", told(&axis));
        return Some((
            JointFailure::JointAxis,
            format!("Turn the axis by {off:.1} degrees: that is {}.", told(&same)),
        ));
    }
    let placed = if measured { seen.clone() } else { evidence.fit(&Given::Screw(screw)) };
    let off = screw.offset_to(&axis.screw);
    if turns && is_worse(evidence, placed.left, axis.left) && off > TOLD[1] {
        verdict.pred_description = format!("About that place it is {} at best.", told(&placed));
        return Some((
            JointFailure::JointOrigin,
            format!("Move the origin by {:.0} mm across the axis: that is {}.", 1e3 * off, told(&axis)),
        ));
    }
    verdict.pred_description = format!("It is {}.", told(&placed));
    verdict.positions = placed.positions.clone();
    let left = evidence.left_at(&placed);
    let been: Vec<f64> =
        placed.positions.iter().flatten().chain(left.iter().map(|(position, _)| position)).copied().collect();
    let way = been.iter().map(|position| position.abs()).fold(0.0, f64::max);
    let slip = if turns { ASTRAY / evidence.size() } else { 0.0 };
    let slack = BEYOND.0 * way + BEYOND.1 + slip;
    let unit = if turns { "rad" } else { "m" };
    let [low, high] = joint.limits;
    if let Some(beyond) = been.iter().find(|position| !joint.allows(**position, slack)) {
        let what = if been.iter().all(|position| !joint.allows(-position, slack))
            || beyond.signum() == high.signum()
        {
            format!("Let it go to {beyond:.3} {unit}: it was there, its limits are {low:.3} and {high:.3}.")
        } else {
            format!("It opens the other way: negate the axis. It was at {beyond:.3} {unit}.")
        };
        return Some((JointFailure::JointLimit, what));
    }
    let stops = left.iter().filter(|(_, stopped)| *stopped).map(|(position, _)| *position);
    for side in [1.0, -1.0] {
        let ends = stops.clone().filter(|end| end * side > slack);
        let Some(end) = ends.max_by(|a, b| a.abs().total_cmp(&b.abs())) else { continue };
        let limit = if side > 0.0 { high } else { low };
        if joint.kind != JointKind::Continuous && (limit - end).abs() > TOO_FAR * way + slack {
            return Some((
                JointFailure::JointLimit,
                format!("Its end was felt at {end:.3} {unit}, and the model goes to {limit:.3}."),
            ));
        }
    }
    verdict.realism_rating = 5.0 + 5.0 * (1.0 - (placed.left.sqrt() / POOR).min(1.0));
    // What is not off by more than the best motion is as good as can be told.
    if !is_worse(evidence, placed.left, seen.left) {
        verdict.realism_rating = verdict.realism_rating.max(9.0);
    }
    None
}

fn described(name: &str, fit: &Fitted) -> String {
    let axis = fit.screw.axis();
    let most =
        fit.positions.iter().flatten().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
    match fit.screw {
        Screw::Slide { .. } => format!(
            "{name} slides along ({:.2}, {:.2}, {:.2}) in a linear motion, by {:.0} mm ({:.1} mm left).",
            axis.x,
            axis.y,
            axis.z,
            1e3 * fit.travel,
            1e3 * fit.left.sqrt()
        ),
        Screw::Turn { origin, .. } => format!(
            "{name} rotates about ({:.2}, {:.2}, {:.2}) through ({:.3}, {:.3}, {:.3}) m, by {:.0} degrees ({:.1} mm left).",
            axis.x,
            axis.y,
            axis.z,
            origin.x,
            origin.y,
            origin.z,
            most.abs().to_degrees(),
            1e3 * fit.left.sqrt()
        ),
    }
}
