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

/// How surfaces are found, and which are of one thing. All of them are measures of things or of the camera, or learned from simulated
/// cameras, none of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurfaceSettings {
    /// Greatest angle between a surface's normal and the line of sight, radians: a stereo camera measures nothing on steeper surfaces.
    pub grazing: f64,
    /// Least length on either side of a valley, metres; some standard deviations of depth when those are more.
    pub reach: f64,
    /// How many those are.
    pub reach_noise: f64,
    /// Fewest pixels on either side of a valley.
    pub least_steps: f64,
    /// Most pixels on either side of a valley.
    pub most_steps: f64,
    /// Across holes colours mark a border if they are this many times as unlike as those of one thing may be.
    pub border: f64,
    /// Standard deviations of depth that a jump must exceed.
    pub noise: f64,
    /// Holes that a surface reaches across, pixels.
    pub hole: usize,
    /// How far a camera smears what is nearer over an edge, pixels: what is nowhere wider to both sides is a piece of what it touches.
    pub smear: usize,
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
    /// Unlikeness of colours that are just of one thing; see [`crate::color::unlikeness`].
    pub unlike: f64,
    /// Greatest side of a thing, metres: what is larger is furniture, a wall, a person.
    pub max_side: f64,
    /// How far the foot of a thing is above the support or beyond its border at most, metres.
    pub margin: f64,
    /// What ends less than this above the least height that counts comes down to the support, metres.
    pub foot: f64,
    /// What is added to the logarithm of the odds that two patches are of one thing: more makes fewer and larger surfaces.
    pub smooth: f64,
    /// The same for surfaces.
    pub joined: f64,
    /// Least logarithm of the odds that something is a thing.
    pub likely: f64,
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
            border: 1.5,
            noise: 3.0,
            hole: 2,
            smear: 3,
            min_pixels: 12,
            window: 2,
            averaged: 0.5,
            least_noise: 0.15,
            min_side: 0.012,
            bridge: 0.02,
            unlike: 0.12,
            max_side: 0.6,
            margin: 0.03,
            foot: 0.01,
            smooth: 0.4,
            joined: 0.45,
            likely: 0.0,
            standing: StandingSettings::default(),
            floors: FloorSettings::default(),
        }
    }
}
