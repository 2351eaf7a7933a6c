//! The robot side by its real names: robot files, MoveIt 2 and Nav2 as their releases speak, the arm's own safety, and what every
//! process on such a robot has in common.
//!
//! For: nodes that move a robot, and stand-ins for its drivers (`move_group` over any arm's controller, `stretch` over Stretch's driver).
//! Not for: deciding what the robot does. Read [`RobotConfig`] first, then [`shell::Shell`].

pub mod arming;
mod fault;
pub mod joints;
mod limits;
pub mod live_frames;
pub mod motion_bounds;
pub mod move_group;
pub mod moveit;
pub mod moveit_layout;
pub mod nav2;
pub mod robot;
pub mod shell;
pub mod stretch;
pub mod trajectory_check;
pub mod trajectory_speed;

pub use arming::ArmingConfig;
pub use fault::of_robot;
pub use limits::Limits;
pub use robot::RobotConfig;
pub use shell::{NodeError, NodeOptions, Shell};
