//! What tunes the map of drawers and doors.

use serde::{Deserialize, Serialize};

/// Drawers and doors from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FurnitureSettings {
    /// Drawers that slide along one way from one plane.
    pub bank: BankSettings,
    /// Each drawer or door by itself, and what hides and tears it.
    pub rows: RowSettings,
}

/// When drawers are of one bank, and what of a frame is of which drawer of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BankSettings {
    /// Least cosine between the ways of fronts of one bank: some 11°, since the way of a narrow front is not found exactly.
    pub parallel: f64,
    /// Greatest distance between the planes of closed fronts of one bank, metres. So far behind the face, too, what is not called a
    /// drawer can be of one.
    pub flush: f64,
    /// Farthest a drawer stands out, metres: about as deep as drawers are.
    pub travel: f64,
    /// How far behind the face, as it is known, a drawer may be found, metres: the face may have been learned of drawers that were open.
    pub behind: f64,
    /// How far behind its face a closed front is seen, metres: its thickness. What is farther behind is not of a drawer.
    pub thick: f64,
    /// Views after which a drawer is good for a bank: a bank outlasts what a frame shows, so no single mistake may make one.
    pub views: u32,
    /// How far beside its front what is of a drawer may lie, metres: about half of what is between two fronts, with the noise.
    pub margin: f64,
    /// Share of a thing's points in one slot from which all of it is of that slot.
    pub whole: f64,
    /// Least share of a thing's points in one slot that is a piece of it when others have the rest: less is noise at an edge.
    pub piece: f64,
    /// Least share in a slot of a thing that is in no other; and in all slots of what is called a drawer by mistake, which then loses
    /// that name.
    pub mostly: f64,
    /// Least width and height of what is of a drawer without being called one, as shares of the drawer's: what lies in a drawer or
    /// stands before it is smaller.
    pub wide: f64,
    /// Least width of what is called a drawer, as a share of the drawer's: the name makes up for some of what is hidden.
    pub named: f64,
    /// Thickness of a front as it is seen, metres: the noise of its points to either side. Places of fronts are counted in steps of it.
    pub layer: f64,
    /// How thick the walls are of what the drawers are in at most, metres.
    pub wall: f64,
    /// How far behind the closed fronts it reaches at most, metres: as deep as cupboards are.
    pub deep: f64,
    /// Greatest unlikeness of the colours of it and of what lies there without a name.
    pub body_unlike: f64,
    /// How far before a front its handle may stand, metres.
    pub handle: f64,
    /// How far above the lower edge of a front a handle begins at least, metres: what stands before the drawers begins below.
    pub lift: f64,
    /// Views of a front in one place from which that can be the closed one.
    pub often: u32,
    /// The same as a share of those in the place with the most views: in a long time mistakes, too, are seen more than a few times.
    pub often_share: f64,
    /// How far out a drawer is open for sure, metres.
    pub out: f64,
    /// How far the front of a drawer moves at least when it slides, metres: more than its place in one frame is off.
    pub moved: f64,
    /// Frames more that show two slots as one drawer, or one slot as two drawers, than as the bank has them, from which the bank is
    /// wrong: one frame is wrong now and then.
    pub doubt: i32,
    /// How much the fronts of two drawers in one slot may overlap in height, as a share of the lower one.
    pub two_overlap: f64,
    /// Least height of one of them as a share of the other's: a handle is no front.
    pub two_alike: f64,
    /// Least height of each of them, and of any view of a front, as a share of the slot's: of three drawers in one slot each has a third.
    pub two_least: f64,
    /// Fronts as rectangles in their plane.
    pub outline: OutlineSettings,
}

impl Default for BankSettings {
    fn default() -> Self {
        Self {
            parallel: 0.98,
            flush: 0.012,
            travel: 0.45,
            behind: 0.3,
            thick: 0.025,
            views: 3,
            margin: 0.015,
            whole: 0.85,
            piece: 0.1,
            mostly: 0.5,
            wide: 0.6,
            named: 0.4,
            layer: 0.008,
            wall: 0.03,
            deep: 0.7,
            body_unlike: 0.12,
            handle: 0.045,
            lift: 0.02,
            often: 3,
            often_share: 0.06,
            out: 0.04,
            moved: 0.015,
            doubt: 3,
            two_overlap: 0.2,
            two_alike: 0.6,
            two_least: 0.25,
            outline: OutlineSettings::default(),
        }
    }
}

/// How fronts lie to each other in their plane, and which views show one whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutlineSettings {
    /// How much two fronts may overlap, as a share of the smaller: masks run over their edges.
    pub apart: f64,
    /// Least share of two fronts in common, of their union, when they are one; and of their ranges when they stand in line.
    pub same: f64,
    /// Greatest gap between fronts of one bank, metres: more than the board between two drawers is thick.
    pub gap: f64,
    /// Fewest points that have an outline: the outermost of them are left out.
    pub least_points: usize,
    /// Views of a front that its outline is made of: so many that a few bad ones do not move it, and so few that old mistakes go.
    pub sightings: usize,
    /// Least area of those views that count, as a share of a full one: what is smaller is half hidden.
    pub full: f64,
}

impl Default for OutlineSettings {
    fn default() -> Self {
        Self { apart: 0.2, same: 0.6, gap: 0.06, least_points: 20, sightings: 30, full: 0.8 }
    }
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
