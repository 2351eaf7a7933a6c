//! Detectors: networks that give boxes with names.

pub mod fastestdet;
pub mod grounding_dino;
mod nms;
pub mod prompts;
mod settings;
pub mod yolo;
pub mod yolo_world;

pub use fastestdet::FastestDet;
pub use grounding_dino::GroundingDino;
pub use nms::{Candidate, Suppression, suppress, survivors};
pub use settings::{DetectorSettings, InputSize, read_classes};
pub use yolo::Yolo;
pub use yolo_world::YoloWorld;

use settings::Classifying;

use prehend_perception::Instance;

/// Candidates with the names of their classes; every class must have a name.
fn named(candidates: Vec<Candidate>, classes: &[String]) -> Vec<Instance> {
    candidates
        .into_iter()
        .map(|candidate| Instance {
            class_name: classes[candidate.class].clone(),
            score: candidate.score,
            bounds: candidate.bounds,
            mask: None,
        })
        .collect()
}
