//! Critics: what is wrong with a model, by the recorded looks and by the model itself, in the document's order of judgement.
//!
//! Judges here measure. What a vision-language model would compare by eye, two pictures or two videos, is compared in metres: the
//! looks are the ground truth, the model moved to where it explains them best is the prediction.

mod joint;
mod link;
mod urdf;

pub use joint::{JointFailure, JointVerdict, judge_joints};
pub use link::{LinkFailure, LinkVerdict, judge_links};
pub use urdf::{JointDetail, UrdfVerdict, judge_urdf};

use crate::model::Model;
use crate::motions::Motions;
use crate::observation::Observation;
use crate::verifier::Rating;
use nalgebra::Isometry3;
use serde::{Deserialize, Serialize};

/// A model that is judged, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The model.
    pub model: &'a Model,
    /// Where it is, in the frame of the observation.
    pub map_from_model: &'a Isometry3<f64>,
    /// Its link for each part of the observation.
    pub links: &'a [Option<usize>],
}

/// All verdicts of one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Of each part that was seen.
    pub joints: Vec<JointVerdict>,
    /// Of each link.
    pub links: Vec<LinkVerdict>,
    /// Of the whole.
    pub urdf: UrdfVerdict,
}

/// Asks all critics.
pub fn judge(candidate: Candidate<'_>, observation: &Observation, motions: &Motions) -> Verdicts {
    let joints = judge_joints(candidate, observation, motions);
    let links = judge_links(candidate, observation, &joints);
    let urdf = judge_urdf(candidate, observation, &joints, &links);
    Verdicts { joints, links, urdf }
}

impl Verdicts {
    /// As the verifier takes it: positions by the worst link, joints by the document's average, overall by both.
    pub fn rating(&self) -> Rating {
        let worst = self.links.iter().map(|link| link.realism_rating).fold(f64::INFINITY, f64::min);
        let position = worst.min(self.urdf.link_position_score);
        let joint =
            self.joints.iter().map(|joint| joint.realism_rating).fold(self.urdf.joint_score, f64::min);
        Rating { overall: position.min(joint), position: Some(position), joint: Some(joint) }
    }

    /// Whether neither the joint critic nor the link critic found anything, and it is a model.
    pub fn found_nothing(&self) -> bool {
        self.joints.iter().all(|joint| joint.failure_reason == JointFailure::Success)
            && self.links.iter().all(|link| link.failure == LinkFailure::None)
            && self.urdf.link_position_score > 0.0
    }
}
