//! What the robot sees from where it overlooks its workspace.

use nalgebra::{Isometry3, Point3};

/// Half of the angles across and along that a camera sees, radians: a little less than usual colour cameras do.
pub(crate) const HALF_ANGLES: [f64; 2] = [0.50, 0.35];
/// Shares of the half angles: up to the first something is well within the picture, beyond the second nothing is left of that.
const EDGE: [f64; 2] = [0.75, 1.25];

/// The camera at the pose from which the robot overlooks its workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// Pose of the camera's optical frame (z ahead, x to the right), map frame.
    pub map_from_camera: Isometry3<f64>,
}

impl Sight {
    /// How well these points of the map frame are all seen: 1 within the picture, falling to 0 outside it, 0 behind the camera.
    pub fn of(&self, points: impl IntoIterator<Item = Point3<f64>>) -> f64 {
        let one = |point: Point3<f64>| {
            let seen = self.map_from_camera.inverse_transform_point(&point);
            let [across, along] = HALF_ANGLES;
            let off = (seen.x.abs().atan2(seen.z) / across).max(seen.y.abs().atan2(seen.z) / along);
            ((EDGE[1] - off) / (EDGE[1] - EDGE[0])).clamp(0.0, 1.0)
        };
        points.into_iter().map(one).fold(1.0, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{UnitQuaternion, Vector3};

    #[test]
    fn what_is_in_the_picture_is_seen_and_what_is_far_outside_is_not() {
        // Straight down from 0.6 m.
        let down = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
        let sight =
            Sight { map_from_camera: Isometry3::from_parts(Vector3::new(0.4, 0.0, 0.6).into(), down) };
        for (x, y, seen) in
            [(0.4, 0.0, true), (0.65, 0.0, true), (0.4, 0.2, true), (1.0, 0.0, false), (0.4, 0.5, false)]
        {
            let share = sight.of([Point3::new(x, y, 0.0)]);
            assert_eq!(share > 0.5, seen, "{x} {y}: {share}");
        }
        assert!(sight.of([Point3::new(0.4, 0.0, 0.9)]) < 1e-9, "behind it");
        // The worst point counts.
        assert!(sight.of([Point3::new(0.4, 0.0, 0.0), Point3::new(0.4, 0.5, 0.0)]) < 1e-9);
    }
}
