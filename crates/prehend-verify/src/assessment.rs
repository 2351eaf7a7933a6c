//! Assessments: evidence that is bound to one object, judged once, and kept under an id that the gate redeems.
//!
//! Whoever asks for a grasp shows the id; nobody carries evidence. So evidence about one object cannot support a grasp of
//! another, and what was judged long ago, or before the object moved, supports nothing.

mod place;

use crate::{CommitRule, diagnose};
use place::lies_on;
use prehend_geometry::OrientedBox;
use prehend_scene::{Diagnostics, Evidence, Object, ObjectKey, ObjectMap, Sighting};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// Most assessments that are kept. A goal makes about ten; an id that was pushed out reads as unknown, which is a refusal.
const KEPT: usize = 256;
/// How far the stamp of an image may be ahead of the verifier's clock, seconds: clocks of two machines that NTP keeps together.
const CLOCK_SKEW: f64 = 1.0;
/// How exactly the stamp of a record must be that of the image, seconds: the wire has whole nanoseconds, the core has `f64`.
const SAME_STAMP: f64 = 1e-4;
/// How far outside the other's box the middle of an object may lie and still be at its place, metres: the noise of a depth camera
/// and of a box that grows as more sides are seen.
const SAME_PLACE: f64 = 0.02;

/// From where each object of a map was seen.
pub type Sightings = BTreeMap<ObjectKey, Vec<Sighting>>;

/// What the verifier itself knows of the scene when it judges evidence.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The newest map it received; `None` before the first.
    pub map: Option<&'a ObjectMap>,
    /// From where the map's objects were seen.
    pub sightings: &'a Sightings,
    /// The time, seconds.
    pub now: f64,
}

/// Why evidence is not about the object that it is said to be about.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Doubt {
    /// No map was ever received.
    #[error("the verifier has no object map yet; update the map first")]
    NoMap,
    /// The map has no such object.
    #[error("the evidence is said to be about {object}, which the map does not have")]
    UnknownObject {
        /// The key.
        object: ObjectKey,
    },
    /// A record of an image in which the map did not see the object.
    #[error("record {record} is of view {view} at {stamp:.3} s, in which the map has not seen {object}")]
    OtherView {
        /// Id of the record.
        record: String,
        /// The view that it names.
        view: String,
        /// The time that it names, seconds.
        stamp: f64,
        /// The object.
        object: ObjectKey,
    },
    /// A record of an image that is still to be taken.
    #[error("record {record} is of an image {ahead:.1} s in the future")]
    FromTheFuture {
        /// Id of the record.
        record: String,
        /// Seconds ahead of the clock.
        ahead: f64,
    },
    /// Most regions lie where the object is not.
    #[error("{away} of {count} regions, such as that of {record}, are not where {object} is in their images")]
    Elsewhere {
        /// Id of the first such record.
        record: String,
        /// Records whose region lies elsewhere.
        away: usize,
        /// Records that have a region.
        count: usize,
        /// The object.
        object: ObjectKey,
    },
}

/// Evidence about one object, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The diagnostics; `committed` only when nothing is doubted.
    pub diagnostics: Diagnostics,
    /// Why the evidence is not about the object; empty = it is.
    pub doubts: Vec<Doubt>,
}

/// Judges evidence that is said to be about `object`: whether it is, and whether it suffices (AAH eq. 6 to 11).
///
/// Each record must be of an image in which the map saw the object. A single region that lies beside the object is a tool that
/// errs, and shows as disagreement (omega); when half of them do, the evidence is about something else.
pub fn assess(object: &ObjectKey, evidence: &[Evidence], scene: &Scene<'_>, rule: &CommitRule) -> Judged {
    let mut diagnostics = diagnose(evidence, rule);
    let doubts = doubts(object, evidence, scene);
    diagnostics.committed &= doubts.is_empty();
    Judged { diagnostics, doubts }
}

fn doubts(key: &ObjectKey, evidence: &[Evidence], scene: &Scene<'_>) -> Vec<Doubt> {
    let Some(map) = scene.map else { return vec![Doubt::NoMap] };
    let Some(object) = map.get(key) else { return vec![Doubt::UnknownObject { object: key.clone() }] };
    let sightings = scene.sightings.get(key).map_or(&[][..], Vec::as_slice);
    let mut doubts = Vec::new();
    let (mut away, mut count) = (Vec::new(), 0);
    for record in evidence {
        let ahead = record.stamp - scene.now;
        if ahead.is_nan() || ahead > CLOCK_SKEW {
            doubts.push(Doubt::FromTheFuture { record: record.id.clone(), ahead });
        }
        let seen = sightings
            .iter()
            .find(|seen| seen.view == record.view && (seen.stamp - record.stamp).abs() <= SAME_STAMP);
        let Some(seen) = seen else {
            doubts.push(Doubt::OtherView {
                record: record.id.clone(),
                view: record.view.clone(),
                stamp: record.stamp,
                object: key.clone(),
            });
            continue;
        };
        if record.region.mask().area() > 0 {
            count += 1;
            if !lies_on(&record.region, &object.cloud, seen) {
                away.push(record);
            }
        }
    }
    if let Some(first) = away.first().filter(|_| 2 * away.len() >= count) {
        let (record, object) = (first.id.clone(), key.clone());
        doubts.push(Doubt::Elsewhere { record, away: away.len(), count, object });
    }
    doubts
}

/// A judgement the verifier stands by for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// Unique among all lives of the verifier.
    pub id: String,
    /// What the evidence is about.
    pub object: ObjectKey,
    /// Where that was on the map, or `None` when the map did not have it.
    pub bounds: Option<OrientedBox>,
    /// Version of the map it was judged on; 0 without one.
    pub map_version: u64,
    /// When, seconds.
    pub made: f64,
    /// Ids of the records.
    pub records: Vec<String>,
    /// The judgement.
    pub judged: Judged,
}

impl Assessment {
    /// Whether an object of the newest map is still where it was assessed: the middle of one lies in the other's box. The boxes
    /// themselves may differ, since further views show further sides.
    pub fn is_where_it_was(&self, object: &Object) -> bool {
        let middle = |b: &OrientedBox| b.pose.translation.vector.into();
        self.bounds.as_ref().is_some_and(|then| {
            then.contains(&middle(&object.bounds), SAME_PLACE)
                || object.bounds.contains(&middle(then), SAME_PLACE)
        })
    }
}

/// The newest assessments of one verifier's life. Ids carry the verifier's incarnation, so a restart voids the old ones.
#[derive(Debug)]
pub struct Assessments {
    incarnation: u64,
    next: u64,
    kept: VecDeque<Assessment>,
}

impl Assessments {
    /// None yet; `incarnation` must differ between lives of the verifier.
    pub fn new(incarnation: u64) -> Self {
        Self { incarnation, next: 0, kept: VecDeque::new() }
    }

    /// Keeps a judgement of evidence about `object` and says under which id.
    pub fn keep(
        &mut self,
        object: &ObjectKey,
        evidence: &[Evidence],
        judged: Judged,
        scene: &Scene<'_>,
    ) -> String {
        self.next += 1;
        let id = format!("a{:x}-{}", self.incarnation, self.next);
        self.kept.push_back(Assessment {
            id: id.clone(),
            object: object.clone(),
            bounds: scene.map.and_then(|map| map.get(object)).map(|object| object.bounds),
            map_version: scene.map.map_or(0, |map| map.version),
            made: scene.now,
            records: evidence.iter().map(|record| record.id.clone()).collect(),
            judged,
        });
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        id
    }

    /// The assessment with this id, while it is kept.
    pub fn get(&self, id: &str) -> Option<&Assessment> {
        self.kept.iter().find(|kept| kept.id == id)
    }
}

#[cfg(test)]
mod tests;
