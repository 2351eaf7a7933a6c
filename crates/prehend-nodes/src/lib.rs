//! The nodes of the graph, one file or folder each: they decode messages, call the core and encode the answer.
//!
//! For: running as processes (`prehend node NAME`, or one executable each for `ros2 run`). Not for: deciding anything
//! a core crate can decide. Read [`shell::Shell`] first: what every node has in common.

pub mod affordance;
pub mod agent;
pub mod arming;
pub mod convert;
pub mod describer;
mod follow;
pub mod gazebo;
pub mod go_to;
pub mod joints;
mod live_frames;
pub mod memory;
mod motion_bounds;
pub mod move_group;
mod moveit_layout;
pub mod object_map;
mod permit;
pub mod pictures;
pub mod robot;
mod running;
pub mod share;
pub mod shell;
pub mod sim;
pub mod skills;
pub mod stretch;
mod trajectory_check;
mod trajectory_speed;
pub mod verifier;

pub use arming::ArmingConfig;
pub use robot::RobotConfig;
pub use shell::{NodeError, NodeOptions, Shell};
