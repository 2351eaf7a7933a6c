//! Files of one JSON object a line.

use serde::de::DeserializeOwned;

/// Reads the lines of a file; empty ones and those that begin with `#` or `//` are left out.
///
/// Errors: the number of the first line that is none, and why.
pub fn json_lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    let is_line = |line: &str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//");
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| is_line(line));
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))
        })
        .collect()
}
