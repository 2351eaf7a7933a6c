//! Tables full of things, and posed frames of them with the simulator's camera noise, for maps to be built from.
//!
//! A seed draws what stands there and where: things of every size from a key to a carton, some against each other, taller ones before
//! smaller ones, none on or in another. Nothing moves, so there is no physics in it. More things than one table carries stand on several
//! tables of a hall, [`Settings::per_table`] on each.
//!
//! The map frame has its origin on the floor, z up; table tops are at [`HEIGHT`]. Read [`Clutter`] first, then [`Shot`].

mod features;
mod layout;
mod shot;
mod things;
mod truth;

pub(crate) use layout::surface;
pub use layout::{Clutter, NoRoom, Thing};
pub(crate) use shot::drawables;
pub use shot::{Masks, Shot, ShotError, shots};
pub(crate) use things::any as any_item;
pub use truth::{TrueThing, Truth, TruthError};

/// Height of the table tops above the floor, metres.
pub const HEIGHT: f64 = 0.74;
/// Length and width of a table, metres.
pub const TABLE: [f64; 2] = [1.2, 0.9];
/// Distance of the middles of neighbouring tables, metres: a camera at one does not see the next within its range.
pub const PITCH: f64 = 2.8;
/// Depth up to which what a frame shows is used, metres.
pub const RANGE: f64 = 2.0;

/// How much there is and how it is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Things in all.
    pub objects: usize,
    /// Things of a full table.
    pub per_table: usize,
    /// Keyframes around each table.
    pub views: usize,
    /// Who draws the masks of the frames.
    pub masks: Masks,
    /// Length of the feature vectors beside the masks; 0 is none.
    pub features: usize,
    /// Seed of everything.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { objects: 30, per_table: 30, views: 5, masks: Masks::Geometry, features: 0, seed: 1 }
    }
}

#[cfg(test)]
mod tests;
