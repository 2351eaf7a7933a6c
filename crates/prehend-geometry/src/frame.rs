//! Boxes with a pose.

use nalgebra::{Isometry3, Point3, Vector3};
use serde::{Deserialize, Serialize};

/// A box with a pose, upright (rotated about z only) when it comes from a cloud on a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrientedBox {
    /// Pose of the centre: `frame_from_box`.
    pub pose: Isometry3<f64>,
    /// Full lengths along the box's own x, y and z, metres.
    pub size: Vector3<f64>,
}

impl OrientedBox {
    /// Whether a point of the outer frame is inside the box grown by `margin` metres on every side.
    #[inline]
    pub fn contains(&self, point: &Point3<f64>, margin: f64) -> bool {
        let local = self.pose.inverse_transform_point(point);
        (0..3).all(|axis| local[axis].abs() <= self.size[axis] / 2.0 + margin)
    }

    /// Height of the top above the outer frame's origin, metres (upright boxes).
    pub fn top(&self) -> f64 {
        self.pose.translation.z + self.size.z / 2.0
    }

    /// Volume, cubic metres.
    pub fn volume(&self) -> f64 {
        self.size.product()
    }
}
