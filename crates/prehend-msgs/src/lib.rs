//! The ROS interface package and the Rust types made from it
