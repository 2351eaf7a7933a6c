//! A short way through poses.

use crate::pose::{Pose2, turn};

/// A short order from the start: nearest next, then exchanges of stretches (2-opt).
pub(super) fn ordered(start: &Pose2, mut poses: Vec<Pose2>) -> Vec<Pose2> {
    // A turn of one radian is worth half a metre.
    let way = |a: &Pose2, b: &Pose2| a.distance(b) + 0.5 * turn(a.yaw, b.yaw).abs();
    let mut order: Vec<Pose2> = Vec::with_capacity(poses.len());
    let mut at = *start;
    while !poses.is_empty() {
        let nearest = poses.iter().enumerate().min_by(|a, b| way(&at, a.1).total_cmp(&way(&at, b.1)));
        let Some(index) = nearest.map(|(index, _)| index) else {
            break;
        };
        at = poses.remove(index);
        order.push(at);
    }
    let length = |order: &[Pose2]| {
        let mut at = start;
        let mut sum = 0.0;
        for pose in order {
            sum += way(at, pose);
            at = pose;
        }
        sum
    };
    let mut best = length(&order);
    let mut better = true;
    while better {
        better = false;
        for first in 0..order.len() {
            for last in first + 1..order.len() {
                order[first..=last].reverse();
                let now = length(&order);
                if now < best - 1e-9 {
                    (best, better) = (now, true);
                } else {
                    order[first..=last].reverse();
                }
            }
        }
    }
    order
}
