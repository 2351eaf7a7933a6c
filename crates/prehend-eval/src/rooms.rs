//! What the map of a room makes of a tour: everything but driving and the graph.
//!
//! A tour is planned on the survey of a room as the robot plans it. At each stop the base stands a little beside its goal and believes
//! itself a little beside where it stands; the camera takes frames, which the imperfect detector names. Asked for is what some stop
//! shows with at least [`SEEN`] pixels. Each object of the map belongs to the true thing that most of its points are nearest to.

mod furnish;

use crate::asp::{MobileTask, mobile};
use crate::scenario::Conditions;
use crate::watch::labels_of;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_navigation::tour::{TourParams, plan};
use prehend_navigation::{Costmap, Footprint, Inflation, Pose2};
use prehend_perception::{Keyframe, PartLabels, RoomBuilder, RoomSettings};
use prehend_scene::{Object, ObjectMap, furniture};
use prehend_sim::body::{Owner, RenderItem};
use prehend_sim::scene::Scene;
use prehend_sim::sensors::{Detector, RgbdCamera, Stage, wrist_camera_intrinsics};
use prehend_sim::world::{ArmModel, ObjectTruth, World, in_space};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Pixels of a thing in one frame from which it is asked for.
pub const SEEN: usize = 150;
/// Frames of each stop, as the node takes them.
const FRAMES: u64 = 3;
/// Steps in which things come to rest.
const SETTLING: usize = 60;
/// Cell of the survey, metres; the costs around it are those of the embedded base.
const RESOLUTION: f64 = 0.05;
/// How far from its goal a base stops, metres and radians.
const BESIDE: (f64, f64) = (0.03, 0.03);
/// Rooms tried for one seed.
const ATTEMPTS: u64 = 40;
/// Points of an object that are asked where they belong.
const POINTS: usize = 200;
/// A point farther than this from everything belongs to nothing, metres: errors of localisation are less.
const NOWHERE: f64 = 0.08;
/// Distances to two things within this are the same: the smaller one has the point, metres.
const SAME: f64 = 0.005;
/// A thing up to this size is placed when the middle of its object is no farther off than [`PLACED`], metres.
const HANDY: f64 = 0.35;
const PLACED: f64 = 0.08;

/// Which rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The rooms of [`mobile`], its tasks by turns.
    Errands,
    /// Rooms of other sizes and furniture, with cabinets, pairs and more things.
    Furnished,
}

impl Kind {
    /// Each with its name.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Errands, "errands"), (Self::Furnished, "furnished")];
}

/// Who looks.
#[derive(Clone, Debug)]
pub struct Explorer {
    /// The robot.
    pub arm: ArmModel,
    /// Joint positions with which it looks into the room.
    pub level: Vec<f64>,
    /// Its outline.
    pub footprint: Footprint,
    /// Direction in which it looks, in the frame of its base, radians.
    pub facing: f64,
}

/// How one thing that was asked for came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fate {
    /// Its name in the scene file.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Most pixels that a stop shows of it.
    pub pixels: usize,
    /// The objects that are it: key, and how far off their middle is, metres; of drawers and doors, its height.
    pub objects: Vec<(String, f64)>,
    /// The one object has its name.
    pub named: bool,
    /// The one object is where it is, or it is large.
    pub placed: bool,
}

/// Counts over rooms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Things asked for.
    pub things: usize,
    /// Of them those that are no object.
    pub missing: usize,
    /// Of them those that are two objects or more.
    pub twice: usize,
    /// Of them those that are one object by their own name, where they are.
    pub right: usize,
    /// Of them those that are one object in their place by another name.
    pub misnamed: usize,
    /// Objects that belong to nothing, or to a thing that was hardly seen.
    pub extra: usize,
    /// Drawers and doors asked for, and those of them that are right.
    pub panels: usize,
    /// See `panels`.
    pub panels_right: usize,
    /// Rooms, and those of them in which everything is right.
    pub rooms: usize,
    /// See `rooms`.
    pub whole: usize,
}

impl Figures {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            things: self.things + other.things,
            missing: self.missing + other.missing,
            twice: self.twice + other.twice,
            right: self.right + other.right,
            misnamed: self.misnamed + other.misnamed,
            extra: self.extra + other.extra,
            panels: self.panels + other.panels,
            panels_right: self.panels_right + other.panels_right,
            rooms: self.rooms + other.rooms,
            whole: self.whole + other.whole,
        }
    }
}

/// What a map makes of a room.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// Counts.
    pub figures: Figures,
    /// Each thing that was asked for.
    pub fates: Vec<Fate>,
    /// Objects that belong to nothing that was asked for: key, and the nearest thing.
    pub extra: Vec<(String, String)>,
    /// Stops of the tour.
    pub stops: usize,
}

/// A room, and where its scene file would be.
fn scene_text(kind: Kind, seed: u64, attempt: u64) -> Result<String, String> {
    match kind {
        Kind::Errands => {
            let task = MobileTask::ALL[(seed % MobileTask::ALL.len() as u64) as usize].0;
            mobile(task, seed, Conditions::Imperfect)
                .map(|scenario| scenario.scene_yaml)
                .map_err(|error| error.to_string())
        }
        Kind::Furnished => {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(90_000 + attempt);
            Ok(furnish::room(&format!("furnished {seed}"), Conditions::Imperfect.detector(), &mut rng))
        }
    }
}

/// One stop: where the base truly is, and where it believes itself.
struct Stop {
    truly: Pose2,
    believed: Pose2,
}

/// A tour of a room in frames, with the truth.
#[derive(Debug)]
pub struct Toured {
    frames: Vec<Keyframe>,
    truth: Vec<ObjectTruth>,
    /// Most pixels of each thing at a stop, by its name.
    seen: BTreeMap<String, usize>,
    stops: usize,
}

/// Tours the room of a seed. `scenes` is the folder of scene files, beside that of the models.
///
/// Errors: in words, when no room of this seed can be made or toured.
pub fn tour(explorer: &Explorer, scenes: &Path, kind: Kind, seed: u64) -> Result<Toured, String> {
    let path = scenes.join("rooms.yaml");
    let mut why = String::new();
    for attempt in 0..ATTEMPTS {
        let text = scene_text(kind, seed, attempt)?;
        let scene = Scene::parse(&path.to_string_lossy(), &text).map_err(|error| error.to_string())?;
        match scene.instantiate(seed) {
            Ok(placed) => {
                let world =
                    World::new(&placed, &explorer.arm, &explorer.level).map_err(|error| error.to_string())?;
                return explorer.look_round(world, seed);
            }
            Err(error) => why = error.to_string(),
        }
    }
    Err(format!("seed {seed}: {why}"))
}

impl Explorer {
    fn look_round(&self, mut world: World, seed: u64) -> Result<Toured, String> {
        (0..SETTLING).for_each(|_| world.step());
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x746f_7572);
        let start = world.base_transform().ok_or("the robot does not drive")?;
        let base_from_camera = start.inverse() * world.frame().base_from_camera;
        let stops = self.stops(&world, &base_from_camera, &mut rng)?;
        let items: Vec<RenderItem> = world
            .render_items()
            .iter()
            .filter(|item| !matches!(item.owner, Owner::Robot(_)))
            .cloned()
            .collect();
        let stage = Stage::new(&items).map_err(|error| error.to_string())?;
        let drawables = stage.drawables(&world.frame()).map_err(|error| error.to_string())?;
        let spec = &world.scene().scene;
        let mut camera = RgbdCamera::new(wrist_camera_intrinsics(), spec.camera.clone(), seed);
        let classes = world.entities().iter().map(|entity| entity.class.clone()).collect();
        let detector = Detector::new(spec.detector.clone(), classes, seed);
        let parts = Detector::new(spec.part_detector.clone(), stage.region_classes(), seed.wrapping_add(7));
        let mut toured = Toured {
            frames: Vec::new(),
            truth: world.truth().objects,
            seen: BTreeMap::new(),
            stops: stops.len(),
        };
        for (place, stop) in stops.iter().enumerate() {
            let truly = in_space(&stop.truly) * base_from_camera;
            for _ in 0..FRAMES {
                let number = toured.frames.len() as u64;
                let drawn = camera.capture(&truly, &drawables, number).map_err(|error| error.to_string())?;
                let (labels, detections) = labels_of(&detector.detect(&drawn, &truly, number));
                let (part_labels, part_detections) = labels_of(&parts.detect_parts(&drawn, &truly, number));
                for (label, entity) in (1_u16..).zip(world.entities()) {
                    let shown = |(other, depth): &(&u16, &f32)| {
                        **other == label && f64::from(**depth) < RoomSettings::default().max_depth
                    };
                    let pixels = drawn.labels.labels.iter().zip(&drawn.true_depth).filter(shown).count();
                    let most = toured.seen.entry(entity.name.clone()).or_default();
                    *most = pixels.max(*most);
                }
                toured.frames.push(Keyframe {
                    view: format!("tour_{}", place + 1),
                    stamp: 0.1 * (number + 1) as f64,
                    color: drawn.color.clone(),
                    depth: drawn.depth.clone(),
                    labels,
                    detections,
                    parts: Some(PartLabels { labels: part_labels, detections: part_detections }),
                    intrinsics: camera.intrinsics(),
                    map_from_camera: in_space(&stop.believed) * base_from_camera,
                    robot: Vec::new(),
                });
            }
        }
        Ok(toured)
    }

    /// Where the tour stops.
    fn stops(
        &self,
        world: &World,
        base_from_camera: &Isometry3<f64>,
        rng: &mut impl Rng,
    ) -> Result<Vec<Stop>, String> {
        let survey = world.survey(RESOLUTION).ok_or("the scene is no room")?;
        let survey = survey.map_err(|error| error.to_string())?;
        let inflation = Inflation {
            inscribed_radius: self.footprint.inscribed_radius(),
            inflation_radius: self.footprint.circumscribed_radius() + 0.3,
            cost_scaling_factor: 4.0,
        };
        let intrinsics = wrist_camera_intrinsics();
        let params = TourParams {
            camera: [base_from_camera.translation.x, base_from_camera.translation.y],
            camera_yaw: self.facing,
            field_of_view: 2.0 * (intrinsics.width as f64 / (2.0 * intrinsics.fx)).atan(),
            ..TourParams::default()
        };
        let start = world.base_pose().ok_or("the robot does not drive")?;
        let poses = plan(&Costmap::new(&survey, inflation), &self.footprint, &start, &params)
            .map_err(|error| error.to_string())?;
        let spec = world.scene().scene.room.as_ref().ok_or("the scene is no room")?.localisation;
        let stops = poses.into_iter().map(|goal| {
            let mut within = |most: f64| rng.random_range(-most..=most);
            let truly =
                Pose2::new(goal.x + within(BESIDE.0), goal.y + within(BESIDE.0), goal.yaw + within(BESIDE.1));
            let believed = Pose2::new(
                truly.x + spec.sigma_xy * normal(rng),
                truly.y + spec.sigma_xy * normal(rng),
                truly.yaw + spec.sigma_yaw * normal(rng),
            );
            Stop { truly, believed }
        });
        Ok(stops.collect())
    }
}

/// A normal number, by the sum of twelve even ones.
fn normal(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

impl Toured {
    /// The map of the tour.
    ///
    /// Errors: in words, when a frame is not taken.
    pub fn map(&self, settings: RoomSettings) -> Result<ObjectMap, String> {
        let mut builder = RoomBuilder::new("map", settings);
        for (number, frame) in self.frames.iter().enumerate() {
            builder.update(frame, None, number == 0).map_err(|error| error.to_string())?;
        }
        Ok(builder.map().clone())
    }

    /// Holds a map against the room.
    pub fn judge(&self, map: &ObjectMap) -> Found {
        let mut owned: Vec<Vec<(String, f64)>> = vec![Vec::new(); self.truth.len()];
        let mut named = vec![false; self.truth.len()];
        let mut found = Found {
            figures: Figures { rooms: 1, ..Figures::default() },
            fates: Vec::new(),
            extra: Vec::new(),
            stops: self.stops,
        };
        let is_asked = |thing: &ObjectTruth| self.seen.get(&thing.name).is_some_and(|most| *most >= SEEN);
        for object in &map.objects {
            let owner = self.owner(object);
            let thing = owner.map(|owner| &self.truth[owner]);
            match owner.filter(|owner| is_asked(&self.truth[*owner])) {
                Some(owner) => {
                    let middle = object.bounds.pose.translation.vector;
                    let off = middle - Vector3::from(self.truth[owner].position);
                    // Of a drawer that is shut only the front is seen, and its row tells it from the others.
                    let is_panel = furniture::is_panel(&self.truth[owner].class);
                    owned[owner]
                        .push((object.key.0.clone(), if is_panel { off.z.abs() } else { off.norm() }));
                    named[owner] |= object.class_name == self.truth[owner].class;
                }
                None => {
                    let name = thing.map_or_else(String::new, |thing| thing.name.clone());
                    found.extra.push((object.key.0.clone(), name));
                }
            }
        }
        let figures = &mut found.figures;
        for ((thing, objects), named) in self.truth.iter().zip(owned).zip(named) {
            if !is_asked(thing) {
                continue;
            }
            let is_panel = furniture::is_panel(&thing.class);
            let most = match 2.0 * Vector3::from(thing.half_extents).norm() <= HANDY {
                _ if is_panel => thing.half_extents[2],
                true => PLACED,
                false => f64::INFINITY,
            };
            let placed = matches!(objects.as_slice(), [(_, off)] if *off <= most);
            figures.things += 1;
            figures.missing += usize::from(objects.is_empty());
            figures.twice += usize::from(objects.len() > 1);
            figures.right += usize::from(placed && named);
            figures.misnamed += usize::from(placed && !named);
            figures.panels += usize::from(is_panel);
            figures.panels_right += usize::from(is_panel && placed && named);
            found.fates.push(Fate {
                name: thing.name.clone(),
                class: thing.class.clone(),
                pixels: self.seen.get(&thing.name).copied().unwrap_or(0),
                objects,
                named,
                placed,
            });
        }
        figures.extra = found.extra.len();
        figures.whole = usize::from(figures.right == figures.things && figures.extra == 0);
        found
    }

    /// The thing that most points of an object are nearest to.
    fn owner(&self, object: &Object) -> Option<usize> {
        let points = &object.cloud.points;
        let step = points.len().div_ceil(POINTS).max(1);
        let mut votes = vec![0_usize; self.truth.len()];
        let mut nowhere = 0;
        for point in points.iter().step_by(step) {
            match self.nearest(point) {
                Some(thing) => votes[thing] += 1,
                None => nowhere += 1,
            }
        }
        let (thing, most) = votes.into_iter().enumerate().max_by_key(|(_, votes)| *votes)?;
        (most > nowhere).then_some(thing)
    }

    fn nearest(&self, point: &Point3<f64>) -> Option<usize> {
        let mut best: Option<(f64, f64, usize)> = None;
        for (number, thing) in self.truth.iter().enumerate() {
            let half = Vector3::from(thing.half_extents);
            let local = pose_of(thing).inverse_transform_point(point);
            let beyond = (local.coords.abs() - half).map(|value| value.max(0.0)).norm();
            let volume = half.product();
            let is_better = best.is_none_or(|(least, of, _)| {
                beyond < least - SAME || ((beyond - least).abs() <= SAME && volume < of)
            });
            if is_better {
                best = Some((beyond, volume, number));
            }
        }
        best.filter(|(beyond, ..)| *beyond <= NOWHERE).map(|(.., number)| number)
    }
}

fn pose_of(thing: &ObjectTruth) -> Isometry3<f64> {
    let [x, y, z, w] = thing.orientation;
    let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
    Isometry3::from_parts(Translation3::from(Vector3::from(thing.position)), turn)
}

#[cfg(test)]
mod tests;
