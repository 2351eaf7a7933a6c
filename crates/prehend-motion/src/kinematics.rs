//! Forward kinematics and Jacobian.

use crate::model::JointMotion;
use crate::{JointError, RobotModel};
use nalgebra::{Isometry3, Matrix6xX, Translation3, Unit, UnitQuaternion, Vector3, Vector6};

impl RobotModel {
    /// Pose of every link, `base_from_link`, in the order of [`RobotModel::links`].
    ///
    /// `drive` is the value of the gripper's drive joint, rad; without one it is ignored. Limits are not checked.
    /// Errors: [`JointError::Count`], [`JointError::NotFinite`].
    pub fn link_poses(&self, joints: &[f64], drive: f64) -> Result<Vec<Isometry3<f64>>, JointError> {
        self.check_numbers(joints)?;
        let mut poses = Vec::with_capacity(self.links().len());
        self.link_poses_into(joints, if drive.is_finite() { drive } else { 0.0 }, &mut poses);
        Ok(poses)
    }

    /// As [`RobotModel::link_poses`] for joints known to be good, into a reused vector.
    pub(crate) fn link_poses_into(&self, joints: &[f64], drive: f64, poses: &mut Vec<Isometry3<f64>>) {
        poses.clear();
        for link in self.links() {
            let parent = link.parent.map_or_else(Isometry3::identity, |parent| poses[parent]);
            let joint = parent * link.parent_from_joint;
            poses.push(match &link.motion {
                JointMotion::Fixed => joint,
                JointMotion::Arm { index, axis, prismatic } => {
                    joint * moved(axis, *prismatic, joints[*index])
                }
                JointMotion::Follow { index, axis, prismatic, multiplier, offset } => {
                    joint * moved(axis, *prismatic, multiplier * joints[*index] + offset)
                }
                JointMotion::Drive { axis, prismatic, multiplier, offset } => {
                    joint * moved(axis, *prismatic, multiplier * drive + offset)
                }
            });
        }
    }

    /// Pose of the tip, `base_from_tip`. Limits are not checked.
    ///
    /// Errors: [`JointError::Count`], [`JointError::NotFinite`].
    pub fn tip_pose(&self, joints: &[f64]) -> Result<Isometry3<f64>, JointError> {
        self.check_numbers(joints)?;
        Ok(self.tip_and_axes(joints, &mut Vec::new()))
    }

    /// Geometric Jacobian of the tip's origin in the base frame: rows 0-2 m/s, rows 3-5 rad/s, a column for each joint
    /// (zero for one that the tip does not hang on).
    ///
    /// Errors: [`JointError::Count`], [`JointError::NotFinite`].
    pub fn jacobian(&self, joints: &[f64]) -> Result<Matrix6xX<f64>, JointError> {
        self.check_numbers(joints)?;
        let mut axes = Vec::new();
        let tip = self.tip_and_axes(joints, &mut axes);
        let mut jacobian = Matrix6xX::zeros(self.dof());
        for (column, axis) in axes.iter().enumerate() {
            jacobian.set_column(column, &axis.twist_at(&tip.translation.vector));
        }
        Ok(jacobian)
    }

    /// Pose of the tip, and the axis of each joint that moves it at this configuration, walking the chain only.
    pub(crate) fn tip_and_axes(&self, joints: &[f64], axes: &mut Vec<JointAxis>) -> Isometry3<f64> {
        axes.clear();
        let mut pose = Isometry3::identity();
        for link in &self.path {
            let link = &self.links()[*link];
            pose *= link.parent_from_joint;
            if let JointMotion::Arm { index, axis, prismatic } = &link.motion {
                axes.push(JointAxis {
                    origin: pose.translation.vector,
                    direction: pose.rotation * axis.into_inner(),
                    prismatic: *prismatic,
                });
                pose *= moved(axis, *prismatic, joints[*index]);
            }
        }
        pose
    }
}

/// A joint's axis in the base frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointAxis {
    pub(crate) origin: Vector3<f64>,
    pub(crate) direction: Vector3<f64>,
    pub(crate) prismatic: bool,
}

impl JointAxis {
    /// Twist of a body point at `point` for unit speed of the joint: linear, then angular.
    pub(crate) fn twist_at(&self, point: &Vector3<f64>) -> Vector6<f64> {
        let (linear, angular) = if self.prismatic {
            (self.direction, Vector3::zeros())
        } else {
            (self.direction.cross(&(point - self.origin)), self.direction)
        };
        Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
    }
}

fn moved(axis: &Unit<Vector3<f64>>, prismatic: bool, value: f64) -> Isometry3<f64> {
    if prismatic {
        Isometry3::from_parts(Translation3::from(axis.into_inner() * value), UnitQuaternion::identity())
    } else {
        Isometry3::from_parts(Translation3::identity(), UnitQuaternion::from_axis_angle(axis, value))
    }
}
