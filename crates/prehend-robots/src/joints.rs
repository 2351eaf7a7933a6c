//! What the joints of the arm and of the gripper report.
//!
//! For: every node that must know where the arm is now. Not for: what is held, which `prehend-execution` remembers.
//! Read [`follow_joints`] first, then `fresh`: a joint state that is old says nothing of now.

use crate::RobotConfig;
use futures::StreamExt;
use prehend_convert::seconds;
use prehend_execution::Joints as Measured;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_ros::{Node, QosProfile, RosError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Joint states older than this say nothing of now.
const FRESH: Duration = Duration::from_millis(1500);
/// What to look at when none come.
const ADVICE: &str = "does the driver run, and does it call its joints as the robot file does?";

/// Why it is not known where the arm is.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum JointsUnknown {
    /// The newest joint state is too old.
    #[error("the newest is {age:.1} s old: {ADVICE}")]
    Old {
        /// Time since it was heard, seconds.
        age: f64,
    },
    /// There was none, or the newest had a position that is no number.
    #[error("none was heard, or the last was no number: {ADVICE}")]
    None,
}

/// The newest joint state.
#[derive(Clone, Debug)]
pub struct Joints {
    /// What skills go by; the arm's joints are in the robot file's order.
    pub measured: Measured,
    /// Position of the gripper's joint, radians or metres.
    pub drive: f64,
    heard: Instant,
}

/// Reads the joint states for as long as the node lives; `None` until one is heard, and after one that is no number.
///
/// Errors: [`RosError`] of the subscription.
pub fn follow_joints(node: &Node, robot: &RobotConfig) -> Result<watch::Receiver<Option<Joints>>, RosError> {
    let mut states = node.subscribe::<JointState>(&robot.joint_states, QosProfile::sensor_data())?;
    let (sender, receiver) = watch::channel(None);
    let robot = robot.clone();
    tokio::spawn(async move {
        loop {
            let state = tokio::select! {
                () = sender.closed() => return,
                state = states.next() => state,
            };
            let Some(state) = state else { return };
            match read_joints(&state, &robot) {
                Some(joints) => {
                    sender.send_replace(Some(joints));
                }
                // A message of other joints says nothing; one of these that is no number says that nothing is known.
                None if is_broken(&state, &robot) => {
                    sender.send_replace(None);
                }
                None => tracing::debug!("joint state without the arm's or the gripper's joints"),
            }
        }
    });
    Ok(receiver)
}

/// Whether a position of a joint of this robot is no number.
fn is_broken(state: &JointState, robot: &RobotConfig) -> bool {
    let ours = |name: &String| robot.arm.joints.contains(name) || *name == robot.gripper.joint;
    state.name.iter().zip(&state.position).any(|(name, position)| ours(name) && !position.is_finite())
}

/// The joints of this robot; `None` when the message lacks one of them, or its position is no number.
pub fn read_joints(state: &JointState, robot: &RobotConfig) -> Option<Joints> {
    let index = |name: &String| state.name.iter().position(|n| n == name);
    let position = |name: &String| state.position.get(index(name)?).copied().filter(|p| p.is_finite());
    let arm: Option<Vec<f64>> = robot.arm.joints.iter().map(position).collect();
    let drive = position(&robot.gripper.joint)?;
    let effort = index(&robot.gripper.joint).and_then(|i| state.effort.get(i)).copied();
    let torque = |name: &String| state.effort.get(index(name)?).copied().filter(|e| e.is_finite());
    let torques: Option<Vec<f64>> = robot.arm.joints.iter().map(torque).collect();
    let measured = Measured {
        arm: arm?,
        torques: torques.unwrap_or_default(),
        opening: robot.gripper.opening(drive),
        effort: effort.filter(|e| e.is_finite()).unwrap_or(0.0),
        stamp: seconds(&state.header.stamp),
    };
    Some(Joints { measured, drive, heard: Instant::now() })
}

/// The newest joint state, when it is fresh.
///
/// Errors: [`JointsUnknown`].
pub fn fresh(joints: &watch::Receiver<Option<Joints>>) -> Result<Joints, JointsUnknown> {
    let newest = joints.borrow().clone();
    match newest {
        Some(joints) if joints.heard.elapsed() < FRESH => Ok(joints),
        Some(joints) => Err(JointsUnknown::Old { age: joints.heard.elapsed().as_secs_f64() }),
        None => Err(JointsUnknown::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robot() -> RobotConfig {
        RobotConfig::load(std::path::Path::new("config/robots/xarm6.yaml")).expect("robot file")
    }

    #[test]
    fn joint_states_are_read_by_name_and_garbage_is_left_out() {
        let robot = robot();
        let mut state = JointState {
            name: ["drive_joint", "joint6", "joint5", "joint4", "joint3", "joint2", "joint1"]
                .map(String::from)
                .to_vec(),
            position: vec![0.425, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
            ..Default::default()
        };
        let joints = read_joints(&state, &robot).expect("complete");
        let Joints { measured, drive, .. } = joints;
        assert_eq!((measured.arm, drive), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.425));
        assert!((measured.opening - 0.0425).abs() < 1e-9);
        assert!(measured.torques.is_empty(), "a robot that reports no effort feels nothing");
        state.effort = vec![30.0, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
        let measured = read_joints(&state, &robot).expect("complete").measured;
        assert_eq!((measured.effort, measured.torques), (30.0, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));
        state.position[3] = f64::NAN;
        assert!(read_joints(&state, &robot).is_none() && is_broken(&state, &robot));
        state.position.truncate(3);
        assert!(read_joints(&state, &robot).is_none());
        let others =
            JointState { name: vec!["wheel".to_owned()], position: vec![f64::NAN], ..Default::default() };
        assert!(read_joints(&others, &robot).is_none() && !is_broken(&others, &robot));
    }
}
