//! `prehend serve`: a page that shows a running graph, gives it goals, answers for a person, and stops it.
//!
//! For: people beside the robot, on a laptop or a telephone. Not for: programs, which have `prehend mcp` and ROS. A page has no more rights
//! than a sentence; what it is given of the graph is gathered once ([`Live`]), however many pages are open.

mod http;
mod live;

pub use http::{PageOptions, serve};
pub use live::Live;
