//! Building and keeping the object map (ASP III-A, IV-A).

mod associate;
mod existence;
mod furniture;
mod gone;
mod join;
mod known;
pub(crate) mod object;
pub(crate) mod parts;
mod smooth;
mod stand;
mod take;
mod tentative;
mod touching;

#[cfg(test)]
mod key_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod tests;

use crate::hypothesis::{Hypothesis, HypothesisSettings, Skipped, claimed, hypotheses};
use crate::segment::{LeftOut, Scene, SegmentSettings, segment, uncut_as_drawn};
use crate::traits::WordEmbedder;
use crate::{Embedder, Instance, Keyframe, KeyframeError, names};
use known::{Known, Track};
use nalgebra::{Point3, Unit, Vector3};
use prehend_geometry::plane::Plane;
use prehend_scene::merge::MergeRule;
use prehend_scene::{Object, ObjectKey, ObjectMap};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use associate::AssociationSettings;
pub use existence::ExistenceSettings;
pub use furniture::{BankSettings, FurnitureSettings, OutlineSettings, RowSettings};
pub use gone::{LeavingSettings, Visibility};
pub use join::JoiningSettings;
pub use object::ObjectSettings;
pub use parts::PartSettings;
pub use smooth::SmoothingSettings;
pub use stand::StandSettings;
pub use tentative::TentativeSettings;
pub use touching::TouchingSettings;

/// Fewest points a usable frame has in the region of the map.
const MIN_POINTS: usize = 200;

/// Everything that decides how frames become objects. A file may leave out fields; they are as in the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MapSettings {
    /// Cutting a frame into support and clusters.
    pub segment: SegmentSettings,
    /// From masks and clusters to things.
    pub hypothesis: HypothesisSettings,
    /// Merging with what is known.
    pub merge: MergeRule,
    /// What the masks of a frame are worth.
    pub masks: MaskUse,
    /// Standard deviation of depth that the points of things are smoothed to, metres: the mean of as many pixels of one surface as the
    /// sensor's noise there calls for. `None` leaves them as they were measured.
    pub still: Option<f64>,
    /// How that is done.
    pub smoothing: SmoothingSettings,
    /// From the pixels of a thing to an object.
    pub object: ObjectSettings,
    /// Which thing of a frame is which known object.
    pub association: AssociationSettings,
    /// Telling things that touch apart.
    pub touching: TouchingSettings,
    /// What a thing waits for that lies in the surface of a known object.
    pub tentative: TentativeSettings,
    /// Seeing that an object is none.
    pub existence: ExistenceSettings,
    /// Seeing that objects are gone.
    pub leaving: LeavingSettings,
    /// Joining known objects.
    pub joining: JoiningSettings,
    /// Drawers and doors from frame to frame.
    pub furniture: FurnitureSettings,
    /// From boxes down to what things stand on.
    pub stand: StandSettings,
    /// Parts that a part detector names.
    pub parts: PartSettings,
}

/// An eighth of the height from which on something is a thing, metres.
const STILL: f64 = 0.000_75;

/// What the masks of a frame are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskUse {
    /// Geometry cuts them where it says two things, joins them where it says one, and finds what has none.
    #[default]
    Checked,
    /// Each is a thing as it was drawn, and nothing else is (ConceptGraphs, Gu et al. 2023, III-A): for segmenters that are better than
    /// geometry, and the fastest. No support is looked for.
    AsDrawn,
}

/// How what stands on the support is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// Into surfaces, those of one thing joined by learned decisions: for real sensors and things that touch.
    #[default]
    Surfaces,
    /// Clusters of voxels (DBSCAN): faster, for things that stand apart.
    Voxels,
}

impl Cut {
    /// Both, as they are called in files and on the command line.
    pub const ALL: [(&'static str, Self); 2] = [("surfaces", Self::Surfaces), ("voxels", Self::Voxels)];
}

impl MapSettings {
    /// Settings for frames of real cameras that hang on no robot of ours.
    pub fn recorded() -> Self {
        Self::on_robot(Cut::Surfaces).anywhere()
    }

    /// The same for things that may be anywhere around the camera.
    pub fn anywhere(self) -> Self {
        Self { segment: self.segment.anywhere(), ..self }
    }

    /// Settings for the camera of a robot, for what is within its reach.
    pub fn on_robot(cut: Cut) -> Self {
        match cut {
            Cut::Voxels => Self::default(),
            Cut::Surfaces => Self {
                segment: SegmentSettings::by_surfaces(),
                // Which surfaces are of one thing is settled before.
                hypothesis: HypothesisSettings { join_nameless: false, ..HypothesisSettings::default() },
                still: Some(STILL),
                ..Self::default()
            },
        }
    }
}

/// The part of the robot that can hold things, when the frame was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Tool centre point, map frame.
    pub position: Point3<f64>,
    /// Things within this distance that touch nothing below are held and not on the map, metres.
    pub radius: f64,
    /// What the gripper closed on, when that is known: nothing else has left its place for the hand.
    pub holds: Option<ObjectKey>,
}

/// What one keyframe changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateReport {
    /// Keys of objects seen for the first time.
    pub added: Vec<ObjectKey>,
    /// Keys of known objects that were seen again in their place.
    pub merged: Vec<ObjectKey>,
    /// Keys of known objects that were found in another place.
    pub moved: Vec<ObjectKey>,
    /// Keys that are no longer on the map: the place was seen to be empty, or the object is part of another now.
    pub removed: Vec<ObjectKey>,
    /// Objects of the map that turned out to be one: the key that is lost, which is among `removed` too, and the older one, which stays.
    pub joined: Vec<(ObjectKey, ObjectKey)>,
    /// What was not used.
    pub skipped: Skipped,
    /// Things left out because the gripper holds them or they are part of the robot.
    pub held: usize,
    /// Parts that a part detector named and that lie on no object of the frame.
    pub homeless_parts: usize,
    /// What stands out of the support and became no thing; empty where frames are not cut by surfaces.
    pub left_out: Vec<LeftOut>,
}

/// The object map with what is needed to update it.
pub struct MapBuilder {
    map: ObjectMap,
    /// What is known of the map's objects beside the map, in their order.
    tracks: Vec<Track>,
    settings: MapSettings,
    embedder: Box<dyn Embedder + Send + Sync>,
    /// What is known of drawers that belong together.
    banks: furniture::bank::Banks,
    /// Next number per class, so that no key is given twice.
    numbers: BTreeMap<String, u32>,
    /// Whether the last frame showed something in the gripper: only the first such frame tells what was taken.
    was_holding: bool,
    /// Objects that were last seen in the gripper; they keep their keys when they are put down.
    in_hand: Vec<Known>,
    /// Frames since the hand let go of them.
    let_go: u32,
    /// Objects whose places were seen to be empty and that were not seen elsewhere; they keep their keys when they turn up.
    lost: Vec<Known>,
    /// Things that are not on the map yet.
    tentative: tentative::Tentative,
    /// Keys given so far.
    ages: u64,
    /// Updates so far.
    updates: u64,
}

impl std::fmt::Debug for MapBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MapBuilder")
            .field("map", &self.map)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl MapBuilder {
    /// An empty map in `frame` with the default embedder (words and colours, no weights).
    pub fn new(frame: &str, settings: MapSettings) -> Self {
        Self::with_embedder(frame, settings, Box::new(WordEmbedder))
    }

    /// An empty map with another embedder.
    pub fn with_embedder(
        frame: &str,
        settings: MapSettings,
        embedder: Box<dyn Embedder + Send + Sync>,
    ) -> Self {
        let map = ObjectMap { frame: frame.to_owned(), ..ObjectMap::default() };
        Self {
            map,
            tracks: Vec::new(),
            banks: furniture::bank::Banks::new(settings.furniture.bank),
            settings,
            embedder,
            numbers: BTreeMap::new(),
            in_hand: Vec::new(),
            let_go: 0,
            lost: Vec::new(),
            tentative: tentative::Tentative::default(),
            was_holding: false,
            ages: 0,
            updates: 0,
        }
    }

    /// The map as it is.
    pub fn map(&self) -> &ObjectMap {
        &self.map
    }

    /// Makes the next map newer than this version, so that versions do not go back when a process is started again.
    pub fn continue_from(&mut self, version: u64) {
        self.map.version = self.map.version.max(version);
    }

    /// Forgets every object and the support: the robot stands somewhere else. Keys are not given again, and what was in the
    /// gripper keeps its key.
    pub fn forget(&mut self) {
        self.map.objects.clear();
        self.tracks.clear();
        self.lost.clear();
        self.tentative.forget();
        self.banks.forget();
        self.map.support_plane = None;
        self.map.version += 1;
    }

    /// Gives this key to no new object: something that is not on the map has it.
    pub fn reserve(&mut self, key: &ObjectKey) {
        let Some((base, number)) = key.0.rsplit_once('_') else { return };
        if let Ok(number) = number.parse::<u32>() {
            let next = self.numbers.entry(base.to_owned()).or_insert(0);
            *next = (*next).max(number.saturating_add(1));
        }
    }

    /// Adds what is known of an object's names from elsewhere to what its views say.
    pub fn add_names(&mut self, key: &ObjectKey, votes: Vec<(String, f64)>) {
        let objects = self.map.objects.iter_mut().zip(&mut self.tracks);
        if let Some((object, track)) = { objects }.find(|(object, _)| object.key == *key) {
            keep_names(object, votes);
            track.changed = self.updates;
        }
    }

    /// Takes a keyframe into the map. With `reset`, what was known is forgotten; only the keys of objects that are recognised
    /// stay. `tool` tells where the gripper was; `seed` drives the plane search, so equal frames give equal maps.
    ///
    /// Errors: [`KeyframeError`]; the map is then unchanged.
    pub fn update(
        &mut self,
        frame: &Keyframe,
        tool: Option<&Tool>,
        reset: bool,
        seed: u64,
    ) -> Result<UpdateReport, KeyframeError> {
        self.update_named(frame, &[], tool, reset, seed)
    }

    /// As [`MapBuilder::update`]; each of the `boxes` that has no mask names the thing it fits best.
    ///
    /// Errors: [`KeyframeError`]; the map is then unchanged.
    pub fn update_named(
        &mut self,
        frame: &Keyframe,
        boxes: &[Instance],
        tool: Option<&Tool>,
        reset: bool,
        seed: u64,
    ) -> Result<UpdateReport, KeyframeError> {
        frame.validate()?;
        let known_plane = self.map.support_plane.and_then(|[a, b, c, d]| {
            Some(Plane { normal: Unit::try_new(Vector3::new(a, b, c), 1e-9)?, offset: d })
        });
        let settings = MapSettings { segment: self.settings.segment.for_frame(frame), ..self.settings };
        let scene = match settings.masks {
            MaskUse::Checked => segment(frame, &settings.segment, known_plane, seed),
            MaskUse::AsDrawn => uncut_as_drawn(frame, &settings.segment, MIN_POINTS),
        };
        if scene.grid.points.iter().flatten().take(MIN_POINTS).count() < MIN_POINTS {
            return Err(KeyframeError::Empty);
        }
        let found = match settings.masks {
            MaskUse::Checked => hypotheses(frame, &scene, &settings.hypothesis),
            MaskUse::AsDrawn => {
                let mut skipped = Skipped::default();
                (claimed(frame, &settings.hypothesis, &mut skipped), skipped)
            }
        };
        let pixels = found.0.iter().map(|thing| thing.pixels.as_slice());
        let left_out = settings.segment.surfaces.map_or_else(Vec::new, |_| scene.left_out_beside(pixels));
        let report = self.take(frame, &scene, found, boxes, tool, reset)?;
        Ok(UpdateReport { left_out, ..report })
    }

    /// Takes a frame that was cut into things already, by [`segment`] and [`hypotheses`], into the map; the rest is as in
    /// [`MapBuilder::update_named`]. The frame must be valid and the scene its own.
    ///
    /// Errors: [`KeyframeError::Model`]; the map is then unchanged.
    pub fn take(
        &mut self,
        frame: &Keyframe,
        scene: &Scene,
        (found, skipped): (Vec<Hypothesis>, Skipped),
        boxes: &[Instance],
        tool: Option<&Tool>,
        reset: bool,
    ) -> Result<UpdateReport, KeyframeError> {
        let settings = MapSettings { segment: self.settings.segment.for_frame(frame), ..self.settings };
        let mut report = UpdateReport { skipped, ..UpdateReport::default() };
        let drawn = object::Drawn::new(&frame.labels);
        let names = names::of_hypotheses(boxes, &found, [frame.color.width, frame.color.height]);
        // Each thing is built alone.
        let built: Vec<Option<(Object, f64)>> = found
            .par_iter()
            .zip(&names)
            .map(|(hypothesis, names)| {
                let mut object = object::build(frame, scene, &drawn, hypothesis, &settings)?;
                names::vote(&mut object, hypothesis.pixels.len(), names, &settings.object);
                let weight =
                    object::view_weight(hypothesis.pixels.len(), object.touches_border, &settings.object);
                Some((object, weight))
            })
            .collect();
        let (objects, weights): (Vec<Object>, Vec<f64>) = built.into_iter().flatten().unzip();
        let features = self.embedder.embed(&objects)?;
        self.updates += 1;
        let (mut seen, mut held): (Vec<Known>, Vec<Object>) = (Vec::new(), Vec::new());
        for ((mut object, weight), features) in objects.into_iter().zip(weights).zip(features) {
            object.features = features;
            if tool.is_some_and(|tool| is_held(&object, tool, scene, &seen, &settings.association)) {
                held.push(object);
            } else {
                seen.push(Known::seen(object, weight, &settings.merge, self.updates));
            }
        }
        report.held = held.len();
        let objects = std::mem::take(&mut self.map.objects);
        let tracks = std::mem::take(&mut self.tracks);
        let old = objects.into_iter().zip(tracks).map(|(object, track)| Known { object, track }).collect();
        let holds = tool.and_then(|tool| tool.holds.as_ref());
        let sights = Sights { seen, held, holds, frame, scene, sigma: settings.segment.depth_sigma };
        let next = self.associate(old, sights, reset, &mut report);
        (self.map.objects, self.tracks) = next.into_iter().map(|known| (known.object, known.track)).unzip();
        report.homeless_parts = parts::observe(frame, scene, &mut self.map.objects, &settings.parts);
        if let Some(plane) = scene.plane {
            self.map.support_plane = Some(plane.coefficients());
            let camera = Point3::from(frame.map_from_camera.translation.vector);
            // Where things are cut by surfaces, pixels below this are of none of them; the next higher one is up to a voxel away.
            let SegmentSettings { min_height, noise, depth_sigma, leaf, surfaces, .. } = settings.segment;
            let foot =
                |away: f64| surfaces.map_or(0.0, |_| min_height + noise * depth_sigma * away * away + leaf);
            stand::stand(&mut self.map.objects, &camera, &plane, frame.stamp, &settings.stand, foot);
        }
        self.map.stamp = frame.stamp;
        self.map.version += 1;
        Ok(report)
    }

    fn fresh_key(&mut self, class_name: &str) -> ObjectKey {
        let base = if class_name.is_empty() { "object".to_owned() } else { class_name.replace(' ', "_") };
        let number = self.numbers.entry(base.clone()).or_insert(0);
        let key = ObjectKey(format!("{base}_{number}"));
        *number += 1;
        key
    }
}

/// What one frame shows.
struct Sights<'a> {
    seen: Vec<Known>,
    held: Vec<Object>,
    /// What the gripper is known to have closed on.
    holds: Option<&'a ObjectKey>,
    frame: &'a Keyframe,
    scene: &'a Scene,
    /// Standard deviation of depth at 1 m, metres.
    sigma: f64,
}

/// A moved object is still what it was called before.
fn keep_names(object: &mut Object, votes: Vec<(String, f64)>) {
    for (name, weight) in votes {
        prehend_scene::merge::add_vote(&mut object.class_votes, &name, weight);
    }
    prehend_scene::merge::settle_class(object);
}

/// Whether a thing hangs at the tool: near it, with nothing of the table or of another thing right below.
fn is_held(
    object: &Object,
    tool: &Tool,
    scene: &Scene,
    others: &[Known],
    settings: &AssociationSettings,
) -> bool {
    let near = object.cloud.points.iter().any(|p| (p - tool.position).norm() <= tool.radius);
    if !near {
        return false;
    }
    let bottom = object.bounds.pose.translation.z - object.bounds.size.z / 2.0;
    let center = object.bounds.pose.translation.vector;
    let clear = scene.height(&Point3::new(center.x, center.y, bottom));
    let on_other = others.iter().any(|Known { object: other, .. }| {
        let lifted = Point3::new(center.x, center.y, other.bounds.pose.translation.z);
        other.bounds.contains(&lifted, 0.0) && (bottom - other.bounds.top()).abs() < settings.rests
    });
    clear > settings.hangs && !on_other
}
