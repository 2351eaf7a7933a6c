//! The gripper's part of a motion sequence: the pads go somewhere, and what was measured says whether they did.

use super::arm::{Motion, SETTLE};
use prehend_execution::{Grip, SkillFault};
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::control_msgs::msg::GripperCommand as Command;
use prehend_robots::joints::Joints as Heard;
use std::time::Instant;

impl Motion<'_> {
    /// Moves the gripper; the opening measured afterwards.
    pub(super) async fn close_to(&self, phase: &'static str, grip: Grip) -> Result<f64, SkillFault> {
        let robot = &self.shell.robot.gripper;
        let Grip { opening, before: asked_before } = grip;
        self.tell(phase, "started", format!("{phase}: gripper to {:.0} mm", opening * 1e3));
        let started = Instant::now();
        let before = self.arm.joints()?.opening;
        let command = Command { position: robot.position(opening), max_effort: robot.grip_force };
        let goal = GripperCommand::Goal { command };
        let did_not = || SkillFault::ControlFailed { phase, detail: "the gripper did not move".to_owned() };
        let result = match self.run(phase, &self.arm.gripper, goal).await {
            Ok(result) if result.reached_goal || result.stalled => {
                self.settled(robot.opening(result.position)).await
            }
            // Some drivers (xarm_ros2) say neither and mean success: what was measured decides.
            Ok(result) => self.settled(robot.opening(result.position)).await.and_then(|after| {
                gripped((before, asked_before), opening, after).then_some(after).ok_or_else(did_not)
            }),
            Err(fault) => Err(fault),
        };
        self.tell_end(phase, started, &result);
        result
    }

    /// The measured opening, once joint states agree with what the gripper reported.
    async fn settled(&self, reported: f64) -> Result<f64, SkillFault> {
        let mut joints = self.arm.joints.clone();
        let agrees =
            |j: &Option<Heard>| j.as_ref().is_some_and(|j| (j.measured.opening - reported).abs() < 0.002);
        // Joint states that never agree are measured all the same: the measurement decides, not the report.
        let _ = tokio::time::timeout(SETTLE, joints.wait_for(agrees)).await;
        self.arm.joints().map(|joints| joints.opening)
    }
}

/// Whether a gripper that was sent to `target` did it, by the opening `after`: it arrived, it closed until something was in its way, or it
/// presses on what it was closed on already. `before` and `asked_before` are the opening and what had been asked of it then. Metres.
fn gripped((before, asked_before): (f64, f64), target: f64, after: f64) -> bool {
    /// What pads and measurements give.
    const PLAY: f64 = 0.004;
    let arrived = (after - target).abs() < PLAY;
    let closed_on_something = target < after && before - after > PLAY / 2.0;
    let pressed = asked_before < before - PLAY;
    let still_presses = target < after && pressed && (before - after).abs() < PLAY;
    arrived || closed_on_something || still_presses
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_gripper_that_says_nothing_is_judged_by_what_is_measured() {
        for (before, asked_before, target, after, did) in [
            (0.085, 0.085, 0.0, 0.032, true),
            (0.085, 0.085, 0.0, 0.001, true),
            (0.0, 0.0, 0.085, 0.083, true),
            (0.05, 0.05, 0.05, 0.05, true),
            (0.032, 0.0, 0.0, 0.032, true),
            (0.032, 0.0, 0.085, 0.032, false),
            (0.085, 0.085, 0.0, 0.085, false),
            (0.0, 0.0, 0.085, 0.0, false),
            (0.0, 0.0, 0.085, 0.05, false),
            (0.04, 0.04, 0.02, 0.06, false),
            (0.085, 0.085, 0.0, f64::NAN, false),
        ] {
            assert_eq!(
                gripped((before, asked_before), target, after),
                did,
                "{before} {asked_before} {target} {after}"
            );
        }
    }
}
