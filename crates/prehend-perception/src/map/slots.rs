//! Drawers and doors from frame to frame: they slide, hide each other, and are torn into pieces.

use super::UpdateReport;
use crate::parts::mechanism::Front;
use nalgebra::Vector3;
use prehend_geometry::voxel::overlap_ratio;
use prehend_scene::merge::{MergeRule, merge_into};
use prehend_scene::{Object, fixture};

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

/// Pieces of an open drawer: how deep each is at least, how far apart their sides and their fronts are at most, and how far the
/// smaller reaches beyond the larger in depth, metres.
const TORN: (f64, f64, f64) = (0.06, 0.015, 0.03);
/// Distance of what belongs to a front from its plane, how far its handle stands out, metres, and the least share of the points of
/// a drawer that are on its front and the greatest before it.
const FRONT: (f64, f64, f64, f64) = (0.012, 0.045, 0.15, 0.1);
/// Views after which two drawers above each other are known to be two.
const SEEN_APART: u32 = 2;

/// Whether the smaller of two sightings of drawers lies in the box of the larger: no two drawers share their room.
fn is_piece(a: &Object, b: &Object) -> bool {
    let (small, large) = if a.bounds.volume() < b.bounds.volume() { (a, b) } else { (b, a) };
    let share = small.bounds.size.z / large.bounds.size.z.max(1e-3);
    let level = (small.bounds.top() - large.bounds.top()).abs() <= LEVEL;
    (share < PIECE.0 || share > PIECE.1 && level) && fixture::lies_in(small, large, IN_BOX)
}

/// Whether two sightings of drawers are pieces of one that stands open: side by side at one height and both deep, unless each has a
/// front of its own farther out than the other's. Of a closed drawer only the front is seen, which is not deep.
fn is_torn(a: &Object, b: &Object) -> bool {
    let (smaller, larger) = if a.cloud.len() < b.cloud.len() { (a, b) } else { (b, a) };
    let level = (a.bounds.top() - b.bounds.top()).abs() <= LEVEL;
    let as_high = smaller.bounds.size.z > PIECE.1 * larger.bounds.size.z;
    let Some(front) = Front::find(&larger.cloud.points, &larger.viewer()).filter(|_| level && as_high) else {
        return false;
    };
    let side = Vector3::new(-front.normal.y, front.normal.x, 0.0);
    let (across_a, across_b) = (range(a, &side), range(b, &side));
    let gap = across_a.0.max(across_b.0) - across_a.1.min(across_b.1);
    // What reaches farther back than the drawer is what the drawer is in.
    let (part, whole) = (range(smaller, &front.normal), range(larger, &front.normal));
    let is_deep = (part.1 - part.0).min(whole.1 - whole.0) > TORN.0;
    let is_within = part.0 > whole.0 - TORN.2 && part.1 < whole.1 + TORN.2;
    let own = |object: &Object| own_front(object, &front.normal);
    let two_fronts = own(a).zip(own(b)).is_some_and(|(a, b)| (a - b).abs() > TORN.1);
    is_deep && is_within && gap < TORN.1 && !two_fronts
}

/// Range of an object's points along an axis, without the outermost 2 % on either side.
fn range(object: &Object, axis: &Vector3<f64>) -> (f64, f64) {
    let mut along: Vec<f64> = object.cloud.points.iter().map(|p| p.coords.dot(axis)).collect();
    along.sort_by(f64::total_cmp);
    let at = |share: f64| along.get((share * along.len().saturating_sub(1) as f64) as usize).copied();
    at(0.02).zip(at(0.98)).unwrap_or((0.0, 0.0))
}

/// Place along the outward normal of the front that closes a drawer: nothing but its handle stands before it. `None` of a hollow.
fn own_front(object: &Object, normal: &Vector3<f64>) -> Option<f64> {
    let front = Front::find(&object.cloud.points, &object.viewer())?;
    let share = |counts: &dyn Fn(f64) -> bool| {
        let points = &object.cloud.points;
        points.iter().filter(|p| counts(p.coords.dot(&front.normal) - front.offset)).count() as f64
            / points.len().max(1) as f64
    };
    let on = share(&|out| out.abs() < FRONT.0);
    let before = share(&|out| out > FRONT.1);
    (front.normal.dot(normal) > 0.9 && on >= FRONT.2 && before <= FRONT.3).then_some(front.offset)
}

/// Whether a frame took several known drawers or doors above each other for one: it is no sighting of any of them.
pub(super) fn spans_several(old: &[Object], gone: &[bool], seen: &Object, rule: &MergeRule) -> bool {
    if !fixture::is_panel(&seen.class_name) {
        return false;
    }
    let covered: Vec<&Object> = old
        .iter()
        .zip(gone)
        .filter(|(known, gone)| {
            !**gone
                && fixture::is_panel(&known.class_name)
                && known.view_count >= SEEN_APART
                && known.bounds.size.z < PIECE.1 * seen.bounds.size.z
                && overlap_ratio(&known.cloud.points, &seen.cloud.points, rule.distance) > UNMOVED
        })
        .map(|(known, _)| known)
        .collect();
    let height = |known: &Object| (known.bounds.pose.translation.z, known.bounds.size.z);
    covered.iter().enumerate().any(|(number, a)| {
        let (at, high) = height(a);
        covered[number + 1..].iter().map(|b| height(b)).any(|(other, tall)| {
            // A handle before a front is at its height.
            high.min(tall) > WHOLE_FRONT * seen.bounds.size.z && (at - other).abs() > high.min(tall) / 2.0
        })
    })
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
    let front = |object: &Object| Front::find(&object.cloud.points, &object.viewer());
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
                && (in_one_slot(one, other) || is_piece(one, other) || is_torn(one, other))
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

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Point3};
    use prehend_geometry::{OrientedBox, PointCloud};

    /// A drawer's front of this width whose left end is at `left`, with so much of its hollow behind it, seen from the origin.
    fn drawer(key: &str, left: f64, width: f64, out: f64, depth: f64) -> Object {
        let mut points = Vec::new();
        let steps = |length: f64| (0..=(length / 0.004) as usize).map(|step| step as f64 * 0.004);
        for y in steps(width) {
            points.extend(steps(0.08).map(|z| Point3::new(out, left + y, 0.14 + z)));
            points.extend(steps(depth).map(|x| Point3::new(out + x, left + y, 0.15)));
        }
        let bounds = OrientedBox {
            pose: Isometry3::translation(out + depth / 2.0, left + width / 2.0, 0.18),
            size: Vector3::new(depth.max(0.004), width, 0.08),
        };
        let cloud = PointCloud::from_points(points);
        Object { class_name: "drawer".to_owned(), ..Object::unnamed(key.into(), cloud, bounds) }
    }

    #[test]
    fn halves_of_an_open_drawer_are_one_and_drawers_side_by_side_are_not() {
        let half = drawer("a", -0.12, 0.18, 0.49, 0.1);
        assert!(is_torn(&half, &drawer("b", 0.065, 0.09, 0.49, 0.1)));
        // A piece of the hollow, whose back is no front.
        let mut hollow = drawer("b", 0.065, 0.09, 0.59, 0.0);
        hollow
            .cloud
            .points
            .extend(drawer("", 0.065, 0.09, 0.51, 0.08).cloud.points.into_iter().filter(|p| p.z == 0.15));
        assert!(is_torn(&half, &hollow));
        // What the drawer is in, when it is called a drawer.
        let mut body = drawer("b", -0.15, 0.36, 0.59, 0.23);
        body.cloud.points.retain(|p| p.z == 0.15);
        assert!(!is_torn(&half, &body));
        // Another that is not as far out, one that stands apart, one below.
        assert!(!is_torn(&half, &drawer("b", 0.065, 0.09, 0.55, 0.1)));
        assert!(!is_torn(&half, &drawer("b", 0.1, 0.09, 0.49, 0.1)));
        let mut below = drawer("b", 0.065, 0.09, 0.49, 0.1);
        below.bounds.pose.translation.z -= 0.09;
        assert!(!is_torn(&half, &below));
        // Two closed ones.
        assert!(!is_torn(&drawer("a", -0.12, 0.18, 0.6, 0.0), &drawer("b", 0.065, 0.18, 0.6, 0.0)));
    }

    #[test]
    fn what_spans_two_known_fronts_is_no_sighting_of_one() {
        let rule = MergeRule::default();
        let front = |above: f64, views: u32| {
            let mut object = drawer("a", -0.15, 0.3, 0.6, 0.0);
            object.cloud.points.iter_mut().for_each(|p| p.z += above);
            object.bounds.pose.translation.z += above;
            object.view_count = views;
            object
        };
        let (lower, upper) = (front(0.0, 2), front(0.09, 2));
        let mut both = lower.clone();
        both.cloud.points.extend(upper.cloud.points.iter().copied());
        both.bounds.size.z = 0.17;
        let known = [lower, upper];
        assert!(spans_several(&known, &[false, false], &both, &rule));
        assert!(!spans_several(&known, &[false, true], &both, &rule));
        assert!(!spans_several(&known, &[false, false], &known[0], &rule));
        assert!(!spans_several(&[front(0.0, 1), front(0.09, 1)], &[false, false], &both, &rule));
    }
}
