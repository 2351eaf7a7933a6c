//! How fast a trajectory is, and the same trajectory slower.

use crate::trajectory_check::seconds;
use prehend_motion::{JointError, RobotModel};
use prehend_msgs::builtin_interfaces::msg::Duration;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_msgs::trajectory_msgs::msg::JointTrajectoryPoint;

/// The greatest speeds of a trajectory.
pub struct Fastest {
    /// Of a joint, as a share of its limit.
    pub share: f64,
    /// Of a joint that turns, radians per second.
    pub turn: f64,
    /// Of the tool, metres per second.
    pub tip: f64,
}

/// The greatest speeds at the points by their velocities, and from each point to the next. The trajectory must be one for the joints
/// of `model`, in any order.
///
/// Errors: positions that the model does not have.
pub fn fastest(trajectory: &RobotTrajectory, model: &RobotModel) -> Result<Fastest, JointError> {
    let names = &trajectory.joint_trajectory.joint_names;
    let order: Vec<Option<usize>> =
        model.joint_names().iter().map(|joint| names.iter().position(|name| name == joint)).collect();
    let of = |numbers: &[f64]| -> Vec<f64> {
        order.iter().map(|at| at.and_then(|at| numbers.get(at)).copied().unwrap_or(0.0)).collect()
    };
    let mut fastest = Fastest { share: 0.0, turn: 0.0, tip: 0.0 };
    let joints_at = |fastest: &mut Fastest, speeds: &[f64]| {
        for (joint, (speed, limits)) in speeds.iter().zip(model.limits()).enumerate() {
            fastest.share = fastest.share.max(speed.abs() / limits.velocity);
            if !model.slides(joint) {
                fastest.turn = fastest.turn.max(speed.abs());
            }
        }
    };
    let mut before: Option<(f64, Vec<f64>, nalgebra::Vector3<f64>)> = None;
    for point in &trajectory.joint_trajectory.points {
        let JointTrajectoryPoint { positions, velocities, .. } = point;
        let (time, joints, velocities) = (seconds(point), of(positions), of(velocities));
        let tip = model.tip_pose(&joints)?.translation.vector;
        joints_at(&mut fastest, &velocities);
        let twist = model.jacobian(&joints)? * nalgebra::DVector::from_vec(velocities);
        fastest.tip = fastest.tip.max(twist.fixed_rows::<3>(0).norm());
        if let Some((last_time, last_joints, last_tip)) = before {
            let step = (time - last_time).max(1e-6);
            let speeds: Vec<f64> =
                joints.iter().zip(&last_joints).map(|(to, from)| (to - from) / step).collect();
            joints_at(&mut fastest, &speeds);
            fastest.tip = fastest.tip.max((tip - last_tip).norm() / step);
        }
        before = Some((time, joints, tip));
    }
    Ok(fastest)
}

/// Has a trajectory take `by` times as long.
pub fn stretch(trajectory: &mut RobotTrajectory, by: f64) {
    for point in &mut trajectory.joint_trajectory.points {
        let later = seconds(point) * by;
        point.time_from_start =
            Duration { sec: later as i32, nanosec: ((later - later.floor()) * 1e9) as u32 };
        point.velocities.iter_mut().for_each(|velocity| *velocity /= by);
        point.accelerations.iter_mut().for_each(|acceleration| *acceleration /= by * by);
    }
}
