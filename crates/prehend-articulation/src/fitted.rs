//! What a fit of a motion comes to.

use crate::screw::Screw;
use serde::{Deserialize, Serialize};

/// A motion that was fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The motion.
    pub screw: Screw,
    /// Where the part was in each look; `None` where it was not seen. The first look that shows it has 0.
    pub positions: Vec<Option<f64>>,
    /// What is left: mean square distance, square metres, over looks and tracks.
    pub left: f64,
    /// The same for no motion at all.
    pub still: f64,
    /// Farthest that a point of the part went, metres.
    pub travel: f64,
    /// How far the axis, radians, and the origin, metres, may be off.
    pub uncertainty: [f64; 2],
    /// Share of the part in one look that the motion brings onto another one, the larger of both ways; the least over the looks.
    pub explained: f64,
}
