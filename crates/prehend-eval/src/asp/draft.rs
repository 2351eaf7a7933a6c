//! What a task drafts: a table that is not placed yet, and a sentence about it.

use super::scene::{Placed, Thing};
use super::score::Subject;
use crate::goal::GoalSpec;
use crate::scenario::sentence::pick;
use rand::Rng;

/// A table and a sentence, before the table is placed.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) things: Vec<Thing>,
    /// What the detector takes classes for, as in a scene file.
    pub(super) confusions: String,
    pub(super) sentence: String,
    pub(super) spec: GoalSpec,
    pub(super) subject: Subject,
    /// Whether the sentence is true of this table.
    pub(super) is_clear: fn(&[Placed]) -> bool,
}

/// Of a sentence that is true of every table.
pub(super) fn always(_: &[Placed]) -> bool {
    true
}

/// One of several ways to say it.
pub(super) fn one_of(rng: &mut impl Rng, sentences: &[&str]) -> String {
    pick(rng, sentences).to_owned()
}
