//! Straight lines of the tip: approach, retreat, lift.

use crate::collision_check::Scratch;
use crate::ik::{distance, is_finite};
use crate::{CollisionWorld, Contact, IkOptions, JointError};
use nalgebra::{Isometry3, Point3};

/// How finely to follow the line, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CartesianOptions {
    /// Greatest distance of the tip between two points, m.
    pub max_step: f64,
    /// Greatest turn of the tip between two points, rad.
    pub max_turn: f64,
    /// Greatest change of a joint between two points, rad: more means that the arm would flip.
    pub max_joint_step: f64,
    /// Whether to stop at the first contact.
    pub avoid_collisions: bool,
}

impl Default for CartesianOptions {
    fn default() -> Self {
        Self { max_step: 0.005, max_turn: 0.05, max_joint_step: 0.25, avoid_collisions: true }
    }
}

/// Why a line was not followed to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum CartesianStop {
    /// No joint values near the last ones reach the next point.
    NoIk,
    /// The next point needs a jump of a joint.
    Jump {
        /// The jump, rad.
        step: f64,
    },
    /// The arm would touch something.
    Contact(Contact),
    /// The tip would leave the fence.
    Fence {
        /// The first place beyond it.
        place: Point3<f64>,
    },
}

/// A line of the tip as joint values.
#[derive(Clone, Debug, PartialEq)]
pub struct CartesianPath {
    /// Densely spaced configurations, the start first; at least one.
    pub points: Vec<Vec<f64>>,
    /// Which part of the way was achieved, 0 to 1.
    pub fraction: f64,
    /// Why the rest was not.
    pub stopped: Option<CartesianStop>,
}

/// Why a line cannot be tried at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CartesianError {
    /// The start cannot be used.
    #[error("start: {0}")]
    Start(#[from] JointError),
    /// A waypoint is not finite, or there is none.
    #[error("waypoint {index} is not a finite pose")]
    BadWaypoint {
        /// Index of the waypoint; 0 with no waypoint at all.
        index: usize,
    },
    /// A step size is not positive.
    #[error("the step sizes must be positive")]
    BadStep,
}

impl CollisionWorld {
    /// Follows straight lines of the tip from where `start` puts it through `base_from_tips`; orientation turns evenly along.
    ///
    /// The result ends where the line cannot be followed; `fraction` says how far, by distance (and turn) of the tip.
    /// A retreat may begin in touch: a pair that touches at the start may go on touching as long as it does not press 2 mm deeper,
    /// what is held to the end of the line, a link for 2 cm.
    /// Errors: [`CartesianError`].
    pub fn cartesian_path(
        &self,
        start: &[f64],
        base_from_tips: &[Isometry3<f64>],
        options: &CartesianOptions,
    ) -> Result<CartesianPath, CartesianError> {
        self.model.check_joints(start)?;
        let bad = base_from_tips.iter().position(|pose| !is_finite(pose));
        if let Some(index) = bad.or(base_from_tips.is_empty().then_some(0)) {
            return Err(CartesianError::BadWaypoint { index });
        }
        if !(options.max_step > 0.0 && options.max_turn > 0.0 && options.max_joint_step > 0.0) {
            return Err(CartesianError::BadStep);
        }
        let ik = IkOptions { iterations: 30, ..IkOptions::default() };
        let mut scratch = Scratch::default();
        let at_start =
            if options.avoid_collisions { self.all_contacts(start, &mut scratch) } else { Vec::new() };
        let mut path = CartesianPath { points: vec![start.to_vec()], fraction: 0.0, stopped: None };
        let mut from = self.model.tip_pose(start)?;
        let begin = from.translation.vector;
        let counts: Vec<usize> = {
            let mut at = from;
            base_from_tips
                .iter()
                .map(|to| {
                    let count = steps(&at, to, options);
                    at = *to;
                    count
                })
                .collect()
        };
        let total: usize = counts.iter().sum();
        let mut done = 0;
        let mut last = start.to_vec();
        for (to, count) in base_from_tips.iter().zip(counts) {
            for step in 1..=count {
                let goal = between(&from, to, step as f64 / count as f64);
                let stop = match self.model.inverse_near(&goal, &last, &ik) {
                    Err(_) => Some(CartesianStop::NoIk),
                    Ok(next) => {
                        let jump = distance(&last, &next);
                        let mut contact = || {
                            let away = (goal.translation.vector - begin).norm();
                            self.new_contact(&next, &at_start, away, &mut scratch).map(CartesianStop::Contact)
                        };
                        let place = Point3::from(goal.translation.vector);
                        let stop = if self.fence.is_some_and(|fence| !fence.contains(&place)) {
                            Some(CartesianStop::Fence { place })
                        } else if jump > options.max_joint_step {
                            Some(CartesianStop::Jump { step: jump })
                        } else if options.avoid_collisions {
                            contact()
                        } else {
                            None
                        };
                        if stop.is_none() {
                            path.points.push(next.clone());
                            last = next;
                        }
                        stop
                    }
                };
                if stop.is_some() {
                    path.stopped = stop;
                    path.fraction = done as f64 / total as f64;
                    return Ok(path);
                }
                done += 1;
            }
            from = *to;
        }
        path.fraction = 1.0;
        Ok(path)
    }

    /// A contact that was not there at the start, or has become deeper, or does not end; `away` is the tip's distance from the start.
    fn new_contact(
        &self,
        joints: &[f64],
        at_start: &[Contact],
        away: f64,
        scratch: &mut Scratch,
    ) -> Option<Contact> {
        if at_start.is_empty() {
            return self.contact(joints, scratch);
        }
        let bearable = |now: &Contact| {
            let held = self.attached.contains_key(&now.link) || self.attached.contains_key(&now.object);
            at_start.iter().any(|then| {
                then.link == now.link && then.object == now.object && now.depth <= then.depth + PRESS
            }) && (held || away <= CLEAR)
        };
        self.all_contacts(joints, scratch).into_iter().find(|contact| !bearable(contact))
    }
}

/// How much deeper a pair in touch at the start may press, m.
const PRESS: f64 = 0.002;
/// After this much of the line, m, a link that touched at the start must be clear.
const CLEAR: f64 = 0.02;

/// Most steps for one line: keeps absurd requests from running for minutes.
const MOST_STEPS: f64 = 5000.0;

fn steps(from: &Isometry3<f64>, to: &Isometry3<f64>, options: &CartesianOptions) -> usize {
    let distance = (to.translation.vector - from.translation.vector).norm() / options.max_step;
    let turn = from.rotation.angle_to(&to.rotation) / options.max_turn;
    distance.max(turn).ceil().clamp(1.0, MOST_STEPS) as usize
}

fn between(from: &Isometry3<f64>, to: &Isometry3<f64>, fraction: f64) -> Isometry3<f64> {
    let rotation = from.rotation.try_slerp(&to.rotation, fraction, 1e-9).unwrap_or(to.rotation);
    Isometry3::from_parts(from.translation.vector.lerp(&to.translation.vector, fraction).into(), rotation)
}
