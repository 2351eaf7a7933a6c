//! A part of the robot side as a process of its own, which can be killed and started again: this test binary with a role.
//!
//! It offers the real names below `/elsewhere` and passes on to the embedded robot what it gets.

mod stretch_driver;

use super::CALL;
use futures::StreamExt;
use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::moveit_msgs::action::{ExecuteTrajectory, MoveGroup};
use prehend_msgs::moveit_msgs::msg::MoveItErrorCodes;
use prehend_msgs::nav2_msgs::action::NavigateToPose;
use prehend_msgs::{Action, names};
use prehend_ros::{ActionClient, Context, ExecutingGoal, GoalStatus, Node, NodeOptions, RosArguments};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const ROLE: &str = "PREHEND_STAND_IN";
/// Longest silence of who does the work.
const SILENCE: Duration = Duration::from_secs(60);

/// Whom a process stands in for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// MoveIt's two actions; what it executes goes to the controller, as MoveIt does it.
    MoveIt,
    /// Nav2 of Jazzy.
    Nav2,
    /// As Nav2, but it never gets anywhere.
    StuckNav2,
    /// Stretch's driver.
    StretchDriver,
}

const ROLES: [Role; 4] = [Role::MoveIt, Role::Nav2, Role::StuckNav2, Role::StretchDriver];

/// The name below `/elsewhere`.
pub(crate) fn elsewhere(name: &str) -> String {
    format!("/elsewhere{name}")
}

/// Has a node look for these names of the robot side below `/elsewhere`.
pub(crate) fn remapped(node: &str, names: &[&str]) -> RosArguments {
    let mut arguments = RosArguments::default();
    for name in names {
        arguments.add_remap(&format!("{node}:{name}:={}", elsewhere(name))).expect("a rule");
    }
    arguments
}

/// The process; killed when dropped.
pub(crate) struct StandIn(Child);

impl StandIn {
    pub(crate) fn start(role: Role, domain_id: u16) -> Self {
        let child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["harness::stand_in::process", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, format!("{role:?}"))
            .env("ROS_DOMAIN_ID", domain_id.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        Self(child)
    }

    /// As `kill -9` does; it is dead then.
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("gone");
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does nothing in a normal run.
#[test]
fn process() {
    let Ok(name) = std::env::var(ROLE) else { return };
    let role = ROLES.into_iter().find(|role| format!("{role:?}") == name).expect("a role");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let end = prehend_ros::shutdown_signal(true);
        let context = Context::create().expect("a context");
        let node =
            Node::create(&context, "stand_in", names::NAMESPACE, NodeOptions::default()).expect("a node");
        match role {
            Role::MoveIt => {
                serve::<MoveGroup::Action, MoveGroup::Action>(
                    &node,
                    ["/move_action"; 2],
                    Clone::clone,
                    |_, r| r,
                );
                let controller = "/xarm6_traj_controller/follow_joint_trajectory";
                serve::<ExecuteTrajectory::Action, FollowJointTrajectory::Action>(
                    &node,
                    ["/execute_trajectory", controller],
                    |goal| FollowJointTrajectory::Goal {
                        trajectory: goal.trajectory.joint_trajectory.clone(),
                        ..Default::default()
                    },
                    |status, _| {
                        let val = match status {
                            GoalStatus::Succeeded => MoveItErrorCodes::SUCCESS,
                            GoalStatus::Canceled => MoveItErrorCodes::PREEMPTED,
                            _ => MoveItErrorCodes::CONTROL_FAILED,
                        };
                        let error_code = MoveItErrorCodes { val, ..Default::default() };
                        ExecuteTrajectory::Result { error_code }
                    },
                );
            }
            Role::Nav2 => serve::<NavigateToPose::Action, NavigateToPose::Action>(
                &node,
                ["/navigate_to_pose"; 2],
                Clone::clone,
                |_, result| result,
            ),
            Role::StuckNav2 => stuck(&node),
            Role::StretchDriver => stretch_driver::serve(&node),
        }
        end.await
    });
}

/// Offers the first name elsewhere and has the second one do the work.
fn serve<A: Action, B: Action>(
    node: &Node,
    [offered, asked]: [&str; 2],
    goal: impl Fn(&A::Goal) -> B::Goal + Copy + Send + Sync + 'static,
    result: impl Fn(GoalStatus, B::Result) -> A::Result + Copy + Send + Sync + 'static,
) {
    let mut server = node.create_action_server::<A>(&elsewhere(offered)).expect("a server");
    let client = Arc::new(node.create_action_client::<B>(asked).expect("a client"));
    tokio::spawn(async move {
        while let Some(request) = server.next().await {
            let goal_of_b = goal(&request.goal);
            tokio::spawn(pass::<A, B>(request.accept(), goal_of_b, Arc::clone(&client), result));
        }
    });
}

async fn pass<A: Action, B: Action>(
    goal: ExecutingGoal<A>,
    goal_of_b: B::Goal,
    client: Arc<ActionClient<B>>,
    result: impl Fn(GoalStatus, B::Result) -> A::Result,
) {
    let mut sent = client.send_goal(goal_of_b, CALL).await.expect("it is taken");
    let canceller = sent.canceller();
    let mut stopping = false;
    let (status, ended) = loop {
        tokio::select! {
            ended = sent.result(SILENCE) => break ended.expect("it ends"),
            () = goal.cancelled(), if !stopping => {
                stopping = true;
                canceller.cancel(CALL).await.expect("it is cancelled");
            }
        }
    };
    let ended = result(status, ended);
    match status {
        GoalStatus::Succeeded => goal.succeed(ended),
        GoalStatus::Canceled if goal.is_cancel_requested() => goal.canceled(ended),
        _ => goal.abort(ended),
    }
}

/// Takes a goal and says that it is on its way, again and again.
fn stuck(node: &Node) {
    let mut server = node
        .create_action_server::<NavigateToPose::Action>(&elsewhere("/navigate_to_pose"))
        .expect("a server");
    tokio::spawn(async move {
        while let Some(request) = server.next().await {
            let goal = request.accept();
            tokio::spawn(async move {
                let mut tick = tokio::time::interval(Duration::from_millis(100));
                while !goal.is_cancel_requested() {
                    tick.tick().await;
                    let on_its_way =
                        NavigateToPose::Feedback { distance_remaining: 0.5, ..Default::default() };
                    goal.publish_feedback(on_its_way).expect("sent");
                }
                goal.canceled(NavigateToPose::Result::default());
            });
        }
    });
}
