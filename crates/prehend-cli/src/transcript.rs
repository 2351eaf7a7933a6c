//! Recorded conversations with a language model, for `--replay-model`.

use serde_json::Value;
use std::path::Path;

/// Largest file that is read, bytes.
const LARGEST: u64 = 64 << 20;

/// The turns of the first goal in a file that a model planned, one JSON a line: of a run's `trace.jsonl`, or turns as they are.
///
/// Errors: in words, with what to do.
pub fn turns(path: &Path) -> Result<String, String> {
    let told = |what: String| format!("{}: {what}", path.display());
    let size = std::fs::metadata(path).map_err(|error| told(error.to_string()))?.len();
    if size > LARGEST {
        return Err(told(format!("is larger than {} MB", LARGEST >> 20)));
    }
    let text = std::fs::read_to_string(path).map_err(|error| told(error.to_string()))?;
    let mut turns: Vec<String> = Vec::new();
    let mut goal: Option<String> = None;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line)
            .map_err(|_| told(format!("line {} is no JSON; give a run's trace.jsonl", number + 1)))?;
        if value.get("calls").is_some() {
            turns.push(value.to_string());
            continue;
        }
        let Some(turn) = value.pointer("/data/turn") else { continue };
        let of = value.get("goal_id").and_then(Value::as_str).unwrap_or_default();
        if goal.get_or_insert_with(|| of.to_owned()) == of {
            turns.push(turn.to_string());
        }
    }
    if turns.is_empty() {
        return Err(told("holds no turn of a language model".to_owned()));
    }
    Ok(turns.join("\n"))
}

/// As [`turns`]; nothing without a file.
///
/// Errors: those of [`turns`].
pub fn turns_of(file: Option<&Path>) -> Result<String, String> {
    file.map(turns).transpose().map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.jsonl");
        std::fs::write(&path, text).expect("written");
        turns(&path)
    }

    #[test]
    fn turns_of_the_first_goal_are_taken_from_a_trace() {
        let turn = |text: &str, goal: &str| {
            format!(
                "{{\"goal_id\": \"{goal}\", \"name\": \"model\", \"data\": {{\"turn\": {{\"text\": \"{text}\", \"calls\": []}}}}}}"
            )
        };
        let other = "{\"goal_id\": \"a\", \"name\": \"started\", \"data\": null}";
        let trace = [other.to_owned(), turn("one", "a"), turn("two", "a"), turn("three", "b")].join("\n");
        let found = read(&trace).expect("turns");
        assert_eq!(found.lines().count(), 2);
        assert!(found.contains("one") && found.contains("two"), "{found}");
        // Turns as they are.
        assert_eq!(read(&found), Ok(found.clone()));
    }

    #[test]
    fn what_holds_none_says_so() {
        assert!(read("").is_err_and(|error| error.contains("holds no turn")));
        assert!(read("{}\nhello").is_err_and(|error| error.contains("line 2 is no JSON")));
        assert!(turns(Path::new("nowhere.jsonl")).is_err_and(|error| error.contains("nowhere.jsonl")));
    }
}
