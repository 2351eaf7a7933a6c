//! Interfaces, servers and waiting for the tests with a live graph.
#![allow(dead_code, reason = "each test binary uses its own part")]

use futures::StreamExt;
use prehend_msgs::{Action, Service};
use prehend_ros::{Context, DomainLease, ExecutingGoal, Node, NodeOptions, QosProfile};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// `example_interfaces/srv/AddTwoInts`.
pub struct AddTwoInts;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddRequest {
    pub a: i64,
    pub b: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddResponse {
    pub sum: i64,
}

impl Service for AddTwoInts {
    type Request = AddRequest;
    type Response = AddResponse;
    const PACKAGE: &'static str = "example_interfaces";
    const NAME: &'static str = "AddTwoInts";
}

pub fn sum(a: i64, b: i64) -> AddRequest {
    AddRequest { a, b }
}

/// `example_interfaces/action/Fibonacci`, here counting; a negative order waits for a cancel request, -2 drops the goal,
/// -3 succeeds when cancelled, -4 is rejected, -5 aborts.
pub struct Fibonacci;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub order: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sequence {
    pub sequence: Vec<i32>,
}

impl Action for Fibonacci {
    type Goal = Order;
    type Result = Sequence;
    type Feedback = Sequence;
    const PACKAGE: &'static str = "example_interfaces";
    const NAME: &'static str = "Fibonacci";
}

pub fn count_to(order: i32) -> Order {
    Order { order }
}

/// A node in a domain of its own.
pub fn fresh_node(name: &str) -> (DomainLease, Node) {
    let lease = DomainLease::take().expect("a domain is free");
    let node = node_in(lease.domain_id(), name);
    (lease, node)
}

pub fn node_in(domain_id: u16, name: &str) -> Node {
    let context = Context::create_in_domain(domain_id).expect("joined");
    Node::create(&context, name, "/test", NodeOptions::default()).expect("made")
}

/// Waits until `condition` holds.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Answers sums; never answers when `a` is `i64::MIN`.
pub fn spawn_adder(node: &Node, service: &str) {
    let mut server = node.create_service::<AddTwoInts>(service, QosProfile::services()).expect("made");
    tokio::spawn(async move {
        while let Some(request) = server.next().await {
            let AddRequest { a, b } = request.message;
            if a != i64::MIN {
                request.respond(AddResponse { sum: a.wrapping_add(b) }).expect("answered");
            }
        }
    });
}

async fn count(goal: ExecutingGoal<Fibonacci>) {
    let order = goal.goal().order;
    match order {
        -2 => drop(goal),
        -3 => {
            goal.cancelled().await;
            goal.succeed(Sequence { sequence: vec![order] });
        }
        -5 => goal.abort(Sequence { sequence: vec![order] }),
        0.. => {
            let mut sequence = Vec::new();
            for number in 0..order {
                sequence.push(number);
                goal.publish_feedback(Sequence { sequence: sequence.clone() }).expect("sent");
            }
            goal.succeed(Sequence { sequence });
        }
        _ => {
            goal.cancelled().await;
            goal.canceled(Sequence { sequence: vec![order] });
        }
    }
}

/// Runs goals side by side.
pub fn spawn_counter(node: &Node, action: &str) {
    let mut server = node.create_action_server::<Fibonacci>(action).expect("made");
    tokio::spawn(async move {
        while let Some(request) = server.next().await {
            if request.goal.order == -4 {
                request.reject();
            } else {
                tokio::spawn(count(request.accept()));
            }
        }
    });
}
