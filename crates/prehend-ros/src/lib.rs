//! The one door to ROS 2
