//! The reasons of a retrieval, read.

/// What "it is blue, not red; it is can, not mug (similarity 0.20)" holds against each other: what the thing is, and what was asked for.
pub(super) fn contrasts(reason: &str) -> Vec<(String, String)> {
    let reason = reason.split(" (similarity").next().unwrap_or_default();
    let pairs = reason.split("; ").filter_map(|part| part.strip_prefix("it is ")?.split_once(", not "));
    pairs.map(|(is, asked)| (is.to_owned(), asked.to_owned())).collect()
}
