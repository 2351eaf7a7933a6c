//! What tunes the map of drawers and doors.

use serde::{Deserialize, Serialize};

/// Drawers and doors from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FurnitureSettings {
    /// Each drawer or door by itself, and what hides and tears it.
    pub rows: RowSettings,
}

/// When sightings of drawers or doors are of one that slid, that something hides, or that a frame tore into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RowSettings {
    /// Farthest a drawer or door is followed along its way, metres: about as deep as drawers are.
    pub slide: f64,
    /// Greatest difference of the upper edges of one drawer, metres. Sliding does not change its height, and no two drawers above each
    /// other are so flat; of the lower edge what stands before it hides some.
    pub level: f64,
    /// Greatest offset of one drawer across its way, as a share of its width: well under a half, from which on it could be the next one.
    pub in_line: f64,
    /// Least share of a view of a drawer that lies on what is known of it while it stays in its place.
    pub unmoved: f64,
    /// Length of a view of a drawer, as a share of its own, up to which the view shows a strip beside what hides the rest.
    pub strip: f64,
    /// Least height of one of several fronts that were taken for one, as a share of its height: a sliver of what something hides, or a
    /// handle, is lower.
    pub whole_front: f64,
    /// Views after which two drawers above each other are known to be two: one view may have torn one drawer.
    pub seen_apart: u32,
    /// Height of a piece of a drawer, as a share of the drawer's, under which it is a handle or a sliver.
    pub sliver_height: f64,
    /// Height of a piece of a drawer, as a share of the drawer's, over which it is a whole side. What is between the two may be a
    /// drawer of its own that lies in the box of a larger sighting.
    pub side_height: f64,
    /// Least share of the points of a piece in the box of its drawer.
    pub in_box: f64,
    /// Least depth of each piece of an open drawer, metres: of a closed one only the front and its handle are seen, which are less deep.
    pub torn_depth: f64,
    /// How far apart the sides and the fronts of pieces of an open drawer are at most, metres: with more between them they are two drawers.
    pub torn_gap: f64,
    /// How far the smaller piece of an open drawer reaches beyond the larger in depth at most, metres: what reaches farther is what the
    /// drawer is in.
    pub torn_beyond: f64,
    /// Distance of what belongs to a front from its plane, metres.
    pub front_on: f64,
    /// How far the handle of a front stands out, metres: what is farther before it shows that it closes nothing.
    pub front_handle: f64,
    /// Least share of the points of a drawer that are on its front.
    pub front_share: f64,
    /// Greatest share of the points of a drawer before the handle of its front.
    pub front_before: f64,
    /// Least cosine between the ways of the fronts of two pieces of one drawer. A wall of the hollow looks across it.
    pub front_parallel: f64,
}

impl Default for RowSettings {
    fn default() -> Self {
        Self {
            slide: 0.45,
            level: 0.025,
            in_line: 0.3,
            unmoved: 0.6,
            strip: 0.4,
            whole_front: 0.25,
            seen_apart: 2,
            sliver_height: 0.4,
            side_height: 0.7,
            in_box: 0.7,
            torn_depth: 0.06,
            torn_gap: 0.015,
            torn_beyond: 0.03,
            front_on: 0.012,
            front_handle: 0.045,
            front_share: 0.15,
            front_before: 0.1,
            front_parallel: 0.9,
        }
    }
}
