//! How much memory a process holds after many samples, calls and goals.
//!
//! `cargo run -p prehend-ros --example nothing_grows -- [ROUNDS]` starts this program once more as the other end of every topic,
//! service and action, and prints for each kind of traffic what this process and the other hold after a quarter, a half and all of the
//! rounds, and at rest behind them. A kind grows whose figures rise with the rounds and stay.

#![expect(clippy::print_stdout, reason = "it is a program")]

use futures::StreamExt;
use prehend_msgs::Action;
use prehend_msgs::rcl_interfaces::srv::ListParameters;
use prehend_msgs::std_msgs::msg::String as Text;
use prehend_ros::{ActionClient, Context, DomainLease, Node, NodeOptions, Publisher, QosProfile, RosError};
use serde::{Deserialize, Serialize};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const DOMAIN: &str = "PREHEND_GROWS_DOMAIN";
const DEADLINE: Duration = Duration::from_secs(20);
/// Of a map or a small picture; it is sent in fragments.
const LARGE: usize = 100_000;
/// Time for the other end to take a sample, so that nothing but the histories can hold it.
const PACE: Duration = Duration::from_millis(4);
/// Two rounds of cleaning in RustDDS, which looks every six seconds.
const REST: Duration = Duration::from_secs(13);

/// Like `example_interfaces/action/Fibonacci`, with text.
struct Work;

impl Action for Work {
    type Goal = Text;
    type Result = Text;
    type Feedback = Text;
    const PACKAGE: &'static str = "example_interfaces";
    const NAME: &'static str = "Fibonacci";
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Kind {
    ReliableReadBestEffort,
    LatchedUnread,
    LatchedRead,
    Heartbeats,
    Calls,
    Goals,
}

const KINDS: [(Kind, &str); 6] = [
    (Kind::ReliableReadBestEffort, "large, reliable, read as best effort"),
    (Kind::LatchedUnread, "large, latched, nobody reads"),
    (Kind::LatchedRead, "large, latched, read"),
    (Kind::Heartbeats, "small, reliable, read as best effort"),
    (Kind::Calls, "calls with large answers"),
    (Kind::Goals, "goals with large results"),
];

fn text(bytes: usize) -> Text {
    Text { data: "x".repeat(bytes) }
}

/// Resident memory of a process in MB.
fn resident(pid: u32) -> f64 {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap_or(0.0) / 1024.0
}

fn other_end(domain: &str) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?).env(DOMAIN, domain).stdin(Stdio::piped()).spawn()
}

async fn serve(node: &Node) -> Result<(), RosError> {
    let sensor = QosProfile::sensor_data();
    let topics = [("/pictures", sensor), ("/heartbeats", sensor), ("/map", QosProfile::transient_local())];
    for (topic, qos) in topics {
        let mut read = node.subscribe::<Text>(topic, qos)?;
        tokio::spawn(async move { while read.next().await.is_some() {} });
    }
    let mut calls = node.create_service::<ListParameters::Service>("/calls", QosProfile::services())?;
    tokio::spawn(async move {
        while let Some(request) = calls.next().await {
            let mut answer = ListParameters::Response::default();
            answer.result.names = vec!["y".repeat(LARGE)];
            let _ = request.respond(answer);
        }
    });
    let mut goals = node.create_action_server::<Work>("/goals")?;
    while let Some(request) = goals.next().await {
        let goal = request.accept();
        goal.publish_feedback(text(100))?;
        goal.succeed(text(LARGE));
    }
    Ok(())
}

struct Ends {
    pictures: Publisher<Text>,
    heartbeats: Publisher<Text>,
    map: Publisher<Text>,
    unread: Publisher<Text>,
    calls: prehend_ros::Client<ListParameters::Service>,
    goals: ActionClient<Work>,
}

impl Ends {
    async fn round(&self, kind: Kind) -> Result<(), RosError> {
        match kind {
            Kind::ReliableReadBestEffort => self.pictures.publish(&text(LARGE))?,
            Kind::LatchedUnread => self.unread.publish(&text(LARGE))?,
            Kind::LatchedRead => self.map.publish(&text(LARGE))?,
            Kind::Heartbeats => self.heartbeats.publish(&text(200))?,
            Kind::Calls => {
                self.calls.request(ListParameters::Request::default(), DEADLINE).await?;
                return Ok(());
            }
            Kind::Goals => {
                let mut goal = self.goals.send_goal(text(10), DEADLINE).await?;
                goal.result(DEADLINE).await?;
                return Ok(());
            }
        }
        tokio::time::sleep(PACE).await;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Ok(domain) = std::env::var(DOMAIN) {
        let context = Context::create_in_domain(domain.parse()?)?;
        let node = Node::create(&context, "other_end", "", NodeOptions::default())?;
        let _ends = prehend_ros::shutdown_signal(true);
        serve(&node).await?;
        return Ok(());
    }
    let rounds: usize = std::env::args().nth(1).map_or(Ok(2000), |rounds| rounds.parse())?;
    let lease = DomainLease::take().ok_or("no domain is free")?;
    println!("{:<40} {:>30} {:>30}", "MB after 1/4, 1/2, all rounds, at rest", "here", "at the other end");
    for (kind, name) in KINDS {
        let mut other = other_end(&lease.domain_id().to_string())?;
        let context = Context::create_in_domain(lease.domain_id())?;
        let node = Node::create(&context, "this_end", "", NodeOptions::default())?;
        let ends = Ends {
            pictures: node.create_publisher("/pictures", QosProfile::default().depth(2))?,
            heartbeats: node.create_publisher("/heartbeats", QosProfile::default().depth(1))?,
            map: node.create_publisher("/map", QosProfile::transient_local())?,
            unread: node.create_publisher("/unread", QosProfile::transient_local())?,
            calls: node.create_client("/calls", QosProfile::services())?,
            goals: node.create_action_client("/goals")?,
        };
        ends.calls.wait_available(DEADLINE).await?;
        while ends.pictures.subscriber_count() == 0 || ends.map.subscriber_count() == 0 {
            tokio::time::sleep(PACE).await;
        }
        let before = resident(std::process::id());
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for round in 1..=rounds {
            ends.round(kind).await?;
            if [rounds / 4, rounds / 2, rounds].contains(&round) {
                here.push(resident(std::process::id()) - before);
                there.push(resident(other.id()));
            }
        }
        tokio::time::sleep(REST).await;
        here.push(resident(std::process::id()) - before);
        there.push(resident(other.id()));
        let shown = |figures: &[f64]| figures.iter().map(|mb| format!("{mb:>7.1}")).collect::<String>();
        println!("{name:<40} {:>30} {:>30}", format!("+{}", shown(&here)), shown(&there));
        context.shutdown();
        let _ = other.kill();
        let _ = other.wait();
    }
    Ok(())
}
