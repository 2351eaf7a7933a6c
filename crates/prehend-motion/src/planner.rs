//! RRT-Connect with shortcuts, the straight joint motion first.
//!
//! Deterministic: the same world, ends, options and generator state give the same path; the limit is a number of iterations, not a time.

use crate::collision_check::Scratch;
use crate::ik::{distance, travel};
use crate::straight::interpolate;
use crate::{CollisionWorld, Contact, IkError, IkOptions, JointError};
use nalgebra::{Isometry3, Point3};
use rand::{Rng, RngExt};
use std::f64::consts::FRAC_PI_2;

/// How hard to search and how finely to check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanOptions {
    /// Samples drawn before giving up.
    pub iterations: usize,
    /// Attempts to replace a piece of the path by a straight one.
    pub shortcuts: usize,
    /// Between two collision checks no point of the robot moves more than this, m.
    pub step: f64,
    /// Greatest change of a joint in one extension of a tree, rad.
    pub extend: f64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { iterations: 4000, shortcuts: 60, step: 0.012, extend: 0.5 }
    }
}

/// Why there is no path.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The start vector cannot be used.
    #[error("start: {0}")]
    Start(JointError),
    /// No goal was given, or one cannot be used.
    #[error("goal: {0}")]
    Goal(JointError),
    /// The list of goals is empty.
    #[error("no goal was given")]
    NoGoal,
    /// The pose has no joint values.
    #[error("no joint values reach the goal: {0}")]
    NoIk(#[from] IkError),
    /// The arm touches something where it stands, and no way out of that was found nearby.
    #[error("the start is in collision: {0}")]
    StartInCollision(Contact),
    /// The arm would touch something at every goal; the contact is the first goal's.
    #[error("the goal is in collision: {0}")]
    GoalInCollision(Contact),
    /// The tip is beyond the fence where the arm stands.
    #[error("the start has the tip beyond the fence, at ({:.3}, {:.3}, {:.3}) m", place.x, place.y, place.z)]
    StartBeyondFence {
        /// Where it is.
        place: Point3<f64>,
    },
    /// The tip would be beyond the fence at every goal; the place is the first goal's.
    #[error("the goal has the tip beyond the fence, at ({:.3}, {:.3}, {:.3}) m", place.x, place.y, place.z)]
    GoalBeyondFence {
        /// Where it would be.
        place: Point3<f64>,
    },
    /// The search ended without a connection.
    #[error("no path found in {iterations} iterations")]
    NoPath {
        /// Samples drawn.
        iterations: usize,
    },
}

/// A collision-free path of straight joint motions inside the fence: its corner points, start and goal included, never empty.
pub type JointPath = Vec<Vec<f64>>;

impl CollisionWorld {
    /// A path from `start` to one of `goals` (nearest goals are preferred).
    ///
    /// A start outside the limits by rounding is accepted; from one in contact the path leads out of it first. Errors: every [`PlanError`] but [`PlanError::NoIk`].
    pub fn plan(
        &self,
        start: &[f64],
        goals: &[Vec<f64>],
        options: &PlanOptions,
        rng: &mut impl Rng,
    ) -> Result<JointPath, PlanError> {
        self.model.check_joints(start).map_err(PlanError::Start)?;
        let mut scratch = Scratch::default();
        if let Some(place) = self.beyond(start, &mut scratch) {
            return Err(PlanError::StartBeyondFence { place });
        }
        if let Some(contact) = self.contact(start, &mut scratch) {
            let out = self.escape(start, rng, &mut scratch).ok_or(PlanError::StartInCollision(contact))?;
            let mut path = self.plan(&out, goals, options, rng)?;
            path.insert(0, start.to_vec());
            return Ok(path);
        }
        let mut free: Vec<&Vec<f64>> = Vec::new();
        let (mut first_contact, mut first_beyond) = (None, None);
        for goal in goals {
            self.model.check_joints(goal).map_err(PlanError::Goal)?;
            if let Some(place) = self.beyond(goal, &mut scratch) {
                first_beyond.get_or_insert(place);
            } else if let Some(contact) = self.contact(goal, &mut scratch) {
                first_contact.get_or_insert(contact);
            } else {
                free.push(goal);
            }
        }
        free.sort_by(|a, b| travel(a, start).total_cmp(&travel(b, start)));
        let Some(nearest) = free.first() else {
            let beyond = || first_beyond.map(|place| PlanError::GoalBeyondFence { place });
            let blocked = first_contact.map(PlanError::GoalInCollision);
            return Err(blocked.or_else(beyond).unwrap_or(PlanError::NoGoal));
        };
        if distance(start, nearest) < 1e-9 {
            return Ok(vec![start.to_vec()]);
        }
        for goal in free.iter().take(STRAIGHT_GOALS) {
            if self.motion_is_free(start, goal, options.step, &mut scratch) {
                return Ok(vec![start.to_vec(), goal.to_vec()]);
            }
        }
        let mut path = self.connect(start, &free, options, rng, &mut scratch)?;
        self.shorten(&mut path, options, rng, &mut scratch);
        Ok(path)
    }

    /// A path from `start` to a tip pose.
    ///
    /// Errors: every [`PlanError`]; [`PlanError::GoalInCollision`] when the pose is reachable only in collision.
    pub fn plan_to_pose(
        &self,
        start: &[f64],
        base_from_tip: &Isometry3<f64>,
        ik: &IkOptions,
        options: &PlanOptions,
        rng: &mut impl Rng,
    ) -> Result<JointPath, PlanError> {
        self.model.check_joints(start).map_err(PlanError::Start)?;
        let goals = self.model.inverse(base_from_tip, start, ik, rng)?;
        self.plan(start, &goals, options, rng)
    }

    fn connect(
        &self,
        start: &[f64],
        goals: &[&Vec<f64>],
        options: &PlanOptions,
        rng: &mut impl Rng,
        scratch: &mut Scratch,
    ) -> Result<JointPath, PlanError> {
        let region = self.sampling_region(start, goals);
        let mut from_start = Tree::rooted([start]);
        let mut from_goal = Tree::rooted(goals.iter().map(|goal| goal.as_slice()));
        let mut swapped = false;
        for _ in 0..options.iterations {
            let sample: Vec<f64> =
                region.iter().map(|(lower, upper)| lower + (upper - lower) * rng.random::<f64>()).collect();
            let (grown, other) =
                if swapped { (&mut from_goal, &mut from_start) } else { (&mut from_start, &mut from_goal) };
            if let Some(new) = self.extend(grown, &sample, options, scratch) {
                let target = grown.nodes[new].0.clone();
                // Extend the other tree until it arrives or is blocked.
                let mut meeting = None;
                while let Some(step) = self.extend(other, &target, options, scratch) {
                    if distance(&other.nodes[step].0, &target) < 1e-9 {
                        meeting = Some(step);
                        break;
                    }
                }
                if let Some(met) = meeting {
                    let (in_start, in_goal) = if swapped { (met, new) } else { (new, met) };
                    let mut path = from_start.branch(in_start);
                    path.reverse();
                    path.extend(from_goal.branch(in_goal).into_iter().skip(1));
                    return Ok(path);
                }
            }
            swapped = !swapped;
        }
        Err(PlanError::NoPath { iterations: options.iterations })
    }

    /// The box that samples are drawn from: joints with more than a turn of range stay within a quarter turn of the ends.
    fn sampling_region(&self, start: &[f64], goals: &[&Vec<f64>]) -> Vec<(f64, f64)> {
        let one = |(joint, limit): (usize, &crate::JointLimits)| {
            let ends = || goals.iter().map(|goal| goal[joint]).chain([start[joint]]);
            // A joint that the tip does not hang on has no reason to go anywhere else.
            let around = if joint < self.model.reaching { FRAC_PI_2 } else { 0.0 };
            let low = ends().fold(f64::INFINITY, f64::min) - around;
            let high = ends().fold(f64::NEG_INFINITY, f64::max) + around;
            (low.max(limit.lower), high.min(limit.upper))
        };
        self.model.limits().iter().enumerate().map(one).collect()
    }

    /// Grows the tree one step towards the target; the new node, or none when it is blocked.
    fn extend(
        &self,
        tree: &mut Tree,
        target: &[f64],
        options: &PlanOptions,
        scratch: &mut Scratch,
    ) -> Option<usize> {
        let near = tree.nearest(target);
        let from = &tree.nodes[near].0;
        let far = distance(from, target);
        if far < 1e-9 {
            return Some(near);
        }
        let mut to = vec![0.0; from.len()];
        interpolate(from, target, (options.extend / far).min(1.0), &mut to);
        if !self.motion_is_free(from, &to, options.step, scratch) {
            return None;
        }
        tree.nodes.push((to, near));
        Some(tree.nodes.len() - 1)
    }

    /// Replaces pieces of the path by straight motions where these are free and shorter.
    fn shorten(
        &self,
        path: &mut JointPath,
        options: &PlanOptions,
        rng: &mut impl Rng,
        scratch: &mut Scratch,
    ) {
        self.skip_corners(path, options, scratch);
        for _ in 0..options.shortcuts {
            if path.len() < 3 {
                return;
            }
            let (a, b) = (along(path, rng.random::<f64>()), along(path, rng.random::<f64>()));
            let (first, last) = if (a.0, a.1) <= (b.0, b.1) { (a, b) } else { (b, a) };
            if first.0 == last.0 {
                continue;
            }
            let point = |(piece, fraction): (usize, f64)| {
                let mut at = vec![0.0; path[0].len()];
                interpolate(&path[piece], &path[piece + 1], fraction, &mut at);
                at
            };
            let (from, to) = (point(first), point(last));
            let corners = &path[first.0 + 1..=last.0];
            let mut old = 0.0;
            let mut at = &from;
            for corner in corners.iter().chain([&to]) {
                old += travel(at, corner);
                at = corner;
            }
            if travel(&from, &to) < 0.98 * old && self.motion_is_free(&from, &to, options.step, scratch) {
                path.splice(first.0 + 1..=last.0, [from, to]);
            }
        }
        self.skip_corners(path, options, scratch);
    }

    /// Leaves out corners, farthest jump first.
    fn skip_corners(&self, path: &mut JointPath, options: &PlanOptions, scratch: &mut Scratch) {
        let mut kept = 0;
        while kept + 2 < path.len() {
            let jump = (kept + 2..path.len())
                .rev()
                .find(|to| self.motion_is_free(&path[kept], &path[*to], options.step, scratch));
            if let Some(to) = jump {
                path.drain(kept + 1..to);
            }
            kept += 1;
        }
    }
}

/// Goals that a straight motion is tried to before searching.
const STRAIGHT_GOALS: usize = 3;

/// A place on the path: piece and fraction, by the fraction of all corners.
fn along(path: &JointPath, fraction: f64) -> (usize, f64) {
    let at = fraction * (path.len() - 1) as f64;
    let piece = (at.floor() as usize).min(path.len() - 2);
    (piece, at - piece as f64)
}

struct Tree {
    /// Configuration and index of the parent; a root is its own parent.
    nodes: Vec<(Vec<f64>, usize)>,
}

impl Tree {
    fn rooted<'a>(roots: impl IntoIterator<Item = &'a [f64]>) -> Self {
        Self { nodes: roots.into_iter().enumerate().map(|(index, root)| (root.to_vec(), index)).collect() }
    }

    fn nearest(&self, target: &[f64]) -> usize {
        let square = |node: &[f64]| node.iter().zip(target).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut best = (0, f64::INFINITY);
        for (index, (node, _)) in self.nodes.iter().enumerate() {
            let distance = square(node);
            if distance < best.1 {
                best = (index, distance);
            }
        }
        best.0
    }

    /// Configurations from a node to its root.
    fn branch(&self, node: usize) -> Vec<Vec<f64>> {
        let mut at = node;
        let mut branch = vec![self.nodes[at].0.clone()];
        while self.nodes[at].1 != at {
            at = self.nodes[at].1;
            branch.push(self.nodes[at].0.clone());
        }
        branch
    }
}
