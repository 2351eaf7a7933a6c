//! Inverse kinematics: several joint vectors for a tip pose, nearest to a seed first.
//!
//! Damped least squares on the full pose error with projection onto the joint limits, from the seed and from random starts.
//! It assumes nothing about the wrist: the xArm6's is offset by 76 mm, so closed forms for spherical wrists do not apply.
//! Arms of three slides and a wrist have a closed form of their own, in `slides.rs`.

use crate::kinematics::JointAxis;
use crate::slides::{FreeTurn, SlidesAndWrist};
use crate::{IkOptions, JointError, JointLimits, RobotModel};
use nalgebra::{Isometry3, Matrix6, Matrix6xX, UnitQuaternion, Vector3, Vector6};
use rand::{Rng, RngExt};
use std::f64::consts::{PI, TAU};

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IkError {
    /// The seed cannot be used.
    #[error("seed: {0}")]
    Seed(#[from] JointError),
    /// The goal is not finite.
    #[error("the goal pose is not finite")]
    BadGoal,
    /// No attempt ended on the goal within the joint limits.
    #[error("no joint values reach the pose ({attempts} attempts)")]
    Unreachable {
        /// Attempts made.
        attempts: usize,
    },
}

impl RobotModel {
    /// Joint vectors within the limits that put the tip at `base_from_tip`, by travel from `seed`, nearest first.
    ///
    /// Joints with more than a turn of range are taken at the turn nearest to the seed. The result is not empty.
    /// Errors: [`IkError::Seed`] (wrong length or not finite; a seed outside the limits is clamped), [`IkError::BadGoal`],
    /// [`IkError::Unreachable`].
    pub fn inverse(
        &self,
        base_from_tip: &Isometry3<f64>,
        seed: &[f64],
        options: &IkOptions,
        rng: &mut impl Rng,
    ) -> Result<Vec<Vec<f64>>, IkError> {
        self.check_numbers(seed)?;
        if !is_finite(base_from_tip) {
            return Err(IkError::BadGoal);
        }
        let closed = SlidesAndWrist::of(self);
        let mut solver = Solver::new(self, *options);
        let mut solutions: Vec<Vec<f64>> = Vec::new();
        let mut attempts = 0;
        for turn in options.symmetry.turns() {
            let goal = base_from_tip * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn);
            if let Some(closed) = &closed {
                attempts += 1;
                for found in closed.solve(&goal, seed, options, FreeTurn::Many) {
                    if !solutions.iter().any(|known| distance(known, &found) < SAME) {
                        solutions.push(found);
                    }
                }
                continue;
            }
            let before = solutions.len();
            for attempt in 0..options.attempts {
                attempts += 1;
                let start = if attempt == 0 {
                    self.clamped(seed)
                } else {
                    random_start(&self.limits()[..self.reaching], seed, rng)
                        .into_iter()
                        .chain(self.clamped(seed).split_off(self.reaching))
                        .collect()
                };
                let Some(mut found) = solver.descend(&goal, start) else { continue };
                unwind(self.limits(), seed, &mut found);
                if !solutions.iter().any(|known| distance(known, &found) < SAME) {
                    solutions.push(found);
                }
                if solutions.len() - before >= options.solutions {
                    break;
                }
            }
        }
        if solutions.is_empty() {
            return Err(IkError::Unreachable { attempts });
        }
        solutions.sort_by(|a, b| travel(a, seed).total_cmp(&travel(b, seed)));
        Ok(solutions)
    }

    /// The solution that continuous motion from `seed` leads to, when there is one: no random starts.
    ///
    /// Errors: as [`RobotModel::inverse`].
    pub fn inverse_near(
        &self,
        base_from_tip: &Isometry3<f64>,
        seed: &[f64],
        options: &IkOptions,
    ) -> Result<Vec<f64>, IkError> {
        self.check_numbers(seed)?;
        if !is_finite(base_from_tip) {
            return Err(IkError::BadGoal);
        }
        let found = match SlidesAndWrist::of(self) {
            Some(closed) => {
                let all = closed.solve(base_from_tip, seed, options, FreeTurn::Seed);
                all.into_iter().min_by(|a, b| distance(a, seed).total_cmp(&distance(b, seed)))
            }
            None => Solver::new(self, *options).descend(base_from_tip, self.clamped(seed)),
        };
        found.ok_or(IkError::Unreachable { attempts: 1 })
    }

    /// The joint vector inside the limits that is nearest to `joints`.
    pub(crate) fn clamped(&self, joints: &[f64]) -> Vec<f64> {
        joints.iter().zip(self.limits()).map(|(value, limit)| value.clamp(limit.lower, limit.upper)).collect()
    }
}

/// Two solutions nearer than this in every joint, rad, are one.
const SAME: f64 = 0.02;
/// Weight of a radian of orientation error against a metre: about the length of the hand.
const ROTATION_WEIGHT: f64 = 0.25;
/// Greatest change of a joint in one step, rad.
const STEP: f64 = 0.6;

pub(crate) fn is_finite(pose: &Isometry3<f64>) -> bool {
    pose.translation.vector.iter().chain(pose.rotation.coords.iter()).all(|value| value.is_finite())
        && (pose.rotation.coords.norm() - 1.0).abs() < 1e-3
}

/// Greatest change of one joint.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Sum of all changes: what the arm must travel.
pub(crate) fn travel(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

/// A start at random: within half a turn of the seed for joints with more than a turn, anywhere for the others.
fn random_start(limits: &[JointLimits], seed: &[f64], rng: &mut impl Rng) -> Vec<f64> {
    let one = |(limit, seed): (&JointLimits, &f64)| {
        let (lower, upper) = if limit.upper - limit.lower > TAU {
            let seed = seed.clamp(limit.lower, limit.upper);
            ((seed - PI).max(limit.lower), (seed + PI).min(limit.upper))
        } else {
            (limit.lower, limit.upper)
        };
        lower + (upper - lower) * rng.random::<f64>()
    };
    limits.iter().zip(seed).map(one).collect()
}

/// Takes every joint with more than a turn of range to the turn nearest to the seed that is inside the limits.
fn unwind(limits: &[JointLimits], seed: &[f64], joints: &mut [f64]) {
    for ((joint, limit), seed) in joints.iter_mut().zip(limits).zip(seed) {
        if limit.upper - limit.lower < TAU {
            continue;
        }
        let nearest = *joint - ((*joint - seed) / TAU).round() * TAU;
        let inside = [nearest, nearest - TAU, nearest + TAU]
            .into_iter()
            .filter(|value| limit.contains(*value))
            .min_by(|a, b| (a - seed).abs().total_cmp(&(b - seed).abs()));
        *joint = inside.unwrap_or(*joint).clamp(limit.lower, limit.upper);
    }
}

/// One damped least-squares descent, with its buffers.
struct Solver<'a> {
    model: &'a RobotModel,
    options: IkOptions,
    axes: Vec<JointAxis>,
    jacobian: Matrix6xX<f64>,
}

impl<'a> Solver<'a> {
    fn new(model: &'a RobotModel, options: IkOptions) -> Self {
        Self {
            model,
            options,
            axes: Vec::with_capacity(model.dof()),
            jacobian: Matrix6xX::zeros(model.dof()),
        }
    }

    /// Weighted error, and whether it is within the tolerances.
    fn error(&self, goal: &Isometry3<f64>, tip: &Isometry3<f64>) -> (Vector6<f64>, bool) {
        let linear = goal.translation.vector - tip.translation.vector;
        let angular = (goal.rotation * tip.rotation.inverse()).scaled_axis();
        let content = linear.norm() < self.options.position_tolerance
            && angular.norm() < self.options.rotation_tolerance;
        let angular = angular * ROTATION_WEIGHT;
        (Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z), content)
    }

    fn descend(&mut self, goal: &Isometry3<f64>, mut joints: Vec<f64>) -> Option<Vec<f64>> {
        let limits = self.model.limits();
        let mut tip = self.model.tip_and_axes(&joints, &mut self.axes);
        let (mut error, mut content) = self.error(goal, &tip);
        let mut damping = 1e-3;
        let mut next = joints.clone();
        for _ in 0..self.options.iterations {
            if content {
                return Some(joints);
            }
            for (column, axis) in self.axes.iter().enumerate() {
                let mut twist = axis.twist_at(&tip.translation.vector);
                twist.fixed_rows_mut::<3>(3).scale_mut(ROTATION_WEIGHT);
                self.jacobian.set_column(column, &twist);
            }
            // A joint that stands at its limit and would leave it takes no part in this step.
            let gradient = self.jacobian.transpose() * error;
            for (joint, limit) in limits.iter().enumerate() {
                let outward = (joints[joint] >= limit.upper && gradient[joint] > 0.0)
                    || (joints[joint] <= limit.lower && gradient[joint] < 0.0);
                if outward {
                    self.jacobian.column_mut(joint).fill(0.0);
                }
            }
            let normal = &self.jacobian * self.jacobian.transpose();
            let mut improved = false;
            for _ in 0..6 {
                let damped: Matrix6<f64> =
                    normal + Matrix6::identity() * damping * error.norm().clamp(1e-6, 1.0);
                let Some(factor) = damped.cholesky() else {
                    damping *= 10.0;
                    continue;
                };
                let step = self.jacobian.tr_mul(&factor.solve(&error));
                let scale = (STEP / step.amax().max(1e-12)).min(1.0);
                for (joint, limit) in limits.iter().enumerate() {
                    next[joint] = (joints[joint] + scale * step[joint]).clamp(limit.lower, limit.upper);
                }
                let next_tip = self.model.tip_and_axes(&next, &mut self.axes);
                let (next_error, next_content) = self.error(goal, &next_tip);
                if next_error.norm_squared() < error.norm_squared() {
                    let slow = next_error.norm() > 0.999 * error.norm();
                    (tip, error, content) = (next_tip, next_error, next_content);
                    joints.copy_from_slice(&next);
                    damping = (damping * 0.3).max(1e-7);
                    improved = !slow || content;
                    break;
                }
                damping = (damping * 8.0).min(1e3);
            }
            if !improved && !content {
                return None;
            }
        }
        content.then_some(joints)
    }
}
