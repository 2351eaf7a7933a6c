//! How the arm gets from here to there: kinematics from URDF, collision checking, planning, timing.
//!
//! For: forward kinematics, Jacobian, inverse kinematics, RRT-Connect, Cartesian paths and jerk-limited trajectories of
//! one serial arm with a two-finger gripper, among boxes, cylinders, spheres and height-map columns.
//! Not for: deciding what to do (skills), moving anything (the simulator or the real driver), ROS (nodes).
//! Read [`RobotModel`] first: everything else takes one.
//!
//! Everything is a function of its arguments: no clock, no global randomness; a generator is an argument where one is
//! needed. Frames: the model's base link unless a name says otherwise. Units: metres, radians, seconds.

mod error;
mod kinematics;
mod model;
mod shape;

pub use error::{JointError, ModelError};
pub use model::{Inertial, JointLimits, Link, LinkShape, RobotGroup, RobotModel};
pub use shape::Shape;

#[cfg(test)]
mod tests;
