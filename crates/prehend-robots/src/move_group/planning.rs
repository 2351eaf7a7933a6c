//! What the services and actions compute, without ROS and without waiting: each function takes a copy of the scene.

use super::error::{MoveGroupError, success};
use super::fence;
use super::goal::{Goal, link_from_tip};
use super::scene::Scene;
use super::state::ArmState;
use super::trajectory;
use nalgebra::{Isometry3, Point3};
use prehend_convert::pose_from_msg;
use prehend_motion::{
    CartesianOptions, CartesianStop, IkOptions, MotionLimits, PlanOptions, RobotModel, Trajectory, simplify,
};
use prehend_msgs::moveit_msgs::msg::{MotionPlanRequest, RobotState, RobotTrajectory};
use prehend_msgs::moveit_msgs::srv::{GetCartesianPath, GetPositionIK};
use rand_chacha::ChaCha8Rng;

/// How far, rad over all joints, a corner of a free motion may be rounded.
const ROUNDING: f64 = 0.15;
/// The same for lines of the tool, with the tolerance of their simplification: together under 2 mm at the tool.
const LINE_ROUNDING: f64 = 0.002;
const LINE_TOLERANCE: f64 = 0.001;
/// Samples of the planner for a second of allowed planning time, and without one.
const ITERATIONS_PER_SECOND: f64 = 2000.0;
const DEFAULT_ITERATIONS: usize = 4000;
/// Distance of points on a line when the request gives none, m.
const DEFAULT_STEP: f64 = 0.005;

/// A planned motion.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) start: RobotState,
    pub(super) trajectory: RobotTrajectory,
}

/// One request's surroundings.
pub(super) struct Planner {
    pub(super) scene: Scene,
    pub(super) arm: ArmState,
    pub(super) limits: MotionLimits,
    pub(super) rng: ChaCha8Rng,
}

impl Planner {
    fn check_group(&self, group: &str) -> Result<(), MoveGroupError> {
        let known = &self.scene.world.model().group().name;
        if group == known {
            return Ok(());
        }
        Err(MoveGroupError::UnknownGroup { found: group.to_owned(), known: known.clone() })
    }

    /// The start that a request gives, with what it says is held.
    fn start(&mut self, message: &RobotState) -> Result<ArmState, MoveGroupError> {
        let start = self.arm.with(self.scene.world.model(), message)?;
        self.scene.apply_attached(&message.attached_collision_objects, &start)?;
        self.scene.world.set_drive(start.drive);
        Ok(start)
    }

    /// `/move_action` up to the motion.
    pub(super) fn plan(mut self, request: &MotionPlanRequest) -> Result<Planned, MoveGroupError> {
        self.check_group(&request.group_name)?;
        if !request.trajectory_constraints.constraints.is_empty() {
            return Err(MoveGroupError::Unsupported { what: "a trajectory constraint" });
        }
        let start = self.start(&request.start_state)?;
        let model = self.scene.world.model().clone();
        self.scene.world.set_fence(fence::from_msg(&request.path_constraints, &self.scene, &start)?);
        let joints = within_limits(&model, &start)?;
        if request.goal_constraints.is_empty() {
            return Err(MoveGroupError::Goal { reason: "none given".to_owned() });
        }
        let mut goals = Vec::new();
        let mut unreached = None;
        for constraints in &request.goal_constraints {
            match Goal::from_msg(constraints, &self.scene, &start)? {
                Goal::Joints(goal) => goals.push(goal),
                Goal::Pose { base_from_tip, symmetry } => {
                    let ik = IkOptions { symmetry, ..IkOptions::default() };
                    match model.inverse(&base_from_tip, &joints, &ik, &mut self.rng) {
                        Ok(found) => goals.extend(found),
                        Err(error) => unreached = Some(error),
                    }
                }
            }
        }
        if goals.is_empty()
            && let Some(error) = unreached
        {
            return Err(error.into());
        }
        let iterations = if request.allowed_planning_time > 0.0 {
            (request.allowed_planning_time.min(60.0) * ITERATIONS_PER_SECOND) as usize
        } else {
            DEFAULT_ITERATIONS
        };
        let options = PlanOptions { iterations, ..PlanOptions::default() };
        let path = self.scene.world.plan(&joints, &goals, &options, &mut self.rng)?;
        let limits =
            self.limits.scaled(request.max_velocity_scaling_factor, request.max_acceleration_scaling_factor);
        let timed = |limits: &MotionLimits| {
            Trajectory::collision_free(&path, limits, ROUNDING, &self.scene.world, options.step)
        };
        let timed = slow_enough(&model, &limits, request.max_cartesian_speed, timed)?;
        Ok(Planned { start: start.to_msg(&model), trajectory: trajectory::to_msg(&timed, &model) })
    }

    /// `/compute_ik`.
    pub(super) fn inverse(mut self, request: &GetPositionIK::Request) -> Result<RobotState, MoveGroupError> {
        let request = &request.ik_request;
        self.check_group(&request.group_name)?;
        if !request.pose_stamped_vector.is_empty() || !request.ik_link_names.is_empty() {
            return Err(MoveGroupError::Unsupported { what: "IK for several links" });
        }
        let seed = self.start(&request.robot_state)?;
        let model = self.scene.world.model().clone();
        let link_from_tip = link_from_tip(&model, &request.ik_link_name, &seed)?;
        let stamped = &request.pose_stamped;
        let pose =
            pose_from_msg(&stamped.pose).map_err(|error| MoveGroupError::Message { what: "pose", error })?;
        let goal = self.scene.base_from_frame(&stamped.header.frame_id, &seed)? * pose * link_from_tip;
        let fence = fence::from_msg(&request.constraints, &self.scene, &seed)?;
        let place = Point3::from(goal.translation.vector);
        if fence.is_some_and(|fence| !fence.contains(&place)) {
            return Err(MoveGroupError::IkBeyondFence { place: place.into() });
        }
        let many = IkOptions { solutions: 8, attempts: 48, ..IkOptions::default() };
        let ik = if request.avoid_collisions { many } else { IkOptions::default() };
        let solutions = model.inverse(&goal, &seed.joints, &ik, &mut self.rng)?;
        let mut first_contact = None;
        for joints in solutions {
            let contact = if request.avoid_collisions {
                self.scene.world.check(&joints).map_err(MoveGroupError::StartState)?
            } else {
                None
            };
            match contact {
                None => return Ok(ArmState { joints, drive: seed.drive }.to_msg(&model)),
                Some(contact) => {
                    first_contact.get_or_insert(contact);
                }
            }
        }
        Err(first_contact.map_or(MoveGroupError::Crash, MoveGroupError::IkInCollision))
    }

    /// `/compute_cartesian_path`.
    pub(super) fn line(
        mut self,
        request: &GetCartesianPath::Request,
    ) -> Result<GetCartesianPath::Response, MoveGroupError> {
        self.check_group(&request.group_name)?;
        let start = self.start(&request.start_state)?;
        let model = self.scene.world.model().clone();
        self.scene.world.set_fence(fence::from_msg(&request.path_constraints, &self.scene, &start)?);
        let joints = within_limits(&model, &start)?;
        let link_from_tip = link_from_tip(&model, &request.link_name, &start)?;
        let base_from_frame = self.scene.base_from_frame(&request.header.frame_id, &start)?;
        let waypoints: Vec<Isometry3<f64>> = request
            .waypoints
            .iter()
            .map(|pose| pose_from_msg(pose).map(|pose| base_from_frame * pose * link_from_tip))
            .collect::<Result<_, _>>()
            .map_err(|error| MoveGroupError::Message { what: "waypoint", error })?;
        let defaults = CartesianOptions::default();
        let given = |value: f64, default: f64| if value > 0.0 { value } else { default };
        let options = CartesianOptions {
            max_step: given(request.max_step, DEFAULT_STEP).min(0.05),
            max_joint_step: given(request.revolute_jump_threshold, defaults.max_joint_step),
            avoid_collisions: request.avoid_collisions,
            ..defaults
        };
        let mut path = self.scene.world.cartesian_path(&joints, &waypoints, &options)?;
        if request.jump_threshold > 0.0 {
            cut_at_jump(&mut path, request.jump_threshold);
        }
        let limits =
            self.limits.scaled(request.max_velocity_scaling_factor, request.max_acceleration_scaling_factor);
        let corners = simplify(&path.points, LINE_TOLERANCE);
        let timed = slow_enough(&model, &limits, request.max_cartesian_speed, |limits| {
            Trajectory::new(&corners, limits, LINE_ROUNDING)
        })?;
        let message = match &path.stopped {
            None => String::new(),
            Some(CartesianStop::NoIk) => "the line leaves the reach of the arm".to_owned(),
            Some(CartesianStop::Jump { step }) => format!("a joint would jump by {step:.2} rad"),
            Some(CartesianStop::Contact(contact)) => contact.to_string(),
            Some(CartesianStop::Fence { place: p }) => {
                format!("the line leaves the path constraints' box at ({:.3}, {:.3}, {:.3}) m", p.x, p.y, p.z)
            }
        };
        Ok(GetCartesianPath::Response {
            start_state: start.to_msg(&model),
            solution: trajectory::to_msg(&timed, &model),
            fraction: path.fraction,
            error_code: success(message),
        })
    }
}

/// A start that stands on a limit may be beyond it by the noise of the encoders.
const START_BEYOND_LIMIT: f64 = 1e-3;

fn within_limits(model: &RobotModel, start: &ArmState) -> Result<Vec<f64>, MoveGroupError> {
    let near = |(value, limit): (&f64, &prehend_motion::JointLimits)| {
        let clamped = value.clamp(limit.lower, limit.upper);
        if (clamped - value).abs() <= START_BEYOND_LIMIT { clamped } else { *value }
    };
    let joints: Vec<f64> = start.joints.iter().zip(model.limits()).map(near).collect();
    model.check_joints(&joints).map_err(MoveGroupError::StartState)?;
    Ok(joints)
}

/// Times a path, slower when the tip would be faster than `speed` (m/s; 0 is no limit).
fn slow_enough(
    model: &RobotModel,
    limits: &MotionLimits,
    speed: f64,
    time: impl Fn(&MotionLimits) -> Result<Trajectory, prehend_motion::TimingError>,
) -> Result<Trajectory, MoveGroupError> {
    let trajectory = time(limits)?;
    if !(speed.is_finite() && speed > 0.0) {
        return Ok(trajectory);
    }
    let mut fastest: f64 = 0.0;
    for point in trajectory.points(0.02) {
        if let Ok(jacobian) = model.jacobian(&point.positions) {
            let twist = jacobian * nalgebra::DVector::from_vec(point.velocities);
            fastest = fastest.max(twist.fixed_rows::<3>(0).norm());
        }
    }
    if fastest <= speed { Ok(trajectory) } else { Ok(time(&limits.slowed(speed / fastest))?) }
}

/// MoveIt's relative test: a step in joint space of more than `factor` times the mean step ends the path.
fn cut_at_jump(path: &mut prehend_motion::CartesianPath, factor: f64) {
    let steps: Vec<f64> = path
        .points
        .windows(2)
        .map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt())
        .collect();
    if steps.is_empty() {
        return;
    }
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    if let Some(jump) = steps.iter().position(|step| *step > factor * mean) {
        path.fraction *= jump as f64 / steps.len() as f64;
        path.stopped = Some(CartesianStop::Jump { step: steps[jump] });
        path.points.truncate(jump + 1);
    }
}
