//! Which thing of a frame is which known object.

use super::{UpdateReport, Visibility};
use prehend_geometry::voxel::overlap_ratio;
use prehend_scene::merge::{MergeRule, merge_into, semantic_similarity, similarity};
use prehend_scene::{Object, ObjectKey, fixture};

/// For each seen thing the known object it is, best similarity first, one to one.
pub(super) fn pair(old: &[Object], gone: &[bool], seen: &[Object], rule: &MergeRule) -> Vec<Option<usize>> {
    let mut scored: Vec<(f64, usize, usize)> = Vec::new();
    for (number, object) in seen.iter().enumerate() {
        for (place, known) in old.iter().enumerate().filter(|(place, _)| !gone[*place]) {
            if let Some(score) = similarity(known, object, rule) {
                scored.push((score, number, place));
            }
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut pairs = vec![None; seen.len()];
    let mut taken = vec![false; old.len()];
    for (_, number, place) in scored {
        if pairs[number].is_none() && !taken[place] {
            pairs[number] = Some(place);
            taken[place] = true;
        }
    }
    pairs
}

/// The known object the gripper took: that which it is known to have closed on, else one of the colour (or name) of something held, and not seen in its place. One whose place is seen
/// to be empty comes before one whose place is only hidden, one of the held thing's name before others; `None` when several remain.
pub(super) fn taken(
    old: &[Object],
    looks: &[Visibility],
    held: &[Object],
    holds: Option<&ObjectKey>,
    pairs: &[Option<usize>],
) -> Option<usize> {
    let has_left = |place: &usize| looks[*place].is_unconfirmed() && !pairs.contains(&Some(*place));
    if let Some(key) = holds {
        return old.iter().position(|known| known.key == *key).filter(has_left);
    }
    let same_name = |known: &Object| {
        held.iter().any(|part| !part.class_name.is_empty() && part.class_name == known.class_name)
    };
    let same_color =
        |known: &Object| held.iter().any(|part| crate::color::unlikeness(part.color, known.color) < 0.08);
    let mut fits: Vec<usize> = (0..old.len())
        .filter(|place| has_left(place) && (same_name(&old[*place]) || same_color(&old[*place])))
        .collect();
    let is_empty = |place: &usize| looks[*place].is_gone();
    if fits.iter().any(is_empty) {
        fits.retain(is_empty);
    }
    let is_named = |place: &usize| same_name(&old[*place]);
    if fits.iter().any(is_named) {
        fits.retain(is_named);
    }
    match fits.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Which unpaired thing is the object that was in the hand: of its colour and size, by preference of its name, and the only such.
pub(super) fn put_down(in_hand: &Object, seen: &[Object], pairs: &[Option<usize>]) -> Option<usize> {
    let size = |o: &Object| o.bounds.size.norm().max(1e-6);
    let fits: Vec<usize> = (0..seen.len())
        .filter(|number| {
            let ratio = size(in_hand) / size(&seen[*number]);
            pairs[*number].is_none()
                && (0.5..2.0).contains(&ratio)
                && crate::color::unlikeness(in_hand.color, seen[*number].color) < 0.08
        })
        .collect();
    let named: Vec<usize> =
        fits.iter().copied().filter(|number| seen[*number].class_name == in_hand.class_name).collect();
    match (named.as_slice(), fits.as_slice()) {
        ([only], _) | ([], [only]) => Some(*only),
        _ => None,
    }
}

/// For each unpaired thing without a name the known object it is a scrap of: small, of its colour, and on its surface.
pub(super) fn scraps(
    old: &[Object],
    gone: &[bool],
    seen: &[Object],
    pairs: &[Option<usize>],
    rule: &MergeRule,
) -> Vec<Option<usize>> {
    let is_scrap = |scrap: &Object, whole: &Object| {
        scrap.cloud.len() * 4 < whole.cloud.len()
            && crate::color::unlikeness(scrap.color, whole.color) < 0.12
            && overlap_ratio(&scrap.cloud.points, &whole.cloud.points, rule.distance) >= 0.8
    };
    seen.iter()
        .zip(pairs)
        .map(|(object, pair)| {
            let free = pair.is_none() && object.class_name.is_empty();
            (0..old.len()).find(|place| free && !gone[*place] && is_scrap(object, &old[*place]))
        })
        .collect()
}

/// For each unpaired thing the gone object it is, when name, colours and size agree and only one does.
pub(super) fn moved(
    old: &[Object],
    gone: &[bool],
    seen: &[Object],
    pairs: &[Option<usize>],
) -> Vec<Option<usize>> {
    let candidates: Vec<usize> =
        (0..old.len()).filter(|place| gone[*place] && !pairs.contains(&Some(*place))).collect();
    let fits: Vec<Vec<usize>> = seen
        .iter()
        .enumerate()
        .map(|(number, object)| {
            if pairs[number].is_some() {
                return Vec::new();
            }
            candidates.iter().copied().filter(|place| is_like(&old[*place], object)).collect()
        })
        .collect();
    fits.iter()
        .map(|places| match places.as_slice() {
            [place] if fits.iter().filter(|other| other.contains(place)).count() == 1 => Some(*place),
            _ => None,
        })
        .collect()
}

/// Whether two sightings in different places can be one object.
fn is_like(known: &Object, seen: &Object) -> bool {
    let named = !known.class_name.is_empty() && known.class_name == seen.class_name;
    let size = |o: &Object| o.bounds.size.norm().max(1e-6);
    let ratio = size(known) / size(seen);
    named && (0.5..2.0).contains(&ratio) && semantic_similarity(&known.features, &seen.features) > 0.8
}

/// Least share of a cloud that lies on another when it is a part of that one, and greatest difference of their colours.
const PART: (f64, f64) = (0.8, 0.12);

/// Merges known objects that cover each other when one of them was not seen in this frame, so that it is an older view of the
/// other; and those of one name and colour of which one is a part of the other, because frames split them differently.
pub(super) fn absorb_duplicates(
    objects: &mut Vec<Object>,
    stamp: f64,
    rule: &MergeRule,
    report: &mut UpdateReport,
) {
    let is_new = |o: &Object| (o.last_seen - stamp).abs() < 1e-9;
    let mut place = 0;
    while place < objects.len() {
        let twin = (place + 1..objects.len()).find(|other| {
            let (a, b) = (&objects[place], &objects[*other]);
            // Two fronts in one frame are two.
            let fronts = is_new(a) && is_new(b) && fixture::is_panel(&a.class_name);
            is_part(a, b, rule) && !fronts || !(is_new(a) && is_new(b)) && covers(a, b, rule)
        });
        match twin {
            Some(twin) => {
                let other = objects.remove(twin);
                let lost = other.key.clone();
                merge_into(&mut objects[place], other, rule);
                report.added.retain(|key| *key != lost);
                report.merged.retain(|key| *key != lost);
                report.merged.push(objects[place].key.clone());
                report.removed.push(lost);
            }
            None => place += 1,
        }
    }
}

/// Whether each of two clouds lies on the other for the most part.
fn covers(a: &Object, b: &Object, rule: &MergeRule) -> bool {
    let apart = (a.bounds.pose.translation.vector - b.bounds.pose.translation.vector).norm();
    if apart > (a.bounds.size.norm() + b.bounds.size.norm()) / 4.0 + rule.distance {
        return false;
    }
    overlap_ratio(&a.cloud.points, &b.cloud.points, rule.distance) > 0.6
        && overlap_ratio(&b.cloud.points, &a.cloud.points, rule.distance) > 0.6
}

/// Whether the smaller of two objects of one name and colour lies on the larger.
fn is_part(a: &Object, b: &Object, rule: &MergeRule) -> bool {
    let (small, large) = if a.cloud.len() < b.cloud.len() { (a, b) } else { (b, a) };
    let alike = a.class_name == b.class_name && crate::color::unlikeness(a.color, b.color) < PART.1;
    alike && overlap_ratio(&small.cloud.points, &large.cloud.points, rule.distance) >= PART.0
}
