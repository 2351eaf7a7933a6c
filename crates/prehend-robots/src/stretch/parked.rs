//! Where the base was parked, and how far it has rolled since: the arm's first joint.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_navigation::Pose2;
use prehend_navigation::pose::turn;

/// How the base stands, seen from where it was parked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Roll {
    /// Way ahead, metres; negative back.
    pub(super) ahead: f64,
    /// Way to the left, metres: wheels slip.
    pub(super) aside: f64,
    /// Turn to the left, radians.
    pub(super) turned: f64,
}

/// The base by its odometry. It is parked where it was when it last moved for something else than the arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parked {
    odom_from_parked: Pose2,
    odom_from_base: Pose2,
}

impl Parked {
    /// It is parked where it is.
    pub(super) fn here(odom_from_base: Pose2) -> Self {
        Self { odom_from_parked: odom_from_base, odom_from_base }
    }

    /// Takes what the odometry says. `arms`: it moves as a joint of the arm, otherwise it is being driven.
    pub(super) fn heard(&mut self, odom_from_base: Pose2, arms: bool) {
        self.odom_from_base = odom_from_base;
        if !arms {
            self.odom_from_parked = odom_from_base;
        }
    }

    /// How far it has rolled.
    pub(super) fn roll(&self) -> Roll {
        let [ahead, aside] = self.odom_from_parked.inverse_transform(self.odom_from_base.xy());
        Roll { ahead, aside, turned: turn(self.odom_from_parked.yaw, self.odom_from_base.yaw) }
    }

    /// The place where it was parked, in the frame of the base as it is.
    pub(super) fn base_from_parked(&self) -> Isometry3<f64> {
        let pose = self.odom_from_base.inverse().compose(&self.odom_from_parked);
        Isometry3::from_parts(
            Translation3::new(pose.x, pose.y, 0.0),
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), pose.yaw),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn it_rolls_along_the_heading_it_was_parked_with() {
        let mut base = Parked::here(Pose2::new(1.0, 2.0, FRAC_PI_2));
        base.heard(Pose2::new(0.99, 2.2, FRAC_PI_2 + 0.01), true);
        let Roll { ahead, aside, turned } = base.roll();
        assert!((ahead - 0.2).abs() < 1e-12 && (aside - 0.01).abs() < 1e-12 && (turned - 0.01).abs() < 1e-12);
        let parked = base.base_from_parked();
        // Behind, and a little to the right, because it has turned to the left.
        assert!((parked.translation.vector - Vector3::new(-0.2, -0.008, 0.0)).norm() < 2e-3, "{parked}");
        assert!((parked.rotation.euler_angles().2 + 0.01).abs() < 1e-12);
    }

    #[test]
    fn it_is_parked_anew_where_it_was_driven_to() {
        let mut base = Parked::here(Pose2::new(0.0, 0.0, 0.0));
        base.heard(Pose2::new(0.1, 0.0, 0.0), true);
        base.heard(Pose2::new(3.0, 1.0, 1.0), false);
        assert_eq!(base.roll(), Roll { ahead: 0.0, aside: 0.0, turned: 0.0 });
        base.heard(Pose2::new(3.0 + 0.1 * 1.0_f64.cos(), 1.0 + 0.1 * 1.0_f64.sin(), 1.0), true);
        assert!((base.roll().ahead - 0.1).abs() < 1e-12);
    }
}
