//! The robot side of a replay: it answers what is planned and takes up nothing that moves.
//!
//! Its joints are where the joint states on the graph say. Inverse kinematics, plans and straight lines are computed as the embedded
//! robot computes them; trajectories and gripper goals are refused.

use super::arm_handle::{ArmHandle, Command, RobotState};
use super::planned::Planned;
use super::{controllers, start_error};
use futures::StreamExt;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_robots::{NodeError, RobotConfig, move_group};
use prehend_ros::{Node, QosProfile, nanoseconds};
use prehend_sim::world::ArmModel;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The servers of a robot that stands still, until it is dropped.
#[derive(Debug)]
pub struct StillRobot {
    refused: Arc<AtomicU64>,
    _servers: [JoinSet<()>; 2],
}

impl StillRobot {
    /// Offers the interfaces of `robot` as `node`; `seed` makes the plans repeatable.
    ///
    /// Errors: [`NodeError::Start`] when the robot description cannot be used, [`NodeError::Config`], [`NodeError::Ros`].
    pub fn start(node: &Node, robot: &RobotConfig, seed: u64) -> Result<Self, NodeError> {
        let urdf = std::fs::read_to_string(&robot.urdf)
            .map_err(|error| start_error(format!("{}: {error}", robot.urdf.display())))?;
        let model =
            Arc::new(ArmModel::from_urdf_with(&urdf, &crate::link_names(robot)).map_err(start_error)?);
        let at_home = RobotState {
            time: 0.0,
            positions: robot.home.clone(),
            velocities: vec![0.0; robot.home.len()],
            opening: robot.gripper.max_opening,
            drive: robot.gripper.open,
            moving: false,
        };
        let (state, reported) = watch::channel(at_home);
        let (commands, asked) = mpsc::channel();
        let refused = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&refused);
        // It ends with the last handle on the arm.
        std::thread::Builder::new()
            .name("still".to_owned())
            .spawn(move || {
                while let Ok(command) = asked.recv() {
                    counted.fetch_add(u64::from(refuse(command)), Ordering::Relaxed);
                }
            })
            .map_err(start_error)?;
        // No driver: nothing moves here anyway.
        let vendor = Arc::new(super::driver::Vendor::new(None, ""));
        let arm = ArmHandle::new(commands, reported, vendor);
        let controller = node.create_action_server::<FollowJointTrajectory::Action>(&robot.arm.controller)?;
        let mut gripper = node.create_action_server::<GripperCommand::Action>(&robot.gripper.action)?;
        let mut states = node.subscribe::<JointState>(&robot.joint_states, QosProfile::sensor_data())?;
        let planned = Arc::new(Planned::create(node, robot, arm.clone())?);
        let planning = move_group::start(node, robot, planned, seed)?;
        let mut servers = JoinSet::new();
        servers.spawn(controllers::serve_arm(controller, arm, model));
        let counted = Arc::clone(&refused);
        servers.spawn(async move {
            while let Some(request) = gripper.next().await {
                counted.fetch_add(1, Ordering::Relaxed);
                request.reject();
            }
        });
        let robot = robot.clone();
        servers.spawn(async move {
            while let Some(message) = states.next().await {
                state.send_if_modified(|state| take(state, &message, &robot));
            }
        });
        Ok(Self { refused, _servers: [planning, servers] })
    }

    /// How often something was to be moved.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Refuses what moves; whether it would have moved.
fn refuse(command: Command) -> bool {
    // Who waits for these learns that the robot is gone.
    matches!(
        command,
        Command::Execute { .. } | Command::Grip { .. } | Command::Drive { .. } | Command::Steer(_)
    )
}

/// Takes the joints of a message over; whether it had them.
fn take(state: &mut RobotState, message: &JointState, robot: &RobotConfig) -> bool {
    let position = |name: &String| {
        let index = message.name.iter().position(|known| known == name)?;
        message.position.get(index).copied().filter(|position| position.is_finite())
    };
    let arm: Option<Vec<f64>> = robot.arm.joints.iter().map(position).collect();
    let (Some(positions), Some(drive)) = (arm, position(&robot.gripper.joint)) else { return false };
    state.positions = positions;
    state.drive = drive;
    state.opening = robot.gripper.opening(drive);
    state.time = nanoseconds(&message.header.stamp) as f64 * 1e-9;
    true
}
