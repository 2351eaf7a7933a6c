//! Lines that a planner timed faster than they are to be followed.

use prehend_execution::SpeedLimits;
use prehend_motion::{JointError, RobotModel};
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_robots::trajectory_speed::{fastest, stretch};

/// Stretches the time of a trajectory until it keeps to `speed`, and to a share `acceleration` of the joints' acceleration limits, which is
/// for a planner that times by the full limits, as Humble's MoveIt does with every line; 1 else. Jazzy's MoveIt (2.12.4) does not keep to the
/// speed of the tool that it is asked for. Speeds are measured in the trajectory and held
/// against the limits of `model`. Accelerations are not measured: they are taken to be at their limits. The trajectory must be for the
/// joints of `model`, in any order.
///
/// Errors: positions that the model does not have.
pub(super) fn slow_down(
    trajectory: &mut RobotTrajectory,
    model: &RobotModel,
    speed: SpeedLimits,
    acceleration: f64,
) -> Result<(), JointError> {
    let fastest = fastest(trajectory, model)?;
    let mut by = (fastest.share / speed.velocity_scaling).max(acceleration.powf(-0.5)).max(1.0);
    if let Some(tip) = speed.tool {
        by = by.max(fastest.tip / tip);
    }
    stretch(trajectory, by);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::builtin_interfaces::msg::Duration;
    use prehend_msgs::trajectory_msgs::msg::JointTrajectoryPoint;
    use prehend_robots::RobotConfig;
    use prehend_robots::trajectory_check::seconds;
    use std::path::Path;

    /// Joint 1 turns half a radian in half a second.
    fn turn(model: &RobotModel, home: &[f64], with_velocities: bool) -> RobotTrajectory {
        let mut trajectory = RobotTrajectory::default();
        // In another order than the model's.
        trajectory.joint_trajectory.joint_names = model.joint_names().iter().rev().cloned().collect();
        let point = |nanosec: u32, angle: f64, velocity: f64| {
            let (mut positions, mut velocities) = (home.to_vec(), vec![0.0; home.len()]);
            positions[0] += angle;
            velocities[0] = velocity;
            positions.reverse();
            velocities.reverse();
            JointTrajectoryPoint {
                positions,
                velocities: if with_velocities { velocities } else { Vec::new() },
                accelerations: vec![4.0; home.len()],
                time_from_start: Duration { sec: 0, nanosec },
                ..Default::default()
            }
        };
        trajectory.joint_trajectory.points =
            vec![point(0, 0.0, 0.0), point(250_000_000, 0.25, 2.0), point(500_000_000, 0.5, 0.0)];
        trajectory
    }

    #[test]
    fn a_line_that_was_timed_at_full_speed_keeps_to_its_pace() {
        let robot = RobotConfig::load(Path::new("xarm6")).expect("the robot");
        let urdf = std::fs::read_to_string(&robot.urdf).expect("a description");
        let model = RobotModel::from_urdf(&urdf, robot.group()).expect("a model");
        let radius = model.tip_pose(&robot.home).expect("a pose").translation.vector.xy().norm();
        let limit = model.limits()[0].velocity;
        assert!(2.0 / limit < 0.9, "{limit}");
        for (speed, acceleration, with_velocities, stretch) in [
            (SpeedLimits::from(0.1), 1.0, true, 2.0 / limit / 0.1),
            (SpeedLimits::from(0.1), 1.0, false, 1.0 / limit / 0.1),
            // It is as slow as that already.
            (SpeedLimits::from(0.9), 1.0, true, 1.0),
            (SpeedLimits::from(0.9), 0.25, true, 2.0),
            (SpeedLimits::from(1.0), 0.04, true, 5.0),
            (SpeedLimits::from(1.0), 1.0, true, 1.0),
            (SpeedLimits { velocity_scaling: 0.5, tool: Some(0.02) }, 1.0, true, 2.0 * radius / 0.02),
            // Half a radian's chord in half a second.
            (
                SpeedLimits { velocity_scaling: 0.5, tool: Some(0.02) },
                1.0,
                false,
                2.0 * radius * 0.125_f64.sin() / 0.25 / 0.02,
            ),
        ] {
            let before = turn(&model, &robot.home, with_velocities);
            let mut slow = before.clone();
            slow_down(&mut slow, &model, speed, acceleration).expect("the model's joints");
            let last = slow.joint_trajectory.points.last().expect("a point");
            assert!((seconds(last) - 0.5 * stretch).abs() < 1e-4 * stretch, "{speed:?}: {last:?}");
            assert!((last.accelerations[0] - 4.0 / stretch / stretch).abs() < 1e-6, "{speed:?}");
            for (slow, before) in slow.joint_trajectory.points.iter().zip(&before.joint_trajectory.points) {
                assert_eq!(slow.positions, before.positions);
                let velocities = slow.velocities.iter().zip(&before.velocities);
                assert!(velocities.into_iter().all(|(slow, before)| (slow - before / stretch).abs() < 1e-6));
            }
        }
    }
}
