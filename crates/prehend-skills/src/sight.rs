//! What the robot sees from where it overlooks its workspace.

use crate::gripper::ToolBox;
use nalgebra::{Isometry3, Point3, Vector3};

/// Half of the angles across and along that a camera sees, radians: a little less than usual colour cameras do.
pub(crate) const HALF_ANGLES: [f64; 2] = [0.50, 0.35];
/// Shares of the half angles: up to the first something is well within the picture, beyond the second nothing is left of that.
const EDGE: [f64; 2] = [0.75, 1.25];

/// The camera at the pose from which the robot overlooks its workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// Pose of the camera's optical frame (z ahead, x to the right), map frame.
    pub map_from_camera: Isometry3<f64>,
    /// The fingers that reach into its picture; `None` when none do.
    pub fingers: Option<Fingers>,
}

/// The fingers before a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fingers {
    /// Pose of the tool, map frame.
    pub map_from_tool: Isometry3<f64>,
    /// Each of them, tool frame.
    pub boxes: [ToolBox; 2],
}

impl Fingers {
    /// Whether one of them stands between two points of the map frame.
    fn hide(&self, eye: &Point3<f64>, point: &Point3<f64>) -> bool {
        let [from, to] = [eye, point].map(|p| self.map_from_tool.inverse_transform_point(p).coords);
        self.boxes.iter().any(|finger| crosses(finger, &from, &(to - from)))
    }
}

/// Whether a box has a part of the way from a point by a vector in it (slab method).
fn crosses(finger: &ToolBox, from: &Vector3<f64>, by: &Vector3<f64>) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in 0..3 {
        if by[axis].abs() < 1e-9 {
            if !(finger.low[axis]..=finger.high[axis]).contains(&from[axis]) {
                return false;
            }
            continue;
        }
        let [a, b] = [finger.low, finger.high].map(|side| (side[axis] - from[axis]) / by[axis]);
        (enter, leave) = (enter.max(a.min(b)), leave.min(a.max(b)));
    }
    enter < leave
}

impl Sight {
    /// How well these points of the map frame are all seen: 1 within the picture, falling to 0 outside it, 0 behind the camera and behind
    /// the fingers.
    pub fn of(&self, points: impl IntoIterator<Item = Point3<f64>>) -> f64 {
        let one = |point: Point3<f64>| {
            let eye = Point3::from(self.map_from_camera.translation.vector);
            if self.fingers.is_some_and(|fingers| fingers.hide(&eye, &point)) {
                return 0.0;
            }
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
        let sight = Sight {
            map_from_camera: Isometry3::from_parts(Vector3::new(0.4, 0.0, 0.6).into(), down),
            fingers: None,
        };
        for (x, y, seen) in
            [(0.4, 0.0, true), (0.65, 0.0, true), (0.4, 0.2, true), (1.0, 0.0, false), (0.4, 0.5, false)]
        {
            let share = sight.of([Point3::new(x, y, 0.0)]);
            assert_eq!(share > 0.5, seen, "{x} {y}: {share}");
        }
        assert!(sight.of([Point3::new(0.4, 0.0, 0.9)]) < 1e-9, "behind it");
        // Fingers 10 cm beside its axis, halfway down.
        let map_from_tool = Isometry3::from_parts(Vector3::new(0.4, 0.0, 0.3).into(), down);
        let finger = |y: f64| ToolBox {
            low: Vector3::new(-0.02, y - 0.01, -0.05),
            high: Vector3::new(0.02, y + 0.01, 0.05),
        };
        let fingers = Some(Fingers { map_from_tool, boxes: [finger(0.1), finger(-0.1)] });
        let hidden = Sight { fingers, ..sight };
        for (x, y, seen) in [(0.4, 0.0, true), (0.4, 0.2, false), (0.4, -0.2, false), (0.48, 0.2, true)] {
            assert_eq!(hidden.of([Point3::new(x, y, 0.0)]) > 0.5, seen, "{x} {y}");
        }
        // The worst point counts.
        assert!(sight.of([Point3::new(0.4, 0.0, 0.0), Point3::new(0.4, 0.5, 0.0)]) < 1e-9);
    }
}
