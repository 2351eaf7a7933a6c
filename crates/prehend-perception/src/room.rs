//! The map of a room: named things from the stops of a tour, merged across keyframes (ASP III-D, IV-A).
//!
//! From metres away there is no single support to see and no fine shape. So each mask of a detector is a sighting of a thing. All
//! sightings are kept, and which of them are of one thing is decided anew over all of them with each frame (`grouping`): what a detector
//! splits, runs together or misnames at one stop is outvoted by the others. This map need not be exact: whatever the robot
//! touches is mapped anew from near by (redetection). No tool ever removes anything from this map.

mod grouping;
mod sighting;

use crate::hypothesis::{Hypothesis, HypothesisSettings, claimed};
use crate::map::{MapSettings, PartSettings, Tool, UpdateReport, object, parts};
use crate::segment::{Scene, SegmentSettings, uncut};
use crate::traits::WordEmbedder;
use crate::{Embedder, Keyframe, KeyframeError};
use grouping::{Weights, carries};
use nalgebra::Point3;
use prehend_geometry::PointCloud;
use prehend_geometry::dbscan::clusters;
use prehend_geometry::voxel::{VoxelMap, downsample, voxel_of};
use prehend_scene::merge::{MergeRule, merge_into};
use prehend_scene::{Object, ObjectKey, ObjectMap, ROOM_PREFIX, furniture};
use serde::{Deserialize, Serialize};
use sighting::{Sighting, beyond};
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
    /// Error of localisation that two sightings of one thing from two stops are allowed, metres.
    pub drift: f64,
    /// Extra distance that is allowed between them, for each metre beyond the first between camera and thing. It is an angle in radians:
    /// the heading of the base is known to about half a degree, and this is a little more.
    pub heading: f64,
    /// Error that two sightings of one thing from one stop are allowed: the noise of the camera, metres.
    pub noise: f64,
    /// How many times less heights may be off than places on the floor: the base is off on the floor only.
    pub level: f64,
    /// Voxel edge in which the points of a mask are grouped, metres.
    pub leaf: f64,
    /// A thing with more pixels than this is large: its cloud is kept with coarser voxels, because furniture has many points.
    pub large: usize,
    /// From this many frames of one stop on, a thing that only one of them shows is an error of the detector and is dropped.
    pub sure: u32,
    /// Sightings of one thing that are kept; the oldest go.
    pub kept: usize,
    /// Features more alike than this are those of one kind of thing.
    pub similar: f64,
    /// Share of a sighting that lies in another one from which it is inside.
    pub inside: f64,
    /// Extra distance, metres, that is allowed between two things of one name which no frame ever showed beside each other. If they
    /// were two things so near to each other, some frame would have shown both.
    pub alone: f64,
    /// What is smaller than this, metres, is seen whole or not at all; of what is larger each view shows another side.
    pub handy: f64,
    /// What is handy is no piece of something that is larger by this factor: a mask over a table with a cup on it may be called cup.
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
            drift: 0.045,
            heading: 0.012,
            noise: 0.025,
            level: 2.5,
            leaf: 0.012,
            large: 3000,
            sure: 3,
            kept: 30,
            similar: 0.9,
            inside: 0.7,
            alone: 0.05,
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

/// What one frame alone shows is doubtful if more than this share of it is something else in another one.
const DOUBTED: f64 = 0.3;
/// The camera moves by more than this between two stops, metres.
const MOVED: f64 = 0.05;

/// The room map with what is needed to add to it.
pub struct RoomBuilder {
    map: ObjectMap,
    settings: RoomSettings,
    embedder: Box<dyn Embedder + Send + Sync>,
    numbers: BTreeMap<String, u32>,
    /// What was seen, in the order of their numbers.
    sightings: Vec<Sighting>,
    weights: Weights,
    /// The name of the newest frame's stop, and where its camera was.
    stop: (String, Point3<f64>),
    /// Frames of each stop, by its number.
    frames: BTreeMap<u64, u32>,
    /// Sightings and frames so far.
    next: (u64, u64),
    /// Which sightings each thing of the map is made of, by its key.
    made_of: BTreeMap<ObjectKey, Vec<u64>>,
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
            sightings: Vec::new(),
            weights: Weights::default(),
            stop: (String::new(), Point3::origin()),
            frames: BTreeMap::new(),
            next: (0, 0),
            made_of: BTreeMap::new(),
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
            self.forget();
        }
        self.take(seen, frame);
        self.decide(&mut report);
        report.homeless_parts = parts::observe(frame, &scene, &mut self.map.objects, &self.settings.parts);
        self.map.stamp = frame.stamp;
        self.map.version += 1;
        Ok(report)
    }

    fn forget(&mut self) {
        self.map.objects.clear();
        self.sightings.clear();
        self.weights = Weights::default();
        self.frames.clear();
        self.made_of.clear();
    }

    /// Keeps what a frame of a stop shows.
    fn take(&mut self, seen: Vec<Object>, keyframe: &Keyframe) {
        let (_, frame) = self.next;
        self.next.1 += 1;
        let eye = Point3::from(keyframe.map_from_camera.translation.vector);
        let (stop, was) = &self.stop;
        // A stop is called by the number of its first frame. Two errands may call theirs alike.
        if *stop != keyframe.view || (eye - was).norm() > MOVED || self.frames.is_empty() {
            self.stop = (keyframe.view.clone(), eye);
            self.leave_stop();
            self.frames.insert(frame, 0);
        }
        let Some(mut newest) = self.frames.last_entry() else { return };
        *newest.get_mut() += 1;
        let number = *newest.key();
        for object in seen {
            let sighting = Sighting::new(self.next.0, object, number, frame, &self.settings);
            self.next.0 += 1;
            self.weights.learn(&sighting, &self.sightings, &self.settings);
            self.sightings.push(sighting);
        }
    }

    /// Forgets what the stops so far showed and is in nothing of the map: errors of the detector, and masks over several things.
    fn leave_stop(&mut self) {
        let used: BTreeSet<u64> = self.made_of.values().flatten().copied().collect();
        self.sightings.retain(|sighting| used.contains(&sighting.id));
        self.weights.retain(|id| used.contains(&id));
        let stops: BTreeSet<u64> = self.sightings.iter().map(|sighting| sighting.stop).collect();
        self.frames.retain(|stop, _| stops.contains(stop));
    }

    /// Decides which sightings are of one thing, and makes the map of that.
    fn decide(&mut self, report: &mut UpdateReport) {
        let settings = self.settings;
        let mut groups = grouping::groups(&self.sightings, &self.weights);
        self.trim(&mut groups);
        let mut group_of = vec![0; self.sightings.len()];
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|place| group_of[*place] = number);
        }
        let old = std::mem::take(&mut self.map.objects);
        let mut made: Vec<(Vec<u64>, Object)> = Vec::new();
        for group in &groups {
            let kept = grouping::without_merged(group, &group_of, &self.sightings, &self.weights, &settings);
            if !self.is_doubtful(&kept) {
                let ids: Vec<u64> = kept.iter().map(|place| self.sightings[*place].id).collect();
                let object = self.made(&kept, &ids, &old);
                made.push((ids, object));
            }
        }
        self.join_lonely(&mut made);
        let mut keys = self.keys_of(&made);
        let newest = self.next.1.saturating_sub(1);
        self.made_of.clear();
        for (ids, mut object) in made {
            let known = keys.remove(&ids);
            let is_new = known.is_none();
            object.key = known.unwrap_or_else(|| self.fresh_key(&object.class_name));
            if let Some(old) = old.iter().find(|old| old.key == object.key) {
                object.parts.clone_from(&old.parts);
            }
            let is_seen = self.sightings.iter().any(|one| one.frame == newest && ids.contains(&one.id));
            match (is_new, is_seen) {
                (true, _) => report.added.push(object.key.clone()),
                (false, true) => report.merged.push(object.key.clone()),
                (false, false) => {}
            }
            self.made_of.insert(object.key.clone(), ids);
            self.map.objects.push(object);
        }
    }

    /// Forgets the oldest sightings of things that have too many.
    fn trim(&mut self, groups: &mut Vec<Vec<usize>>) {
        let gone: BTreeSet<u64> = groups
            .iter()
            .flat_map(|group| &group[..group.len().saturating_sub(self.settings.kept)])
            .map(|place| self.sightings[*place].id)
            .collect();
        if gone.is_empty() {
            return;
        }
        self.sightings.retain(|sighting| !gone.contains(&sighting.id));
        self.weights.retain(|id| !gone.contains(&id));
        *groups = grouping::groups(&self.sightings, &self.weights);
    }

    /// Whether only one frame of a stop with enough of them shows it, and others show something else in its place: it was an error of the
    /// detector.
    fn is_doubtful(&self, group: &[usize]) -> bool {
        let [one] = group else { return false };
        let one = &self.sightings[*one];
        let others = self.sightings.iter().filter(|other| other.id != one.id);
        self.frames.get(&one.stop).is_some_and(|count| *count >= self.settings.sure)
            && others.map(|other| self.weights.share(one.id, other.id)).any(|share| share > DOUBTED)
    }

    /// The thing of some sightings: one that was made of the first of them already with the rest, or of all of them.
    fn made(&self, group: &[usize], ids: &[u64], old: &[Object]) -> Object {
        let begun = old.iter().filter_map(|object| {
            let made_of = self.made_of.get(&object.key).filter(|made_of| ids.starts_with(made_of))?;
            Some((made_of.len(), object))
        });
        let (done, mut object) = match begun.max_by_key(|(count, _)| *count) {
            Some((count, object)) => (count, object.clone()),
            None => (1, (*self.sightings[group[0]].object).clone()),
        };
        for place in &group[done..] {
            merge_into(&mut object, (*self.sightings[*place].object).clone(), &self.settings.merge);
        }
        object
    }

    /// Joins two things of one name that no frame shows beside each other, and that are nearer than the localisation may be off.
    fn join_lonely(&self, made: &mut Vec<(Vec<u64>, Object)>) {
        let frames = |ids: &[u64]| -> BTreeSet<u64> {
            let of = |sighting: &&Sighting| ids.contains(&sighting.id);
            self.sightings.iter().filter(of).map(|sighting| sighting.frame).collect()
        };
        let mut place = 0;
        while place < made.len() {
            let (ids, one) = &made[place];
            let seen = frames(ids);
            let twin = (place + 1..made.len()).find(|other| {
                let (ids, other) = &made[*other];
                let apart =
                    (one.bounds.pose.translation.vector - other.bounds.pose.translation.vector).norm();
                one.class_name == other.class_name
                    && apart <= self.reach(one, other) + self.settings.alone
                    && !in_other_rows(one, other)
                    && !carries(&one.bounds, &other.bounds, &self.settings)
                    && frames(ids).is_disjoint(&seen)
            });
            match twin {
                Some(twin) => {
                    let (ids, other) = made.remove(twin);
                    let (known, object) = &mut made[place];
                    known.extend(ids);
                    merge_into(object, other, &self.settings.merge);
                }
                None => place += 1,
            }
        }
    }

    /// For each of some things, in the frame of this map, which of its objects it is, if one: by the odds against all sightings of that, the
    /// surest first, and each object once; only those that are `free`.
    pub fn recognise(&self, things: &[Object], free: impl Fn(&ObjectKey) -> bool) -> Vec<Option<&Object>> {
        // Of no stop and of no frame of the tour.
        let elsewhere = u64::MAX;
        let mut odds: Vec<(f64, usize, usize)> = Vec::new();
        for (number, thing) in things.iter().enumerate() {
            let thing = Sighting::new(elsewhere, thing.clone(), elsewhere, elsewhere, &self.settings);
            for (place, object) in self.map.objects.iter().enumerate().filter(|(_, object)| free(&object.key))
            {
                let ids = self.made_of.get(&object.key).map_or(&[][..], Vec::as_slice);
                let sightings = self.sightings.iter().filter(|sighting| ids.contains(&sighting.id));
                let sum: f64 = sightings.map(|one| grouping::odds_of(one, &thing, &self.settings)).sum();
                if sum > 0.0 {
                    odds.push((sum, number, place));
                }
            }
        }
        odds.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut found = vec![None; things.len()];
        let mut taken = vec![false; self.map.objects.len()];
        for (_, number, place) in odds {
            if found[number].is_none() && !taken[place] {
                found[number] = self.map.objects.get(place);
                taken[place] = true;
            }
        }
        found
    }

    /// The keys that things had, by their sightings: one goes to the thing that has most of them.
    fn keys_of(&self, made: &[(Vec<u64>, Object)]) -> BTreeMap<Vec<u64>, ObjectKey> {
        let mut shared: Vec<(usize, &ObjectKey, &Vec<u64>)> = Vec::new();
        for (key, old) in &self.made_of {
            for (ids, _) in made {
                let count = ids.iter().filter(|id| old.contains(id)).count();
                if count > 0 {
                    shared.push((count, key, ids));
                }
            }
        }
        shared.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let mut keys = BTreeMap::new();
        let mut given: BTreeSet<&ObjectKey> = BTreeSet::new();
        for (_, key, ids) in shared {
            if !keys.contains_key(ids) && given.insert(key) {
                keys.insert(ids.clone(), key.clone());
            }
        }
        keys
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

    /// How far apart two sightings of one name may be and yet be of one thing, metres.
    fn reach(&self, a: &Object, b: &Object) -> f64 {
        // Another side of a large thing has another middle.
        let size = a.bounds.size.norm().min(b.bounds.size.norm());
        self.settings.drift + self.settings.heading * (beyond(a) + beyond(b)) + 0.35 * size
    }

    fn fresh_key(&mut self, class_name: &str) -> ObjectKey {
        let base = if class_name.is_empty() { "object".to_owned() } else { class_name.replace(' ', "_") };
        let number = self.numbers.entry(base.clone()).or_insert(0);
        let key = ObjectKey(format!("{ROOM_PREFIX}{base}_{number}"));
        *number += 1;
        key
    }
}

/// Two panels are in two rows if their middles differ in height by more than this share of the taller one's height.
const ROW: f64 = 0.6;

/// Whether two sightings are of two drawers or doors, one above the other. They are two although they are near and have one name.
fn in_other_rows(a: &Object, b: &Object) -> bool {
    let apart = (a.bounds.pose.translation.z - b.bounds.pose.translation.z).abs();
    let height = a.bounds.size.z.max(b.bounds.size.z);
    furniture::is_panel(&a.class_name) && furniture::is_panel(&b.class_name) && apart > ROW * height
}

/// Whether a thing is in the gripper: most of it is there, so that a table below the hand is not.
fn is_held(object: &Object, tool: &Tool) -> bool {
    let points = &object.cloud.points;
    let near = points.iter().filter(|p| (*p - tool.position).norm() <= 2.0 * tool.radius).count();
    near * 2 > points.len() && points.iter().any(|p| (p - tool.position).norm() <= tool.radius)
}

#[cfg(test)]
mod tests;
