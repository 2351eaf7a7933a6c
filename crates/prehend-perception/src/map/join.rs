//! Known objects that turn out to be one.

use super::UpdateReport;
use super::known::{Known, boxes};
use prehend_geometry::dbscan::clusters;
use prehend_geometry::{BoxHash, OrientedBox};
use prehend_scene::merge::{Denoise, Join, MergeRule, semantic_similarity};
use prehend_scene::{ObjectKey, furniture};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// When known objects are one, by the method `prehend`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JoiningSettings {
    /// Least share of a cloud that lies on another when it is a part of that one.
    pub part: f64,
    /// Greatest unlikeness of the colours of a part and of what it is a part of; see [`crate::color::unlikeness`].
    pub part_unlike: f64,
    /// Least share of a thing's colours that is one of its own, and no noise or neighbour at its edge.
    pub own_color: f64,
    /// Least share of each of two clouds that lies on the other when both are of one object.
    pub covers: f64,
}

impl Default for JoiningSettings {
    fn default() -> Self {
        Self { part: 0.8, part_unlike: 0.12, own_color: 0.1, covers: 0.6 }
    }
}

/// Fewest points that denoising leaves; else the cloud stays (Gu et al. 2023, reference code).
const LEAST: usize = 5;

/// Gives the older of two keys to what both become, and says so.
pub(super) fn report_joined(known: &mut Known, other: &Known, report: &mut UpdateReport) {
    let mut lost = other.object.key.clone();
    if other.track.age < known.track.age {
        known.track.age = other.track.age;
        std::mem::swap(&mut known.object.key, &mut lost);
    }
    report_lost(lost, &known.object.key, report);
}

/// Says that what had one key is the object of another.
pub(super) fn report_lost(lost: ObjectKey, kept: &ObjectKey, report: &mut UpdateReport) {
    let is_fresh = report.added.contains(&lost);
    report.added.retain(|key| *key != lost);
    report.merged.retain(|key| *key != lost);
    report.moved.retain(|key| *key != lost);
    // Nobody has heard of a key of this very frame.
    if !is_fresh {
        report.removed.push(lost.clone());
        report.joined.push((lost, kept.clone()));
    }
}

/// Merges known objects that cover each other when one of them was not seen in this frame, so that it is an older view of the
/// other; and those of one name and colour of which one is a part of the other, because frames split them differently.
///
/// Only pairs of which one changed in this update or the one before are looked at: the others were, with the same result. (What two
/// objects of one frame are to each other is asked again when the next frame does not show them.)
pub(super) fn absorb_duplicates(
    objects: &mut Vec<Known>,
    stamp: f64,
    rule: &MergeRule,
    settings: &JoiningSettings,
    update: u64,
    report: &mut UpdateReport,
) {
    let is_new = |known: &Known| (known.object.last_seen - stamp).abs() < 1e-9;
    let is_fresh = |known: &Known| known.track.changed + 1 >= update;
    let near = boxes(objects.iter().map(|known| &known.object));
    let mut alive = vec![true; objects.len()];
    for place in partners(objects, &near, rule, &is_fresh) {
        while alive[place] {
            let one = &objects[place];
            let twin = near.touching(&one.reach(rule)).into_iter().find(|other| {
                if *other <= place || !alive[*other] {
                    return false;
                }
                let other = &objects[*other];
                // Two fronts in one frame are two.
                let fronts = is_new(one) && is_new(other) && furniture::is_panel(&one.object.class_name);
                (is_fresh(one) || is_fresh(other))
                    && (is_part(one, other, rule, settings) && !fronts
                        || !(is_new(one) && is_new(other)) && covers(one, other, rule, settings))
            });
            let Some(twin) = twin else { break };
            alive[twin] = false;
            let other = objects[twin].take();
            let known = &mut objects[place];
            report_joined(known, &other, report);
            known.merge(other, rule, update);
            report.merged.push(known.object.key.clone());
        }
    }
    let mut alive = alive.into_iter();
    objects.retain(|_| alive.next().unwrap_or(true));
}

/// Places, ascending, of what changed and of what is near that.
fn partners(
    objects: &[Known],
    near: &BoxHash,
    rule: &MergeRule,
    is_fresh: &dyn Fn(&Known) -> bool,
) -> Vec<usize> {
    let mut is_partner = vec![false; objects.len()];
    for (place, known) in objects.iter().enumerate().filter(|(_, known)| is_fresh(known)) {
        is_partner[place] = true;
        near.touching(&known.reach(rule)).into_iter().for_each(|other| is_partner[other] = true);
    }
    (0..objects.len()).filter(|place| is_partner[*place]).collect()
}

/// Whether each of two clouds lies on the other for the most part.
fn covers(a: &Known, b: &Known, rule: &MergeRule, settings: &JoiningSettings) -> bool {
    let (one, other) = (&a.object.bounds, &b.object.bounds);
    let apart = (one.pose.translation.vector - other.pose.translation.vector).norm();
    if apart > (one.size.norm() + other.size.norm()) / 4.0 + rule.distance {
        return false;
    }
    b.share_of(a, rule) > settings.covers && a.share_of(b, rule) > settings.covers
}

/// Whether the smaller of two objects of one name lies on the larger, and has its colour or one of its colours: the red cap of a
/// grey button is of that button.
fn is_part(a: &Known, b: &Known, rule: &MergeRule, settings: &JoiningSettings) -> bool {
    let (small, large) = if a.object.cloud.len() < b.object.cloud.len() { (a, b) } else { (b, a) };
    let (small_thing, large_thing) = (&small.object, &large.object);
    let has_color_of = || {
        let main = small_thing.color_fractions.first();
        main.is_some_and(|(main, _)| {
            large_thing
                .color_fractions
                .iter()
                .any(|(color, share)| color == main && *share >= settings.own_color)
        })
    };
    let is_alike = || {
        crate::color::unlikeness(small_thing.color, large_thing.color) < settings.part_unlike
            || !small_thing.class_name.is_empty() && has_color_of()
    };
    small_thing.class_name == large_thing.class_name
        && is_alike()
        && large.share_of(small, rule) >= settings.part
}

/// Merges known objects that overlap and look alike, greatest overlap first (the later passes of ConceptGraphs' reference code), when
/// one of them changed in this update. The overlap is the greater of the shares of one cloud on the other.
pub(super) fn join_overlapping(
    objects: &mut Vec<Known>,
    join: &Join,
    rule: &MergeRule,
    update: u64,
    report: &mut UpdateReport,
) {
    let near = boxes(objects.iter().map(|known| &known.object));
    let changed = objects.par_iter().enumerate().filter(|(_, known)| known.track.changed == update);
    let twins = changed.flat_map_iter(|(place, one)| {
        let all = &objects[..];
        near.touching(&one.reach(rule)).into_iter().filter_map(move |twin| {
            let other = &all[twin];
            // A pair of which both changed is looked at once.
            if twin == place || twin < place && other.track.changed == update {
                return None;
            }
            let overlap = one.share_of(other, rule).max(other.share_of(one, rule));
            let cosine = 2.0 * semantic_similarity(&one.object.features, &other.object.features) - 1.0;
            (overlap > join.overlap && cosine > join.cosine)
                .then(|| (overlap, place.min(twin), place.max(twin)))
        })
    });
    let mut found: Vec<(f64, usize, usize)> = twins.collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    // What each object became.
    let mut into: Vec<usize> = (0..objects.len()).collect();
    for (_, a, b) in found {
        let (a, b) = (last(&into, a), last(&into, b));
        let (place, twin) = (a.min(b), a.max(b));
        if place == twin {
            continue;
        }
        into[twin] = place;
        let other = objects[twin].take();
        let known = &mut objects[place];
        report_joined(known, &other, report);
        known.merge(other, rule, update);
        if !report.merged.contains(&known.object.key) && !report.added.contains(&known.object.key) {
            report.merged.push(known.object.key.clone());
        }
    }
    let mut place = 0;
    objects.retain(|_| {
        place += 1;
        into[place - 1] == place - 1
    });
}

fn last(into: &[usize], mut place: usize) -> usize {
    while into[place] != place {
        place = into[place];
    }
    place
}

/// Keeps the largest cluster of the clouds that changed in this update (Gu et al. 2023, III-A).
pub(super) fn denoise(objects: &mut [Known], settings: &Denoise, update: u64) {
    objects.par_iter_mut().filter(|known| known.track.changed == update).for_each(|known| {
        let cloud = &known.object.cloud;
        let Some(mut largest) =
            clusters(&cloud.points, settings.radius, settings.min_points).into_iter().next()
        else {
            return;
        };
        if largest.len() < LEAST || largest.len() == cloud.len() {
            return;
        }
        largest.sort_unstable();
        known.object.cloud = cloud.select(&largest);
        if let Some(bounds) = OrientedBox::upright_around(&known.object.cloud.points) {
            known.object.bounds = bounds;
        }
        known.cloud_changed(update);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;
    use prehend_geometry::PointCloud;
    use prehend_scene::Object;

    /// A plate of points at this height, of this half width, named and coloured so.
    fn plate(name: &str, half: i32, z: f64, color: [u8; 3], fractions: &[(&str, f64)]) -> Known {
        let step = |number: i32| 0.003 * f64::from(number);
        let points =
            (-half..=half).flat_map(|x| (-half..=half).map(move |y| Point3::new(step(x), step(y), z)));
        let cloud = PointCloud::from_points(points.collect());
        let bounds = OrientedBox::upright_around(&cloud.points).unwrap();
        let mut object = Object::unnamed(ObjectKey::default(), cloud, bounds);
        (object.class_name, object.color) = (name.to_owned(), color);
        object.color_fractions =
            fractions.iter().map(|(color, share)| ((*color).to_owned(), *share)).collect();
        Known::seen(object, 1.0, &MergeRule::default(), 1)
    }

    #[test]
    fn a_scrap_is_part_of_the_thing_of_its_name_that_has_its_colour() {
        let (rule, settings) = (MergeRule::default(), JoiningSettings::default());
        let button = plate("button", 12, 0.05, [90, 90, 95], &[("grey", 0.73), ("red", 0.27)]);
        let scrap = |name, color, word| plate(name, 4, 0.052, color, &[(word, 1.0)]);
        let (red, blue) = ([200, 30, 30], [30, 40, 200]);
        assert!(is_part(&button, &scrap("button", red, "red"), &rule, &settings), "its red cap");
        assert!(!is_part(&button, &scrap("button", blue, "blue"), &rule, &settings), "it has nothing blue");
        assert!(
            !is_part(&button, &scrap("block", red, "red"), &rule, &settings),
            "a block may lie on a button"
        );
        let spoiled = plate("button", 12, 0.05, [90, 90, 95], &[("grey", 0.97), ("red", 0.03)]);
        assert!(!is_part(&spoiled, &scrap("button", red, "red"), &rule, &settings), "a little red is noise");
        let nameless = plate("", 12, 0.05, [90, 90, 95], &[("grey", 0.73), ("red", 0.27)]);
        assert!(
            !is_part(&nameless, &scrap("", red, "red"), &rule, &settings),
            "nobody says that they are one"
        );
    }
}
