//! What was seen of a link as convex pieces, for those who draw or collide with more than boxes.
//!
//! A cloud is split until no hull of a piece fills what was seen through: the way from a point to the eye that saw it is free.

use crate::critic::JointVerdict;
use crate::describe::Iteration;
use crate::evidence::cleaned;
use crate::observation::Observation;
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::math::Vector3 as Single;
use parry3d::transformation::try_convex_hull;
use std::collections::BTreeSet;

/// How far before a seen point there is nothing, metres; how deep in a hull that place may be; and the share of points of which it is not
/// deeper.
const FREE: f64 = 0.024;
const DEEP: f64 = 0.012;
const SHALLOW: f64 = 0.95;
/// Fewest points of a piece, and most pieces of a link.
const LEAST: usize = 12;
const MOST: usize = 16;
/// Least thickness of a piece, metres: a face that was seen from one side has none.
const THICK: f64 = 0.004;
/// Most points of a piece that are asked.
const SAMPLE: usize = 300;

/// A point of a surface and the direction from it to the eye, a unit vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    point: Point3<f64>,
    towards: Vector3<f64>,
}

/// A convex piece of a link in a file of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// Index of the link in its model.
    pub link: usize,
    /// Path beside the URDF, `meshes/NAME_k.stl`: letters, digits, `-` and `_` of the link's name.
    pub name: String,
    /// Binary STL in the link's frame, metres.
    pub bytes: Vec<u8>,
}

/// A closed convex surface.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hull {
    vertices: Vec<Point3<f64>>,
    /// Counter-clockwise, seen from outside.
    triangles: Vec<[usize; 3]>,
}

/// The convex pieces of each link of a description, from all looks, moved back to position 0. A link that was not seen has none.
pub fn meshes(observation: &Observation, described: &Iteration) -> Vec<MeshFile> {
    let model = &described.model;
    let mut files = Vec::new();
    let mut taken = BTreeSet::new();
    for (index, link) in model.links.iter().enumerate() {
        let cloud = match described.links.iter().position(|of| *of == Some(index)) {
            Some(part) => of_part(observation, described, part, index),
            None if index == 0 => {
                let all: Vec<Point3<f64>> =
                    observation.looks.iter().flat_map(|look| &look.body).copied().collect();
                seen_from(&observation.eye, &all, &described.map_from_model.inverse())
            }
            None => continue,
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let mut name: String = link.name.chars().map(plain).collect();
        if !taken.insert(name.clone()) {
            name = format!("{name}_{index}");
        }
        let named = pieces(&cloud).into_iter().enumerate().map(|(piece, hull)| MeshFile {
            link: index,
            name: format!("meshes/{name}_{piece}.stl"),
            bytes: stl(&hull),
        });
        files.extend(named);
    }
    files
}

/// What was seen of a part in its link's frame at position 0, from the looks in which its position is known.
fn of_part(observation: &Observation, described: &Iteration, part: usize, link: usize) -> Vec<Seen> {
    let Some(joint) = described.model.joint_of(link) else { return Vec::new() };
    let parent = described.model.poses(&[]).get(joint.parent).copied().unwrap_or_else(Isometry3::identity);
    let verdict = described.verdicts.joints.iter().find(|verdict| verdict.part == part);
    let positions = verdict.map_or(&[][..], |verdict: &JointVerdict| &verdict.positions);
    let clouds = observation.looks.iter().map(|look| look.parts.get(part).map_or(&[][..], Vec::as_slice));
    let first = clouds.clone().position(|cloud| !cloud.is_empty());
    let seen = clouds.enumerate().flat_map(|(look, cloud)| {
        let known = positions.get(look).copied().flatten();
        let position = known.or((Some(look) == first).then_some(0.0));
        let back = position.map(|at| (described.map_from_model * parent * joint.at(at)).inverse());
        back.map_or_else(Vec::new, |back| seen_from(&observation.eye, cloud, &back))
    });
    seen.collect()
}

/// A cloud without strays in another frame, with where it was seen from.
fn seen_from(eye: &Point3<f64>, points: &[Point3<f64>], link_from_map: &Isometry3<f64>) -> Vec<Seen> {
    let eye = link_from_map * eye;
    let seen = |point: &Point3<f64>| {
        let point = link_from_map * point;
        Seen { point, towards: (eye - point).try_normalize(1e-9).unwrap_or_else(Vector3::zeros) }
    };
    cleaned(points).iter().map(seen).collect()
}

/// Convex pieces of a cloud, the largest first to be split; none of fewer than [`LEAST`] points.
pub(crate) fn pieces(cloud: &[Seen]) -> Vec<Hull> {
    let Some(hull) = Hull::of(cloud) else { return Vec::new() };
    let mut done = Vec::new();
    let mut open = vec![(cloud.to_vec(), hull)];
    while let Some(largest) = largest(&open) {
        let (points, hull) = open.swap_remove(largest);
        let room = done.len() + open.len() + 2 <= MOST;
        match (room && !hull.is_surface_of(&points)).then(|| halves(&points)).flatten() {
            Some(halves) => open.extend(halves),
            None => done.push(hull),
        }
    }
    done
}

fn largest(open: &[(Vec<Seen>, Hull)]) -> Option<usize> {
    (0..open.len()).max_by(|a, b| open[*a].1.volume().total_cmp(&open[*b].1.volume()))
}

/// A cloud cut in two across the principal axis and at the place where the two hulls are smallest.
fn halves(points: &[Seen]) -> Option<[(Vec<Seen>, Hull); 2]> {
    let (middle, axes) = principal(points);
    let few: Vec<Seen> = points.iter().step_by(points.len().div_ceil(SAMPLE).max(1)).copied().collect();
    let cut = |cloud: &[Seen], axis: &Vector3<f64>, place: f64| {
        let (one, other): (Vec<Seen>, Vec<Seen>) =
            cloud.iter().partition(|seen| axis.dot(&(seen.point - middle)) < place);
        let (a, b) = (Hull::of(&one)?, Hull::of(&other)?);
        Some([(one, a), (other, b)])
    };
    let mut best: Option<(f64, Vector3<f64>, f64)> = None;
    for axis in axes {
        let mut sorted: Vec<f64> = few.iter().map(|seen| axis.dot(&(seen.point - middle))).collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let places = (1..8).map(|step| low + (high - low) * f64::from(step) / 8.0);
        for place in places.chain([sorted[sorted.len() / 2]]) {
            let Some([(_, a), (_, b)]) = cut(&few, &axis, place) else { continue };
            let volume = a.volume() + b.volume();
            if best.is_none_or(|(least, ..)| volume < least) {
                best = Some((volume, axis, place));
            }
        }
    }
    let (_, axis, place) = best?;
    cut(points, &axis, place)
}

/// Middle and principal axes of a cloud.
fn principal(points: &[Seen]) -> (Point3<f64>, [Vector3<f64>; 3]) {
    let middle =
        points.iter().map(|seen| seen.point.coords).sum::<Vector3<f64>>() / points.len().max(1) as f64;
    let spread: nalgebra::Matrix3<f64> = points
        .iter()
        .map(|seen| {
            let off = seen.point.coords - middle;
            off * off.transpose()
        })
        .sum();
    let axes = spread.symmetric_eigen().eigenvectors;
    (middle.into(), [0, 1, 2].map(|axis| axes.column(axis).into_owned()))
}

impl Hull {
    /// Around a cloud, at least [`THICK`]; `None` of too few points, or when no hull comes of them.
    fn of(points: &[Seen]) -> Option<Self> {
        if points.len() < LEAST {
            return None;
        }
        let (middle, axes) = principal(points);
        let mut solid: Vec<Point3<f64>> = points.iter().map(|seen| seen.point).collect();
        for axis in axes {
            let along = solid.iter().map(|point| axis.dot(&(point - middle)));
            let (low, high) =
                along.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), at| (l.min(at), h.max(at)));
            if high - low < THICK {
                let half = axis * (THICK / 2.0);
                solid = solid.iter().flat_map(|point| [point - half, point + half]).collect();
            }
        }
        let single: Vec<Single> = solid
            .iter()
            .map(|point| {
                let at = point - middle;
                Single::new(at.x as f32, at.y as f32, at.z as f32)
            })
            .collect();
        let (vertices, triangles) = try_convex_hull(&single).ok()?;
        let vertices: Vec<Point3<f64>> = vertices
            .iter()
            .map(|at| middle + Vector3::new(f64::from(at.x), f64::from(at.y), f64::from(at.z)))
            .collect();
        let inside = Point3::from(
            vertices.iter().map(|at| at.coords).sum::<Vector3<f64>>() / vertices.len().max(1) as f64,
        );
        let outward = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|corner| corner as usize);
            let normal = (vertices[b] - vertices[a]).cross(&(vertices[c] - vertices[a]));
            if normal.dot(&(vertices[a] - inside)) < 0.0 { [a, c, b] } else { [a, b, c] }
        };
        let triangles = triangles.into_iter().map(outward).collect();
        Some(Self { vertices, triangles })
    }

    fn normal(&self, [a, b, c]: [usize; 3]) -> Vector3<f64> {
        let normal = (self.vertices[b] - self.vertices[a]).cross(&(self.vertices[c] - self.vertices[a]));
        normal.try_normalize(1e-15).unwrap_or_else(Vector3::zeros)
    }

    /// Cubic metres.
    fn volume(&self) -> f64 {
        let Some(first) = self.vertices.first() else { return 0.0 };
        let of = |[a, b, c]: &[usize; 3]| {
            let [a, b, c] = [a, b, c].map(|corner| self.vertices[*corner] - first);
            a.dot(&b.cross(&c)) / 6.0
        };
        self.triangles.iter().map(of).sum::<f64>().abs()
    }

    /// How deep a point lies in it, metres; negative outside.
    pub(crate) fn depth(&self, point: &Point3<f64>) -> f64 {
        let of = |triangle: &[usize; 3]| self.normal(*triangle).dot(&(self.vertices[triangle[0]] - point));
        self.triangles.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// Whether it fills no place that points were seen through.
    fn is_surface_of(&self, points: &[Seen]) -> bool {
        let sample = points.iter().step_by(points.len().div_ceil(SAMPLE).max(1));
        let count = sample.len();
        let shallow = sample.filter(|seen| self.depth(&(seen.point + FREE * seen.towards)) <= DEEP).count();
        shallow as f64 >= SHALLOW * count as f64
    }
}

/// A hull as binary STL.
fn stl(hull: &Hull) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend((hull.triangles.len() as u32).to_le_bytes());
    for triangle in &hull.triangles {
        let corners = triangle.map(|corner| hull.vertices[corner].coords);
        for vector in [hull.normal(*triangle)].iter().chain(&corners) {
            bytes.extend(vector.iter().flat_map(|value| (*value as f32).to_le_bytes()));
        }
        bytes.extend([0, 0]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(points: impl Iterator<Item = Point3<f64>>, eye: [f64; 3]) -> Vec<Seen> {
        let eye = Point3::from(eye);
        points.map(|point| Seen { point, towards: (eye - point).normalize() }).collect()
    }

    #[test]
    fn what_is_bent_towards_the_eye_is_split_and_every_point_is_kept() {
        // A board that stands on a board.
        let grid = (0..60).flat_map(|i| (0..60).map(move |j| [0.005 * f64::from(i), 0.005 * f64::from(j)]));
        let corner = grid.flat_map(|[a, b]| [Point3::new(a, b, 0.0), Point3::new(0.0, a, b)]);
        let inside = seen(corner.clone(), [1.0, 0.15, 1.0]);
        let found = pieces(&inside);
        assert!((2..=6).contains(&found.len()), "{} pieces", found.len());
        for seen in &inside {
            assert!(found.iter().any(|hull| hull.depth(&seen.point) > -0.003), "{seen:?}");
        }
        let volume: f64 = found.iter().map(Hull::volume).sum();
        // Two thin boards, not the prism between them.
        assert!(volume < 0.003, "{volume}");
        // From behind it may be one solid thing.
        assert_eq!(pieces(&seen(corner, [-1.0, 0.15, -1.0])).len(), 1);
    }

    #[test]
    fn a_flat_face_has_a_thickness_and_closes() {
        let face = (0..400).map(|i| Point3::new(0.01 * f64::from(i % 20), 0.01 * f64::from(i / 20), 0.3));
        let face = seen(face, [0.1, 0.1, 1.0]);
        let found = pieces(&face);
        assert_eq!(found.len(), 1);
        assert!((found[0].volume() - 0.19 * 0.19 * THICK).abs() < 1e-5, "{}", found[0].volume());
        let bytes = stl(&found[0]);
        assert_eq!(bytes.len(), 84 + 50 * found[0].triangles.len());
        assert_eq!(bytes[80..84], (found[0].triangles.len() as u32).to_le_bytes());
        assert!(pieces(&face[..5]).is_empty());
    }
}
