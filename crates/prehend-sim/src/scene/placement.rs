//! Where an object starts, as the scene file has it.

use nalgebra::Isometry3;
use serde::Serialize;

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
        /// Name of the other object; in a drawer or the like of it, `NAME/LINK`.
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
