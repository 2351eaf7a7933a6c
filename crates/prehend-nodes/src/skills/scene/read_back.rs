//! Whether the planning scene that MoveIt tells is the one that it was given.

use super::{HELD, OURS, SceneFrames, id_of};
use nalgebra::{Isometry3, Vector3};
use prehend_convert::pose_from_msg;
use prehend_execution::World;
use prehend_geometry::OrientedBox;
use prehend_msgs::moveit_msgs::msg::{CollisionObject, PlanningScene};
use prehend_msgs::shape_msgs::msg::SolidPrimitive;
use std::collections::BTreeMap;

/// How far poses and sizes may be off, metres: more than numbers lose on the way, less than any clearance.
const FAR: f64 = 1e-3;
/// How far directions may be off, radians.
const TURNED: f64 = 1e-3;

/// The first difference between what `scene` has of Prehend and `world`, in words. What others put there is not looked at.
///
/// MoveIt tells poses in its own planning frame, which the base may stand in anywhere: the boxes must stand to each other, and to that frame
/// if it is the base's, as they were given.
pub(super) fn difference(frames: &SceneFrames, world: &World, scene: &PlanningScene) -> Option<String> {
    let held = scene.robot_state.attached_collision_objects.iter();
    let mut in_hand: Found<'_> = ours(held.map(|held| (&held.object, held.link_name.as_str())));
    let mut around = ours(scene.world.collision_objects.iter().map(|object| (object, "")));
    let mut told_from_base = None;
    for (key, boxes) in &world.objects {
        let id = id_of(key);
        let Some((object, _)) = around.remove(id.as_str()) else {
            return Some(format!("MoveIt's planning scene lacks `{id}`"));
        };
        let stands = told_from(object, &frames.base).or(told_from_base);
        match same_boxes(object, boxes, stands) {
            Ok(found) => told_from_base = found.or(told_from_base),
            Err(what) => return Some(format!("MoveIt has `{id}` {what}")),
        }
    }
    if !world.held.is_empty() {
        let Some((object, link)) = in_hand.remove(HELD) else {
            return Some("MoveIt does not know what the hand holds".to_owned());
        };
        if link != frames.tool {
            return Some(format!("MoveIt has what the hand holds at `{link}`, not at `{}`", frames.tool));
        }
        if let Err(what) = same_boxes(object, &world.held, told_from(object, &frames.tool)) {
            return Some(format!("MoveIt has what the hand holds {what}"));
        }
    }
    let more = in_hand.keys().chain(around.keys()).next();
    more.map(|id| format!("MoveIt's planning scene still has `{id}`"))
}

/// Objects of Prehend's by id, and the link that holds each.
type Found<'a> = BTreeMap<&'a str, (&'a CollisionObject, &'a str)>;

fn ours<'a>(objects: impl Iterator<Item = (&'a CollisionObject, &'a str)>) -> Found<'a> {
    let named = objects.map(|(object, link)| (object.id.as_str(), (object, link)));
    named.filter(|(id, _)| id.starts_with(OURS)).collect()
}

/// The identity when `object` is told in `frame` itself; else nothing is known yet of how the two stand to each other.
fn told_from(object: &CollisionObject, frame: &str) -> Option<Isometry3<f64>> {
    let told = object.header.frame_id.trim_start_matches('/');
    (told == frame || told.is_empty()).then(Isometry3::identity)
}

/// Whether `object` is these boxes, seen from a frame that stands at `told_from_given` when that is known. Gives how it stands to it,
/// `None` without a box.
fn same_boxes(
    object: &CollisionObject,
    boxes: &[OrientedBox],
    told_from_given: Option<Isometry3<f64>>,
) -> Result<Option<Isometry3<f64>>, String> {
    let counts = [object.primitives.len(), object.primitive_poses.len()];
    if counts != [boxes.len(); 2] || !object.meshes.is_empty() || !object.planes.is_empty() {
        return Err(format!("as {} shapes, not as {} boxes", object.primitives.len(), boxes.len()));
    }
    let told_from_object = pose_from_msg(&object.pose).map_err(|error| format!("at no pose: {error}"))?;
    let mut stands = told_from_given;
    for ((shape, pose), given) in object.primitives.iter().zip(&object.primitive_poses).zip(boxes) {
        let size: Vec<f64> = given.size.iter().copied().collect();
        let is_as_large = shape.type_ == SolidPrimitive::BOX
            && shape.dimensions.len() == size.len()
            && shape.dimensions.iter().zip(&size).all(|(told, given)| (told - given).abs() < FAR);
        if !is_as_large {
            return Err(format!("with a shape of {:?} m, not a box of {size:?} m", shape.dimensions));
        }
        let pose = pose_from_msg(pose).map_err(|error| format!("with a shape at no pose: {error}"))?;
        let told = told_from_object * pose;
        let expected = *stands.get_or_insert_with(|| told * given.pose.inverse()) * given.pose;
        let off: Vector3<f64> = told.translation.vector - expected.translation.vector;
        if !(off.norm() < FAR && told.rotation.angle_to(&expected.rotation) < TURNED) {
            return Err(format!("{:.0} mm from where it was put, or turned", off.norm() * 1e3));
        }
    }
    Ok(stands)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cube, frames, world};
    use super::*;
    use prehend_convert::pose_to_msg;

    /// What MoveIt tells of `world` when its planning frame stands at `told_from_base`, beside things of others.
    fn told(world: &World, frame: &str, told_from_base: Isometry3<f64>) -> PlanningScene {
        let mut scene = PlanningScene::default();
        for given in frames().steps(&Default::default(), &World::default(), world) {
            scene.robot_state.attached_collision_objects.extend(given.robot_state.attached_collision_objects);
            scene.world.collision_objects.extend(given.world.collision_objects);
        }
        for object in &mut scene.world.collision_objects {
            object.header.frame_id = frame.to_owned();
            object.pose = pose_to_msg(&told_from_base);
        }
        scene.world.collision_objects.push(CollisionObject { id: "wall".to_owned(), ..Default::default() });
        scene
    }

    #[test]
    fn a_scene_is_read_back_in_any_planning_frame() {
        let full = world(&[("cup", 0.4), ("bowl", 0.5)], true);
        let mount = Isometry3::new(Vector3::new(0.2, -0.1, 0.4), Vector3::z() * 1.2);
        assert_eq!(difference(&frames(), &full, &told(&full, "base", Isometry3::identity())), None);
        assert_eq!(difference(&frames(), &full, &told(&full, "map", mount)), None);
        // The base's own frame says where the base is.
        assert!(difference(&frames(), &full, &told(&full, "base", mount)).is_some());
        assert_eq!(difference(&frames(), &World::default(), &told(&World::default(), "map", mount)), None);
    }

    #[test]
    fn each_difference_is_told() {
        let full = world(&[("cup", 0.4), ("bowl", 0.5)], true);
        let mount = Isometry3::translation(0.2, -0.1, 0.4);
        let check = |expected: &str, change: &dyn Fn(&mut PlanningScene)| {
            let mut scene = told(&full, "map", mount);
            change(&mut scene);
            let found = difference(&frames(), &full, &scene);
            assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{expected}: {found:?}");
        };
        check("lacks `prehend_bowl`", &|scene| *scene = PlanningScene::default());
        check("lacks `prehend_cup`", &|scene| {
            scene.world.collision_objects.retain(|o| !o.id.ends_with("cup"))
        });
        check("does not know what the hand holds", &|scene| {
            scene.robot_state.attached_collision_objects.clear();
        });
        check("at `link5`, not at `tool`", &|scene| {
            scene.robot_state.attached_collision_objects[0].link_name = "link5".to_owned();
        });
        check("`prehend_cup` 20 mm", &|scene| {
            scene.world.collision_objects[1].primitive_poses[0].position.y += 0.02;
        });
        check("`prehend_cup` with a shape of", &|scene| {
            scene.world.collision_objects[1].primitives[0].dimensions[2] += 0.02;
        });
        check("`prehend_cup` as 0 shapes", &|scene| scene.world.collision_objects[1].primitives.clear());
        check("at no pose", &|scene| scene.world.collision_objects[1].pose.position.x = f64::NAN);
        check("what the hand holds 20 mm", &|scene| {
            let held = &mut scene.robot_state.attached_collision_objects[0].object;
            held.pose.position.z += 0.02;
        });
        check("still has `prehend_pan`", &|scene| {
            let pan = CollisionObject { id: "prehend_pan".to_owned(), ..Default::default() };
            scene.world.collision_objects.push(pan);
        });
        assert_eq!(cube(0.0).len(), 1, "each thing is one box here");
    }
}
