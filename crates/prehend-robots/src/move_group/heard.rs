//! The planning scene as somebody else hears it: on MoveIt's topic, or in answer to a question.

use super::error::MoveGroupError;
use super::scene::Scene;
use super::state::ArmState;
use prehend_motion::{Placed, RobotModel};
use prehend_msgs::moveit_msgs::msg::{AllowedCollisionMatrix, PlanningScene};
use std::sync::Arc;

/// Why a message did not change what is known of the scene.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct HeardSceneError(MoveGroupError);

/// What messages of the planning scene come to: whole scenes, and differences to the one before.
#[derive(Clone)]
pub struct HeardScene {
    scene: Scene,
}

impl std::fmt::Debug for HeardScene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.scene.world.object_names().collect();
        f.debug_struct("HeardScene").field("objects", &names).finish_non_exhaustive()
    }
}

impl HeardScene {
    /// An empty scene around a robot.
    pub fn new(model: Arc<RobotModel>) -> Self {
        Self { scene: Scene::new(model, 0.0) }
    }

    /// Takes the next message, with the robot's joints and its gripper's as they were then, units of [`RobotModel::joint_names`]. Octomaps,
    /// planes and which pairs may touch are left out.
    ///
    /// Errors: [`HeardSceneError`] for an unknown frame or link, a shape that is none, joints that are none; nothing has changed then.
    pub fn take(
        &mut self,
        message: &PlanningScene,
        joints: &[f64],
        drive: f64,
    ) -> Result<(), HeardSceneError> {
        let mut message = message.clone();
        message.world.octomap = Default::default();
        message.allowed_collision_matrix = AllowedCollisionMatrix::default();
        message.world.collision_objects.iter_mut().for_each(|object| {
            object.planes.clear();
            object.plane_poses.clear();
        });
        let mut changed = self.scene.clone();
        let arm = ArmState { joints: joints.to_vec(), drive };
        changed.apply(&message, &arm).map_err(HeardSceneError)?;
        self.scene = changed;
        Ok(())
    }

    /// Shapes that stand around the robot, in the frame of its base.
    pub fn shapes(&self) -> impl Iterator<Item = &Placed> {
        let world = &self.scene.world;
        world.object_names().filter_map(|id| world.object(id)).flatten()
    }

    /// Shapes that the robot holds: the link that holds each, and the shape in the frame of that link.
    pub fn held(&self) -> impl Iterator<Item = (&str, &Placed)> {
        let world = &self.scene.world;
        let held = world.attached_names().filter_map(|id| world.attached(id));
        held.flat_map(|(link, shapes)| shapes.iter().map(move |shape| (link, shape)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move_group::tests::{block, diff, held, model, pose, ready};
    use nalgebra::Vector3;

    fn heard(scene: &HeardScene) -> (usize, Vec<String>) {
        (scene.shapes().count(), scene.held().map(|(link, _)| link.to_owned()).collect())
    }

    #[test]
    fn what_one_tells_the_other_hears() {
        let mut told = Scene::new(model(), 0.0);
        let arm = ready();
        let table = block("table", pose(0.4, 0.0, -0.02), [0.8, 1.2, 0.04]);
        told.apply(&diff(vec![table, block("cup", pose(0.4, 0.1, 0.05), [0.06; 3])]), &arm).expect("a scene");
        told.apply(&held(block("mug", pose(0.0, 0.0, 0.02), [0.05; 3]), "link_tcp"), &arm).expect("held");
        let mut scene = HeardScene::new(model());
        scene.take(&told.to_msg(), &arm.joints, arm.drive).expect("readable");
        assert_eq!(heard(&scene), (2, vec!["link_tcp".to_owned()]));
        let at: Vec<Vector3<f64>> =
            scene.shapes().map(|placed| placed.frame_from_shape.translation.vector).collect();
        assert!(at.iter().any(|at| (at - Vector3::new(0.4, 0.1, 0.05)).norm() < 1e-9), "{at:?}");
        let (_, in_hand) = scene.held().next().expect("the mug");
        assert!((in_hand.frame_from_shape.translation.vector - Vector3::z() * 0.02).norm() < 1e-9);
        // A whole scene forgets what it does not name.
        scene.take(&Scene::new(model(), 0.0).to_msg(), &arm.joints, arm.drive).expect("readable");
        assert_eq!(heard(&scene), (0, Vec::new()));
    }

    #[test]
    fn a_message_that_cannot_be_read_changes_nothing() {
        let mut scene = HeardScene::new(model());
        let arm = ready();
        let mut take = |message| scene.take(&message, &arm.joints, arm.drive);
        take(diff(vec![block("cup", pose(0.4, 0.1, 0.05), [0.06; 3])])).expect("readable");
        for broken in [
            diff(vec![block("bowl", pose(f64::NAN, 0.0, 0.0), [0.06; 3])]),
            diff(vec![
                block("good", pose(0.4, 0.0, 0.0), [0.06; 3]),
                block("flat", pose(0.4, 0.0, 0.0), [0.0; 3]),
            ]),
            held(block("mug", pose(0.0, 0.0, 0.0), [0.05; 3]), "no_link"),
        ] {
            assert!(take(broken.clone()).is_err(), "{broken:?}");
        }
        assert_eq!(heard(&scene), (1, Vec::new()));
    }
}
