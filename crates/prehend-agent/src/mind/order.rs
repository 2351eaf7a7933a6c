//! Who plans, and what is asked for.

use crate::fault::Fault;
use crate::language::Goal;
use crate::talk::Conversation;
use serde::{Deserialize, Serialize};

/// Who plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Planner {
    /// Grammar and built-in planner, which need nothing.
    #[default]
    Builtin,
    /// The model.
    Model,
    /// The grammar first; what it does not understand, or understands in two ways, goes to the model.
    Hybrid,
}

impl Planner {
    /// Every planner with its name in configuration.
    pub const ALL: [(&'static str, Self); 3] =
        [("builtin", Self::Builtin), ("model", Self::Model), ("hybrid", Self::Hybrid)];
}

/// A goal as it was said, with what the grammar makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The sentence.
    pub text: String,
    /// Its readings, best first; of an answer those of the sentence that it answers for; empty when the grammar has none.
    pub readings: Vec<Goal>,
    /// Why there are none.
    pub refusal: Option<Fault>,
    /// The conversation that it continues: it answers a question of the model.
    pub answers: Option<Box<Conversation>>,
}
