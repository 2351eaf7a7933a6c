//! The controllers' action servers, by the names and types of ros2_control.

use super::arm_handle::{ArmError, ArmHandle, Motion};
use futures::StreamExt;
use prehend_msgs::builtin_interfaces::msg::Duration as WireDuration;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_ros::{ActionServer, ExecutingGoal};
use prehend_sim::world::{ArmModel, JointPoint, JointVector, MotionOutcome, TrajectoryError};
use std::sync::Arc;
use std::time::Duration;

/// Wall time between two feedback messages.
const FEEDBACK_PERIOD: Duration = Duration::from_millis(50);

/// A trajectory message that is not one of this arm.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrajectoryMessageError {
    /// Joint names are not those of the arm, each once.
    #[error("joints {found:?} are not the arm's {expected:?}")]
    Joints {
        /// Names in the message.
        found: Vec<String>,
        /// Names of the arm.
        expected: Vec<String>,
    },
    /// A point has another number of positions or velocities than there are joints.
    #[error("point {point} has {found} numbers for {expected} joints")]
    Length {
        /// Index of the point.
        point: usize,
        /// How many numbers.
        found: usize,
        /// How many joints.
        expected: usize,
    },
}

/// The points of a message in the arm's joint order.
///
/// Numbers are passed on as they are: [`ArmHandle::execute`] refuses those that are not finite or outside limits.
pub fn trajectory_from_msg(
    model: &ArmModel,
    msg: &JointTrajectory,
) -> Result<Vec<JointPoint>, TrajectoryMessageError> {
    let expected: Vec<String> = model.joints().iter().map(|joint| joint.name.clone()).collect();
    let order: Option<Vec<usize>> =
        expected.iter().map(|name| msg.joint_names.iter().position(|found| found == name)).collect();
    let order = order.filter(|_| msg.joint_names.len() == expected.len()).ok_or_else(|| {
        TrajectoryMessageError::Joints { found: msg.joint_names.clone(), expected: expected.clone() }
    })?;
    let pick = |point: usize, values: &[f64]| -> Result<JointVector, TrajectoryMessageError> {
        if values.len() != order.len() {
            return Err(TrajectoryMessageError::Length { point, found: values.len(), expected: order.len() });
        }
        Ok(order.iter().map(|from| values[*from]).collect())
    };
    msg.points
        .iter()
        .enumerate()
        .map(|(index, point)| {
            let velocities = match point.velocities.as_slice() {
                [] => None,
                values => Some(pick(index, values)?),
            };
            Ok(JointPoint {
                time: f64::from(point.time_from_start.sec) + f64::from(point.time_from_start.nanosec) * 1e-9,
                positions: pick(index, &point.positions)?,
                velocities,
            })
        })
        .collect()
}

/// Serves the arm's controller until the server is dropped. A new goal takes the place of a running one.
pub(super) async fn serve_arm(
    mut server: ActionServer<FollowJointTrajectory::Action>,
    arm: ArmHandle,
    model: Arc<ArmModel>,
) {
    while let Some(request) = server.next().await {
        let goal = request.accept();
        let points = match trajectory_from_msg(&model, &goal.goal().trajectory) {
            Ok(points) => points,
            Err(error) => {
                let code = match error {
                    TrajectoryMessageError::Joints { .. } => FollowJointTrajectory::Result::INVALID_JOINTS,
                    TrajectoryMessageError::Length { .. } => FollowJointTrajectory::Result::INVALID_GOAL,
                };
                goal.abort(arm_result(code, error.to_string()));
                continue;
            }
        };
        match arm.execute(points).await {
            Ok(motion) => {
                tokio::spawn(follow(goal, motion, arm.clone(), Arc::clone(&model)));
            }
            Err(error) => {
                let code = match &error {
                    ArmError::Trajectory(TrajectoryError::Start { .. }) => {
                        FollowJointTrajectory::Result::PATH_TOLERANCE_VIOLATED
                    }
                    ArmError::Trajectory(_) | ArmError::NotReady(_) | ArmError::Gone => {
                        FollowJointTrajectory::Result::INVALID_GOAL
                    }
                };
                goal.abort(arm_result(code, error.to_string()));
            }
        }
    }
}

fn arm_result(error_code: i32, error_string: String) -> FollowJointTrajectory::Result {
    FollowJointTrajectory::Result { error_code, error_string }
}

async fn follow(
    goal: ExecutingGoal<FollowJointTrajectory::Action>,
    mut motion: Motion,
    arm: ArmHandle,
    model: Arc<ArmModel>,
) {
    let mut feedback = tokio::time::interval(FEEDBACK_PERIOD);
    let mut stopping = false;
    let outcome = loop {
        tokio::select! {
            outcome = motion.ended() => break outcome,
            () = goal.cancelled(), if !stopping => {
                stopping = true;
                if arm.stop().is_err() {
                    break Err(ArmError::Gone);
                }
            }
            _ = feedback.tick() => {
                if let Err(error) = goal.publish_feedback(arm_feedback(&arm, &model)) {
                    tracing::debug!("feedback not sent: {error}");
                }
            }
        }
    };
    match outcome {
        Ok(MotionOutcome::Succeeded) => {
            goal.succeed(arm_result(FollowJointTrajectory::Result::SUCCESSFUL, String::new()));
        }
        Ok(MotionOutcome::Stopped) if goal.is_cancel_requested() => {
            goal.canceled(arm_result(
                FollowJointTrajectory::Result::SUCCESSFUL,
                "stopped on request".to_owned(),
            ));
        }
        Ok(MotionOutcome::Stopped) => {
            let code = FollowJointTrajectory::Result::GOAL_TOLERANCE_VIOLATED;
            goal.abort(arm_result(code, "the arm was stopped".to_owned()));
        }
        Ok(MotionOutcome::Replaced) => {
            let code = FollowJointTrajectory::Result::INVALID_GOAL;
            goal.abort(arm_result(code, "Current goal preempted by new incoming action.".to_owned()));
        }
        Ok(MotionOutcome::ForceLimit(force)) => {
            let code = FollowJointTrajectory::Result::PATH_TOLERANCE_VIOLATED;
            goal.abort(arm_result(code, format!("the force guard stopped the arm at {force:.0} N")));
        }
        Err(error) => {
            goal.abort(arm_result(FollowJointTrajectory::Result::INVALID_GOAL, error.to_string()));
        }
    }
}

fn arm_feedback(arm: &ArmHandle, model: &ArmModel) -> FollowJointTrajectory::Feedback {
    let state = arm.state();
    let point = JointTrajectoryPoint {
        positions: state.positions.clone(),
        velocities: state.velocities.to_vec(),
        time_from_start: WireDuration::default(),
        ..Default::default()
    };
    FollowJointTrajectory::Feedback {
        header: prehend_convert::header("", state.time),
        joint_names: model.joints().iter().map(|joint| joint.name.clone()).collect(),
        desired: point.clone(),
        actual: point,
        ..Default::default()
    }
}

/// Serves the gripper until the server is dropped. A new goal takes the place of a running one.
pub(super) async fn serve_gripper(
    mut server: ActionServer<GripperCommand::Action>,
    arm: ArmHandle,
    model: Arc<ArmModel>,
) {
    while let Some(request) = server.next().await {
        let command = &request.goal.command;
        if !command.position.is_finite() || !command.max_effort.is_finite() {
            tracing::warn!("gripper goal refused: a number is not finite");
            request.reject();
            continue;
        }
        let opening = model.opening_from_drive(command.position);
        let effort = command.max_effort.max(0.0);
        let goal = request.accept();
        tokio::spawn(grip(goal, arm.clone(), Arc::clone(&model), opening, effort));
    }
}

async fn grip(
    goal: ExecutingGoal<GripperCommand::Action>,
    arm: ArmHandle,
    model: Arc<ArmModel>,
    opening: f64,
    effort: f64,
) {
    let ended = arm.grip(opening, effort);
    tokio::pin!(ended);
    let mut feedback = tokio::time::interval(FEEDBACK_PERIOD);
    let mut stopping = false;
    let end = loop {
        tokio::select! {
            end = &mut ended => break end,
            () = goal.cancelled(), if !stopping => {
                stopping = true;
                if arm.hold_grip().is_err() {
                    break Err(ArmError::Gone);
                }
            }
            _ = feedback.tick() => {
                let state = arm.state();
                let feedback = GripperCommand::Feedback { position: state.drive, effort, ..Default::default() };
                if let Err(error) = goal.publish_feedback(feedback) {
                    tracing::debug!("feedback not sent: {error}");
                }
            }
        }
    };
    match end {
        Ok(end) => {
            let result = GripperCommand::Result {
                position: model.drive_from_opening(end.opening),
                effort,
                stalled: end.stalled,
                reached_goal: end.reached_goal,
            };
            if goal.is_cancel_requested() {
                goal.canceled(result);
            } else if end.replaced {
                goal.abort(result);
            } else {
                goal.succeed(result);
            }
        }
        Err(error) => {
            tracing::warn!("gripper: {error}");
            goal.abort(GripperCommand::Result::default());
        }
    }
}
