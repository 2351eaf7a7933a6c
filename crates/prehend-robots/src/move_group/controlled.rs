//! The arm as its own controller moves it: joint states say where it is, `control_msgs/FollowJointTrajectory` takes what it is to do.
//!
//! For: the node `move_group`. Not for: the embedded robot, which moves its arm itself, see `sim::planned`. Read [`Controlled`] first.

use super::arm::Arm;
use super::error::MoveGroupError;
use super::state::ArmState;
use crate::joints::{self, Joints};
use crate::motion_bounds::MotionBounds;
use crate::shell::Shell;
use crate::trajectory_check;
use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_ros::{ActionClient, GoalHandle, GoalStatus, RosError};
use std::time::Duration;
use tokio::sync::{Mutex, watch};

/// Deadline for the controller's acceptance of a goal and of its cancelling.
const ACCEPT: Duration = Duration::from_secs(3);
/// Silence after which the controller is lost.
const SILENCE: Duration = Duration::from_secs(5);
/// Longest wait for the arm to stand after a cancel.
const HALT: Duration = Duration::from_secs(3);
/// How far from where the arm is a trajectory may begin, radians or metres. MoveIt's `allowed_start_tolerance` is 0.01: too little for
/// joints that slide and sag, and whose encoders have noise.
const START: f64 = 0.05;

/// What the motion of a controller was asked for, and how it ended.
type Ended = Result<(GoalStatus, FollowJointTrajectory::Result), RosError>;

/// The arm of a robot with a controller.
pub(super) struct Controlled {
    shell: Shell,
    joints: watch::Receiver<Option<Joints>>,
    controller: ActionClient<FollowJointTrajectory::Action>,
    bounds: MotionBounds,
    /// Held by the one motion that runs.
    moving: Mutex<()>,
    /// No motion may begin any more, and the one that runs stops.
    ending: watch::Sender<bool>,
}

impl Controlled {
    /// The arm of the robot file; nothing is asked of it yet.
    ///
    /// Errors: [`RosError`] of the endpoints.
    pub(super) fn create(shell: &Shell) -> Result<Self, RosError> {
        Ok(Self {
            joints: joints::follow_joints(&shell.node, &shell.robot)?,
            controller: shell.node.create_action_client(&shell.robot.arm.controller)?,
            bounds: MotionBounds::of(&shell.robot),
            shell: shell.clone(),
            moving: Mutex::default(),
            ending: watch::Sender::new(false),
        })
    }

    /// Ends the motion that runs, if one does, and lets none begin; completes when the arm stands, or does not stop in time.
    pub(super) async fn end(&self) {
        self.ending.send_replace(true);
        if tokio::time::timeout(ACCEPT + HALT, self.moving.lock()).await.is_err() {
            tracing::error!("the arm may still move: {} did not stop it", self.shell.robot.arm.controller);
        }
    }

    /// Whether the arm may be used.
    fn may_be_used(&self) -> Result<(), MoveGroupError> {
        let refused = |reason: String| MoveGroupError::NotStarted { reason };
        if *self.ending.borrow() {
            return Err(refused("the node ends".to_owned()));
        }
        self.shell.peers.bar().map_or(Ok(()), |bar| Err(refused(bar.to_string())))
    }

    /// Completes when the arm may not be used any more.
    async fn barred(&self) {
        let mut ending = self.ending.subscribe();
        tokio::select! {
            _ = ending.wait_for(|ending| *ending) => {}
            _ = self.shell.peers.barred() => {}
        }
    }

    /// What the end of a motion means.
    fn outcome(&self, ended: Ended) -> Result<(), MoveGroupError> {
        outcome(ended).map_err(|end| match end {
            End::Stopped => MoveGroupError::Stopped,
            End::Failed(end) => {
                MoveGroupError::Controller { controller: self.shell.robot.arm.controller.clone(), end }
            }
        })
    }

    /// Cancels a motion at the controller and waits until it has ended.
    async fn stop(&self, motion: &mut GoalHandle<FollowJointTrajectory::Action>) -> Ended {
        cancel(motion).await;
        match tokio::time::timeout(HALT, motion.result(SILENCE)).await {
            Ok(ended) => ended,
            Err(_) => {
                Err(RosError::Timeout { peer: self.shell.robot.arm.controller.clone(), deadline: HALT })
            }
        }
    }
}

impl Arm for Controlled {
    fn state(&self) -> Result<ArmState, MoveGroupError> {
        self.may_be_used()?;
        let joints = joints::fresh(&self.joints).map_err(|error| MoveGroupError::Stale {
            reason: format!("joint states of {}: {error}", self.shell.robot.joint_states),
        })?;
        Ok(ArmState { joints: joints.measured.arm, drive: joints.drive })
    }

    fn bounds(&self) -> Option<&MotionBounds> {
        Some(&self.bounds)
    }

    async fn follow(
        &self,
        trajectory: &RobotTrajectory,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<(), MoveGroupError> {
        let Ok(_moving) = self.moving.try_lock() else {
            return Err(MoveGroupError::NotStarted { reason: "another motion is under way".to_owned() });
        };
        // Before it is looked whether the node is active: deactivating it waits for this.
        let _work = self.shell.work();
        let state = self.state()?;
        trajectory_check::check(trajectory, &self.shell.robot.arm.joints, &state.joints, None, START)?;
        let goal = FollowJointTrajectory::Goal {
            trajectory: trajectory.joint_trajectory.clone(),
            ..Default::default()
        };
        let mut motion =
            self.controller.send_goal(goal, ACCEPT).await.map_err(|error| MoveGroupError::NotStarted {
                reason: format!("{error}: does the arm's driver run, and is it active?"),
            })?;
        let ended = tokio::select! {
            ended = motion.result(SILENCE) => Some(ended),
            () = cancelled => None,
            () = self.barred() => None,
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
        self.outcome(ended)
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
    use prehend_msgs::builtin_interfaces::msg::Duration as WireDuration;
    use prehend_msgs::moveit_msgs::msg::MoveItErrorCodes as Code;
    use prehend_msgs::trajectory_msgs::msg::JointTrajectoryPoint;

    /// A trajectory of a lift (m) and a wrist (rad) from where they are.
    fn clean() -> RobotTrajectory {
        let point = |nanosec: u32, positions: [f64; 2]| JointTrajectoryPoint {
            positions: positions.to_vec(),
            time_from_start: WireDuration { sec: 0, nanosec },
            ..Default::default()
        };
        let mut trajectory = RobotTrajectory::default();
        trajectory.joint_trajectory.joint_names = names();
        trajectory.joint_trajectory.points =
            vec![point(0, [0.6, 0.0]), point(20_000_000, [0.61, 0.1]), point(40_000_000, [0.62, 0.2])];
        trajectory
    }

    fn names() -> Vec<String> {
        ["lift", "wrist"].map(str::to_owned).to_vec()
    }

    fn checked(trajectory: &RobotTrajectory) -> Result<(), MoveGroupError> {
        Ok(trajectory_check::check(trajectory, &names(), &[0.6, 0.0], None, START)?)
    }

    #[test]
    fn what_is_no_trajectory_of_this_arm_is_not_sent() {
        assert_eq!(checked(&clean()), Ok(()));
        let mut noisy = clean();
        noisy.joint_trajectory.points[0].positions[0] += 0.04;
        assert_eq!(checked(&noisy), Ok(()), "MoveIt's own 0.01 would refuse it");

        type Break = fn(&mut RobotTrajectory);
        let cases: [(Break, i32, &str); 8] = [
            (|t| t.joint_trajectory.points.clear(), Code::INVALID_MOTION_PLAN, "it is empty"),
            (
                |t| t.joint_trajectory.joint_names[1] = "arm".into(),
                Code::INVALID_MOTION_PLAN,
                "not the arm's",
            ),
            (
                |t| t.joint_trajectory.joint_names[1] = "lift".into(),
                Code::INVALID_MOTION_PLAN,
                "not the arm's",
            ),
            (
                |t| t.joint_trajectory.points[1].positions.truncate(1),
                Code::INVALID_MOTION_PLAN,
                "1 positions for 2 joints",
            ),
            (
                |t| t.joint_trajectory.points[1].positions[0] = f64::NAN,
                Code::INVALID_MOTION_PLAN,
                "no numbers",
            ),
            (
                |t| t.joint_trajectory.points[1].velocities = vec![0.0, f64::INFINITY],
                Code::INVALID_MOTION_PLAN,
                "no numbers",
            ),
            (
                |t| t.joint_trajectory.points[2].time_from_start.nanosec = 20_000_000,
                Code::INVALID_MOTION_PLAN,
                "not later",
            ),
            (|t| t.joint_trajectory.points[0].positions[0] += 0.06, Code::CONTROL_FAILED, "where the arm is"),
        ];
        for (index, (break_it, code, words)) in cases.into_iter().enumerate() {
            let mut trajectory = clean();
            break_it(&mut trajectory);
            let error = checked(&trajectory).expect_err("broken").to_msg();
            assert_eq!(error.val, code, "case {index}: {}", error.message);
            assert!(error.message.contains(words), "case {index}: {}", error.message);
        }
    }

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
