//! Nodes that are killed, or never there.

mod harness;

use harness::{EASY_GOAL, Stage, StageOptions, begins, one_at_a_time};
use prehend_cli::goal::Followed;
use prehend_cli::node::NodeName;
use prehend_cli::outcome::Outcome;

fn describe(followed: &Followed) -> String {
    format!("{:?}", followed.ending)
}

/// Kill -9 of a node during a motion: the arm stops, the goal ends typed, the node comes back, and the next goals work:
/// home, because the camera may look anywhere now, and then the same goal to its end.
async fn killed_during_a_motion(node: NodeName, reasons: &[&str]) {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let name = node.name();
    let followed = stage
        .goal_and(EASY_GOAL, |event| begins(event, "transit"), async |supervisor| supervisor.kill(name))
        .await;
    let reason = followed.ending.reason.as_deref().unwrap_or_default();
    assert_eq!(followed.ending.outcome, Outcome::Failed, "{}", describe(&followed));
    assert!(reasons.contains(&reason), "{}", describe(&followed));
    let stopped = stage.arm_stands().await;
    let block = stopped.objects.iter().find(|object| object.name == "red block").expect("the block");
    assert!(!block.held, "the arm went on to grasp");

    stage.everybody_is_there().await;
    let followed = stage.goal("go home").await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "{}", describe(&followed));
    stage.forget_map().await;
    let followed = stage.goal(EASY_GOAL).await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "{}", describe(&followed));
    let truth = stage.arm_stands().await;
    let block = truth.objects.iter().find(|object| object.name == "red block").expect("the block");
    assert!(block.on.iter().chain(&block.inside).any(|under| under == "plate"), "{block:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_verifier_killed_during_a_motion() {
    killed_during_a_motion(NodeName::Verifier, &["verifier_lost", "peer_lost"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_map_killed_during_a_motion() {
    killed_during_a_motion(NodeName::ObjectMap, &["peer_lost"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn affordance_killed_during_a_motion() {
    killed_during_a_motion(NodeName::Affordance, &["peer_lost"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skills_killed_during_a_motion() {
    killed_during_a_motion(NodeName::Skills, &["peer_lost"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_killed_during_a_motion() {
    killed_during_a_motion(NodeName::Agent, &["peer_lost"]).await;
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
