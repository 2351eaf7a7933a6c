//! Which part of an object an action works on. Geometry finds parts, and so does the part detector; the two are associated by their
//! overlap (ASP IV-A). The parts come in the order of the table of actions.

use super::mechanism;
use nalgebra::{Point3, Vector3};
use prehend_geometry::PointCloud;
use prehend_geometry::voxel::overlap_ratio;
use prehend_scene::{
    ActionRule, ActionTable, Affordance, Intent, Object, ObservedPart, PartEffect, furniture, is_same_part,
};

/// Distance up to which two points are the same place, metres.
const SAME: f64 = 0.008;
/// Least overlap of two sightings of one part.
const OVERLAP: f64 = 0.4;

/// A part with where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkingPart {
    /// Kind by the table, such as `handle`.
    pub kind: String,
    /// What the part detector calls it; the kind when only geometry found it.
    pub name: String,
    /// Points in the map frame; not empty.
    pub cloud: PointCloud,
    /// Centre, map frame.
    pub centroid: Point3<f64>,
    /// Outward unit normal, map frame.
    pub normal: Vector3<f64>,
    /// Whether a bar runs level.
    pub is_level: bool,
    /// How sure it is, [0, 1].
    pub score: f64,
    /// Place in [`Object::parts`] when the part detector saw it.
    pub observed: Option<usize>,
    /// Whether geometry found it.
    pub by_geometry: bool,
}

/// Every part of an object that can be pulled or pushed, best first.
pub fn working_parts(object: &Object, support_z: f64, table: &ActionTable) -> Vec<WorkingPart> {
    let points = &object.cloud.points;
    let viewer = object.viewer();
    let front = mechanism::Front::find(points, &viewer);
    let mut parts: Vec<WorkingPart> = mechanism::find(points, &viewer, support_z)
        .into_iter()
        .map(|found| WorkingPart {
            kind: found.kind.to_owned(),
            name: found.kind.to_owned(),
            cloud: object.cloud.select(&found.indices),
            centroid: found.centroid,
            normal: found.normal,
            is_level: found.is_level,
            score: found.score * 0.9,
            observed: None,
            by_geometry: true,
        })
        .collect();
    for (place, seen) in object.parts.iter().enumerate() {
        let Some(kind) = table.part_kind(&seen.class_name) else { continue };
        let twin = parts.iter_mut().find(|part| part.observed.is_none() && is_same(part, kind, &seen.cloud));
        if let Some(part) = twin {
            // Two grounds for one part.
            part.score = 1.0 - (1.0 - part.score) * (1.0 - seen.score);
            part.observed = Some(place);
            part.name.clone_from(&seen.class_name);
            kind.clone_into(&mut part.kind);
            continue;
        }
        let Some(centroid) = seen.cloud.centroid() else { continue };
        let normal = outward(kind, &centroid, front.as_ref());
        let (low, high) = seen.cloud.bounds().unwrap_or((centroid, centroid));
        parts.push(WorkingPart {
            kind: kind.to_owned(),
            name: seen.class_name.clone(),
            cloud: seen.cloud.clone(),
            centroid,
            normal,
            is_level: (high - low).xy().norm() >= (high.z - low.z),
            score: seen.score * 0.8,
            observed: Some(place),
            by_geometry: false,
        });
    }
    parts.sort_by(|a, b| b.score.total_cmp(&a.score));
    parts
}

/// Whether a sighting is a part that geometry found: kinds that are one thing to a hand, and clouds that cover each other.
fn is_same(part: &WorkingPart, kind: &str, cloud: &PointCloud) -> bool {
    let grip = |kind: &str| matches!(kind, "handle" | "knob" | "lever");
    // What rises from a top is what the detector calls it.
    let raised = matches!(part.kind.as_str(), "button" | "lever") && kind == "knob";
    let alike = raised
        || part.kind == kind
        || grip(&part.kind) && grip(kind)
        || is_pressed(&part.kind) && is_pressed(kind);
    let over = |a: &PointCloud, b: &PointCloud| overlap_ratio(&a.points, &b.points, SAME);
    alike && over(&part.cloud, cloud).max(over(cloud, &part.cloud)) >= OVERLAP
}

/// Kinds of parts that a finger presses.
fn is_pressed(kind: &str) -> bool {
    matches!(kind, "button" | "key" | "switch")
}

/// How far the middle of a part may be before the front that it belongs to, metres: of one that is pulled, and of one that is pressed.
const BEFORE: [f64; 2] = [0.1, 0.03];

/// The normal of a part that only the detector saw: that of the front it stands before, else up. Keys that lie before the receiver of a
/// phone are none of its side.
fn outward(kind: &str, centroid: &Point3<f64>, front: Option<&mechanism::Front>) -> Vector3<f64> {
    let [pulled, pressed] = BEFORE;
    let farthest = if is_pressed(kind) { pressed } else { pulled };
    front
        .filter(|front| {
            let out = centroid.coords.dot(&front.normal) - front.offset;
            (-0.01..farthest).contains(&out) && centroid.z < front.height.1 + 0.01
        })
        .map_or(Vector3::z(), |front| front.normal)
}

/// The rule for an action on a part of an object: for the object's class, else for the part that is named; `None` of what is no such
/// action, or of a verb that the table does not have for it.
pub fn rule_of<'t>(intent: &Intent, object: &Object, table: &'t ActionTable) -> Option<&'t ActionRule> {
    let Intent::Act { verb, part } = intent else { return None };
    table.rule(verb, &object.class_name).or_else(|| table.rule(verb, part.as_deref()?))
}

/// Least share of the named votes on a part that its name must have, when another part of its kind was called differently.
const SURE_NAME: f64 = 0.7;
/// The same when every other name on it is that of another part: least share, and least weight, which is more than one view has.
const EXPLAINED: (f64, f64) = (0.5, 1.5);

/// Keeps only the part with this name, if several parts of a kind have names of their own, as keys do. Most views must call it so.
/// Another key is no second best, and neither is one of several keys that nobody told apart. A name belongs to one part: a view that
/// gives a part the name of another one is wrong.
fn keep_named(parts: &mut Vec<WorkingPart>, name: &str, object: &Object) {
    let is_named = |part: &WorkingPart| is_same_part(&part.name, name);
    let others: std::collections::BTreeSet<&str> = parts
        .iter()
        .filter(|part| !is_named(part) && part.name != part.kind)
        .map(|part| part.name.as_str())
        .collect();
    // However a key was found, another beside it may be the one with the name.
    let of_kind = |kind: &str| parts.iter().filter(|part| part.kind == kind).count();
    let alike = parts.iter().filter(|p| is_pressed(&p.kind)).map(|p| of_kind(&p.kind)).max().unwrap_or(0);
    // A word for the kind itself, or a name that tells nothing apart.
    if parts.iter().any(|part| part.kind == name) || others.is_empty() && alike < 2 {
        return;
    }
    parts.retain(|part| is_named(part) && is_sure(part, object));
}

/// Whether a part is what it is called; so when nobody named it.
fn is_sure(part: &WorkingPart, object: &Object) -> bool {
    let Some((place, seen)) = part.observed.and_then(|place| Some((place, object.parts.get(place)?))) else {
        return true;
    };
    let named = || seen.class_votes.iter().filter(|(name, _)| !name.is_empty());
    let all: f64 = named().map(|(_, weight)| weight).sum();
    let own = votes_for(seen, &part.name);
    if all <= 0.0 || own / all >= SURE_NAME {
        return true;
    }
    let is_anothers = |(name, weight): &&(String, f64)| {
        object.parts.iter().enumerate().any(|(other, known)| {
            other != place && known.class_name == *name && votes_for(known, name) > *weight
        })
    };
    let explained = named().filter(|(name, _)| *name != part.name).all(|vote| is_anothers(&vote));
    let is_alone = object
        .parts
        .iter()
        .enumerate()
        .all(|(other, known)| other == place || votes_for(known, &part.name) < own);
    explained && is_alone && own / all >= EXPLAINED.0 && own >= EXPLAINED.1
}

/// Weight of the votes that call a part so.
fn votes_for(part: &ObservedPart, name: &str) -> f64 {
    part.class_votes.iter().filter(|(other, _)| other == name).map(|(_, weight)| weight).sum()
}

/// Parts of an object that serve an action of the table, best first, each with the skill that acts on it. The ways of the rule come in
/// their order, but an upright bar is pinched rather than hooked.
pub fn part_affordances(
    object: &Object,
    support_z: f64,
    intent: &Intent,
    table: &ActionTable,
) -> Vec<(Affordance, WorkingPart)> {
    let Some(rule) = rule_of(intent, object, table) else { return Vec::new() };
    let named = intent.part();
    let wanted = named.and_then(|part| table.part_kind(part));
    let mut found: Vec<(f64, Affordance, WorkingPart)> = Vec::new();
    let mut parts = working_parts(object, support_z, table);
    parts.retain(|part| wanted.is_none_or(|wanted| wanted == part.kind));
    if let Some(name) = named {
        keep_named(&mut parts, name, object);
    }
    for part in parts {
        // Of several keys the one that is named.
        let is_named = named.is_some_and(|name| is_same_part(&part.name, name));
        for (rank, way) in rule.ways.iter().enumerate().filter(|(_, way)| way.part == part.kind) {
            let hook = way.skill == prehend_scene::Skill::HookPull;
            let awkward = if hook && !part.is_level { 0.5 } else { 0.0 };
            // A door swings to by its face; its handle is on the side that is hidden.
            let by_face = way.effect == PartEffect::Close
                && furniture::is_door(&object.class_name)
                && part.kind == "front";
            let first = if is_named || by_face { 1.0 } else { 0.0 };
            let worth = part.score - 0.15 * rank as f64 - awkward + first;
            let affordance = Affordance {
                part: part.kind.clone(),
                skill: way.skill,
                cloud: part.cloud.clone(),
                centroid: part.centroid,
                normal: part.normal,
                score: part.score.clamp(0.0, 1.0),
            };
            found.push((worth, affordance, part.clone()));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, affordance, part)| (affordance, part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::OrientedBox;

    /// A key that only geometry found.
    fn key() -> WorkingPart {
        WorkingPart {
            kind: "key".to_owned(),
            name: "key".to_owned(),
            cloud: PointCloud::default(),
            centroid: Point3::origin(),
            normal: Vector3::z(),
            is_level: false,
            score: 0.6,
            observed: None,
            by_geometry: true,
        }
    }

    #[test]
    fn of_several_keys_that_only_geometry_found_none_has_a_name() {
        let bounds = OrientedBox { pose: nalgebra::Isometry3::identity(), size: Vector3::repeat(0.1) };
        let keyboard = Object::unnamed("keyboard_0".into(), PointCloud::default(), bounds);
        let left = |mut parts: Vec<WorkingPart>, name: &str| {
            keep_named(&mut parts, name, &keyboard);
            parts.len()
        };
        assert_eq!(left(vec![key(), key(), key()], "space bar"), 0);
        assert_eq!(left(vec![key()], "space bar"), 1);
        assert_eq!(left(vec![key(), key()], "key"), 2);
        let bar = WorkingPart { name: "space bar".to_owned(), ..key() };
        assert_eq!(left(vec![key(), bar], "space bar"), 1);
        let [seven, eight] = ["7 key", "8 key"].map(|name| WorkingPart { name: name.to_owned(), ..key() });
        let keys = || vec![seven.clone(), eight.clone()];
        assert_eq!([left(keys(), "8 key"), left(keys(), "key 8"), left(keys(), "9 key")], [1, 1, 0]);
    }
}
