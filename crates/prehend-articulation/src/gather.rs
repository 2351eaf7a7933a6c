//! What the object map shows of a thing with moving parts, as looks.

use crate::observation::{Look, MovablePart, Observation};
use nalgebra::{Isometry3, Point3};
use prehend_geometry::{PointCloud, voxel};
use prehend_scene::{Object, ObjectMap, furniture};
use std::collections::BTreeMap;

/// Side of the cells in which points of a look are one, metres: less than what the fit tells apart.
const CELL: f64 = 0.003;
/// Points of a look are rounded to this part of a metre: it makes files short.
const GRAINS: f64 = 1e4;
/// Share of their height that a part has with itself in another look.
const SAME_HEIGHT: f64 = 0.6;
/// Where a robot looks from when nobody says, in the frame of its arm's base, metres: above it.
const EYE: [f64; 3] = [0.0, 0.0, 0.5];

/// Why the map shows no such thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    /// Nothing has that key or class.
    #[error("the object map has no {wanted}; it has: {}", has.join(", "))]
    NotThere {
        /// What was asked for.
        wanted: String,
        /// Keys of the map.
        has: Vec<String>,
    },
    /// Several have that class.
    #[error("there are {} things of class {wanted}: say which of {}", keys.len(), keys.join(", "))]
    Several {
        /// What was asked for.
        wanted: String,
        /// Their keys.
        keys: Vec<String>,
    },
    /// A drawer or door of nothing.
    #[error("what {part} belongs to was not seen: look at it first")]
    NoWhole {
        /// The drawer or door.
        part: String,
    },
    /// Looks at two things.
    #[error("those looks are at {known}, not at {new}")]
    Other {
        /// What was looked at before.
        known: String,
        /// What is looked at now.
        new: String,
    },
}

/// The thing that is meant by a key or a class; of a drawer or a door what it belongs to.
///
/// Errors: [`GatherError`].
pub fn thing<'m>(wanted: &str, map: &'m ObjectMap) -> Result<&'m Object, GatherError> {
    let mut named: Vec<&Object> = map.objects.iter().filter(|object| object.key.0 == wanted).collect();
    if named.is_empty() {
        named = map.objects.iter().filter(|object| object.class_name == wanted).collect();
    }
    // Of several the one with parts is meant: scraps have none.
    let with_parts: Vec<&Object> =
        named.iter().copied().filter(|thing| !parts_of(thing, map).is_empty()).collect();
    if with_parts.len() == 1 {
        named = with_parts;
    }
    let keys = |objects: &[&Object]| objects.iter().map(|object| object.key.0.clone()).collect();
    let thing = match named.as_slice() {
        [one] => *one,
        [] => {
            let all: Vec<&Object> = map.objects.iter().collect();
            return Err(GatherError::NotThere { wanted: wanted.to_owned(), has: keys(&all) });
        }
        several => return Err(GatherError::Several { wanted: wanted.to_owned(), keys: keys(several) }),
    };
    if !furniture::is_panel(&thing.class_name) {
        return Ok(thing);
    }
    furniture::whole_of(thing, map).ok_or_else(|| GatherError::NoWhole { part: thing.key.0.clone() })
}

/// The drawers, doors and flaps of a thing, without pieces of them.
pub fn parts_of<'m>(thing: &Object, map: &'m ObjectMap) -> Vec<&'m Object> {
    let is_part =
        |part: &&Object| furniture::is_panel(&part.class_name) && furniture::is_part_of(part, thing);
    furniture::without_pieces(map.objects.iter().filter(is_part).collect())
}

/// One look at a thing and its parts, in the frame of the map; parts have the names of their keys.
pub fn observe(thing: &Object, map: &ObjectMap) -> Observation {
    let parts = parts_of(thing, map);
    let thinned = |object: &Object| -> Vec<Point3<f64>> {
        let cells = voxel::downsample(&PointCloud::from_points(object.cloud.points.clone()), CELL).points;
        cells.iter().map(|point| point.map(|value| (value * GRAINS).round() / GRAINS)).collect()
    };
    let part = |part: &&Object| MovablePart { name: part.key.0.clone(), class: part.class_name.clone() };
    Observation {
        name: thing.key.0.clone(),
        class: thing.class_name.clone(),
        parts: parts.iter().map(part).collect(),
        looks: vec![Look { body: thinned(thing), parts: parts.iter().map(|part| thinned(part)).collect() }],
        tracks: Vec::new(),
        eye: viewer(thing),
    }
}

/// Adds the looks of `now` to those of `earlier`. Parts belong together by their names; one that is gone and one that is new at the same
/// height are one, which the map has given another key. A look that shows nothing new is not added. Names of the parts of `now`, and
/// which part of `earlier` each is.
///
/// Errors: [`GatherError::Other`].
pub fn join(earlier: &mut Observation, mut now: Observation) -> Result<BTreeMap<String, usize>, GatherError> {
    if earlier.name != now.name {
        return Err(GatherError::Other { known: earlier.name.clone(), new: now.name });
    }
    let said: Vec<String> = now.parts.iter().map(|part| part.name.clone()).collect();
    for (new, name) in renamed(earlier, &now) {
        if !now.parts.iter().any(|part| part.name == name) {
            now.parts[new].name = name;
        }
    }
    for part in &now.parts {
        if !earlier.parts.iter().any(|known| known.name == part.name) {
            earlier.parts.push(part.clone());
            earlier.looks.iter_mut().for_each(|look| look.parts.push(Vec::new()));
        }
    }
    let place = |name: &str| earlier.parts.iter().position(|part| part.name == name);
    let named = said.into_iter().zip(&now.parts).filter_map(|(said, part)| Some((said, place(&part.name)?)));
    let named = named.collect();
    for mut look in now.looks {
        let of = |known: &MovablePart| now.parts.iter().position(|part| part.name == known.name);
        let in_order = earlier.parts.iter().map(|known| {
            of(known).and_then(|at| look.parts.get_mut(at)).map(std::mem::take).unwrap_or_default()
        });
        look.parts = in_order.collect();
        if earlier.looks.last() != Some(&look) {
            earlier.looks.push(look);
        }
    }
    Ok(named)
}

/// Parts of a look that are known by another name: one that is new and one that is gone, at the same height.
fn renamed(earlier: &Observation, now: &Observation) -> Vec<(usize, String)> {
    (0..now.parts.len())
        .filter(|new| !earlier.parts.iter().any(|known| known.name == now.parts[*new].name))
        .filter_map(|new| {
            let gone = (0..earlier.parts.len())
                .filter(|old| !now.parts.iter().any(|part| part.name == earlier.parts[*old].name));
            let alike = gone.map(|old| (same_height(&last_seen(earlier, old), &last_seen(now, new)), old));
            let (share, old) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
            (share > SAME_HEIGHT).then(|| (new, earlier.parts[old].name.clone()))
        })
        .collect()
}

/// The same observation in another frame.
pub(crate) fn moved(mut observation: Observation, by: &Isometry3<f64>) -> Observation {
    let clouds =
        observation.looks.iter_mut().flat_map(|look| std::iter::once(&mut look.body).chain(&mut look.parts));
    clouds.flatten().for_each(|point| *point = by * *point);
    let poses = observation.tracks.iter_mut().flat_map(|track| &mut track.poses);
    poses.for_each(|pose| *pose = by * *pose);
    observation.eye = by * observation.eye;
    observation
}

/// What was seen of a part in the last look that shows it.
fn last_seen(observation: &Observation, part: usize) -> Vec<Point3<f64>> {
    let mut looks = observation.looks.iter().rev().filter_map(|look| look.parts.get(part));
    looks.find(|points| !points.is_empty()).cloned().unwrap_or_default()
}

/// How far two clouds are at the same height: the height they share as a share of that of both.
fn same_height(a: &[Point3<f64>], b: &[Point3<f64>]) -> f64 {
    let range = |points: &[Point3<f64>]| {
        let heights = points.iter().map(|point| point.z);
        heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| (low.min(z), high.max(z)))
    };
    let ((low, high), (other_low, other_high)) = (range(a), range(b));
    let common = (high.min(other_high) - low.max(other_low)).max(0.0);
    let share = common / (high.max(other_high) - low.min(other_low));
    if share.is_finite() { share } else { 0.0 }
}

/// Where a thing was looked at from, map frame.
pub(crate) fn viewer(thing: &Object) -> Point3<f64> {
    if thing.crops.is_empty() { Point3::from(EYE) } else { thing.viewer() }
}
