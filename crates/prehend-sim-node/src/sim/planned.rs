//! The embedded robot's arm behind MoveIt's face: its controller moves it, as that of a real robot does.

use super::arm_handle::ArmHandle;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_robots::RobotConfig;
use prehend_robots::move_group::{Arm, ArmState, Controller, Misbehaviour, MoveGroupError};
use prehend_ros::{Node, RosError};

/// The arm and its controller.
pub(super) struct Planned {
    arm: ArmHandle,
    controller: Controller,
}

impl Planned {
    /// Errors: [`RosError`] of the endpoints.
    pub(super) fn create(node: &Node, robot: &RobotConfig, arm: ArmHandle) -> Result<Self, RosError> {
        Ok(Self { arm, controller: Controller::create(node, robot)? })
    }
}

impl Arm for Planned {
    fn state(&self) -> Result<ArmState, MoveGroupError> {
        let state = self.arm.state();
        Ok(ArmState { joints: state.positions, drive: state.drive })
    }

    async fn follow(
        &self,
        trajectory: &RobotTrajectory,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<(), MoveGroupError> {
        self.controller.follow(trajectory, cancelled).await
    }

    fn has_moveits_manners(&self) -> bool {
        true
    }

    fn misbehaviour(&self) -> Misbehaviour {
        self.arm.misbehaviour()
    }
}
