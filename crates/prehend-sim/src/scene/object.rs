//! An object as the scene file has it.

use super::read::Template;
use super::{Color, Model, Shape};
use crate::body::{Part, object_parts};
use nalgebra::Isometry3;
use serde::Serialize;
use std::sync::Arc;

/// Friction coefficient of things that name none. Two surfaces rub with the smaller of theirs.
pub const DEFAULT_FRICTION: f64 = 0.7;
/// Density of things that name no mass, of the solid volume, in kg per cubic metre.
pub const DEFAULT_DENSITY: f64 = 600.0;

/// One object of a scene file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectSpec {
    /// Unique name; the judge's word for it, never seen by the robot.
    pub name: String,
    /// Class: any noun, lower case, spaces allowed; what the detector calls it.
    pub class: String,
    /// Shape with its sizes.
    pub shape: Shape,
    /// Colour.
    pub color: Color,
    /// The colour word of the scene file, when a word was used (for drawing up goals).
    pub color_name: Option<String>,
    /// Second colour: handle, label, inside or lid, by shape.
    pub second_color: Option<Color>,
    /// Mass, kg.
    pub mass: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Restitution, [0, 1].
    pub restitution: f64,
    /// Does not move.
    pub fixed: bool,
    /// Where it is, or where it may be.
    pub placement: Placement,
    /// Its links and joints, when it has some; `shape` then stands for its root link.
    pub model: Option<Box<Model>>,
    /// What its sizes are drawn from, when they are random.
    #[serde(skip)]
    pub(super) template: Option<Arc<Template>>,
}

impl ObjectSpec {
    /// Its parts in its own frame, joints where they start.
    pub fn parts(&self) -> Vec<Part> {
        match &self.model {
            Some(model) => model.parts(),
            None => object_parts(&self.shape, self.color, self.second_color),
        }
    }

    /// `object_from_shape`: where the centre of `shape` is in the object's frame.
    pub fn object_from_shape(&self) -> Isometry3<f64> {
        let root = self.model.as_ref().and_then(|model| model.links.first());
        root.map_or_else(Isometry3::identity, |link| link.link_from_shape)
    }
}

/// Where an object starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Placement {
    /// Exactly here: `base_from_object`.
    Pose(Isometry3<f64>),
    /// Standing at this place of its support, metres in `link_base`, rotated about z.
    Standing {
        /// x, metres.
        x: f64,
        /// y, metres.
        y: f64,
        /// Rotation about z, radians; `None` is drawn.
        yaw: Option<f64>,
        /// Lying on its side instead of upright.
        lying: bool,
    },
    /// Somewhere in a rectangle of the table, without overlap and within reach.
    Region {
        /// Range of x, metres.
        x: [f64; 2],
        /// Range of y, metres.
        y: [f64; 2],
        /// Rotation about z, radians; `None` is drawn.
        yaw: Option<f64>,
        /// Lying on its side instead of upright.
        lying: bool,
    },
    /// Somewhere on another object, in a rectangle of its own frame, without overlap.
    Surface {
        /// Name of the other object.
        by: String,
        /// Range of x in the other's frame, metres.
        x: [f64; 2],
        /// Range of y in the other's frame, metres.
        y: [f64; 2],
        /// Height in the other's frame from which it is lowered, metres, such as that between two boards of a shelf; `None` is
        /// above everything.
        z: Option<f64>,
        /// Rotation about z, radians; `None` is drawn.
        yaw: Option<f64>,
        /// Lying on its side instead of upright.
        lying: bool,
    },
    /// On or in another object.
    Supported {
        /// Name of the other object.
        by: String,
        /// On its top or inside it.
        support: Support,
        /// Offset from its centre along the base's x and y, metres; `None` takes the lowest free place.
        offset: Option<[f64; 2]>,
        /// Rotation about z, radians; `None` is drawn.
        yaw: Option<f64>,
        /// Lying on its side instead of upright.
        lying: bool,
    },
}

/// How one object carries another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Support {
    /// On its top.
    On,
    /// In its hollow.
    In,
}
