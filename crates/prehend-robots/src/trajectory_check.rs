//! What a trajectory must be before it is executed, whoever planned it.

use prehend_motion::JointError;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};

/// Why a trajectory is not executed.
#[expect(missing_docs, reason = "each message says what it is")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrajectoryFault {
    #[error("it is empty")]
    Empty,
    #[error("it moves more than the arm's joints")]
    MultiDof,
    #[error("its joints {found:?} are not the arm's")]
    Joints { found: Vec<String> },
    #[error("point {point} has {found} {what} for {expected} joints")]
    Length { point: usize, what: &'static str, found: usize, expected: usize },
    #[error("point {point} has {what} that are no numbers")]
    NotFinite { point: usize, what: &'static str },
    #[error("point {point} is not later than the one before")]
    Time { point: usize },
    #[error("it begins {off:.3} away from where the arm is, at {joint}")]
    Start { joint: String, off: f64 },
    #[error("it ends {off:.3} away from the goal, at {joint}")]
    End { joint: String, off: f64 },
    #[error("after point {point} the tool is beyond the fence, at ({:.3}, {:.3}, {:.3}) m", place[0], place[1], place[2])]
    Fence { point: usize, place: [f64; 3] },
    #[error("point {point}: {error}")]
    Range { point: usize, error: JointError },
    #[error("a joint turns at {speed:.2} rad/s; the arm allows {limit:.2}")]
    JointSpeed { speed: f64, limit: f64 },
    #[error("the tool goes {speed:.2} m/s; the arm allows {limit:.2}")]
    ToolSpeed { speed: f64, limit: f64 },
}

/// Whether a trajectory is one for these joints, each once in any order, from `start` on and, if a goal is given, to it. Both may be
/// off by `slack`; all are radians, or metres of joints that slide.
///
/// Errors: [`TrajectoryFault`], the first that is found.
pub fn check(
    trajectory: &RobotTrajectory,
    joints: &[String],
    start: &[f64],
    goal: Option<&[f64]>,
    slack: f64,
) -> Result<(), TrajectoryFault> {
    if !trajectory.multi_dof_joint_trajectory.points.is_empty() {
        return Err(TrajectoryFault::MultiDof);
    }
    let joint_trajectory = &trajectory.joint_trajectory;
    let order = order(joint_trajectory, joints)?;
    let (Some(first), Some(last)) = (joint_trajectory.points.first(), joint_trajectory.points.last()) else {
        return Err(TrajectoryFault::Empty);
    };
    let off = |positions: &[f64], wanted: &[f64]| {
        let far = |(i, wanted): (usize, &f64)| (joints[i].clone(), (positions[order[i]] - wanted).abs());
        wanted.iter().enumerate().take(joints.len()).map(far).find(|(_, off)| *off > slack)
    };
    if let Some((joint, off)) = off(&first.positions, start) {
        return Err(TrajectoryFault::Start { joint, off });
    }
    match goal.and_then(|goal| off(&last.positions, goal)) {
        Some((joint, off)) => Err(TrajectoryFault::End { joint, off }),
        None => Ok(()),
    }
}

/// Whether a trajectory has points, one after the other, of numbers for these joints, each once in any order. Where each joint is in it.
///
/// Errors: [`TrajectoryFault`], the first that is found.
pub fn order(trajectory: &JointTrajectory, joints: &[String]) -> Result<Vec<usize>, TrajectoryFault> {
    let (names, points) = (&trajectory.joint_names, &trajectory.points);
    if points.is_empty() {
        return Err(TrajectoryFault::Empty);
    }
    let order: Option<Vec<usize>> =
        joints.iter().map(|joint| names.iter().position(|name| name == joint)).collect();
    let order = order
        .filter(|_| names.len() == joints.len())
        .ok_or_else(|| TrajectoryFault::Joints { found: names.clone() })?;
    let mut before = -1.0;
    for (point, p) in points.iter().enumerate() {
        for (what, numbers) in
            [("positions", &p.positions), ("velocities", &p.velocities), ("accelerations", &p.accelerations)]
        {
            let may_lack = what != "positions" && numbers.is_empty();
            if numbers.len() != joints.len() && !may_lack {
                let (found, expected) = (numbers.len(), joints.len());
                return Err(TrajectoryFault::Length { point, what, found, expected });
            }
            if !numbers.iter().all(|number| number.is_finite()) {
                return Err(TrajectoryFault::NotFinite { point, what });
            }
        }
        let time = seconds(p);
        if time <= before {
            return Err(TrajectoryFault::Time { point });
        }
        before = time;
    }
    Ok(order)
}

/// Time of a point from the start, seconds.
pub fn seconds(point: &JointTrajectoryPoint) -> f64 {
    f64::from(point.time_from_start.sec) + f64::from(point.time_from_start.nanosec) * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::builtin_interfaces::msg::Duration;

    fn joints() -> Vec<String> {
        ["a", "b"].map(String::from).to_vec()
    }

    fn clean() -> RobotTrajectory {
        let point = |sec: i32, positions: [f64; 2]| JointTrajectoryPoint {
            positions: positions.to_vec(),
            velocities: vec![0.0; 2],
            time_from_start: Duration { sec, nanosec: 0 },
            ..Default::default()
        };
        let mut trajectory = RobotTrajectory::default();
        trajectory.joint_trajectory.joint_names = joints();
        trajectory.joint_trajectory.points =
            vec![point(0, [0.0, 1.0]), point(1, [0.5, 1.5]), point(2, [1.0, 2.0])];
        trajectory
    }

    fn checked(trajectory: &RobotTrajectory) -> Result<(), TrajectoryFault> {
        check(trajectory, &joints(), &[0.0, 1.0], Some(&[1.0, 2.0]), 0.01)
    }

    #[test]
    fn each_thing_that_is_wrong_with_a_trajectory_is_told() {
        assert_eq!(checked(&clean()), Ok(()));
        let mut turned = clean();
        turned.joint_trajectory.joint_names.reverse();
        turned.joint_trajectory.points.iter_mut().for_each(|point| point.positions.reverse());
        assert_eq!(checked(&turned), Ok(()), "another order, said so");

        type Break = fn(&mut RobotTrajectory);
        type Expected = fn(&TrajectoryFault) -> bool;
        let cases: [(Break, Expected); 13] = [
            (|t| t.joint_trajectory.points.clear(), |f| *f == TrajectoryFault::Empty),
            (
                |t| t.multi_dof_joint_trajectory.points.push(Default::default()),
                |f| *f == TrajectoryFault::MultiDof,
            ),
            (
                |t| t.joint_trajectory.joint_names[1] = "c".into(),
                |f| matches!(f, TrajectoryFault::Joints { .. }),
            ),
            (
                |t| t.joint_trajectory.joint_names[1] = "a".into(),
                |f| matches!(f, TrajectoryFault::Joints { .. }),
            ),
            (
                |t| t.joint_trajectory.joint_names.push("c".into()),
                |f| matches!(f, TrajectoryFault::Joints { .. }),
            ),
            // The names in another order than the numbers.
            (|t| t.joint_trajectory.joint_names.reverse(), |f| matches!(f, TrajectoryFault::Start { .. })),
            (
                |t| t.joint_trajectory.points[1].positions.truncate(1),
                |f| matches!(f, TrajectoryFault::Length { point: 1, what: "positions", .. }),
            ),
            (
                |t| t.joint_trajectory.points[0].positions.clear(),
                |f| matches!(f, TrajectoryFault::Length { .. }),
            ),
            (
                |t| t.joint_trajectory.points[1].velocities[0] = f64::NAN,
                |f| matches!(f, TrajectoryFault::NotFinite { point: 1, what: "velocities" }),
            ),
            (
                |t| t.joint_trajectory.points[1].positions[0] = f64::INFINITY,
                |f| matches!(f, TrajectoryFault::NotFinite { point: 1, what: "positions" }),
            ),
            (
                |t| t.joint_trajectory.points[2].time_from_start.sec = 1,
                |f| *f == TrajectoryFault::Time { point: 2 },
            ),
            (
                |t| t.joint_trajectory.points[0].positions[1] += 0.02,
                |f| matches!(f, TrajectoryFault::Start { .. }),
            ),
            (
                |t| t.joint_trajectory.points[2].positions[1] += 0.02,
                |f| matches!(f, TrajectoryFault::End { .. }),
            ),
        ];
        for (index, (break_it, expected)) in cases.into_iter().enumerate() {
            let mut trajectory = clean();
            break_it(&mut trajectory);
            let found = checked(&trajectory).expect_err("broken");
            assert!(expected(&found), "case {index}: {found:?}");
        }
    }
}
