//! What became of a lever or a toggle: where a new image shows its top.

use super::{Outcome, failed};
use nalgebra::{Point3, Vector3};
use prehend_scene::{Felt, Object, PartMotion, SkillPlan};

/// Depth under the highest point of the thing in which the top of its lever is, metres.
const TOP: f64 = 0.018;
/// Farthest a point of the lever is from the middle of its part, level, metres.
const AROUND: f64 = 0.14;
/// Fewest points of a top.
const POINTS: usize = 12;
/// Shift of the top along the way of the hand, as shares of that way, that is a turn and that is none; the first is at least
/// this long, metres.
const TURNED: f64 = 0.4;
const UNTURNED: f64 = 0.15;
const SHORTEST: f64 = 0.012;

/// Whether the plan acts on a lever.
pub(super) fn is_lever(plan: &SkillPlan) -> bool {
    matches!(plan.part.as_str(), "lever" | "switch")
}

/// The verdict on a lever that was turned or thrown: its top must be seen to have gone the way of the hand.
pub(super) fn check_lever(
    plan: &SkillPlan,
    motion: &PartMotion,
    felt: &Felt,
    before: Option<&[Object]>,
    now: &[Object],
) -> Outcome {
    let seen = |objects: &[Object]| {
        let object = objects.iter().find(|object| object.key == plan.object)?;
        top(&object.cloud.points, &motion.anchor)
    };
    let (Some(was), Some(is)) = (before.and_then(seen), seen(now)) else {
        let because = "where the lever points was not seen before and after".to_owned();
        return Outcome::NotObserved { because };
    };
    let way = Vector3::new(felt.displacement.x, felt.displacement.y, 0.0);
    let Some(along) = way.try_normalize(1e-6) else {
        return failed("the hand went nowhere with the lever".to_owned());
    };
    let shift = (is - was).dot(&along);
    let because = format!("the end of the lever is seen {:.0} mm from where it was", shift * 1e3);
    if shift >= SHORTEST.max(TURNED * way.norm()) {
        Outcome::Succeeded { because }
    } else if shift < UNTURNED * way.norm() {
        failed(because)
    } else {
        Outcome::NotObserved { because }
    }
}

/// Middle of the highest layer around a lever; `None` when too little of it was seen.
fn top(points: &[Point3<f64>], anchor: &Point3<f64>) -> Option<Point3<f64>> {
    let near: Vec<&Point3<f64>> = points.iter().filter(|p| (*p - anchor).xy().norm() < AROUND).collect();
    let mut heights: Vec<f64> = near.iter().map(|p| p.z).filter(|z| z.is_finite()).collect();
    heights.sort_by(f64::total_cmp);
    // The very highest may be a flying pixel.
    let highest = *heights.get(heights.len().checked_sub(1 + heights.len() / 100)?)?;
    let layer: Vec<&&Point3<f64>> = near.iter().filter(|p| p.z > highest - TOP).collect();
    let sum = layer.iter().fold(Vector3::zeros(), |sum, p| sum + p.coords);
    (layer.len() >= POINTS).then(|| Point3::from(sum / layer.len() as f64))
}
