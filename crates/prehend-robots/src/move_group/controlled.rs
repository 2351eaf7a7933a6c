//! The arm as its own controller moves it: joint states say where it is, `control_msgs/FollowJointTrajectory` takes what it is to do.
//!
//! For: the node `move_group`. Not for: the embedded robot, which knows where its arm is, see `sim::planned`. Read [`Controlled`] first.

use super::arm::Arm;
use super::controller::Controller;
use super::error::MoveGroupError;
use super::state::ArmState;
use crate::joints::{self, Joints};
use crate::motion_bounds::MotionBounds;
use crate::shell::Shell;
use crate::trajectory_check;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use prehend_ros::RosError;
use tokio::sync::{Mutex, watch};

/// How far from where the arm is a trajectory may begin, radians or metres. MoveIt's `allowed_start_tolerance` is 0.01: too little for
/// joints that slide and sag, and whose encoders have noise.
const START: f64 = 0.05;

/// The arm of a robot with a controller.
pub(super) struct Controlled {
    shell: Shell,
    joints: watch::Receiver<Option<Joints>>,
    controller: Controller,
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
            controller: Controller::create(&shell.node, &shell.robot)?,
            bounds: MotionBounds::of(&shell.robot),
            shell: shell.clone(),
            moving: Mutex::default(),
            ending: watch::Sender::new(false),
        })
    }

    /// Ends the motion that runs, if one does, and lets none begin; completes when the arm stands, or does not stop in time.
    pub(super) async fn end(&self) {
        self.ending.send_replace(true);
        if tokio::time::timeout(Controller::LONGEST_STOP, self.moving.lock()).await.is_err() {
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
        let stopped = async {
            tokio::select! {
                () = cancelled => {}
                () = self.barred() => {}
            }
        };
        self.controller.follow(trajectory, stopped).await
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
}
