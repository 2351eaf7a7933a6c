//! The arm's trajectory controller: follows points, stops smoothly, and holds still otherwise.

use super::model::{ArmModel, JointVector};
use super::settings::STEP;

/// How far the first point of a trajectory may be from where the arm is, rad (m for a slide).
pub const START_TOLERANCE: f64 = 0.05;
/// By how much points may exceed the joints' speed limits, as a factor.
const SPEED_TOLERANCE: f64 = 1.05;
/// Deceleration of a stop that was asked for, rad/s² (m/s² for a slide).
const STOP_DECELERATION: f64 = 10.0;
/// Deceleration of the force guard's stop, rad/s².
const GUARD_DECELERATION: f64 = 60.0;

/// A point of a trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPoint {
    /// Seconds from the start of the trajectory.
    pub time: f64,
    /// Joint positions, one for each joint, rad (m for a slide).
    pub positions: JointVector,
    /// Joint velocities, one for each joint, rad/s; without them the arm moves in straight joint lines.
    pub velocities: Option<JointVector>,
}

/// A number of one motion; later motions have larger ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MotionId(pub u64);

/// How a motion ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotionOutcome {
    /// The last point was reached.
    Succeeded,
    /// It was stopped on request.
    Stopped,
    /// A later trajectory took its place.
    Replaced,
    /// The force guard stopped it at this force, newtons.
    ForceLimit(f64),
}

/// A motion that ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionEnd {
    /// Which.
    pub id: MotionId,
    /// How.
    pub outcome: MotionOutcome,
}

/// A trajectory that the controller does not start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrajectoryError {
    /// The base drives: the interlock lets only one of them move.
    #[error("the base is driving")]
    Driving,
    /// No points.
    #[error("the trajectory has no points")]
    Empty,
    /// A point has another number of positions or velocities than the arm has joints.
    #[error("point {point} does not have {expected} positions and as many velocities, or none")]
    Count {
        /// Index of the point.
        point: usize,
        /// Joints of the arm.
        expected: usize,
    },
    /// A number is not finite.
    #[error("point {point} has a number that is not finite")]
    NotFinite {
        /// Index of the point.
        point: usize,
    },
    /// Times do not increase.
    #[error("point {point} is not later than the one before")]
    Time {
        /// Index of the point.
        point: usize,
    },
    /// A point is outside the joint limits.
    #[error("point {point} has {joint} at {position:.3} rad, outside {lower:.3} to {upper:.3}")]
    Limit {
        /// Index of the point.
        point: usize,
        /// Joint name.
        joint: String,
        /// Position asked for, rad.
        position: f64,
        /// Lower limit, rad.
        lower: f64,
        /// Upper limit, rad.
        upper: f64,
    },
    /// A joint would be faster than it can be.
    #[error("{joint} would turn at {speed:.2} rad/s at point {point}, its limit is {limit:.2}")]
    Speed {
        /// Index of the point.
        point: usize,
        /// Joint name.
        joint: String,
        /// Speed asked for, rad/s.
        speed: f64,
        /// Speed limit, rad/s.
        limit: f64,
    },
    /// The first point is not where the arm is.
    #[error("the first point is {distance:.3} rad from where {joint} is")]
    Start {
        /// Joint name.
        joint: String,
        /// Distance, rad.
        distance: f64,
    },
}

#[derive(Clone, Debug)]
struct Running {
    id: MotionId,
    points: Vec<JointPoint>,
    /// Time along the trajectory, seconds.
    at: f64,
    /// Rate at which it passes: 1 normally, falling to 0 in a stop.
    rate: f64,
    stop: Option<(MotionOutcome, f64)>,
}

/// Follows one trajectory at a time, the latest.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    positions: JointVector,
    velocities: JointVector,
    running: Option<Running>,
    /// The next motion does not come forward.
    jams: bool,
    next_id: u64,
}

impl Controller {
    pub(super) fn new(positions: &[f64]) -> Self {
        let velocities = vec![0.0; positions.len()];
        Self { positions: positions.to_vec(), velocities, running: None, jams: false, next_id: 1 }
    }

    pub(super) fn positions(&self) -> &[f64] {
        &self.positions
    }

    pub(super) fn velocities(&self) -> &[f64] {
        &self.velocities
    }

    pub(super) fn is_moving(&self) -> bool {
        self.running.is_some()
    }

    /// Checks a trajectory and starts it, from where and as fast as the arm is; gives the motion whose place it takes, too.
    ///
    /// So does ros2_control's joint_trajectory_controller. What it refuses disturbs nothing.
    pub(super) fn start(
        &mut self,
        model: &ArmModel,
        points: &[JointPoint],
    ) -> Result<(MotionId, Option<MotionEnd>), TrajectoryError> {
        let points = self.checked(model, points)?;
        let id = MotionId(self.next_id);
        self.next_id += 1;
        let rate = if std::mem::take(&mut self.jams) { 0.0 } else { 1.0 };
        let replaced = self.running.replace(Running { id, points, at: 0.0, rate, stop: None });
        Ok((id, replaced.map(|old| MotionEnd { id: old.id, outcome: MotionOutcome::Replaced })))
    }

    fn checked(&self, model: &ArmModel, points: &[JointPoint]) -> Result<Vec<JointPoint>, TrajectoryError> {
        let first = points.first().ok_or(TrajectoryError::Empty)?;
        let count = self.positions.len();
        for (index, point) in points.iter().enumerate() {
            let found = point.velocities.as_ref().map_or(count, Vec::len);
            if point.positions.len() != count || found != count {
                return Err(TrajectoryError::Count { point: index, expected: count });
            }
            let velocities = point.velocities.iter().flatten();
            if !point.time.is_finite() || point.positions.iter().chain(velocities).any(|v| !v.is_finite()) {
                return Err(TrajectoryError::NotFinite { point: index });
            }
            let before = if index == 0 { -f64::MIN_POSITIVE } else { points[index - 1].time };
            if point.time <= before {
                return Err(TrajectoryError::Time { point: index });
            }
            for (joint, limits) in model.joints().iter().enumerate() {
                let position = point.positions[joint];
                if position < limits.lower - 1e-6 || position > limits.upper + 1e-6 {
                    return Err(TrajectoryError::Limit {
                        point: index,
                        joint: limits.name.clone(),
                        position,
                        lower: limits.lower,
                        upper: limits.upper,
                    });
                }
            }
        }
        for (joint, limits) in model.joints().iter().enumerate() {
            let distance = (first.positions[joint] - self.positions[joint]).abs();
            if first.time < STEP && distance > START_TOLERANCE {
                return Err(TrajectoryError::Start { joint: limits.name.clone(), distance });
            }
        }
        // The motion always begins where the arm is, and as fast.
        let here = JointPoint {
            time: 0.0,
            positions: self.positions.clone(),
            velocities: first.velocities.as_ref().map(|_| self.velocities.clone()),
        };
        let rest = points.iter().filter(|point| point.time >= STEP).cloned();
        let points: Vec<JointPoint> = std::iter::once(here).chain(rest).collect();
        for (index, pair) in points.windows(2).enumerate() {
            let duration = pair[1].time - pair[0].time;
            for (joint, limits) in model.joints().iter().enumerate() {
                let mean = (pair[1].positions[joint] - pair[0].positions[joint]).abs() / duration;
                let given = pair[1].velocities.as_ref().map_or(0.0, |velocities| velocities[joint].abs());
                let speed = mean.max(given);
                if speed > limits.velocity * SPEED_TOLERANCE {
                    let (joint, limit) = (limits.name.clone(), limits.velocity);
                    return Err(TrajectoryError::Speed { point: index + 1, joint, speed, limit });
                }
            }
        }
        Ok(points)
    }

    /// The arm stays where it is and its motion, or the next one, goes on for whoever asked for it, until it is stopped.
    pub(super) fn jam(&mut self) {
        match &mut self.running {
            Some(running) => running.rate = 0.0,
            None => self.jams = true,
        }
    }

    /// Stops the running motion along its path; it ends with `outcome` when the arm stands.
    pub(super) fn stop(&mut self, outcome: MotionOutcome) {
        let fastest = self.velocities.iter().fold(0.0_f64, |most, speed| most.max(speed.abs()));
        let deceleration = match outcome {
            MotionOutcome::ForceLimit(_) => GUARD_DECELERATION,
            MotionOutcome::Succeeded | MotionOutcome::Stopped | MotionOutcome::Replaced => STOP_DECELERATION,
        };
        if let Some(running) = &mut self.running
            && (running.stop.is_none() || matches!(outcome, MotionOutcome::ForceLimit(_)))
        {
            let seconds = (fastest / deceleration).max(STEP);
            let outcome = running.stop.map_or(outcome, |(earlier, _)| earlier);
            running.stop = Some((outcome, running.rate / seconds));
        }
    }

    /// One step; gives the motion that ended in it.
    pub(super) fn step(&mut self) -> Option<MotionEnd> {
        let Some(running) = &mut self.running else {
            self.velocities.fill(0.0);
            return None;
        };
        if let Some((_, slowing)) = running.stop {
            running.rate = (running.rate - slowing * STEP).max(0.0);
        }
        running.at += running.rate * STEP;
        let end = running.points.last().map_or(0.0, |point| point.time);
        let (positions, velocities) = interpolate(&running.points, running.at.min(end));
        self.positions = positions;
        self.velocities = velocities.iter().map(|velocity| velocity * running.rate).collect();
        let outcome = match running.stop {
            Some((outcome, _)) if running.rate <= 0.0 => outcome,
            _ if running.at >= end => running.stop.map_or(MotionOutcome::Succeeded, |(outcome, _)| outcome),
            _ => return None,
        };
        let id = running.id;
        self.running = None;
        self.velocities.fill(0.0);
        Some(MotionEnd { id, outcome })
    }
}

/// Position and velocity at a time: cubic where both ends have velocities, linear otherwise.
fn interpolate(points: &[JointPoint], time: f64) -> (JointVector, JointVector) {
    let after = points.partition_point(|point| point.time <= time);
    let (Some(from), Some(to)) = (points.get(after.saturating_sub(1)), points.get(after)) else {
        let last = points.last().map(|point| point.positions.clone()).unwrap_or_default();
        let still = vec![0.0; last.len()];
        return (last, still);
    };
    let duration = to.time - from.time;
    let s = (time - from.time) / duration;
    let count = from.positions.len();
    let (mut positions, mut velocities) = (vec![0.0; count], vec![0.0; count]);
    for joint in 0..count {
        let (p0, p1) = (from.positions[joint], to.positions[joint]);
        match (&from.velocities, &to.velocities) {
            (Some(v0), Some(v1)) => {
                let (m0, m1) = (v0[joint] * duration, v1[joint] * duration);
                let (s2, s3) = (s * s, s * s * s);
                positions[joint] = (2.0 * s3 - 3.0 * s2 + 1.0) * p0
                    + (s3 - 2.0 * s2 + s) * m0
                    + (3.0 * s2 - 2.0 * s3) * p1
                    + (s3 - s2) * m1;
                velocities[joint] = ((6.0 * s2 - 6.0 * s) * (p0 - p1)
                    + (3.0 * s2 - 4.0 * s + 1.0) * m0
                    + (3.0 * s2 - 2.0 * s) * m1)
                    / duration;
            }
            _ => {
                positions[joint] = p0 + (p1 - p0) * s;
                velocities[joint] = (p1 - p0) / duration;
            }
        }
    }
    (positions, velocities)
}
