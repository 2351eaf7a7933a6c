//! What does not move: the table and the furniture.

use super::Color;
use nalgebra::{Isometry3, Translation3, Vector3};
use serde::Serialize;

/// A table: a box whose top is the working surface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableSpec {
    /// Length along its own x and y, metres.
    pub size: [f64; 2],
    /// Thickness of the top, metres.
    pub thickness: f64,
    /// Height of the top above `link_base`, metres; 0 when the robot stands on the table.
    pub height: f64,
    /// Centre of the top in `link_base`, metres.
    pub center: [f64; 2],
    /// Rotation about z, radians.
    pub yaw: f64,
    /// Colour.
    pub color: Color,
    /// Friction coefficient of the top.
    pub friction: f64,
}

impl TableSpec {
    /// `base_from_top`: the centre of the top, z up.
    pub fn top(&self) -> Isometry3<f64> {
        Isometry3::from_parts(
            Translation3::new(self.center[0], self.center[1], self.height),
            nalgebra::UnitQuaternion::from_euler_angles(0.0, 0.0, self.yaw),
        )
    }

    /// Whether a point in `link_base` is above the top, at least `margin` metres from its edge.
    pub fn holds(&self, x: f64, y: f64, margin: f64) -> bool {
        let local = self.top().inverse_transform_point(&nalgebra::Point3::new(x, y, self.height));
        local.x.abs() <= self.size[0] / 2.0 - margin && local.y.abs() <= self.size[1] / 2.0 - margin
    }
}

/// A fixed box, such as a shelf board or a wall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FurnitureSpec {
    /// Name, unique among furniture.
    pub name: String,
    /// Full lengths, metres.
    pub size: Vector3<f64>,
    /// `base_from_box`, the pose of its centre.
    pub pose: Isometry3<f64>,
    /// Colour.
    pub color: Color,
}
