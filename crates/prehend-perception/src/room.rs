//! The map of a room: named things from the stops of a tour, merged across keyframes (ASP III-D, IV-A).
//!
//! Seen from metres away there is no one support and no fine shape, so a thing is what a detector's mask holds, and things of
//! several stops are joined by where they are and what they look like, with room for errors of localisation. What is touched is
//! mapped anew from near by (redetection), so this map need not be exact. Nothing is ever taken out of it by tools.

use crate::hypothesis::{Hypothesis, HypothesisSettings, claimed};
use crate::map::{MapSettings, Tool, UpdateReport, object, parts};
use crate::segment::{Scene, SegmentSettings, uncut};
use crate::traits::WordEmbedder;
use crate::{Embedder, Keyframe, KeyframeError};
use prehend_geometry::dbscan::clusters;
use prehend_geometry::voxel::{VoxelMap, downsample, overlap_ratio, voxel_of};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::merge::{MergeRule, merge_into, semantic_similarity};
use prehend_scene::{Object, ObjectKey, ObjectMap, ROOM_PREFIX, fixture};
use std::collections::{BTreeMap, BTreeSet};

/// Voxel edge in which the points of a mask are grouped, metres.
const LEAF: f64 = 0.012;
/// Pixels from which a thing is a large one.
const LARGE: usize = 3000;

/// Frames of one stop from which on a thing that only one of them shows is none.
const SURE: u32 = 3;
/// Share of its size within which the middle of another thing of its name is its own.
const SAME: f64 = 0.4;
/// How far the middles of two sightings of one drawer are above each other at most, as a share of its height.
const ROW: f64 = 0.6;
/// How much farther apart than two sightings of one thing those of one name may be that no frame ever showed beside each other, metres:
/// two that stand so near are seen together.
const ALONE: f64 = 0.05;
/// Size from which two things do not share a place, metres, and share of one that lies on the other when they are one.
const BULKY: f64 = 0.4;
const COVERED: f64 = 0.6;
/// How much farther two sightings of one thing may be apart for each metre beyond the first from which it was seen: the base's
/// heading is known to half a degree, radians.
const HEADING: f64 = 0.012;
/// Greatest size of a thing that stands on another, as a share of the size of that one.
const CARRIED: f64 = 0.6;
/// How far below the top of what carries it the underside of a thing may be, and how far above it its own top is at least, metres.
const RESTS: [f64; 2] = [0.03, 0.012];

/// How a room's things are found and joined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoomSettings {
    /// Depth beyond which nothing counts, metres.
    pub max_depth: f64,
    /// Fewest points of a thing.
    pub min_points: usize,
    /// Distance over which the points of one mask are one thing, metres.
    pub radius: f64,
    /// Error of localisation that two sightings of one thing are allowed, metres.
    pub drift: f64,
    /// Merging of clouds and views.
    pub merge: MergeRule,
}

impl Default for RoomSettings {
    fn default() -> Self {
        Self {
            max_depth: 4.0,
            min_points: 15,
            radius: 0.04,
            drift: 0.06,
            merge: MergeRule { leaf: 0.006, ..MergeRule::default() },
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
        report.homeless_parts = parts::observe(frame, &scene, &mut self.map.objects);
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

    /// What only one of several frames of a stop showed was an error of the detector.
    fn drop_doubtful(&mut self, report: &mut UpdateReport) {
        if self.stop.1 >= SURE {
            self.map.objects.retain(|object| object.view_count > 1);
            report.added.retain(|key| self.map.objects.iter().any(|object| object.key == *key));
        }
    }

    /// Joins things of one name in one place: the halves of a mask that was split, and what was seen somewhat elsewhere or had another
    /// name at first.
    fn absorb(&mut self, report: &mut UpdateReport) {
        let mut place = 0;
        while place < self.map.objects.len() {
            let one = &self.map.objects[place];
            let twin = (place + 1..self.map.objects.len()).find(|other| {
                let other = &self.map.objects[*other];
                let (a, b) = (&one.bounds, &other.bounds);
                let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
                one.class_name == other.class_name
                    && (apart < SAME * a.size.norm().max(b.size.norm())
                        || apart <= self.reach(one, other) + ALONE
                            && !self.beside.contains(&in_order(one, other)))
                    && !carries(a, b)
                    && !in_other_rows(one, other)
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

    /// One mask's thing: its largest group of points, so that a mask that runs over an edge takes nothing of the background.
    fn thing(
        &self,
        frame: &Keyframe,
        scene: &Scene,
        drawn: &object::Drawn,
        mut hypothesis: Hypothesis,
    ) -> Option<Object> {
        let settings = &self.settings;
        let point = |index: &usize| scene.grid.points[*index];
        let cloud = PointCloud::from_points(hypothesis.pixels.iter().filter_map(point).collect());
        let centroids = downsample(&cloud, LEAF).points;
        let groups = clusters(&centroids, settings.radius, 1);
        let of_largest = groups.first()?.iter().map(|index| (voxel_of(&centroids[*index], LEAF), ()));
        let largest: VoxelMap<()> = of_largest.collect();
        hypothesis
            .pixels
            .retain(|index| point(index).is_some_and(|point| largest.contains_key(&voxel_of(&point, LEAF))));
        if hypothesis.pixels.len() < settings.min_points {
            return None;
        }
        let coarse = MapSettings {
            segment: SegmentSettings {
                // Large things are kept more coarsely: furniture has many points.
                leaf: if hypothesis.pixels.len() > LARGE { LEAF } else { LEAF / 3.0 },
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

    /// What is known of a thing that was joined with another is known of that one.
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
        self.settings.drift + HEADING * (beyond(a) + beyond(b)) + 0.35 * size
    }

    /// How well two sightings are one thing, [0, 2]; `None` when they are not. Near things count by their boxes, which grow with
    /// the drift; a thing of the same name is followed farther than one of another name.
    fn alike(&self, known: &Object, seen: &Object) -> Option<f64> {
        let drift = self.settings.drift;
        let (a, b) = (&known.bounds, &seen.bounds);
        if carries(a, b) || in_other_rows(known, seen) {
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
        // Whatever a detector calls a table for once, where one is known there is no other large thing.
        let covered = || overlap_ratio(&seen.cloud.points, &known.cloud.points, drift) > COVERED;
        let is_one =
            apart <= reach || (same_name && overlap > 0.3) || (!same_name && size > BULKY && covered());
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

/// How much more than a metre away a thing was when it was seen from nearest, metres; 0 when that is not known.
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
fn carries(a: &OrientedBox, b: &OrientedBox) -> bool {
    let (small, large) = if a.size.norm() < b.size.norm() { (a, b) } else { (b, a) };
    let underside = small.top() - small.size.z;
    let [below, above] = RESTS;
    small.size.norm() < CARRIED * large.size.norm()
        && underside > large.top() - below
        && small.top() > large.top() + above
}

/// Whether two sightings are of drawers or doors above each other: of one name and near each other, and yet two.
fn in_other_rows(a: &Object, b: &Object) -> bool {
    let apart = (a.bounds.pose.translation.z - b.bounds.pose.translation.z).abs();
    let height = a.bounds.size.z.max(b.bounds.size.z);
    fixture::is_panel(&a.class_name) && fixture::is_panel(&b.class_name) && apart > ROW * height
}

/// Whether a thing is in the gripper: most of it is there, so that a table below the hand is not.
fn is_held(object: &Object, tool: &Tool) -> bool {
    let points = &object.cloud.points;
    let near = points.iter().filter(|p| (*p - tool.position).norm() <= 2.0 * tool.radius).count();
    near * 2 > points.len() && points.iter().any(|p| (p - tool.position).norm() <= tool.radius)
}

#[cfg(test)]
mod tests;
