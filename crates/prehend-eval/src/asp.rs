//! Benchmarks after the experiments of ASP (§V): tasks with random scenes, scored as the paper scores them.

mod articulated;
mod draft;
mod mobile;
mod scene;
mod score;
mod tabletop;
mod task;
mod tasks;

pub use mobile::{MobileTask, mobile};
pub use score::{Effort, NEAR, Subject, effort};
pub use tabletop::tabletop;
pub use task::TabletopTask;
