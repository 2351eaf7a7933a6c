//! Planned trajectories on the wire.

use prehend_motion::{RobotModel, Trajectory};
use prehend_msgs::builtin_interfaces::msg::Duration;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};

/// Distance in time of the points of a planned trajectory, s.
const INTERVAL: f64 = 0.02;

/// A timed path as a message.
pub(crate) fn to_msg(trajectory: &Trajectory, model: &RobotModel) -> RobotTrajectory {
    let point = |point: prehend_motion::TrajectoryPoint| JointTrajectoryPoint {
        positions: point.positions,
        velocities: point.velocities,
        accelerations: point.accelerations,
        time_from_start: duration(point.time),
        ..Default::default()
    };
    let mut joints = JointTrajectory {
        joint_names: model.joint_names().to_vec(),
        points: trajectory.points(INTERVAL).into_iter().map(point).collect(),
        ..Default::default()
    };
    joints.header.frame_id = model.group().base.clone();
    RobotTrajectory { joint_trajectory: joints, ..Default::default() }
}

fn duration(seconds: f64) -> Duration {
    let whole = seconds.floor().clamp(0.0, f64::from(i32::MAX));
    let nanosec = (((seconds - whole) * 1e9).round().max(0.0) as u32).min(999_999_999);
    Duration { sec: whole as i32, nanosec }
}
