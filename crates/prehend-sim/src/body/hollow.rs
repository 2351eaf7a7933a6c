//! Hollow things as convex walls, so that other things lie in them and their rims can be pinched.

use super::{ConvexPart, PartShape, TriangleMesh, at};
use crate::scene::Color;
use nalgebra::{Isometry3, Point3, Vector3};

/// Segments of a round wall: a 24-gon deviates by 0.9 % of its radius from the circle.
const SEGMENTS: usize = 24;

/// A ring of a wall: outer and inner radius at a height.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    pub(super) outer: f64,
    pub(super) inner: f64,
    pub(super) z: f64,
}

/// Wall pieces between consecutive rings, from the bottom up.
pub(super) fn round_wall(rings: &[Ring], outside: Color) -> Vec<ConvexPart> {
    let mut parts = Vec::new();
    for pair in rings.windows(2) {
        for k in 0..SEGMENTS {
            let corner = |radius: f64, step: usize, z: f64| {
                let angle = std::f64::consts::TAU * step as f64 / SEGMENTS as f64;
                Point3::new(radius * angle.cos(), radius * angle.sin(), z)
            };
            let level = |ring: &Ring| {
                [
                    corner(ring.inner, k, ring.z),
                    corner(ring.outer, k, ring.z),
                    corner(ring.outer, k + 1, ring.z),
                    corner(ring.inner, k + 1, ring.z),
                ]
            };
            let mesh = TriangleMesh::hexahedron(level(&pair[0]), level(&pair[1]));
            // Hulls are centred on themselves: f32 physics keeps more digits near its origin.
            parts.push(centred(mesh, outside));
        }
    }
    parts
}

/// A part whose frame is at the mean of the mesh's vertices.
fn centred(mut mesh: TriangleMesh, color: Color) -> ConvexPart {
    let count = mesh.vertices.len().max(1) as f64;
    let mean: Vector3<f64> = mesh.vertices.iter().map(|vertex| vertex.coords).sum::<Vector3<f64>>() / count;
    for vertex in &mut mesh.vertices {
        *vertex -= mean;
    }
    ConvexPart::new(PartShape::Hull(mesh), Isometry3::translation(mean.x, mean.y, mean.z), color)
}

/// Floor and four walls of an open box of full outer `size`, centred.
pub(super) fn open_box(size: [f64; 3], wall: f64, outside: Color, inside: Color) -> Vec<ConvexPart> {
    let [x, y, z] = size.map(|length| length / 2.0);
    let half = wall / 2.0;
    let solid = |hx: f64, hy: f64, hz: f64, pose, color| {
        ConvexPart::new(PartShape::Box { half: Vector3::new(hx, hy, hz) }, pose, color)
    };
    let (side, lift) = (z - half, half);
    vec![
        solid(x, y, half, at(0.0, 0.0, half - z), inside),
        solid(x, half, side, at(0.0, y - half, lift), outside),
        solid(x, half, side, at(0.0, half - y, lift), outside),
        solid(half, y - wall, side, at(x - half, 0.0, lift), outside),
        solid(half, y - wall, side, at(half - x, 0.0, lift), outside),
    ]
}
