//! Poses on the plane.

use std::f64::consts::PI;

/// A pose on the plane: position in metres, yaw in radians, counter-clockwise from x.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose2 {
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Radians.
    pub yaw: f64,
}

impl Pose2 {
    /// A pose from its parts.
    pub fn new(x: f64, y: f64, yaw: f64) -> Self {
        Self { x, y, yaw }
    }

    /// The position.
    pub fn xy(&self) -> [f64; 2] {
        [self.x, self.y]
    }

    /// A point of this pose's frame, in the frame the pose is in.
    pub fn transform(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.yaw.sin_cos();
        [self.x + cos * x - sin * y, self.y + sin * x + cos * y]
    }

    /// A point of the frame the pose is in, in this pose's frame.
    pub fn inverse_transform(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.yaw.sin_cos();
        let (dx, dy) = (x - self.x, y - self.y);
        [cos * dx + sin * dy, cos * dy - sin * dx]
    }

    /// `a_from_c` of this `a_from_b` and `b_from_c`.
    pub fn compose(&self, b_from_c: &Pose2) -> Pose2 {
        let [x, y] = self.transform(b_from_c.xy());
        Pose2 { x, y, yaw: normalised(self.yaw + b_from_c.yaw) }
    }

    /// `b_from_a` of this `a_from_b`.
    pub fn inverse(&self) -> Pose2 {
        let [x, y] = self.inverse_transform([0.0, 0.0]);
        Pose2 { x, y, yaw: normalised(-self.yaw) }
    }

    /// Distance between the positions, metres.
    pub fn distance(&self, other: &Pose2) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.yaw.is_finite()
    }
}

/// The same angle in (-π, π]; 0 for what is not finite.
pub fn normalised(angle: f64) -> f64 {
    if !angle.is_finite() {
        return 0.0;
    }
    let turned = (angle + PI).rem_euclid(2.0 * PI) - PI;
    if turned <= -PI { PI } else { turned }
}

/// The smallest turn from one yaw to another, (-π, π].
pub fn turn(from: f64, to: f64) -> f64 {
    normalised(to - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pose_and_its_inverse_cancel(x in -9.0..9.0f64, y in -9.0..9.0f64, yaw in -9.0..9.0f64, u in -9.0..9.0f64, v in -9.0..9.0f64) {
            let pose = Pose2::new(x, y, yaw);
            let back = pose.inverse_transform(pose.transform([u, v]));
            prop_assert!((back[0] - u).abs() < 1e-9 && (back[1] - v).abs() < 1e-9);
            let nothing = pose.compose(&pose.inverse());
            prop_assert!(nothing.x.abs() < 1e-9 && nothing.y.abs() < 1e-9 && turn(0.0, nothing.yaw).abs() < 1e-9);
        }

        #[test]
        fn turns_are_the_short_way(a in -50.0..50.0f64, b in -50.0..50.0f64) {
            let way = turn(a, b);
            prop_assert!(way > -PI - 1e-9 && way <= PI + 1e-9);
            prop_assert!(((a + way - b) / (2.0 * PI) - ((a + way - b) / (2.0 * PI)).round()).abs() < 1e-9);
        }
    }
}
