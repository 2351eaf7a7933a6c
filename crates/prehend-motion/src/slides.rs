//! Inverse kinematics in closed form for arms of three slides that carry a wrist of three turns, such as Stretch's with its base.
//!
//! The slides turn nothing, so the wrist alone must give the orientation (two ways at most) and the slides make up for where it then is.
//! Where the first and the last axis of the wrist are parallel, as for a hand that points straight down, the first turn is free: the seed's is
//! taken, and for [`RobotModel::inverse`] others as well. Descent would crawl there.

use crate::{IkOptions, JointLimits, RobotModel};
use nalgebra::{Isometry3, Matrix3, Unit, UnitQuaternion, Vector3};
use std::f64::consts::TAU;

/// Sine of the angle between the outer axes of the wrist, below which they count as parallel.
const PARALLEL: f64 = 1e-5;
/// Values of a free turn that are tried besides the seed's.
const FREE: usize = 16;

/// Which values of a free turn are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreeTurn {
    /// The seed's.
    Seed,
    /// The seed's, and others over its range.
    Many,
}

/// An arm of three slides and a wrist of three turns, at joint values 0.
pub(crate) struct SlidesAndWrist<'a> {
    model: &'a RobotModel,
    metres_from_way: Matrix3<f64>,
    axes: [Vector3<f64>; 3],
    base_from_tip: Isometry3<f64>,
}

impl<'a> SlidesAndWrist<'a> {
    /// The model as such an arm, when it is one.
    pub(crate) fn of(model: &'a RobotModel) -> Option<Self> {
        if model.reaching != 6 {
            return None;
        }
        let mut axes = Vec::new();
        let base_from_tip = model.tip_and_axes(&vec![0.0; model.dof()], &mut axes);
        let (slides, turns) = axes.split_at_checked(3)?;
        let fits = slides.iter().all(|axis| axis.prismatic) && turns.iter().all(|axis| !axis.prismatic);
        let ways: Vec<Vector3<f64>> = slides.iter().map(|axis| axis.direction).collect();
        let metres_from_way = Matrix3::from_columns(&ways).try_inverse()?;
        let axes =
            [0, 1, 2].map(|turn: usize| turns.get(turn).map_or_else(Vector3::z, |axis| axis.direction));
        fits.then_some(Self { model, metres_from_way, axes, base_from_tip })
    }

    /// Joint vectors within the limits that put the tip at `goal`; joints that the tip does not hang on stay at the seed.
    pub(crate) fn solve(
        &self,
        goal: &Isometry3<f64>,
        seed: &[f64],
        options: &IkOptions,
        free: FreeTurn,
    ) -> Vec<Vec<f64>> {
        let wrists = self.wrists(&(goal.rotation * self.base_from_tip.rotation.inverse()), seed, free);
        wrists.into_iter().filter_map(|wrist| self.slide_to(goal, &wrist, seed, options)).collect()
    }

    /// Turns of the wrist within the limits that turn the tip by `turned` from where it is at 0.
    fn wrists(&self, turned: &UnitQuaternion<f64>, seed: &[f64], free: FreeTurn) -> Vec<[f64; 3]> {
        let [first, second, third] = self.axes;
        let limits = &self.model.limits()[3..6];
        // first . R(first) R(second) third is free of the first turn: a cos + b sin = c.
        let target = turned * third;
        let along = first.dot(&second) * second.dot(&third);
        let (a, b, c) =
            (first.dot(&third) - along, first.dot(&second.cross(&third)), first.dot(&target) - along);
        let size = a.hypot(b);
        if size < PARALLEL || c.abs() > size * (1.0 + 1e-9) {
            return Vec::new();
        }
        let (middle, half) = (b.atan2(a), (c / size).clamp(-1.0, 1.0).acos());
        let ways = if half < 1e-9 { vec![middle] } else { vec![middle - half, middle + half] };
        let mut found = Vec::new();
        for way in ways {
            let Some(q2) = within(&limits[1], way, seed[4]) else { continue };
            let from = turn(&second, q2) * third;
            let (from, to) = (across(&from, &first), across(&target, &first));
            let turns: Vec<f64> = if from.norm().min(to.norm()) > PARALLEL {
                within(&limits[0], angle(&from, &to, &first), seed[3]).into_iter().collect()
            } else {
                let JointLimits { lower, upper, .. } = limits[0];
                let (lower, upper) = (lower.max(seed[3] - TAU), upper.min(seed[3] + TAU));
                let share = |step: usize| lower + (upper - lower) * step as f64 / FREE as f64;
                let others = if free == FreeTurn::Many { FREE + 1 } else { 0 };
                std::iter::once(seed[3].clamp(lower, upper)).chain((0..others).map(share)).collect()
            };
            for q1 in turns {
                let rest = turn(&second, -q2) * (turn(&first, -q1) * turned);
                let side = across(&second, &third).try_normalize(1e-9).unwrap_or(first);
                let side = across(&side, &third);
                if let Some(q3) = within(&limits[2], angle(&side, &(rest * side), &third), seed[5]) {
                    found.push([q1, q2, q3]);
                }
            }
        }
        found
    }

    /// The joints with this wrist and the slides where they must be, when they can be there.
    fn slide_to(
        &self,
        goal: &Isometry3<f64>,
        wrist: &[f64; 3],
        seed: &[f64],
        options: &IkOptions,
    ) -> Option<Vec<f64>> {
        let mut joints = self.model.clamped(seed);
        joints[..3].fill(0.0);
        joints[3..6].copy_from_slice(wrist);
        let mut axes = Vec::new();
        let tip = self.model.tip_and_axes(&joints, &mut axes);
        let slides = self.metres_from_way * (goal.translation.vector - tip.translation.vector);
        for (slide, limits) in self.model.limits()[..3].iter().enumerate() {
            if !limits.contains(slides[slide]) {
                return None;
            }
            joints[slide] = slides[slide].clamp(limits.lower, limits.upper);
        }
        let tip = self.model.tip_and_axes(&joints, &mut axes);
        let content = (tip.translation.vector - goal.translation.vector).norm() < options.position_tolerance
            && tip.rotation.angle_to(&goal.rotation) < options.rotation_tolerance;
        content.then_some(joints)
    }
}

fn turn(axis: &Vector3<f64>, angle: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_axis_angle(&Unit::new_normalize(*axis), angle)
}

/// The part of a vector across an axis.
fn across(vector: &Vector3<f64>, axis: &Vector3<f64>) -> Vector3<f64> {
    vector - axis * axis.dot(vector)
}

/// The turn about `axis` from one vector across it to another.
fn angle(from: &Vector3<f64>, to: &Vector3<f64>, axis: &Vector3<f64>) -> f64 {
    axis.dot(&from.cross(to)).atan2(from.dot(to))
}

/// The same direction within the limits, nearest to `near`.
fn within(limits: &JointLimits, value: f64, near: f64) -> Option<f64> {
    let all = (-2..=2).map(|turns| value + TAU * f64::from(turns)).filter(|value| limits.contains(*value));
    let nearest = all.min_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs()))?;
    Some(nearest.clamp(limits.lower, limits.upper))
}
