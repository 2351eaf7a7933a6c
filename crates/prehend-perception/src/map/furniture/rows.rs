//! Drawers and doors from frame to frame: they slide, hide each other, and are torn into pieces.

use super::settings::RowSettings;
use crate::map::known::{Known, boxes, paired};
use crate::map::{UpdateReport, join, keep_names};
use crate::parts::mechanism::Front;
use nalgebra::Vector3;
use prehend_geometry::{AxisBox, BoxHash};
use prehend_scene::merge::MergeRule;
use prehend_scene::{Object, furniture, spatial};

/// Whether a drawer or door that was seen again is no longer where its points say: they are replaced then, not added to.
pub(in crate::map) fn has_slid(
    known: &Known,
    seen: &Known,
    rule: &MergeRule,
    settings: &RowSettings,
) -> bool {
    furniture::is_panel(&known.object.class_name)
        && known.share_of(seen, rule) < settings.unmoved
        && !is_strip(&seen.object, &known.object, settings)
}

/// Whether of a known drawer or door only a strip was seen: it tells that something is there, and not where the rest went. What is
/// seen to have left is taken out of the known points anyway.
fn is_strip(seen: &Object, known: &Object, settings: &RowSettings) -> bool {
    spatial::length_of(seen) < settings.strip * spatial::length_of(known)
}

/// For each known object whether it is a drawer or door that this frame shows to be several: others than the one it is paired with
/// lie on it, and together with that one they are most of it. Pieces of what a frame shows in part are no fronts.
pub(in crate::map) fn were_several(
    old: &[Known],
    seen: &[Known],
    pairs: &[Option<usize>],
    near: &BoxHash,
    rule: &MergeRule,
    settings: &RowSettings,
) -> Vec<bool> {
    let mut several = vec![false; old.len()];
    // Share of each known panel that its pair and the others that lie on it show.
    let mut shown = vec![0.0; old.len()];
    let paired = paired(old.len(), pairs);
    for (other, pair) in seen.iter().zip(pairs) {
        if let Some(place) = *pair
            && furniture::is_panel(&old[place].object.class_name)
        {
            shown[place] += other.share_of(&old[place], rule);
        }
        if !furniture::is_panel(&other.object.class_name) {
            continue;
        }
        for place in near.touching(&other.reach(rule)) {
            let known = &old[place];
            // A sliver of what something hides is no front of its own.
            let lies_on_it = paired[place]
                && *pair != Some(place)
                && furniture::is_panel(&known.object.class_name)
                && other.object.bounds.size.z > settings.whole_front * known.object.bounds.size.z
                && known.share_of(other, rule) > settings.unmoved;
            if lies_on_it {
                several[place] = true;
                shown[place] += other.share_of(known, rule);
            }
        }
    }
    several.iter().zip(shown).map(|(several, shown)| *several && shown > settings.unmoved).collect()
}

/// Whether two sightings are of drawers one above the other, between which a drawer does not change: the middle of neither is at the
/// height of the other.
pub(in crate::map) fn in_two_rows(a: &Object, b: &Object) -> bool {
    let is_drawer = |object: &Object| furniture::is_drawer(&object.class_name);
    let is_beside = |a: &Object, b: &Object| {
        let off = spatial::centre(a).z - spatial::centre(b).z;
        off.abs() > b.bounds.size.z / 2.0
    };
    is_drawer(a) && is_drawer(b) && is_beside(a, b) && is_beside(b, a)
}

/// Whether the smaller of two sightings of drawers lies in the box of the larger: no two drawers share their room.
fn is_piece(a: &Object, b: &Object, settings: &RowSettings) -> bool {
    let (small, large) = if a.bounds.volume() < b.bounds.volume() { (a, b) } else { (b, a) };
    let share = small.bounds.size.z / large.bounds.size.z.max(1e-3);
    let level = (small.bounds.top() - large.bounds.top()).abs() <= settings.level;
    (share < settings.sliver_height || share > settings.side_height && level)
        && furniture::lies_in(small, large, settings.in_box)
}

/// Whether two sightings of drawers are pieces of one that stands open: side by side at one height and both deep, unless each has a
/// front of its own farther out than the other's. Of a closed drawer only the front is seen, which is not deep.
fn is_torn(a: &Object, b: &Object, settings: &RowSettings) -> bool {
    let (smaller, larger) = if a.cloud.len() < b.cloud.len() { (a, b) } else { (b, a) };
    let level = (a.bounds.top() - b.bounds.top()).abs() <= settings.level;
    let as_high = smaller.bounds.size.z > settings.side_height * larger.bounds.size.z;
    let Some(front) = Front::find(&larger.cloud.points, &larger.viewer()).filter(|_| level && as_high) else {
        return false;
    };
    let side = Vector3::new(-front.normal.y, front.normal.x, 0.0);
    let (across_a, across_b) = (range(a, &side), range(b, &side));
    let gap = across_a.0.max(across_b.0) - across_a.1.min(across_b.1);
    // What reaches farther back than the drawer is what the drawer is in.
    let (part, whole) = (range(smaller, &front.normal), range(larger, &front.normal));
    let is_deep = (part.1 - part.0).min(whole.1 - whole.0) > settings.torn_depth;
    let is_within = part.0 > whole.0 - settings.torn_beyond && part.1 < whole.1 + settings.torn_beyond;
    let own = |object: &Object| own_front(object, &front.normal, settings);
    let two_fronts = own(a).zip(own(b)).is_some_and(|(a, b)| (a - b).abs() > settings.torn_gap);
    is_deep && is_within && gap < settings.torn_gap && !two_fronts
}

/// Range of an object's points along an axis, without the outermost 2 % on either side.
fn range(object: &Object, axis: &Vector3<f64>) -> (f64, f64) {
    let mut along: Vec<f64> = object.cloud.points.iter().map(|p| p.coords.dot(axis)).collect();
    along.sort_by(f64::total_cmp);
    let at = |share: f64| along.get((share * along.len().saturating_sub(1) as f64) as usize).copied();
    at(0.02).zip(at(0.98)).unwrap_or((0.0, 0.0))
}

/// Place along the outward normal of the front that closes a drawer: nothing but its handle stands before it. `None` of a hollow.
fn own_front(object: &Object, normal: &Vector3<f64>, settings: &RowSettings) -> Option<f64> {
    let front = Front::find(&object.cloud.points, &object.viewer())?;
    let share = |counts: &dyn Fn(f64) -> bool| {
        let points = &object.cloud.points;
        points.iter().filter(|p| counts(p.coords.dot(&front.normal) - front.offset)).count() as f64
            / points.len().max(1) as f64
    };
    let on = share(&|out| out.abs() < settings.front_on);
    let before = share(&|out| out > settings.front_handle);
    (front.normal.dot(normal) > settings.front_parallel
        && on >= settings.front_share
        && before <= settings.front_before)
        .then_some(front.offset)
}

/// Whether a frame took several known drawers or doors above each other for one: it is no sighting of any of them.
pub(in crate::map) fn spans_several(
    old: &[Known],
    gone: &[bool],
    seen: &Known,
    near: &BoxHash,
    rule: &MergeRule,
    settings: &RowSettings,
) -> bool {
    if !furniture::is_panel(&seen.object.class_name) {
        return false;
    }
    let tall = seen.object.bounds.size.z;
    let covered: Vec<&Object> = near
        .touching(&seen.reach(rule))
        .into_iter()
        .filter(|place| {
            let known = &old[*place].object;
            !gone[*place]
                && furniture::is_panel(&known.class_name)
                && known.view_count >= settings.seen_apart
                && known.bounds.size.z < settings.side_height * tall
                && seen.share_of(&old[*place], rule) > settings.unmoved
        })
        .map(|place| &old[place].object)
        .collect();
    let height = |known: &Object| (known.bounds.pose.translation.z, known.bounds.size.z);
    covered.iter().enumerate().any(|(number, a)| {
        let (at, high) = height(a);
        covered[number + 1..].iter().map(|b| height(b)).any(|(other, low)| {
            // A handle before a front is at its height.
            high.min(low) > settings.whole_front * tall && (at - other).abs() > high.min(low) / 2.0
        })
    })
}

/// Whether two sightings of drawers or doors are of one that moved: their upper edges are level, and along the way of a
/// drawer they are in line; of a door only how far apart they are tells.
fn in_one_slot(a: &Object, b: &Object, settings: &RowSettings) -> bool {
    let shift = b.bounds.pose.translation.vector - a.bounds.pose.translation.vector;
    if !furniture::is_panel(&a.class_name)
        || !furniture::is_panel(&b.class_name)
        || (a.bounds.top() - b.bounds.top()).abs() > settings.level
        || shift.xy().norm() > settings.slide
    {
        return false;
    }
    if !furniture::is_drawer(&a.class_name) {
        return true;
    }
    // The wider of the two faces: of a hollow alone only walls are seen.
    let front = |object: &Object| Front::find(&object.cloud.points, &object.viewer());
    let width = |front: &Front| front.across.1 - front.across.0;
    let wider = [front(a), front(b)].into_iter().flatten().max_by(|a, b| width(a).total_cmp(&width(b)));
    let Some(front) = wider else { return true };
    let side = Vector3::new(-front.normal.y, front.normal.x, 0.0);
    shift.dot(&side).abs() < settings.in_line * width(&front)
}

/// Makes one of drawers in one slot of a cabinet: of one that was not seen in this frame while another was, the place is hidden
/// behind it; of two that were seen, one is the front and one the hollow behind it. The older key stays.
pub(in crate::map) fn absorb_slots(
    objects: &mut Vec<Known>,
    stamp: f64,
    rule: &MergeRule,
    settings: &RowSettings,
    update: u64,
    report: &mut UpdateReport,
) {
    let is_new = |o: &Object| (o.last_seen - stamp).abs() < 1e-9;
    let is_drawer = |o: &Object| furniture::is_drawer(&o.class_name);
    if !objects.iter().any(|known| is_drawer(&known.object) && is_new(&known.object)) {
        return;
    }
    let drawers: Vec<usize> = (0..objects.len()).filter(|place| is_drawer(&objects[*place].object)).collect();
    let near = boxes(drawers.iter().map(|place| &objects[*place].object));
    let mut alive = vec![true; objects.len()];
    let mut number = 0;
    while number < drawers.len() {
        let place = drawers[number];
        let one = &objects[place].object;
        let around = if alive[place] {
            near.touching(&objects[place].reach(rule).grown(settings.slide))
        } else {
            Vec::new()
        };
        let twin =
            around.into_iter().filter(|other| *other > number).map(|other| drawers[other]).find(|twin| {
                let other = &objects[*twin].object;
                alive[*twin]
                    && is_drawer(one)
                    && is_drawer(other)
                    && (is_new(one) || is_new(other))
                    && (in_one_slot(one, other, settings)
                        || is_piece(one, other, settings)
                        || is_torn(one, other, settings))
            });
        let Some(twin) = twin else {
            number += 1;
            continue;
        };
        alive[twin] = false;
        let other = objects[twin].take();
        let known = &mut objects[place];
        join::report_joined(known, &other, report);
        match (is_new(&known.object), is_new(&other.object)) {
            (true, true) => known.merge(other, rule, update),
            (true, false) if !is_strip(&known.object, &other.object, settings) => {
                keep_names(&mut known.object, other.object.class_votes);
            }
            (true, false) => known.merge(other, rule, update),
            (false, _) if is_strip(&other.object, &known.object, settings) => {
                known.merge(other, rule, update)
            }
            (false, _) => {
                let votes = std::mem::take(&mut known.object.class_votes);
                known.replace(other);
                keep_names(&mut known.object, votes);
                report.moved.push(known.object.key.clone());
            }
        }
    }
    let mut alive = alive.into_iter();
    objects.retain(|_| alive.next().unwrap_or(true));
}

/// For each unpaired drawer or door the known one it is: at its height, not seen elsewhere, and the only such. Where it was may be
/// hidden behind its front now.
pub(in crate::map) fn slid(
    old: &[Known],
    seen: &[Known],
    pairs: &[Option<usize>],
    moves: &[Option<usize>],
    near: &BoxHash,
    settings: &RowSettings,
) -> Vec<Option<usize>> {
    let fits = |known: &Object, object: &Object| {
        known.class_name == object.class_name && in_one_slot(known, object, settings)
    };
    let (is_paired, has_moved) = (paired(old.len(), pairs), paired(old.len(), moves));
    let places: Vec<Vec<usize>> = seen
        .iter()
        .enumerate()
        .map(|(number, Known { object, .. })| {
            if pairs[number].is_some() || moves[number].is_some() || !furniture::is_panel(&object.class_name)
            {
                return Vec::new();
            }
            let mut around = near.touching(&AxisBox::around(&object.bounds).grown(settings.slide));
            around.retain(|place| {
                !is_paired[*place] && !has_moved[*place] && fits(&old[*place].object, object)
            });
            around
        })
        .collect();
    // Of several that fit one slot the largest: the others are more of it.
    let largest = |place: &usize| {
        let fitting = (0..seen.len()).filter(|number| places[*number].contains(place));
        fitting.max_by_key(|number| (seen[*number].object.cloud.len(), std::cmp::Reverse(*number)))
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
        let torn = |a: &Object, b: &Object| is_torn(a, b, &RowSettings::default());
        let half = drawer("a", -0.12, 0.18, 0.49, 0.1);
        assert!(torn(&half, &drawer("b", 0.065, 0.09, 0.49, 0.1)));
        // A piece of the hollow, whose back is no front.
        let mut hollow = drawer("b", 0.065, 0.09, 0.59, 0.0);
        hollow
            .cloud
            .points
            .extend(drawer("", 0.065, 0.09, 0.51, 0.08).cloud.points.into_iter().filter(|p| p.z == 0.15));
        assert!(torn(&half, &hollow));
        // What the drawer is in, when it is called a drawer.
        let mut body = drawer("b", -0.15, 0.36, 0.59, 0.23);
        body.cloud.points.retain(|p| p.z == 0.15);
        assert!(!torn(&half, &body));
        // Another that is not as far out, one that stands apart, one below.
        assert!(!torn(&half, &drawer("b", 0.065, 0.09, 0.55, 0.1)));
        assert!(!torn(&half, &drawer("b", 0.1, 0.09, 0.49, 0.1)));
        let mut below = drawer("b", 0.065, 0.09, 0.49, 0.1);
        below.bounds.pose.translation.z -= 0.09;
        assert!(!torn(&half, &below));
        // Two closed ones.
        assert!(!torn(&drawer("a", -0.12, 0.18, 0.6, 0.0), &drawer("b", 0.065, 0.18, 0.6, 0.0)));
    }

    /// What hides most of a drawer leaves a strip of it in sight, which may be of its side: the drawer is still all that was known.
    #[test]
    fn a_strip_of_a_drawer_is_not_all_of_it() {
        let rule = MergeRule::default();
        let known = |object: &Object| Known::seen(object.clone(), 1.0, &rule, 1);
        let settings = RowSettings::default();
        let front = drawer("a", -0.15, 0.3, 0.6, 0.0);
        let strip = drawer("b", 0.04, 0.02, 0.63, 0.0);
        assert!(!has_slid(&known(&front), &known(&strip), &rule, &settings));
        assert!(has_slid(&known(&front), &known(&drawer("b", -0.15, 0.3, 0.5, 0.0)), &rule, &settings));
        // As another drawer in its slot, before or after it in the list.
        for (first, second, new) in [(&front, &strip, 1), (&strip, &front, 0)] {
            let mut objects = vec![known(first), known(second)];
            objects[new].object.last_seen = 7.0;
            absorb_slots(&mut objects, 7.0, &rule, &settings, 1, &mut UpdateReport::default());
            let [whole] = objects.as_slice() else { panic!("{} drawers", objects.len()) };
            assert!(spatial::length_of(&whole.object) > 0.29, "{:?}", whole.object.bounds);
        }
    }

    /// Close to a drawer its middle is hidden by the hand, and the border cuts off the rest.
    #[test]
    fn pieces_of_a_drawer_that_is_seen_in_part_are_no_drawers_and_two_halves_are() {
        let rule = MergeRule::default();
        let known = |object: Object| Known::seen(object, 1.0, &rule, 1);
        let whole = drawer("a", -0.15, 0.3, 0.6, 0.0);
        let several = |first: (f64, f64), second: (f64, f64)| {
            let seen = [first, second].map(|(left, width)| known(drawer("b", left, width, 0.6, 0.0)));
            let near = boxes([&whole]);
            were_several(
                &[known(whole.clone())],
                &seen,
                &[Some(0), None],
                &near,
                &rule,
                &RowSettings::default(),
            )[0]
        };
        assert!(several((-0.15, 0.14), (0.01, 0.14)));
        assert!(!several((-0.15, 0.06), (-0.05, 0.06)));
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
        let spans = |known: [&Object; 2], gone: [bool; 2], seen: &Object| {
            let near = boxes(known);
            let [known, seen] = [known.to_vec(), vec![seen]].map(|all| {
                all.into_iter().map(|o| Known::seen(o.clone(), 1.0, &rule, 1)).collect::<Vec<_>>()
            });
            spans_several(&known, &gone, &seen[0], &near, &rule, &RowSettings::default())
        };
        assert!(spans([&lower, &upper], [false, false], &both));
        assert!(!spans([&lower, &upper], [false, true], &both));
        assert!(!spans([&lower, &upper], [false, false], &lower));
        assert!(!spans([&front(0.0, 1), &front(0.09, 1)], [false, false], &both));
    }
}
