//! What tunes the cutting of fronts.

use serde::{Deserialize, Serialize};

/// When faces are fronts of drawers and doors, and what belongs to each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelSettings {
    /// Greatest angle of the faces of one piece of furniture, radians: some 6°, as exactly as the way of a front is found.
    pub same_angle: f64,
    /// Greatest distance of the planes of the faces of one piece of furniture, metres: a drawer that is farther out is a face of its own.
    pub same_offset: f64,
    /// Distance of the points of one face from its plane, metres: noise.
    pub thickness: f64,
    /// Room around the named faces in which more of them is looked for, metres: masks end before the edges.
    pub margin: f64,
    /// Width of the strips in which seams are looked for, metres: less than a seam is wide, which then has a strip to itself.
    pub strip: f64,
    /// Share of the usual number of points under which a strip is a seam: noise leaves some points in it.
    pub seam: f64,
    /// Cuts one after the other, by height and across in turns: rows of columns of rows.
    pub cuts: usize,
    /// Least width of a front, metres.
    pub min_width: f64,
    /// Least height of a front, metres.
    pub min_height: f64,
    /// Least share of a front that a detection covers for its name to count: masks run over onto the next front.
    pub named: f64,
    /// How far before its front a handle reaches, metres.
    pub before: f64,
    /// How far behind its front a drawer reaches, metres.
    pub behind: f64,
    /// How far beside its front a handle or a drawer reaches, metres: little, since the next front begins there.
    pub beside: f64,
    /// Greatest share of the points of a drawer that are farther before its front than its handle: what is named may lie before it.
    pub before_front: f64,
    /// Distance from which something stands before a front, metres: well out of its noise.
    pub stands_out: f64,
    /// Gap in height between two rows of handles, metres.
    pub row_gap: f64,
    /// Fewest points of a row of handles: fewer are strays.
    pub row_points: usize,
    /// Greatest height of a row of handles, metres: what is higher is a bar that stands upright.
    pub row_tall: f64,
    /// What is behind a front and higher than it by more than this is not in it, metres: what is in a drawer is seen over its front, but
    /// the drawer ends there.
    pub above: f64,
    /// Least number of points inside as a share of those of the front: a closed drawer shows a little through its slit.
    pub inside: f64,
}

impl Default for PanelSettings {
    fn default() -> Self {
        Self {
            same_angle: 0.10,
            same_offset: 0.008,
            thickness: 0.005,
            margin: 0.02,
            strip: 0.002,
            seam: 0.3,
            cuts: 4,
            min_width: 0.06,
            min_height: 0.04,
            named: 0.2,
            before: 0.08,
            behind: 0.45,
            beside: 0.012,
            before_front: 0.15,
            stands_out: 0.015,
            row_gap: 0.015,
            row_points: 15,
            row_tall: 0.04,
            above: 0.004,
            inside: 0.2,
        }
    }
}
