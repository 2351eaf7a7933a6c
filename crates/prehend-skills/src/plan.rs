//! Plans for the gate: immutable, with every pose the tool will be asked to reach.

use crate::{GraspCandidate, PartCandidate, PlaceCandidate};
use nalgebra::Isometry3;
use prehend_scene::{ObjectKey, Relation, Skill, SkillPlan};

/// Distances along a grasp or a place, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standoff {
    /// Before a grasp, along the approach.
    pub approach: f64,
    /// Straight up after a grasp.
    pub lift: f64,
    /// Straight above a release, before it.
    pub above: f64,
    /// Back along the approach and up after a release.
    pub retreat: f64,
}

impl Default for Standoff {
    fn default() -> Self {
        Self { approach: 0.08, lift: 0.12, above: 0.08, retreat: 0.10 }
    }
}

/// The plan of a grasp: before it, at it, lifted.
pub fn grasp_plan(
    object: &ObjectKey,
    part: &str,
    candidate: &GraspCandidate,
    standoff: &Standoff,
    map_version: u64,
) -> SkillPlan {
    SkillPlan {
        skill: Skill::Grasp,
        object: object.clone(),
        targets: Vec::new(),
        relation: None,
        part: part.to_owned(),
        motion: None,
        held_object: None,
        pose_goals: vec![
            candidate.pregrasp(standoff.approach),
            candidate.map_from_tool,
            candidate.lift(standoff.lift),
        ],
        gripper_opening: candidate.opening,
        map_version,
    }
}

/// The plan of a push or a pull: before the part, at it, and where the tool ends when the part moves straight; the motion
/// bounds what may happen in between.
pub fn part_plan(
    skill: Skill,
    object: &ObjectKey,
    part: &str,
    candidate: &PartCandidate,
    map_version: u64,
) -> SkillPlan {
    SkillPlan {
        skill,
        object: object.clone(),
        targets: Vec::new(),
        relation: None,
        part: part.to_owned(),
        motion: Some(candidate.motion),
        held_object: None,
        pose_goals: vec![candidate.before, candidate.contact, candidate.end()],
        gripper_opening: candidate.opening,
        map_version,
    }
}

/// The plan of a place or a drop: above it, at the release, withdrawn.
pub fn place_plan(
    skill: Skill,
    object: &ObjectKey,
    targets: &[ObjectKey],
    relation: Relation,
    candidate: &PlaceCandidate,
    standoff: &Standoff,
    map_version: u64,
) -> SkillPlan {
    SkillPlan {
        skill,
        object: object.clone(),
        targets: targets.to_vec(),
        relation: Some(relation),
        part: String::new(),
        motion: None,
        held_object: Some(object.clone()),
        pose_goals: vec![
            candidate.above(standoff.above),
            candidate.map_from_tool,
            candidate.withdrawn(standoff.retreat),
        ],
        gripper_opening: candidate.opening,
        map_version,
    }
}

/// The plan of a look or of going home, to one tool pose.
pub fn view_plan(
    skill: Skill,
    held: Option<&ObjectKey>,
    map_from_tool: Isometry3<f64>,
    opening: f64,
    map_version: u64,
) -> SkillPlan {
    SkillPlan {
        skill,
        object: ObjectKey::default(),
        targets: Vec::new(),
        relation: None,
        part: String::new(),
        motion: None,
        held_object: held.cloned(),
        pose_goals: vec![map_from_tool],
        gripper_opening: opening,
        map_version,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grasp::GraspKind;
    use nalgebra::Vector3;

    #[test]
    fn a_plan_holds_every_pose_and_its_hash_changes_with_each() {
        let candidate = GraspCandidate {
            kind: GraspKind::Across,
            map_from_tool: Isometry3::new(Vector3::new(0.4, 0.0, 0.03), Vector3::x() * 3.0),
            opening: 0.08,
            width: 0.05,
            contact_height: 0.02,
            score: 0.7,
        };
        let plan = |c: &GraspCandidate, v| grasp_plan(&"cup".into(), "", c, &Standoff::default(), v);
        let first = plan(&candidate, 1);
        assert_eq!(first.pose_goals.len(), 3);
        let lift = first.pose_goals[2].translation.z - first.pose_goals[1].translation.z;
        assert!((lift - Standoff::default().lift).abs() < 1e-9);
        assert_eq!(first.hash(), plan(&candidate, 1).hash());
        assert_ne!(first.hash(), plan(&candidate, 2).hash());
        assert_ne!(first.hash(), plan(&candidate.flipped(), 1).hash());
    }
}
