//! The joint critic: type, axis, origin, limit, in this order; the first that fails is the finding.
//!
//! Each question holds more of the model's joint and lets the rest be fitted. When holding one thing more explains the looks clearly
//! worse, that thing is wrong.

use super::Candidate;
use crate::evidence::{Evidence, cleaned};
use crate::fit::{Fitted, Given};
use crate::model::{Joint, JointKind};
use crate::observation::{Look, Observation};
use crate::propose::Usual;
use crate::screw::Screw;
use nalgebra::Point3;
use serde::{Deserialize, Serialize};

/// Clearly worse: by so many standard deviations of what is left by chance, and by this, square metres, and a hand's slip.
const DEVIATIONS: f64 = 3.0;
const WORSE: f64 = 1.0e-6;
/// Within this an axis, radians, and an origin, metres, are as good as they can be told; and how far the edge of a part may go astray
/// by its axis, metres: the axis of a knob is told less well than that of a door.
const TOLD: [f64; 2] = [0.055, 0.014];
const ASTRAY: f64 = 0.010;
/// How many times as far off an axis may be that is put along a side of the whole.
const ALIGNED: f64 = 2.0;
/// Least way of a part from which its motion is judged, metres.
const MOVED: f64 = 0.02;
/// Root mean square distance of a hand's way at which it contradicts a motion, metres, and share of a look that the other one must show.
const OFF_HAND: f64 = 0.006;
const EITHER: f64 = 0.6;
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

/// What is known of how each part moved, made ready once for all candidates.
pub struct Motions {
    parts: Vec<Option<(Evidence, Fitted)>>,
    /// Clouds of each part in each look, without strays.
    clouds: Vec<Vec<Vec<Point3<f64>>>>,
}

impl Motions {
    /// Of the parts of an observation that were seen to move.
    pub fn of(observation: &Observation) -> Self {
        let cloud = |look: &Look, part: usize| look.parts.get(part).map_or_else(Vec::new, |own| cleaned(own));
        let clouds = (0..observation.parts.len())
            .map(|part| observation.looks.iter().map(|look| cloud(look, part)).collect());
        let clouds: Vec<Vec<Vec<Point3<f64>>>> = clouds.collect();
        let motion = |part: usize| {
            let mut evidence = Evidence::of(observation, part, &clouds[part])?;
            let seen = seen_motion(&evidence, &observation.parts[part].class)?;
            evidence.restrict(&seen);
            // Once more without what the looks do not share.
            let mut seen = evidence.followed(&Given::Kind { turns: seen.screw.turns() }, &seen);
            // What people build moves along its sides, unless the looks contradict.
            if let Some(axis) = evidence.side_near(&seen.screw.axis(), ALIGNED * tolerance(&evidence)) {
                let turns = seen.screw.turns();
                let mut aligned = evidence.followed(&Given::Axis { turns, axis }, &seen);
                if !is_worse(&evidence, aligned.left, seen.left) {
                    aligned.uncertainty = seen.uncertainty;
                    seen = aligned;
                }
            }
            Some((evidence, seen))
        };
        Self { parts: (0..observation.parts.len()).map(motion).collect(), clouds }
    }

    fn of_part(&self, part: usize) -> Option<&(Evidence, Fitted)> {
        self.parts.get(part)?.as_ref()
    }

    /// Clouds of a part in the looks, without strays.
    pub(crate) fn clouds(&self, part: usize) -> &[Vec<Point3<f64>>] {
        self.clouds.get(part).map_or(&[], Vec::as_slice)
    }

    /// The motion of a part.
    pub fn get(&self, part: usize) -> Option<&Fitted> {
        self.of_part(part).map(|(_, seen)| seen)
    }

    /// Where hands left a part, and whether it had come to a stop there.
    pub(crate) fn left_at(&self, part: usize) -> Vec<(f64, bool)> {
        self.of_part(part).map_or_else(Vec::new, |(evidence, seen)| evidence.left_at(seen))
    }

    /// Root mean square distance of the hands' ways from a part's motion, metres.
    pub(crate) fn off_hand(&self, part: usize) -> f64 {
        self.of_part(part).map_or(0.0, |(evidence, seen)| evidence.off_hand(&seen.screw))
    }
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

/// Angle within which an axis is as good as it can be told, radians.
fn tolerance(evidence: &Evidence) -> f64 {
    TOLD[0].max(ASTRAY / evidence.size())
}

/// The motion of a part that was seen, when it did move. What parts of its class usually do is believed unless the hand went otherwise,
/// or neither look lies on the other by it: an open drawer shows a board that lies, a closed one a board that stands.
fn seen_motion(evidence: &Evidence, class: &str) -> Option<Fitted> {
    let usual = Usual::of(class).turns();
    // A slide is a turn about a far place: it is one unless a turn is clearly better.
    let turns = usual == Some(true);
    let likely = evidence.roughly(turns);
    let by_hand = evidence.off_hand(&likely.screw) > OFF_HAND;
    let best = if usual.is_none() || by_hand || likely.explained < EITHER {
        let other = evidence.roughly(!turns);
        if is_worse(evidence, likely.left, other.left) { other } else { likely }
    } else {
        likely
    };
    (best.travel >= MOVED && is_worse(evidence, best.still, best.left)).then_some(best)
}

/// Whether more is left by one fit than by another than can be by chance.
fn is_worse(evidence: &Evidence, one: f64, than: f64) -> bool {
    one > than * (1.0 + DEVIATIONS * evidence.chance()) + WORSE + evidence.slipped()
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
