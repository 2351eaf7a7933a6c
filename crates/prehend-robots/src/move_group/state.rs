//! Robot states: the arm's own, and what messages say about it.

use super::error::MoveGroupError;
use prehend_motion::RobotModel;
use prehend_msgs::moveit_msgs::msg::RobotState;
use prehend_msgs::sensor_msgs::msg::JointState;

/// Where arm and fingers stand.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmState {
    /// Joints in the model's order, rad or m.
    pub joints: Vec<f64>,
    /// Drive joint of the gripper, rad or m.
    pub drive: f64,
}

impl ArmState {
    /// This state with what a message changes: joints that it does not name stay.
    pub fn with(&self, model: &RobotModel, message: &RobotState) -> Result<Self, MoveGroupError> {
        let bad = |reason: String| MoveGroupError::RobotState { reason };
        let JointState { name, position, .. } = &message.joint_state;
        if name.len() != position.len() {
            return Err(bad(format!("{} joint names with {} positions", name.len(), position.len())));
        }
        let mut state = self.clone();
        for (name, position) in name.iter().zip(position) {
            if !position.is_finite() {
                return Err(bad(format!("position of `{name}` is not finite")));
            }
            let arm = model.joint_names().iter().position(|joint| joint == name);
            if let Some(joint) = arm.and_then(|index| state.joints.get_mut(index)) {
                *joint = *position;
            } else if model.group().drive.as_deref() == Some(name) {
                state.drive = *position;
            } else if !model.links().iter().any(|link| link.joint.as_deref() == Some(name)) {
                return Err(bad(format!("the robot has no joint `{name}`")));
            }
        }
        Ok(state)
    }

    /// As a message: arm joints, then the drive.
    pub fn to_msg(&self, model: &RobotModel) -> RobotState {
        let mut name = model.joint_names().to_vec();
        let mut position = self.joints.clone();
        if let Some(drive) = &model.group().drive {
            name.push(drive.clone());
            position.push(self.drive);
        }
        let mut state = RobotState::default();
        state.joint_state.header.frame_id = model.group().base.clone();
        state.joint_state.name = name;
        state.joint_state.position = position;
        state
    }
}
