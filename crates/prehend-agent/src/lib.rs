//! Tools and their contracts, the built-in planner, language models as planners, the agent loop (ASP III-B, III-C).
//!
//! For: understanding a sentence, grounding its words by calling tools, and carrying out the steps with retries and
//! typed refusals. Not for: perception, motion or judgement; those are behind the [`World`] trait.
//! Read [`language::Goal`] first (what a sentence means before anything is looked for), then [`Agent`].

pub mod agent;
pub mod fault;
pub mod language;
pub mod mind;
pub mod output;
pub mod planner;
pub mod policy;
pub mod report;
pub mod talk;
pub mod tools;
pub mod words;
pub mod world;

pub use agent::Agent;
pub use fault::Fault;
pub use mind::Planner;
pub use planner::Settings;
pub use report::{Outcome, Report};
pub use talk::Model;
pub use world::World;
