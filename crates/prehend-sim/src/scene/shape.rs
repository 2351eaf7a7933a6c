//! Shapes and their sizes.

use serde::{Deserialize, Serialize};

/// A shape with its full sizes in metres. Its frame has z up and its origin at the centre of the bounding cylinder
/// or box, so a standing object of height h has its origin h / 2 above its support.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A solid box.
    Box {
        /// Full lengths along x, y, z.
        size: [f64; 3],
    },
    /// A solid cylinder with vertical axis.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Height.
        height: f64,
    },
    /// A closed can: a cylinder whose lid and bottom have the second colour.
    Can {
        /// Radius.
        radius: f64,
        /// Height.
        height: f64,
    },
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A capsule with vertical axis.
    Capsule {
        /// Radius.
        radius: f64,
        /// Full height with both caps, at least twice the radius.
        height: f64,
    },
    /// An egg, carrot or pear: a solid of revolution that is thicker below.
    Egg {
        /// Largest radius.
        radius: f64,
        /// Height.
        height: f64,
    },
    /// An open cup with a handle on its +x side.
    Mug {
        /// Outer radius, without the handle.
        radius: f64,
        /// Height.
        height: f64,
        /// Wall thickness.
        wall: f64,
        /// How far the handle reaches beyond the wall; 0 is a cup without handle.
        handle: f64,
    },
    /// An open bowl, wider at the rim than at the foot.
    Bowl {
        /// Outer radius at the rim.
        radius: f64,
        /// Outer radius at the foot.
        foot: f64,
        /// Height.
        height: f64,
        /// Wall thickness.
        wall: f64,
    },
    /// A flat plate with a raised rim.
    Plate {
        /// Outer radius at the rim.
        radius: f64,
        /// Radius of the flat middle's underside.
        foot: f64,
        /// Height of the rim.
        height: f64,
        /// Thickness.
        wall: f64,
    },
    /// A bowl-like pan with a straight handle on its +x side.
    Pan {
        /// Outer radius at the rim.
        radius: f64,
        /// Height.
        height: f64,
        /// Wall thickness.
        wall: f64,
        /// Length of the handle.
        handle: f64,
    },
    /// A closed bottle: body, shoulder and neck.
    Bottle {
        /// Radius of the body.
        radius: f64,
        /// Full height.
        height: f64,
        /// Radius of the neck.
        neck_radius: f64,
        /// Height of the neck.
        neck_height: f64,
    },
    /// An open box: tray, crate, basket, bin.
    Tray {
        /// Full outer lengths along x, y, z.
        size: [f64; 3],
        /// Wall and floor thickness.
        wall: f64,
    },
}

/// The hollow of a container, for placing things in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hollow {
    /// Half the inner width along x and y, metres, at the rim.
    pub half: [f64; 2],
    /// Height of the inner floor above the origin, metres.
    pub floor: f64,
}

impl Shape {
    /// The shape's word in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::Can { .. } => "can",
            Self::Sphere { .. } => "sphere",
            Self::Capsule { .. } => "capsule",
            Self::Egg { .. } => "egg",
            Self::Mug { .. } => "mug",
            Self::Bowl { .. } => "bowl",
            Self::Plate { .. } => "plate",
            Self::Pan { .. } => "pan",
            Self::Bottle { .. } => "bottle",
            Self::Tray { .. } => "tray",
        }
    }

    /// Half the lengths of the body along its own x, y, z, without handles, metres.
    pub fn half_extents(&self) -> nalgebra::Vector3<f64> {
        let round = |radius: f64, height: f64| nalgebra::Vector3::new(radius, radius, height / 2.0);
        match *self {
            Self::Box { size } | Self::Tray { size, .. } => nalgebra::Vector3::from(size) / 2.0,
            Self::Sphere { radius } => round(radius, 2.0 * radius),
            Self::Cylinder { radius, height }
            | Self::Can { radius, height }
            | Self::Capsule { radius, height }
            | Self::Egg { radius, height }
            | Self::Mug { radius, height, .. }
            | Self::Bowl { radius, height, .. }
            | Self::Plate { radius, height, .. }
            | Self::Pan { radius, height, .. }
            | Self::Bottle { radius, height, .. } => round(radius, height),
        }
    }

    /// The hollow that other things can lie in, if there is one.
    pub fn hollow(&self) -> Option<Hollow> {
        match *self {
            Self::Mug { radius, height, wall, .. }
            | Self::Bowl { radius, height, wall, .. }
            | Self::Plate { radius, height, wall, .. }
            | Self::Pan { radius, height, wall, .. } => {
                Some(Hollow { half: [radius - wall; 2], floor: wall - height / 2.0 })
            }
            Self::Tray { size, wall } => Some(Hollow {
                half: [size[0] / 2.0 - wall, size[1] / 2.0 - wall],
                floor: wall - size[2] / 2.0,
            }),
            Self::Box { .. }
            | Self::Cylinder { .. }
            | Self::Can { .. }
            | Self::Sphere { .. }
            | Self::Capsule { .. }
            | Self::Egg { .. }
            | Self::Bottle { .. } => None,
        }
    }

    /// Whether it covers a disc when upright (handles apart).
    pub fn is_round(&self) -> bool {
        match self {
            Self::Box { .. } | Self::Tray { .. } => false,
            // Handles reach out on one side: a rectangle is nearer to the truth than the disc around them.
            Self::Mug { handle, .. } | Self::Pan { handle, .. } => *handle <= 0.0,
            Self::Cylinder { .. }
            | Self::Can { .. }
            | Self::Sphere { .. }
            | Self::Capsule { .. }
            | Self::Egg { .. }
            | Self::Bowl { .. }
            | Self::Plate { .. }
            | Self::Bottle { .. } => true,
        }
    }
}
