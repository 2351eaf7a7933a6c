//! Building and keeping the object map (ASP III-A, IV-A).

mod associate;
mod gone;
pub(crate) mod object;
pub(crate) mod parts;
mod slots;
mod stand;

#[cfg(test)]
mod tests;

use crate::hypothesis::{HypothesisSettings, Skipped, hypotheses};
use crate::segment::{SegmentSettings, segment};
use crate::traits::WordEmbedder;
use crate::{Embedder, Keyframe, KeyframeError};
use nalgebra::{Point3, Unit, Vector3};
use prehend_geometry::plane::Plane;
use prehend_scene::merge::{MergeRule, merge_into};
use prehend_scene::{Object, ObjectKey, ObjectMap};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use gone::Visibility;

/// Fewest points a usable frame has in the region of the map.
const MIN_POINTS: usize = 200;

/// Everything that decides how frames become objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapSettings {
    /// Cutting a frame into support and clusters.
    pub segment: SegmentSettings,
    /// From masks and clusters to things.
    pub hypothesis: HypothesisSettings,
    /// Merging with what is known.
    pub merge: MergeRule,
}

impl MapSettings {
    /// Settings for frames of real cameras that hang on no robot of ours.
    pub fn recorded() -> Self {
        Self {
            segment: SegmentSettings::recorded(),
            // Which surfaces are of one thing is settled before.
            hypothesis: HypothesisSettings { join_nameless: false, ..HypothesisSettings::default() },
            ..Self::default()
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
    /// Keys of objects whose place was seen to be empty.
    pub removed: Vec<ObjectKey>,
    /// What was not used.
    pub skipped: Skipped,
    /// Things left out because the gripper holds them or they are part of the robot.
    pub held: usize,
    /// Parts that a part detector named and that lie on no object of the frame.
    pub homeless_parts: usize,
}

/// The object map with what is needed to update it.
pub struct MapBuilder {
    map: ObjectMap,
    settings: MapSettings,
    embedder: Box<dyn Embedder + Send + Sync>,
    /// Next number per class, so that no key is given twice.
    numbers: BTreeMap<String, u32>,
    /// Whether the last frame showed something in the gripper: only the first such frame tells what was taken.
    was_holding: bool,
    /// Objects that were last seen in the gripper; they keep their keys when they are put down.
    in_hand: Vec<Object>,
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
        Self { map, settings, embedder, numbers: BTreeMap::new(), in_hand: Vec::new(), was_holding: false }
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
        frame.validate()?;
        let known_plane = self.map.support_plane.and_then(|[a, b, c, d]| {
            Some(Plane { normal: Unit::try_new(Vector3::new(a, b, c), 1e-9)?, offset: d })
        });
        let settings = MapSettings { segment: self.settings.segment.for_frame(frame), ..self.settings };
        let scene = segment(frame, &settings.segment, known_plane, seed);
        if scene.grid.points.iter().flatten().take(MIN_POINTS).count() < MIN_POINTS {
            return Err(KeyframeError::Empty);
        }
        let (found, skipped) = hypotheses(frame, &scene, &settings.hypothesis);
        let mut report = UpdateReport { skipped, ..UpdateReport::default() };
        let (mut seen, mut held): (Vec<Object>, Vec<Object>) = (Vec::new(), Vec::new());
        for hypothesis in &found {
            let Some(mut object) = object::build(frame, &scene, hypothesis, &settings) else { continue };
            object.features = self.embedder.embed(&object);
            if tool.is_some_and(|tool| is_held(&object, tool, &scene, &seen)) {
                held.push(object);
            } else {
                seen.push(object);
            }
        }
        report.held = held.len();
        let old = std::mem::take(&mut self.map.objects);
        let holds = tool.and_then(|tool| tool.holds.as_ref());
        let sights = Sights { seen, held, holds, frame, scene: &scene };
        self.map.objects = self.associate(old, sights, reset, &mut report);
        report.homeless_parts = parts::observe(frame, &scene, &mut self.map.objects);
        if let Some(plane) = scene.plane {
            self.map.support_plane = Some(plane.coefficients());
            let camera = Point3::from(frame.map_from_camera.translation.vector);
            stand::stand(&mut self.map.objects, &camera, &plane, frame.stamp);
        }
        self.map.stamp = frame.stamp;
        self.map.version += 1;
        Ok(report)
    }

    /// Old objects and those of a frame become the new list; old ones come first, in their order.
    fn associate(
        &mut self,
        mut old: Vec<Object>,
        sights: Sights<'_>,
        reset: bool,
        report: &mut UpdateReport,
    ) -> Vec<Object> {
        let rule = self.settings.merge;
        let Sights { mut seen, held, holds, frame, scene } = sights;
        // What is seen to be elsewhere is taken out of the old clouds before anything is compared.
        let looks: Vec<Visibility> = old.iter().map(|object| gone::look(object, frame, scene)).collect();
        let mut gone: Vec<bool> = looks.iter().map(Visibility::is_gone).collect();
        for (object, gone) in old.iter_mut().zip(&gone) {
            if !gone {
                gone::carve(object, frame, scene);
            }
        }
        if !reset {
            seen.retain(|object| !slots::spans_several(&old, &gone, object, &rule));
        }
        let mut pairs = associate::pair(&old, &gone, &seen, &rule);
        // What the gripper took is no longer in its place, even when the gripper hides that place.
        let mut on_map = usize::MAX;
        let is_first = !std::mem::replace(&mut self.was_holding, !held.is_empty());
        let taken = associate::taken(&old, &looks, &held, holds, &pairs).filter(|_| is_first);
        if held.is_empty() {
            // The hand is empty: what was in it may be among what is seen.
            on_map = old.len();
            gone.extend(self.in_hand.iter().map(|_| true));
            old.append(&mut self.in_hand);
        } else if let Some(place) = taken {
            gone.remove(place);
            let object = old.remove(place);
            pairs.iter_mut().flatten().filter(|other| **other > place).for_each(|other| *other -= 1);
            report.removed.push(object.key.clone());
            self.in_hand = vec![object];
        }
        let scraps = associate::scraps(&old, &gone, &seen, &pairs, &rule);
        let mut moves = associate::moved(&old, &gone, &seen, &pairs);
        for (number, place) in slots::slid(&old, &seen, &pairs, &moves).into_iter().enumerate() {
            moves[number] = moves[number].or(place);
        }
        // Something left the hand: it is looked for even when this frame misnames it.
        for (place, in_hand) in old.iter().enumerate().skip(on_map) {
            if let Some(number) = associate::put_down(in_hand, &seen, &pairs) {
                moves[number] = Some(place);
            }
        }
        let several = slots::were_several(&old, &seen, &pairs, &rule);
        let mut next: Vec<Option<Object>> = old.into_iter().map(Some).collect();
        let mut new = Vec::new();
        for (number, mut object) in seen.into_iter().enumerate() {
            if let Some(place) = pairs[number] {
                if let Some(known) = &mut next[place] {
                    report.merged.push(known.key.clone());
                    if reset {
                        object.key = known.key.clone();
                        *known = object;
                    } else if several[place] || slots::has_slid(known, &object, &rule) {
                        object.key = known.key.clone();
                        keep_names(&mut object, std::mem::take(&mut known.class_votes));
                        *known = object;
                    } else {
                        merge_into(known, object, &rule);
                    }
                }
            } else if scraps[number].is_some() && moves[number].is_none() {
                report.skipped.specks += 1;
            } else if let Some(place) = moves[number] {
                if let Some(known) = next[place].take() {
                    object.key = known.key;
                    report.moved.push(object.key.clone());
                    if !reset {
                        keep_names(&mut object, known.class_votes);
                    }
                    new.push(object);
                }
            } else {
                object.key = self.fresh_key(&object.class_name);
                report.added.push(object.key.clone());
                new.push(object);
            }
        }
        let mut kept = Vec::new();
        for (place, object) in next.into_iter().enumerate() {
            let Some(object) = object else { continue };
            if pairs.contains(&Some(place)) || (!reset && !gone[place]) {
                kept.push(object);
            } else if place < on_map {
                report.removed.push(object.key);
            } else {
                self.in_hand.push(object);
            }
        }
        kept.extend(new);
        associate::absorb_duplicates(&mut kept, frame.stamp, &rule, report);
        slots::absorb_slots(&mut kept, frame.stamp, &rule, report);
        kept
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
    seen: Vec<Object>,
    held: Vec<Object>,
    /// What the gripper is known to have closed on.
    holds: Option<&'a ObjectKey>,
    frame: &'a Keyframe,
    scene: &'a crate::segment::Scene,
}

/// A moved object is still what it was called before.
fn keep_names(object: &mut Object, votes: Vec<(String, f64)>) {
    for (name, weight) in votes {
        prehend_scene::merge::add_vote(&mut object.class_votes, &name, weight);
    }
    prehend_scene::merge::settle_class(object);
}

/// Whether a thing hangs at the tool: near it, with nothing of the table or of another thing right below.
fn is_held(object: &Object, tool: &Tool, scene: &crate::segment::Scene, others: &[Object]) -> bool {
    let near = object.cloud.points.iter().any(|p| (p - tool.position).norm() <= tool.radius);
    if !near {
        return false;
    }
    let bottom = object.bounds.pose.translation.z - object.bounds.size.z / 2.0;
    let center = object.bounds.pose.translation.vector;
    let clear = scene.height(&Point3::new(center.x, center.y, bottom));
    let on_other = others.iter().any(|other| {
        let lifted = Point3::new(center.x, center.y, other.bounds.pose.translation.z);
        other.bounds.contains(&lifted, 0.0) && (bottom - other.bounds.top()).abs() < 0.03
    });
    clear > 0.05 && !on_other
}
