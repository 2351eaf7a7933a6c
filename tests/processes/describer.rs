//! The describer among the other nodes: a drawer that was opened once is known, also to the next robot, which opens it by that.

use crate::harness::{PREHEND, Stage, StageOptions, begins, one_at_a_time, repository, wait_for};
use prehend_cli::node::NodeName;
use prehend_cli::outcome::Outcome;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ArticulatedThings, ErrorCode, HandWay, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::Describe;
use prehend_ros::{Client, QosProfile};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const CALL: Duration = Duration::from_secs(30);
const SCENE: &str = "\
name: chest
objects:
- {name: cabinet, model: drawer_cabinet, pose: {xy: [0.74, 0.0], yaw: 0.0}}
";
const GOAL: &str = "open the bottom drawer";

/// Stores of the describer and of the memory.
async fn stage(known: &Path, memory: &Path) -> Stage {
    let [known, memory] = [known, memory].map(|store| &*format!("store:={}", store.display()).leak());
    Stage::start(StageOptions {
        scene: SCENE,
        also: vec![NodeName::Describer, NodeName::Memory],
        parameters: vec![
            (NodeName::Sim, "detector:=perfect"),
            (NodeName::Describer, known),
            (NodeName::Memory, memory),
        ],
        speed: 0.0,
        ..StageOptions::default()
    })
    .await
}

async fn ask(client: &Client<Describe::Service>, object: &str) -> Describe::Response {
    let request = Describe::Request { object: object.to_owned(), adaptive: false };
    client.request(request, CALL).await.unwrap_or_else(|error| panic!("{error}"))
}

/// The goal is reached, and what is in the scene says so.
async fn opened(stage: &mut Stage) {
    let followed = stage.goal(GOAL).await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "{:?}\n{}", followed.ending, stage.story());
    let truth = stage.arm_stands().await;
    let bottom = truth.mechanisms.iter().find(|joint| joint.joint == "bottom").expect("the joint");
    assert!(bottom.position > 0.08, "{bottom:?}");
}

/// Motions of the hand while it held the drawer.
fn pulls(events: &[TraceEvent]) -> usize {
    events.iter().filter(|event| begins(event, "pull")).count()
}

/// Whether the first try went by a joint that was measured: a second one may go by what the first has felt.
fn was_known(events: &[TraceEvent]) -> bool {
    let mut tries = events.iter().filter(|event| event.name.ends_with("/candidates"));
    tries.next().expect("a try").status == "known"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drawer_that_was_opened_is_known_to_the_next_robot() {
    let _turn = one_at_a_time().await;
    let kept = tempfile::tempdir().expect("a folder");
    let (folder, memory) = (kept.path().join("deep/known"), kept.path().join("home.db"));
    let mut first = stage(&folder, &memory).await;
    let node = first.graph.observer.node.clone();
    let describe =
        node.create_client::<Describe::Service>(names::DESCRIBE, QosProfile::services()).expect("a client");
    wait_for("the service", async || describe.is_available().then_some(())).await;
    let answer = ask(&describe, "cabinet").await;
    assert_eq!(answer.error_code, ErrorCode::DESCRIBER_UNAVAILABLE, "{}", answer.error_message);
    let mut ways = node.subscribe::<HandWay>(names::HAND_WAY, QosProfile::default()).expect("a subscription");
    opened(&mut first).await;
    assert!(!was_known(&first.events), "{}", first.story());
    let way = tokio::time::timeout(CALL, futures::StreamExt::next(&mut ways))
        .await
        .expect("in time")
        .expect("a way");
    assert_eq!(way.effect, "open");
    assert!(way.poses.len() > 3 && way.map_version > 0, "{way:?}");
    let described = wait_for("a description", async || {
        let answer = ask(&describe, "cabinet").await;
        let usable = answer.thing.parts.iter().filter(|part| part.usable).count();
        (usable == 1).then_some(answer)
    })
    .await;
    let part = described.thing.parts.iter().find(|part| part.usable).expect("one");
    assert_eq!((part.joint_type.as_str(), part.outcome.as_str()), ("prismatic", "known"));
    // The cabinet looks to -x.
    assert!(part.axis.x < -0.99, "{:?}", part.axis);
    assert!(part.position > 0.08, "{part:?}");
    assert!(described.thing.urdf.contains("<robot"));
    let verdicts: Value = serde_json::from_str(&described.description).expect("JSON");
    assert!(verdicts["iterations"].as_array().is_some_and(|all| !all.is_empty()));
    let unknown = ask(&describe, "fridge").await;
    assert_eq!(unknown.error_code, ErrorCode::DESCRIBER_UNKNOWN, "{}", unknown.error_message);
    let felt = pulls(&first.events);
    first.end().await;
    let remembered = std::process::Command::new(PREHEND)
        .current_dir(repository())
        .args(["memory", "--json", "--store"])
        .arg(&memory)
        .arg("export")
        .output()
        .expect("runs");
    let remembered = String::from_utf8_lossy(&remembered.stdout);
    assert!(remembered.contains("<robot name="), "the memory has the model: {remembered}");

    // Nonsense beside it is left as it is, and said.
    std::fs::write(folder.join("broken.json"), "{\"observation\": 7}").expect("written");
    let mut second = stage(&folder, &memory).await;
    let latched = QosProfile::transient_local();
    let node = second.graph.observer.node.clone();
    let mut lists = node.subscribe::<ArticulatedThings>(names::ARTICULATED, latched).expect("a subscription");
    opened(&mut second).await;
    assert!(was_known(&second.events), "the joint was measured before");
    let known = pulls(&second.events);
    assert!(known < felt, "{known} motions along a known joint, {felt} to feel for it");
    let list = tokio::time::timeout(CALL, futures::StreamExt::next(&mut lists))
        .await
        .expect("in time")
        .expect("a list");
    let names: Vec<&str> = list.things.iter().map(|thing| thing.class_name.as_str()).collect();
    assert_eq!(names, ["cabinet"]);
    assert_eq!(std::fs::read_to_string(folder.join("broken.json")).expect("there"), "{\"observation\": 7}");
    second.end().await;
}
