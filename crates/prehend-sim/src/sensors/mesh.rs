//! Closed triangle meshes of what can be seen.

use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::HashMap;

/// Faces that meet at less than this angle (its cosine) are drawn as one smooth surface: above the 22.5 degrees of a
/// 16-sided wall, below the 60 degrees of a hexagonal prism.
const CREASE_COSINE: f32 = 0.78;

/// Segments of a full turn of curved shapes.
const TURN: u32 = 32;

/// A mesh of triangles that turn counter-clockwise when seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners with their unit normals, item frame, metres.
    pub(super) corners: Vec<Corner>,
    /// Indices into `corners`, three a triangle.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Centre of the bounding sphere, item frame.
    pub(super) center: Point3<f64>,
    /// Radius of the bounding sphere, metres.
    pub(super) radius: f64,
}

/// A corner of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corner {
    /// Place.
    pub(super) point: Point3<f64>,
    /// Outward unit normal.
    pub(super) normal: Vector3<f32>,
}

/// Triangles that are no mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshError {
    /// A corner is not a finite number, or a triangle names a corner that does not exist.
    #[error("the mesh has a corner that is not finite or a triangle without its corners")]
    Broken,
}

impl Mesh {
    /// A box with these full lengths around the origin, metres.
    pub fn cuboid(size: [f64; 3]) -> Self {
        Self::smooth(Soup::cuboid(size))
    }

    /// A cylinder about z around the origin, metres.
    pub fn cylinder(radius: f64, height: f64) -> Self {
        Self::smooth(Soup::cylinder(radius, height))
    }

    /// A sphere around the origin, metres.
    pub fn sphere(radius: f64) -> Self {
        Self::smooth(Soup::capsule(radius, 0.0))
    }

    /// A capsule about z around the origin: a cylinder of this length with a half sphere at both ends, metres.
    pub fn capsule(radius: f64, length: f64) -> Self {
        Self::smooth(Soup::capsule(radius, length))
    }

    /// The surface that a profile sweeps about z. The profile is a list of `[radius, z]` in metres, walked so that the
    /// outside lies to its right when z points up (upwards on an outer wall); it starts and ends on the axis or where it began.
    pub fn lathe(profile: &[[f64; 2]]) -> Self {
        Self::smooth(Soup::lathe(profile))
    }

    /// A single upward-facing rectangle of these full lengths at z = 0, metres: a floor.
    pub fn floor(size: [f64; 2]) -> Self {
        Self::smooth(Soup::floor(size))
    }

    /// A mesh from corners and triangles (counter-clockwise from outside); smooth where faces meet at a small angle.
    ///
    /// Errors: [`MeshError::Broken`].
    pub fn from_triangles(points: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        Ok(Self::smooth(Soup::from_triangles(points, triangles)?))
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Bounding sphere in the item frame: centre and radius in metres.
    pub fn bounding_sphere(&self) -> (Point3<f64>, f64) {
        (self.center, self.radius)
    }

    /// Builds corners with normals averaged over the faces that meet smoothly; drops triangles without area.
    pub(super) fn smooth(soup: Soup) -> Self {
        let key = |p: &Point3<f64>| [p.x, p.y, p.z].map(|c| (c * 1e6).round() as i64);
        let faces: Vec<([Point3<f64>; 3], Vector3<f32>)> = soup
            .0
            .iter()
            .filter_map(|face| {
                let area = (face[1] - face[0]).cross(&(face[2] - face[0]));
                (area.norm() > 1e-14).then(|| (*face, area.cast::<f32>()))
            })
            .collect();
        let mut around: HashMap<[i64; 3], Vec<Vector3<f32>>> = HashMap::new();
        for (face, area) in &faces {
            for point in face {
                around.entry(key(point)).or_default().push(*area);
            }
        }
        let mut mesh = Self::default();
        let mut known: HashMap<([i64; 3], [i32; 3]), u32> = HashMap::new();
        for (face, area) in &faces {
            let flat = area.normalize();
            let triangle = face.map(|point| {
                let place = key(&point);
                let sum: Vector3<f32> = around
                    .get(&place)
                    .into_iter()
                    .flatten()
                    .filter(|other| other.normalize().dot(&flat) > CREASE_COSINE)
                    .sum();
                let normal = sum.try_normalize(1e-20).unwrap_or(flat);
                let rounded = [normal.x, normal.y, normal.z].map(|c| (c * 1e3).round() as i32);
                *known.entry((place, rounded)).or_insert_with(|| {
                    mesh.corners.push(Corner { point, normal });
                    mesh.corners.len() as u32 - 1
                })
            });
            mesh.triangles.push(triangle);
        }
        mesh.bound();
        mesh
    }

    fn bound(&mut self) {
        let (mut low, mut high) = (Point3::from([f64::MAX; 3]), Point3::from([f64::MIN; 3]));
        for corner in &self.corners {
            low = low.inf(&corner.point);
            high = high.sup(&corner.point);
        }
        if self.corners.is_empty() {
            return;
        }
        self.center = nalgebra::center(&low, &high);
        self.radius = self.corners.iter().map(|c| (c.point - self.center).norm()).fold(0.0, f64::max);
    }
}

/// Loose triangles, before they share corners.
#[derive(Clone, Debug, Default)]
pub(super) struct Soup(pub(super) Vec<[Point3<f64>; 3]>);

impl Soup {
    pub(super) fn cuboid(size: [f64; 3]) -> Self {
        let h = size.map(|s| s / 2.0);
        let mut soup = Vec::new();
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let corner = |a: f64, b: f64| {
                    let mut p = [0.0; 3];
                    p[axis] = side * h[axis];
                    p[(axis + 1) % 3] = a * h[(axis + 1) % 3];
                    p[(axis + 2) % 3] = side * b * h[(axis + 2) % 3];
                    Point3::from(p)
                };
                let [a, b, c, d] =
                    [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                soup.push([a, b, c]);
                soup.push([a, c, d]);
            }
        }
        Self(soup)
    }

    pub(super) fn cylinder(radius: f64, height: f64) -> Self {
        let h = height / 2.0;
        Self::lathe(&[[0.0, -h], [radius, -h], [radius, h], [0.0, h]])
    }

    pub(super) fn capsule(radius: f64, length: f64) -> Self {
        let n = TURN / 4;
        let arc = |i: u32| f64::from(i) / f64::from(n) * std::f64::consts::FRAC_PI_2;
        let half: Vec<[f64; 2]> =
            (0..=n).map(|i| [radius * arc(i).sin(), length / 2.0 + radius * arc(i).cos()]).collect();
        let mut profile: Vec<[f64; 2]> = half.iter().map(|[r, z]| [*r, -z]).collect();
        profile.extend(half.iter().rev().skip(usize::from(length == 0.0)));
        Self::lathe(&profile)
    }

    pub(super) fn lathe(profile: &[[f64; 2]]) -> Self {
        let mut soup = Vec::new();
        let at = |[r, z]: [f64; 2], i: u32| {
            let angle = f64::from(i % TURN) / f64::from(TURN) * std::f64::consts::TAU;
            Point3::new(r * angle.cos(), r * angle.sin(), z)
        };
        for pair in profile.windows(2) {
            for i in 0..TURN {
                let [a, b, c, d] = [at(pair[0], i), at(pair[0], i + 1), at(pair[1], i + 1), at(pair[1], i)];
                if pair[0][0] > 0.0 {
                    soup.push([a, b, c]);
                }
                if pair[1][0] > 0.0 {
                    soup.push([a, c, d]);
                }
            }
        }
        Self(soup)
    }

    pub(super) fn floor(size: [f64; 2]) -> Self {
        let (x, y) = (size[0] / 2.0, size[1] / 2.0);
        let [a, b, c, d] = [[-x, -y], [x, -y], [x, y], [-x, y]].map(|[x, y]| Point3::new(x, y, 0.0));
        Self(vec![[a, b, c], [a, c, d]])
    }

    pub(super) fn from_triangles(points: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        let soup = triangles
            .iter()
            .map(|triangle| {
                let mut face = [Point3::origin(); 3];
                for (place, index) in face.iter_mut().zip(triangle) {
                    *place = points.get(*index as usize).copied().ok_or(MeshError::Broken)?;
                }
                Ok(face)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let soup = Self(soup);
        soup.check()?;
        Ok(soup)
    }

    /// Errors: [`MeshError::Broken`] when a corner is not finite.
    pub(super) fn check(&self) -> Result<(), MeshError> {
        let fine = self.0.iter().flatten().all(|p| p.coords.iter().all(|c| c.is_finite()));
        if fine { Ok(()) } else { Err(MeshError::Broken) }
    }

    /// Drops the faces where two parts touch exactly, back to back: nobody can see them.
    pub(super) fn without_seams(self) -> Self {
        let name = |face: &[Point3<f64>; 3]| {
            let mut corners = face.map(|p| [p.x, p.y, p.z].map(|c| (c * 1e6).round() as i64));
            corners.sort_unstable();
            corners
        };
        let mut count: HashMap<[[i64; 3]; 3], usize> = HashMap::new();
        for face in &self.0 {
            *count.entry(name(face)).or_default() += 1;
        }
        Self(self.0.into_iter().filter(|face| count.get(&name(face)) == Some(&1)).collect())
    }

    /// Adds another soup, moved by `self_from_other`.
    pub(super) fn add(&mut self, other: &Self, self_from_other: &Isometry3<f64>) {
        self.0.extend(other.0.iter().map(|face| face.map(|point| self_from_other * point)));
    }
}
