//! Views of a building as a robot takes them before any errand (Affordance RAG V-A): six headings at each place it stands.

use super::building::Building;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::{Intrinsics, OrientedBox};
use prehend_memory::Look;
use prehend_memory::record::{Place, Seen};
use prehend_perception::color;
use prehend_sim::body::{Frame, Owner, RenderItem};
use prehend_sim::scene::{CameraSpec, DepthNoise, DetectorSpec};
use prehend_sim::sensors::mesh::MeshError;
use prehend_sim::sensors::stage::MissingBody;
use prehend_sim::sensors::{Capture, Detections, Detector, Drawable, RenderError, RgbdCamera, Stage};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Headings at each place, as in the paper.
const HEADINGS: usize = 6;
/// Room around the robot, and distance between its places, metres.
const ROOM: f64 = 0.35;
const APART: f64 = 0.6;
/// Places tried for each that is wanted.
const DRAWS: usize = 200;
/// Distance up to which anything is detected, metres.
const RANGE: f64 = 5.0;
/// Fewest pixels with which a view shows a thing, and with which it is detected.
const SHOWN: usize = 100;
const DETECTED: usize = 60;
/// Points of a thing's box at most, and the share of outliers that is left out at each end of the depth.
const POINTS: usize = 1500;
const OUTLIERS: f64 = 0.02;

/// The robot's eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Camera {
    /// 640 x 480, 69 degrees across, 1.2 m above the floor: the one that the memory was made with.
    Head,
    /// 640 x 480, 90 degrees across, 0.9 m above the floor, tilted up less; nothing was chosen by it.
    Low,
}

impl Camera {
    fn intrinsics(self) -> Intrinsics {
        let focal = match self {
            Self::Head => 465.0,
            Self::Low => 320.0,
        };
        Intrinsics { fx: focal, fy: focal, cx: 320.0, cy: 240.0, width: 640, height: 480 }
    }

    /// Half of the field of view across, radians.
    fn half_field(self) -> f64 {
        let intrinsics = self.intrinsics();
        (intrinsics.cx / intrinsics.fx).atan()
    }

    /// Height above the floor, metres, and how far it looks down, radians.
    fn mount(self) -> (f64, f64) {
        match self {
            Self::Head => (1.2, 0.35),
            Self::Low => (0.9, 0.12),
        }
    }
}

/// One view: what the memory is given, and what it really shows.
#[derive(Clone, Debug)]
pub struct View {
    /// The look, its things as the simulated detector sees them.
    pub look: Look,
    /// Indices of the things that it shows with at least 100 pixels.
    pub shows: BTreeSet<usize>,
}

/// How the tour is made.
#[derive(Clone, Debug)]
pub struct Tour {
    /// The eyes.
    pub camera: Camera,
    /// Views of the whole building, about.
    pub views: usize,
    /// What the detector gets wrong.
    pub detector: DetectorSpec,
    /// Seed of places, noise and errors.
    pub seed: u64,
}

/// Why there are no views.
#[derive(Debug, thiserror::Error)]
pub enum TourError {
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

impl Tour {
    /// Takes the views, room by room; `seen` is called after each.
    ///
    /// Errors: [`TourError`].
    pub fn views(&self, building: &Building, mut seen: impl FnMut()) -> Result<Vec<View>, TourError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let places = self.views.div_ceil(HEADINGS * building.rooms.len().max(1)).max(1);
        let spec = CameraSpec { rate_hz: 10.0, depth_noise: Some(DepthNoise::default()), color_noise: 1.5 };
        let mut camera = RgbdCamera::new(self.camera.intrinsics(), spec, self.seed);
        let classes: Vec<String> = building.things.iter().map(|thing| thing.class.to_owned()).collect();
        let detector = DetectorSpec { range: [0.3, RANGE], min_px: DETECTED, ..self.detector.clone() };
        let detector = Detector::new(detector, classes, self.seed);
        let mut views = Vec::new();
        for room in 0..building.rooms.len() {
            let drawables = drawables(building, room)?;
            for place in stands(building, room, places, &mut rng) {
                let first: f64 = rng.random_range(0.0..TAU);
                for heading in 0..HEADINGS {
                    let yaw = first + TAU * heading as f64 / HEADINGS as f64;
                    let pose = self.pose(place, yaw);
                    let number = views.len() as u64;
                    let capture = camera.capture(&pose, &drawables, number)?;
                    let found = detector.detect(&capture, &pose, number);
                    let seen_here = sightings(&found, &capture, &pose, camera.intrinsics());
                    views.push(View {
                        look: Look {
                            building: building.name.clone(),
                            robot: "tour".to_owned(),
                            // One view a second.
                            taken: number as f64,
                            building_from_camera: pose,
                            half_field: self.camera.half_field(),
                            picture: None,
                            caption: String::new(),
                            present: Default::default(),
                            seen: seen_here,
                        },
                        shows: shows(&capture),
                    });
                    seen();
                }
            }
        }
        Ok(views)
    }

    /// `building_from_camera`: optical frame, z ahead, y down.
    fn pose(&self, [x, y]: [f64; 2], yaw: f64) -> Isometry3<f64> {
        let (height, down) = self.camera.mount();
        let optical = UnitQuaternion::from_euler_angles(-FRAC_PI_2, 0.0, -FRAC_PI_2);
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw)
            * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), down);
        Isometry3::from_parts(Translation3::new(x, y, height), turn * optical)
    }
}

/// Free places of a room, apart from each other.
fn stands(building: &Building, room: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<[f64; 2]> {
    let (low, high) = (building.rooms[room].low, building.rooms[room].high);
    let furniture: Vec<Place> = building
        .things
        .iter()
        .filter(|thing| thing.room == room && thing.is_furniture())
        .map(|thing| Place {
            center: thing.pose.translation.vector.into(),
            size: thing.size,
            yaw: thing.pose.rotation.euler_angles().2,
        })
        .collect();
    let mut found: Vec<[f64; 2]> = Vec::new();
    for draw in 0..DRAWS * count {
        if found.len() == count {
            break;
        }
        let at = [0, 1].map(|axis| rng.random_range(low[axis] + ROOM..high[axis] - ROOM));
        // A small room is walked over more densely.
        let apart = APART * (1.0 - draw as f64 / (DRAWS * count) as f64);
        let is_free = furniture.iter().all(|place| place.beside(at[0], at[1]) > ROOM);
        if is_free && found.iter().all(|other| (other[0] - at[0]).hypot(other[1] - at[1]) > apart) {
            found.push(at);
        }
    }
    found
}

/// Everything that is seen in a room; its walls are closed.
fn drawables(building: &Building, room: usize) -> Result<Vec<Drawable>, TourError> {
    let mut items = Vec::new();
    let mut poses = Vec::new();
    for (is_floor, part) in building.shell(room) {
        poses.push(Isometry3::identity());
        let owner = if is_floor { Owner::Floor } else { Owner::Furniture(0) };
        items.push(RenderItem { owner, body: poses.len() - 1, part });
    }
    for (number, thing) in building.things.iter().enumerate().filter(|(_, thing)| thing.room == room) {
        poses.push(thing.pose);
        for part in &thing.parts {
            items.push(RenderItem {
                owner: Owner::Object(number),
                body: poses.len() - 1,
                part: part.clone(),
            });
        }
    }
    let frame = Frame { time: 0.0, base_from_body: poses, base_from_camera: Isometry3::identity() };
    Ok(Stage::new(&items)?.drawables(&frame)?)
}

fn shows(capture: &Capture) -> BTreeSet<usize> {
    let mut pixels: BTreeMap<usize, usize> = BTreeMap::new();
    for (label, depth) in capture.labels.labels.iter().zip(&capture.true_depth) {
        if *label > 0 && f64::from(*depth) <= RANGE {
            *pixels.entry(usize::from(*label) - 1).or_default() += 1;
        }
    }
    pixels.into_iter().filter(|(_, count)| *count >= SHOWN).map(|(thing, _)| thing).collect()
}

/// What a robot can know of each mask: its name, colours, and the box around its measured points.
fn sightings(
    found: &Detections,
    capture: &Capture,
    pose: &Isometry3<f64>,
    intrinsics: Intrinsics,
) -> Vec<Seen> {
    let width = intrinsics.width;
    let mut pixels: Vec<Vec<usize>> = vec![Vec::new(); found.items.len()];
    for (index, label) in found.labels.labels.iter().enumerate() {
        if let Some(own) = usize::from(*label).checked_sub(1).and_then(|place| pixels.get_mut(place)) {
            own.push(index);
        }
    }
    let mut seen = Vec::new();
    for (item, own) in found.items.iter().zip(&pixels) {
        let step = own.len().div_ceil(POINTS).max(1);
        let mut points: Vec<(f64, Point3<f64>)> = own
            .iter()
            .step_by(step)
            .filter_map(|index| {
                let depth = f64::from(*capture.depth.millimetres.get(*index)?) / 1000.0;
                let (u, v) = ((index % width) as f64, (index / width) as f64);
                let ray = Vector3::new(
                    (u - intrinsics.cx) / intrinsics.fx,
                    (v - intrinsics.cy) / intrinsics.fy,
                    1.0,
                );
                (depth > 0.0).then(|| (depth, pose * Point3::from(ray * depth)))
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let out = (points.len() as f64 * OUTLIERS).ceil() as usize;
        let kept: Vec<Point3<f64>> = points
            .get(out..points.len().saturating_sub(out))
            .unwrap_or_default()
            .iter()
            .map(|(_, point)| *point)
            .collect();
        let Some(bounds) = OrientedBox::upright_around(&kept) else { continue };
        let colors =
            color::fractions(own.iter().filter_map(|index| capture.color.pixels.get(*index).copied()));
        seen.push(Seen {
            name: item.class_name.clone(),
            score: item.score.clamp(0.0, 1.0),
            colors,
            place: Place {
                center: bounds.pose.translation.vector.into(),
                size: bounds.size.into(),
                yaw: bounds.pose.rotation.euler_angles().2,
            },
            share: own.len() as f64 / (intrinsics.width * intrinsics.height) as f64,
            parts: Vec::new(),
            actions: Vec::new(),
            key: None,
            description: String::new(),
        });
    }
    seen
}
