//! What moves an arm's joints along a trajectory: its controller, by `control_msgs/FollowJointTrajectory`.

use super::error::MoveGroupError;
use crate::RobotConfig;
use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_ros::{ActionClient, GoalHandle, GoalStatus, Node, RosError};
use std::time::Duration;

/// Deadline for the controller's acceptance of a goal and of its cancelling.
const ACCEPT: Duration = Duration::from_secs(3);
/// Silence after which the controller is lost.
const SILENCE: Duration = Duration::from_secs(5);
/// Longest wait for the arm to stand after a cancel.
const HALT: Duration = Duration::from_secs(3);

/// How the motion of a controller ended.
type Ended = Result<(GoalStatus, FollowJointTrajectory::Result), RosError>;

/// The controller of an arm, as who has it move.
#[derive(Debug)]
pub struct Controller {
    name: String,
    client: ActionClient<FollowJointTrajectory::Action>,
}

impl Controller {
    /// Longest time until a motion that is to stop has.
    pub(super) const LONGEST_STOP: Duration = ACCEPT.saturating_add(HALT);

    /// The arm's controller of the robot file; nothing is asked of it yet.
    ///
    /// Errors: [`RosError`] of the endpoints.
    pub fn create(node: &Node, robot: &RobotConfig) -> Result<Self, RosError> {
        let name = robot.arm.controller.clone();
        Ok(Self { client: node.create_action_client(&name)?, name })
    }

    /// Moves the arm along the joints' part of a trajectory until it stands again; it is stopped once `stopped` completes.
    ///
    /// Errors: [`MoveGroupError::NotStarted`] when the controller does not take it, [`MoveGroupError::Stopped`] when somebody stopped it,
    /// [`MoveGroupError::Controller`] when it fails on the way.
    pub async fn follow(
        &self,
        trajectory: &RobotTrajectory,
        stopped: impl Future<Output = ()> + Send,
    ) -> Result<(), MoveGroupError> {
        let goal = FollowJointTrajectory::Goal {
            trajectory: trajectory.joint_trajectory.clone(),
            ..Default::default()
        };
        let mut motion =
            self.client.send_goal(goal, ACCEPT).await.map_err(|error| MoveGroupError::NotStarted {
                reason: format!("{error}: does the arm's driver run, and is it active?"),
            })?;
        let ended = tokio::select! {
            ended = motion.result(SILENCE) => Some(ended),
            () = stopped => None,
        };
        let ended = match ended {
            Some(Err(lost)) => {
                // It may only be silent, and must not go on.
                cancel(&motion).await;
                Err(lost)
            }
            Some(ended) => ended,
            None => self.stop(&mut motion).await,
        };
        outcome(ended).map_err(|end| match end {
            End::Stopped => MoveGroupError::Stopped,
            End::Failed(end) => MoveGroupError::Controller { controller: self.name.clone(), end },
        })
    }

    /// Cancels a motion at the controller and waits until it has ended.
    async fn stop(&self, motion: &mut GoalHandle<FollowJointTrajectory::Action>) -> Ended {
        cancel(motion).await;
        match tokio::time::timeout(HALT, motion.result(SILENCE)).await {
            Ok(ended) => ended,
            Err(_) => Err(RosError::Timeout { peer: self.name.clone(), deadline: HALT }),
        }
    }
}

/// Has a motion cancelled. One that cannot be has ended, or it is told by what is waited for next.
async fn cancel(motion: &GoalHandle<FollowJointTrajectory::Action>) {
    if let Err(error) = motion.cancel(ACCEPT).await {
        tracing::warn!("the arm's motion was not cancelled: {error}");
    }
}

/// How a motion ended that did not succeed.
#[derive(Debug, PartialEq)]
enum End {
    /// It was cancelled, by whomever.
    Stopped,
    /// What the controller says, or that it says nothing.
    Failed(String),
}

fn outcome(ended: Ended) -> Result<(), End> {
    match ended {
        Ok((GoalStatus::Succeeded, result))
            if result.error_code == FollowJointTrajectory::Result::SUCCESSFUL =>
        {
            Ok(())
        }
        Ok((GoalStatus::Canceled, _)) => Err(End::Stopped),
        Ok((status, FollowJointTrajectory::Result { error_code, error_string })) => {
            let name = name(error_code);
            let said = format!("{status:?}, {name} ({error_code}) {error_string}");
            Err(End::Failed(said.trim_end().to_owned()))
        }
        Err(error) => Err(End::Failed(error.to_string())),
    }
}

/// A controller's code in the words of `control_msgs/FollowJointTrajectory`.
fn name(code: i32) -> &'static str {
    type Code = FollowJointTrajectory::Result;
    match code {
        Code::SUCCESSFUL => "SUCCESSFUL",
        Code::INVALID_GOAL => "INVALID_GOAL",
        Code::INVALID_JOINTS => "INVALID_JOINTS",
        Code::OLD_HEADER_TIMESTAMP => "OLD_HEADER_TIMESTAMP",
        Code::PATH_TOLERANCE_VIOLATED => "PATH_TOLERANCE_VIOLATED",
        Code::GOAL_TOLERANCE_VIOLATED => "GOAL_TOLERANCE_VIOLATED",
        _ => "a code of its own",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_success_is_one() {
        let result = |error_code: i32, error_string: &str| FollowJointTrajectory::Result {
            error_code,
            error_string: error_string.to_owned(),
        };
        assert_eq!(outcome(Ok((GoalStatus::Succeeded, result(0, "")))), Ok(()));
        assert_eq!(outcome(Ok((GoalStatus::Canceled, result(0, "stopped")))), Err(End::Stopped));
        let failed = |ended: Ended, words: &[&str]| match outcome(ended) {
            Err(End::Failed(said)) => assert!(words.iter().all(|word| said.contains(word)), "{said}"),
            other => panic!("{other:?}"),
        };
        failed(
            Ok((GoalStatus::Aborted, result(-5, "lift"))),
            &["Aborted", "GOAL_TOLERANCE_VIOLATED (-5) lift"],
        );
        failed(Ok((GoalStatus::Succeeded, result(-100, "runstopped"))), &["-100", "runstopped"]);
        failed(Err(RosError::Closed), &["closed"]);
    }
}
