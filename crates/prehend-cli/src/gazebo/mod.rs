//! The robot for Gazebo: its description with the controllers and cameras that Gazebo gives it.

pub mod robot_urdf;
mod tree;
