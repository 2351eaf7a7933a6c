//! A fingertip comes along the part's normal: what does it meet first?

use crate::grip::middle;
use crate::{End, Hand, Imagined};
use nalgebra::{Point3, Vector3};

/// Errors of the hand that are tried beside the middle, metres.
const ASIDE: f64 = 0.003;
/// Points that are this near to the part belong to it, metres.
const OWN: f64 = 0.0025;

pub(crate) fn play(
    thing: &[Point3<f64>],
    part: &[Point3<f64>],
    outward: Vector3<f64>,
    hand: &Hand,
) -> Option<Imagined> {
    let at = middle(part);
    let any = if outward.z.abs() < 0.9 { Vector3::z() } else { Vector3::x() };
    let across = outward.cross(&any).normalize();
    let up = outward.cross(&across);
    let tries = [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)];
    let radius = hand.pad_width.max(hand.finger_thickness) / 2.0;
    let reached = |(a, b): (f64, f64)| {
        let tip = at + (across * a + up * b) * ASIDE;
        // How far out the tip is when it meets the point, as a ball does.
        let met = |point: &Point3<f64>| {
            let from = point - tip;
            let out = from.dot(&outward);
            let beside = (from - outward * out).norm();
            (beside < radius).then(|| out + (radius * radius - beside * beside).sqrt())
        };
        let first = |points: &[Point3<f64>]| points.iter().filter_map(met).fold(f64::NEG_INFINITY, f64::max);
        first(part) > f64::NEG_INFINITY && first(part) + OWN >= first(thing)
    };
    let well = tries.iter().filter(|offset| reached(**offset)).count();
    let success = well as f64 / tries.len() as f64;
    Some(Imagined { success, at, end: if success > 0.5 { End::Reached } else { End::Blocked } })
}
