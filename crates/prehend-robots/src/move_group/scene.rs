//! The planning scene: what clients said is there. Never what the simulator knows.

use super::error::MoveGroupError;
use super::state::ArmState;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_convert::pose_from_msg;
use prehend_motion::{CollisionWorld, Placed, RobotModel, Shape};
use prehend_msgs::geometry_msgs::msg::Pose;
use prehend_msgs::moveit_msgs::msg as moveit;
use prehend_msgs::shape_msgs::msg::{Mesh, SolidPrimitive};
use std::collections::BTreeMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, MoveGroupError>;

/// The scene with what a MOVE needs to know: shapes relative to their object's pose.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) world: CollisionWorld,
    objects: BTreeMap<String, Arc<RelativeObject>>,
}

#[derive(Clone)]
struct RelativeObject {
    base_from_object: Isometry3<f64>,
    shapes: Vec<Placed>,
}

impl RelativeObject {
    fn placed(&self) -> Vec<Placed> {
        moved(&self.base_from_object, &self.shapes)
    }
}

impl Scene {
    pub(super) fn new(model: Arc<RobotModel>, padding: f64) -> Self {
        Self { world: CollisionWorld::new(model, padding), objects: BTreeMap::new() }
    }

    /// Applies a scene message: a diff, or a whole scene that replaces everything. On an error the scene is half changed: apply
    /// to a copy.
    pub(super) fn apply(&mut self, message: &moveit::PlanningScene, arm: &ArmState) -> Result<()> {
        if !message.world.octomap.octomap.data.is_empty() {
            return Err(MoveGroupError::Unsupported { what: "an octomap" });
        }
        if !message.is_diff {
            self.world.clear_objects();
            self.objects.clear();
            self.world.clear_allowed();
            self.detach_all(None, arm, false)?;
        }
        // MoveIt's order: what is held, the matrix, the world.
        self.apply_attached(&message.robot_state.attached_collision_objects, arm)?;
        self.apply_allowed(&message.allowed_collision_matrix)?;
        message.world.collision_objects.iter().try_for_each(|object| self.change_object(object, arm))
    }

    /// Applies what a robot state says about held objects.
    pub(super) fn apply_attached(
        &mut self,
        attached: &[moveit::AttachedCollisionObject],
        arm: &ArmState,
    ) -> Result<()> {
        attached.iter().try_for_each(|one| self.change_attached(one, arm))
    }

    fn change_object(&mut self, object: &moveit::CollisionObject, arm: &ArmState) -> Result<()> {
        let id = object.id.as_str();
        match object.operation {
            moveit::CollisionObject::REMOVE if id.is_empty() => {
                self.world.clear_objects();
                self.objects.clear();
                return Ok(());
            }
            _ if id.is_empty() => {
                return Err(MoveGroupError::Object {
                    object: String::new(),
                    reason: "the id is empty".to_owned(),
                });
            }
            moveit::CollisionObject::REMOVE => {
                // Removing what is not there changes nothing: clients clean up after processes that died.
                if self.objects.remove(id).is_some() {
                    self.world.remove_object(id)?;
                }
                return Ok(());
            }
            moveit::CollisionObject::ADD
            | moveit::CollisionObject::APPEND
            | moveit::CollisionObject::MOVE => {}
            other => {
                return Err(MoveGroupError::Object {
                    object: id.to_owned(),
                    reason: format!("unknown operation {other}"),
                });
            }
        }
        let base_from_object =
            self.base_from_frame(&object.header.frame_id, arm)? * object_pose(&object.pose)?;
        let known = self.objects.get(id);
        let next = match (object.operation, known) {
            (moveit::CollisionObject::MOVE, None) => {
                return Err(prehend_motion::SceneError::UnknownObject { object: id.to_owned() }.into());
            }
            (moveit::CollisionObject::MOVE, Some(known)) => {
                RelativeObject { base_from_object, shapes: known.shapes.clone() }
            }
            (moveit::CollisionObject::APPEND, Some(known)) => {
                let object_from_new = known.base_from_object.inverse() * base_from_object;
                let mut shapes = known.shapes.clone();
                shapes.extend(moved(&object_from_new, &shapes_of(object)?));
                RelativeObject { base_from_object: known.base_from_object, shapes }
            }
            _ => RelativeObject { base_from_object, shapes: shapes_of(object)? },
        };
        self.world.set_object(id, next.placed())?;
        self.objects.insert(id.to_owned(), Arc::new(next));
        Ok(())
    }

    fn change_attached(&mut self, attached: &moveit::AttachedCollisionObject, arm: &ArmState) -> Result<()> {
        let object = &attached.object;
        let id = object.id.as_str();
        if object.operation == moveit::CollisionObject::REMOVE {
            if id.is_empty() {
                let link = Some(attached.link_name.as_str()).filter(|link| !link.is_empty());
                return self.detach_all(link, arm, true);
            }
            return self.detach(id, arm, true);
        }
        if id.is_empty() {
            return Err(MoveGroupError::Object {
                object: String::new(),
                reason: "the id is empty".to_owned(),
            });
        }
        if !matches!(object.operation, moveit::CollisionObject::ADD | moveit::CollisionObject::APPEND) {
            let reason = "held objects are added and removed, not moved".to_owned();
            return Err(MoveGroupError::Object { object: id.to_owned(), reason });
        }
        let link = attached.link_name.as_str();
        let base_from_link = self.link_pose(link, arm).ok_or_else(|| {
            MoveGroupError::from(prehend_motion::SceneError::UnknownLink { link: link.to_owned() })
        })?;
        let link_from_base = base_from_link.inverse();
        let bare = object.primitives.is_empty() && object.meshes.is_empty();
        let mut shapes = match self.objects.get(id) {
            // An object of the scene is taken as it lies.
            Some(known) if bare => moved(&link_from_base, &known.placed()),
            None if bare => {
                return Err(prehend_motion::SceneError::UnknownObject { object: id.to_owned() }.into());
            }
            _ => {
                let frame = if object.header.frame_id.is_empty() { link } else { &object.header.frame_id };
                let base_from_object = self.base_from_frame(frame, arm)? * object_pose(&object.pose)?;
                moved(&(link_from_base * base_from_object), &shapes_of(object)?)
            }
        };
        if object.operation == moveit::CollisionObject::APPEND
            && let Some((_, held)) = self.world.attached(id)
        {
            shapes.extend_from_slice(held);
        }
        self.world.attach(id, link, shapes, &attached.touch_links)?;
        self.objects.remove(id);
        Ok(())
    }

    fn detach_all(&mut self, link: Option<&str>, arm: &ArmState, keep: bool) -> Result<()> {
        let held: Vec<String> = self
            .world
            .attached_names()
            .filter(|name| link.is_none() || self.world.attached(name).map(|(link, _)| link) == link)
            .map(str::to_owned)
            .collect();
        held.iter().try_for_each(|name| self.detach(name, arm, keep))
    }

    /// Lets go; with `keep` the object stays in the scene where the hand left it, as MoveIt does.
    fn detach(&mut self, id: &str, arm: &ArmState, keep: bool) -> Result<()> {
        let (link, shapes) = self.world.detach(id)?;
        if keep && let Some(base_from_object) = self.link_pose(&link, arm) {
            let object = RelativeObject { base_from_object, shapes };
            self.world.set_object(id, object.placed())?;
            self.objects.insert(id.to_owned(), Arc::new(object));
        }
        Ok(())
    }

    /// A matrix that is not empty replaces the one before, as MoveIt does. Pairs that touch by design stay allowed.
    fn apply_allowed(&mut self, matrix: &moveit::AllowedCollisionMatrix) -> Result<()> {
        let count = matrix.entry_names.len();
        let square = matrix.entry_values.len() == count
            && matrix.entry_values.iter().all(|row| row.enabled.len() == count);
        if !square || matrix.default_entry_names.len() != matrix.default_entry_values.len() {
            return Err(MoveGroupError::Object {
                object: "allowed_collision_matrix".to_owned(),
                reason: "names and values do not have the same length".to_owned(),
            });
        }
        if count == 0 && matrix.default_entry_names.is_empty() {
            return Ok(());
        }
        self.world.clear_allowed();
        for (name, allowed) in matrix.default_entry_names.iter().zip(&matrix.default_entry_values) {
            self.world.allow_by_default(name, *allowed);
        }
        for (a, row) in matrix.entry_names.iter().zip(&matrix.entry_values) {
            for (b, allowed) in matrix.entry_names.iter().zip(&row.enabled) {
                self.world.allow(a, b, *allowed);
            }
        }
        Ok(())
    }

    fn link_pose(&self, link: &str, arm: &ArmState) -> Option<Isometry3<f64>> {
        let model = self.world.model();
        let index = model.link_index(link)?;
        model.link_poses(&arm.joints, arm.drive).ok()?.get(index).copied()
    }

    /// Pose of a frame: the base (also as an empty name or `world`) or any link of the robot.
    pub(super) fn base_from_frame(&self, frame: &str, arm: &ArmState) -> Result<Isometry3<f64>> {
        let frame = frame.trim_start_matches('/');
        if frame.is_empty() || frame == "world" || frame == self.world.model().group().base {
            return Ok(Isometry3::identity());
        }
        self.link_pose(frame, arm).ok_or_else(|| MoveGroupError::UnknownFrame { frame: frame.to_owned() })
    }
}

fn moved(target_from_source: &Isometry3<f64>, shapes: &[Placed]) -> Vec<Placed> {
    shapes
        .iter()
        .map(|placed| Placed {
            frame_from_shape: target_from_source * placed.frame_from_shape,
            shape: placed.shape.clone(),
        })
        .collect()
}

/// Pose of an object or shape; an orientation of all zeros is none, as MoveIt takes it.
fn object_pose(pose: &Pose) -> Result<Isometry3<f64>> {
    let q = &pose.orientation;
    let mut pose = pose.clone();
    if [q.x, q.y, q.z, q.w] == [0.0; 4] {
        pose.orientation.w = 1.0;
    }
    pose_from_msg(&pose).map_err(|error| MoveGroupError::Message { what: "object pose", error })
}

fn shapes_of(object: &moveit::CollisionObject) -> Result<Vec<Placed>> {
    let bad = |reason: String| MoveGroupError::Object { object: object.id.clone(), reason };
    if !object.planes.is_empty() {
        return Err(MoveGroupError::Unsupported { what: "a plane as collision object" });
    }
    let mut shapes = Vec::with_capacity(object.primitives.len() + object.meshes.len());
    let pairs = [
        (object.primitives.len(), object.primitive_poses.len(), "primitives"),
        (object.meshes.len(), object.mesh_poses.len(), "meshes"),
    ];
    for (count, poses, what) in pairs {
        // As MoveIt: one shape without a pose stands at the object's pose.
        if poses != count && !(count == 1 && poses == 0) {
            return Err(bad(format!("{count} {what} with {poses} poses")));
        }
    }
    let pose_at =
        |poses: &[Pose], index: usize| poses.get(index).map_or(Ok(Isometry3::identity()), object_pose);
    for (index, primitive) in object.primitives.iter().enumerate() {
        let frame_from_shape = pose_at(&object.primitive_poses, index)?;
        shapes.push(Placed { frame_from_shape, shape: primitive_shape(primitive).map_err(&bad)? });
    }
    for (index, mesh) in object.meshes.iter().enumerate() {
        let frame_from_shape = pose_at(&object.mesh_poses, index)?;
        shapes.push(Placed { frame_from_shape, shape: mesh_shape(mesh).map_err(&bad)? });
    }
    Ok(shapes)
}

fn primitive_shape(primitive: &SolidPrimitive) -> std::result::Result<Shape, String> {
    let d = primitive.dimensions.as_slice();
    let shape = match (primitive.type_, d) {
        (SolidPrimitive::BOX, [x, y, z]) => Shape::Box { half: Vector3::new(*x, *y, *z) / 2.0 },
        (SolidPrimitive::SPHERE, [radius]) => Shape::Sphere { radius: *radius },
        // A cone is covered by the cylinder around it.
        (SolidPrimitive::CYLINDER | SolidPrimitive::CONE, [height, radius]) => {
            Shape::Cylinder { radius: *radius, half_length: height / 2.0 }
        }
        (kind, d) => return Err(format!("a primitive of type {kind} with {} dimensions", d.len())),
    };
    if shape.is_valid() { Ok(shape) } else { Err("a dimension is not positive".to_owned()) }
}

fn mesh_shape(mesh: &Mesh) -> std::result::Result<Shape, String> {
    let triangle = |indices: &[u32]| <[u32; 3]>::try_from(indices).ok();
    let shape = Shape::Mesh {
        vertices: mesh.vertices.iter().map(|point| Point3::new(point.x, point.y, point.z)).collect(),
        triangles: mesh
            .triangles
            .iter()
            .map(|one| triangle(&one.vertex_indices).ok_or("a triangle without three corners"))
            .collect::<std::result::Result<_, _>>()?,
    };
    if shape.is_valid() { Ok(shape) } else { Err("the mesh is empty or its indices are wrong".to_owned()) }
}
