//! The planning scene as a message: what others see of it.

use super::scene::Scene;
use nalgebra::Isometry3;
use prehend_convert::{header, pose_to_msg};
use prehend_motion::{Placed, Shape};
use prehend_msgs::geometry_msgs::msg::Point;
use prehend_msgs::moveit_msgs::msg as moveit;
use prehend_msgs::shape_msgs::msg::{Mesh, MeshTriangle, SolidPrimitive};

impl Scene {
    /// The whole scene: objects in the base frame, what is held in the frame of the link that holds it. Which pairs may touch is not told.
    pub(super) fn to_msg(&self) -> moveit::PlanningScene {
        let model = self.world.model();
        let base = &model.group().base;
        let objects = self.world.object_names();
        let objects = objects.map(|id| object(id, base, self.world.object(id).unwrap_or_default()));
        let held = self.world.attached_names().filter_map(|id| {
            let (link, shapes) = self.world.attached(id)?;
            let object = object(id, link, shapes);
            Some(moveit::AttachedCollisionObject { link_name: link.to_owned(), object, ..Default::default() })
        });
        moveit::PlanningScene {
            robot_state: moveit::RobotState {
                attached_collision_objects: held.collect(),
                ..Default::default()
            },
            world: moveit::PlanningSceneWorld { collision_objects: objects.collect(), ..Default::default() },
            ..Default::default()
        }
    }
}

fn object(id: &str, frame: &str, shapes: &[Placed]) -> moveit::CollisionObject {
    let mut object = moveit::CollisionObject {
        header: header(frame, 0.0),
        id: id.to_owned(),
        pose: pose_to_msg(&Isometry3::identity()),
        operation: moveit::CollisionObject::ADD,
        ..Default::default()
    };
    for Placed { frame_from_shape, shape } in shapes {
        let pose = pose_to_msg(frame_from_shape);
        let (type_, dimensions) = match shape {
            Shape::Box { half } => (SolidPrimitive::BOX, half.iter().map(|side| side * 2.0).collect()),
            Shape::Cylinder { radius, half_length } => {
                (SolidPrimitive::CYLINDER, vec![half_length * 2.0, *radius])
            }
            Shape::Sphere { radius } => (SolidPrimitive::SPHERE, vec![*radius]),
            Shape::Mesh { vertices, triangles } => {
                object.meshes.push(Mesh {
                    triangles: triangles
                        .iter()
                        .map(|corners| MeshTriangle { vertex_indices: (*corners).into() })
                        .collect(),
                    vertices: vertices.iter().map(|at| Point { x: at.x, y: at.y, z: at.z }).collect(),
                });
                object.mesh_poses.push(pose);
                continue;
            }
        };
        object.primitives.push(SolidPrimitive { type_, dimensions, ..Default::default() });
        object.primitive_poses.push(pose);
    }
    object
}
