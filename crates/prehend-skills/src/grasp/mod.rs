//! Grasp candidates for a parallel gripper from a partial, noisy cloud seen mostly from above.
//!
//! ASP IV-C samples grasps with AnyGrasp around the object and keeps those near its cloud; here they come from the
//! geometry alone: across the body, over the rim of hollow things, or on a named part.

mod across;
mod rank;
mod rim;
#[cfg(test)]
pub(crate) mod shapes;
#[cfg(test)]
mod tests;

pub(crate) use rim::rim_centre;

use crate::columns::{Columns, Fill};
use crate::gripper::GripperModel;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::stats::nearest_rank;
use serde::{Deserialize, Serialize};

/// Side of a column of the collision grid, metres: about the spacing of the map's clouds.
const CELL: f64 = 0.004;
/// Least distance of any part of the gripper to the support, metres: the camera's error at 0.6 m is half of it.
pub const SUPPORT_CLEARANCE: f64 = 0.004;
/// Least height of object that the pads must cover, metres.
pub const LEAST_HOLD: f64 = 0.004;
/// Thickness of the walls of hollow things, metres.
const WALL: f64 = 0.010;
/// How far a seen width may be off, metres.
const WIDTH_ERROR: f64 = 0.01;
/// Least share of the columns of a thing that end at its top when it has no hollow.
const CLOSED: f64 = 0.85;
/// Fewest points that say anything about a shape.
const LEAST_POINTS: usize = 12;

/// How far the arm reaches, horizontally from its base, metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// Below this nothing is tried.
    pub min: f64,
    /// Beyond this nothing is tried.
    pub max: f64,
    /// From here on it is comfortable.
    pub best_min: f64,
    /// Up to here it is comfortable.
    pub best_max: f64,
}

impl Default for Reach {
    /// The xArm6 with a gripper pointing down.
    fn default() -> Self {
        Self { min: 0.15, max: 0.75, best_min: 0.25, best_max: 0.60 }
    }
}

impl Reach {
    /// 1 in the comfortable ring, falling to 0 at the limits.
    pub fn comfort(&self, x: f64, y: f64) -> f64 {
        let r = x.hypot(y);
        let low = (r - self.min) / (self.best_min - self.min).max(1e-6);
        let high = (self.max - r) / (self.max - self.best_max).max(1e-6);
        low.min(high).clamp(0.0, 1.0)
    }
}

/// What to grasp, and what stands around it.
#[derive(Clone, Copy, Debug)]
pub struct GraspRequest<'a> {
    /// Observed points of the object, map frame.
    pub object: &'a [Point3<f64>],
    /// Points of the part to hold it by; `None`: anywhere.
    pub part: Option<&'a [Point3<f64>]>,
    /// Observed points of every other object.
    pub neighbours: &'a [&'a [Point3<f64>]],
    /// Height of the support (table) under the object, metres.
    pub support_height: f64,
    /// The gripper.
    pub gripper: GripperModel,
    /// Reach of the arm, whose base is the origin of the map frame.
    pub reach: Reach,
    /// Most candidates to return.
    pub limit: usize,
}

/// Where the pads touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraspKind {
    /// Opposite sides of the body.
    Across,
    /// One pad inside, one outside of a hollow thing.
    Rim,
    /// Opposite sides of a named part.
    Part,
}

/// One way to grasp.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraspCandidate {
    /// Where the pads touch.
    pub kind: GraspKind,
    /// Tool pose at which the pads close.
    pub map_from_tool: Isometry3<f64>,
    /// Opening before the contact, metres.
    pub opening: f64,
    /// Expected opening when closed on the object, metres.
    pub width: f64,
    /// Height of pad in contact, metres.
    pub contact_height: f64,
    /// Rank, [0, 1], higher is better.
    pub score: f64,
}

impl GraspCandidate {
    /// The pose `distance` metres before the grasp along the approach.
    pub fn pregrasp(&self, distance: f64) -> Isometry3<f64> {
        self.map_from_tool * Translation3::new(0.0, 0.0, -distance)
    }

    /// The pose `height` metres straight above the grasp.
    pub fn lift(&self, height: f64) -> Isometry3<f64> {
        Translation3::new(0.0, 0.0, height) * self.map_from_tool
    }

    /// The same grasp with the two pads exchanged.
    #[must_use]
    pub fn flipped(&self) -> Self {
        let half_turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI);
        Self { map_from_tool: self.map_from_tool * half_turn, ..*self }
    }

    /// Angle of the approach from straight down, radians.
    pub fn tilt(&self) -> f64 {
        let approach = self.map_from_tool.rotation * Vector3::z();
        (-approach.z).clamp(-1.0, 1.0).acos()
    }
}

/// Why there is no grasp.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GraspError {
    /// Too few points to know a shape.
    #[error("only {points} points were seen")]
    TooFewPoints {
        /// Number of points.
        points: usize,
    },
    /// A number that is not finite where one is needed.
    #[error("{what} is not a finite number")]
    NotFinite {
        /// Which input.
        what: &'static str,
    },
    /// Every way across is wider than the gripper opens, and there is no rim.
    #[error("the narrowest way across is {:.0} mm, the gripper grasps {:.0} mm", narrowest * 1e3, usable * 1e3)]
    TooWide {
        /// Narrowest extent found, metres.
        narrowest: f64,
        /// Widest extent that can be grasped, metres.
        usable: f64,
        /// Whether all of its top was seen and is flat, so that no rim is hidden.
        is_closed: bool,
    },
    /// The pads would touch the support before they hold enough.
    #[error("it rises only {:.0} mm above its support", height * 1e3)]
    TooFlat {
        /// Height above the support, metres.
        height: f64,
    },
    /// Out of the arm's reach.
    #[error("it is {distance:.2} m from the base; the arm reaches from {min:.2} to {max:.2} m")]
    OutOfReach {
        /// Horizontal distance from the base, metres.
        distance: f64,
        /// Least reach, metres.
        min: f64,
        /// Greatest reach, metres.
        max: f64,
    },
    /// The gripper would touch other objects in every grasp.
    #[error("other objects stand in the way of every grasp")]
    Surrounded {
        /// Indices of the neighbours without which the best of the grasps that fewest are in the way of would be free, ascending.
        by: Vec<usize>,
    },
    /// No two opposite faces were found.
    #[error("no two opposite faces were found")]
    NoContact,
}

impl GraspError {
    /// Whether no other view of the thing can show a grasp: what is seen of a thing is never wider than it, and has no rim.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::TooWide { narrowest, usable, is_closed: true } if *narrowest > usable + WIDTH_ERROR)
    }
}

/// What the generators know of the object.
pub(crate) struct Shape {
    /// Points that may be touched.
    pub(crate) touch: Vec<Point3<f64>>,
    /// All points of the object.
    pub(crate) all: Vec<Point3<f64>>,
    /// Horizontal centre of the occupied volume.
    pub(crate) centre: [f64; 2],
    /// Height of the support.
    pub(crate) support: f64,
    /// Whether a part was asked for.
    pub(crate) part: bool,
}

/// A pair of contacts before tilt and collision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) kind: GraspKind,
    /// Whether the object's own surface is taken as a thin wall.
    pub(crate) shell: bool,
    /// Between the pads, at the middle of the contact.
    pub(crate) centre: Point3<f64>,
    /// Unit closing direction, horizontal or tilted with the wall.
    pub(crate) closing: Vector3<f64>,
    /// Approach direction without tilt, unit, perpendicular to `closing`.
    pub(crate) approach: Vector3<f64>,
    /// From the contact centre to the pad tips, metres.
    pub(crate) depth: f64,
    pub(crate) width: f64,
    /// Height of pad in contact, metres.
    pub(crate) contact_height: f64,
    /// Width of pad in contact, metres.
    pub(crate) contact_width: f64,
    /// Greater angle between a contact's surface normal and the closing line, radians.
    pub(crate) angle: f64,
}

/// The best grasps, best first, at most `request.limit`, distinct and free of collision with what was seen.
///
/// Deterministic. Errors: see [`GraspError`]; points that are not finite are left out.
pub fn grasp_candidates(request: &GraspRequest<'_>) -> Result<Vec<GraspCandidate>, GraspError> {
    let finite = |points: &[Point3<f64>]| -> Vec<Point3<f64>> {
        points.iter().filter(|p| p.coords.iter().all(|c| c.is_finite())).copied().collect()
    };
    if !request.support_height.is_finite() {
        return Err(GraspError::NotFinite { what: "support height" });
    }
    let all = finite(request.object);
    if all.len() < LEAST_POINTS {
        return Err(GraspError::TooFewPoints { points: all.len() });
    }
    let touch = match request.part {
        Some(part) => finite(part),
        None => all.clone(),
    };
    if touch.len() < LEAST_POINTS {
        return Err(GraspError::TooFewPoints { points: touch.len() });
    }
    let own = Columns::new(CELL, [(0, all.as_slice(), Fill::To(request.support_height))]);
    let centre = volume_centre(&own);
    let distance = centre[0].hypot(centre[1]);
    let Reach { min, max, .. } = request.reach;
    if !(min..=max).contains(&distance) {
        return Err(GraspError::OutOfReach { distance, min, max });
    }
    let shape = Shape { touch, all, centre, support: request.support_height, part: request.part.is_some() };
    let mut found = across::contacts(&shape, &request.gripper);
    found.contacts.extend(rim::contacts(&shape, &request.gripper));
    if found.contacts.is_empty() {
        return Err(found.error(&request.gripper, has_closed_top(&own)));
    }
    rank::rank(request, &shape, &own, &found.contacts)
}

/// Whether nearly all of what was seen from above is one flat top.
fn has_closed_top(columns: &Columns) -> bool {
    let mut tops: Vec<f64> = columns.occupied().map(|(_, _, _, top)| top).collect();
    tops.sort_by(f64::total_cmp);
    let lid = quantile(&tops, 0.95) - rim::LEAST_DROP;
    let on_top = tops.iter().filter(|top| **top > lid).count();
    on_top >= LEAST_POINTS && on_top as f64 >= CLOSED * tops.len() as f64
}

/// Horizontal centre of the occupied volume.
fn volume_centre(columns: &Columns) -> [f64; 2] {
    let (mut x, mut y, mut w) = (0.0, 0.0, 0.0);
    for (cx, cy, low, top) in columns.occupied() {
        let weight = (top - low).max(1e-4);
        x += cx * weight;
        y += cy * weight;
        w += weight;
    }
    if w > 0.0 { [x / w, y / w] } else { [0.0, 0.0] }
}

/// Value at the share `q` of the ascending slice; 0 when empty.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    nearest_rank(sorted, q).unwrap_or(0.0)
}

/// Slope dy/dx of the least-squares line; `None` with fewer than three points or no spread.
pub(crate) fn slope(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    (sxx > 1e-9).then(|| sxy / sxx)
}
