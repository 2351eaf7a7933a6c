//! Lines of a trace as plain data.

use serde::Deserialize;
use serde_json::Value;

/// One line of `trace.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Time, seconds of the graph's clock.
    pub t: f64,
    /// Which goal it belongs to; may be empty.
    pub goal_id: String,
    /// Which node told it.
    pub node: String,
    /// goal, tool, evidence, verdict, permit, motion, perception or warning.
    pub kind: String,
    /// What it is about.
    pub name: String,
    /// How it came out.
    pub status: String,
    /// In words.
    pub message: String,
    /// The event's own data; null when it has none.
    pub data: Value,
}

impl Event {
    /// A text of the data; empty when there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        self.data[key].as_str().unwrap_or_default()
    }

    /// A list of texts of the data.
    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        let list = self.data[key].as_array().into_iter().flatten();
        list.filter_map(|entry| entry.as_str().map(str::to_owned)).collect()
    }
}

/// Reads a trace: its events in the order of their times, and a sentence of each thing that could not be read.
pub fn events(trace: &str) -> (Vec<Event>, Vec<String>) {
    let mut events = Vec::new();
    let mut broken = Vec::new();
    let lines: Vec<&str> = trace.lines().collect();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Event>(line) {
            Ok(event) if event.kind.is_empty() => broken.push(index),
            Ok(event) => events.push(event),
            Err(_) => broken.push(index),
        }
    }
    // Nodes tell at the same time, and a line may come before one that it follows from.
    events.sort_by(|a: &Event, b: &Event| a.t.total_cmp(&b.t));
    let mut said = Vec::new();
    if broken.last().is_some_and(|last| last + 1 == lines.len()) {
        broken.pop();
        said.push(format!(
            "The last line of the trace (line {}) is cut off, as when a run is killed: what it told is lost.",
            lines.len()
        ));
    }
    if let Some(first) = broken.first() {
        said.push(format!(
            "{} line(s) of the trace cannot be read (the first is line {}): what they told is missing here.",
            broken.len(),
            first + 1
        ));
    }
    if events.is_empty() {
        said.push("The trace has no event: nothing that was decided is recorded.".to_owned());
    }
    (events, said)
}
