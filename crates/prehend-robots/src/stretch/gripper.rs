//! The gripper: goals in metres between the pads as one joint of the driver's controller.
//!
//! The driver has no word for "it holds something": it goes on until its time is up. Here a gripper that has come to rest has done what
//! it could, and what it holds it goes on holding.

use super::driver::{Driver, DriverError, Turn};
use super::waypoints::Joint;
use futures::StreamExt;
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::trajectory_msgs::msg::JointTrajectoryPoint;
use prehend_ros::{ActionServer, ExecutingGoal};
use std::time::Duration;

/// Deadline for the end of a goal that was cancelled.
const CANCEL: Duration = Duration::from_secs(2);
/// Time in which the fingers begin to move.
const BEGIN: Duration = Duration::from_millis(400);
/// Time between two feedback messages.
const FEEDBACK_PERIOD: Duration = Duration::from_millis(100);
/// How far from the asked opening the pads may be, metres.
const REACHED: f64 = 0.004;

/// Serves until the server is dropped. `joint` is the driver's name of the gripper's opening; goals between `low` and `high`, metres.
pub(super) async fn serve(
    mut server: ActionServer<GripperCommand::Action>,
    driver: Driver,
    joints: Vec<Joint>,
    joint: String,
    [low, high]: [f64; 2],
) {
    while let Some(request) = server.next().await {
        let position = request.goal.command.position;
        if !position.is_finite() {
            tracing::warn!("a goal of the gripper was refused: its position is no number");
            request.reject();
            continue;
        }
        let turn = match driver.turn() {
            Ok(turn) => turn,
            Err(refused) => {
                tracing::warn!("a goal of the gripper was refused: {refused}");
                request.reject();
                continue;
            }
        };
        let (goal, driver, joints, joint) = (request.accept(), driver.clone(), joints.clone(), joint.clone());
        tokio::spawn(async move {
            grip(goal, turn, &driver, &joints, joint, position.clamp(low, high)).await;
        });
    }
}

async fn grip(
    goal: ExecutingGoal<GripperCommand::Action>,
    turn: Turn,
    driver: &Driver,
    joints: &[Joint],
    joint: String,
    target: f64,
) {
    let opening = || driver.now().map_or(f64::NAN, |now| now.aperture);
    let effort = goal.goal().command.max_effort;
    let moved = close(driver, joints, joint, target);
    tokio::pin!(moved);
    let mut tick = tokio::time::interval(FEEDBACK_PERIOD);
    let ended = loop {
        tokio::select! {
            ended = &mut moved => break Some(ended),
            () = goal.cancelled() => break None,
            bar = driver.barred() => break Some(Err(bar)),
            _ = tick.tick() => {
                let feedback = GripperCommand::Feedback { position: opening(), effort, ..Default::default() };
                if let Err(error) = goal.publish_feedback(feedback) {
                    tracing::debug!("feedback not sent: {error}");
                }
            }
        }
    };
    if !matches!(ended, Some(Ok(_))) {
        driver.halt().await;
    }
    // Whoever has the result may send the next goal at once.
    drop(turn);
    match ended {
        Some(Ok(position)) => {
            let reached_goal = (position - target).abs() <= REACHED;
            goal.succeed(GripperCommand::Result { position, effort, stalled: !reached_goal, reached_goal });
        }
        Some(Err(error)) => {
            tracing::warn!("a goal of the gripper ended early: {error}");
            goal.abort(GripperCommand::Result { position: opening(), effort, ..Default::default() });
        }
        None => goal.canceled(GripperCommand::Result { position: opening(), effort, ..Default::default() }),
    }
}

/// Moves the fingers until they stand; the opening then, metres.
async fn close(driver: &Driver, joints: &[Joint], joint: String, target: f64) -> Result<f64, DriverError> {
    let point = JointTrajectoryPoint { positions: vec![target], ..Default::default() };
    let mut sent = driver.send(vec![joint], point).await?;
    let mut said = tokio::select! {
        ended = driver.ended(&mut sent) => Some(ended),
        () = tokio::time::sleep(BEGIN) => None,
    };
    let resting = driver.rest(joints);
    tokio::pin!(resting);
    let standing = loop {
        tokio::select! {
            standing = &mut resting => break standing?,
            ended = driver.ended(&mut sent), if said.is_none() => said = Some(ended),
        }
    };
    match said {
        // It stands before the driver is content: it holds something. The driver's time need not run out.
        None => {
            // It may have ended just now; a driver that is lost is told by its silence.
            if let Err(error) = sent.cancel(CANCEL).await {
                tracing::debug!("a goal of the gripper was not cancelled: {error}");
            }
        }
        Some(Ok(())) => {}
        Some(Err(error)) => return Err(error),
    }
    Ok(standing.aperture)
}
