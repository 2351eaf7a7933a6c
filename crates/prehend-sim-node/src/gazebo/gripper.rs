//! The gripper's goals in positions of its fingers, and the fingers' positions as the gripper's.
//!
//! In Gazebo each finger is commanded, so that what is between them stops each where it touches it. Read [`relay`] first, then
//! [`Hand::with_drive`].

use futures::StreamExt;
use futures::future::join_all;
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::control_msgs::msg::GripperCommand as Command;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_robots::robot::Gripper;
use prehend_ros::{ActionClient, ActionServer, ExecutingGoal, GoalHandle, GoalStatus, RosError};
use std::sync::Arc;
use std::time::Duration;

/// Deadline for the controllers' acceptance of a goal and of its cancelling.
const ACCEPT: Duration = Duration::from_secs(3);
/// Silence after which a controller is lost.
const SILENCE: Duration = Duration::from_secs(5);

/// How far a finger moves for each unit of the drive, metres: a finger of Gazebo's is at this times the drive's position.
pub fn finger_per_drive(gripper: &Gripper) -> f64 {
    gripper.max_opening / 2.0 / (gripper.open - gripper.closed)
}

/// What is known of the hand.
#[derive(Clone, Debug)]
pub(super) struct Hand {
    pub gripper: Gripper,
    /// Joints of the two fingers.
    pub fingers: [String; 2],
}

impl Hand {
    /// Joint states with the gripper's own joint where the opening between the fingers puts it, as the linkage of the real one reads.
    /// `None` without both fingers, or with a position that is no number.
    pub(super) fn with_drive(&self, mut states: JointState) -> Option<JointState> {
        let index = |name: &String| states.name.iter().position(|known| known == name);
        let [left, right] = &self.fingers;
        let [left, right] = [index(left)?, index(right)?];
        let drive = index(&self.gripper.joint);
        let factor = finger_per_drive(&self.gripper);
        let of_both =
            |values: &[f64]| -> Option<f64> { Some((values.get(left)? + values.get(right)?) / 2.0) };
        let position = of_both(&states.position).filter(|at| at.is_finite())? / factor;
        let velocity = of_both(&states.velocity).map(|speed| speed / factor);
        let effort = of_both(&states.effort).map(|force| force * factor);
        let drive = drive.unwrap_or_else(|| {
            states.name.push(self.gripper.joint.clone());
            states.name.len() - 1
        });
        put(&mut states.position, drive, Some(position));
        put(&mut states.velocity, drive, velocity);
        put(&mut states.effort, drive, effort);
        Some(states)
    }
}

/// Puts a value at an index of a list that has one for each joint, or none at all.
fn put(values: &mut Vec<f64>, index: usize, value: Option<f64>) {
    let Some(value) = value else { return };
    if values.len() == index {
        values.push(value);
    } else if let Some(known) = values.get_mut(index) {
        *known = value;
    }
}

/// Passes goals on until the server is dropped.
pub(super) async fn relay(
    mut server: ActionServer<GripperCommand::Action>,
    fingers: [ActionClient<GripperCommand::Action>; 2],
    gripper: Gripper,
) {
    let fingers = Arc::new(fingers);
    let factor = finger_per_drive(&gripper);
    while let Some(request) = server.next().await {
        let command = &request.goal.command;
        if !command.position.is_finite() || !command.max_effort.is_finite() {
            tracing::warn!("gripper goal refused: a number is not finite");
            request.reject();
            continue;
        }
        tokio::spawn(pass(request.accept(), Arc::clone(&fingers), factor));
    }
}

async fn pass(
    goal: ExecutingGoal<GripperCommand::Action>,
    fingers: Arc<[ActionClient<GripperCommand::Action>; 2]>,
    factor: f64,
) {
    let asked = &goal.goal().command;
    let command = Command { position: asked.position * factor, max_effort: asked.max_effort };
    let to_finger = || GripperCommand::Goal { command: command.clone() };
    let answers = join_all(fingers.iter().map(|finger| finger.send_goal(to_finger(), ACCEPT))).await;
    let (mut sent, mut refused) = (Vec::new(), false);
    for answer in answers {
        match answer {
            Ok(handle) => sent.push(handle),
            Err(error) => {
                tracing::warn!("a finger's controller in Gazebo did not take a goal: {error}");
                refused = true;
            }
        }
    }
    let cancellers: Vec<_> = sent.iter().map(GoalHandle::canceller).collect();
    let cancel = async || {
        for cancelled in join_all(cancellers.iter().map(|canceller| canceller.cancel(ACCEPT))).await {
            if let Err(error) = cancelled {
                tracing::warn!("a finger's controller in Gazebo did not cancel: {error}");
            }
        }
    };
    if refused {
        // One finger alone grips nothing.
        cancel().await;
        goal.abort(GripperCommand::Result::default());
        return;
    }
    let mut ends = std::pin::pin!(join_all(sent.iter_mut().map(|finger| finger.result(SILENCE))));
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = &mut ends => break ended,
            () = goal.cancelled(), if !stopping => {
                stopping = true;
                cancel().await;
            }
        }
    };
    match together(ended, factor) {
        Ok((GoalStatus::Succeeded, result)) => goal.succeed(result),
        Ok((GoalStatus::Canceled, result)) if goal.is_cancel_requested() => goal.canceled(result),
        Ok((_, result)) => goal.abort(result),
        Err(error) => {
            tracing::warn!("a finger's controller in Gazebo is lost: {error}");
            goal.abort(GripperCommand::Result::default());
        }
    }
}

type Ended = Result<(GoalStatus, GripperCommand::Result), RosError>;

/// What the ends of both fingers are for the gripper: it has succeeded when both have, and is stalled when one of them is.
fn together(ended: Vec<Ended>, factor: f64) -> Ended {
    let ended = ended.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mean = |of: fn(&GripperCommand::Result) -> f64| {
        ended.iter().map(|(_, result)| of(result)).sum::<f64>() / ended.len() as f64
    };
    let result = GripperCommand::Result {
        position: mean(|result| result.position) / factor,
        effort: mean(|result| result.effort),
        stalled: ended.iter().any(|(_, result)| result.stalled),
        reached_goal: ended.iter().all(|(_, result)| result.reached_goal),
    };
    // What is not like the other: a finger that was aborted beside one that has arrived.
    let failed = ended.iter().map(|(status, _)| *status).find(|status| *status != GoalStatus::Succeeded);
    Ok((failed.unwrap_or(GoalStatus::Succeeded), result))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand() -> Hand {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/robots/xarm6.yaml");
        let robot = prehend_robots::RobotConfig::load(&file).expect("a robot file");
        Hand { gripper: robot.gripper, fingers: ["left", "right"].map(str::to_owned) }
    }

    fn states(names: &[&str], position: &[f64]) -> JointState {
        let name = names.iter().map(|name| (*name).to_owned()).collect();
        JointState { name, position: position.to_vec(), ..Default::default() }
    }

    #[test]
    fn the_drive_is_where_the_opening_puts_it() {
        let hand = hand();
        let drive = hand.gripper.joint.clone();
        let opening = |states: &JointState| {
            let at = states.name.iter().position(|name| *name == drive).expect("the drive");
            hand.gripper.opening(states.position[at])
        };
        // A bar that is not in the middle: one finger has gone 35 mm and the other one 40 mm of their 42.5.
        let told = hand.with_drive(states(&["left", "right"], &[-0.035, -0.040])).expect("states");
        assert!((opening(&told) - 0.010).abs() < 1e-9, "{told:?}");
        // What another one said of the drive does not count, and what it did not say is not added.
        let told = hand.with_drive(states(&["right", &drive, "left"], &[0.0, 0.85, 0.0])).expect("states");
        assert!((opening(&told) - hand.gripper.max_opening).abs() < 1e-9, "{told:?}");
        assert!(told.velocity.is_empty() && told.effort.is_empty() && told.name.len() == 3);
        for (names, position) in [
            (&["left"][..], &[0.0][..]),
            (&["left", "right"], &[0.0]),
            (&["left", "right"], &[0.0, f64::NAN]),
            (&[], &[]),
        ] {
            assert_eq!(hand.with_drive(states(names, position)), None, "{names:?} {position:?}");
        }
    }

    #[test]
    fn both_fingers_must_have_succeeded() {
        let ended = |status: GoalStatus, position: f64, stalled: bool| -> Ended {
            Ok((status, GripperCommand::Result { position, stalled, reached_goal: !stalled, effort: 0.0 }))
        };
        let (arrived, aborted) = (GoalStatus::Succeeded, GoalStatus::Aborted);
        let (status, result) =
            together(vec![ended(arrived, 0.01, true), ended(arrived, 0.03, false)], 0.1).expect("ends");
        assert_eq!((status, result.stalled, result.reached_goal), (arrived, true, false));
        assert!((result.position - 0.2).abs() < 1e-9, "{result:?}");
        for ends in [[arrived, aborted], [aborted, arrived]] {
            let ends = ends.map(|status| ended(status, 0.0, false)).into();
            assert_eq!(together(ends, 0.1).expect("ends").0, aborted);
        }
    }
}
