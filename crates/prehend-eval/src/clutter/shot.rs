//! Keyframes around the tables, as the simulator's camera takes them.

use super::features::feature;
use super::{Clutter, PITCH, RANGE, Settings, TABLE};
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_perception::{Detection, LabelImage};
use prehend_recording::{Instances, RecordedFrame};
use prehend_sim::body::{ConvexPart, Frame, Owner, PartShape, RenderItem};
use prehend_sim::scene::{CameraSpec, Color, DepthNoise, DetectorSpec};
use prehend_sim::sensors::mesh::MeshError;
use prehend_sim::sensors::overview::look_at;
use prehend_sim::sensors::stage::MissingBody;
use prehend_sim::sensors::{
    Capture, Detections, Detector, Drawable, RenderError, RgbdCamera, Stage, wrist_camera_intrinsics,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

/// Distances of the camera from where it looks, metres, and its heights above that as angles, radians.
const DISTANCE: [f64; 2] = [1.1, 1.3];
const ELEVATION: [f64; 2] = [0.65, 0.95];
/// How far beside the middle of the table it looks, metres.
const ASIDE: f64 = 0.06;
/// Stream of the random numbers that choose the cameras; tables have the ones from 0.
const CAMERAS: u64 = u64::MAX;

/// Who draws the masks of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Masks {
    /// Nobody: the map cuts the frame by geometry alone.
    Geometry,
    /// The imperfect detector of the simulator.
    Detector,
    /// A detector that makes no errors.
    Truth,
}

/// A keyframe with what it shows.
#[derive(Clone, Debug)]
pub struct Shot {
    /// The frame; it has masks unless they are made by geometry.
    pub frame: RecordedFrame,
    /// Which thing each pixel shows: 0 is none, i + 1 is thing i.
    pub labels: LabelImage,
    /// Pixels of each thing that is seen, within the range.
    pub pixels: BTreeMap<usize, usize>,
}

/// Why there is no frame.
#[derive(Debug, thiserror::Error)]
pub enum ShotError {
    /// A thing has a broken surface.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A piece of a thing has no place.
    #[error(transparent)]
    Body(#[from] MissingBody),
    /// The picture cannot be drawn.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// Takes the keyframes, table by table. Names are `view_000` and so on.
///
/// Errors: [`ShotError`].
pub fn shots(
    clutter: &Clutter,
    settings: &Settings,
) -> Result<impl Iterator<Item = Result<Shot, ShotError>>, ShotError> {
    let drawables = drawables(clutter)?;
    let spec = CameraSpec { rate_hz: 10.0, depth_noise: Some(DepthNoise::default()), color_noise: 1.5 };
    let mut camera = RgbdCamera::new(wrist_camera_intrinsics(), spec, settings.seed);
    let errors =
        if settings.masks == Masks::Detector { DetectorSpec::imperfect() } else { DetectorSpec::default() };
    let classes: Vec<String> = clutter.things.iter().map(|thing| thing.class.clone()).collect();
    let detector =
        Detector::new(DetectorSpec { range: [0.1, RANGE], ..errors }, classes.clone(), settings.seed);
    let settings = *settings;
    let poses = poses(&clutter.tables, &settings);
    Ok(poses.into_iter().enumerate().map(move |(number, map_from_camera)| {
        let capture = camera.capture(&map_from_camera, &drawables, number as u64)?;
        let instances = (settings.masks != Masks::Geometry).then(|| {
            let found = detector.detect(&capture, &map_from_camera, number as u64);
            instances(found, &capture, &classes, number, &settings)
        });
        Ok(shot(number, capture, map_from_camera, camera.intrinsics(), instances))
    }))
}

fn shot(
    number: usize,
    capture: Capture,
    map_from_camera: Isometry3<f64>,
    intrinsics: prehend_geometry::Intrinsics,
    instances: Option<Instances>,
) -> Shot {
    let mut pixels = BTreeMap::new();
    for (label, depth) in capture.labels.labels.iter().zip(&capture.true_depth) {
        if *label > 0 && f64::from(*depth) <= RANGE {
            *pixels.entry(usize::from(*label) - 1).or_insert(0) += 1;
        }
    }
    let labels = capture.labels;
    let labels = LabelImage { width: labels.width, height: labels.height, labels: labels.labels };
    let frame = RecordedFrame {
        name: format!("view_{number:03}"),
        color: capture.color,
        depth: capture.depth,
        intrinsics,
        map_from_camera: Some(map_from_camera),
        instances,
    };
    Shot { frame, labels, pixels }
}

/// Cameras around each table at even steps, each a little off.
fn poses(tables: &[Point3<f64>], settings: &Settings) -> Vec<Isometry3<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    rng.set_stream(CAMERAS);
    let step = TAU / settings.views.max(1) as f64;
    let mut poses = Vec::new();
    for middle in tables {
        let first = rng.random_range(-PI..PI);
        for view in 0..settings.views {
            let around = first + step * (view as f64 + rng.random_range(-0.2..0.2));
            let up: f64 = rng.random_range(ELEVATION[0]..ELEVATION[1]);
            let distance = rng.random_range(DISTANCE[0]..DISTANCE[1]);
            let mut aside = || rng.random_range(-ASIDE..ASIDE);
            let target = middle + Vector3::new(aside(), aside(), 0.03);
            let back = Vector3::new(up.cos() * around.cos(), up.cos() * around.sin(), up.sin());
            poses.push(look_at(target + back * distance, target).world_from_camera);
        }
    }
    poses
}

/// Floor, tables and things.
pub(crate) fn drawables(clutter: &Clutter) -> Result<Vec<Drawable>, ShotError> {
    let solid = |half: Vector3<f64>, color: [u8; 3]| ConvexPart {
        shape: PartShape::Box { half },
        body_from_part: Isometry3::identity(),
        color: Color(color),
        only_seen: false,
        region: None,
    };
    let mut items = Vec::new();
    let mut poses: Vec<Isometry3<f64>> = Vec::new();
    let mut add = |owner: Owner, part: ConvexPart, body: usize| items.push(RenderItem { owner, body, part });
    for middle in &clutter.tables {
        poses.push(Isometry3::translation(middle.x, middle.y, middle.z - 0.02));
        let half = Vector3::new(TABLE[0] / 2.0, TABLE[1] / 2.0, 0.02);
        add(Owner::Table, solid(half, [186, 148, 106]), poses.len() - 1);
        poses.push(Isometry3::translation(middle.x, middle.y, -0.01));
        let half = Vector3::new(PITCH / 2.0, PITCH / 2.0, 0.01);
        add(Owner::Floor, solid(half, [150, 150, 155]), poses.len() - 1);
    }
    for (number, thing) in clutter.things.iter().enumerate() {
        poses.push(thing.pose);
        for part in &thing.parts {
            add(Owner::Object(number), part.clone(), poses.len() - 1);
        }
    }
    let frame = Frame { time: 0.0, base_from_body: poses, base_from_camera: Isometry3::identity() };
    Ok(Stage::new(&items)?.drawables(&frame)?)
}

/// What the detector found, with a feature vector for the thing that most of each mask shows.
fn instances(
    found: Detections,
    capture: &Capture,
    classes: &[String],
    view: usize,
    settings: &Settings,
) -> Instances {
    let mut shown: Vec<BTreeMap<u16, usize>> = vec![BTreeMap::new(); found.items.len()];
    for (label, thing) in found.labels.labels.iter().zip(&capture.labels.labels) {
        if let Some(count) = usize::from(*label).checked_sub(1).and_then(|place| shown.get_mut(place)) {
            *count.entry(*thing).or_insert(0) += 1;
        }
    }
    let feature_of = |count: &BTreeMap<u16, usize>| {
        let thing =
            count.iter().max_by_key(|(_, pixels)| **pixels).map_or(0, |(label, _)| usize::from(*label));
        let class = thing.checked_sub(1).and_then(|place| classes.get(place)).map_or("", String::as_str);
        feature(settings.features, settings.seed, class, thing, view)
    };
    let features = if settings.features > 0 { shown.iter().map(feature_of).collect() } else { Vec::new() };
    let prehend_sim::sensors::LabelImage { width, height, labels } = found.labels;
    let detections = found.items.into_iter().enumerate().map(|(place, item)| Detection {
        label: place as u16 + 1,
        class_name: item.class_name,
        score: item.score.clamp(0.0, 1.0),
    });
    Instances { detections: detections.collect(), labels: LabelImage { width, height, labels }, features }
}
