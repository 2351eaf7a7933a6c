//! The `prehend` command: starts the graph as processes, gives it goals, shows what happens, judges what happened.
//!
//! For: the executable `prehend`, and the process tests, which drive the same graph. Not for: anything a node does.
//! Read [`graph::Graph`] first: the processes of one graph, and the way to end them all.

pub mod args;
pub mod commands;
pub mod disturb;
pub mod domain;
pub mod eval;
mod gated;
pub mod gazebo;
pub mod goal;
pub mod graph;
mod inputs;
pub mod interrupt;
mod json;
pub mod judge;
pub mod mcp;
pub mod node;
pub mod observer;
pub mod outcome;
pub mod physics;
pub mod recording;
pub mod replay;
pub mod run_folder;
pub mod screen;
pub mod serve;
pub mod supervisor;
pub mod tally;
pub mod token;
pub mod trace;
pub mod transcript;
