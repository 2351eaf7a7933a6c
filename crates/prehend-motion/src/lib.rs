//! How the arm gets from here to there: kinematics from URDF, collision checking, planning, timing.
//!
//! For: forward kinematics, Jacobian, inverse kinematics, RRT-Connect, Cartesian paths and jerk-limited trajectories of
//! one serial arm with a two-finger gripper, among boxes, cylinders, spheres and height-map columns.
//! Not for: deciding what to do (skills), moving anything (the simulator or the real driver), ROS (nodes).
//! Read [`RobotModel`] first: everything else takes one. Then [`CollisionWorld`], which plans.
//!
//! Everything is a function of its arguments: no clock, no global randomness; a generator is an argument where one is
//! needed. Frames: the model's base link unless a name says otherwise. Units: metres, radians, seconds.
//!
//! # What is used and what is written here
//!
//! - `urdf-rs` reads the URDF, `parry3d` answers shape against shape and keeps the bounding volume hierarchies (it is the physics'
//!   own geometry, so the planner and the simulator agree).
//! - Kinematics and IK are written here: `k` 0.32 wants nalgebra 0.30 (a second copy of it), its IK solver has neither limits in the
//!   step nor restarts, and closed forms (`rs-opw-kinematics`) assume the spherical wrist that the xArm6 does not have.
//! - RRT-Connect is written here (~100 lines): `rrt` 0.7 draws from the global generator, so its paths cannot be repeated, takes one
//!   goal, and tells errors as text; `openrr-planner` 0.1 builds on `k` and an old `ncollide3d`.
//! - Timing is written here: `rsruckig` 3 times motions between states and stops at every waypoint (its waypoint mode is the
//!   cloud service of the original), and a path that was checked for collisions must be followed exactly.

mod cartesian;
mod collision;
mod collision_check;
mod error;
mod escape;
mod fence;
mod ik;
mod ik_options;
mod kinematics;
mod limits;
mod model;
mod planner;
mod profile;
mod shape;
mod slides;
mod straight;
mod trajectory;

pub use cartesian::{CartesianError, CartesianOptions, CartesianPath, CartesianStop};
pub use collision::{CollisionWorld, Contact, Placed, SceneError};
pub use error::{JointError, ModelError};
pub use fence::Fence;
pub use ik::IkError;
pub use ik_options::{IkOptions, ToolSymmetry};
pub use limits::{LimitsError, MotionLimits};
pub use model::{Inertial, JointLimits, Link, LinkShape, RobotGroup, RobotModel};
pub use planner::{JointPath, PlanError, PlanOptions};
pub use shape::Shape;
pub use trajectory::{TimingError, Trajectory, TrajectoryPoint, simplify};

#[cfg(test)]
mod tests;
