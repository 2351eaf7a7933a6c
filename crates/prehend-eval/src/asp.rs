//! Benchmarks after the experiments of ASP (§V): tasks with random scenes, scored as the paper scores them.

mod articulated;
mod mobile;
mod scene;
mod score;
mod tabletop;
mod tasks;

pub use mobile::{MobileTask, mobile};
pub use score::{Effort, NEAR, Subject, effort};
pub use tabletop::{TabletopTask, tabletop};
