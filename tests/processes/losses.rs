//! Nodes that are killed, or never there.

use crate::harness::{EASY_GOAL, EASY_PLACE, Stage, StageOptions, begins, begins_in, one_at_a_time};
use prehend_cli::goal::{self, Followed};
use prehend_cli::graph::Graph;
use prehend_cli::node::NodeName;
use prehend_cli::observer::Observer;
use prehend_cli::outcome::Outcome;
use prehend_cli::supervisor::Supervisor;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_ros::RosArguments;
use std::time::Duration;

fn describe(followed: &Followed) -> String {
    format!("{:?}", followed.ending)
}

/// Nodes that are killed together, in which phase of which skill, and what the goal may say of it.
type Loss = (&'static [NodeName], (&'static str, &'static str), &'static [&'static str]);

const LOSSES: [Loss; 10] = [
    (&[NodeName::ObjectMap], ("grasp", "transit"), &["peer_lost"]),
    (&[NodeName::Skills], ("grasp", "transit"), &["peer_lost"]),
    (&[NodeName::Agent], ("grasp", "transit"), &["peer_lost"]),
    // Each in turn with the block in the hand: the arm goes home after the lift.
    (&[NodeName::Verifier], ("home", "home"), &["verifier_lost", "peer_lost"]),
    (&[NodeName::ObjectMap], ("home", "home"), &["peer_lost"]),
    (&[NodeName::Affordance], ("home", "home"), &["peer_lost"]),
    (&[NodeName::Skills], ("home", "home"), &["peer_lost"]),
    (&[NodeName::Agent], ("home", "home"), &["peer_lost"]),
    (&[NodeName::Agent, NodeName::Skills], ("home", "home"), &["peer_lost"]),
    (&[NodeName::ObjectMap, NodeName::Verifier], ("place", "transit"), &["verifier_lost", "peer_lost"]),
];

/// Kill -9 during a motion: the arm stops, the goal ends typed, the nodes come back, and the same sentence is carried out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_killed_during_a_motion_the_arm_stops_and_the_next_goal_works() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    for (nodes, (skill, phase), reasons) in LOSSES {
        let what = format!("{nodes:?} killed in {skill}/{phase}");
        let kill = async |supervisor: &Supervisor| nodes.iter().for_each(|node| supervisor.kill(node.name()));
        let followed = stage.goal_and(EASY_GOAL, |event| begins_in(event, skill, phase), kill).await;
        let reason = followed.ending.reason.as_deref().unwrap_or_default();
        assert_eq!(followed.ending.outcome, Outcome::Failed, "{what}: {}", describe(&followed));
        assert!(reasons.contains(&reason), "{what}: {}", describe(&followed));
        let stopped = stage.arm_stands().await;
        let block = stopped.objects.iter().find(|object| object.name == "red block").expect("the block");
        assert_eq!(block.held, skill != "grasp", "{what}: {block:?}");
        stage.everybody_is_there().await;
        stage.easy_goal_is_reached(&what).await;
        stage.put("red block", EASY_PLACE).await;
    }
    stage.end().await;
}

/// `prehend goal` joins a graph that runs and gives its goal at once, before it has heard a heartbeat: it learns of the agent's
/// loss all the same, long before its own patience ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_just_joined_learns_that_the_agent_is_lost() {
    let _turn = one_at_a_time().await;
    let stage = Stage::start(StageOptions::default()).await;
    let Graph { supervisor, robot, domain, .. } = &stage.graph;
    let mut joined = Observer::join(domain.id, robot, &RosArguments::default()).expect("joins");
    joined.goal.wait_available(Duration::from_secs(10)).await.expect("the agent is there");
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let on_event = |event: &TraceEvent| {
        if begins(event, "") {
            // Nobody listens after the kill.
            let _ = tell.send(());
        }
    };
    let kill = async {
        if told.recv().await.is_some() {
            supervisor.kill(NodeName::Agent.name());
        }
        std::future::pending().await
    };
    let followed = goal::run(&mut joined, EASY_GOAL, Duration::from_secs(120), on_event, kill).await;
    assert_eq!(followed.ending.reason.as_deref(), Some("peer_lost"), "{}", describe(&followed));
    drop(joined);
    stage.end().await;
}

/// The robot side killed during a motion: the goal ends typed, and the nodes live.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_robot_lost_during_a_motion() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let sim = NodeName::Sim.name();
    let followed =
        stage.goal_and(EASY_GOAL, |event| begins(event, ""), async |supervisor| supervisor.kill(sim)).await;
    assert_eq!(followed.ending.outcome, Outcome::Failed, "{}", describe(&followed));
    assert!(followed.ending.reason.is_some());
    for node in
        [NodeName::ObjectMap, NodeName::Affordance, NodeName::Verifier, NodeName::Skills, NodeName::Agent]
    {
        assert!(stage.graph.observer.alive(node.name()), "{} died with the robot", node.name());
    }
    stage.end().await;
}

/// Without a verifier nothing moves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_verifier_that_was_never_there() {
    let _turn = one_at_a_time().await;
    let mut stage =
        Stage::start(StageOptions { without: vec![NodeName::Verifier], ..Default::default() }).await;
    let before = stage.motions().await;
    let followed = stage.goal(EASY_GOAL).await;
    assert_eq!(followed.ending.outcome, Outcome::Refused, "{}", describe(&followed));
    assert_eq!(followed.ending.reason.as_deref(), Some("verifier_lost"));
    assert_eq!(stage.motions().await, before);
    stage.end().await;
}
