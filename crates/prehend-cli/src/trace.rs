//! Trace lines: as a person reads them, and as a file keeps them.

use crate::screen::{Paint, Screen};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use serde_json::{Value, json};

/// Time of an event, seconds of the graph's clock.
pub fn seconds(event: &TraceEvent) -> f64 {
    f64::from(event.stamp.sec) + f64::from(event.stamp.nanosec) * 1e-9
}

/// The event's own data; null when it is no JSON.
pub fn data(event: &TraceEvent) -> Value {
    serde_json::from_str(&event.data).unwrap_or(Value::Null)
}

/// The event as one line of `trace.jsonl`.
pub fn to_json(event: &TraceEvent) -> Value {
    json!({
        "t": seconds(event),
        "goal_id": event.goal_id,
        "node": event.node,
        "kind": event.kind,
        "name": event.name,
        "status": event.status,
        "message": event.message,
        "duration": event.duration,
        "data": data(event),
    })
}

/// Whether a status tells of something that did not go as wished.
pub fn is_bad(status: &str) -> bool {
    const BAD: [&str; 10] = [
        "refused", "failed", "error", "aborted", "rejected", "lost", "stopped", "canceled", "timeout",
        "expired",
    ];
    BAD.contains(&status)
}

fn paint(event: &TraceEvent) -> Paint {
    match event.kind.as_str() {
        TraceEvent::KIND_WARNING => Paint::Yellow,
        _ if is_bad(&event.status) => Paint::Red,
        TraceEvent::KIND_GOAL => Paint::Green,
        TraceEvent::KIND_MOTION => Paint::Blue,
        TraceEvent::KIND_PERCEPTION | TraceEvent::KIND_EVIDENCE => Paint::Cyan,
        TraceEvent::KIND_VERDICT | TraceEvent::KIND_PERMIT => Paint::Plain,
        _ => Paint::Plain,
    }
}

/// The event as one line for a person: time, node, kind, what happened. Line breaks in it become spaces.
pub fn to_line(event: &TraceEvent, screen: &Screen) -> String {
    let time = format!("{:8.2}", seconds(event));
    let kind = format!("{:<10}", event.kind);
    format!(
        "{} {:<10} {} {}",
        screen.paint(Paint::Dim, &time),
        event.node,
        screen.paint(paint(event), &kind),
        words(event)
    )
}

/// What happened, as one line. Line breaks in it become spaces.
pub fn words(event: &TraceEvent) -> String {
    let mut what = event.name.clone();
    if !event.status.is_empty() {
        if !what.is_empty() {
            what.push(' ');
        }
        what.push_str(&event.status);
    }
    if !event.message.is_empty() {
        if !what.is_empty() {
            what.push_str(": ");
        }
        what.push_str(&event.message);
    }
    if event.duration > 0.0005 {
        what.push_str(&format!(" ({:.2} s)", event.duration));
    }
    what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::builtin_interfaces::msg::Time;

    #[test]
    fn a_line_is_one_line_and_aligned() {
        let event = TraceEvent {
            stamp: Time { sec: 12, nanosec: 340_000_000 },
            node: "skills".into(),
            kind: "motion".into(),
            name: "approach".into(),
            status: "done".into(),
            message: "to the\nred mug".into(),
            duration: 1.5,
            ..Default::default()
        };
        assert_eq!(
            to_line(&event, &Screen::new(true)),
            "   12.34 skills     motion     approach done: to the red mug (1.50 s)"
        );
    }

    #[test]
    fn data_that_is_no_json_is_null_in_the_file() {
        let event = TraceEvent { data: "{not json".into(), kind: "tool".into(), ..Default::default() };
        assert_eq!(to_json(&event)["data"], Value::Null);
        let event = TraceEvent { data: r#"{"a":1}"#.into(), ..event };
        assert_eq!(to_json(&event)["data"]["a"], 1);
    }
}
