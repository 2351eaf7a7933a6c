//! Decisions held against each other by what they mean.
//!
//! Compared are node, kind, name, status and the data of trace events: texts word by word but for the numbers in them, numbers with a
//! tolerance. Times, versions and what is drawn anew in each run (permits, assessments, hashes) are not.

use crate::screen::{Paint, Screen};
use crate::trace;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Numbers that differ by less than this and [`SHARE`] of them are the same.
const NEAR: f64 = 0.02;
/// Millimetres that differ by no more are the same.
const NEAR_MM: f64 = 5.0;
/// See [`NEAR`].
const SHARE: f64 = 0.01;
/// Data that belong to a run and not to a decision, and measures that waver from frame to frame.
const OF_THE_RUN: [&str; 16] = [
    "turn_deg",
    "seconds",
    "assessment",
    "permit",
    "plan_hash",
    "at",
    "map_version",
    "version",
    "frames",
    "with_parts",
    "in_hand",
    "goal_id",
    "joined",
    "colors",
    "confidence",
    "merged",
];

/// How a recorded decision came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Result {
    /// The same.
    Same,
    /// Another one, and where it first differs.
    Different(String),
    /// It was recorded and did not come.
    Missing,
    /// It came and was not recorded.
    New,
}

impl Result {
    /// In one word.
    fn word(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Different(_) => "different",
            Self::Missing => "missing",
            Self::New => "new",
        }
    }
}

/// A decision, recorded and replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The node.
    pub node: String,
    /// What was decided: kind and name.
    pub decision: String,
    /// In words, as recorded; of a new one as it came.
    pub message: String,
    /// How it came out.
    pub result: Result,
}

/// What was decided, without what belongs to the run.
fn subject(event: &TraceEvent) -> (String, String) {
    (event.node.clone(), format!("{} {}", event.kind, event.name))
}

/// Holds decisions against each other: those of one node about one thing in their order.
pub fn rows<'a>(
    recorded: impl IntoIterator<Item = &'a TraceEvent>,
    replayed: impl IntoIterator<Item = &'a TraceEvent>,
) -> Vec<Row> {
    let mut left: BTreeMap<(String, String), Vec<&TraceEvent>> = BTreeMap::new();
    for event in replayed {
        left.entry(subject(event)).or_default().push(event);
    }
    left.values_mut().for_each(|events| events.reverse());
    let row = |event: &TraceEvent, result: Result| {
        let (node, decision) = subject(event);
        Row { node, decision, message: event.message.clone(), result }
    };
    let mut rows = Vec::new();
    for event in recorded {
        let result = match left.get_mut(&subject(event)).and_then(Vec::pop) {
            Some(other) => match difference(event, other) {
                Some(what) => Result::Different(what),
                None => Result::Same,
            },
            None => Result::Missing,
        };
        rows.push(row(event, result));
    }
    rows.extend(
        left.into_values().flat_map(|events| events.into_iter().rev()).map(|event| row(event, Result::New)),
    );
    rows
}

/// Where two events first differ in what they mean.
pub fn difference(recorded: &TraceEvent, replayed: &TraceEvent) -> Option<String> {
    if recorded.status != replayed.status {
        return Some(format!("{} became {}: {}", recorded.status, replayed.status, replayed.message));
    }
    unlike("", &trace::data(recorded), &trace::data(replayed))
}

/// Where two values first differ.
fn unlike(place: &str, a: &Value, b: &Value) -> Option<String> {
    let differ = || {
        Some(format!("{}: {} became {}", if place.is_empty() { "data" } else { place }, brief(a), brief(b)))
    };
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64()?, y.as_f64()?);
            let near = if place.contains("_mm") { NEAR_MM } else { NEAR + SHARE * x.abs().max(y.abs()) };
            if (x - y).abs() <= near { None } else { differ() }
        }
        (Value::String(x), Value::String(y)) => {
            if words(x) == words(y) {
                None
            } else {
                differ()
            }
        }
        (Value::Array(x), Value::Array(y)) => {
            if x.len() != y.len() {
                return Some(format!("{place}: {} became {} entries: {}", x.len(), y.len(), brief(b)));
            }
            x.iter()
                .zip(y)
                .enumerate()
                .find_map(|(i, (x, y))| unlike(&format!("{place}[{}]", name_of(x, i)), x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            // What the recording does not have was not told by the version that made it.
            let mut keys: Vec<&String> = x.keys().collect();
            keys.sort();
            keys.into_iter().filter(|key| !OF_THE_RUN.contains(&key.as_str())).find_map(|key| {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                unlike(&place, x.get(key).unwrap_or(&Value::Null), y.get(key).unwrap_or(&Value::Null))
            })
        }
        _ => {
            if a == b {
                None
            } else {
                differ()
            }
        }
    }
}

/// The key of an entry, or its number.
fn name_of(entry: &Value, number: usize) -> String {
    entry["key"].as_str().map_or_else(|| number.to_string(), str::to_owned)
}

/// A text without its numbers: they stand in the data, too.
fn words(text: &str) -> String {
    let mut words = String::new();
    let mut in_word = false;
    let mut in_number = false;
    for c in text.chars() {
        let is_number = c.is_ascii_digit() || (in_number && c == '.');
        if is_number && !in_word {
            if !in_number {
                words.push('#');
            }
            in_number = true;
        } else {
            in_number = false;
            // Digits of a name, as of mug_0, belong to it.
            in_word = c.is_alphabetic() || c == '_' || (in_word && c.is_ascii_digit());
            words.push(c);
        }
    }
    words
}

fn brief(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}

/// How many rows came out each way: same, different, missing, new.
pub fn counts(rows: &[Row]) -> [usize; 4] {
    let mut counts = [0; 4];
    for row in rows {
        counts[match row.result {
            Result::Same => 0,
            Result::Different(_) => 1,
            Result::Missing => 2,
            Result::New => 3,
        }] += 1;
    }
    counts
}

/// Prints the rows as a table, and explains the first difference.
pub fn tell(rows: &[Row], screen: &Screen) {
    let cut =
        |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(70).collect::<String>();
    let table: Vec<[String; 4]> = rows
        .iter()
        .map(|row| {
            let word = row.result.word();
            let result = if row.result == Result::Same { word.to_owned() } else { word.to_uppercase() };
            [result, row.node.clone(), row.decision.clone(), cut(&row.message)]
        })
        .collect();
    screen.table(&table);
    let first = rows.iter().find(|row| row.result != Result::Same);
    if let Some(Row { node, decision, message, result }) = first {
        let what = match result {
            Result::Different(what) => what.clone(),
            Result::Missing => "it was recorded, and did not come".to_owned(),
            Result::New => "it came, and was not recorded".to_owned(),
            Result::Same => String::new(),
        };
        let line = format!("first difference, {node}, {decision} ({}): {what}", cut(message));
        screen.line(screen.paint(Paint::Yellow, &line));
    }
}

/// A row as a JSON object; `difference` where the same decision came out otherwise.
pub fn as_json(row: &Row) -> Value {
    let difference = match &row.result {
        Result::Different(what) => Some(what),
        Result::Same | Result::Missing | Result::New => None,
    };
    json!({
        "result": row.result.word(),
        "node": row.node,
        "decision": row.decision,
        "message": row.message,
        "difference": difference,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(name: &str, status: &str, data: Value) -> TraceEvent {
        TraceEvent {
            node: "object_map".into(),
            kind: "perception".into(),
            name: name.into(),
            status: status.into(),
            data: data.to_string(),
            ..Default::default()
        }
    }

    #[test]
    fn what_belongs_to_the_run_and_small_numbers_make_no_difference() {
        let a = event(
            "update",
            "done",
            json!({"seconds": 1.0, "objects": [{"key": "mug_0", "center_mm": [351.0, 20.0]}]}),
        );
        let b = event(
            "update",
            "done",
            json!({"seconds": 9.0, "objects": [{"key": "mug_0", "center_mm": [352.0, 20.0]}]}),
        );
        assert_eq!(difference(&a, &b), None);
        let (a, b) =
            (event("x", "ok", json!({"mu": 1})), event("x", "ok", json!({"mu": 1, "told_later": 2})));
        assert_eq!(difference(&a, &b), None, "a recording of an earlier version tells less");
        let a = event("x", "ok", json!({"why": "similarity 0.40 of mug_0"}));
        let b = event("x", "ok", json!({"why": "similarity 0.4 of mug_0"}));
        assert_eq!(difference(&a, &b), None);
    }

    #[test]
    fn what_differs_is_named() {
        for (a, b, expected) in [
            (
                json!({"objects": [{"key": "mug_0", "class": "mug"}]}),
                json!({"objects": [{"key": "mug_0", "class": "cup"}]}),
                "objects[mug_0].class: \"mug\" became \"cup\"",
            ),
            (json!({"keys": ["mug_0"]}), json!({"keys": ["mug_1"]}), "keys[0]: \"mug_0\" became \"mug_1\""),
            (json!({"keys": []}), json!({"keys": ["a"]}), "keys: 0 became 1 entries: [\"a\"]"),
            (json!({"mu": 0.9}), json!({"mu": 0.5}), "mu: 0.9 became 0.5"),
            (json!({"a": true}), json!({}), "a: true became null"),
        ] {
            assert_eq!(difference(&event("x", "ok", a), &event("x", "ok", b)).as_deref(), Some(expected));
        }
        let refused = difference(&event("x", "granted", json!({})), &event("x", "refused", json!({})));
        assert_eq!(refused.as_deref(), Some("granted became refused: "));
    }

    #[test]
    fn decisions_are_paired_in_their_order_and_what_has_no_partner_is_told() {
        let one = |name: &str, n: i64| event(name, "done", json!({ "n": n }));
        let recorded = [one("a", 10), one("b", 10), one("a", 20), one("c", 10)];
        let replayed = [one("b", 10), one("a", 10), one("a", 90), one("d", 10)];
        let rows = rows(&recorded, &replayed);
        let results: Vec<&Result> = rows.iter().map(|row| &row.result).collect();
        assert_eq!(results[0], &Result::Same);
        assert_eq!(results[1], &Result::Same);
        assert_eq!(results[2], &Result::Different("n: 20 became 90".to_owned()));
        assert_eq!((results[3], results[4]), (&Result::Missing, &Result::New));
        assert_eq!(counts(&rows), [2, 1, 1, 1]);
    }
}
