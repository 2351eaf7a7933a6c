//! Stops an arm or a base whose owner died while moving it. The owner's own heartbeat says whether it moved it.

use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_robots::moveit_layout::Executions;
use prehend_robots::nav2::Nav2;
use prehend_robots::shell::{NodeError, Shell};
use prehend_ros::ActionClient;
use serde_json::json;
use std::time::Duration;

/// Deadline of a cancel request to the robot.
const CANCEL_DEADLINE: Duration = Duration::from_secs(2);

/// The owners, and what of theirs is cancelled.
pub(super) struct Watchdog {
    /// The node `skills` and its arm.
    owner: Owner,
    /// The node `go_to` and its base.
    driver: Owner,
    navigation: Option<Nav2>,
    trajectory: Executions,
    controller: ActionClient<FollowJointTrajectory::Action>,
}

/// Life of an owner whose motion was stopped already, and the life seen at the last look with whether it moved.
#[derive(Default)]
struct Owner {
    life: Option<u64>,
    moving: bool,
    stopped_for: Option<u64>,
}

impl Owner {
    /// Whether the node `name` was lost, or replaced by another life, while it moved something; told once for each life.
    fn lost(&mut self, peers: &prehend_robots::shell::Peers, name: &str) -> bool {
        let Some(life) = peers.incarnation(name) else { return false };
        let replaced = self.life.is_some_and(|old| old != life) && self.moving;
        let silent = peers.fell_silent_in_motion(name);
        let lost = (replaced || silent) && self.stopped_for != Some(life);
        if lost {
            self.stopped_for = Some(life);
        }
        self.life = Some(life);
        self.moving = silent || peers.motion_active(name);
        lost
    }
}

impl Watchdog {
    pub(super) fn new(shell: &Shell) -> Result<Self, NodeError> {
        Ok(Self {
            owner: Owner::default(),
            driver: Owner::default(),
            navigation: match &shell.robot.navigation {
                Some(navigation) => Some(Nav2::new(&shell.node, navigation)?),
                None => None,
            },
            trajectory: shell.robot.moveit.executions(&shell.node)?,
            controller: shell.node.create_action_client(&shell.robot.arm.controller)?,
        })
    }

    /// Looks after both; what was lost is stopped once.
    pub(super) fn look(&mut self, shell: &Shell) {
        if self.owner.lost(&shell.peers, "skills") {
            self.stop_arm(shell);
        }
        if self.driver.lost(&shell.peers, "go_to") {
            self.stop_base(shell);
        }
    }

    fn stop_base(&self, shell: &Shell) {
        tell(shell, "go_to was lost while the base was driven: the drive is cancelled");
        let Some(navigation) = self.navigation.clone() else { return };
        tokio::spawn(async move {
            for error in navigation.cancel_all(CANCEL_DEADLINE).await {
                tracing::error!("cancel of an orphaned drive failed: {error}");
            }
        });
    }

    fn stop_arm(&self, shell: &Shell) {
        tell(shell, "skills was lost while the arm was moving: all motions are cancelled");
        let (trajectory, controller) = (self.trajectory.clone(), self.controller.clone());
        tokio::spawn(async move {
            let (a, b) =
                tokio::join!(trajectory.cancel_all(CANCEL_DEADLINE), controller.halt_all(CANCEL_DEADLINE));
            for error in [a.err(), b.err()].into_iter().flatten() {
                tracing::error!("cancel of an orphaned motion failed: {error}");
            }
        });
    }
}

fn tell(shell: &Shell, message: &str) {
    shell.trace.event("", TraceEvent::KIND_WARNING, "watchdog", "stop", message, json!({}));
}
