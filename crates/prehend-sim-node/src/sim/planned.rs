//! The embedded robot's arm behind MoveIt's face: it moves by itself, without a controller in between.

use super::arm_handle::{ArmError, ArmHandle};
use super::controllers::{TrajectoryMessageError, trajectory_from_msg};
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_robots::move_group::{Arm, ArmState, Misbehaviour, MoveGroupError};
use prehend_robots::trajectory_check::TrajectoryFault;
use prehend_sim::world::{ArmModel, MotionOutcome};
use std::sync::Arc;

/// The arm, and its joints as its controller sees them.
pub(super) struct Planned {
    arm: ArmHandle,
    controlled: Arc<ArmModel>,
}

impl Planned {
    pub(super) fn new(arm: ArmHandle, controlled: Arc<ArmModel>) -> Self {
        Self { arm, controlled }
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
        let points = trajectory_from_msg(&self.controlled, &trajectory.joint_trajectory).map_err(fault)?;
        let mut motion = self.arm.execute(points).await.map_err(refused)?;
        let ended = tokio::select! {
            ended = motion.ended() => ended,
            () = cancelled => {
                self.arm.stop().map_err(refused)?;
                motion.ended().await
            }
        };
        match ended.map_err(refused)? {
            MotionOutcome::Succeeded => Ok(()),
            MotionOutcome::Stopped => Err(MoveGroupError::Stopped),
            MotionOutcome::ForceLimit(force) => Err(MoveGroupError::ForceLimit { force }),
        }
    }

    fn misbehaviour(&self) -> Misbehaviour {
        self.arm.misbehaviour()
    }
}

fn fault(error: TrajectoryMessageError) -> TrajectoryFault {
    match error {
        TrajectoryMessageError::Joints { found, .. } => TrajectoryFault::Joints { found },
        TrajectoryMessageError::Length { point, found, expected } => {
            TrajectoryFault::Length { point, what: "numbers", found, expected }
        }
    }
}

fn refused(error: ArmError) -> MoveGroupError {
    match error {
        ArmError::Trajectory(error) => MoveGroupError::NotStarted { reason: error.to_string() },
        ArmError::NotReady(reason) => MoveGroupError::NotStarted { reason },
        ArmError::Gone => MoveGroupError::Gone,
    }
}
