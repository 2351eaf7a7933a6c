//! What shall happen, what did happen, and how often the two are the same.
//!
//! For: goals as data over scene names, judges that read the physics, random scenarios with their goals, statistics and
//! reports; cluttered tables as frames with their truth, and maps held against it. Not for: running anything (the command line does) or anything a node may know.
//! Read [`GoalSpec`] first, then [`judge`](judge::judge), then [`tabletop`].
//!
//! Frames and units: `link_base`, metres, seconds; directions are the robot's (it looks along +x, left is +y).

pub mod affordance;
pub mod articulated;
pub mod asp;
pub mod boxes;
pub mod cabinet;
pub mod cameras;
pub mod cause;
pub mod clutter;
pub mod day;
pub mod goal;
pub mod ground;
pub mod html;
pub mod judge;
pub mod language;
pub mod libero;
mod lines;
pub mod mapped;
pub mod masks;
pub mod memory;
pub mod place;
pub mod race;
pub mod reading;
pub mod report;
pub mod rooms;
pub mod scenario;
mod watch;
pub mod words;

pub use cause::Cause;
pub use goal::{Answer, Expected, GoalSpec, Predicate};
pub use ground::{Vocabulary, ground};
pub use judge::{Judgement, Outcome, Reported, judge};
pub use lines::json_lines;
pub use report::{Report, Run};
pub use scenario::{Kind, Scenario, ScenarioError, tabletop};
