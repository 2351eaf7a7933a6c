//! MoveIt's interfaces by the node `move_group`, over the arm's own controller: for robots whose vendor has no MoveIt configuration.
//!
//! The embedded robot stands for the robot and its controllers; it has no MoveIt of its own here.

use crate::harness::{
    CALL, EASY_GOAL, EASY_PLACE, PATIENCE, Stage, StageOptions, in_time, one_at_a_time, repository, wait_for,
};
use prehend_cli::goal::{self, Followed};
use prehend_cli::graph::Graph;
use prehend_cli::node::{NODES, NodeName};
use prehend_cli::outcome::Outcome;
use prehend_cli::supervisor::{Output, ProcessSpec, Restart};
use prehend_msgs::moveit_msgs::action::MoveGroup;
use prehend_msgs::moveit_msgs::msg::{Constraints, JointConstraint, MoveItErrorCodes};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_ros::{GoalHandle, GoalStatus};
use serde_json::json;

/// The node, started again when it dies, as launch files do it.
fn move_group() -> ProcessSpec {
    let robot = repository().join("config/robots/xarm6.yaml").display().to_string();
    let arguments = ["node", NodeName::MoveGroup.name(), "--supervised", "--robot", robot.as_str()];
    ProcessSpec {
        name: NodeName::MoveGroup.name().to_owned(),
        arguments: arguments.map(str::to_owned).to_vec(),
        restart: Restart::Always,
        output: Output::Logged,
    }
}

/// A graph whose robot has no MoveIt, and the node.
async fn over_the_controller(without: &[NodeName], speed: f64, parameters: &[&'static str]) -> Stage {
    let options = || {
        let of_sim = ["detector:=perfect", "moveit:=off"].iter().chain(parameters);
        let parameters = of_sim.map(|parameter| (NodeName::Sim, *parameter)).collect();
        StageOptions { without: without.to_vec(), speed, parameters, ..StageOptions::default() }
    };
    let node = |stage: &mut Stage| {
        stage.graph.supervisor.start(move_group()).unwrap_or_else(|error| panic!("{error}"));
    };
    Stage::start_beside(options, node).await.0
}

/// Gives [`EASY_GOAL`], kills the node as soon as the arm moves, and follows the goal to its end.
async fn killed_while_the_arm_moves(stage: &mut Stage) -> Followed {
    let Graph { supervisor, judge, observer, .. } = &mut stage.graph;
    let events = &mut stage.events;
    let kill = async {
        while !judge.snapshot().await.unwrap_or_else(|error| panic!("{error}")).moving {}
        supervisor.kill(NodeName::MoveGroup.name());
        std::future::pending().await
    };
    goal::run(observer, EASY_GOAL, PATIENCE, |event| events.push(event.clone()), kill).await
}

/// A sentence is carried out; the node dies in a motion of the next, which ends typed; with the node back that is carried out, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentences_are_done_and_a_death_in_a_motion_is_told() {
    let _turn = one_at_a_time().await;
    let mut stage = over_the_controller(&[], 3.0, &[]).await;
    stage.easy_goal_is_reached("the start").await;
    assert!(stage.motions().await > 0);

    stage.put("red block", EASY_PLACE).await;
    let lost = killed_while_the_arm_moves(&mut stage).await;
    assert_eq!(lost.ending.outcome, Outcome::Failed, "{:?}\n{}", lost.ending, stage.story());
    assert_eq!(lost.ending.reason.as_deref(), Some("peer_lost"), "{:?}\n{}", lost.ending, stage.story());
    stage.arm_stands().await;

    // It may take a while until the new one is found, and the dead one is not asked any more.
    let again = in_time("the goal", async {
        loop {
            let followed = stage.goal(EASY_GOAL).await;
            match followed.ending.reason.as_deref() {
                Some("busy" | "peer_lost" | "control_failed") => {}
                _ => break followed,
            }
        }
    })
    .await;
    assert_eq!(again.ending.outcome, Outcome::Done, "{:?}\n{}", again.ending, stage.story());
    let truth = stage.arm_stands().await;
    let block = truth.objects.iter().find(|object| object.name == "red block").expect("the block");
    assert!(block.on.iter().chain(&block.inside).any(|under| under == "plate"), "{block:?}");
    stage.end().await;
}

/// Has the arm look to its left.
async fn look_left(stage: &Stage) -> GoalHandle<ExecuteSkill::Action> {
    let node = &stage.graph.observer.node;
    let client = node.create_action_client::<ExecuteSkill::Action>(names::EXECUTE_SKILL).expect("a client");
    let goal = ExecuteSkill::Goal { skill: "look".to_owned(), part: "left".to_owned(), ..Default::default() };
    client.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn result_of(mut goal: GoalHandle<ExecuteSkill::Action>) -> ExecuteSkill::Result {
    in_time("the look ends", goal.result(CALL)).await.unwrap_or_else(|error| panic!("{error}")).1
}

/// Joint positions from which the arm looks to its left, rad.
fn left(stage: &Stage) -> Vec<f64> {
    let looks = &stage.graph.robot.looks;
    looks.iter().find(|(name, _)| name == "left").expect("the look").1.clone()
}

/// Whether the arm stands where it looks to its left.
async fn is_left(stage: &mut Stage) -> bool {
    let left = left(stage);
    let now = stage.arm_stands().await.joints;
    now.iter().zip(&left).all(|(now, left)| (now - left).abs() < 0.02)
}

async fn moves(stage: &mut Stage) {
    let judge = &mut stage.graph.judge;
    wait_for("the arm moves", async || {
        judge.snapshot().await.unwrap_or_else(|error| panic!("{error}")).moving.then_some(())
    })
    .await;
}

/// The node dies while the arm moves slowly: its controller would carry the motion to its end, and is stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_arm_of_a_node_that_dies_is_stopped() {
    let _turn = one_at_a_time().await;
    let mut stage = over_the_controller(&[], 0.4, &[]).await;
    let goal = look_left(&stage).await;
    moves(&mut stage).await;
    stage.kill(NodeName::MoveGroup).await;
    let lost = result_of(goal).await;
    assert_eq!(lost.reason, "peer_lost", "{lost:?}");
    assert!(!is_left(&mut stage).await, "nobody stopped the arm\n{}", stage.story());

    wait_for("the look is done by the new one", async || {
        let result = result_of(look_left(&stage).await).await;
        let looked = result.error_code == ErrorCode::SUCCESS;
        assert!(looked || ["peer_lost", "control_failed"].contains(&result.reason.as_str()), "{result:?}");
        looked.then_some(())
    })
    .await;
    assert!(is_left(&mut stage).await, "{}", stage.story());
    stage.end().await;
}

/// Asks the node itself to move the arm to joint positions, rad.
async fn sent_to(stage: &Stage, joints: &[f64], plan_only: bool) -> GoalHandle<MoveGroup::Action> {
    let robot = &stage.graph.robot;
    let node = &stage.graph.observer.node;
    let client = node.create_action_client::<MoveGroup::Action>(&robot.moveit.move_action).expect("a client");
    let one = |(name, position): (&String, &f64)| JointConstraint {
        joint_name: name.clone(),
        position: *position,
        weight: 1.0,
        ..Default::default()
    };
    let constraints = Constraints {
        joint_constraints: robot.arm.joints.iter().zip(joints).map(one).collect(),
        ..Default::default()
    };
    let mut goal = MoveGroup::Goal::default();
    goal.request.group_name = robot.moveit.group.clone();
    goal.request.goal_constraints = vec![constraints];
    goal.request.max_velocity_scaling_factor = 0.2;
    goal.request.max_acceleration_scaling_factor = 0.5;
    goal.planning_options.plan_only = plan_only;
    client.send_goal(goal, CALL).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn ended(mut goal: GoalHandle<MoveGroup::Action>) -> (GoalStatus, MoveItErrorCodes) {
    let (status, result) = goal.result(CALL).await.unwrap_or_else(|error| panic!("{error}"));
    (status, result.error_code)
}

/// The node alone: one motion at a time, a cancel that stops the arm, joints that are not known, and an end that leaves nothing moving.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_node_stops_what_it_began() {
    let _turn = one_at_a_time().await;
    type Code = MoveItErrorCodes;
    let others: Vec<_> = NODES.into_iter().filter(|node| *node != NodeName::Sim).collect();
    let mut stage = over_the_controller(&others, 1.0, &["arming:=off"]).await;
    let (left, home) = (left(&stage), stage.graph.robot.home.clone());

    let first = sent_to(&stage, &left, false).await;
    moves(&mut stage).await;
    let (status, second) = ended(sent_to(&stage, &left, false).await).await;
    assert_eq!((status, second.val), (GoalStatus::Aborted, Code::CONTROL_FAILED), "{second:?}");
    assert!(second.message.contains("another motion is under way"), "{second:?}");
    first.cancel(CALL).await.unwrap_or_else(|error| panic!("{error}"));
    let (status, first) = ended(first).await;
    assert_eq!((status, first.val), (GoalStatus::Canceled, Code::PREEMPTED), "{first:?}");
    assert!(!is_left(&mut stage).await, "the cancelled motion went on");

    for fault in ["nan", "silent"] {
        stage.graph.judge.fault(json!({"joints": fault})).await.unwrap_or_else(|error| panic!("{error}"));
        let unknown = wait_for("the joints are not known", async || {
            let (_, code) = ended(sent_to(&stage, &home, true).await).await;
            (code.val != Code::SUCCESS).then_some(code)
        })
        .await;
        assert_eq!(unknown.val, Code::ROBOT_STATE_STALE, "{fault}: {unknown:?}");
        assert!(unknown.message.contains("does the driver run"), "{fault}: {unknown:?}");
        stage.graph.judge.fault(json!({"joints": "ok"})).await.unwrap_or_else(|error| panic!("{error}"));
        wait_for("the joints are known", async || {
            let (_, code) = ended(sent_to(&stage, &home, true).await).await;
            (code.val == Code::SUCCESS).then_some(())
        })
        .await;
    }

    let _moving = sent_to(&stage, &left, false).await;
    moves(&mut stage).await;
    stage.graph.supervisor.remove(NodeName::MoveGroup.name()).await;
    assert!(!is_left(&mut stage).await, "the node has ended and the arm went on");
    stage.end().await;
}
