//! Where the camera stands to see the whole of an upright thing.
//!
//! A robot has one level look, made for what stands straight ahead and not too near. What stands aside is looked at from the
//! same height and tilt, turned about the base and, when it would not fit into the picture, from farther back.

use crate::sight::HALF_ANGLES;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{PI, TAU};

/// Half of the angle across that a camera sees, radians.
const HALF_ANGLE: f64 = HALF_ANGLES[0];
/// Turns and ways back that make no difference, radians and metres.
const SAME: (f64, f64) = (0.06, 0.02);
/// Farthest way back, metres.
const BACK: f64 = 0.20;
/// Ways back that are offered, as shares of what would be best.
const SHARES: [f64; 4] = [1.0, 0.7, 0.4, 0.0];

/// Tool poses for a look at a thing with these corners, best first, made from the robot's own level look. Empty when that look
/// sees the thing as it is, or when the thing has no place. The camera is taken to look along the tool's z.
pub fn facing(base_from_tool: &Isometry3<f64>, corners: &[Point3<f64>]) -> Vec<Isometry3<f64>> {
    let ahead = base_from_tool.rotation * Vector3::z();
    let finite: Vec<&Point3<f64>> =
        corners.iter().filter(|c| c.coords.iter().all(|v| v.is_finite())).collect();
    if finite.is_empty() || ahead.xy().norm() < 1e-3 {
        return Vec::new();
    }
    let middle = |axis: usize| {
        let (low, high) = finite
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| (low.min(c[axis]), high.max(c[axis])));
        (low + high) / 2.0
    };
    let turn = (middle(1).atan2(middle(0)) - ahead.y.atan2(ahead.x) + PI).rem_euclid(TAU) - PI;
    let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn) * base_from_tool;
    let ahead = turned.rotation * Vector3::z();
    let ahead = Vector3::new(ahead.x, ahead.y, 0.0).normalize();
    let aside = Vector3::new(-ahead.y, ahead.x, 0.0);
    let lacking = |corner: &&Point3<f64>| {
        let way = corner.coords - turned.translation.vector;
        way.dot(&aside).abs() / HALF_ANGLE.tan() - way.dot(&ahead)
    };
    let back = finite.iter().map(lacking).fold(0.0, f64::max).min(BACK);
    if turn.abs() < SAME.0 && back < SAME.1 {
        return Vec::new();
    }
    let mut poses: Vec<Isometry3<f64>> = Vec::new();
    for share in SHARES {
        let pose = Translation3::from(-share * back * ahead) * turned;
        if poses.last().is_none_or(|last| (last.translation.vector - pose.translation.vector).norm() > 1e-3) {
            poses.push(pose);
        }
    }
    poses
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look from 0.24 m ahead, 0.46 m high, 33 degrees down.
    fn level() -> Isometry3<f64> {
        let down = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 33_f64.to_radians() + PI / 2.0);
        Isometry3::from_parts(Translation3::new(0.24, 0.0, 0.46), down)
    }

    fn corners(x: [f64; 2], y: [f64; 2]) -> Vec<Point3<f64>> {
        x.into_iter().flat_map(|x| y.into_iter().map(move |y| Point3::new(x, y, 0.2))).collect()
    }

    #[test]
    fn what_is_seen_as_it_is_needs_no_other_look() {
        assert!(facing(&level(), &corners([0.62, 0.84], [-0.15, 0.15])).is_empty());
        assert!(facing(&level(), &[]).is_empty());
        assert!(facing(&level(), &[Point3::new(f64::NAN, 0.0, 0.0)]).is_empty());
    }

    #[test]
    fn what_stands_aside_and_near_is_seen_whole() {
        let thing = corners([0.46, 0.69], [0.14, 0.46]);
        let poses = facing(&level(), &thing);
        let best = poses.first().expect("another look");
        let ahead = best.rotation * Vector3::z();
        assert!(
            (best.translation.z - 0.46).abs() < 1e-9
                && (ahead.z - level().rotation.transform_vector(&Vector3::z()).z).abs() < 1e-9
        );
        let heading = ahead.y.atan2(ahead.x);
        for corner in &thing {
            let way = corner.coords - best.translation.vector;
            let off = way.y.atan2(way.x) - heading;
            assert!(off.abs() < HALF_ANGLE + 1e-6, "{off}");
        }
        // The last one only turns.
        let last = poses.last().expect("several");
        assert!((last.translation.vector.xy().norm() - 0.24).abs() < 1e-9);
    }
}
