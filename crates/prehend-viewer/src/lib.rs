//! What the robot knows and does, as a picture in space.
//!
//! For: the object map, the robot, candidates, a plan before it moves and the story of a goal as one [`Stage`], plain data that is built
//! from the core's own types; what lies under a pixel; and, with the feature `window`, drawing it into a window or a picture without one.
//! Not for: hearing a graph (`prehend-cli` does), deciding anything, two-dimensional pictures of what the camera sees (`prehend-nodes`).
//! Read [`Stage`] first, then [`Viewpoint`].
//!
//! Everything is in one frame: that of the object map, or, of a robot that drives, that of the map of the building. z up, metres, radians. Pixels count from the left top corner, x right, y down.

mod floor;
mod labels;
mod pick;
mod player;
mod question;
mod robot;
mod stage;
mod story;
mod things;
mod viewpoint;

#[cfg(feature = "window")]
pub mod draw;

pub use floor::{Area, Floor, Occupancy, Patch, Stand, Standing};
pub use labels::{Label, Placed, spread};
pub use pick::{distance_to_box, thing_under};
pub use player::{Player, Steer};
pub use question::{Confirm, Question};
pub use robot::{GHOST, HELD, ROBOT, SHAPE, robot_solids};
pub use stage::{Candidate, Layer, PanelLine, Rgb, ShownPart, Solid, Stage, Thing, Tone};
pub use story::{Event, Plan, Story};
pub use things::{around, thing, things, things_at};
pub use viewpoint::{Pixel, Ray, Viewpoint};
