//! Topics, services and actions between endpoints of one process.

use crate::common::{self, AddTwoInts, DEADLINE, Fibonacci, fresh_node};
use futures::StreamExt;
use prehend_msgs::std_msgs::msg::String as StringMessage;
use prehend_ros::{GoalStatus, QosProfile, RosError};
use std::time::Duration;
use tokio::time::timeout;

fn text(data: &str) -> StringMessage {
    StringMessage { data: data.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_reaches_its_own_process() {
    let (_lease, node) = fresh_node("talker");
    let mut subscription = node.subscribe::<StringMessage>("/chatter", QosProfile::default()).expect("made");
    let publisher = node.create_publisher::<StringMessage>("/chatter", QosProfile::default()).expect("made");
    for index in 0..5 {
        publisher.publish(&text(&index.to_string())).expect("sent");
    }
    for index in 0..5 {
        let message = timeout(DEADLINE, subscription.next()).await.expect("in time").expect("a sample");
        assert_eq!(message.data, index.to_string());
    }
    assert_eq!(
        (publisher.dropped(), publisher.subscriber_count(), subscription.publisher_count()),
        (0, 1, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_reaches_its_own_process() {
    let (_lease, node) = fresh_node("adder");
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    let missing = client.request(common::sum(1, 2), Duration::from_millis(50)).await;
    assert!(matches!(missing, Err(RosError::Unavailable { .. })), "{missing:?}");
    common::spawn_adder(&node, "/add");
    assert_eq!(client.request(common::sum(1, 2), DEADLINE).await.expect("answered").sum, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_reaches_its_own_process() {
    let (_lease, node) = fresh_node("counter");
    common::spawn_counter(&node, "/count");
    let client = node.create_action_client::<Fibonacci>("/count").expect("made");
    let mut goal = client.send_goal(common::count_to(5), DEADLINE).await.expect("accepted");
    let feedback = goal.feedback();
    let (status, result) = goal.result(DEADLINE).await.expect("ended");
    assert_eq!((status, result.sequence), (GoalStatus::Succeeded, vec![0, 1, 2, 3, 4]));
    let partial: Vec<_> = timeout(DEADLINE, feedback.collect::<Vec<_>>()).await.expect("ends");
    assert_eq!(partial.len(), 5);
}
