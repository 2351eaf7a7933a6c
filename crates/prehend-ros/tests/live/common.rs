//! Interfaces, servers and waiting for the tests with a live graph.
use futures::StreamExt;
use prehend_msgs::rcl_interfaces::srv::ListParameters;
use prehend_msgs::{Action, Service};
use prehend_ros::{Context, ExecutingGoal, Node, NodeOptions, QosProfile};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// `example_interfaces/srv/AddTwoInts`.
pub(crate) struct AddTwoInts;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AddRequest {
    pub(crate) a: i64,
    pub(crate) b: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AddResponse {
    pub(crate) sum: i64,
}

impl Service for AddTwoInts {
    type Request = AddRequest;
    type Response = AddResponse;
    const PACKAGE: &'static str = "example_interfaces";
    const NAME: &'static str = "AddTwoInts";
}

pub(crate) fn sum(a: i64, b: i64) -> AddRequest {
    AddRequest { a, b }
}

/// `example_interfaces/action/Fibonacci`, here counting; a negative order waits for a cancel request, -2 drops the goal,
/// -3 succeeds when cancelled, -4 is rejected, -5 aborts.
pub(crate) struct Fibonacci;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) order: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sequence {
    pub(crate) sequence: Vec<i32>,
}

impl Action for Fibonacci {
    type Goal = Order;
    type Result = Sequence;
    type Feedback = Sequence;
    const PACKAGE: &'static str = "example_interfaces";
    const NAME: &'static str = "Fibonacci";
}

pub(crate) fn count_to(order: i32) -> Order {
    Order { order }
}

/// A domain nobody else uses now.
#[cfg(not(feature = "ros2"))]
pub(crate) use prehend_ros::DomainLease as OwnDomain;

/// The domain of the environment, which an installed ROS 2 is bound to: tests take it one after the other.
#[cfg(feature = "ros2")]
#[derive(Debug)]
pub(crate) struct OwnDomain {
    id: u16,
    // Holds the lock.
    _file: std::fs::File,
}

#[cfg(feature = "ros2")]
impl OwnDomain {
    pub(crate) fn take() -> Option<Self> {
        let id = std::env::var("ROS_DOMAIN_ID").map_or(0, |value| value.trim().parse().expect("a domain"));
        let path = std::env::temp_dir().join(format!("prehend-live-{id}.lock"));
        let file = std::fs::File::create(path).ok()?;
        file.lock().ok()?;
        Some(Self { id, _file: file })
    }

    pub(crate) fn domain_id(&self) -> u16 {
        self.id
    }
}

/// Sends back what it gets: names for prefixes.
pub(crate) type Echo = ListParameters::Service;

pub(crate) fn spawn_echo(node: &Node, service: &str) {
    let mut server = node.create_service::<Echo>(service, QosProfile::services()).expect("made");
    tokio::spawn(async move {
        while let Some(request) = server.next().await {
            let (message, answer) = request.into_parts();
            let mut echo = ListParameters::Response::default();
            echo.result.names = message.prefixes;
            answer.respond(echo).expect("answered");
        }
    });
}

/// A node in a domain of its own.
pub(crate) fn fresh_node(name: &str) -> (OwnDomain, Node) {
    let lease = OwnDomain::take().expect("a domain is free");
    let node = node_in(lease.domain_id(), name);
    (lease, node)
}

pub(crate) fn node_in(domain_id: u16, name: &str) -> Node {
    if std::env::var_os("RUST_LOG").is_some() {
        prehend_ros::init_logging(&prehend_ros::RosArguments::default());
    }
    let context = Context::create_in_domain(domain_id).expect("joined");
    Node::create(&context, name, "/test", NodeOptions::default()).expect("made")
}

/// Waits until `condition` holds.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Answers sums; never answers when `a` is `i64::MIN`.
pub(crate) fn spawn_adder(node: &Node, service: &str) {
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
pub(crate) fn spawn_counter(node: &Node, action: &str) {
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
