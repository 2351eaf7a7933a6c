//! Many solids as one surface: what a planner keeps clear of may be made of hundreds of boxes, and each node costs time in every picture.

use super::{light, vec3};
use crate::Solid;
use kiss3d::glamx::Vec3;
use kiss3d::scene::SceneNode3d;
use nalgebra::Point3;
use prehend_motion::Shape;
use std::f64::consts::{PI, TAU};

/// Most triangles of a surface.
const MOST: usize = 400_000;
/// Sides of a round thing, and rings of a ball.
const SIDES: u32 = 16;
const RINGS: u32 = 8;

/// Corners and triangles of a shape.
type Surface = (Vec<Point3<f64>>, Vec<[u32; 3]>);

/// Adds solids of one colour to `group` as one node; those that are none, and those beyond 400,000 triangles, are left out.
pub(super) fn add_merged(group: &mut SceneNode3d, solids: &[&Solid]) {
    let Some(first) = solids.first() else { return };
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for solid in solids {
        let (own, faces) = surface(&solid.shape);
        let at = own.iter().map(|corner| vec3(&(solid.stage_from_solid * corner)));
        let at: Vec<Vec3> = at.collect();
        if !solid.shape.is_valid() || !at.iter().all(|corner| corner.is_finite()) {
            continue;
        }
        if triangles.len() + faces.len() > MOST {
            break;
        }
        let before = corners.len() as u32;
        triangles.extend(faces.into_iter().map(|face| face.map(|index| index + before)));
        corners.extend(at);
    }
    if triangles.is_empty() {
        return;
    }
    let mut node = group.add_trimesh(corners, triangles, Vec3::ONE, true);
    node.set_color(light(first.color, first.opacity));
    node.set_roughness(0.8);
}

fn surface(shape: &Shape) -> Surface {
    match shape {
        Shape::Box { half } => {
            let corners = (0..8).map(|index: u32| {
                let side = |bit: u32, half: f64| if index & bit == 0 { -half } else { half };
                Point3::new(side(1, half.x), side(2, half.y), side(4, half.z))
            });
            let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
            (corners.collect(), faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect())
        }
        Shape::Cylinder { radius, half_length } => rings(&[
            (0.0, -half_length),
            (*radius, -half_length),
            (*radius, *half_length),
            (0.0, *half_length),
        ]),
        Shape::Sphere { radius } => {
            let ring = |index: u32| {
                let angle = PI * f64::from(index) / f64::from(RINGS);
                (radius * angle.sin(), -radius * angle.cos())
            };
            rings(&(0..=RINGS).map(ring).collect::<Vec<_>>())
        }
        Shape::Mesh { vertices, triangles } => (vertices.clone(), triangles.clone()),
    }
}

/// The surface between circles around z: radius and height of each, from below.
fn rings(circles: &[(f64, f64)]) -> Surface {
    let corners = circles.iter().flat_map(|(radius, height)| {
        (0..SIDES).map(move |side| {
            let (sin, cos) = (TAU * f64::from(side) / f64::from(SIDES)).sin_cos();
            Point3::new(radius * cos, radius * sin, *height)
        })
    });
    let between = (1..circles.len() as u32).flat_map(|ring| {
        (0..SIDES).flat_map(move |side| {
            let next = (side + 1) % SIDES;
            let [a, b, c, d] = [(ring - 1, side), (ring - 1, next), (ring, next), (ring, side)]
                .map(|(ring, side)| ring * SIDES + side);
            [[a, b, c], [a, c, d]]
        })
    });
    (corners.collect(), between.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    /// By the divergence theorem: positive when every face is seen from outside.
    fn volume((corners, triangles): &Surface) -> f64 {
        let of = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|index| corners[index as usize].coords);
            a.dot(&b.cross(&c)) / 6.0
        };
        triangles.iter().map(of).sum()
    }

    #[test]
    fn surfaces_are_closed_and_face_outwards() {
        for (shape, expected) in [
            (Shape::Box { half: Vector3::new(0.1, 0.2, 0.3) }, 8.0 * 0.006),
            (Shape::Cylinder { radius: 0.1, half_length: 0.2 }, PI * 0.01 * 0.4),
            (Shape::Sphere { radius: 0.1 }, 4.0 / 3.0 * PI * 0.001),
        ] {
            let found = volume(&surface(&shape));
            assert!(found > 0.85 * expected && found < 1.001 * expected, "{shape:?}: {found} {expected}");
        }
    }
}
