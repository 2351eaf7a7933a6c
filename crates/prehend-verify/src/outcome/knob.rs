//! What became of a knob that was turned in place: the direction of its ridge in a new image.

use super::{Outcome, failed};
use nalgebra::{Point3, Vector3};
use prehend_scene::{Felt, Object, PartMotion, SkillPlan};

/// Points this near to the knob's middle are its own, metres.
const NEAR: f64 = 0.03;
/// Depth of its top, in which the ridge lies, metres.
const TOP: f64 = 0.010;
/// Fewest points of a ridge, and its least length in widths (of their standard deviations).
const POINTS: usize = 12;
const LONG: f64 = 1.5;
/// Change of the ridge's direction that is a turn, and that is none, radians: it is known up to half a turn.
const TURNED: f64 = 0.35;
const UNTURNED: f64 = 0.18;

/// Whether a hand that moved a part so turned it in place.
pub(super) fn in_place(felt: &Felt) -> bool {
    felt.displacement.norm() < 0.5 * felt.travel
}

/// The verdict on a knob that was turned in place.
pub(super) fn check_knob(
    plan: &SkillPlan,
    motion: &PartMotion,
    before: Option<&[Object]>,
    now: &[Object],
) -> Outcome {
    let out = if motion.direction.z < 0.0 { -motion.direction } else { motion.direction };
    let seen = |objects: &[Object]| {
        let object = objects.iter().find(|object| object.key == plan.object)?;
        let part = object.parts.iter().find_map(|part| ridge(&part.cloud.points, &motion.anchor, &out));
        part.or_else(|| ridge(&object.cloud.points, &motion.anchor, &out))
    };
    let (Some(was), Some(is)) = (before.and_then(seen), seen(now)) else {
        let because = "which way the knob points was not seen before and after".to_owned();
        return Outcome::NotObserved { because };
    };
    let turned = was.dot(&is).abs().clamp(0.0, 1.0).acos();
    let because = format!("the knob is seen turned by {:.0} degrees", turned.to_degrees());
    if turned >= TURNED {
        Outcome::Succeeded { because }
    } else if turned < UNTURNED {
        failed(because)
    } else {
        Outcome::NotObserved { because }
    }
}

/// Direction of the ridge on top of a knob, up to its sign; `None` when no ridge was seen there.
fn ridge(points: &[Point3<f64>], anchor: &Point3<f64>, out: &Vector3<f64>) -> Option<Vector3<f64>> {
    let across = |p: &Point3<f64>| {
        let offset = p - anchor;
        offset - out * offset.dot(out)
    };
    let near: Vec<&Point3<f64>> = points.iter().filter(|p| across(p).norm() < NEAR).collect();
    let mut heights: Vec<f64> = near.iter().map(|p| out.dot(&p.coords)).filter(|h| h.is_finite()).collect();
    heights.sort_by(f64::total_cmp);
    // The very highest may be a flying pixel.
    let top = *heights.get(heights.len().checked_sub(1 + heights.len() / 50)?)?;
    let flat: Vec<Vector3<f64>> =
        near.iter().filter(|p| out.dot(&p.coords) > top - TOP).map(|p| across(p)).collect();
    if flat.len() < POINTS {
        return None;
    }
    let mean = flat.iter().sum::<Vector3<f64>>() / flat.len() as f64;
    let covariance = flat.iter().map(|p| (p - mean) * (p - mean).transpose()).sum::<nalgebra::Matrix3<f64>>();
    let eigen = nalgebra::SymmetricEigen::new(covariance);
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let [long, wide] = [order[0], order[1]].map(|i| eigen.eigenvalues[i].max(0.0).sqrt());
    (long > LONG * wide).then(|| eigen.eigenvectors.column(order[0]).into_owned())
}
