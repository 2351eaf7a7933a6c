//! Triangles of parts.

use super::PartShape;
use nalgebra::{Point3, Vector3};

/// Segments of a circle in the meshes of round parts.
const SEGMENTS: usize = 28;
/// Rings from pole to pole of a ball.
const RINGS: usize = 14;

/// Triangles, counter-clockwise seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    /// Vertices, metres.
    pub vertices: Vec<Point3<f64>>,
    /// Vertex indices, three a triangle; each below `vertices.len()`.
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// Volume enclosed, cubic metres (divergence theorem; positive when the triangles face outwards).
    pub fn volume(&self) -> f64 {
        let corner = |index: u32| self.vertices[index as usize].coords;
        self.triangles.iter().map(|[a, b, c]| corner(*a).dot(&corner(*b).cross(&corner(*c))) / 6.0).sum()
    }

    /// A solid of revolution about z: `profile` holds (radius, z) from the bottom up; radius 0 at an end is a pole.
    pub(super) fn lathe(profile: &[(f64, f64)], segments: usize) -> Self {
        let mut mesh = Self { vertices: Vec::new(), triangles: Vec::new() };
        let mut rings: Vec<Vec<u32>> = Vec::new();
        for (radius, z) in profile {
            let count = if *radius > 0.0 { segments } else { 1 };
            let ring = (0..count)
                .map(|k| {
                    let angle = std::f64::consts::TAU * k as f64 / segments as f64;
                    mesh.push(Point3::new(radius * angle.cos(), radius * angle.sin(), *z))
                })
                .collect();
            rings.push(ring);
        }
        for pair in rings.windows(2) {
            let (low, high) = (&pair[0], &pair[1]);
            for k in 0..segments {
                let next = (k + 1) % segments;
                match (low.len(), high.len()) {
                    (1, 1) => {}
                    (1, _) => mesh.triangles.push([low[0], high[next], high[k]]),
                    (_, 1) => mesh.triangles.push([low[k], low[next], high[0]]),
                    _ => {
                        mesh.triangles.push([low[k], low[next], high[next]]);
                        mesh.triangles.push([low[k], high[next], high[k]]);
                    }
                }
            }
        }
        // Flat ends.
        if let (Some(first), Some((_, z))) = (rings.first(), profile.first())
            && first.len() > 1
        {
            let center = mesh.push(Point3::new(0.0, 0.0, *z));
            for k in 0..segments {
                mesh.triangles.push([center, first[(k + 1) % segments], first[k]]);
            }
        }
        if let (Some(last), Some((_, z))) = (rings.last(), profile.last())
            && last.len() > 1
        {
            let center = mesh.push(Point3::new(0.0, 0.0, *z));
            for k in 0..segments {
                mesh.triangles.push([center, last[k], last[(k + 1) % segments]]);
            }
        }
        mesh
    }

    /// A prism-like hexahedron: `low` and `high` each counter-clockwise seen from above.
    pub(super) fn hexahedron(low: [Point3<f64>; 4], high: [Point3<f64>; 4]) -> Self {
        let vertices = low.into_iter().chain(high).collect();
        let mut triangles = vec![[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7]];
        for k in 0..4_u32 {
            let next = (k + 1) % 4;
            triangles.push([k, next, 4 + next]);
            triangles.push([k, 4 + next, 4 + k]);
        }
        Self { vertices, triangles }
    }

    fn push(&mut self, vertex: Point3<f64>) -> u32 {
        self.vertices.push(vertex);
        (self.vertices.len() - 1) as u32
    }
}

impl PartShape {
    /// The triangles of the shape, in the part's frame.
    pub fn mesh(&self) -> TriangleMesh {
        match self {
            Self::Box { half } => box_mesh(half),
            Self::Cylinder { radius, half_height } => {
                TriangleMesh::lathe(&[(*radius, -half_height), (*radius, *half_height)], SEGMENTS)
            }
            Self::Sphere { radius } => TriangleMesh::lathe(&capsule_profile(*radius, 0.0), SEGMENTS),
            Self::Capsule { radius, half_height } => {
                TriangleMesh::lathe(&capsule_profile(*radius, *half_height), SEGMENTS)
            }
            Self::Hull(mesh) => mesh.clone(),
        }
    }

    /// Volume, cubic metres.
    pub fn volume(&self) -> f64 {
        use std::f64::consts::PI;
        match self {
            Self::Box { half } => 8.0 * half.x * half.y * half.z,
            Self::Cylinder { radius, half_height } => PI * radius * radius * 2.0 * half_height,
            Self::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
            Self::Capsule { radius, half_height } => {
                4.0 / 3.0 * PI * radius.powi(3) + PI * radius * radius * 2.0 * half_height
            }
            Self::Hull(mesh) => mesh.volume(),
        }
    }
}

fn box_mesh(half: &Vector3<f64>) -> TriangleMesh {
    let corners = |z: f64| {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(sx, sy)| Point3::new(sx * half.x, sy * half.y, z))
    };
    TriangleMesh::hexahedron(corners(-half.z), corners(half.z))
}

fn capsule_profile(radius: f64, half_height: f64) -> Vec<(f64, f64)> {
    (0..=RINGS)
        .flat_map(|ring| {
            let angle = std::f64::consts::PI * ring as f64 / RINGS as f64;
            let r = if ring == 0 || ring == RINGS { 0.0 } else { radius * angle.sin() };
            let z = -radius * angle.cos();
            let shift = if 2 * ring < RINGS { -half_height } else { half_height };
            // The equator of a capsule stands twice: below and above its straight middle.
            let below = (2 * ring == RINGS && half_height > 0.0).then_some((r, z - half_height));
            below.into_iter().chain(std::iter::once((r, z + shift)))
        })
        .collect()
}
