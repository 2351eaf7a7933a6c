//! What a skill needs and promises, how to grasp what was seen, and where to put it.
//!
//! For: contracts of the skills, grasp candidates, ways to act on parts and places from observed clouds, the joint a part
//! hangs on, plans for the gate.
//! Not for: moving (nodes), finding joint motions (`prehend-motion`), judging what happened (`prehend-verify`).
//! Read [`grasp::GraspRequest`] first, then [`place::PlaceRequest`], [`part::PartRequest`] and [`contract`].
//!
//! Everything is in the map frame (the robot's base frame: z up, x forward, y left), metres and radians.
//! The tool frame lies between the pad tips: z is the approach direction, the pads open along y.
//! Unobserved space below an observed surface counts as occupied down to the support (2.5-D).

pub mod columns;
pub mod contract;
pub mod grasp;
pub mod gripper;
pub mod joint;
pub mod part;
pub mod place;
pub mod plan;
mod sight;
pub mod solids;
pub mod view;

pub use contract::{Contract, ContractError};
pub use grasp::{GraspCandidate, GraspError, GraspRequest};
pub use gripper::GripperModel;
pub use joint::{Joint, JointFit};
pub use part::{PartCandidate, PartError, PartRequest};
pub use place::{HeldShape, PlaceCandidate, PlaceError, PlaceRequest};
pub use sight::{Fingers, Sight};
