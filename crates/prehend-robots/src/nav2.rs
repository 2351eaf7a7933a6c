//! Nav2's `NavigateToPose` of either distribution, what its codes mean, and whether its navigator is active.
//!
//! Humble ends a drive with the action's status alone, Jazzy with a code and a message besides. The two have one name and two
//! layouts: which one a robot speaks stands in its robot file, because a wrong guess would be garbage, not an error.

use crate::robot::{Distribution, Navigation};
use futures::future::join_all;
use prehend_msgs::Action;
use prehend_msgs::action_msgs::srv::CancelGoal;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::lifecycle_msgs::msg::State;
use prehend_msgs::lifecycle_msgs::srv::GetState;
use prehend_msgs::nav2_msgs::action::NavigateToPose as Jazzy;
use prehend_msgs::nav2_msgs_humble::action::NavigateToPose as Humble;
use prehend_ros::{ActionClient, Client, Node, QosProfile, RosError};
use prehend_scene::Reason;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest wait for the navigator to say in which state it is.
const STATE: Duration = Duration::from_secs(1);

/// How a drive ended: Nav2's code (0: none given) and its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Nav2's code; 0 when none is given.
    pub code: u16,
    /// Its words.
    pub message: String,
}

/// One distribution's `NavigateToPose`.
pub trait Navigate: Action {
    /// The goal at a pose.
    fn goal(pose: PoseStamped) -> Self::Goal;
    /// What the result says.
    fn end(result: Self::Result) -> End;
    /// How far it is still, metres.
    fn remaining(feedback: &Self::Feedback) -> f64;
}

impl Navigate for Jazzy::Action {
    fn goal(pose: PoseStamped) -> Self::Goal {
        Jazzy::Goal { pose, ..Default::default() }
    }

    fn end(result: Self::Result) -> End {
        End { code: result.error_code, message: result.error_msg }
    }

    fn remaining(feedback: &Self::Feedback) -> f64 {
        f64::from(feedback.distance_remaining)
    }
}

impl Navigate for Humble::Action {
    fn goal(pose: PoseStamped) -> Self::Goal {
        Humble::Goal { pose, ..Default::default() }
    }

    fn end(_: Self::Result) -> End {
        End::default()
    }

    fn remaining(feedback: &Self::Feedback) -> f64 {
        f64::from(feedback.distance_remaining)
    }
}

/// The client of the robot's distribution.
#[derive(Clone)]
pub enum NavigateClient {
    /// In Jazzy's layout.
    Jazzy(ActionClient<Jazzy::Action>),
    /// In Humble's.
    Humble(ActionClient<Humble::Action>),
}

/// The way to Nav2: its navigator, and the servers behind it that drive the base.
#[derive(Clone)]
pub struct Nav2 {
    /// Its action.
    pub navigator: NavigateClient,
    driving: Vec<Driving>,
}

/// A server behind the navigator that drives the base; not every Nav2 has all of them.
#[derive(Clone)]
struct Driving {
    cancel: Client<CancelGoal::Service>,
    /// It was there once. If it is not heard of now, that is no reason to believe that nothing drives.
    met: Arc<AtomicBool>,
}

impl Driving {
    /// Whether it is there, or was when it was looked for.
    fn is_met(&self) -> bool {
        let there = self.cancel.is_available();
        self.met.fetch_or(there, Ordering::Relaxed) || there
    }
}

impl Nav2 {
    /// The clients of the robot file's action, and of the servers beside it.
    pub fn new(node: &Node, navigation: &Navigation) -> Result<Self, RosError> {
        let navigator = match navigation.distribution {
            Distribution::Jazzy => NavigateClient::Jazzy(node.create_action_client(&navigation.action)?),
            Distribution::Humble => NavigateClient::Humble(node.create_action_client(&navigation.action)?),
        };
        let server = |name: &String| {
            let cancel = node.create_client(name, QosProfile::services())?;
            Ok(Driving { cancel, met: Arc::default() })
        };
        let driving: Result<_, RosError> = navigation.cancel_driving().iter().map(server).collect();
        Ok(Self { navigator, driving: driving? })
    }

    /// Looks which servers drive; before a drive, so that all of them are told to stop it.
    pub fn meet(&self) {
        for server in &self.driving {
            let _ = server.is_met();
        }
    }

    /// Stops whatever drives: at the navigator, and at the servers that it sent off, which go on without it when it is gone.
    ///
    /// Gives what those said who did not answer.
    pub async fn cancel_all(&self, deadline: Duration) -> Vec<RosError> {
        let navigator = async {
            match &self.navigator {
                NavigateClient::Jazzy(client) => client.halt_all(deadline).await,
                NavigateClient::Humble(client) => client.halt_all(deadline).await,
            }
        };
        // Zeros mean every goal.
        let met = self.driving.iter().filter(|server| server.is_met());
        let driving =
            join_all(met.map(|server| server.cancel.insist(CancelGoal::Request::default(), deadline)));
        let (navigator, driving) = tokio::join!(navigator, driving);
        let driving = driving.into_iter().filter_map(Result::err);
        navigator.err().into_iter().chain(driving).collect()
    }
}

/// Asks the navigator for its lifecycle state.
#[derive(Clone, Debug)]
pub struct Lifecycle(Client<GetState::Service>);

impl Lifecycle {
    /// The client of the navigator's lifecycle.
    pub fn new(node: &Node, navigation: &Navigation) -> Result<Self, RosError> {
        let service = format!("{}/get_state", navigation.navigator);
        Ok(Self(node.create_client(&service, QosProfile::services())?))
    }

    /// The state's name when the navigator is there and not active.
    pub async fn inactive(&self) -> Option<String> {
        let state = self.state().await?;
        (state.id != State::PRIMARY_STATE_ACTIVE).then_some(state.label)
    }

    /// Whether the navigator is there and active.
    pub async fn is_active(&self) -> bool {
        self.state().await.is_some_and(|state| state.id == State::PRIMARY_STATE_ACTIVE)
    }

    async fn state(&self) -> Option<State> {
        let answer = self.0.request(GetState::Request::default(), STATE).await.ok()?;
        Some(answer.current_state)
    }
}

/// What a code of Nav2's servers means, and the reason it is for Prehend. The hundreds are the server: 1 controller, 2 and 3 planner,
/// 5 smoother, 7 behaviours; 9000 and more are the navigator's own in later distributions.
pub fn meaning(code: u16) -> (&'static str, Reason) {
    match code {
        0 => ("no reason given", Reason::ControlFailed),
        101 | 201 | 301 | 501 => ("the server has no such plugin: see its parameters", Reason::Internal),
        102 | 202 | 302 | 702 | 712 | 722 | 732 => {
            ("no transform: is the base localized, do the clocks agree?", Reason::SensorFault)
        }
        103 | 505 => ("the path is empty or broken", Reason::ControlFailed),
        104 => ("the controller found no way on in time", Reason::ControlFailed),
        105 => ("the base makes no progress", Reason::ControlFailed),
        106 => ("every motion from here would touch something", Reason::ControlFailed),
        203 | 303 => ("the base is outside the map: localize it", Reason::SensorFault),
        204 | 304 => ("the goal is outside the map", Reason::NoPlan),
        205 | 305 => ("the base stands in an obstacle of the costmap", Reason::NoPlan),
        206 | 306 => ("the goal is in an obstacle", Reason::NoPlan),
        207 | 307 | 502 => ("planning took too long", Reason::NoPlan),
        208 | 308 => ("there is no way to the goal", Reason::NoPlan),
        701 | 711 | 721 | 731 => ("a recovery took too long", Reason::ControlFailed),
        703 | 714 | 723 => ("a recovery would touch something", Reason::ControlFailed),
        100..=199 => ("the controller failed", Reason::ControlFailed),
        200..=399 => ("the planner failed", Reason::NoPlan),
        500..=599 => ("the smoother failed", Reason::ControlFailed),
        700..=799 => ("a recovery failed", Reason::ControlFailed),
        _ => ("a code this version does not know", Reason::ControlFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_codes_meaning_is_its_servers() {
        for (code, word, reason) in [
            (0, "no reason", Reason::ControlFailed),
            (100, "controller", Reason::ControlFailed),
            (102, "transform", Reason::SensorFault),
            (106, "touch", Reason::ControlFailed),
            (107, "controller", Reason::ControlFailed),
            (203, "outside the map", Reason::SensorFault),
            (206, "obstacle", Reason::NoPlan),
            (208, "no way", Reason::NoPlan),
            (309, "planner", Reason::NoPlan),
            (503, "smoother", Reason::ControlFailed),
            (714, "recovery", Reason::ControlFailed),
            (9001, "not know", Reason::ControlFailed),
        ] {
            let (words, found) = meaning(code);
            assert!(words.contains(word) && found == reason, "{code}: {words} {found:?}");
        }
    }

    #[test]
    fn both_distributions_say_how_a_drive_ended() {
        let jazzy = Jazzy::Result { error_code: 208, error_msg: "no valid path".to_owned() };
        assert_eq!(Jazzy::Action::end(jazzy), End { code: 208, message: "no valid path".to_owned() });
        assert_eq!(Humble::Action::end(Humble::Result::default()), End::default());
        // One name in the graph, two layouts.
        assert_eq!(
            (Jazzy::Action::PACKAGE, Jazzy::Action::NAME),
            (Humble::Action::PACKAGE, Humble::Action::NAME)
        );
    }
}
