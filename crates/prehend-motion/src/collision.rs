//! What the arm must not touch: objects in the scene, what the gripper holds, and the arm itself; and where its tip must stay.

use crate::ik::is_finite;
use crate::{Fence, RobotModel, Shape};
use nalgebra::Isometry3;
use parry3d::bounding_volume::Aabb;
use parry3d::math::{Pose, Rot3, Vector};
use parry3d::partitioning::{Bvh, BvhBuildStrategy};
use parry3d::shape::SharedShape;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A shape with its place in a frame that the context names.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Pose of the shape in the frame.
    pub frame_from_shape: Isometry3<f64>,
    /// The solid.
    pub shape: Shape,
}

/// Two things that touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The link of the robot, or the name of a held object.
    pub link: String,
    /// The object of the scene, the held object, or another link.
    pub object: String,
    /// How deep one is in the other, m; 0 when it cannot be told (surfaces without inside).
    pub depth: f64,
}

impl std::fmt::Display for Contact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` touches `{}` ({:.1} mm deep)", self.link, self.object, self.depth * 1e3)
    }
}

/// Why a scene cannot be changed as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// A shape has a size that is not positive and finite, or the object has no shape.
    #[error("object `{object}` has no usable shape")]
    BadShape {
        /// The object.
        object: String,
    },
    /// A pose is not finite.
    #[error("a pose of object `{object}` is not finite")]
    BadPose {
        /// The object.
        object: String,
    },
    /// There is no object of this name.
    #[error("no object `{object}` in the scene")]
    UnknownObject {
        /// The object.
        object: String,
    },
    /// There is no link of this name.
    #[error("the robot has no link `{link}`")]
    UnknownLink {
        /// The link.
        link: String,
    },
}

/// An object of the scene, ready for queries.
pub(crate) struct SceneObject {
    pub(crate) source: Vec<Placed>,
    pub(crate) shapes: Vec<(Pose, SharedShape)>,
    pub(crate) bvh: Bvh,
    pub(crate) bounds: Aabb,
}

/// A convex piece that moves with a link: of the link itself or of something it holds.
#[derive(Clone)]
pub(crate) struct Body {
    pub(crate) name: String,
    pub(crate) link: usize,
    pub(crate) link_from_shape: Pose,
    pub(crate) shape: SharedShape,
    /// Radius of the ball around the shape's origin that holds it.
    pub(crate) radius: f32,
    /// Whether anything moves it (the base stands where it stands and is not checked against the scene).
    pub(crate) moves: bool,
}

/// Something held.
pub(crate) struct Attached {
    pub(crate) link: usize,
    pub(crate) source: Vec<Placed>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) touch_links: HashSet<String>,
}

/// The scene as far as clients described it, with the robot in it.
///
/// Frames: the robot's base. Cheap to clone for a what-if (shapes are shared). Queries are in `collision_check.rs`.
#[derive(Clone)]
pub struct CollisionWorld {
    pub(crate) model: Arc<RobotModel>,
    pub(crate) drive: f64,
    pub(crate) bodies: Vec<Body>,
    /// Pairs of `bodies` that are checked against each other.
    pub(crate) self_pairs: Vec<(u32, u32)>,
    pub(crate) objects: BTreeMap<String, Arc<SceneObject>>,
    pub(crate) attached: BTreeMap<String, Arc<Attached>>,
    pub(crate) fence: Option<Fence>,
    allowed: HashMap<String, HashMap<String, bool>>,
    allowed_default: HashMap<String, bool>,
}

impl CollisionWorld {
    /// An empty scene around the robot; every link is grown by `padding` (m, not negative) against the scene.
    pub fn new(model: Arc<RobotModel>, padding: f64) -> Self {
        let padding = if padding.is_finite() { padding.max(0.0) } else { 0.0 };
        let mut bodies = Vec::new();
        let mut bare = Vec::new();
        for (index, link) in model.links().iter().enumerate() {
            for one in &link.shapes {
                let (turn, shape) = to_parry(&one.shape, padding);
                bodies.push(Body {
                    name: link.name.clone(),
                    link: index,
                    link_from_shape: pose32(&one.link_from_shape) * turn,
                    shape,
                    radius: (one.shape.bounding_radius() + 2.0 * padding) as f32,
                    moves: model.moves(index),
                });
                bare.push(index);
            }
        }
        // Neighbours on the chain touch by design; so do links that are rigid to each other or the two fingers.
        let mut self_pairs = Vec::new();
        for (i, a) in bare.iter().enumerate() {
            for (j, b) in bare.iter().enumerate().skip(i + 1) {
                if !model.are_neighbours(*a, *b) {
                    self_pairs.push((i as u32, j as u32));
                }
            }
        }
        Self {
            model,
            drive: 0.0,
            bodies,
            self_pairs,
            objects: BTreeMap::new(),
            attached: BTreeMap::new(),
            fence: None,
            allowed: HashMap::new(),
            allowed_default: HashMap::new(),
        }
    }

    /// The robot.
    pub fn model(&self) -> &Arc<RobotModel> {
        &self.model
    }

    /// Where the fingers stand: value of the drive joint, rad. Not finite values are ignored.
    pub fn set_drive(&mut self, drive: f64) {
        if drive.is_finite() {
            self.drive = drive;
        }
    }

    /// Where the fingers stand: value of the drive joint, rad.
    pub fn drive(&self) -> f64 {
        self.drive
    }

    /// What the tip must stay in; `None` lets it go anywhere.
    pub fn set_fence(&mut self, fence: Option<Fence>) {
        self.fence = fence;
    }

    /// What the tip must stay in.
    pub fn fence(&self) -> Option<Fence> {
        self.fence
    }

    /// Adds an object, or replaces the one of that name. Shapes are placed in the base frame.
    ///
    /// Errors: [`SceneError::BadShape`] (also for no shape), [`SceneError::BadPose`].
    pub fn set_object(&mut self, name: &str, shapes: Vec<Placed>) -> Result<(), SceneError> {
        let object = scene_object(name, shapes)?;
        self.objects.insert(name.to_owned(), Arc::new(object));
        Ok(())
    }

    /// Removes an object.
    ///
    /// Errors: [`SceneError::UnknownObject`].
    pub fn remove_object(&mut self, name: &str) -> Result<(), SceneError> {
        let gone = self.objects.remove(name);
        gone.map(|_| ()).ok_or_else(|| SceneError::UnknownObject { object: name.to_owned() })
    }

    /// Removes every object of the scene (what is held stays).
    pub fn clear_objects(&mut self) {
        self.objects.clear();
    }

    /// Names of the objects of the scene.
    pub fn object_names(&self) -> impl Iterator<Item = &str> {
        self.objects.keys().map(String::as_str)
    }

    /// Shapes of an object in the base frame.
    pub fn object(&self, name: &str) -> Option<&[Placed]> {
        self.objects.get(name).map(|object| object.source.as_slice())
    }

    /// Names of what is held.
    pub fn attached_names(&self) -> impl Iterator<Item = &str> {
        self.attached.keys().map(String::as_str)
    }

    /// Shapes of a held object with the link that holds it and their places in that link's frame.
    pub fn attached(&self, name: &str) -> Option<(&str, &[Placed])> {
        let attached = self.attached.get(name)?;
        Some((self.model.links()[attached.link].name.as_str(), attached.source.as_slice()))
    }

    /// Fixes shapes to a link: from now on they move with it, may touch `touch_links`, and nothing else.
    ///
    /// Shapes are placed in the link's frame. An object of the scene of the same name is removed.
    /// Errors: [`SceneError::UnknownLink`], [`SceneError::BadShape`], [`SceneError::BadPose`].
    pub fn attach(
        &mut self,
        name: &str,
        link: &str,
        shapes: Vec<Placed>,
        touch_links: &[String],
    ) -> Result<(), SceneError> {
        let index =
            self.model.link_index(link).ok_or_else(|| SceneError::UnknownLink { link: link.to_owned() })?;
        check_shapes(name, &shapes)?;
        let bodies = shapes
            .iter()
            .map(|placed| {
                let (turn, shape) = to_parry(&placed.shape, 0.0);
                Body {
                    name: name.to_owned(),
                    link: index,
                    link_from_shape: pose32(&placed.frame_from_shape) * turn,
                    shape,
                    radius: placed.shape.bounding_radius() as f32,
                    moves: true,
                }
            })
            .collect();
        let mut touch_links: HashSet<String> = touch_links.iter().cloned().collect();
        touch_links.insert(link.to_owned());
        self.objects.remove(name);
        self.attached
            .insert(name.to_owned(), Arc::new(Attached { link: index, source: shapes, bodies, touch_links }));
        Ok(())
    }

    /// Lets go of a held object; gives back its link and its shapes in the link's frame.
    ///
    /// Errors: [`SceneError::UnknownObject`].
    pub fn detach(&mut self, name: &str) -> Result<(String, Vec<Placed>), SceneError> {
        let attached = self.attached.remove(name);
        let attached = attached.ok_or_else(|| SceneError::UnknownObject { object: name.to_owned() })?;
        Ok((self.model.links()[attached.link].name.clone(), attached.source.clone()))
    }

    /// Says whether two named things (links, objects, held objects) may touch.
    pub fn allow(&mut self, a: &str, b: &str, allowed: bool) {
        for (a, b) in [(a, b), (b, a)] {
            self.allowed.entry(a.to_owned()).or_default().insert(b.to_owned(), allowed);
        }
    }

    /// Says whether a named thing may touch everything it has no entry of its own with.
    pub fn allow_by_default(&mut self, name: &str, allowed: bool) {
        self.allowed_default.insert(name.to_owned(), allowed);
    }

    /// Forgets all entries of [`CollisionWorld::allow`] and [`CollisionWorld::allow_by_default`].
    pub fn clear_allowed(&mut self) {
        self.allowed.clear();
        self.allowed_default.clear();
    }

    /// Whether two named things may touch.
    pub fn is_allowed(&self, a: &str, b: &str) -> bool {
        if self.allowed.is_empty() && self.allowed_default.is_empty() {
            return false;
        }
        match self.allowed.get(a).and_then(|row| row.get(b)) {
            Some(allowed) => *allowed,
            None => {
                let default = |name| self.allowed_default.get(name).copied();
                default(a).or(default(b)).unwrap_or(false)
            }
        }
    }
}

fn check_shapes(name: &str, shapes: &[Placed]) -> Result<(), SceneError> {
    if shapes.is_empty() || shapes.iter().any(|placed| !placed.shape.is_valid()) {
        return Err(SceneError::BadShape { object: name.to_owned() });
    }
    if shapes.iter().any(|placed| !is_finite(&placed.frame_from_shape)) {
        return Err(SceneError::BadPose { object: name.to_owned() });
    }
    Ok(())
}

fn scene_object(name: &str, source: Vec<Placed>) -> Result<SceneObject, SceneError> {
    check_shapes(name, &source)?;
    let shapes: Vec<_> = source
        .iter()
        .map(|placed| {
            let (turn, shape) = to_parry(&placed.shape, 0.0);
            (pose32(&placed.frame_from_shape) * turn, shape)
        })
        .collect();
    let boxes: Vec<Aabb> = shapes.iter().map(|(pose, shape)| shape.compute_aabb(pose)).collect();
    let bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let bounds = bvh.root_aabb();
    Ok(SceneObject { source, shapes, bvh, bounds })
}

pub(crate) fn pose32(pose: &Isometry3<f64>) -> Pose {
    let (t, r) = (pose.translation.vector, pose.rotation.coords);
    Pose::from_parts(
        Vector::new(t.x as f32, t.y as f32, t.z as f32),
        Rot3::from_xyzw(r.x as f32, r.y as f32, r.z as f32, r.w as f32).normalize(),
    )
}

/// The shape grown by `padding`, and the turn that takes the collision library's cylinder axis (y) to ours (z).
fn to_parry(shape: &Shape, padding: f64) -> (Pose, SharedShape) {
    let grown = |value: f64| (value + padding) as f32;
    match shape {
        Shape::Box { half } => {
            (Pose::IDENTITY, SharedShape::cuboid(grown(half.x), grown(half.y), grown(half.z)))
        }
        Shape::Cylinder { radius, half_length } => (
            Pose::from_rotation(Rot3::from_rotation_x(std::f32::consts::FRAC_PI_2)),
            SharedShape::cylinder(grown(*half_length), grown(*radius)),
        ),
        Shape::Sphere { radius } => (Pose::IDENTITY, SharedShape::ball(grown(*radius))),
        Shape::Mesh { vertices, triangles } => {
            let points = vertices.iter().map(|p| Vector::new(p.x as f32, p.y as f32, p.z as f32)).collect();
            match SharedShape::trimesh(points, triangles.clone()) {
                Ok(mesh) => (Pose::IDENTITY, mesh),
                // Cannot be meshed (checked to be non-empty before): stand in with the ball around it.
                Err(_) => (Pose::IDENTITY, SharedShape::ball(grown(shape.bounding_radius().max(1e-3)))),
            }
        }
    }
}
