//! The parts of every object shape.

use super::hollow::{Ring, open_box, round_wall};
use super::{ConvexPart, PartName, PartShape, TriangleMesh, at};
use crate::scene::{Color, Shape};
use nalgebra::{Isometry3, Vector3};

/// Thickness of painted-on discs and bands, metres.
const PAINT: f64 = 0.0003;

/// The parts of an object of this shape and these colours, in the object's frame.
///
/// The second colour goes to the handle (mug, pan), the lid (can), the label and cap (bottle, cylinder) or the inside
/// (bowl, plate, tray); without one everything has the first.
pub fn object_parts(shape: &Shape, color: Color, second: Option<Color>) -> Vec<ConvexPart> {
    let other = second.unwrap_or(color);
    let cylinder = |radius: f64, height: f64| PartShape::Cylinder { radius, half_height: height / 2.0 };
    match *shape {
        Shape::Box { size } => {
            let half = Vector3::from(size) / 2.0;
            let mut parts = vec![ConvexPart::new(PartShape::Box { half }, at(0.0, 0.0, 0.0), color)];
            if second.is_some() {
                parts.push(box_label(size, other));
            }
            parts
        }
        Shape::Cylinder { radius, height } => {
            let mut parts = vec![ConvexPart::new(cylinder(radius, height), at(0.0, 0.0, 0.0), color)];
            if second.is_some() {
                parts.push(painted(cylinder(radius + PAINT, height / 3.0), at(0.0, 0.0, 0.0), other));
            }
            parts
        }
        Shape::Can { radius, height } => vec![
            ConvexPart::new(cylinder(radius, height), at(0.0, 0.0, 0.0), color),
            painted(cylinder(radius * 0.94, height + 2.0 * PAINT), at(0.0, 0.0, 0.0), other),
        ],
        Shape::Sphere { radius } => {
            vec![ConvexPart::new(PartShape::Sphere { radius }, at(0.0, 0.0, 0.0), color)]
        }
        Shape::Capsule { radius, height } => vec![ConvexPart::new(
            PartShape::Capsule { radius, half_height: (height / 2.0 - radius).max(0.0) },
            at(0.0, 0.0, 0.0),
            color,
        )],
        Shape::Egg { radius, height } => {
            vec![ConvexPart::new(PartShape::Hull(egg(radius, height)), at(0.0, 0.0, 0.0), color)]
        }
        Shape::Mug { radius, height, wall, handle } => {
            let mut parts = cup(radius, height, wall, color);
            parts.extend(mug_handle(radius, height, wall, handle, other));
            parts
        }
        Shape::Bowl { radius, foot, height, wall } => {
            let (low, high) = (-height / 2.0, height / 2.0);
            // A rounded profile: most of the widening happens in the lower half.
            let middle = foot + 0.68 * (radius - foot);
            let rings = [(foot, low + wall), (middle, low + 0.42 * height), (radius, high)];
            lathed(wall, &rings, low, foot, color, other)
        }
        Shape::Plate { radius, foot, height, wall } => {
            let (low, high) = (-height / 2.0, height / 2.0);
            // The rim ends nearly upright, so that it can be pinched.
            let rings = [(foot, low + wall), (radius - 0.004, low + 0.45 * height), (radius, high)];
            lathed(wall, &rings, low, foot, color, other)
        }
        Shape::Pan { radius, height, wall, handle } => {
            let (low, high) = (-height / 2.0, height / 2.0);
            let foot = radius * 0.86;
            let rings = [(foot, low + wall), (radius, high)];
            let mut parts = lathed(wall, &rings, low, foot, color, color);
            let half = Vector3::new(handle / 2.0, 0.01, 0.007);
            let bar = ConvexPart::new(
                PartShape::Box { half },
                at(radius - wall + handle / 2.0, 0.0, high - 0.012),
                other,
            );
            parts.push(bar.in_region(Some(PartName::named("handle"))));
            parts
        }
        Shape::Bottle { radius, height, neck_radius, neck_height } => {
            let shoulder = ((radius - neck_radius) * 1.2).min((height - neck_height) * 0.3);
            let body = height - neck_height - shoulder;
            let low = -height / 2.0;
            let cone = TriangleMesh::lathe(&[(radius, -shoulder / 2.0), (neck_radius, shoulder / 2.0)], 24);
            vec![
                ConvexPart::new(cylinder(radius, body), at(0.0, 0.0, low + body / 2.0), color),
                ConvexPart::new(PartShape::Hull(cone), at(0.0, 0.0, low + body + shoulder / 2.0), color),
                ConvexPart::new(
                    cylinder(neck_radius, neck_height),
                    at(0.0, 0.0, height / 2.0 - neck_height / 2.0),
                    other,
                ),
            ]
        }
        Shape::Tray { size, wall } => open_box(size, wall, color, other),
    }
}

fn painted(shape: PartShape, pose: Isometry3<f64>, color: Color) -> ConvexPart {
    ConvexPart { only_seen: true, ..ConvexPart::new(shape, pose, color) }
}

/// A band around a box, as printing on a package has.
fn box_label(size: [f64; 3], color: Color) -> ConvexPart {
    let half = Vector3::new(size[0] / 2.0 + PAINT, size[1] / 2.0 + PAINT, size[2] / 6.0);
    painted(PartShape::Box { half }, at(0.0, 0.0, 0.0), color)
}

fn cup(radius: f64, height: f64, wall: f64, color: Color) -> Vec<ConvexPart> {
    let (low, high) = (-height / 2.0, height / 2.0);
    let ring = |z| Ring { outer: radius, inner: radius - wall, z };
    let mut parts = round_wall(&[ring(low + wall), ring(high)], color);
    parts.push(ConvexPart::new(
        PartShape::Cylinder { radius, half_height: wall / 2.0 },
        at(0.0, 0.0, low + wall / 2.0),
        color,
    ));
    parts
}

fn mug_handle(radius: f64, height: f64, wall: f64, reach: f64, color: Color) -> Vec<ConvexPart> {
    if reach <= 0.0 {
        return Vec::new();
    }
    let thick = (reach * 0.3).clamp(0.004, 0.009);
    let width = 0.006;
    let arm = (reach + wall) / 2.0;
    let rise = height * 0.28;
    let bar = |hx: f64, hz: f64, x: f64, z: f64| {
        ConvexPart::new(PartShape::Box { half: Vector3::new(hx, width, hz) }, at(x, 0.0, z), color)
            .in_region(Some(PartName::named("handle")))
    };
    vec![
        bar(arm, thick / 2.0, radius - wall + arm, rise),
        bar(arm, thick / 2.0, radius - wall + arm, -rise),
        bar(thick / 2.0, rise + thick / 2.0, radius + reach - thick / 2.0, 0.0),
    ]
}

/// Walls by outer radius and height, and a floor disc; the inside is seen in `inside`.
fn lathed(
    wall: f64,
    profile: &[(f64, f64)],
    low: f64,
    foot: f64,
    outside: Color,
    inside: Color,
) -> Vec<ConvexPart> {
    let rings: Vec<Ring> = profile
        .iter()
        .enumerate()
        .map(|(index, (outer, z))| {
            // A slanted wall is as thick as an upright one across itself, hence wider along its radius.
            let other = profile[if index + 1 < profile.len() { index + 1 } else { index - 1 }];
            let (run, rise) = ((other.0 - outer).abs(), (other.1 - z).abs().max(1e-6));
            let across = (wall * (run * run + rise * rise).sqrt() / rise).min(2.5 * wall).min(outer * 0.6);
            Ring { outer: *outer, inner: outer - across, z: *z }
        })
        .collect();
    let mut parts = round_wall(&rings, outside);
    parts.push(ConvexPart::new(
        PartShape::Cylinder { radius: foot, half_height: wall / 2.0 },
        at(0.0, 0.0, low + wall / 2.0),
        inside,
    ));
    parts
}

/// A solid of revolution that is thickest below its middle.
fn egg(radius: f64, height: f64) -> TriangleMesh {
    let rings = 12;
    let profile: Vec<(f64, f64)> = (0..=rings)
        .map(|ring| {
            let angle = std::f64::consts::PI * ring as f64 / rings as f64;
            let z = -height / 2.0 * angle.cos();
            let taper = 1.0 - 0.22 * (z / height + 0.1);
            let r = if ring == 0 || ring == rings { 0.0 } else { radius * angle.sin() * taper };
            (r.min(radius), z)
        })
        .collect();
    TriangleMesh::lathe(&profile, 24)
}
