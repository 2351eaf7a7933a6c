//! Simulated time, transforms and log lines as they come over topics.

use crate::common::{DEADLINE, OwnDomain, eventually, fresh_node};
use futures::StreamExt;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::rcl_interfaces::msg::Log;
use prehend_msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_ros::{
    Context, Node, NodeOptions, Publisher, QosProfile, RosError, Severity, TfError, TopicEnd, TopicHealth,
    time_from_nanoseconds,
};
use std::time::Duration;
use tokio::time::timeout;

const SECOND: i64 = 1_000_000_000;

fn simulated() -> (OwnDomain, Node, Publisher<ClockMessage>) {
    let lease = OwnDomain::take().expect("a domain is free");
    let context = Context::create_in_domain(lease.domain_id()).expect("joined");
    let options = NodeOptions { overrides: vec!["use_sim_time:=true".to_owned()], ..Default::default() };
    let node = Node::create(&context, "timed", "/test", options).expect("made");
    let ticker = node.create_publisher::<ClockMessage>("/clock", QosProfile::default()).expect("made");
    (lease, node, ticker)
}

async fn tick(node: &Node, ticker: &Publisher<ClockMessage>, nanoseconds: i64) {
    ticker.publish(&ClockMessage { clock: time_from_nanoseconds(nanoseconds) }).expect("sent");
    eventually("the tick has arrived", || node.clock().now_nanoseconds() == nanoseconds).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn simulated_time_comes_from_the_clock_topic() {
    let (_lease, node, ticker) = simulated();
    let clock = node.clock();
    assert_eq!((clock.now_nanoseconds(), clock.is_simulated(), clock.is_ticking()), (0, true, false));
    assert_eq!(clock.standstill(), Duration::ZERO, "only what ran can stand still");
    let stopped = clock.wait_ticking(Duration::from_millis(50)).await;
    assert!(matches!(stopped, Err(RosError::ClockStopped { .. })), "{stopped:?}");
    tick(&node, &ticker, 5 * SECOND).await;
    clock.wait_ticking(DEADLINE).await.expect("ticking");
    assert_eq!((node.now().sec, clock.is_ticking(), clock.jumps()), (5, true, 0));
    eventually("it stands since the tick", || clock.standstill() > Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sleep_counts_simulated_time_and_survives_a_jump_back() {
    let (_lease, node, ticker) = simulated();
    tick(&node, &ticker, 10 * SECOND).await;
    let clock = node.clock();
    let stopped = clock.sleep_within(Duration::from_secs(1), Duration::from_millis(50)).await;
    assert!(matches!(stopped, Err(RosError::ClockStopped { .. })), "{stopped:?}");
    let sleeping = tokio::spawn({
        let clock = clock.clone();
        async move {
            // Started: the first poll notes the time now.
            clock.sleep(Duration::from_secs(2)).await;
        }
    });
    tokio::task::yield_now().await;
    // One second forward, back to the start, and forward in steps until it wakes.
    tick(&node, &ticker, 11 * SECOND).await;
    tick(&node, &ticker, 0).await;
    assert_eq!(clock.jumps(), 1);
    for step in 1..=40 {
        if sleeping.is_finished() {
            break;
        }
        tick(&node, &ticker, step * SECOND / 10).await;
        tokio::task::yield_now().await;
    }
    timeout(DEADLINE, sleeping).await.expect("the sleep ends").expect("no panic");
}

fn transform(parent: &str, child: &str, nanoseconds: i64, x: f64) -> TFMessage {
    let mut transform = TransformStamped { child_frame_id: child.to_owned(), ..Default::default() };
    transform.header.frame_id = parent.to_owned();
    transform.header.stamp = time_from_nanoseconds(nanoseconds);
    transform.transform.translation.x = x;
    transform.transform.rotation.w = 1.0;
    TFMessage { transforms: vec![transform] }
}

#[tokio::test(flavor = "multi_thread")]
async fn transforms_come_over_their_topics() {
    let (_lease, node) = fresh_node("framed");
    let fixed =
        node.create_publisher::<TFMessage>("/tf_static", QosProfile::transient_local()).expect("made");
    fixed.publish(&transform("arm", "camera", 0, 0.5)).expect("sent");
    let tf = node.tf().expect("made");
    let moving = node.create_publisher::<TFMessage>("/tf", QosProfile::default()).expect("made");
    moving.publish(&transform("base", "arm", SECOND, 1.0)).expect("sent");
    moving.publish(&transform("base", "arm", SECOND, f64::NAN)).expect("sent, and refused at the other end");
    let half = time_from_nanoseconds(3 * SECOND / 2);
    let waiting = tokio::spawn({
        let (tf, half) = (tf.clone(), half.clone());
        async move { tf.wait("base", "camera", &half, DEADLINE).await }
    });
    moving.publish(&transform("base", "arm", 2 * SECOND, 2.0)).expect("sent");
    let found = waiting.await.expect("no panic").expect("found");
    assert_eq!((found.translation, found.stamp), ([2.0, 0.0, 0.0], half));
    let health = node.topic_health();
    let heard =
        |topic: &TopicHealth| topic.topic == "/tf" && topic.end == TopicEnd::Sensor && topic.samples > 0;
    assert!(health.iter().any(heard), "{health:?}");
    let unknown = tf.wait("base", "moon", &time_from_nanoseconds(0), Duration::from_millis(20)).await;
    assert_eq!(unknown, Err(TfError::UnknownFrame { frame: "moon".to_owned() }));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_lines_reach_rosout() {
    let (_lease, node) = fresh_node("logger");
    node.log(Severity::Warn, "the lamp is out");
    let mut lines = node.subscribe::<Log>("/rosout", QosProfile::transient_local().depth(10)).expect("made");
    let line = timeout(DEADLINE, lines.next()).await.expect("in time").expect("a line");
    assert_eq!(
        (line.level, line.name.as_str(), line.msg.as_str()),
        (Log::WARN, "test.logger", "the lamp is out")
    );
}
