//! The course of each skill: candidates, the first that the arm reaches, a permit, the motion, and what a new look confirms (ASP IV-C);
//! and of each [`errand`] of the base.
//!
//! For: whoever executes skills or sends the base. Not for: where a hand or a thing could go, see `prehend-skills`; what the verifier permits, see
//! `prehend-verify`. Read [`Robot`] first, then [`execute`].
//!
//! ```text
//! Order --> Course --candidates--> way --Robot::gate, confirm, redeem, begin--> Motion --> look --> verdict --> Ended
//!             |                                                       ^
//!             +-- Memory: what is in the hand, from one skill to the next    only a redeemed permit gets here
//! ```

mod assumed;
mod body;
mod course;
pub mod errand;
mod fault;
mod feel;
mod forbidden;
mod grasp;
mod hand;
mod misses;
mod observe;
mod part;
mod part_contact;
mod part_joint;
mod part_known;
mod part_turn;
mod place;
mod progress;
mod prospect;
mod recover;
mod robot;
#[cfg(test)]
mod script;
#[cfg(test)]
mod scripted;
mod shown;
#[cfg(test)]
mod tests;
mod view;
mod world;

pub use assumed::Before;
pub use body::Body;
pub use course::{Ended, Memory, Order, execute, refuse};
pub use fault::SkillFault;
pub use forbidden::Forbidden;
pub use progress::Progress;
pub use robot::{
    Foreseen, Found, Grip, HandWay, Joints, Miss, Motion, Planned, Prospect, Robot, SpeedLimits, keeps_to,
};
pub use view::DRIVE;
pub use world::World;
