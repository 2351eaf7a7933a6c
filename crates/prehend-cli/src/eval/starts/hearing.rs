//! Whether the nodes of a graph hear each other once it is ready, by what each of them reports on `/diagnostics`.

use futures::StreamExt;
use prehend_msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use prehend_robots::shell::CLOCK_TICKS;
use prehend_ros::{Context, Node, NodeOptions, QosProfile, RosError};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// Topic of the reports.
const TOPIC: &str = "/diagnostics";
/// Time after which a node that still hears nothing of a topic is called deaf: some reports of each.
const PATIENCE: Duration = Duration::from_secs(6);
/// End of the name of the status that every node has.
const STATE: &str = "state";
/// What that status says when nothing comes on `/clock`.
const NO_CLOCK: (&str, &str) = (CLOCK_TICKS, "false");

/// What a graph hears.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    /// Until every node heard everything that it listens to; `None` when some never did.
    pub(super) took: Option<Duration>,
    /// Each node that heard nothing of something, and of what.
    pub(super) deaf: Vec<String>,
}

/// The newest word on each part of each node, by its name.
#[derive(Debug, Default)]
struct Reports(BTreeMap<String, DiagnosticStatus>);

impl Reports {
    fn take(&mut self, array: DiagnosticArray) {
        for status in array.status {
            self.0.insert(status.name.clone(), status);
        }
    }

    /// What `nodes` have not heard, in words.
    fn deaf(&self, nodes: &BTreeSet<String>) -> Vec<String> {
        let silent = nodes.iter().filter(|node| !self.0.contains_key(&format!("{node}: {STATE}")));
        let silent = silent.map(|node| format!("{node}: no report was heard"));
        let deaf = self.0.values().filter(|status| is_deaf(status));
        silent.chain(deaf.map(|status| format!("{}: {}", status.name, status.message))).collect()
    }
}

/// Whether nothing has come of something. What is late, dropped or in error was heard.
fn is_deaf(status: &DiagnosticStatus) -> bool {
    let without_clock = |value: &KeyValue| (value.key.as_str(), value.value.as_str()) == NO_CLOCK;
    status.level == DiagnosticStatus::STALE || status.values.iter().any(without_clock)
}

/// Listens in a domain whose graph is ready.
///
/// Errors: [`RosError`] of the middleware.
pub(super) async fn hearing(domain_id: u16) -> Result<Hearing, RosError> {
    let context = Context::create_in_domain(domain_id)?;
    let node = Node::create(&context, "prehend_hearing", "/", NodeOptions::default())?;
    let mut arrays = node.subscribe::<DiagnosticArray>(TOPIC, QosProfile::default().depth(100))?;
    let (began, end) = (Instant::now(), tokio::time::Instant::now() + PATIENCE);
    let mut reports = Reports::default();
    while let Ok(Some(array)) = timeout_at(end, arrays.next()).await {
        reports.take(array);
        let nodes = reporting(&node);
        if !nodes.is_empty() && reports.deaf(&nodes).is_empty() {
            return Ok(Hearing { took: Some(began.elapsed()), deaf: Vec::new() });
        }
    }
    let nodes = reporting(&node);
    let mut deaf = reports.deaf(&nodes);
    if nodes.is_empty() {
        deaf.push("no node was found that reports".to_owned());
    }
    Ok(Hearing { took: None, deaf })
}

/// The nodes that report, as far as discovery tells.
fn reporting(node: &Node) -> BTreeSet<String> {
    let topics = node.topics().into_iter().filter(|topic| topic.name == TOPIC);
    topics.flat_map(|topic| topic.publishers).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(name: &str, level: u8, message: &str) -> DiagnosticStatus {
        DiagnosticStatus {
            name: name.to_owned(),
            level,
            message: message.to_owned(),
            ..DiagnosticStatus::default()
        }
    }

    fn no_clock(name: &str) -> DiagnosticStatus {
        let (key, value) = NO_CLOCK;
        let values = vec![KeyValue { key: key.to_owned(), value: value.to_owned() }];
        DiagnosticStatus { values, ..status(name, DiagnosticStatus::WARN, "/clock does not tick") }
    }

    #[test]
    fn who_hears_nothing_is_named_with_its_newest_word() {
        let nodes: BTreeSet<String> = ["/prehend/agent", "/prehend/skills"].map(str::to_owned).into();
        let mut reports = Reports::default();
        reports.take(DiagnosticArray {
            status: vec![
                status("/prehend/skills: state", DiagnosticStatus::OK, "active"),
                status("/prehend/skills: sensors", DiagnosticStatus::STALE, "nothing was heard on /tf"),
                status("/prehend/skills: topics", DiagnosticStatus::WARN, "samples are dropped"),
                status("/prehend/go_to: state", DiagnosticStatus::ERROR, "no way was found"),
                no_clock("/prehend/sim: state"),
            ],
            ..DiagnosticArray::default()
        });
        assert_eq!(
            reports.deaf(&nodes),
            [
                "/prehend/agent: no report was heard",
                "/prehend/sim: state: /clock does not tick",
                "/prehend/skills: sensors: nothing was heard on /tf"
            ]
        );
        reports.take(DiagnosticArray {
            status: vec![
                status("/prehend/agent: state", DiagnosticStatus::OK, "active"),
                status("/prehend/sim: state", DiagnosticStatus::OK, "active"),
                status("/prehend/skills: sensors", DiagnosticStatus::OK, "samples come"),
            ],
            ..DiagnosticArray::default()
        });
        assert!(reports.deaf(&nodes).is_empty());
    }
}
