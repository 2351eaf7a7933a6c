//! The gripper's goals in positions of a finger: the finger is what Gazebo commands, so that the drive is where the fingers are.

use futures::StreamExt;
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::control_msgs::msg::GripperCommand as Command;
use prehend_robots::robot::Gripper;
use prehend_ros::{ActionClient, ActionServer, ExecutingGoal, GoalStatus};
use std::sync::Arc;
use std::time::Duration;

/// Deadline for the controller's acceptance of a goal and of its cancelling.
const ACCEPT: Duration = Duration::from_secs(3);
/// Silence after which the controller is lost.
const SILENCE: Duration = Duration::from_secs(5);

/// How far a finger moves for each unit of the drive, metres: a finger of Gazebo's is at this times the drive's position.
pub fn finger_per_drive(gripper: &Gripper) -> f64 {
    gripper.max_opening / 2.0 / (gripper.open - gripper.closed)
}

/// Passes goals on until the server is dropped.
pub(super) async fn relay(
    mut server: ActionServer<GripperCommand::Action>,
    client: ActionClient<GripperCommand::Action>,
    gripper: Gripper,
) {
    let client = Arc::new(client);
    let factor = finger_per_drive(&gripper);
    while let Some(request) = server.next().await {
        let command = &request.goal.command;
        if !command.position.is_finite() || !command.max_effort.is_finite() {
            tracing::warn!("gripper goal refused: a number is not finite");
            request.reject();
            continue;
        }
        tokio::spawn(pass(request.accept(), Arc::clone(&client), factor));
    }
}

async fn pass(
    goal: ExecutingGoal<GripperCommand::Action>,
    client: Arc<ActionClient<GripperCommand::Action>>,
    factor: f64,
) {
    let asked = &goal.goal().command;
    let command = Command { position: asked.position * factor, max_effort: asked.max_effort };
    let mut sent = match client.send_goal(GripperCommand::Goal { command }, ACCEPT).await {
        Ok(sent) => sent,
        Err(error) => {
            tracing::warn!("the gripper's controller in Gazebo did not take a goal: {error}");
            goal.abort(GripperCommand::Result::default());
            return;
        }
    };
    let canceller = sent.canceller();
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = sent.result(SILENCE) => break ended,
            () = goal.cancelled(), if !stopping => {
                stopping = true;
                if let Err(error) = canceller.cancel(ACCEPT).await {
                    tracing::warn!("the gripper's controller in Gazebo did not cancel: {error}");
                }
            }
        }
    };
    match ended {
        Ok((status, result)) => {
            let result = GripperCommand::Result { position: result.position / factor, ..result };
            match status {
                GoalStatus::Succeeded => goal.succeed(result),
                GoalStatus::Canceled if goal.is_cancel_requested() => goal.canceled(result),
                _ => goal.abort(result),
            }
        }
        Err(error) => {
            tracing::warn!("the gripper's controller in Gazebo is lost: {error}");
            goal.abort(GripperCommand::Result::default());
        }
    }
}
