//! From a sentence to a [`Goal`]: tokens, lexicon, grammar.
//!
//! Read [`Goal`] first, then `parse` (text and lexicon to readings, best first).

pub mod goal;

pub use goal::{
    Attribute, AttributeKind, Destination, Dimension, Goal, Head, Modifier, NounPhrase, PlaceRelation,
    Quantity, Question, Region, Selector, Spatial, Step,
};
