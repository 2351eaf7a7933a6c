//! Where to put what is held: free, flat or hollow, reachable, and in the stated relation.

mod held;
mod hollow;
mod relation;
mod search;
#[cfg(test)]
mod tests;

pub use held::HeldShape;

use crate::grasp::Reach;
use crate::gripper::GripperModel;
use crate::sight::Sight;
use nalgebra::{Isometry3, Point3, Translation3};
use prehend_scene::furniture::Sweep;
use prehend_scene::{Area, Compartment, Relation};
use serde::{Deserialize, Serialize};

/// What to place where.
#[derive(Clone, Copy, Debug)]
pub struct PlaceRequest<'a> {
    /// The relation to fulfil.
    pub relation: Relation,
    /// Which room of a divided target is meant; only for [`Relation::In`].
    pub compartment: Option<Compartment>,
    /// What is held.
    pub held: &'a HeldShape,
    /// Observed points of each target, map frame.
    pub targets: &'a [&'a [Point3<f64>]],
    /// Observed points of every other object but the held one.
    pub others: &'a [&'a [Point3<f64>]],
    /// Height of the table, metres.
    pub support_height: f64,
    /// Least x and y where something may be put, metres.
    pub region_low: [f64; 2],
    /// Greatest x and y where something may be put, metres.
    pub region_high: [f64; 2],
    /// Where on the table the middle of it shall come to stand; `None` is anywhere. Only for relations that are fulfilled on the table.
    pub area: Option<Area>,
    /// Greatest height from which the object may be let fall, metres; at least what the gripper needs.
    pub greatest_drop: f64,
    /// The gripper.
    pub gripper: GripperModel,
    /// Reach of the arm.
    pub reach: Reach,
    /// What the robot sees from home, where that is known: on the table, what it will see there again is better.
    pub sight: Option<Sight>,
    /// The room that drawers and doors need: on the table, what stands in none of it is better.
    pub swept: &'a [Sweep],
    /// How far apart candidates are.
    pub spread: Spread,
    /// Most candidates to return.
    pub limit: usize,
}

/// How far apart the candidates of a request are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// The best ones, which may stand close together or differ in their turn alone.
    #[default]
    Best,
    /// Places all over the region, each in its best turn: what keeps the hand from one place keeps it from those beside it.
    Wide,
}

/// One place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceCandidate {
    /// Tool pose at which the gripper opens.
    pub map_from_tool: Isometry3<f64>,
    /// Distance between the pads to open to, metres.
    pub opening: f64,
    /// Where the middle of the object will be, x and y.
    pub spot: [f64; 2],
    /// Height of what it will stand on, metres.
    pub surface_height: f64,
    /// How far it falls when let go, metres.
    pub drop: f64,
    /// Rank, higher is better.
    pub score: f64,
}

impl PlaceCandidate {
    /// The pose `height` metres straight above the release.
    pub fn above(&self, height: f64) -> Isometry3<f64> {
        Translation3::new(0.0, 0.0, height) * self.map_from_tool
    }

    /// The pose after the release, `retreat` metres away: back along the approach until the pads are free, then straight up.
    pub fn withdrawn(&self, retreat: f64) -> Isometry3<f64> {
        let back = self.map_from_tool * Translation3::new(0.0, 0.0, -retreat * 0.4);
        Translation3::new(0.0, 0.0, retreat * 0.6) * back
    }
}

/// Why there is no place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// A number that is not finite where one is needed.
    #[error("{what} is not a finite number")]
    NotFinite {
        /// Which input.
        what: &'static str,
    },
    /// A target without points, or too few targets.
    #[error("target {index} of `{}` was not seen", relation.name())]
    NoTarget {
        /// The relation.
        relation: Relation,
        /// Index of the target.
        index: usize,
    },
    /// The object is wider than the opening of the container.
    #[error("the opening is {:.0} mm wide, too small for what is held", opening * 1e3)]
    TooSmall {
        /// Width of the opening, metres.
        opening: f64,
    },
    /// The target is not divided, or has no room at that side.
    #[error("no {} is seen in it", compartment.name())]
    NoCompartment {
        /// Which.
        compartment: Compartment,
    },
    /// Nothing flat enough to stand on.
    #[error("nothing there is flat enough to stand on")]
    Unsteady,
    /// Every fitting spot is out of reach.
    #[error("every spot `{}` there is out of reach", relation.name())]
    OutOfReach {
        /// The relation.
        relation: Relation,
    },
    /// Every fitting spot is taken, or the gripper does not get there.
    #[error("no free spot `{}` there", relation.name())]
    NoSpace {
        /// The relation.
        relation: Relation,
    },
}

/// The best places, best first, at most `request.limit`, distinct.
///
/// Deterministic. Errors: see [`PlaceError`]; points that are not finite are left out.
pub fn place_candidates(request: &PlaceRequest<'_>) -> Result<Vec<PlaceCandidate>, PlaceError> {
    search::search(request)
}
