//! The course of an errand of the base: to an object, to a pose, round the room, or to look at some places of it (ASP III-D, IV-C).
//!
//! For: whoever sends the base. Not for: where a base may stand and how it gets there, see `prehend-navigation`. Read [`Base`] first.
//! The base is driven with the arm folded, with a redeemed permit, and by nothing else; where it stands afterwards is looked at.

mod base;
mod fault;
mod given_up;
#[cfg(test)]
mod scripted;
mod side;
mod stand;
#[cfg(test)]
mod tests;
mod tour;

pub use base::{Base, Chassis, Facing, Lens, Search};
pub use fault::ErrandFault;
pub use given_up::GivenUp;

use crate::view::DRIVE;
use nalgebra::{Isometry3, Vector3};
use prehend_navigation::Pose2;
use prehend_navigation::pose::turn;
use prehend_scene::{ObjectKey, Skill, SkillPlan};
use std::time::Duration;

/// How far off its goal the base may be, beside the tolerance of the navigation: metres and radians.
const OFF: [f64; 2] = [0.12, 0.15];

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Errand {
    /// To where an object of the map of the room can be acted on.
    Object {
        /// The object.
        key: ObjectKey,
        /// Whether it is only planned.
        plan_only: bool,
    },
    /// To a pose.
    Pose(Pose2),
    /// A look at the whole room; the map of it begins anew.
    Tour,
    /// A look at some places; what is seen joins the map of the room. Map frame, metres.
    Visit(Vec<[f64; 2]>),
}

/// What an errand brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Whether the base was driven.
    pub moved: bool,
    /// Keyframes of a tour or visit.
    pub keyframes: u32,
    /// Stops of a tour or visit that brought none.
    pub missed: u32,
    /// Version of the map of the room by which it was done, or which it brought; 0 when there was none.
    pub map_version: u64,
}

/// How an errand ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What it brought, or why it was not done.
    pub outcome: Result<Done, ErrandFault>,
    /// Where the base and the arm's base are, when that is known: `map_from_base` and `map_from_arm`.
    pub place: Option<(Pose2, Isometry3<f64>)>,
}

/// Carries out one errand. Nothing is driven before the verifier has permitted it and the permit is redeemed.
pub fn execute<B: Base>(base: &B, errand: &Errand) -> Ended {
    let outcome = base.prepare().and_then(|()| Course { base }.execute(errand));
    let is_planned = matches!(errand, Errand::Object { plan_only: true, .. });
    ended(base, outcome, if is_planned { "planned; nothing was driven" } else { "there" })
}

/// Ends what is no errand: with this fault, or with what keeps every errand from beginning.
pub fn refuse<B: Base>(base: &B, fault: ErrandFault) -> Ended {
    ended(base, base.prepare().and(Err(fault)), "")
}

/// What is told at the end of an errand; `done` are the words when it was done.
fn ended<B: Base>(base: &B, outcome: Result<Done, ErrandFault>, done: &str) -> Ended {
    let place = base.pose().and_then(|pose| Ok((pose, base.arm()?))).ok();
    match &outcome {
        Ok(_) => base.tell("done", "done", done, &[]),
        Err(fault) => base.tell("done", fault.reason().code(), &fault.to_string(), &[]),
    }
    Ended { outcome, place }
}

/// One errand being carried out.
struct Course<'a, B: Base> {
    base: &'a B,
}

impl<B: Base> Course<'_, B> {
    fn execute(&self, errand: &Errand) -> Result<Done, ErrandFault> {
        match errand {
            Errand::Object { key, plan_only } => self.to_object(key, *plan_only),
            Errand::Pose(pose) => self.to_pose(pose),
            Errand::Tour => self.tour(),
            Errand::Visit(places) => self.visit(places),
        }
    }

    /// Drives to a pose.
    fn to_pose(&self, pose: &Pose2) -> Result<Done, ErrandFault> {
        if !pose.is_finite() {
            return Err(ErrandFault::BadRequest("the pose is not finite".to_owned()));
        }
        self.fold_and_drive(pose, &ObjectKey::default(), 0)?;
        Ok(Done { moved: true, ..Done::default() })
    }

    /// Drives to where an object can be acted on, unless the base stands well already.
    fn to_object(&self, key: &ObjectKey, plan_only: bool) -> Result<Done, ErrandFault> {
        let object = self.remote(key)?;
        let search = self.base.search();
        let preferred = if search.by_affordance { self.preferred(&object)? } else { None };
        let done = Done { map_version: object.map_version, ..Done::default() };
        if self.stands_well(&object, preferred)? {
            self.tell("stay", "done", &format!("{} is at hand", object.key));
            return Ok(done);
        }
        let patience = if plan_only { Duration::ZERO } else { search.patience };
        let pose = self.view_pose(&object, preferred, &search.params, patience)?;
        if plan_only {
            self.base.foresee(&drive_plan(&pose, &object.key, object.map_version))?;
            return Ok(done);
        }
        let driven = self.fold_and_drive(&pose, &object.key, object.map_version);
        let apart = self.base.chassis().footprint.inscribed_radius();
        self.base.given_up().learn(&pose, apart, driven.as_ref().copied());
        driven.map(|()| Done { moved: true, ..done })
    }

    /// Folds the arm, asks the gate, drives, and looks whether the base is where it was sent.
    fn fold_and_drive(&self, pose: &Pose2, object: &ObjectKey, map_version: u64) -> Result<(), ErrandFault> {
        self.base.look(DRIVE)?;
        if self.base.costmap()?.layout().cell(pose.xy()).is_none() {
            return Err(ErrandFault::OutsideMap { x: pose.x, y: pose.y });
        }
        if !self.base.is_arm_at_rest() {
            return Err(ErrandFault::Busy("the arm moves".to_owned()));
        }
        let plan = drive_plan(pose, object, map_version);
        let permitted = self.base.gate(plan, &|why| self.tell("approval", "waiting", why))?;
        self.base.confirm()?;
        let redeemed = self.base.redeem(permitted)?;
        self.base.drive(redeemed)?;
        self.arrived(pose)
    }

    /// Whether the localisation shows the base at its goal.
    fn arrived(&self, goal: &Pose2) -> Result<(), ErrandFault> {
        let [across, around] = self.base.chassis().tolerance;
        let off = |at: &Pose2| (at.distance(goal), turn(at.yaw, goal.yaw).abs());
        let is_there = |at: &Pose2| {
            let (distance, angle) = off(at);
            distance <= across + OFF[0] && angle <= around + OFF[1]
        };
        let at = self.base.settle(&is_there)?;
        if is_there(&at) {
            return Ok(());
        }
        let (distance, angle) = off(&at);
        Err(ErrandFault::NotThere { distance, angle })
    }

    /// Tells whoever asked, and the trace, what is going on.
    fn tell(&self, phase: &str, status: &str, message: &str) {
        self.base.tell(phase, status, message, &[]);
    }
}

/// The plan of a drive.
fn drive_plan(pose: &Pose2, object: &ObjectKey, map_version: u64) -> SkillPlan {
    SkillPlan {
        skill: Skill::GoTo,
        object: object.clone(),
        targets: Vec::new(),
        relation: None,
        part: String::new(),
        motion: None,
        held_object: None,
        pose_goals: vec![Isometry3::new(Vector3::new(pose.x, pose.y, 0.0), Vector3::z() * pose.yaw)],
        gripper_opening: 0.0,
        map_version,
    }
}
