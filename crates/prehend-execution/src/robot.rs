//! What a skill needs of the robot and of the nodes around it: measurements, the map, a planner, the verifier, motions.
//!
//! For: whoever has a robot (the node `skills`, a test). Not for: what a skill does with it, see [`crate::execute`].
//! Calls block. What ends a skill from outside (a stop, a cancel, a lost peer) ends the call that is under way with its fault;
//! nothing here is asked again after such a fault but by the course itself.

use crate::body::Body;
use crate::fault::SkillFault;
use crate::world::World;
use nalgebra::{Isometry3, Point3};
use prehend_scene::{Object, ObjectKey, ObjectMap, Observation, PartEffect, SkillPlan};
use prehend_skills::part::KnownJoint;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What the joints of the arm and of the gripper report.
#[derive(Clone, Debug, PartialEq)]
pub struct Joints {
    /// Arm joints in the model's order, radians or metres.
    pub arm: Vec<f64>,
    /// Distance between the pads, metres.
    pub opening: f64,
    /// Force or effort of the gripper's joint; 0 when it is not reported.
    pub effort: f64,
    /// Torques of the arm's joints, Nm; empty when they are not reported.
    pub torques: Vec<f64>,
    /// Time of the measurement, seconds.
    pub stamp: f64,
}

/// How fast a line is followed at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedLimits {
    /// Share of the joints' velocity limits, (0, 1].
    pub velocity_scaling: f64,
    /// Greatest speed of the tool, metres per second; `None` when the joints alone limit it.
    pub tool: Option<f64>,
}

impl From<f64> for SpeedLimits {
    fn from(velocity_scaling: f64) -> Self {
        Self { velocity_scaling, tool: None }
    }
}

/// Why the planner found nothing, in words; alike misses have the same words. It is nobody's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss(pub String);

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A found thing, or why it was not found; faults end the skill.
pub type Found<T> = Result<Result<T, Miss>, SkillFault>;

/// A planned motion of the arm, within the bounds of its motions.
pub trait Planned: Clone {
    /// The arm's joints at each of its points, in the model's order; at least one point.
    fn positions(&self) -> &[Vec<f64>];
}

/// A way that a skill found, for the verifier to say what it would of it.
#[derive(Debug)]
pub struct Prospect<'a, T> {
    /// The plan.
    pub plan: &'a SkillPlan,
    /// Number of ways that were found.
    pub candidates: usize,
    /// Tool poses of those that were not taken, best first.
    pub others: Vec<Isometry3<f64>>,
    /// Distance between the pads when they hold, metres; 0 when they hold nothing.
    pub grip_width: f64,
    /// The motions in order, by phase.
    pub motions: &'a [(&'static str, &'a T)],
}

/// What the verifier would say of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// Whether it would permit it.
    pub granted: bool,
    /// Whether a person would be asked first.
    pub asks: bool,
    /// Why.
    pub reason: String,
}

/// How the hand moved a part.
#[derive(Clone, Debug)]
pub struct HandWay<'a> {
    /// The map by which it was moved.
    pub map: &'a ObjectMap,
    /// What the part was to do.
    pub effect: PartEffect,
    /// `map_from_tool` on the way, from where it was taken.
    pub poses: Vec<Isometry3<f64>>,
    /// Whether it was held against.
    pub stopped: bool,
}

/// A motion of the gripper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grip {
    /// Distance between the pads that is asked for, metres.
    pub opening: f64,
    /// The distance that was asked for before, metres: pads that were sent closer than they are press on something.
    pub before: f64,
}

/// The robot, and who helps it. One skill at a time.
pub trait Robot {
    /// A planned motion.
    type Planned: Planned;
    /// A plan the verifier has permitted. It moves nothing yet.
    type Permitted;
    /// Proof that a permit was redeemed: used up by value, by [`Robot::begin`].
    type Redeemed;
    /// A permitted motion sequence under way; dropping it ends the permission.
    type Motion<'a>: Motion<Planned = Self::Planned>
    where
        Self: 'a;

    /// What it is.
    fn body(&self) -> &Body;

    /// Waits until a skill may begin: everybody is there who must be, and joint states are of now. With `moves`, the robot is free,
    /// armed, and nobody else's.
    fn prepare(&self, moves: bool) -> Result<(), SkillFault>;

    /// The newest joint state, when it is fresh.
    fn joints(&self) -> Result<Joints, SkillFault>;

    /// The newest map.
    fn newest_map(&self) -> Option<Arc<ObjectMap>>;

    /// A map at least as new as this version; the newest when it does not come in time.
    fn map(&self, version: u64) -> Result<Arc<ObjectMap>, SkillFault>;

    /// Takes a new frame into the map; `reset` forgets what was known before, `gripped` is what hides in the hand. The new map.
    ///
    /// Errors: [`SkillFault::Sensor`] when no frame or no map came.
    fn update_map(
        &self,
        view: &str,
        reset: bool,
        gripped: Option<&ObjectKey>,
    ) -> Result<Arc<ObjectMap>, SkillFault>;

    /// The joint of a part in a map of at least this version, if it was measured before.
    fn known_joint(&self, part: &ObjectKey, map_version: u64) -> Result<Option<KnownJoint>, SkillFault>;

    /// Joints at which the tool is at `base_from_tool` without collision, near `seed`.
    fn ik(&self, base_from_tool: &Isometry3<f64>, seed: &[f64], opening: f64) -> Found<Vec<f64>>;

    /// A collision-free motion from `start` to the joints `end`.
    fn plan(&self, start: &[f64], end: &[f64], opening: f64, speed: f64) -> Found<Self::Planned>;

    /// A straight line of the tool from `start` through `poses`.
    fn line(
        &self,
        start: &[f64],
        poses: &[Isometry3<f64>],
        opening: f64,
        speed: SpeedLimits,
    ) -> Found<Self::Planned>;

    /// Makes the planner's scene hold `world`.
    fn apply_scene(&self, world: &World) -> Result<(), SkillFault>;

    /// What the verifier would say of a plan, by the assessment of this id; kept for whoever asked. Nothing moves.
    fn foresee(
        &self,
        prospect: &Prospect<'_, Self::Planned>,
        assessment: &str,
    ) -> Result<Foreseen, SkillFault>;

    /// Asks the verifier for a permit, by the assessment of this id (empty for skills that need no evidence). When a person has to be
    /// asked, `waits` is told why and the answer is waited for.
    fn gate(
        &self,
        plan: SkillPlan,
        assessment: &str,
        waits: &dyn Fn(&str),
    ) -> Result<Self::Permitted, SkillFault>;

    /// Waits for measurements of now: a person may have taken a minute over the permit.
    fn confirm(&self) -> Result<(), SkillFault>;

    /// Redeems a permit.
    fn redeem(&self, permitted: Self::Permitted) -> Result<Self::Redeemed, SkillFault>;

    /// Begins a motion sequence; the permit is used up.
    fn begin(&self, redeemed: Self::Redeemed) -> Result<Self::Motion<'_>, SkillFault>;

    /// What the verifier makes of a skill's outcome: what shows success, or what does not.
    fn check_outcome(
        &self,
        plan: &SkillPlan,
        before: &Observation,
        after: &Observation,
        assessment: &str,
    ) -> Result<Result<String, String>, SkillFault>;

    /// Tells whoever asked, and the trace, what is going on: `more` holds the fields of a JSON object.
    fn tell(&self, phase: &str, status: &str, message: &str, more: Value);

    /// Tells how the hand moved a part.
    fn tell_way(&self, way: &HandWay<'_>);

    /// Tells what is in the gripper; of a thing that nobody knows it is not told.
    fn tell_in_hand(&self, held: Option<&Object>);
}

/// A permitted motion sequence.
pub trait Motion {
    /// A planned motion.
    type Planned: Planned;

    /// Executes a trajectory to its end, or stops the arm and says why.
    fn execute(&self, phase: &'static str, trajectory: Self::Planned) -> Result<(), SkillFault>;

    /// As [`Motion::execute`], but the arm stops as soon as a joint state makes `stop` say so. Whether it did.
    fn execute_until(
        &self,
        phase: &'static str,
        trajectory: Self::Planned,
        stop: &mut dyn FnMut(&Joints) -> bool,
    ) -> Result<bool, SkillFault>;

    /// Executes a motion of the tool while it touches a part. The tool's `path` must lie in the corridor that the permit is for, seen
    /// from `start`, where it touched: see [`keeps_to`]. `stop` is asked at every joint state; when it says so the arm stops, and so it
    /// does when the robot's own guard feels too much. Whether the motion ended early.
    ///
    /// Errors: [`SkillFault::Corridor`] before anything moves; what ends every motion.
    fn press_on(
        &self,
        phase: &'static str,
        trajectory: Self::Planned,
        contact: (&Point3<f64>, &[Point3<f64>]),
        stop: &mut dyn FnMut(&Joints) -> bool,
    ) -> Result<bool, SkillFault>;

    /// Moves the gripper; a gripper that is stopped by what it holds has succeeded. The opening measured afterwards, metres.
    fn grip(&self, phase: &'static str, grip: Grip) -> Result<f64, SkillFault>;
}

/// Whether the tool's `path` lies in the corridor that a plan is for, seen from `start`, where it touched.
pub fn keeps_to(plan: &SkillPlan, (start, path): (&Point3<f64>, &[Point3<f64>])) -> bool {
    plan.motion.is_some_and(|motion| path.iter().all(|point| motion.holds(start, point)))
}
