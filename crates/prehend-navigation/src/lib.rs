//! Where a base may stand, how it gets there, and from where it looks: navigation on a plane.
//!
//! For: occupancy grids and costmaps as Nav2 has them, the cost of a footprint, view poses of objects (ASP §IV-C), routes among
//! obstacles, following them, and tours from which all furniture is seen.
//! Not for: ROS (nodes), making maps from sensors, deciding where to go (agent), moving anything.
//! Read [`Costmap`] first: everything else takes one. Then [`viewpose`] and [`route`].
//!
//! Everything is a function of its arguments: no clock, no randomness. Frames: the grid's own frame (`map`) unless a name says
//! otherwise. Units: metres, radians, seconds. Costs are those of Nav2: 0 free, 253 inscribed, 254 lethal, 255 unknown.

pub mod distance;
pub mod follow;
pub mod footprint;
pub mod grid;
pub mod layer;
pub mod pose;
pub mod route;
pub mod tour;
pub mod viewpose;

pub use footprint::{Footprint, FootprintCost};
pub use grid::{Costmap, GridError, Inflation, OccupancyGrid};
pub use pose::Pose2;

#[cfg(test)]
mod rooms;
