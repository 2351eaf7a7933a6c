//! What is known of a part before it is moved, and what is told of how it moved: a joint that was measured, the room that the part sweeps
//! by it, the way of the hand.

use crate::course::Course;
use crate::fault::SkillFault;
use crate::robot::{HandWay, Robot};
use crate::world::World;
use nalgebra::Isometry3;
use prehend_scene::{Object, ObjectMap, PartMotion, furniture};
use prehend_skills::part::KnownJoint;
use prehend_skills::{PartCandidate, solids};

/// What a part may graze on its way, metres: maps and models are so far off.
const SLACK: f64 = 0.01;

impl<R: Robot> Course<'_, R> {
    /// The joint of a part, if it was measured before.
    pub(crate) fn known_joint(
        &self,
        object: &Object,
        map: &ObjectMap,
    ) -> Result<Option<KnownJoint>, SkillFault> {
        let joint = self.robot.known_joint(&object.key, map.version)?;
        if joint.is_some() {
            self.tell("candidates", "known", &format!("the joint of {} was measured before", object.key));
        }
        Ok(joint)
    }

    /// Notes where the tool is while it moves a part.
    pub(crate) fn led(&self, map_from_tool: Isometry3<f64>) {
        self.way.borrow_mut().push(map_from_tool);
    }

    /// Tells how the hand moved the part, if it did or tried.
    pub(crate) fn tell_way(&self, motion: &PartMotion, stopped: bool, map: &ObjectMap) {
        let poses = self.way.take();
        if poses.len() > 1 {
            self.robot.tell_way(&HandWay { map, effect: motion.effect, poses, stopped });
        }
    }
}

/// The world while the hand moves a part whose joint was measured: the part goes with the hand, so that the room it sweeps must be free.
/// What it belongs to lets it out. `None` where nobody knows how the part moves, or where it turns in the hand.
pub(crate) fn with_part(
    open: &World,
    candidate: &PartCandidate,
    object: &Object,
    map: &ObjectMap,
) -> Option<World> {
    if candidate.measured.is_none() || candidate.is_push() || !candidate.turning {
        return None;
    }
    let whole = furniture::whole_of(object, map)?;
    let beside = map.objects.iter().filter(|other| furniture::is_part_of(other, whole));
    let own: Vec<&str> =
        [whole, object].into_iter().chain(beside).map(|object| object.key.0.as_str()).collect();
    let points = &object.cloud.points;
    let low = points.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let mut boxes = solids::attached_boxes(points, &candidate.contact, low, 0.0);
    for part in &mut boxes {
        part.size = part.size.map(|side| (side - 2.0 * SLACK).max(SLACK));
    }
    Some(open.without(&own).holding(&boxes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Point3, Vector3};
    use prehend_geometry::OrientedBox;
    use prehend_scene::PartEffect;

    /// A part whose joint was measured goes with the hand, out of what it belongs to; what stands beside it is still in the way.
    #[test]
    fn a_part_with_a_measured_joint_sweeps_the_scene_with_the_hand() {
        let object = |key: &str, class: &str, low: [f64; 3], size: [f64; 3]| {
            let steps = 0..=12;
            let mut points = Vec::new();
            for a in steps.clone() {
                for b in steps.clone() {
                    let at = |axis: usize, step: i32| low[axis] + size[axis] * f64::from(step) / 12.0;
                    points.push(Point3::new(low[0], at(1, a), at(2, b)));
                    points.push(Point3::new(at(0, a), at(1, b), low[2] + size[2]));
                }
            }
            let cloud = prehend_geometry::PointCloud::from_points(points);
            let bounds = OrientedBox::upright_around(&cloud.points).expect("points");
            Object { class_name: class.to_owned(), ..Object::unnamed(key.into(), cloud, bounds) }
        };
        let map = ObjectMap {
            objects: vec![
                object("cabinet_0", "cabinet", [0.6, -0.2, 0.0], [0.3, 0.4, 0.4]),
                object("drawer_0", "drawer", [0.58, -0.18, 0.02], [0.01, 0.36, 0.16]),
                object("drawer_1", "drawer", [0.58, -0.18, 0.21], [0.01, 0.36, 0.16]),
                object("mug_0", "mug", [0.3, 0.0, 0.0], [0.08, 0.08, 0.1]),
            ],
            ..ObjectMap::default()
        };
        let boxes = |object: &Object| (object.key.0.clone(), vec![object.bounds]);
        let open = World { objects: map.objects.iter().map(boxes).collect(), held: Vec::new() };
        let candidate = PartCandidate {
            before: Isometry3::identity(),
            contact: Isometry3::translation(0.54, 0.0, 0.1),
            opening: 0.03,
            width: 0.01,
            motion: PartMotion {
                effect: PartEffect::Open,
                anchor: Point3::new(0.54, 0.0, 0.1),
                direction: -Vector3::x(),
                extent: 0.16,
                least: 0.09,
                corridor: 0.05,
            },
            pivot: None,
            turning: true,
            measured: Some(0.2),
            score: 1.0,
        };
        let drawer = &map.objects[1];
        let swept = with_part(&open, &candidate, drawer, &map).expect("it is known");
        assert_eq!(swept.objects.keys().collect::<Vec<_>>(), ["mug_0"]);
        let front = swept.held.iter().map(|b| (candidate.contact * b.pose).translation.x);
        assert!(front.clone().count() > 0 && front.into_iter().all(|x| (0.55..0.62).contains(&x)));
        for other in [
            PartCandidate { measured: None, ..candidate },
            PartCandidate { turning: false, ..candidate },
            PartCandidate { width: 0.0, ..candidate },
        ] {
            assert_eq!(with_part(&open, &other, drawer, &map), None);
        }
        assert_eq!(with_part(&open, &candidate, &map.objects[3], &map), None, "it is part of nothing");
        let end = candidate.moved(0.16) * Point3::new(0.58, 0.0, 0.1);
        assert!((end.x - 0.42).abs() < 1e-9);
    }
}
