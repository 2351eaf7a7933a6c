//! What a check looks at: the rest need not travel to whoever checks.

use super::part::PART_RADIUS;
use prehend_geometry::PointCloud;
use prehend_scene::{Observation, PartEffect, Skill, SkillPlan};

/// Takes from the observations before and after `plan` what [`check_outcome`](super::check_outcome) does not look at; its verdict is
/// the same with and without.
///
/// Clouds are most of an observation. A grasp and a placement are judged by boxes, names and colours; only the rooms of a
/// divided container ask for points. Of a part's surroundings before it was moved only the points at its places count.
pub fn keep_needed(plan: &SkillPlan, before: &mut Observation, after: &mut Observation) {
    let motion = plan.motion.as_ref().filter(|motion| motion.effect != PartEffect::Hold);
    let moved = motion.filter(|_| plan.skill.acts_on_part());
    let is_divided = matches!(plan.skill, Skill::Place | Skill::Drop) && !plan.part.is_empty();
    let reach = after.felt.map_or(0.0, |felt| felt.displacement.norm()) + 2.0 * PART_RADIUS;
    let was = before.objects.iter_mut().flatten().map(|object| (object, true));
    let is = after.objects.iter_mut().flatten().map(|object| (object, false));
    for (object, is_before) in was.chain(is) {
        object.features = Vec::new();
        object.crops = Vec::new();
        object.affordances = Vec::new();
        match moved {
            Some(motion) if is_before && object.key != plan.object => {
                let is_near = |p: &&_| nalgebra::distance(*p, &motion.anchor) <= reach;
                let near = object.cloud.points.iter().filter(is_near).copied().collect();
                object.cloud = PointCloud::from_points(near);
            }
            Some(_) => {}
            None => {
                object.parts = Vec::new();
                if !(is_divided && plan.targets.contains(&object.key)) {
                    object.cloud = PointCloud::default();
                }
            }
        }
    }
}
