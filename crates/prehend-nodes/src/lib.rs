//! The nodes of the graph, one file or folder each: they decode messages, call the core and encode the answer.
//!
//! For: running as processes (`prehend node NAME`, or one executable each for `ros2 run`). Not for: deciding anything
//! a core crate can decide. What every node has in common is `prehend_robots::Shell`: read it first.

pub mod affordance;
pub mod agent;
pub mod describer;
mod follow;
pub mod go_to;
mod interrupt;
pub mod memory;
mod moving;
pub mod object_map;
mod permit;
pub mod pictures;
mod running;
pub mod skills;
pub mod verifier;
mod waiting;
