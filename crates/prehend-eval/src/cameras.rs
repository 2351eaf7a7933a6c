//! Frames of other cameras over other tables, each with its truth, and what a map makes of one of them.
//!
//! A kind of camera ([`Kind`]) draws its resolution, its distance, how steeply it looks down and how its depth is wrong. A seed draws the
//! table's material, things that stand, lie in one another and on one another, and their prints. One frame is one scene: nothing is known
//! from before, and no detector says anything.
//!
//! The map frame has its origin on the floor, z up; the table's top is at [`HEIGHT`]. Read [`Kind`] first, then
//! [`frame`], then [`measure`].

mod paint;
mod pile;
mod score;
mod sensor;
mod surroundings;

pub use pile::Pile;
pub use score::{Count, Found};
pub use sensor::{Kind, Material};

use crate::clutter::{Clutter, HEIGHT, ShotError, drawables};
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{Intrinsics, Mask};
use prehend_perception::{Keyframe, KeyframeError, LabelImage, MapBuilder, MapSettings};
use prehend_recording::RecordedFrame;
use prehend_sim::body::Owner;
use prehend_sim::scene::CameraSpec;
use prehend_sim::sensors::overview::look_at;
use prehend_sim::sensors::{Drawable, RgbdCamera};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::f64::consts::PI;

/// Least share of a thing that is seen when a map is asked for it.
const HALF: f64 = 0.5;
/// Least size of such a thing, metres: its box has two sides of at least this.
const SIZE: f64 = 0.02;
/// Fewest pixels of it.
const VISIBLE: usize = 100;
/// How far from the middle a camera looks at most where something stands around, as a share of how far things lie from it.
const ASIDE: f64 = 1.2;
/// First of the streams of random numbers for surroundings.
const SURROUNDINGS: u64 = 100;

/// One thing as a frame shows it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its class.
    pub class: String,
    /// Its pixels.
    pub mask: Mask,
    /// Whether a map is asked for it: it has 2 cm, and half of it is seen.
    pub is_asked: bool,
}

/// A frame with its truth.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The frame; no masks, and no part of the robot is known.
    pub keyframe: Keyframe,
    /// What of it is things.
    pub things: Vec<Shown>,
    /// What the table is made of.
    pub material: Material,
}

impl Frame {
    /// The frame as a recording has it, without a pose: a scene of its own. Beside it which thing each pixel shows, from 1; what has fewer
    /// than 100 pixels is none.
    pub fn recorded(self, name: String) -> (RecordedFrame, LabelImage) {
        let Keyframe { color, depth, intrinsics, mut labels, .. } = self.keyframe;
        let things = self.things.iter().filter(|thing| thing.mask.area() >= VISIBLE);
        for (number, thing) in (1..).zip(things) {
            thing.mask.indices().into_iter().for_each(|index| labels.labels[index] = number);
        }
        let frame = RecordedFrame { name, color, depth, intrinsics, map_from_camera: None, instances: None };
        (frame, labels)
    }
}

/// What is on and around a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Things.
    Things,
    /// The same things between walls, fixtures and links of a robot, whose places nothing tells.
    Surrounded,
    /// Nothing.
    Nothing,
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum CameraError {
    /// The frame cannot be drawn.
    #[error(transparent)]
    Shot(#[from] ShotError),
    /// The frame cannot be used; a frame that shows too little to be one is no error.
    #[error("{kind}, seed {seed}: {error}")]
    Keyframe {
        /// The camera.
        kind: Kind,
        /// The seed.
        seed: u64,
        /// Why not.
        error: KeyframeError,
    },
}

/// Draws a frame of a table.
///
/// Errors: [`ShotError`].
pub fn frame(kind: Kind, seed: u64, content: Content) -> Result<Frame, ShotError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(kind as u64);
    let sensor = sensor::Sensor::draw(kind, &mut rng);
    let middle = Point3::new(0.0, 0.0, HEIGHT);
    let things = match content {
        Content::Nothing => Vec::new(),
        Content::Things | Content::Surrounded => Pile::draw(&mut rng, sensor.spread).things(&middle),
    };
    let clutter = Clutter { tables: vec![middle], things };
    let mut drawn = drawables(&clutter)?;
    if kind == Kind::Overhead {
        drawn.extend(surroundings::robot(&mut rng));
    }
    let mut around_it = ChaCha8Rng::seed_from_u64(seed);
    around_it.set_stream(SURROUNDINGS + kind as u64);
    // Where something stands around, the camera looks anywhere: things are cut by the picture's border as often as walls are.
    let mut aside = || match content {
        Content::Surrounded => around_it.random_range(-ASIDE..ASIDE) * sensor.spread,
        Content::Things | Content::Nothing => 0.0,
    };
    let target = middle + Vector3::new(aside(), aside(), 0.03);
    let around = rng.random_range(-PI..PI);
    let up = sensor.elevation;
    let back = Vector3::new(up.cos() * around.cos(), up.cos() * around.sin(), up.sin());
    let pose = look_at(target + back * sensor.distance, target).world_from_camera;
    if content == Content::Surrounded {
        drawn.extend(surroundings::around(
            &mut around_it,
            sensor.spread,
            &Point3::from(pose.translation.vector),
        ));
    }
    let spec = CameraSpec { rate_hz: 10.0, depth_noise: None, color_noise: rng.random_range(1.0..4.0) };
    let mut camera = RgbdCamera::new(sensor.intrinsics, spec, seed);
    let mut capture = camera.capture(&pose, &drawn, 0).map_err(ShotError::from)?;
    paint::paint(&mut capture.color, &capture.labels.labels, sensor.material, &mut rng);
    let depth = sensor.measure(&capture, &mut rng);
    let whole = whole_pixels(&clutter, &drawn, &pose, &sensor.intrinsics, seed)?;
    let Intrinsics { width, height, .. } = sensor.intrinsics;
    let things = clutter.things.iter().zip(whole).enumerate().filter_map(|(number, (thing, whole))| {
        let label = number as u16 + 1;
        let pixels: Vec<usize> =
            (0..capture.labels.labels.len()).filter(|index| capture.labels.labels[*index] == label).collect();
        let mut sides: [f64; 3] = thing.bounds.size.into();
        sides.sort_by(f64::total_cmp);
        let is_asked =
            pixels.len() >= VISIBLE && sides[1] >= SIZE && pixels.len() as f64 >= HALF * whole as f64;
        (!pixels.is_empty()).then(|| Shown {
            class: thing.class.clone(),
            mask: Mask::from_indices(width, height, &pixels),
            is_asked,
        })
    });
    let things = things.collect();
    let keyframe = Keyframe {
        view: "view".to_owned(),
        stamp: 0.0,
        color: capture.color,
        depth,
        labels: LabelImage::blank(width, height),
        detections: Vec::new(),
        parts: None,
        intrinsics: sensor.intrinsics,
        map_from_camera: pose,
        robot: Vec::new(),
    };
    Ok(Frame { keyframe, things, material: sensor.material })
}

/// Pixels that each thing would have if nothing stood before it, what is outside of the picture included.
fn whole_pixels(
    clutter: &Clutter,
    drawn: &[Drawable],
    pose: &Isometry3<f64>,
    intrinsics: &Intrinsics,
    seed: u64,
) -> Result<Vec<usize>, ShotError> {
    // A picture of a quarter of the size that shows as much again to every side.
    let wide = Intrinsics {
        fx: intrinsics.fx / 4.0,
        fy: intrinsics.fy / 4.0,
        cx: intrinsics.cx / 4.0 + intrinsics.width as f64 / 8.0,
        cy: intrinsics.cy / 4.0 + intrinsics.height as f64 / 8.0,
        width: intrinsics.width / 2,
        height: intrinsics.height / 2,
    };
    let spec = CameraSpec { rate_hz: 10.0, depth_noise: None, color_noise: 0.0 };
    let mut camera = RgbdCamera::new(wide, spec, seed);
    let count = |number: usize, camera: &mut RgbdCamera| {
        let owner = Owner::Object(number);
        let alone: Vec<Drawable> = drawn.iter().filter(|drawable| drawable.owner == owner).cloned().collect();
        let capture = camera.capture(pose, &alone, 0).map_err(ShotError::from)?;
        Ok(capture.labels.labels.iter().filter(|label| **label > 0).count() * 16)
    };
    (0..clutter.things.len()).map(|number| count(number, &mut camera)).collect()
}

/// Draws a frame, makes a map of it and holds it against the truth.
///
/// Errors: [`CameraError`].
pub fn measure(
    kind: Kind,
    seed: u64,
    content: Content,
    settings: MapSettings,
) -> Result<(Frame, Found), CameraError> {
    let frame = frame(kind, seed, content)?;
    let mut map = MapBuilder::new("map", settings);
    let begun = std::time::Instant::now();
    match map.update(&frame.keyframe, None, false, seed) {
        Ok(_) | Err(KeyframeError::Empty) => {}
        Err(error) => return Err(CameraError::Keyframe { kind, seed, error }),
    }
    let seconds = begun.elapsed().as_secs_f64();
    let masks: Vec<Mask> =
        map.map().objects.iter().filter_map(|object| Some(object.crops.first()?.mask.clone())).collect();
    let count = score::count(&frame.things, &masks);
    Ok((frame, Found { count, masks, seconds }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects made of surroundings, and things found, on some frames of a kind that nothing was learned from.
    fn surrounded(likely: f64) -> Count {
        let mut settings = MapSettings::recorded();
        settings.segment.surfaces.as_mut().expect("cut by surfaces").likely = likely;
        let of = |seed| measure(Kind::Overhead, seed, Content::Surrounded, settings).expect("a map").1.count;
        (701..709).map(of).fold(Count::default(), Count::plus)
    }

    #[test]
    fn what_stands_around_is_mostly_told_from_things() {
        let (all, likely) = (surrounded(f64::NEG_INFINITY), surrounded(0.0));
        assert!(likely.nothing * 2 <= all.nothing && all.nothing >= 8, "{likely:?} of {all:?}");
        assert!(likely.found * 20 >= all.found * 19, "{likely:?} of {all:?}");
    }
}
