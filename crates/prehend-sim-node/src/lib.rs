//! The embedded robot's face to ROS: its sensors, controllers and base by the names of a real robot, the judge's channel, and what
//! Gazebo's own interfaces lack of them.
//!
//! For: standing in for a robot where there is none. Not for: what a node may know of a real one; nothing else depends on it but the
//! command line. Read [`sim`] first.

pub mod gazebo;
pub mod sim;

use prehend_robots::RobotConfig;
use prehend_robots::robot::Frames;
use prehend_sim::world::LinkNames;

/// The links of a robot's URDF that the simulator must know.
pub fn link_names(robot: &RobotConfig) -> LinkNames {
    let Frames { base, tool, camera } = robot.frames.clone();
    let names = LinkNames { base, tool, camera, ..LinkNames::default() };
    match &robot.navigation {
        Some(navigation) => LinkNames { laser: navigation.laser.clone(), ..names },
        None => names,
    }
}
