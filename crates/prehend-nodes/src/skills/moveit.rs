//! Whether MoveIt lives, while an answer of its is waited for.

use prehend_execution::SkillFault;
use prehend_msgs::moveit_msgs::msg::{PlanningScene, PlanningSceneComponents};
use prehend_msgs::moveit_msgs::srv::GetPlanningScene;
use prehend_robots::RobotConfig;
use prehend_robots::of_robot;
use prehend_ros::{Client, Node, Pulse, QosProfile, RosError};
use std::convert::Infallible;
use std::time::Duration;

/// Silence after which the robot side is lost. With what follows, a person is told within two seconds.
pub(super) const SILENCE: Duration = Duration::from_millis(1200);
/// Pause between two questions to MoveIt whether it is there: three may stay without an answer while it executes.
const PULSE: Duration = Duration::from_millis(300);
/// Longest that an answer may take of a MoveIt that lives. It is longer than any planning time that it is given.
const ANSWER: Duration = Duration::from_secs(4);

/// MoveIt's service that says what its scene holds. It answers while MoveIt plans or executes, though not while it works at an inverse
/// kinematics, which gets a tenth of a second.
#[derive(Debug)]
pub(super) struct MoveIt {
    scenes: Client<GetPlanningScene::Service>,
}

impl MoveIt {
    pub(super) fn new(node: &Node, robot: &RobotConfig) -> Result<Self, RosError> {
        Ok(Self { scenes: node.create_client(&robot.moveit.planning_scene(), QosProfile::services())? })
    }

    /// Waits for an answer of MoveIt's, as long as it lives: what asks gets the longest time that the answer may take.
    ///
    /// Errors: `PeerLost`, [`SILENCE`] after MoveIt has died; and what the answer itself ends with.
    pub(super) async fn answers<T, F>(
        &self,
        phase: &'static str,
        asks: impl FnOnce(Duration) -> F,
    ) -> Result<T, SkillFault>
    where
        F: Future<Output = Result<T, RosError>>,
    {
        let answer = tokio::select! {
            biased;
            answer = asks(ANSWER) => answer,
            error = self.lost() => Err(error),
        };
        answer.map_err(|error| of_robot(phase, &error))
    }

    /// What its scene holds of these components.
    pub(super) async fn scene(
        &self,
        phase: &'static str,
        components: u32,
    ) -> Result<PlanningScene, SkillFault> {
        let answer = self.answers(phase, |longest| self.scenes.request(question(components), longest)).await;
        answer.map(|answer| answer.scene)
    }

    /// Completes when MoveIt has died. One that has not been found yet is waited for by who asks it something.
    pub(super) async fn lost(&self) -> RosError {
        loop {
            tokio::time::sleep(PULSE).await;
            let little = question(PlanningSceneComponents::OBJECT_COLORS);
            let answer = self.scenes.request(little, SILENCE - PULSE).await;
            // What else goes wrong is told where the answer is waited for.
            if let Err(error @ (RosError::Timeout { .. } | RosError::PeerLost { .. })) = answer {
                return error;
            }
        }
    }

    /// Hears, for as long as a motion goes on, whether MoveIt lives: the thread that would answer for an execution works that execution
    /// off. Silence is judged where the end of the motion is waited for.
    pub(super) async fn attend(&self, pulse: &Pulse) -> Infallible {
        loop {
            let little = question(PlanningSceneComponents::OBJECT_COLORS);
            let _ = pulse.ask(&self.scenes, little, SILENCE / 2).await;
            tokio::time::sleep(PULSE).await;
        }
    }
}

fn question(components: u32) -> GetPlanningScene::Request {
    GetPlanningScene::Request { components: PlanningSceneComponents { components } }
}
