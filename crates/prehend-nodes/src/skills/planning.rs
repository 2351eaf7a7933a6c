//! Questions to MoveIt: inverse kinematics, plans, straight lines. Nothing here moves the robot.

use super::moveit::MoveIt;
use super::speed::slow_down;
use super::validity::Validity;
use nalgebra::{Isometry3, Point3};
use prehend_convert as convert;
use prehend_execution::{Forbidden, Found, Miss, SkillFault, SpeedLimits};
use prehend_motion::{Fence, RobotModel};
use prehend_msgs::builtin_interfaces::msg::Duration as DurationMsg;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::moveit_msgs::action::MoveGroup;
use prehend_msgs::moveit_msgs::msg::{
    Constraints, JointConstraint, MotionPlanRequest, MoveItErrorCodes, PlanningOptions, PositionIKRequest,
    RobotState, RobotTrajectory,
};
use prehend_msgs::moveit_msgs::srv::{GetCartesianPath, GetPositionIK};
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_robots::RobotConfig;
use prehend_robots::motion_bounds::{Checked, MotionBounds};
use prehend_robots::move_group::fence_msg;
use prehend_robots::moveit::{self, Verdict};
use prehend_robots::moveit_layout::{Groups, Inverses, Lines};
use prehend_robots::robot::Distribution;
use prehend_robots::trajectory_check::{self, TrajectoryFault};
use prehend_ros::{Node, RosError};
use std::sync::Arc;

/// Longest planning time, seconds of the planner.
const PLANNING_TIME: f64 = 2.0;
/// Greatest distance between points of a straight line, metres.
const LINE_STEP: f64 = 0.005;
/// Least share of a straight line that must be possible.
const WHOLE_LINE: f64 = 0.995;
/// How far a trajectory may begin or end from where it was asked to: radians, metres. MoveIt itself refuses to execute beyond 0.01.
const SLACK: f64 = 0.01;

/// Why the planner found nothing.
#[derive(Clone, Debug, PartialEq)]
enum NotFound {
    /// MoveIt's error code.
    Code(&'static str, i32),
    /// Share of a straight line that is possible, and what ends it there when the planner says so.
    Line(f64, String),
    /// A pose that the tool may not have.
    Fence,
    /// Where the arm would be, and what touches what there.
    Touch(&'static str, String),
    /// What is wrong with the trajectory that the planner gave.
    Trajectory(TrajectoryFault),
}

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(what, code) => write!(f, "{what} {}", moveit::meaning(*code).0),
            Self::Touch(at, bodies) => write!(f, "{at} {bodies}"),
            Self::Fence => write!(f, "outside the fence"),
            Self::Trajectory(fault) => write!(f, "the planner's trajectory was not taken: {fault}"),
            Self::Line(share, why) if why.is_empty() => {
                write!(f, "only {:.0} % of the straight line", share * 100.0)
            }
            // Alike misses are counted together: how deep and how far is not of interest to a person.
            Self::Line(_, why) => write!(f, "on the straight line {}", why.split(" (").next().unwrap_or(why)),
        }
    }
}

impl From<NotFound> for Miss {
    fn from(why: NotFound) -> Self {
        Self(why.to_string())
    }
}

/// MoveIt's planning side.
#[derive(Debug)]
pub(super) struct Planner {
    move_group: Groups,
    cartesian: Lines,
    ik: Inverses,
    validity: Validity,
    moveit: Arc<MoveIt>,
    robot: RobotConfig,
    model: RobotModel,
    bounds: MotionBounds,
}

impl Planner {
    pub(super) fn new(
        node: &Node,
        robot: &RobotConfig,
        model: &RobotModel,
        moveit: Arc<MoveIt>,
    ) -> Result<Self, RosError> {
        Ok(Self {
            move_group: robot.moveit.groups(node)?,
            cartesian: robot.moveit.lines(node)?,
            ik: robot.moveit.inverses(node)?,
            validity: Validity::new(node, robot)?,
            moveit,
            bounds: MotionBounds::of(robot),
            robot: robot.clone(),
            model: model.clone(),
        })
    }

    /// A robot state with the gripper at an opening, metres.
    fn state(&self, joints: &[f64], opening: f64) -> RobotState {
        let (mut name, mut position) = (self.robot.arm.joints.clone(), joints.to_vec());
        name.push(self.robot.gripper.joint.clone());
        position.push(self.robot.gripper.position(opening));
        RobotState {
            joint_state: JointState { name, position, ..Default::default() },
            is_diff: true,
            ..Default::default()
        }
    }

    /// The fence for plans from these joints; `None` when they are none of the arm's.
    fn fence(&self, start: &[f64]) -> Option<Fence> {
        let tool = self.model.tip_pose(start).ok()?.translation.vector;
        Some(self.bounds.fence_from(&Point3::from(tool)))
    }

    /// The fence as MoveIt takes it.
    fn constraints(&self, fence: Option<&Fence>) -> Constraints {
        let frames = &self.robot.frames;
        fence.map(|fence| fence_msg(fence, &frames.base, &frames.tool)).unwrap_or_default()
    }

    /// Joints at which the tool is at `base_from_tool` without collision, near `seed`.
    pub(super) async fn ik(
        &self,
        base_from_tool: &Isometry3<f64>,
        seed: &[f64],
        opening: f64,
    ) -> Found<Vec<f64>> {
        if leaves(self.fence(seed), std::slice::from_ref(base_from_tool)) {
            return Ok(Err(NotFound::Fence.into()));
        }
        let ik_request = PositionIKRequest {
            group_name: self.robot.moveit.group.clone(),
            robot_state: self.state(seed, opening),
            avoid_collisions: true,
            ik_link_name: self.robot.frames.tool.clone(),
            pose_stamped: PoseStamped {
                header: convert::header(&self.robot.frames.base, 0.0),
                pose: convert::pose_to_msg(base_from_tool),
            },
            timeout: DurationMsg { sec: 0, nanosec: 100_000_000 },
            ..Default::default()
        };
        let request = GetPositionIK::Request { ik_request };
        let answer =
            self.moveit.answers("inverse kinematics", |longest| self.ik.request(request, longest)).await?;
        if let Err(miss) = answered("pose", answer.error_code.val)? {
            return Ok(Err(miss.into()));
        }
        Ok(self
            .arm_joints(&answer.solution.joint_state.name, &answer.solution.joint_state.position)
            .ok_or_else(|| NotFound::Code("pose", MoveItErrorCodes::INVALID_ROBOT_STATE).into()))
    }

    /// A collision-free motion from `start` to the joints `end`, inside the fence.
    pub(super) async fn plan(
        &self,
        start: &[f64],
        end: &[f64],
        opening: f64,
        velocity_scaling: f64,
    ) -> Found<Checked> {
        let Some(fence) = self.fence(start) else {
            return Ok(Err(NotFound::Code("plan", MoveItErrorCodes::INVALID_ROBOT_STATE).into()));
        };
        let found = match self.plan_within(None, (start, end), opening, velocity_scaling).await? {
            // MoveIt plans with path constraints in another space, more slowly and less surely: they are for where they are needed.
            Err(NotFound::Trajectory(TrajectoryFault::Fence { .. })) => {
                self.plan_within(Some(&fence), (start, end), opening, velocity_scaling).await?
            }
            found => found,
        };
        Ok(found.map_err(Miss::from))
    }

    async fn plan_within(
        &self,
        fence: Option<&Fence>,
        (start, end): (&[f64], &[f64]),
        opening: f64,
        velocity_scaling: f64,
    ) -> Result<Result<Checked, NotFound>, SkillFault> {
        let constraint = |(name, position): (&String, &f64)| JointConstraint {
            joint_name: name.clone(),
            position: *position,
            tolerance_above: 1e-4,
            tolerance_below: 1e-4,
            weight: 1.0,
        };
        let request = MotionPlanRequest {
            start_state: self.state(start, opening),
            goal_constraints: vec![Constraints {
                joint_constraints: self.robot.arm.joints.iter().zip(end).map(constraint).collect(),
                ..Default::default()
            }],
            path_constraints: self.constraints(fence),
            group_name: self.robot.moveit.group.clone(),
            pipeline_id: self.robot.moveit.pipeline.clone(),
            planner_id: self.robot.moveit.planner.clone(),
            num_planning_attempts: 1,
            allowed_planning_time: PLANNING_TIME,
            max_velocity_scaling_factor: velocity_scaling,
            max_acceleration_scaling_factor: self.robot.arm.acceleration_scaling,
            ..Default::default()
        };
        let goal = MoveGroup::Goal {
            request,
            planning_options: PlanningOptions { plan_only: true, ..Default::default() },
        };
        let planned = |longest| self.move_group.result(goal, longest, longest);
        let (_, result) = self.moveit.answers("planning", planned).await?;
        if let Err(miss) = answered("plan", result.error_code.val)? {
            return Ok(Err(self.explained(miss, [start, end], opening).await));
        }
        Ok(self.planned(result.planned_trajectory, start, Some(end), None))
    }

    /// Why there is no plan between two states, where MoveIt does not say.
    async fn explained(&self, miss: NotFound, [start, end]: [&[f64]; 2], opening: f64) -> NotFound {
        let NotFound::Code(_, MoveItErrorCodes::FAILURE) = miss else { return miss };
        for (at, joints) in [("where the arm is,", start), ("where the arm would go,", end)] {
            if let Some(bodies) = self.validity.touching(&self.moveit, self.state(joints, opening)).await {
                return NotFound::Touch(at, bodies);
            }
        }
        miss
    }

    /// A straight line of the tool from `start` through `poses`, inside the fence.
    pub(super) async fn line(
        &self,
        start: &[f64],
        poses: &[Isometry3<f64>],
        opening: f64,
        speed: SpeedLimits,
    ) -> Found<Checked> {
        let fence = self.fence(start);
        if leaves(fence, poses) {
            return Ok(Err(NotFound::Fence.into()));
        }
        let request = GetCartesianPath::Request {
            header: convert::header(&self.robot.frames.base, 0.0),
            start_state: self.state(start, opening),
            group_name: self.robot.moveit.group.clone(),
            link_name: self.robot.frames.tool.clone(),
            waypoints: poses.iter().map(convert::pose_to_msg).collect(),
            max_step: LINE_STEP,
            avoid_collisions: true,
            path_constraints: self.constraints(fence.as_ref()),
            max_velocity_scaling_factor: speed.velocity_scaling,
            max_acceleration_scaling_factor: self.robot.arm.acceleration_scaling,
            cartesian_speed_limited_link: match speed.tool {
                Some(_) => self.robot.frames.tool.clone(),
                None => String::new(),
            },
            max_cartesian_speed: speed.tool.unwrap_or(0.0),
            ..Default::default()
        };
        let answer =
            self.moveit.answers("straight line", |longest| self.cartesian.request(request, longest)).await?;
        let code = answered("line", answer.error_code.val)?;
        if let (Err(miss), true) = (code, answer.fraction <= 0.0) {
            return Ok(Err(miss.into()));
        }
        if answer.fraction.is_nan() || answer.fraction < WHOLE_LINE {
            return Ok(Err(NotFound::Line(answer.fraction, answer.error_code.message).into()));
        }
        // Humble's MoveIt times a line by the full limits. Jazzy's keeps to the scalings, but not to the tool's speed that it is asked for.
        let acceleration = match self.robot.moveit.distribution {
            Distribution::Humble => self.robot.arm.acceleration_scaling,
            Distribution::Jazzy => 1.0,
        };
        let mistimed = Some((speed, acceleration));
        Ok(self.planned(answer.solution, start, None, mistimed).map_err(Miss::from))
    }

    /// What a planner's trajectory becomes: slower where it must be, and checked. `mistimed`: the speed that a line shall keep
    /// to, and the share of the acceleration limits if it was timed by the full ones.
    fn planned(
        &self,
        mut trajectory: RobotTrajectory,
        start: &[f64],
        end: Option<&[f64]>,
        mistimed: Option<(SpeedLimits, f64)>,
    ) -> Result<Checked, NotFound> {
        let mut taken = || {
            trajectory_check::check(&trajectory, &self.robot.arm.joints, start, end, SLACK)?;
            if let Some((speed, acceleration)) = mistimed {
                slow_down(&mut trajectory, &self.model, speed, acceleration)
                    .map_err(|error| TrajectoryFault::Range { point: 0, error })?;
            }
            self.bounds.slow(&mut trajectory, &self.model)?;
            self.bounds.checked(std::mem::take(&mut trajectory), &self.model)
        };
        taken().map_err(|fault| {
            tracing::warn!("the planner's trajectory was not taken: {fault}");
            NotFound::Trajectory(fault)
        })
    }

    /// Arm joints in the robot file's order.
    fn arm_joints(&self, names: &[String], positions: &[f64]) -> Option<Vec<f64>> {
        let value = |wanted: &String| {
            let index = names.iter().position(|name| name == wanted)?;
            positions.get(index).copied().filter(|p| p.is_finite())
        };
        self.robot.arm.joints.iter().map(value).collect()
    }
}

/// Whether one of the poses is outside a fence.
fn leaves(fence: Option<Fence>, poses: &[Isometry3<f64>]) -> bool {
    let is_in = |fence: &Fence, pose: &Isometry3<f64>| fence.contains(&Point3::from(pose.translation.vector));
    fence.is_some_and(|fence| !poses.iter().all(|pose| is_in(&fence, pose)))
}

/// What an answer's code means for `what` was asked: found, not found, or that nothing will be found.
fn answered(what: &'static str, code: i32) -> Result<Result<(), NotFound>, SkillFault> {
    let (words, verdict) = moveit::meaning(code);
    match verdict {
        Verdict::Done => Ok(Ok(())),
        Verdict::Miss | Verdict::Failed => Ok(Err(NotFound::Code(what, code))),
        Verdict::Stopped => Err(Forbidden::Stopped(format!("{what}: {words}")).into()),
        Verdict::Broken(reason) => Err(SkillFault::Planner { phase: what, code, advice: words, reason }),
    }
}
