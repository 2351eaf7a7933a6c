//! Progress rate and the use of handles (ASP Fig. 3 and Fig. 7), from physics alone.

use crate::judge::mechanisms;
use prehend_sim::world::{BODY, Handling, JointTruth, Motions, Truth};
use serde::{Deserialize, Serialize};

/// The gripper came close: least distance from the tool centre point to the box around the thing, metres.
pub const NEAR: f64 = 0.05;
/// Both fingers pressing for a shorter time is no pick, seconds.
const PICKED: f64 = 0.4;
/// Share of its range by which a joint must move for a try that counts.
const TRIED: f64 = 0.1;

/// What a task is about, for its score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The objects to be picked or acted on, in names of the scene file; each counts the same.
    pub objects: Vec<String>,
    /// It is pushed or pulled, so that pressing on it counts as a try.
    pub acted_on: bool,
    /// It has a handle, which a person would use.
    pub has_handle: bool,
    /// Each thing the goal wants counts its share, and nothing else does (the paper's double picks).
    #[serde(default)]
    pub each_counts: bool,
}

/// How far a run came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Progress, 0 to 1: 1 for success as physics has it, 0.5 for a successful pick or a reasonable push or pull, 0.25 when
    /// the gripper came close.
    pub progress: f64,
    /// Whether it was held by its handle or knob; `None` for things without one, or when it was not picked.
    pub by_handle: Option<bool>,
}

/// The score of a run. `done` is whether the world is as the task wants it, `before` and `after` are the snapshots.
pub fn effort(subject: &Subject, done: bool, before: &Truth, after: &Truth, motions: &Motions) -> Effort {
    let handlings: Vec<(&String, &Handling)> =
        subject.objects.iter().filter_map(|name| Some((name, motions.handling.get(name)?))).collect();
    let of = |name: &str, handling: &Handling| {
        let tried = handling.touched || turned(name, before, after);
        if handling.held_seconds() >= PICKED || subject.acted_on && tried {
            0.5
        } else if handling.touched || handling.nearest.is_some_and(|nearest| nearest <= NEAR) {
            0.25
        } else {
            0.0
        }
    };
    let sum: f64 = handlings.iter().map(|(name, handling)| of(name, handling)).sum();
    let progress = if done { 1.0 } else { sum / subject.objects.len().max(1) as f64 };
    let by_handle = handlings
        .iter()
        .filter(|(_, handling)| subject.has_handle && handling.held_seconds() >= PICKED)
        .map(|(_, handling)| handling.held_by().is_some_and(|region| region != BODY))
        .reduce(|all, one| all && one);
    Effort { progress, by_handle }
}

/// Whether a joint of the object was moved by a share of its range since `before`.
fn turned(name: &str, before: &Truth, after: &Truth) -> bool {
    let was = |joint: &JointTruth| {
        mechanisms(before, name).find(|other| other.joint == joint.joint).map(|other| other.position)
    };
    mechanisms(after, name).any(|joint| {
        let range = joint.limits[1] - joint.limits[0];
        let [low, high] = joint.reached;
        was(joint).is_some_and(|start| (high - start).max(start - low) >= TRIED * range) || joint.broken
    })
}
