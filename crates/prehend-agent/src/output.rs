//! What a tool answers (ASP III-C).

use prehend_scene::SymbolicState;
use serde::{Deserialize, Serialize};

/// ASP's `ToolOutput`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// Whether the tool did what it was asked.
    pub success: bool,
    /// What happened, and on failure what to do next.
    pub feedback_msg: String,
    /// The value, when there is one.
    pub output: Option<ToolValue>,
}

/// The value of a tool's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ToolValue {
    /// The symbolic state after a retrieval or a skill.
    State(SymbolicState),
    /// A distance or size, metres.
    Number(f64),
    /// Whether a spatial predicate holds.
    Bool(bool),
}
