//! MoveIt's interfaces in the layout of either distribution.
//!
//! Humble and Jazzy have two layouts under one name. The robot's is that of the ROS 2 around this process, unless the robot file names
//! another (`moveit.distribution`). Nothing is guessed from what is heard: a wrong guess would give garbage, not an error. All other code
//! speaks Jazzy's layout. What Humble lacks is lost here, and the caller must deal with it: Humble times straight lines at full speed, whatever
//! is asked for.

use crate::robot::{Distribution, MoveItNames};
use prehend_msgs::moveit_msgs::action::{ExecuteTrajectory as Execute, MoveGroup as Group};
use prehend_msgs::moveit_msgs::msg::MoveItErrorCodes;
use prehend_msgs::moveit_msgs::srv::{GetCartesianPath as Line, GetPositionIK as Inverse};
use prehend_msgs::moveit_msgs_humble::action::{
    ExecuteTrajectory as HumbleExecute, MoveGroup as HumbleGroup,
};
use prehend_msgs::moveit_msgs_humble::msg::MoveItErrorCodes as HumbleCodes;
use prehend_msgs::moveit_msgs_humble::srv::{GetCartesianPath as HumbleLine, GetPositionIK as HumbleInverse};
use prehend_msgs::{Action, Service};
use prehend_ros::{ActionClient, Client, GoalStatus, Node, QosProfile, RosError};
use std::time::Duration;

/// A service in a layout of its own, beside Jazzy's `J`.
pub trait ServiceLayout<J: Service>: Service {
    /// A request as the layout has it.
    fn request_from(request: J::Request) -> Self::Request;
    /// A request as Jazzy has it.
    fn request_into(request: Self::Request) -> J::Request;
    /// An answer as the layout has it.
    fn response_from(response: J::Response) -> Self::Response;
    /// An answer as Jazzy has it.
    fn response_into(response: Self::Response) -> J::Response;
}

/// An action in a layout of its own, beside Jazzy's `J`.
pub trait ActionLayout<J: Action>: Action {
    /// A goal as the layout has it.
    fn goal_from(goal: J::Goal) -> Self::Goal;
    /// A goal as Jazzy has it.
    fn goal_into(goal: Self::Goal) -> J::Goal;
    /// A result as the layout has it.
    fn result_from(result: J::Result) -> Self::Result;
    /// A result as Jazzy has it.
    fn result_into(result: Self::Result) -> J::Result;
    /// Feedback as the layout has it.
    fn feedback_from(feedback: J::Feedback) -> Self::Feedback;
}

/// A distribution's layouts.
pub trait Layout: 'static {
    /// `MoveGroup`.
    type Group: ActionLayout<Group::Action>;
    /// `ExecuteTrajectory`.
    type Execute: ActionLayout<Execute::Action>;
    /// `GetCartesianPath`.
    type Line: ServiceLayout<Line::Service>;
    /// `GetPositionIK`.
    type Inverse: ServiceLayout<Inverse::Service>;
}

/// Those of ROS 2 Jazzy.
pub struct Jazzy;

/// Those of ROS 2 Humble.
pub struct Humble;

impl Layout for Jazzy {
    type Group = Group::Action;
    type Execute = Execute::Action;
    type Line = Line::Service;
    type Inverse = Inverse::Service;
}

impl Layout for Humble {
    type Group = HumbleGroup::Action;
    type Execute = HumbleExecute::Action;
    type Line = HumbleLine::Service;
    type Inverse = HumbleInverse::Service;
}

impl<J: Service> ServiceLayout<J> for J {
    fn request_from(request: J::Request) -> J::Request {
        request
    }

    fn request_into(request: J::Request) -> J::Request {
        request
    }

    fn response_from(response: J::Response) -> J::Response {
        response
    }

    fn response_into(response: J::Response) -> J::Response {
        response
    }
}

impl<J: Action> ActionLayout<J> for J {
    fn goal_from(goal: J::Goal) -> J::Goal {
        goal
    }

    fn goal_into(goal: J::Goal) -> J::Goal {
        goal
    }

    fn result_from(result: J::Result) -> J::Result {
        result
    }

    fn result_into(result: J::Result) -> J::Result {
        result
    }

    fn feedback_from(feedback: J::Feedback) -> J::Feedback {
        feedback
    }
}

fn code_from(code: &MoveItErrorCodes) -> HumbleCodes {
    HumbleCodes { val: code.val }
}

fn code_into(code: &HumbleCodes) -> MoveItErrorCodes {
    MoveItErrorCodes { val: code.val, ..Default::default() }
}

impl ActionLayout<Group::Action> for HumbleGroup::Action {
    fn goal_from(goal: Group::Goal) -> HumbleGroup::Goal {
        HumbleGroup::Goal { request: goal.request, planning_options: goal.planning_options }
    }

    fn goal_into(goal: HumbleGroup::Goal) -> Group::Goal {
        Group::Goal { request: goal.request, planning_options: goal.planning_options }
    }

    fn result_from(result: Group::Result) -> HumbleGroup::Result {
        HumbleGroup::Result {
            error_code: code_from(&result.error_code),
            trajectory_start: result.trajectory_start,
            planned_trajectory: result.planned_trajectory,
            executed_trajectory: result.executed_trajectory,
            planning_time: result.planning_time,
        }
    }

    fn result_into(result: HumbleGroup::Result) -> Group::Result {
        Group::Result {
            error_code: code_into(&result.error_code),
            trajectory_start: result.trajectory_start,
            planned_trajectory: result.planned_trajectory,
            executed_trajectory: result.executed_trajectory,
            planning_time: result.planning_time,
        }
    }

    fn feedback_from(feedback: Group::Feedback) -> HumbleGroup::Feedback {
        HumbleGroup::Feedback { state: feedback.state }
    }
}

impl ActionLayout<Execute::Action> for HumbleExecute::Action {
    fn goal_from(goal: Execute::Goal) -> HumbleExecute::Goal {
        HumbleExecute::Goal { trajectory: goal.trajectory }
    }

    fn goal_into(goal: HumbleExecute::Goal) -> Execute::Goal {
        Execute::Goal { trajectory: goal.trajectory, ..Default::default() }
    }

    fn result_from(result: Execute::Result) -> HumbleExecute::Result {
        HumbleExecute::Result { error_code: code_from(&result.error_code) }
    }

    fn result_into(result: HumbleExecute::Result) -> Execute::Result {
        Execute::Result { error_code: code_into(&result.error_code) }
    }

    fn feedback_from(feedback: Execute::Feedback) -> HumbleExecute::Feedback {
        HumbleExecute::Feedback { state: feedback.state }
    }
}

impl ServiceLayout<Line::Service> for HumbleLine::Service {
    fn request_from(request: Line::Request) -> HumbleLine::Request {
        HumbleLine::Request {
            header: request.header,
            start_state: request.start_state,
            group_name: request.group_name,
            link_name: request.link_name,
            waypoints: request.waypoints,
            max_step: request.max_step,
            jump_threshold: request.jump_threshold,
            prismatic_jump_threshold: request.prismatic_jump_threshold,
            revolute_jump_threshold: request.revolute_jump_threshold,
            avoid_collisions: request.avoid_collisions,
            path_constraints: request.path_constraints,
        }
    }

    fn request_into(request: HumbleLine::Request) -> Line::Request {
        Line::Request {
            header: request.header,
            start_state: request.start_state,
            group_name: request.group_name,
            link_name: request.link_name,
            waypoints: request.waypoints,
            max_step: request.max_step,
            jump_threshold: request.jump_threshold,
            prismatic_jump_threshold: request.prismatic_jump_threshold,
            revolute_jump_threshold: request.revolute_jump_threshold,
            avoid_collisions: request.avoid_collisions,
            path_constraints: request.path_constraints,
            ..Default::default()
        }
    }

    fn response_from(response: Line::Response) -> HumbleLine::Response {
        HumbleLine::Response {
            start_state: response.start_state,
            solution: response.solution,
            fraction: response.fraction,
            error_code: code_from(&response.error_code),
        }
    }

    fn response_into(response: HumbleLine::Response) -> Line::Response {
        Line::Response {
            start_state: response.start_state,
            solution: response.solution,
            fraction: response.fraction,
            error_code: code_into(&response.error_code),
        }
    }
}

impl ServiceLayout<Inverse::Service> for HumbleInverse::Service {
    fn request_from(request: Inverse::Request) -> HumbleInverse::Request {
        HumbleInverse::Request { ik_request: request.ik_request }
    }

    fn request_into(request: HumbleInverse::Request) -> Inverse::Request {
        Inverse::Request { ik_request: request.ik_request }
    }

    fn response_from(response: Inverse::Response) -> HumbleInverse::Response {
        let error_code = code_from(&response.error_code);
        HumbleInverse::Response { solution: response.solution, error_code }
    }

    fn response_into(response: HumbleInverse::Response) -> Inverse::Response {
        let error_code = code_into(&response.error_code);
        Inverse::Response { solution: response.solution, error_code }
    }
}

/// The client of an action in the robot's layout.
#[derive(Clone, Debug)]
pub enum ActionOf<J: Action, H: ActionLayout<J>> {
    /// In Jazzy's layout.
    Jazzy(ActionClient<J>),
    /// In Humble's.
    Humble(ActionClient<H>),
}

impl<J: Action, H: ActionLayout<J>> ActionOf<J, H> {
    fn new(node: &Node, distribution: Distribution, name: &str) -> Result<Self, RosError> {
        Ok(match distribution {
            Distribution::Jazzy => Self::Jazzy(node.create_action_client(name)?),
            Distribution::Humble => Self::Humble(node.create_action_client(name)?),
        })
    }

    /// A goal for the Humble client.
    pub fn humble_goal(goal: J::Goal) -> H::Goal {
        H::goal_from(goal)
    }

    /// What the Humble client was answered.
    pub fn jazzy_result(result: H::Result) -> J::Result {
        H::result_into(result)
    }

    /// Stops whatever moves.
    pub async fn cancel_all(&self, deadline: Duration) -> Result<usize, RosError> {
        match self {
            Self::Jazzy(client) => client.cancel_all(deadline).await,
            Self::Humble(client) => client.cancel_all(deadline).await,
        }
    }

    /// Sends a goal, to be accepted within `accept`, and waits for its end for as long as something is heard within `silence`.
    pub async fn result(
        &self,
        goal: J::Goal,
        accept: Duration,
        silence: Duration,
    ) -> Result<(GoalStatus, J::Result), RosError> {
        match self {
            Self::Jazzy(client) => client.send_goal(goal, accept).await?.result(silence).await,
            Self::Humble(client) => {
                let mut handle = client.send_goal(H::goal_from(goal), accept).await?;
                handle.result(silence).await.map(|(status, result)| (status, H::result_into(result)))
            }
        }
    }
}

/// The client of a service in the robot's layout.
#[derive(Clone, Debug)]
pub enum ServiceOf<J: Service, H: ServiceLayout<J>> {
    /// In Jazzy's layout.
    Jazzy(Client<J>),
    /// In Humble's.
    Humble(Client<H>),
}

impl<J: Service, H: ServiceLayout<J>> ServiceOf<J, H> {
    fn new(node: &Node, distribution: Distribution, name: &str) -> Result<Self, RosError> {
        let services = QosProfile::services();
        Ok(match distribution {
            Distribution::Jazzy => Self::Jazzy(node.create_client(name, services)?),
            Distribution::Humble => Self::Humble(node.create_client(name, services)?),
        })
    }

    /// Asks, and waits for the answer.
    pub async fn request(&self, request: J::Request, deadline: Duration) -> Result<J::Response, RosError> {
        match self {
            Self::Jazzy(client) => client.request(request, deadline).await,
            Self::Humble(client) => {
                client.request(H::request_from(request), deadline).await.map(H::response_into)
            }
        }
    }
}

/// `MoveGroup`.
pub type Groups = ActionOf<Group::Action, HumbleGroup::Action>;
/// `ExecuteTrajectory`.
pub type Executions = ActionOf<Execute::Action, HumbleExecute::Action>;
/// `GetCartesianPath`.
pub type Lines = ServiceOf<Line::Service, HumbleLine::Service>;
/// `GetPositionIK`.
pub type Inverses = ServiceOf<Inverse::Service, HumbleInverse::Service>;

impl MoveItNames {
    /// The client of `MoveGroup`.
    pub fn groups(&self, node: &Node) -> Result<Groups, RosError> {
        ActionOf::new(node, self.distribution, &self.move_action)
    }

    /// The client of `ExecuteTrajectory`.
    pub fn executions(&self, node: &Node) -> Result<Executions, RosError> {
        ActionOf::new(node, self.distribution, &self.execute_trajectory)
    }

    /// The client of `GetCartesianPath`.
    pub fn lines(&self, node: &Node) -> Result<Lines, RosError> {
        ServiceOf::new(node, self.distribution, &self.cartesian_path)
    }

    /// The client of `GetPositionIK`.
    pub fn inverses(&self, node: &Node) -> Result<Inverses, RosError> {
        ServiceOf::new(node, self.distribution, &self.inverse_kinematics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::moveit_msgs::msg::RobotTrajectory;

    fn code() -> MoveItErrorCodes {
        MoveItErrorCodes { val: -7, message: "lost".to_owned(), source: "lost".to_owned() }
    }

    fn trajectory() -> RobotTrajectory {
        let mut trajectory = RobotTrajectory::default();
        trajectory.joint_trajectory.joint_names = vec!["a".to_owned()];
        trajectory
    }

    fn goal_and_back<J: Action, H: ActionLayout<J>>(goal: J::Goal) -> J::Goal {
        H::goal_into(H::goal_from(goal))
    }

    fn result_and_back<J: Action, H: ActionLayout<J>>(result: J::Result) -> J::Result {
        H::result_into(H::result_from(result))
    }

    fn request_and_back<J: Service, H: ServiceLayout<J>>(request: J::Request) -> J::Request {
        H::request_into(H::request_from(request))
    }

    fn response_and_back<J: Service, H: ServiceLayout<J>>(response: J::Response) -> J::Response {
        H::response_into(H::response_from(response))
    }

    /// What both layouts have comes through both ways; what Humble lacks does not, and nothing else.
    #[test]
    fn what_both_have_comes_through() {
        let bare = MoveItErrorCodes { val: -7, ..Default::default() };
        let result = Group::Result {
            error_code: code(),
            planned_trajectory: trajectory(),
            planning_time: 0.5,
            ..Default::default()
        };
        let back = result_and_back::<Group::Action, HumbleGroup::Action>(result.clone());
        assert_eq!(back, Group::Result { error_code: bare.clone(), ..result });
        let goal = Execute::Goal { trajectory: trajectory(), controller_names: vec!["arm".to_owned()] };
        let back = goal_and_back::<Execute::Action, HumbleExecute::Action>(goal.clone());
        assert_eq!(back, Execute::Goal { controller_names: Vec::new(), ..goal });
        let request = Line::Request {
            group_name: "xarm6".to_owned(),
            max_step: 0.005,
            avoid_collisions: true,
            max_velocity_scaling_factor: 0.1,
            max_acceleration_scaling_factor: 0.2,
            cartesian_speed_limited_link: "link_tcp".to_owned(),
            max_cartesian_speed: 0.01,
            ..Default::default()
        };
        let back = request_and_back::<Line::Service, HumbleLine::Service>(request.clone());
        let kept = Line::Request {
            max_velocity_scaling_factor: 0.0,
            max_acceleration_scaling_factor: 0.0,
            cartesian_speed_limited_link: String::new(),
            max_cartesian_speed: 0.0,
            ..request
        };
        assert_eq!(back, kept);
        let response = Line::Response { fraction: 0.6, error_code: code(), ..Default::default() };
        let back = response_and_back::<Line::Service, HumbleLine::Service>(response.clone());
        assert_eq!(back, Line::Response { error_code: bare, ..response });
    }

    #[test]
    fn both_have_one_name() {
        assert_eq!(
            (Line::Service::PACKAGE, Line::Service::NAME),
            (HumbleLine::Service::PACKAGE, HumbleLine::Service::NAME)
        );
        assert_eq!(
            (Group::Action::PACKAGE, Group::Action::NAME),
            (HumbleGroup::Action::PACKAGE, HumbleGroup::Action::NAME)
        );
    }
}
