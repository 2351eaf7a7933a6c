//! Contacts on the rim of hollow things: one pad inside, one outside, the approach along the wall.

use super::{Contact, GraspKind, SUPPORT_CLEARANCE, Shape, quantile, slope};
use crate::gripper::GripperModel;
use nalgebra::{Point3, Vector3};

/// Rays from the centre, over a whole turn.
const RAYS: usize = 24;
/// How much of the wall the pads cover, metres.
const HOLDS: [f64; 3] = [0.028, 0.018, 0.011];
/// Least drop from the rim to the inside, metres: less is a dent, or noise.
pub(super) const LEAST_DROP: f64 = 0.008;
/// The steepest tilt of the approach along a sloping wall, radians.
const GREATEST_LEAN: f64 = 0.8;

/// Contacts over the rim; empty when the object is not hollow, as far as was seen.
pub(crate) fn contacts(shape: &Shape, gripper: &GripperModel) -> Vec<Contact> {
    let Some(centre) = rim_centre(&shape.all) else { return Vec::new() };
    let first = centre.y.atan2(centre.x);
    (0..RAYS)
        .flat_map(|i| {
            let angle = first + std::f64::consts::TAU * i as f64 / RAYS as f64;
            ray_contacts(shape, gripper, &centre, Vector3::new(angle.cos(), angle.sin(), 0.0))
        })
        .collect()
}

/// Centre of the circle through the highest points, or their mean when they lie on none.
pub(crate) fn rim_centre(points: &[Point3<f64>]) -> Option<Point3<f64>> {
    let points = || points.iter().filter(|p| p.coords.iter().all(|c| c.is_finite()));
    let mut zs: Vec<f64> = points().map(|p| p.z).collect();
    zs.sort_by(f64::total_cmp);
    let top = quantile(&zs, 0.985);
    let rim: Vec<&Point3<f64>> = points().filter(|p| p.z > top - 0.008).collect();
    let n = rim.len() as f64;
    if rim.len() < 8 {
        return None;
    }
    let mean = Point3::from(rim.iter().map(|p| p.coords).sum::<Vector3<f64>>() / n);
    // Kasa's fit: x^2 + y^2 = a x + b y + c, least squares about the mean.
    let (mut m, mut v) = (nalgebra::Matrix3::<f64>::zeros(), Vector3::zeros());
    for p in &rim {
        let row = Vector3::new(p.x - mean.x, p.y - mean.y, 1.0);
        m += row * row.transpose();
        v += row * (row.x * row.x + row.y * row.y);
    }
    let fitted = m.lu().solve(&v).map(|s| Point3::new(mean.x + s.x / 2.0, mean.y + s.y / 2.0, top));
    let spread = |c: &Point3<f64>| {
        let radii: Vec<f64> = rim.iter().map(|p| (p.x - c.x).hypot(p.y - c.y)).collect();
        let mean = radii.iter().sum::<f64>() / n;
        radii.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n
    };
    let mean = Point3::new(mean.x, mean.y, top);
    match fitted {
        Some(centre) if spread(&centre) < spread(&mean) && (centre - mean).norm() < 0.15 => Some(centre),
        _ => Some(mean),
    }
}

fn ray_contacts(
    shape: &Shape,
    gripper: &GripperModel,
    centre: &Point3<f64>,
    out: Vector3<f64>,
) -> Vec<Contact> {
    let tangent = Vector3::z().cross(&out);
    // (outward, tangential, up) of the points in a strip as wide as a pad.
    let local = |p: &Point3<f64>| {
        let r = p - centre;
        [out.dot(&r), tangent.dot(&r), p.z]
    };
    let half = gripper.pad_width / 2.0;
    let strip: Vec<[f64; 3]> =
        shape.all.iter().map(local).filter(|p| p[0] > 0.0 && p[1].abs() <= half + 0.002).collect();
    let touched = shape.touch.iter().map(local).filter(|p| p[0] > 0.0 && p[1].abs() <= half + 0.002).count();
    if strip.len() < 8 || touched < 4 {
        return Vec::new();
    }
    let mut zs: Vec<f64> = strip.iter().map(|p| p[2]).collect();
    zs.sort_by(f64::total_cmp);
    let top = quantile(&zs, 0.97);
    let mut edge: Vec<f64> = strip.iter().filter(|p| p[2] > top - 0.005).map(|p| p[0]).collect();
    edge.sort_by(f64::total_cmp);
    let (inner_edge, outer_edge) = (quantile(&edge, 0.05), quantile(&edge, 0.95));
    let thickness = outer_edge - inner_edge;
    if edge.len() < 3 || thickness > 0.025 {
        return Vec::new();
    }
    if shape.part {
        // The rim beside a handle is not the handle.
        let at_edge = |p: &[f64; 3]| {
            p[0] > inner_edge - 0.002
                && p[0] < outer_edge + 0.002
                && p[1].abs() <= half + 0.002
                && p[2] > top - 0.005
        };
        let of_part = shape.touch.iter().map(local).filter(at_edge).count();
        if 2 * of_part < strip.iter().filter(|p| at_edge(p)).count() {
            return Vec::new();
        }
    }
    let inside: Vec<&[f64; 3]> = strip.iter().filter(|p| p[0] < inner_edge - 0.002).collect();
    let mut floor: Vec<f64> = inside.iter().filter(|p| p[0] < inner_edge - 0.015).map(|p| p[2]).collect();
    floor.sort_by(f64::total_cmp);
    // Without a point inside, the inside was not seen: it may be full.
    if floor.len() < 3 || top - quantile(&floor, 0.2) < LEAST_DROP {
        return Vec::new();
    }
    let rows: Vec<(f64, f64)> = (0..5)
        .filter_map(|row| {
            let v0 = -half + 0.004 * f64::from(row);
            strip
                .iter()
                .filter(|p| p[2] > top - 0.006 && p[1] >= v0 && p[1] < v0 + 0.004)
                .map(|p| p[0])
                .reduce(f64::max)
                .map(|u| (v0 + 0.002, u))
        })
        .collect();
    let turn = slope(&rows).map_or(0.2, |s| s.atan().abs());
    if turn > 0.5 {
        return Vec::new();
    }
    let mut contacts = Vec::new();
    for hold in HOLDS {
        // Lean of the wall from upright, where the pads touch: how fast the inner surface moves out on its way up.
        let wall: Vec<(f64, f64)> = inside
            .iter()
            .filter(|p| p[2] > top - hold && p[0] > inner_edge - 0.045)
            .map(|p| (p[2], p[0]))
            .collect();
        let lean = slope(&wall).map_or(0.0, |s| s.atan().clamp(0.0, 1.3));
        for share in [1.0, 0.5, 0.0] {
            if share < 1.0 && lean < 0.1 {
                continue;
            }
            let tilt = lean.min(GREATEST_LEAN) * share;
            // Down along the wall: inward by the sine of the lean.
            let approach = -out * tilt.sin() - Vector3::z() * tilt.cos();
            let closing = out * tilt.cos() - Vector3::z() * tilt.sin();
            if top - hold * tilt.cos() < shape.support + SUPPORT_CLEARANCE {
                continue;
            }
            let residual = (lean - tilt).abs();
            if residual > 0.5 {
                continue;
            }
            let depth = hold / 2.0;
            let rim = centre + out * ((inner_edge + outer_edge) / 2.0);
            contacts.push(Contact {
                kind: if shape.part { GraspKind::Part } else { GraspKind::Rim },
                shell: true,
                centre: Point3::new(rim.x, rim.y, top) + approach * depth,
                closing,
                approach,
                depth,
                width: thickness.max(0.003) + hold * residual.sin(),
                contact_height: hold * (1.0 - residual.sin()).max(0.0),
                contact_width: rows.len() as f64 * 0.004,
                angle: turn.max(residual),
            });
        }
    }
    contacts
}
