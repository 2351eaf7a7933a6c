//! Services: concurrent calls, servers that come late, die or leave, garbage, and the two wire mappings.

use crate::child::{ChildProcess, Role};
use crate::common::{
    AddRequest, AddResponse, AddTwoInts, DEADLINE, Echo, OwnDomain, eventually, fresh_node, node_in,
    spawn_adder, sum,
};
use futures::StreamExt;
use prehend_msgs::Service;
use prehend_msgs::rcl_interfaces::srv::ListParameters;
use prehend_ros::{Context, Node, NodeOptions, QosProfile, RosError};
use std::time::Duration;

const CALLS: i64 = 2000;

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_lose_no_answer() {
    let (lease, node) = fresh_node("caller");
    let _server = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    client.wait_available(DEADLINE).await.expect("up");
    // Eight clones of one client, each with many calls under way.
    let clones: Vec<_> = (0..8)
        .map(|lane| {
            let client = client.clone();
            tokio::spawn(async move {
                let calls = (lane..CALLS).step_by(8).map(|number| {
                    let client = client.clone();
                    async move { (number, client.request(sum(number, 1), DEADLINE).await) }
                });
                futures::stream::iter(calls).buffer_unordered(16).collect::<Vec<_>>().await
            })
        })
        .collect();
    let mut right = 0;
    for lane in clones {
        for (number, answer) in lane.await.expect("no panic") {
            assert_eq!(answer.expect("answered").sum, number + 1);
            right += 1;
        }
    }
    assert_eq!(right, CALLS);
}

/// A word that got lost is said again, and a server that answers is asked once.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_insisted_on_is_asked_again() {
    let (_lease, node) = fresh_node("insisting");
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    let mut server = node.create_service::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    client.wait_available(DEADLINE).await.expect("up");
    let heard = tokio::spawn(async move {
        let lost = server.next().await.expect("a request");
        let (asked, answer) = server.next().await.expect("the same once more").into_parts();
        answer.respond(AddResponse { sum: asked.a + asked.b }).expect("answered");
        drop(lost);
        let (asked, answer) = server.next().await.expect("another request").into_parts();
        answer.respond(AddResponse { sum: asked.a + asked.b }).expect("answered");
        // Nobody asks a third time.
        tokio::time::timeout(Duration::from_millis(500), server.next()).await.is_err()
    });
    assert_eq!(client.insist(sum(1, 2), DEADLINE).await.expect("answered").sum, 3);
    assert_eq!(client.insist(sum(3, 4), DEADLINE).await.expect("answered").sum, 7);
    assert!(heard.await.expect("no panic"), "asked again although it was answered");
    let nobody = node.create_client::<AddTwoInts>("/nobody", QosProfile::services()).expect("made");
    let error = nobody.insist(sum(1, 2), Duration::from_millis(300)).await.expect_err("nobody is there");
    assert!(matches!(error, RosError::Unavailable { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_answers_of_every_size() {
    let (lease, node) = fresh_node("caller");
    let _server = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_client::<Echo>("/echo", QosProfile::services()).expect("made");
    for size in [0, 1, 1_000, 1_400, 1_200, 1_500, 2_000, 10_000, 70_000, 1_000_000] {
        let text: String = (0..size).map(|index| char::from(b'a' + (index % 23) as u8)).collect();
        let request = ListParameters::Request { prefixes: vec![text], ..Default::default() };
        let answer = client.request(request.clone(), DEADLINE).await;
        let came_back = answer.as_ref().is_ok_and(|answer| answer.result.names == request.prefixes);
        assert!(came_back, "{size} bytes: {:?}", answer.err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_a_timeout_and_its_successor_answers() {
    let (lease, node) = fresh_node("caller");
    let domain = lease.domain_id().to_string();
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    let mut first = ChildProcess::spawn(Role::Server, &domain);
    client.request(sum(1, 1), DEADLINE).await.expect("the server came later than the client");
    first.kill();
    let lost = client.request(sum(1, 1), Duration::from_millis(300)).await;
    assert!(matches!(lost, Err(RosError::Timeout { .. })), "{lost:?}");
    let _second = ChildProcess::spawn(Role::Server, &domain);
    let mut answered = false;
    // Until the second is matched, requests go to the dead first only.
    for _ in 0..60 {
        if let Ok(answer) = client.request(sum(2, 2), Duration::from_millis(300)).await {
            answered = answer.sum == 4;
            break;
        }
    }
    assert!(answered, "the successor never answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_leaves_during_a_call_is_lost() {
    let (lease, node) = fresh_node("caller");
    let mut child = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    client.request(sum(1, 1), DEADLINE).await.expect("up");
    let waiting = {
        let client = client.clone();
        tokio::spawn(async move { client.request(sum(i64::MIN, 0), DEADLINE).await })
    };
    child.terminate();
    let lost = waiting.await.expect("no panic");
    assert!(matches!(lost, Err(RosError::PeerLost { .. })), "{lost:?}");
    eventually("the server is no longer available", || !client.is_available()).await;
}

/// Who comes late hears of the endpoints that a process gave back before it hears that they are gone, as long as somebody has not
/// acknowledged that; who was killed never will.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_was_made_anew_answers_who_comes_later() {
    let (lease, node) = fresh_node("server");
    let mut killed = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let its = node.create_client::<Echo>("/echo", QosProfile::services()).expect("made");
    its.wait_available(DEADLINE).await.expect("up");
    killed.kill();
    for round in 0..12 {
        // What is made anew is a service of the same process.
        let mut server = node.create_service::<AddTwoInts>("/sum", QosProfile::services()).expect("made");
        let _beside: Vec<_> = (0..20)
            .map(|number| {
                let name = format!("/beside_{number}");
                node.create_service::<AddTwoInts>(&name, QosProfile::services()).expect("made")
            })
            .collect();
        let serving = tokio::spawn(async move {
            while let Some(request) = server.next().await {
                let (AddRequest { a, b }, answer) = request.into_parts();
                answer.respond(AddResponse { sum: a + b }).expect("answered");
            }
        });
        if round % 3 == 2 {
            let late = node_in(lease.domain_id(), "late");
            let client = late.create_client::<AddTwoInts>("/sum", QosProfile::services()).expect("made");
            let answer = client.request(sum(round, 1), DEADLINE).await;
            assert_eq!(answer.map(|answer| answer.sum), Ok(round + 1));
        }
        serving.abort();
        let _ = serving.await;
    }
}

/// The same service, as a client of another opinion about its request.
struct Garbage;

impl Service for Garbage {
    type Request = Vec<u8>;
    type Response = Vec<u8>;
    const PACKAGE: &'static str = AddTwoInts::PACKAGE;
    const NAME: &'static str = AddTwoInts::NAME;
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_is_left_out_and_the_server_lives() {
    let (_lease, node) = fresh_node("caller");
    spawn_adder(&node, "/add");
    let garbage = node.create_client::<Garbage>("/add", QosProfile::services()).expect("made");
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    let unanswered = garbage.request(vec![7], Duration::from_millis(100)).await;
    if prehend_ros::BACKEND == prehend_ros::Backend::Embedded {
        assert!(matches!(unanswered, Err(RosError::Timeout { .. })), "{unanswered:?}");
    } else {
        // ROS 2 knows the type and does not even send it.
        assert!(matches!(unanswered, Err(RosError::Encode { .. })), "{unanswered:?}");
    }
    assert_eq!(client.request(sum(1, 2), DEADLINE).await.expect("alive").sum, 3);
    // A sum is no list of bytes: long enough to be a request, the answer does not decode.
    let undecodable = garbage.request(vec![255; 64], DEADLINE).await;
    assert!(matches!(undecodable, Err(RosError::Decode { .. })), "{undecodable:?}");
}

#[cfg(not(feature = "ros2"))]
fn cyclone_node(domain_id: u16) -> Node {
    let context = Context::create_in_domain(domain_id).expect("joined");
    let mapping = Some(prehend_ros::ServiceMapping::Cyclone);
    let options = NodeOptions { service_mapping: mapping, ..Default::default() };
    Node::create(&context, "cyclone", "/test", options).expect("made")
}

#[cfg(not(feature = "ros2"))]
#[tokio::test(flavor = "multi_thread")]
async fn the_cyclone_mapping_answers_too() {
    let lease = OwnDomain::take().expect("a domain is free");
    let node = cyclone_node(lease.domain_id());
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services()).expect("made");
    let _server = ChildProcess::spawn(Role::CycloneServer, &lease.domain_id().to_string());
    client.wait_available(DEADLINE).await.expect("up");
    let calls = (0..100).map(|number| client.request(sum(number, number), DEADLINE));
    for (number, answer) in futures::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(answer.expect("answered").sum, 2 * number as i64);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_mapping_can_be_a_parameter_and_must_be_one() {
    let lease = OwnDomain::take().expect("a domain is free");
    let context = Context::create_in_domain(lease.domain_id()).expect("joined");
    let with = |text: &str| {
        let options =
            NodeOptions { overrides: vec![format!("service_mapping:={text}")], ..Default::default() };
        Node::create(&context, "mapped", "", options).map(drop)
    };
    assert_eq!(with("cyclone"), Ok(()));
    assert!(matches!(with("smoke"), Err(RosError::Create { .. })));
}
