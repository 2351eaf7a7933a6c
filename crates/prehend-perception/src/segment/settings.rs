//! What tunes the cutting of a frame into surfaces, and of surfaces into things.

use serde::{Deserialize, Serialize};

/// What is the floor of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FloorSettings {
    /// Least share of its border along which it goes over into a wall without a jump; the support behind a handle does so nowhere.
    pub joined: f64,
    /// Greatest share of its border that is open, where noise breaks a wall.
    pub open: f64,
    /// How much higher than the support it lies at least where its border is open, metres: as thick as thin walls are.
    pub height: f64,
}

impl Default for FloorSettings {
    fn default() -> Self {
        Self { joined: 0.3, open: 0.3, height: 0.002 }
    }
}

/// Where surfaces of several colours are cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PieceSettings {
    /// Half the width of what is a rim, metres.
    pub rim: f64,
    /// The most of that in pixels.
    pub rim_pixels: u8,
    /// Pixels on either side over which a border of colour is looked for.
    pub beside: usize,
    /// Greatest length of a neck as a share of the root of the pixels of the smaller piece.
    pub neck: f64,
    /// Share of its convex outline that a piece fills: how much less the union of two pieces fills than either, when they are two.
    pub filled: f64,
    /// Fewest pixels of a piece.
    pub min_pixels: usize,
}

impl Default for PieceSettings {
    fn default() -> Self {
        Self { rim: 0.006, rim_pixels: 8, beside: 2, neck: 0.3, filled: 0.88, min_pixels: 100 }
    }
}

/// What stands on the support.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StandingSettings {
    /// Side of the cells in which the support is followed, metres.
    pub cell: f64,
    /// Fewest pixels of a cell of the support.
    pub cell_pixels: usize,
    /// Rows over which the pixel below a thing is looked for.
    pub below: usize,
}

impl Default for StandingSettings {
    fn default() -> Self {
        Self { cell: 0.04, cell_pixels: 4, below: 12 }
    }
}

/// Which surfaces are of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThingSettings {
    /// Greatest difference of height between the rims of the outside and the inside of a hollow, metres; some standard deviations of
    /// depth (`noise` of the surfaces) when those are more.
    pub rim: f64,
    /// Share of an inside that lies in the footprint of the outside.
    pub inside: f64,
    /// Bulge, as a share of the width, above which a surface is the outside of something.
    pub outside_bulge: f64,
    /// Bulge below which it is surely the inside of a hollow.
    pub hollow_bulge: f64,
    /// Least share of their common width that the near and the far wall of a hollow both take.
    pub beside: f64,
    /// Greatest side of a cap, metres.
    pub cap: f64,
    /// How high something that comes down to the support goes, as a share of the height of what it is a handle of.
    pub handle: f64,
    /// Least contact across holes, as a share of the root of the smaller surface's pixels.
    pub contact: f64,
}

impl Default for ThingSettings {
    fn default() -> Self {
        Self {
            rim: 0.012,
            inside: 0.7,
            outside_bulge: 0.03,
            hollow_bulge: -0.08,
            beside: 0.65,
            cap: 0.045,
            handle: 0.65,
            contact: 0.4,
        }
    }
}

/// How surfaces are found, and which are of one thing. All of them are measures of things or of the camera, none of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurfaceSettings {
    /// Greatest angle between a surface's normal and the line of sight, radians: a stereo camera measures nothing on steeper surfaces.
    pub grazing: f64,
    /// Least length on either side of a crease, metres; some standard deviations of depth when those are more.
    pub reach: f64,
    /// How many those are.
    pub reach_noise: f64,
    /// Fewest pixels on either side of a crease.
    pub least_steps: f64,
    /// Most pixels on either side of a crease.
    pub most_steps: f64,
    /// Least depth of a crease as a share of that length: 0.3 is an edge of 146 degrees.
    pub crease: f64,
    /// Where colours mark a border, a crease this shallow suffices, as a share of the depth that it needs elsewhere.
    pub shallow: f64,
    /// Colours mark a border if they are this many times as unlike as those of one thing may be.
    pub border: f64,
    /// Standard deviations of depth that a jump or a crease must exceed.
    pub noise: f64,
    /// Holes that a surface reaches across, pixels.
    pub hole: usize,
    /// Fewest pixels of a surface.
    pub min_pixels: usize,
    /// Heights are averaged over a square that reaches this many pixels to each side.
    pub window: usize,
    /// Where noise cannot be measured, that of such a mean as a share of the noise of one pixel. Over 25 independent pixels it would be a
    /// fifth, but a stereo camera makes like errors in pixels that are close together.
    pub averaged: f64,
    /// Least noise as a share of that of the settings: rounding to millimetres makes 0.3 mm.
    pub least_noise: f64,
    /// Side of the least square that is a thing, metres.
    pub min_side: f64,
    /// Greatest gap between surfaces of one thing, metres: as wide as a strip that reflects or swallows the light.
    pub bridge: f64,
    /// Greatest unlikeness of the colours of surfaces of one thing; see [`crate::color::unlikeness`].
    pub unlike: f64,
    /// Greatest size of a part that juts out (a handle, a spout) as a share of what it is on.
    pub part: f64,
    /// Greatest side of a thing, metres: what is larger is furniture, a wall, a person.
    pub max_side: f64,
    /// How far the foot of a thing is above the support or beyond its border at most, metres.
    pub margin: f64,
    /// What ends less than this above the least height that counts comes down to the support, metres.
    pub foot: f64,
    /// Cutting surfaces of several colours.
    pub pieces: PieceSettings,
    /// Joining the surfaces of one thing.
    pub things: ThingSettings,
    /// What stands on the support.
    pub standing: StandingSettings,
    /// Floors of hollow things.
    pub floors: FloorSettings,
}

impl Default for SurfaceSettings {
    fn default() -> Self {
        Self {
            grazing: 1.40,
            reach: 0.008,
            reach_noise: 10.0,
            least_steps: 2.0,
            most_steps: 16.0,
            crease: 0.3,
            shallow: 0.4,
            border: 1.5,
            noise: 3.0,
            hole: 2,
            min_pixels: 12,
            window: 2,
            averaged: 0.5,
            least_noise: 0.15,
            min_side: 0.012,
            bridge: 0.02,
            unlike: 0.12,
            part: 0.35,
            max_side: 0.6,
            margin: 0.03,
            foot: 0.01,
            pieces: PieceSettings::default(),
            things: ThingSettings::default(),
            standing: StandingSettings::default(),
            floors: FloorSettings::default(),
        }
    }
}
