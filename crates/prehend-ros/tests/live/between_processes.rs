//! Topics between processes: late joiners, peers that die, and who is seen in the graph.

use crate::child::{ChildProcess, Role};
use crate::common::{
    AddTwoInts, DEADLINE, OwnDomain, eventually, fresh_node, spawn_adder, spawn_counter, sum,
};
use futures::StreamExt;
use prehend_msgs::sensor_msgs::msg::Image;
use prehend_msgs::std_msgs::msg::String as StringMessage;
use prehend_ros::{Context, NodeOptions, QosProfile, RosError};
use tokio::time::timeout;

fn text(data: &str) -> StringMessage {
    StringMessage { data: data.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_joiner_sees_the_newest_latched_sample() {
    let (lease, node) = fresh_node("joiner");
    let _server = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    client.request(sum(1, 1), DEADLINE).await.expect("the server is up and has published its state");
    let mut state = node.subscribe::<StringMessage>("/state", QosProfile::transient_local()).expect("made");
    let mut seen: Vec<i32> = Vec::new();
    while seen.last() != Some(&19) {
        let sample = timeout(DEADLINE, state.next()).await.expect("the newest comes").expect("a sample");
        seen.push(sample.data.parse().expect("a number"));
    }
    assert!(seen.is_sorted_by(|a, b| a < b), "an older sample came after a newer one: {seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_calls_its_parent() {
    let (lease, node) = fresh_node("parent");
    spawn_adder(&node, "/add");
    spawn_counter(&node, "/count");
    let mut report = node.subscribe::<StringMessage>("/report", QosProfile::transient_local()).expect("made");
    let _caller = ChildProcess::spawn(Role::Caller, &lease.domain_id().to_string());
    let message = timeout(DEADLINE, report.next()).await.expect("in time").expect("a sample");
    assert_eq!(message.data, "42 Succeeded [0, 1, 2]");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_suspended_goes_on_or_ends_and_is_never_deaf() {
    let (lease, node) = fresh_node("watcher");
    let mut child = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    client.request(sum(1, 1), DEADLINE).await.expect("the server is up");
    child.suspend(std::time::Duration::from_secs(4)).await;
    let until = std::time::Instant::now() + DEADLINE;
    loop {
        if let Some(status) = child.ended() {
            assert_eq!(status.code(), Some(prehend_ros::STUCK_EXIT_CODE.into()));
            return;
        }
        if client.request(sum(1, 1), std::time::Duration::from_secs(1)).await.is_ok() {
            return;
        }
        assert!(std::time::Instant::now() < until, "it neither ends nor answers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_reliable_subscriber_never_blocks_the_publisher() {
    let (lease, node) = fresh_node("commander");
    let commands = node.create_publisher::<StringMessage>("/commands", QosProfile::default()).expect("made");
    let images = node.create_publisher::<Image>("/images", QosProfile::sensor_data()).expect("made");
    let mut own = node.subscribe::<StringMessage>("/commands", QosProfile::default().depth(1)).expect("made");
    let mut child = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    eventually("both subscriptions of the child are matched", || {
        commands.subscriber_count() == 2 && images.subscriber_count() == 1
    })
    .await;
    child.kill();
    // More than the send window of 8192 samples, which nobody acknowledges any more.
    let sent = 10_000;
    for index in 0..sent {
        commands.publish(&text(&index.to_string())).expect("dropped or sent, never blocked");
        if index % 100 == 0 {
            images.publish(&Image { data: vec![0; 1000], ..Default::default() }).expect("sent");
        }
    }
    assert!(commands.dropped() > 0, "the window was never full");
    assert_eq!(images.dropped(), 0, "best effort has no window");
    let last = (sent - 1).to_string();
    let newest = async { while own.next().await.is_some_and(|sample| sample.data != last) {} };
    timeout(DEADLINE, newest).await.expect("our own process is not cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_names_the_nodes_at_every_topic() {
    let (lease, node) = fresh_node("observer");
    let mut child = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let server = || vec![Some("/test/server".to_owned())];
    eventually("the state topic and its node are known", || {
        node.topics().iter().any(|topic| topic.name == "/state" && topic.publishers == server())
            && node.node_names() == ["/test/observer", "/test/server"]
    })
    .await;
    #[cfg(not(feature = "ros2"))]
    the_other_ends_are_named(&node).await;
    let types = node.topic_names_and_types();
    assert_eq!(types.get("/state"), Some(&vec!["std_msgs/msg/String".to_owned()]));
    assert_eq!(types.get("/count/_action/status"), Some(&vec!["action_msgs/msg/GoalStatusArray".to_owned()]));
    child.terminate();
    eventually("the child has left the graph", || node.node_names() == ["/test/observer"]).await;
    assert!(child.wait().success());
}

/// Subscribers and services, which r2r does not tell.
#[cfg(not(feature = "ros2"))]
async fn the_other_ends_are_named(node: &prehend_ros::Node) {
    let server = || vec![Some("/test/server".to_owned())];
    let images = || node.topics().into_iter().find(|topic| topic.name == "/images").unwrap_or_default();
    eventually("the subscriber of the images is known", || images().subscribers == server()).await;
    assert_eq!(images().publishers, []);
    assert_eq!(
        node.topic_names_and_types().get("rq/addRequest"),
        Some(&vec!["example_interfaces/srv/AddTwoInts_Request".to_owned()])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_stdin_ends_a_child() {
    let (lease, node) = fresh_node("parent");
    let mut child = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    eventually("the child is up", || node.node_names().len() == 2).await;
    child.orphan();
    assert!(child.wait().success());
}

#[test]
fn a_bad_domain_id_is_a_typed_error() {
    for value in ["102", "-1", "here"] {
        assert_eq!(ChildProcess::spawn(Role::BadDomain, value).wait().code(), Some(7), "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_follow_the_node_and_bad_names_are_refused() {
    let (_lease, node) = fresh_node("namer");
    let made = ["/absolute", "relative", "~/private"]
        .map(|topic| node.create_publisher::<StringMessage>(topic, QosProfile::default()).expect("made"));
    let types = node.topic_names_and_types();
    for name in ["/absolute", "/test/relative", "/test/namer/private"] {
        assert!(types.contains_key(name), "{name}: {types:?}");
    }
    drop(made);
    eventually("the publishers are gone", || !node.topic_names_and_types().contains_key("/absolute")).await;
    for name in ["", "/", "a b", "/a//b", "/a/", "/1a", "/ä", "a\0b"] {
        let made = node.create_publisher::<StringMessage>(name, QosProfile::default());
        assert!(matches!(made, Err(RosError::InvalidName { .. })), "{name:?}: {made:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_context_fails_typed() {
    let lease = OwnDomain::take().expect("a domain is free");
    let context = Context::create_in_domain(lease.domain_id()).expect("joined");
    let node = prehend_ros::Node::create(&context, "closing", "", NodeOptions::default()).expect("made");
    let publisher = node.create_publisher::<StringMessage>("/a", QosProfile::default()).expect("made");
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    let waiting = tokio::spawn(async move { client.request(sum(1, 2), DEADLINE).await });
    context.shutdown();
    assert_eq!(publisher.publish(&text("late")), Err(RosError::Closed));
    assert_eq!(waiting.await.expect("no panic"), Err(RosError::Closed));
    assert!(node.create_publisher::<StringMessage>("/b", QosProfile::default()).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_leaves_is_off_the_graph_at_once() {
    let (lease, node) = fresh_node("watcher");
    let listed = || node.node_names().contains(&"/test/leaver".to_owned());
    // What is lost is lost by chance, and the lease is longer than the deadline.
    for _ in 0..10 {
        let mut leaver = ChildProcess::spawn(Role::Leaver, &lease.domain_id().to_string());
        eventually("the leaver is listed", listed).await;
        leaver.orphan();
        assert!(leaver.wait().success());
        eventually("it is not listed any more", || !listed()).await;
    }
}
