//! Shapes of links, of objects in the way and of what the gripper holds.

use nalgebra::{Point3, Vector3};

/// A solid in its own frame, centred at its origin.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box.
    Box {
        /// Half of each side, m, all positive.
        half: Vector3<f64>,
    },
    /// A cylinder whose axis is z.
    Cylinder {
        /// Radius, m, positive.
        radius: f64,
        /// Half of the length along z, m, positive.
        half_length: f64,
    },
    /// A ball.
    Sphere {
        /// Radius, m, positive.
        radius: f64,
    },
    /// A triangle surface (hollow: something wholly inside does not touch it).
    Mesh {
        /// Corners.
        vertices: Vec<Point3<f64>>,
        /// Three indices into `vertices` for each triangle.
        triangles: Vec<[u32; 3]>,
    },
}

impl Shape {
    /// Whether every number is finite, every size positive and every index inside.
    pub fn is_valid(&self) -> bool {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        match self {
            Shape::Box { half } => half.iter().all(|value| positive(*value)),
            Shape::Cylinder { radius, half_length } => positive(*radius) && positive(*half_length),
            Shape::Sphere { radius } => positive(*radius),
            Shape::Mesh { vertices, triangles } => {
                !triangles.is_empty()
                    && vertices.iter().all(|vertex| vertex.iter().all(|value| value.is_finite()))
                    && triangles.iter().flatten().all(|index| (*index as usize) < vertices.len())
            }
        }
    }

    /// Radius of the smallest ball around the origin that holds the shape, m.
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Shape::Box { half } => half.norm(),
            Shape::Cylinder { radius, half_length } => radius.hypot(*half_length),
            Shape::Sphere { radius } => *radius,
            Shape::Mesh { vertices, .. } => {
                vertices.iter().map(|vertex| vertex.coords.norm()).fold(0.0, f64::max)
            }
        }
    }
}
