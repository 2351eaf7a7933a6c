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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn truth(position: f64, high: f64) -> Truth {
        let joint = JointTruth {
            object: "cabinet".into(),
            entity: "cabinet/drawer".into(),
            joint: "slide".into(),
            kind: "prismatic".into(),
            position,
            velocity: 0.0,
            limits: [0.0, 0.2],
            reached: [0.0, high],
            locked: false,
            broken: false,
            states: Vec::new(),
            held_states: Vec::new(),
        };
        serde_json::from_value(serde_json::json!({
            "time": 1.0, "joints": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "opening": 0.0, "pad_force": 0.0, "moving": false,
            "table_height": 0.0, "objects": [], "mechanisms": [joint],
        }))
        .unwrap()
    }

    fn motions(name: &str, nearest: f64, touched: bool, held: &[(&str, f64)]) -> Motions {
        let held = held.iter().map(|(region, seconds)| ((*region).to_owned(), *seconds)).collect();
        let handling = Handling { nearest: Some(nearest), touched, held };
        Motions { handling: BTreeMap::from([(name.to_owned(), handling)]), ..Motions::default() }
    }

    fn subject(name: &str, acted_on: bool) -> Subject {
        Subject { objects: vec![name.to_owned()], acted_on, has_handle: true, each_counts: false }
    }

    #[test]
    fn progress_is_scored_as_the_paper_does() {
        let still = truth(0.0, 0.0);
        let score = |motions: &Motions, done| effort(&subject("mug", false), done, &still, &still, motions);
        assert_eq!(score(&motions("mug", 0.3, false, &[]), false).progress, 0.0);
        assert_eq!(score(&motions("mug", 0.04, false, &[]), false).progress, 0.25);
        assert_eq!(score(&motions("mug", 0.0, true, &[("body", 0.1)]), false).progress, 0.25);
        assert_eq!(score(&motions("mug", 0.0, true, &[("body", 1.0)]), false).progress, 0.5);
        assert_eq!(score(&motions("mug", 0.0, true, &[("body", 1.0)]), true).progress, 1.0);
        assert_eq!(score(&Motions::default(), false).progress, 0.0, "nothing is known of it");
    }

    #[test]
    fn a_push_or_a_joint_that_moved_is_a_try() {
        let drawer = subject("cabinet/drawer", true);
        let score = |motions: &Motions, high| {
            effort(&drawer, false, &truth(0.0, 0.0), &truth(0.0, high), motions).progress
        };
        assert_eq!(score(&motions("cabinet/drawer", 0.0, true, &[]), 0.0), 0.5);
        assert_eq!(score(&motions("cabinet/drawer", 0.3, false, &[]), 0.03), 0.5);
        assert_eq!(score(&motions("cabinet/drawer", 0.3, false, &[]), 0.01), 0.0);
    }

    #[test]
    fn the_handle_counts_when_it_was_held_by_it() {
        let still = truth(0.0, 0.0);
        let by = |held: &[(&str, f64)]| {
            effort(&subject("mug", false), true, &still, &still, &motions("mug", 0.0, true, held)).by_handle
        };
        assert_eq!(by(&[("handle", 2.0), ("body", 0.5)]), Some(true));
        assert_eq!(by(&[("body", 2.0)]), Some(false));
        assert_eq!(by(&[("handle", 0.1)]), None, "it was not picked");
    }
}
