//! What no motion may exceed, whoever planned it: less than what the robot's own safety is armed with, so that a motion is refused
//! before the controller would stop it.
//!
//! Boxes, one in the other, confine the tool centre point: goals stay in the workspace of the robot file's `limits`, motions are planned
//! in a fence some way outside it, trajectories that leave one a little farther out are refused, and at the whole of `fence_margin` the
//! controller stops the arm. Read [`MotionBounds`] first.

use crate::RobotConfig;
use crate::arming::ArmingConfig;
use crate::trajectory_check::{self, TrajectoryFault};
use crate::trajectory_speed::{Fastest, fastest, stretch};
use nalgebra::Point3;
use prehend_execution::Planned;
use prehend_motion::{Fence, JointError, RobotModel};
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use std::ops::Deref;

/// How far out from the workspace the fence of plans is, and the one that a trajectory is refused beyond, as shares of the way to the
/// controller's. In between is room for what a planner does not look at, its samples' distance and its timing; after them for how far
/// the arm is from where it is sent.
const PLANNED: f64 = 0.5;
const REFUSED: f64 = 0.75;
/// That way where no controller has a fence, metres: that of the robots that have one.
const NO_FENCE: f64 = 0.05;
/// How much farther out than an arm that stands outside it may go on its way back, metres: a boundary that it stands on would refuse it
/// for the last digit.
const BACK: f64 = 0.001;
/// Share of the armed speeds that motions are slowed to: controllers are faster between the points than at them.
const SPEED: f64 = 0.95;
/// How far beyond its range a joint may be, radians or metres: the noise of one that stands at its end.
const RANGE: f64 = 2e-3;
/// Greatest way of the tool between two places that are looked at, metres.
const STEP: f64 = 0.005;

/// The bounds of every motion of one robot.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionBounds {
    planned: Fence,
    refused: Fence,
    /// Greatest speed that the controller allows: of a joint, radians per second; of the tool, metres per second.
    armed: Option<(f64, f64)>,
}

/// A trajectory that keeps to the bounds. There is no other way to one than [`MotionBounds::checked`].
#[derive(Clone, Debug)]
pub struct Checked {
    trajectory: RobotTrajectory,
    /// The joints at each point, in the order of the model.
    positions: Vec<Vec<f64>>,
}

impl Checked {
    /// The time of each point from the start, seconds, and the joints there, in the order of the model.
    pub fn timed(&self) -> impl Iterator<Item = (f64, Vec<f64>)> {
        let times = self.trajectory.joint_trajectory.points.iter().map(trajectory_check::seconds);
        times.zip(self.positions.iter().cloned())
    }
}

impl Planned for Checked {
    fn positions(&self) -> &[Vec<f64>] {
        &self.positions
    }
}

impl Deref for Checked {
    type Target = RobotTrajectory;

    fn deref(&self) -> &RobotTrajectory {
        &self.trajectory
    }
}

impl From<Checked> for RobotTrajectory {
    fn from(checked: Checked) -> Self {
        checked.trajectory
    }
}

impl MotionBounds {
    /// Those of the robot file.
    pub fn of(robot: &RobotConfig) -> Self {
        let workspace = Fence::new(robot.limits.workspace_low, robot.limits.workspace_high);
        let (margin, armed) = match &robot.arming {
            Some(ArmingConfig::XArm(xarm)) => {
                (xarm.fence_margin, Some((xarm.max_joint_speed, xarm.max_tcp_speed)))
            }
            Some(ArmingConfig::Stretch(_)) | None => (NO_FENCE, None),
        };
        Self { planned: workspace.grown(PLANNED * margin), refused: workspace.grown(REFUSED * margin), armed }
    }

    /// The fence for plans from where the tool is: one that it stands outside of is as much wider as it needs to come back.
    pub fn fence_from(&self, tool: &Point3<f64>) -> Fence {
        back_into(&self.planned, tool)
    }

    /// Slows a trajectory down to the speeds that the controller is armed with, less a margin.
    ///
    /// Errors: [`TrajectoryFault::Range`] for positions that the model does not have.
    pub fn slow(&self, trajectory: &mut RobotTrajectory, model: &RobotModel) -> Result<(), TrajectoryFault> {
        let Some((turn, tip)) = self.armed else { return Ok(()) };
        let fastest =
            fastest(trajectory, model).map_err(|error| TrajectoryFault::Range { point: 0, error })?;
        let by = (fastest.turn / (SPEED * turn)).max(fastest.tip / (SPEED * tip));
        if by > 1.0 {
            stretch(trajectory, by);
        }
        Ok(())
    }

    /// The trajectory, when it keeps to the bounds all the way. From a start outside the fence or a joint's range it may not go
    /// farther out than it is.
    ///
    /// Errors: [`TrajectoryFault`], the first that is found.
    pub fn checked(
        &self,
        trajectory: RobotTrajectory,
        model: &RobotModel,
    ) -> Result<Checked, TrajectoryFault> {
        let positions = self.check(&trajectory, model)?;
        Ok(Checked { trajectory, positions })
    }

    /// The joints at each point of a trajectory that keeps to the bounds, in the order of the model.
    pub fn check(
        &self,
        trajectory: &RobotTrajectory,
        model: &RobotModel,
    ) -> Result<Vec<Vec<f64>>, TrajectoryFault> {
        let order = trajectory_check::order(&trajectory.joint_trajectory, model.joint_names())?;
        let points: Vec<Vec<f64>> = trajectory
            .joint_trajectory
            .points
            .iter()
            .map(|point| order.iter().map(|at| point.positions[*at]).collect())
            .collect();
        let Some(first) = points.first() else { return Err(TrajectoryFault::Empty) };
        for (point, joints) in points.iter().enumerate() {
            if let Some(error) = out_of_range(model, first, joints) {
                return Err(TrajectoryFault::Range { point, error });
            }
        }
        let range = |point: usize| move |error: JointError| TrajectoryFault::Range { point, error };
        let tool = model.tip_pose(first).map_err(range(0))?.translation.vector;
        let fence = back_into(&self.refused, &Point3::from(tool));
        for (point, ends) in points.windows(2).enumerate() {
            let beyond = model.first_beyond(&fence, &ends[0], &ends[1], STEP).map_err(range(point))?;
            if let Some(place) = beyond {
                return Err(TrajectoryFault::Fence { point, place: place.into() });
            }
        }
        let Some((turn, tip)) = self.armed else { return Ok(points) };
        let fastest = fastest(trajectory, model).map_err(range(0))?;
        let Fastest { turn: turns, tip: goes, .. } = fastest;
        if turns > turn {
            return Err(TrajectoryFault::JointSpeed { speed: turns, limit: turn });
        }
        if goes > tip {
            return Err(TrajectoryFault::ToolSpeed { speed: goes, limit: tip });
        }
        Ok(points)
    }
}

/// A fence as far out as a tool outside it needs it.
fn back_into(fence: &Fence, tool: &Point3<f64>) -> Fence {
    if fence.contains(tool) { *fence } else { fence.holding(tool).grown(BACK) }
}

/// The joint that is beyond its range, farther than the noise of its encoder and than it was at first.
fn out_of_range(model: &RobotModel, first: &[f64], joints: &[f64]) -> Option<JointError> {
    let all = model.limits().iter().zip(first).zip(joints).enumerate();
    all.into_iter().find_map(|(joint, ((limits, first), value))| {
        let beyond = |value: f64| (limits.lower - value).max(value - limits.upper);
        let (lower, upper) = (limits.lower, limits.upper);
        (beyond(*value) > beyond(*first).max(RANGE)).then_some(JointError::OutOfLimits {
            joint,
            value: *value,
            lower,
            upper,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory_check::seconds;
    use prehend_motion::{MotionLimits, Trajectory};
    use std::path::Path;

    fn robot() -> (RobotConfig, RobotModel) {
        let robot = RobotConfig::load(Path::new("xarm6")).expect("the robot");
        let urdf = std::fs::read_to_string(&robot.urdf).expect("a description");
        let model = RobotModel::from_urdf(&urdf, robot.group()).expect("a model");
        (robot, model)
    }

    /// A path at these speeds.
    fn timed(path: &[Vec<f64>], speed: f64, model: &RobotModel) -> RobotTrajectory {
        let limits = MotionLimits::uniform(model.dof(), speed, 8.0, 80.0);
        crate::move_group::timed_msg(&Trajectory::new(path, &limits, 0.0).expect("a path"), model)
    }

    fn turned(joints: &[f64], joint: usize, by: f64) -> Vec<f64> {
        let mut turned = joints.to_vec();
        turned[joint] += by;
        turned
    }

    #[test]
    fn the_boxes_are_one_in_the_other() {
        for name in ["xarm6", "ranger_xarm6", "stretch"] {
            let robot = RobotConfig::load(Path::new(name)).expect("the robot");
            let bounds = MotionBounds::of(&robot);
            let controller = Fence::new(robot.limits.workspace_low, robot.limits.workspace_high).grown(
                match &robot.arming {
                    Some(ArmingConfig::XArm(xarm)) => xarm.fence_margin,
                    _ => NO_FENCE,
                },
            );
            let boxes = [
                robot.limits.workspace_high,
                bounds.planned.high(),
                bounds.refused.high(),
                controller.high(),
            ];
            for axis in 0..3 {
                let steps = boxes.windows(2).map(|pair| pair[1][axis] - pair[0][axis]);
                // Samples of the planner leave 6 mm out, its timing of lines 2 mm.
                assert!(steps.into_iter().all(|step| step > 0.009), "{name}: {boxes:?}");
            }
        }
    }

    #[test]
    fn what_leaves_the_fence_is_refused_and_what_comes_back_is_not() {
        let (robot, model) = robot();
        let bounds = MotionBounds::of(&robot);
        // From one side to the other with the arm outstretched: beyond the front of the fence in between.
        let reach = [0.0, 0.7, -1.9, 0.0, -0.3, 0.0];
        let (left, right) = (turned(&reach, 0, 0.7), turned(&reach, 0, -0.7));
        let place = |joints: &[f64]| model.tip_pose(joints).expect("joints").translation.vector;
        assert!(place(&reach).x > 0.82 && bounds.planned.contains(&place(&left).into()), "{}", place(&reach));
        let around = [left.clone(), robot.home.clone(), right.clone()];
        assert!(bounds.check(&timed(&around, 0.3, &model), &model).is_ok());
        let across = bounds.check(&timed(&[left.clone(), right], 0.3, &model), &model);
        assert!(matches!(across, Err(TrajectoryFault::Fence { place, .. }) if place[0] > 0.81), "{across:?}");
        // A pair of points is looked at in between.
        let mut coarse = timed(&[left.clone(), turned(&reach, 0, -0.7)], 0.3, &model);
        let ends = [
            coarse.joint_trajectory.points[0].clone(),
            coarse.joint_trajectory.points.last().expect("it").clone(),
        ];
        coarse.joint_trajectory.points = ends.to_vec();
        assert!(matches!(bounds.check(&coarse, &model), Err(TrajectoryFault::Fence { .. })));
        // An arm that stands outside may come in, and not go farther out.
        assert!(bounds.check(&timed(&[reach.to_vec(), left.clone()], 0.3, &model), &model).is_ok());
        let farther = turned(&reach, 1, 0.1);
        assert!(place(&farther).x > place(&reach).x + 0.01);
        let out = bounds.check(&timed(&[reach.to_vec(), farther], 0.3, &model), &model);
        assert!(matches!(out, Err(TrajectoryFault::Fence { .. })), "{out:?}");
        let fence = bounds.fence_from(&Point3::from(place(&reach)));
        assert!(fence.contains(&place(&reach).into()) && fence.contains(&place(&left).into()));
        assert_eq!(bounds.fence_from(&Point3::from(place(&left))), bounds.planned);
    }

    #[test]
    fn speeds_are_slowed_below_what_is_armed_and_refused_above() {
        let (robot, model) = robot();
        let bounds = MotionBounds::of(&robot);
        let (turn, tip) = bounds.armed.expect("an xArm is armed");
        // The wrist alone; then the whole arm about its first joint.
        let far = [0.5, 0.1, -0.6, 0.0, 0.5, 0.0];
        for (from, joint) in [(robot.home.as_slice(), 5), (far.as_slice(), 0)] {
            let path = [from.to_vec(), turned(from, joint, -1.5)];
            let mut fast = timed(&path, 2.0, &model);
            let refused = bounds.check(&fast, &model);
            assert!(
                matches!(refused, Err(TrajectoryFault::JointSpeed { speed, .. }) if speed > 1.9),
                "{refused:?}"
            );
            bounds.slow(&mut fast, &model).expect("the model's joints");
            assert_eq!(bounds.check(&fast, &model).map(drop), Ok(()));
            let found = fastest(&fast, &model).expect("the model's joints");
            let margin = (found.turn / turn).max(found.tip / tip);
            assert!((0.93..=0.951).contains(&margin), "{margin}");
            let slow = fast.clone();
            bounds.slow(&mut fast, &model).expect("the model's joints");
            let last = |t: &RobotTrajectory| t.joint_trajectory.points.last().map(seconds).expect("points");
            assert!((last(&fast) - last(&slow)).abs() < 1e-3, "what is slow enough stays as it is");
        }
        // A joint no faster than it may be, and the tool faster.
        let mut long = bounds.clone();
        long.armed = Some((turn, 0.2));
        let path = [far.to_vec(), turned(&far, 0, -0.5)];
        let refused = long.check(&timed(&path, 1.0, &model), &model);
        assert!(matches!(refused, Err(TrajectoryFault::ToolSpeed { limit: 0.2, .. })), "{refused:?}");
    }

    #[test]
    fn a_joint_goes_no_farther_beyond_its_range_than_it_stands() {
        let (robot, model) = robot();
        let bounds = MotionBounds::of(&robot);
        // The last joint turns the tool on the spot.
        let upper = model.limits()[5].upper;
        let at = |value: f64| {
            let mut joints = robot.home.clone();
            joints[5] = value;
            joints
        };
        let check = |from: f64, to: f64| bounds.check(&timed(&[at(from), at(to)], 0.3, &model), &model);
        assert_eq!(check(upper - 0.2, upper + 1e-3).map(drop), Ok(()), "noise");
        let out = check(upper - 0.2, upper + 0.01);
        assert!(
            matches!(
                out,
                Err(TrajectoryFault::Range { error: JointError::OutOfLimits { joint: 5, .. }, .. })
            ),
            "{out:?}"
        );
        assert_eq!(check(upper + 0.02, upper - 0.1).map(drop), Ok(()));
        assert!(check(upper + 0.02, upper + 0.03).is_err());
    }
}
