//! The map of a room: named things from the stops of a tour, merged across keyframes (ASP III-D, IV-A).
//!
//! From metres away there is no single support to see and no fine shape. So each mask of a detector is a thing. Sightings from
//! several stops are joined by place and looks, with room for errors of localisation. This map need not be exact: whatever the robot
//! touches is mapped anew from near by (redetection). No tool ever removes anything from this map.

use crate::hypothesis::{Hypothesis, HypothesisSettings, claimed};
use crate::map::{MapSettings, PartSettings, Tool, UpdateReport, object, parts};
use crate::segment::{Scene, SegmentSettings, uncut};
use crate::traits::WordEmbedder;
use crate::{Embedder, Keyframe, KeyframeError};
use prehend_geometry::dbscan::clusters;
use prehend_geometry::voxel::{VoxelMap, downsample, overlap_ratio, voxel_of};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::merge::{MergeRule, merge_into, semantic_similarity};
use prehend_scene::{Object, ObjectKey, ObjectMap, ROOM_PREFIX, furniture};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How a room's things are found and joined. A file may leave out fields; they are as in the default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoomSettings {
    /// Depth beyond which nothing counts, metres.
    pub max_depth: f64,
    /// Fewest points of a thing.
    pub min_points: usize,
    /// Distance over which the points of one mask are one thing, metres.
    pub radius: f64,
    /// Error of localisation that two sightings of one thing are allowed, metres.
    pub drift: f64,
    /// Voxel edge in which the points of a mask are grouped, metres.
    pub leaf: f64,
    /// A thing with more pixels than this is large: its cloud is kept with coarser voxels, because furniture has many points.
    pub large: usize,
    /// From this many frames of one stop on, a thing that only one of them shows is an error of the detector and is dropped.
    pub sure: u32,
    /// Two things of one name are one if their middles are nearer to each other than this share of the larger one's size.
    pub same: f64,
    /// Two panels of one name are different ones, one above the other, if their middles differ in height by more than this share of
    /// the taller one's height.
    pub row: f64,
    /// Extra distance, metres, that is allowed between two sightings of one name which no frame ever showed beside each other. If they
    /// were two things so near to each other, some frame would have shown both.
    pub alone: f64,
    /// A thing larger than this, metres, shares its place with no other. What is seen there is the same thing, whatever its name.
    pub bulky: f64,
    /// Such a sighting is of the known thing if more than this share of its points lies on the known one.
    pub covered: f64,
    /// Extra distance that is allowed between two sightings of one thing, for each metre beyond the first between camera and thing.
    /// It is an angle in radians: the heading of the base is known to about half a degree, and this is a little more.
    pub heading: f64,
    /// What is smaller than this, metres, and was seen whole by `sure` views, is no piece of something that is much larger: a mask over a
    /// table with a cup on it may be called cup.
    pub handy: f64,
    /// The factor from which something is so much larger.
    pub outgrown: f64,
    /// A thing stands on another only if its size is less than this share of the other's.
    pub carried: f64,
    /// A thing stands on another only if its underside is at most this far below the other's top, metres.
    pub rests_below: f64,
    /// And only if its top is more than this above it, metres.
    pub rests_above: f64,
    /// Merging of clouds and views.
    pub merge: MergeRule,
    /// Parts that a part detector names.
    pub parts: PartSettings,
}

impl Default for RoomSettings {
    fn default() -> Self {
        Self {
            max_depth: 4.0,
            min_points: 15,
            radius: 0.04,
            drift: 0.06,
            leaf: 0.012,
            large: 3000,
            sure: 3,
            same: 0.4,
            row: 0.6,
            alone: 0.05,
            bulky: 0.4,
            covered: 0.6,
            heading: 0.012,
            handy: 0.35,
            outgrown: 3.0,
            carried: 0.6,
            rests_below: 0.03,
            rests_above: 0.012,
            merge: MergeRule { leaf: 0.006, ..MergeRule::default() },
            parts: PartSettings::default(),
        }
    }
}

/// The room map with what is needed to add to it.
pub struct RoomBuilder {
    map: ObjectMap,
    settings: RoomSettings,
    embedder: Box<dyn Embedder + Send + Sync>,
    numbers: BTreeMap<String, u32>,
    /// The stop of the newest frame, and how many frames were taken there.
    stop: (String, u32),
    /// Things that one frame showed beside each other, in the order of their keys: whatever they are called, they are two.
    beside: BTreeSet<(ObjectKey, ObjectKey)>,
}

impl std::fmt::Debug for RoomBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RoomBuilder").field("map", &self.map).finish_non_exhaustive()
    }
}

impl RoomBuilder {
    /// An empty map in `frame` with the default embedder.
    pub fn new(frame: &str, settings: RoomSettings) -> Self {
        Self::with_embedder(frame, settings, Box::new(WordEmbedder))
    }

    /// An empty map with another embedder.
    pub fn with_embedder(
        frame: &str,
        settings: RoomSettings,
        embedder: Box<dyn Embedder + Send + Sync>,
    ) -> Self {
        let map = ObjectMap { frame: frame.to_owned(), ..ObjectMap::default() };
        Self {
            map,
            settings,
            embedder,
            numbers: BTreeMap::new(),
            stop: Default::default(),
            beside: BTreeSet::new(),
        }
    }

    /// The map as it is.
    pub fn map(&self) -> &ObjectMap {
        &self.map
    }

    /// Makes the next map newer than this version.
    pub fn continue_from(&mut self, version: u64) {
        self.map.version = self.map.version.max(version);
    }

    /// Takes a keyframe whose poses are in the map's frame. `reset` forgets what was known. What hangs at `tool` is left out.
    ///
    /// Errors: [`KeyframeError`]; the map is then unchanged.
    pub fn update(
        &mut self,
        frame: &Keyframe,
        tool: Option<&Tool>,
        reset: bool,
    ) -> Result<UpdateReport, KeyframeError> {
        frame.validate()?;
        let scene = self.scene(frame);
        let mut report = UpdateReport::default();
        let mut seen = Vec::new();
        let drawn = object::Drawn::new(&frame.labels);
        for hypothesis in claimed(frame, &HypothesisSettings::default(), &mut report.skipped) {
            let Some(object) = self.thing(frame, &scene, &drawn, hypothesis) else {
                report.skipped.without_points += 1;
                continue;
            };
            if tool.is_some_and(|tool| is_held(&object, tool)) {
                report.held += 1;
                continue;
            }
            seen.push(object);
        }
        for (object, features) in self.embedder.embed(&seen)?.into_iter().enumerate() {
            seen[object].features = features;
        }
        if reset {
            self.map.objects.clear();
            self.beside.clear();
        }
        self.begin_frame(&frame.view);
        self.join(seen, &mut report);
        self.absorb(&mut report);
        self.drop_doubtful(&mut report);
        report.homeless_parts = parts::observe(frame, &scene, &mut self.map.objects, &self.settings.parts);
        self.map.stamp = frame.stamp;
        self.map.version += 1;
        Ok(report)
    }

    /// Counts the frames of a stop.
    fn begin_frame(&mut self, view: &str) {
        if self.stop.0 != view {
            self.stop = (view.to_owned(), 0);
        }
        self.stop.1 += 1;
    }

    /// Drops what only one frame of this stop showed, once there are enough frames: it was an error of the detector.
    fn drop_doubtful(&mut self, report: &mut UpdateReport) {
        if self.stop.1 >= self.settings.sure {
            self.map.objects.retain(|object| object.view_count > 1);
            report.added.retain(|key| self.map.objects.iter().any(|object| object.key == *key));
        }
    }

    /// Joins things of one name in one place. They are the halves of a split mask, or one thing that was seen twice: in a slightly
    /// different place, or first under another name.
    fn absorb(&mut self, report: &mut UpdateReport) {
        let mut place = 0;
        while place < self.map.objects.len() {
            let settings = &self.settings;
            let one = &self.map.objects[place];
            let twin = (place + 1..self.map.objects.len()).find(|other| {
                let other = &self.map.objects[*other];
                let (a, b) = (&one.bounds, &other.bounds);
                let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
                one.class_name == other.class_name
                    && (apart < settings.same * a.size.norm().max(b.size.norm())
                        || apart <= self.reach(one, other) + settings.alone
                            && !self.beside.contains(&in_order(one, other)))
                    && !carries(a, b, settings)
                    && !in_other_rows(one, other, settings)
                    && !outgrows(one, other, settings)
            });
            match twin {
                Some(twin) => {
                    let other = self.map.objects.remove(twin);
                    report.added.retain(|key| *key != other.key);
                    self.rename(&other.key, &self.map.objects[place].key.clone());
                    merge_into(&mut self.map.objects[place], other, &self.settings.merge);
                }
                None => place += 1,
            }
        }
    }

    /// The frame's points without the robot's own; no support, no clusters.
    fn scene(&self, frame: &Keyframe) -> Scene {
        uncut(frame, &SegmentSettings { max_depth: self.settings.max_depth, ..SegmentSettings::recorded() })
    }

    /// The thing of one mask: the largest group of its points. A mask that runs over an edge then takes nothing of the background.
    fn thing(
        &self,
        frame: &Keyframe,
        scene: &Scene,
        drawn: &object::Drawn,
        mut hypothesis: Hypothesis,
    ) -> Option<Object> {
        let settings = &self.settings;
        let leaf = settings.leaf;
        let point = |index: &usize| scene.grid.points[*index];
        let cloud = PointCloud::from_points(hypothesis.pixels.iter().filter_map(point).collect());
        let centroids = downsample(&cloud, leaf).points;
        let groups = clusters(&centroids, settings.radius, 1);
        let of_largest = groups.first()?.iter().map(|index| (voxel_of(&centroids[*index], leaf), ()));
        let largest: VoxelMap<()> = of_largest.collect();
        hypothesis
            .pixels
            .retain(|index| point(index).is_some_and(|point| largest.contains_key(&voxel_of(&point, leaf))));
        if hypothesis.pixels.len() < settings.min_points {
            return None;
        }
        let coarse = MapSettings {
            segment: SegmentSettings {
                // Large things are kept more coarsely: furniture has many points.
                leaf: if hypothesis.pixels.len() > settings.large { leaf } else { leaf / 3.0 },
                radius: settings.radius,
                min_neighbours: 2,
                min_voxels: settings.min_points / 2,
                ..SegmentSettings::default()
            },
            merge: settings.merge,
            ..MapSettings::default()
        };
        object::build(frame, scene, drawn, &hypothesis, &coarse)
    }

    /// Joins the things of a frame with known ones, nearest first, one to one.
    fn join(&mut self, seen: Vec<Object>, report: &mut UpdateReport) {
        let mut scored: Vec<(f64, usize, usize)> = Vec::new();
        for (number, object) in seen.iter().enumerate() {
            for (place, known) in self.map.objects.iter().enumerate() {
                if let Some(score) = self.alike(known, object) {
                    scored.push((score, number, place));
                }
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut pairs = vec![None; seen.len()];
        let mut taken = vec![false; self.map.objects.len()];
        for (_, number, place) in scored {
            if pairs[number].is_none() && !taken[place] {
                pairs[number] = Some(place);
                taken[place] = true;
            }
        }
        let mut new = Vec::new();
        let before = report.merged.len();
        for (object, pair) in seen.into_iter().zip(pairs) {
            match pair {
                Some(place) => {
                    let known = &mut self.map.objects[place];
                    report.merged.push(known.key.clone());
                    merge_into(known, object, &self.settings.merge);
                }
                None => new.push(object),
            }
        }
        for mut object in new {
            object.key = self.fresh_key(&object.class_name);
            report.added.push(object.key.clone());
            self.map.objects.push(object);
        }
        let shown: Vec<&ObjectKey> = report.merged[before..].iter().chain(&report.added).collect();
        let pairs = shown.iter().enumerate().flat_map(|(i, a)| shown[..i].iter().map(move |b| (*a, *b)));
        self.beside.extend(pairs.map(|(a, b)| (a.min(b).clone(), a.max(b).clone())));
    }

    /// Two things were joined: whatever stood beside `old` now stands beside `new`.
    fn rename(&mut self, old: &ObjectKey, new: &ObjectKey) {
        let now = |key: ObjectKey| if key == *old { new.clone() } else { key };
        let pairs = std::mem::take(&mut self.beside).into_iter().map(|(a, b)| (now(a), now(b)));
        self.beside =
            pairs.filter(|(a, b)| a != b).map(|(a, b)| (a.clone().min(b.clone()), a.max(b))).collect();
    }

    /// How far apart two sightings of one name may be and yet be of one thing, metres.
    fn reach(&self, a: &Object, b: &Object) -> f64 {
        // Another side of a large thing has another middle.
        let size = a.bounds.size.norm().min(b.bounds.size.norm());
        self.settings.drift + self.settings.heading * (beyond(a) + beyond(b)) + 0.35 * size
    }

    /// How well two sightings agree, from 0 to 2; `None` if they are two things. Two sightings of one name may be farther apart than two of
    /// different names.
    fn alike(&self, known: &Object, seen: &Object) -> Option<f64> {
        let settings = &self.settings;
        let drift = settings.drift;
        let (a, b) = (&known.bounds, &seen.bounds);
        if carries(a, b, settings) || in_other_rows(known, seen, settings) || outgrows(known, seen, settings)
        {
            return None;
        }
        let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
        let size = a.size.norm().min(b.size.norm());
        let same_name = known.class_name == seen.class_name;
        let similar = semantic_similarity(&known.features, &seen.features);
        let reach = match same_name {
            true => self.reach(known, seen),
            false => (drift / 2.0).max(0.15 * size),
        };
        let overlap = overlap(a, b);
        // A detector may call a table by another name for once. Where a table is known, there is no other large thing.
        let covered = || overlap_ratio(&seen.cloud.points, &known.cloud.points, drift) > settings.covered;
        let is_one = apart <= reach
            || (same_name && overlap > 0.3)
            || (!same_name && size > settings.bulky && covered());
        (is_one && similar > 0.35).then(|| (1.0 - apart / (reach + 1.0)) + similar.max(overlap))
    }

    fn fresh_key(&mut self, class_name: &str) -> ObjectKey {
        let base = if class_name.is_empty() { "object".to_owned() } else { class_name.replace(' ', "_") };
        let number = self.numbers.entry(base.clone()).or_insert(0);
        let key = ObjectKey(format!("{ROOM_PREFIX}{base}_{number}"));
        *number += 1;
        key
    }
}

/// The keys of two things, the lesser first.
fn in_order(a: &Object, b: &Object) -> (ObjectKey, ObjectKey) {
    (a.key.clone().min(b.key.clone()), a.key.clone().max(b.key.clone()))
}

/// The least distance from which a thing was seen, less one metre; at least 0, and 0 if it is not known. Metres.
fn beyond(object: &Object) -> f64 {
    let middle = object.bounds.pose.translation.vector;
    let nearest = object
        .crops
        .iter()
        .map(|crop| (crop.map_from_camera.translation.vector - middle).norm())
        .fold(f64::INFINITY, f64::min);
    if nearest.is_finite() { (nearest - 1.0).max(0.0) } else { 0.0 }
}

/// Share of the smaller of two boxes, taken along the axes of the map, that lies in the other.
fn overlap(a: &OrientedBox, b: &OrientedBox) -> f64 {
    let hull = |bounds: &OrientedBox| {
        let rotation = bounds.pose.rotation.to_rotation_matrix();
        let half = rotation.matrix().abs() * bounds.size / 2.0;
        let centre = bounds.pose.translation.vector;
        (centre - half, centre + half)
    };
    let ((a0, a1), (b0, b1)) = (hull(a), hull(b));
    let both: f64 = (0..3).map(|i| (a1[i].min(b1[i]) - a0[i].max(b0[i])).max(0.0)).product();
    let least = (a1 - a0).product().min((b1 - b0).product());
    if least > 1e-9 { both / least } else { 0.0 }
}

/// Whether one of two boxes stands on the other, so that they are two things whatever a detector calls them: much smaller, and above
/// its top.
fn carries(a: &OrientedBox, b: &OrientedBox, settings: &RoomSettings) -> bool {
    let (small, large) = if a.size.norm() < b.size.norm() { (a, b) } else { (b, a) };
    let underside = small.top() - small.size.z;
    small.size.norm() < settings.carried * large.size.norm()
        && underside > large.top() - settings.rests_below
        && small.top() > large.top() + settings.rests_above
}

/// Whether one of two is so much larger than the other, which was seen whole, that they are two whatever they are called.
fn outgrows(a: &Object, b: &Object, settings: &RoomSettings) -> bool {
    let (small, large) = if a.bounds.size.norm() < b.bounds.size.norm() { (a, b) } else { (b, a) };
    let (size, of_large) = (small.bounds.size.norm(), large.bounds.size.norm());
    size < settings.handy
        && of_large > settings.outgrown * size
        && small.view_count >= settings.sure
        && !small.touches_border
}

/// Whether two sightings are of two drawers or doors, one above the other. They are two although they are near and have one name.
fn in_other_rows(a: &Object, b: &Object, settings: &RoomSettings) -> bool {
    let apart = (a.bounds.pose.translation.z - b.bounds.pose.translation.z).abs();
    let height = a.bounds.size.z.max(b.bounds.size.z);
    furniture::is_panel(&a.class_name) && furniture::is_panel(&b.class_name) && apart > settings.row * height
}

/// Whether a thing is in the gripper: most of it is there, so that a table below the hand is not.
fn is_held(object: &Object, tool: &Tool) -> bool {
    let points = &object.cloud.points;
    let near = points.iter().filter(|p| (*p - tool.position).norm() <= 2.0 * tool.radius).count();
    near * 2 > points.len() && points.iter().any(|p| (p - tool.position).norm() <= tool.radius)
}

#[cfg(test)]
mod tests;
