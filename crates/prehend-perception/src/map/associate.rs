//! Which thing of a frame is which known object.

use super::{UpdateReport, Visibility};
use crate::parts::mechanism::Front;
use crate::parts::viewer_of;
use nalgebra::Vector3;
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

/// Farthest a drawer or door is followed along its way, metres.
const SLIDE: f64 = 0.45;
/// Least height of one of several fronts that were taken for one, as a share of its height.
const WHOLE_FRONT: f64 = 0.25;
/// Greatest difference of the upper edges of one drawer, metres.
const LEVEL: f64 = 0.025;
/// Greatest offset of one drawer across its way, as a share of its width.
const IN_LINE: f64 = 0.3;
/// Least share of a view of a drawer that lies on what is known of it while it stays in its place.
const UNMOVED: f64 = 0.6;

/// Whether a drawer or door that was seen again is no longer where its points say: they are replaced then, not added to.
pub(super) fn has_slid(known: &Object, seen: &Object, rule: &MergeRule) -> bool {
    fixture::is_panel(&known.class_name)
        && overlap_ratio(&seen.cloud.points, &known.cloud.points, rule.distance) < UNMOVED
}

/// For each known object whether it is a drawer or door that this frame shows to be several: others than the one it is paired with
/// lie on it for the most part.
pub(super) fn were_several(
    old: &[Object],
    seen: &[Object],
    pairs: &[Option<usize>],
    rule: &MergeRule,
) -> Vec<bool> {
    old.iter()
        .enumerate()
        .map(|(place, known)| {
            fixture::is_panel(&known.class_name)
                && pairs.contains(&Some(place))
                && seen.iter().zip(pairs).any(|(other, pair)| {
                    *pair != Some(place)
                        && fixture::is_panel(&other.class_name)
                        // A sliver of what something hides is no front of its own.
                        && other.bounds.size.z > WHOLE_FRONT * known.bounds.size.z
                        && overlap_ratio(&other.cloud.points, &known.cloud.points, rule.distance) > UNMOVED
                })
        })
        .collect()
}

/// Height of a piece of a drawer, as a share of the drawer's: less is a handle or a sliver, more is a whole side.
const PIECE: (f64, f64) = (0.4, 0.7);
/// Share of the points of a piece in the box of its drawer.
const IN_BOX: f64 = 0.7;

/// Whether the smaller of two sightings of drawers lies in the box of the larger: no two drawers share their room.
fn is_piece(a: &Object, b: &Object) -> bool {
    let (small, large) = if a.bounds.volume() < b.bounds.volume() { (a, b) } else { (b, a) };
    let share = small.bounds.size.z / large.bounds.size.z.max(1e-3);
    let level = (small.bounds.top() - large.bounds.top()).abs() <= LEVEL;
    (share < PIECE.0 || share > PIECE.1 && level) && fixture::lies_in(small, large, IN_BOX)
}

/// Whether two sightings of drawers or doors are of one that moved: their upper edges are level, and along the way of a
/// drawer they are in line; of a door only how far apart they are tells.
fn in_one_slot(a: &Object, b: &Object) -> bool {
    let shift = b.bounds.pose.translation.vector - a.bounds.pose.translation.vector;
    if !fixture::is_panel(&a.class_name)
        || !fixture::is_panel(&b.class_name)
        || (a.bounds.top() - b.bounds.top()).abs() > LEVEL
        || shift.xy().norm() > SLIDE
    {
        return false;
    }
    if !a.class_name.ends_with("drawer") {
        return true;
    }
    // The wider of the two faces: of a hollow alone only walls are seen.
    let front = |object: &Object| Front::find(&object.cloud.points, &viewer_of(object));
    let width = |front: &Front| front.across.1 - front.across.0;
    let wider = [front(a), front(b)].into_iter().flatten().max_by(|a, b| width(a).total_cmp(&width(b)));
    let Some(front) = wider else { return true };
    let side = Vector3::new(-front.normal.y, front.normal.x, 0.0);
    shift.dot(&side).abs() < IN_LINE * width(&front)
}

/// Makes one of drawers in one slot of a cabinet: of one that was not seen in this frame while another was, the place is hidden
/// behind it; of two that were seen, one is the front and one the hollow behind it. The older key stays.
pub(super) fn absorb_slots(
    objects: &mut Vec<Object>,
    stamp: f64,
    rule: &MergeRule,
    report: &mut UpdateReport,
) {
    let is_new = |o: &Object| (o.last_seen - stamp).abs() < 1e-9;
    let is_drawer = |o: &Object| o.class_name.ends_with("drawer");
    let mut place = 0;
    while place < objects.len() {
        let (one, rest) = (&objects[place], &objects[place + 1..]);
        let twin = rest.iter().position(|other| {
            is_drawer(one)
                && is_drawer(other)
                && (is_new(one) || is_new(other))
                && (in_one_slot(one, other) || is_piece(one, other))
        });
        let Some(twin) = twin.map(|twin| place + 1 + twin) else {
            place += 1;
            continue;
        };
        let mut other = objects.remove(twin);
        let known = &mut objects[place];
        report.added.retain(|key| *key != other.key);
        report.merged.retain(|key| *key != other.key);
        report.removed.push(other.key.clone());
        match (is_new(known), is_new(&other)) {
            (true, true) => merge_into(known, other, rule),
            (true, false) => super::keep_names(known, other.class_votes),
            (false, _) => {
                other.key = known.key.clone();
                super::keep_names(&mut other, std::mem::take(&mut known.class_votes));
                report.moved.push(other.key.clone());
                *known = other;
            }
        }
    }
}

/// For each unpaired drawer or door the known one it is: at its height, not seen elsewhere, and the only such. Where it was may be
/// hidden behind its front now.
pub(super) fn slid(
    old: &[Object],
    seen: &[Object],
    pairs: &[Option<usize>],
    moves: &[Option<usize>],
) -> Vec<Option<usize>> {
    let fits =
        |known: &Object, object: &Object| known.class_name == object.class_name && in_one_slot(known, object);
    let free = |place: &usize| !pairs.contains(&Some(*place)) && !moves.contains(&Some(*place));
    let places: Vec<Vec<usize>> = seen
        .iter()
        .enumerate()
        .map(|(number, object)| {
            if pairs[number].is_some() || moves[number].is_some() {
                return Vec::new();
            }
            (0..old.len()).filter(free).filter(|place| fits(&old[*place], object)).collect()
        })
        .collect();
    // Of several that fit one slot the largest: the others are more of it.
    let largest = |place: &usize| {
        let fitting = (0..seen.len()).filter(|number| places[*number].contains(place));
        fitting.max_by_key(|number| (seen[*number].cloud.len(), std::cmp::Reverse(*number)))
    };
    places
        .iter()
        .enumerate()
        .map(|(number, found)| match found.as_slice() {
            [place] if largest(place) == Some(number) => Some(*place),
            _ => None,
        })
        .collect()
}

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
