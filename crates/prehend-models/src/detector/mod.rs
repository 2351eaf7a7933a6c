//! Detectors: networks that give boxes with names.

pub mod fastestdet;
mod nms;
mod settings;
pub mod yolo;

pub use fastestdet::FastestDet;
pub use nms::{Candidate, Suppression, suppress, survivors};
pub use settings::{DetectorSettings, InputSize, read_classes};
pub use yolo::Yolo;

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
