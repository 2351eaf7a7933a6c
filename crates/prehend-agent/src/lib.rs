//! Tools and their contracts, the built-in planner, the agent loop (ASP III-B, III-C).
//!
//! For: understanding a sentence, grounding its words by calling tools, and carrying out the steps with retries and
//! typed refusals. Not for: perception, motion or judgement; those are behind the `World` trait.
//! Read [`language::Goal`] first: what a sentence means before anything is looked for.

pub mod language;
pub mod policy;
