//! Bodies as sets of convex parts: the one source of both colliders and what the camera sees.

use crate::scene::Color;
use nalgebra::{Isometry3, Vector3};
use std::sync::Arc;

pub(crate) mod collider;
mod hollow;
mod mesh;
mod object;

pub use mesh::TriangleMesh;
pub use object::object_parts;

/// A convex piece of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexPart {
    /// Shape, in the part's frame.
    pub shape: PartShape,
    /// `body_from_part`.
    pub body_from_part: Isometry3<f64>,
    /// Colour.
    pub color: Color,
    /// Seen by the camera but not felt (a label on a can).
    pub only_seen: bool,
    /// The part of the thing that it belongs to, where that has a name.
    pub region: Option<PartName>,
}

/// The name of a part of a thing, such as the handle of a mug: what a detector of parts tells apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartName {
    /// Unique within its body.
    pub name: Arc<str>,
    /// What it is: "handle", "knob", "button", "lever", "key".
    pub class: Arc<str>,
}

impl PartName {
    /// A part whose name is its class.
    pub(crate) fn named(class: &str) -> Self {
        Self { name: class.into(), class: class.into() }
    }
}

/// A convex shape centred on its frame; axes of revolution are z.
#[derive(Clone, Debug, PartialEq)]
pub enum PartShape {
    /// A box by half its lengths, metres.
    Box {
        /// Half lengths along x, y, z.
        half: Vector3<f64>,
    },
    /// A cylinder about z.
    Cylinder {
        /// Radius, metres.
        radius: f64,
        /// Half the height, metres.
        half_height: f64,
    },
    /// A ball.
    Sphere {
        /// Radius, metres.
        radius: f64,
    },
    /// A capsule about z.
    Capsule {
        /// Radius, metres.
        radius: f64,
        /// Half the length of the straight middle, metres.
        half_height: f64,
    },
    /// The convex hull of points, with its faces.
    Hull(TriangleMesh),
}

/// Whose part something is: what a label image would tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// The floor below everything.
    Floor,
    /// The table.
    Table,
    /// A piece of furniture, by index in the scene.
    Furniture(usize),
    /// The robot: arm links, hand and fingers, by body index.
    Robot(usize),
    /// An object, by index in [`PlacedScene::objects`](crate::PlacedScene), or behind those a link with a class of its
    /// own, by index in [`World::entities`](crate::World::entities).
    Object(usize),
}

/// One drawable piece: constant over time; only the body's pose changes.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderItem {
    /// Whose it is.
    pub owner: Owner,
    /// Index of the body in [`Frame::base_from_body`].
    pub body: usize,
    /// The part, with its mesh by [`PartShape::mesh`].
    pub part: ConvexPart,
}

/// Everything that moves, at one instant; with the world's [`RenderItem`]s this is a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Simulated time, seconds.
    pub time: f64,
    /// `base_from_body` of every body, by [`RenderItem::body`].
    pub base_from_body: Vec<Isometry3<f64>>,
    /// `base_from_camera` of the wrist camera's optical frame (x right, y down, z forward).
    pub base_from_camera: Isometry3<f64>,
}

impl ConvexPart {
    pub(crate) fn new(shape: PartShape, body_from_part: Isometry3<f64>, color: Color) -> Self {
        Self { shape, body_from_part, color, only_seen: false, region: None }
    }

    pub(crate) fn in_region(self, region: Option<PartName>) -> Self {
        Self { region, ..self }
    }
}

/// Shorthand for a pose without rotation.
pub(crate) fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}
