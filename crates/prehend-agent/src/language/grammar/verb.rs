//! A verb that was found, and what its clauses are made of.

use super::Clause;
use crate::language::goal::{Destination, NounPhrase, PlaceRelation, Quantity, Step};
use crate::language::lexicon::Verb;
use prehend_scene::Relation;

/// Cost of a clause that lacks something.
pub(super) const INCOMPLETE: u32 = 6;

/// A verb with the position after it.
pub(super) struct Found<'v> {
    pub(super) verb: &'v Verb,
    pub(super) next: usize,
    pub(super) cost: u32,
}

/// Setting down on the table.
pub(super) fn table(words: &str) -> Destination {
    Destination::new(PlaceRelation::Known(Relation::Table), Vec::new(), words)
}

/// A placement as a clause.
pub(super) fn put(
    objects: Vec<NounPhrase>,
    destination: Destination,
    part: Option<String>,
    drop: bool,
) -> Clause {
    Clause::Step(Step::Place { objects, destination, part, drop })
}

/// Handing something to a person, which no skill does.
pub(super) fn handed(verb: &str, objects: Vec<NounPhrase>) -> Step {
    let alternative = match objects.first() {
        Some(NounPhrase { quantity: Quantity::One, text, .. }) => {
            format!("I can pick up {text}, or put it next to or in front of something on the table")
        }
        _ => "I can put things next to or in front of something on the table".to_owned(),
    };
    Step::Unsupported { verb: verb.to_owned(), objects, destination: None, alternative }
}
