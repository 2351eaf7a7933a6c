//! The URDF critic: positions of links, type and position of each joint, by the model and what things of its kind are.
//!
//! The document's output, field by field. A joint's type is measured against what was seen; before it moved, against what parts of its
//! class do. Its position is measured against the part that it moves.

use super::{Candidate, JointFailure, JointVerdict, LinkVerdict};
use crate::model::{JointKind, Model};
use crate::observation::Observation;
use nalgebra::Point3;
use prehend_scene::furniture::Usual;
use serde::{Deserialize, Serialize};

/// Score from which a model counts as a success.
const SUCCESS: f64 = 8.0;
/// Score of what nothing speaks for or against.
const LIKELY: f64 = 7.0;
/// Distance of a joint from the model, as a share of its size, from which it is nowhere near.
const FAR: f64 = 0.6;

/// What is said of one joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointDetail {
    /// Its name in the URDF.
    pub joint_name: String,
    /// 0 to 10.
    pub type_score: f64,
    /// 0 to 10.
    pub position_score: f64,
    /// By the URDF and by what was seen.
    pub reasoning: String,
}

/// The document's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UrdfVerdict {
    /// 0 to 10.
    pub link_position_score: f64,
    /// What speaks for it.
    pub link_position_reasoning: String,
    /// Average over the joints, 0 to 10.
    pub joint_score: f64,
    /// Each joint.
    pub joint_evaluation_details: Vec<JointDetail>,
    /// Both scores are at least 8.
    pub success: bool,
}

/// Judges the whole.
pub fn judge_urdf(
    candidate: Candidate<'_>,
    observation: &Observation,
    joints: &[JointVerdict],
    links: &[LinkVerdict],
) -> UrdfVerdict {
    let model = candidate.model;
    if let Err(wrong) = model.check() {
        let reasons: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        return UrdfVerdict {
            link_position_score: 0.0,
            link_position_reasoning: format!("It is no model: {}.", reasons.join("; ")),
            joint_score: 0.0,
            joint_evaluation_details: Vec::new(),
            success: false,
        };
    }
    let worst = links.iter().min_by(|a, b| a.realism_rating.total_cmp(&b.realism_rating));
    let link_position_score = worst.map_or(LIKELY, |worst| worst.realism_rating);
    let link_position_reasoning = worst.map_or("Nothing was seen to compare it with.".to_owned(), |worst| {
        format!("The worst is {}: {}", worst.link, worst.description)
    });
    let part_of = |link: usize| candidate.links.iter().position(|of| *of == Some(link));
    let details: Vec<JointDetail> = model
        .joints
        .iter()
        .map(|joint| {
            let part = part_of(joint.child);
            let verdict = joints.iter().find(|verdict| Some(verdict.part) == part);
            let class = part.map_or("", |part| observation.parts[part].class.as_str());
            detail(model, joint.child, class, verdict)
        })
        .collect();
    let count = details.len().max(1) as f64;
    let scores = details.iter().map(|detail| (detail.type_score + detail.position_score) / 2.0);
    let joint_score = if details.is_empty() { 10.0 } else { scores.sum::<f64>() / count };
    UrdfVerdict {
        success: link_position_score >= SUCCESS && joint_score >= SUCCESS,
        link_position_score,
        link_position_reasoning,
        joint_score,
        joint_evaluation_details: details,
    }
}

/// Whether parts of a class move so; `None` when the class says nothing.
fn fits_class(kind: JointKind, class: &str) -> Option<bool> {
    Some(if Usual::of(class).turns()? { kind.turns() } else { kind == JointKind::Prismatic })
}

fn detail(model: &Model, child: usize, class: &str, verdict: Option<&JointVerdict>) -> JointDetail {
    // Every link but the root has one: the model was checked.
    let Some(joint) = model.joint_of(child) else {
        return JointDetail {
            joint_name: String::new(),
            type_score: 0.0,
            position_score: 0.0,
            reasoning: "It has no joint.".to_owned(),
        };
    };
    let moved = verdict.filter(|verdict| verdict.seen.is_some());
    let failed = moved.map(|verdict| verdict.failure_reason);
    let type_score = match (failed, fits_class(joint.kind, class)) {
        (Some(JointFailure::JointType), _) => 0.0,
        (Some(_), _) => 10.0,
        (None, Some(true)) => 9.0,
        (None, Some(false)) => 2.0,
        (None, None) => LIKELY,
    };
    let urdf = format!("The URDF defines this as a {}.", joint.say());
    let (position_score, seen) = match (failed, moved) {
        (Some(JointFailure::Success), Some(verdict)) => {
            (verdict.realism_rating, format!("{} {}", verdict.gt_description, verdict.pred_description))
        }
        (Some(reason), Some(verdict)) => {
            let score = match reason {
                JointFailure::JointAxis => 1.0,
                JointFailure::JointOrigin => 2.0,
                JointFailure::JointLimit => 4.0,
                JointFailure::JointType | JointFailure::Success => 3.0,
            };
            (score, format!("{} {}", verdict.gt_description, verdict.improvement_suggestion))
        }
        _ => by_place(model, child, class),
    };
    JointDetail {
        joint_name: joint.name.clone(),
        type_score,
        position_score,
        reasoning: format!("{urdf} {seen}"),
    }
}

/// Whether a joint that was not seen to move is where one of its kind would be.
fn by_place(model: &Model, child: usize, class: &str) -> (f64, String) {
    let Some((joint, link)) = model.joint_of(child).zip(model.links.get(child)) else {
        return (0.0, "It has no joint.".to_owned());
    };
    let size = link.bounds().map_or(0.0, |(low, high)| (high - low).norm());
    let middle = link.middle();
    let axis = joint.axis.into_inner();
    let off = middle.coords - axis * axis.dot(&middle.coords);
    if middle.coords.norm() > (1.0 + FAR) * size.max(0.02) && joint.kind != JointKind::Fixed {
        return (2.0, "It was not seen to move, and its origin is nowhere near the part.".to_owned());
    }
    let score = match (Usual::of(class), joint.kind) {
        (Usual::Door | Usual::Lid, JointKind::Revolute) => {
            // At an edge: as far from the middle as the part is wide there.
            let reach = link.bounds().map_or(0.0, |(low, high)| reach_along(&off, &low, &high));
            if reach > 0.0 && (off.norm() / reach - 1.0).abs() < 0.35 { 8.0 } else { 4.0 }
        }
        (Usual::Knob, JointKind::Revolute | JointKind::Continuous) => {
            if off.norm() < 0.25 * size {
                8.0
            } else {
                4.0
            }
        }
        (_, JointKind::Fixed) => 5.0,
        _ => LIKELY,
    };
    (score, "It was not seen to move; it is judged by what parts of its kind do.".to_owned())
}

/// How far a box reaches from its middle in a direction, metres.
fn reach_along(direction: &nalgebra::Vector3<f64>, low: &Point3<f64>, high: &Point3<f64>) -> f64 {
    let Some(unit) = direction.try_normalize(1e-9) else { return 0.0 };
    let half = (high - low) / 2.0;
    (0..3).map(|axis| (unit[axis] * half[axis]).abs()).sum()
}
