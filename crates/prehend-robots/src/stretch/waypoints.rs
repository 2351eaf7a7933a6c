//! A timed trajectory as the few points that a driver can be sent to one after the other.
//!
//! In mode `position` each joint goes to a point with a ramp of its own. So between two points the arm may be anywhere in the box that they
//! span. The points are so near to each other that this does not matter, and the joints get speeds that let them arrive together.

use crate::trajectory_check::{self, TrajectoryFault};
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};

/// Longest way of a joint between two points: sliding joints, metres, and turning ones, radians.
const LONGEST: [f64; 2] = [0.06, 0.35];
/// How far a joint may be from the straight line between two points: metres, radians.
const ASIDE: [f64; 2] = [0.003, 0.015];
/// Least speeds that are asked for, m/s and rad/s: the driver takes 0 for no way to get there.
const SLOWEST: [f64; 2] = [0.01, 0.05];

/// A joint of the arm, as the robot file has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Joint {
    pub(super) name: String,
    /// Whether it slides (metres) or turns (radians).
    pub(super) slides: bool,
}

impl Joint {
    /// The one of two values that is for this kind of joint: sliding, turning.
    pub(super) fn of(&self, [sliding, turning]: [f64; 2]) -> f64 {
        if self.slides { sliding } else { turning }
    }
}

/// A point to go to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Waypoint {
    /// Positions in the order of the joints, metres or radians.
    pub(super) positions: Vec<f64>,
    /// Speeds by which all joints get there from the point before in the trajectory's time, m/s or rad/s.
    pub(super) speeds: Vec<f64>,
}

/// One point of a trajectory, in the order of the joints.
struct Sample {
    time: f64,
    positions: Vec<f64>,
}

/// The points to go to; the first is where the trajectory begins.
///
/// Errors: [`TrajectoryFault`].
pub(super) fn waypoints(
    trajectory: &JointTrajectory,
    joints: &[Joint],
) -> Result<Vec<Waypoint>, TrajectoryFault> {
    let names: Vec<String> = joints.iter().map(|joint| joint.name.clone()).collect();
    let order = trajectory_check::order(trajectory, &names)?;
    let sample = |point: &JointTrajectoryPoint| Sample {
        time: trajectory_check::seconds(point),
        positions: order.iter().map(|from| point.positions[*from]).collect(),
    };
    let samples: Vec<Sample> = trajectory.points.iter().map(sample).collect();
    let Some(first) = samples.first() else { return Err(TrajectoryFault::Empty) };
    let still = |positions: &[f64]| Waypoint {
        positions: positions.to_vec(),
        speeds: joints.iter().map(|joint| joint.of(SLOWEST)).collect(),
    };
    let mut found = vec![still(&first.positions)];
    let mut from = 0;
    while from + 1 < samples.len() {
        let mut to = from + 1;
        while to + 1 < samples.len() && is_straight(&samples[from..=to + 1], joints) {
            to += 1;
        }
        let time = samples[to].time - samples[from].time;
        let speeds = joints.iter().zip(samples[to].positions.iter().zip(&samples[from].positions));
        let speeds = speeds.map(|(joint, (to, from))| ((to - from).abs() / time).max(joint.of(SLOWEST)));
        found.push(Waypoint { positions: samples[to].positions.clone(), speeds: speeds.collect() });
        from = to;
    }
    Ok(found)
}

/// Whether the last sample can be gone to from the first, leaving out those between.
fn is_straight(samples: &[Sample], joints: &[Joint]) -> bool {
    let [first, between @ .., last] = samples else { return true };
    let way = |to: &Sample| -> Vec<f64> {
        to.positions.iter().zip(&first.positions).map(|(to, from)| to - from).collect()
    };
    let line = way(last);
    if line.iter().zip(joints).any(|(way, joint)| way.abs() > joint.of(LONGEST)) {
        return false;
    }
    // In units of what is allowed, so that slides and turns can be held against each other.
    let scaled = |way: &[f64]| -> Vec<f64> {
        way.iter().zip(joints).map(|(way, joint)| way / joint.of(ASIDE)).collect()
    };
    let line = scaled(&line);
    let length: f64 = line.iter().map(|step| step * step).sum();
    between.iter().all(|sample| {
        let at = scaled(&way(sample));
        let along: f64 = at.iter().zip(&line).map(|(at, line)| at * line).sum();
        let share = if length > 0.0 { (along / length).clamp(0.0, 1.0) } else { 0.0 };
        at.iter().zip(&line).all(|(at, line)| (at - share * line).abs() <= 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::builtin_interfaces::msg::Duration;

    fn joints() -> Vec<Joint> {
        [("lift", true), ("yaw", false)].map(|(name, slides)| Joint { name: name.to_owned(), slides }).into()
    }

    /// Points 20 ms apart.
    fn trajectory(points: &[[f64; 2]]) -> JointTrajectory {
        let point = |(index, positions): (usize, &[f64; 2])| JointTrajectoryPoint {
            positions: positions.to_vec(),
            time_from_start: Duration { sec: 0, nanosec: 20_000_000 * index as u32 },
            ..Default::default()
        };
        JointTrajectory {
            joint_names: vec!["lift".to_owned(), "yaw".to_owned()],
            points: points.iter().enumerate().map(point).collect(),
            ..Default::default()
        }
    }

    fn positions(path: &[Waypoint]) -> Vec<[f64; 2]> {
        path.iter().map(|waypoint| [waypoint.positions[0], waypoint.positions[1]]).collect()
    }

    #[test]
    fn a_line_is_cut_by_its_length_and_joints_arrive_together() {
        // Slow at its ends, as timed lines are.
        let points: Vec<[f64; 2]> = (0..=40)
            .map(|index| {
                let share = 0.5 - 0.5 * (std::f64::consts::PI * f64::from(index) / 40.0).cos();
                [0.3 + 0.15 * share, 1.0 - 0.4 * share]
            })
            .collect();
        let path = waypoints(&trajectory(&points), &joints()).expect("a trajectory");
        assert!((4..=5).contains(&path.len()), "{path:?}");
        assert_eq!(positions(&path).first(), Some(&[0.3, 1.0]));
        let end = path.last().expect("an end");
        assert!((end.positions[0] - 0.45).abs() < 1e-12 && (end.positions[1] - 0.6).abs() < 1e-12);
        for pair in path.windows(2) {
            let way = |joint: usize| (pair[1].positions[joint] - pair[0].positions[joint]).abs();
            assert!(way(0) <= 0.06 + 1e-9, "{pair:?}");
            let times = [0, 1].map(|joint: usize| way(joint) / pair[1].speeds[joint]);
            assert!((times[0] - times[1]).abs() < 1e-9, "{pair:?}");
        }
    }

    #[test]
    fn corners_stay() {
        let rise = (0..=10).map(|step| [0.3 + 0.004 * f64::from(step), 0.0]);
        let sweep = (1..=10).map(|step| [0.34, 0.02 * f64::from(step)]);
        let points: Vec<[f64; 2]> = rise.chain(sweep).collect();
        let path = positions(&waypoints(&trajectory(&points), &joints()).expect("a trajectory"));
        // A corner may be cut by the 3 mm that are allowed, and by no more.
        assert_eq!(path.len(), 3, "{path:?}");
        assert!((path[1][0] - 0.34).abs() <= 0.004 + 1e-9 && path[1][1] <= 0.02 + 1e-9, "{path:?}");
    }

    #[test]
    fn there_and_back_is_no_rest() {
        let points = [[0.30, 0.0], [0.32, 0.0], [0.34, 0.0], [0.32, 0.0], [0.30, 0.0]];
        let path = positions(&waypoints(&trajectory(&points), &joints()).expect("a trajectory"));
        assert_eq!(path, [[0.30, 0.0], [0.34, 0.0], [0.30, 0.0]]);
    }

    #[test]
    fn joints_come_in_any_order_and_what_is_no_trajectory_is_refused() {
        let mut swapped = trajectory(&[[0.0, 0.3], [0.0, 0.31]]);
        swapped.joint_names.reverse();
        assert_eq!(positions(&waypoints(&swapped, &joints()).expect("another order"))[1], [0.31, 0.0]);
        swapped.joint_names.pop();
        let found = waypoints(&swapped, &joints());
        assert!(matches!(found, Err(TrajectoryFault::Joints { .. })), "{found:?}");
        assert_eq!(waypoints(&trajectory(&[]), &joints()), Err(TrajectoryFault::Empty));
    }
}
