//! Which thing of a frame is which known object.

use super::furniture::rows;
use super::gone::Look;
use super::known::{Known, paired};
use prehend_geometry::BoxHash;
use prehend_scene::merge::{MergeMethod, MergeRule, semantic_similarity};
use prehend_scene::{Object, ObjectKey, furniture};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Which thing of a frame is which known object, beside the rule of merging. Colours are compared by [`crate::color::unlikeness`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AssociationSettings {
    /// Share of the votes from which a thing is what it is called.
    pub sure_share: f64,
    /// Views from which it is.
    pub sure_views: u32,
    /// Ratio of overall sizes from which two are no views of one thing.
    pub larger: f64,
    /// Least share of a scrap that lies on what it is a scrap of.
    pub scrap: f64,
    /// Greatest size of a scrap as a share of the points of what it is a scrap of.
    pub scrap_size: f64,
    /// Greatest unlikeness of the colours of a scrap and of what it is a scrap of.
    pub scrap_unlike: f64,
    /// Least ratio of sizes of a thing in its old place and in a new one, if both have one name.
    pub moved_least: f64,
    /// Greatest of those ratios.
    pub moved_most: f64,
    /// Least similarity of the features of two sightings of one name in different places.
    pub moved_similar: f64,
    /// Least ratio of sizes of what has no name.
    pub nameless_least: f64,
    /// Greatest of those ratios.
    pub nameless_most: f64,
    /// Least similarity of the features of two sightings without names in different places.
    pub nameless_similar: f64,
    /// Greatest unlikeness of the colours of what is one thing by its looks, whatever it is called.
    pub look_unlike: f64,
    /// Greatest difference of each extent of what is one thing by its looks, as a share.
    pub look_extent: f64,
    /// The same in metres on top, since what is seen of a side changes with the view.
    pub look_side: f64,
    /// Greatest unlikeness of the colours of a thing on the map, in the hand, and put down.
    pub hand_unlike: f64,
    /// Least ratio of sizes of a thing in the hand and where it was put down: it may lie otherwise there, and show other sides.
    pub put_down_least: f64,
    /// Greatest of those ratios.
    pub put_down_most: f64,
    /// Least room below what hangs at the tool, metres.
    pub hangs: f64,
    /// Greatest room between a thing and another one that it rests on, so that it does not hang, metres.
    pub rests: f64,
    /// Frames in which what the hand let go is looked for by its looks; later it is lost, and known by its name too. Three looks of three
    /// frames: where it was let go, on the way, and from home.
    pub looked_for: u32,
    /// Frames over which names are remembered: some twenty looks of three frames.
    pub remembered: f64,
}

impl Default for AssociationSettings {
    fn default() -> Self {
        Self {
            sure_share: 0.5,
            sure_views: 3,
            larger: 2.0,
            scrap: 0.8,
            scrap_size: 0.25,
            scrap_unlike: 0.12,
            moved_least: 0.5,
            moved_most: 2.0,
            moved_similar: 0.8,
            nameless_least: 0.8,
            nameless_most: 1.25,
            nameless_similar: 0.95,
            look_unlike: 0.05,
            look_extent: 0.2,
            look_side: 0.005,
            hand_unlike: 0.08,
            put_down_least: 0.65,
            put_down_most: 1.55,
            hangs: 0.05,
            rests: 0.03,
            looked_for: 9,
            remembered: 60.0,
        }
    }
}

/// For each seen thing the known object it is, by the rule's method. `near` are the boxes of the known objects.
pub(super) fn pair(
    old: &[Known],
    gone: &[bool],
    seen: &[Known],
    near: &BoxHash,
    rule: &MergeRule,
    settings: &AssociationSettings,
) -> Vec<Option<usize>> {
    match rule.method {
        MergeMethod::Prehend => one_to_one(old, gone, seen, near, rule, settings),
        MergeMethod::ConceptGraphs | MergeMethod::Asp => greedy(old, gone, seen, near, rule),
        MergeMethod::Off => vec![None; seen.len()],
    }
}

/// Best similarity first, each thing and each object once. Of equally similar pairs that of the object longer on the map comes first, then
/// that of a thing with a name, of the larger one, and of the nearer one: the order of the things in their frame decides nothing.
fn one_to_one(
    old: &[Known],
    gone: &[bool],
    seen: &[Known],
    near: &BoxHash,
    rule: &MergeRule,
    settings: &AssociationSettings,
) -> Vec<Option<usize>> {
    let scores = seen.par_iter().enumerate().flat_map_iter(|(number, thing)| {
        let can_be = |place: &usize| {
            let known = &old[*place].object;
            !gone[*place]
                && !is_within(known, &thing.object, settings)
                && !rows::in_two_rows(known, &thing.object)
        };
        near.touching(&thing.reach(rule)).into_iter().filter(can_be).filter_map(move |place| {
            Some((old[place].body().similarity(&thing.body(), rule)?, number, place))
        })
    });
    let mut scored: Vec<(f64, usize, usize)> = scores.collect();
    let tie = |number: usize, place: usize| {
        let (thing, known) = (&seen[number].object, &old[place].object);
        let apart = (thing.bounds.pose.translation.vector - known.bounds.pose.translation.vector).norm();
        (thing.class_name.is_empty(), std::cmp::Reverse(thing.cloud.len()), apart)
    };
    scored.sort_by(|a, b| {
        let by_thing = || {
            let (one, other) = (tie(a.1, a.2), tie(b.1, b.2));
            (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2))
        };
        b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)).then_with(by_thing)
    });
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

/// Whether something seen is so much larger than a known thing, and not called as it is, that the thing is in, on or before it and not the
/// same: all of the points of an apple are near those of the drawer that it lies in.
fn is_within(known: &Object, seen: &Object, settings: &AssociationSettings) -> bool {
    let is_named = !known.class_name.is_empty()
        && known.confidence >= settings.sure_share
        && known.view_count >= settings.sure_views;
    is_named
        && known.class_name != seen.class_name
        && seen.bounds.size.norm() > settings.larger * known.bounds.size.norm()
}

/// Each thing on its own goes to the object with the highest similarity (Gu et al. 2023, III-B); several may go to one. What is compared
/// is the map as it was before the frame.
fn greedy(
    old: &[Known],
    gone: &[bool],
    seen: &[Known],
    near: &BoxHash,
    rule: &MergeRule,
) -> Vec<Option<usize>> {
    let best = |thing: &Known| {
        let around = near.touching(&thing.reach(rule)).into_iter().filter(|place| !gone[*place]);
        let scored = around.filter_map(|place| Some((old[place].body().phi(&thing.object, rule)?, place)));
        // Of equals the first, which is the older.
        scored.rev().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, place)| place)
    };
    seen.par_iter().map(best).collect()
}

/// Merges the pieces of things that one frame shows (ASP IV-A): largest first, each piece goes to what it is most similar to among those
/// before it, as detections go to objects of the map.
pub(super) fn merge_within(mut seen: Vec<Known>, rule: &MergeRule, update: u64) -> Vec<Known> {
    seen.sort_by_key(|thing| std::cmp::Reverse(thing.object.cloud.len()));
    let near = super::known::boxes(seen.iter().map(|thing| &thing.object));
    // Where each thing went: things that went nowhere are whole.
    let mut place_of: Vec<usize> = (0..seen.len()).collect();
    let mut whole: Vec<Option<Known>> = Vec::with_capacity(seen.len());
    for (number, thing) in seen.into_iter().enumerate() {
        let mut around: Vec<usize> =
            near.touching(&thing.reach(rule)).into_iter().filter(|other| *other < number).collect();
        around.iter_mut().for_each(|other| *other = place_of[*other]);
        around.sort_unstable();
        around.dedup();
        let scored = around
            .into_iter()
            .filter_map(|place| Some((whole[place].as_ref()?.body().phi(&thing.object, rule)?, place)));
        match scored.rev().max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, place)) => {
                place_of[number] = place;
                if let Some(known) = &mut whole[place] {
                    known.merge(thing, rule, update);
                    // Pieces of one frame are one view.
                    known.object.view_count = 1;
                }
                whole.push(None);
            }
            None => whole.push(Some(thing)),
        }
    }
    whole.into_iter().flatten().collect()
}

/// The known object the gripper took: that which it is known to have closed on, else one of the colour (or name) of something held, and not seen in its place. One whose place is seen
/// to be empty comes before one whose place is only hidden, one of the held thing's name before others; `None` when several remain.
pub(super) fn taken(
    old: &[Known],
    looks: &[Look],
    held: &[Object],
    holds: Option<&ObjectKey>,
    pairs: &[Option<usize>],
    settings: &AssociationSettings,
) -> Option<usize> {
    let paired = paired(old.len(), pairs);
    let has_left = |place: &usize| {
        let seen = looks[*place].visibility;
        (seen.is_unconfirmed() || seen.is_gone()) && !paired[*place]
    };
    // The floor of the drawer that it lay in confirms the lowest of its points: that it is in the hand says more than its place does,
    // unless this frame shows it there.
    if let Some(key) = holds {
        return old.iter().position(|known| known.object.key == *key).filter(|place| !paired[*place]);
    }
    if held.is_empty() {
        return None;
    }
    let same_name = |known: &Object| {
        held.iter().any(|part| !part.class_name.is_empty() && part.class_name == known.class_name)
    };
    let same_color = |known: &Object| {
        held.iter().any(|part| crate::color::unlikeness(part.color, known.color) < settings.hand_unlike)
    };
    let mut fits: Vec<usize> = (0..old.len())
        .filter(|place| {
            let known = &old[*place].object;
            has_left(place) && (same_name(known) || same_color(known))
        })
        .collect();
    let is_empty = |place: &usize| looks[*place].visibility.is_gone();
    if fits.iter().any(is_empty) {
        fits.retain(is_empty);
    }
    let is_named = |place: &usize| same_name(&old[*place].object);
    if fits.iter().any(is_named) {
        fits.retain(is_named);
    }
    match fits.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Which unpaired thing is the object that was in the hand: of its colour and size, by preference of its name, and the only such.
pub(super) fn put_down(
    in_hand: &Known,
    seen: &[Known],
    pairs: &[Option<usize>],
    settings: &AssociationSettings,
) -> Option<usize> {
    let in_hand = &in_hand.object;
    let size = |o: &Object| o.bounds.size.norm().max(1e-6);
    let fits: Vec<usize> = (0..seen.len())
        .filter(|number| {
            let thing = &seen[*number].object;
            let ratio = size(in_hand) / size(thing);
            pairs[*number].is_none()
                && (settings.put_down_least..settings.put_down_most).contains(&ratio)
                && crate::color::unlikeness(in_hand.color, thing.color) < settings.hand_unlike
        })
        .collect();
    let is_named = |number: &usize| seen[*number].object.class_name == in_hand.class_name;
    let named: Vec<usize> = fits.iter().copied().filter(is_named).collect();
    match (named.as_slice(), fits.as_slice()) {
        ([only], _) | ([], [only]) => Some(*only),
        _ => None,
    }
}

/// For each thing whether it is a scrap of a known object: unpaired, small, of its colour, and on its surface. Of what has a name the
/// object must be known well, and it is no drawer or door: they lie in the surface of what they are in.
pub(super) fn scraps(
    old: &[Known],
    gone: &[bool],
    seen: &[Known],
    pairs: &[Option<usize>],
    near: &BoxHash,
    rule: &MergeRule,
    settings: &AssociationSettings,
) -> Vec<bool> {
    let is_scrap = |scrap: &Known, whole: &Known| {
        (scrap.object.cloud.len() as f64) < settings.scrap_size * whole.object.cloud.len() as f64
            && crate::color::unlikeness(scrap.object.color, whole.object.color) < settings.scrap_unlike
            && (scrap.object.class_name.is_empty() || whole.object.view_count >= settings.sure_views)
            && whole.share_of(scrap, rule) >= settings.scrap
    };
    seen.iter()
        .zip(pairs)
        .map(|(thing, pair)| {
            pair.is_none()
                && !furniture::is_panel(&thing.object.class_name)
                && near
                    .touching(&thing.reach(rule))
                    .into_iter()
                    .any(|place| !gone[place] && is_scrap(thing, &old[place]))
        })
        .collect()
}

/// For each of the free things the gone object it is, when name, colours and size agree and only one does.
pub(super) fn moved(
    old: &[Known],
    gone: &[bool],
    seen: &[Known],
    pairs: &[Option<usize>],
    is_free: &[bool],
    settings: &AssociationSettings,
) -> Vec<Option<usize>> {
    let paired = paired(old.len(), pairs);
    let left: Vec<usize> = (0..old.len()).filter(|place| gone[*place] && !paired[*place]).collect();
    let mut moves = the_only_ones(old, &left, seen, is_free, |known, thing| is_like(known, thing, settings));
    // One frame misnames what another names right: of what left its place in this very frame, looks decide where names do not.
    let left: Vec<usize> = left.into_iter().filter(|place| !moves.contains(&Some(*place))).collect();
    let is_free: Vec<bool> =
        is_free.iter().zip(&moves).map(|(free, moved)| *free && moved.is_none()).collect();
    let by_looks =
        the_only_ones(old, &left, seen, &is_free, |known, thing| looks_like(known, thing, settings));
    moves.iter_mut().zip(by_looks).for_each(|(moved, place)| *moved = moved.or(place));
    moves
}

/// For each of the free things the object that was lost before and has turned up again, when name, colours and size agree and only one
/// does.
pub(super) fn returned(
    lost: &[Known],
    seen: &[Known],
    is_free: &[bool],
    settings: &AssociationSettings,
) -> Vec<Option<usize>> {
    let all: Vec<usize> = (0..lost.len()).collect();
    // Without a name too many things are alike.
    let is_it =
        |known: &Object, thing: &Object| !known.class_name.is_empty() && is_like(known, thing, settings);
    the_only_ones(lost, &all, seen, is_free, is_it)
}

/// For each free thing the one of `places` that it is alike, when it is alike no other and no other thing is alike that one.
fn the_only_ones(
    old: &[Known],
    places: &[usize],
    seen: &[Known],
    is_free: &[bool],
    alike: impl Fn(&Object, &Object) -> bool,
) -> Vec<Option<usize>> {
    let fits: Vec<Vec<usize>> = seen
        .iter()
        .zip(is_free)
        .map(|(thing, free)| {
            let fitting = places.iter().copied().filter(|place| alike(&old[*place].object, &thing.object));
            if *free { fitting.collect() } else { Vec::new() }
        })
        .collect();
    let mut claims = vec![0_usize; old.len()];
    fits.iter().flatten().for_each(|place| claims[*place] += 1);
    fits.iter()
        .map(|places| match places.as_slice() {
            [place] if claims[*place] == 1 => Some(*place),
            _ => None,
        })
        .collect()
}

/// Whether two sightings in different places look so alike that they are one object whatever their names: in colour and in each extent.
fn looks_like(known: &Object, seen: &Object, settings: &AssociationSettings) -> bool {
    let sides = |object: &Object| {
        let size = object.bounds.size;
        [size.x.max(size.y), size.x.min(size.y), size.z]
    };
    crate::color::unlikeness(known.color, seen.color) < settings.look_unlike
        && sides(known)
            .into_iter()
            .zip(sides(seen))
            .all(|(was, is)| (was - is).abs() <= settings.look_extent * was + settings.look_side)
}

/// Whether two sightings in different places can be one object: of one name, or both without one and more alike; drawers in one row.
fn is_like(known: &Object, seen: &Object, settings: &AssociationSettings) -> bool {
    let is_named = !known.class_name.is_empty();
    let (sizes, least) = match is_named {
        true => (settings.moved_least..settings.moved_most, settings.moved_similar),
        false => (settings.nameless_least..settings.nameless_most, settings.nameless_similar),
    };
    let size = |o: &Object| o.bounds.size.norm().max(1e-6);
    known.class_name == seen.class_name
        && !rows::in_two_rows(known, seen)
        && sizes.contains(&(size(known) / size(seen)))
        && semantic_similarity(&known.features, &seen.features) > least
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;
    use prehend_geometry::{OrientedBox, PointCloud};

    /// A block of points with this name, from one corner to another.
    fn block(name: &str, low: [f64; 3], high: [f64; 3]) -> Known {
        let along = |axis: usize| {
            let steps = ((high[axis] - low[axis]) / 0.01).round() as usize;
            (0..=steps).map(move |step| low[axis] + 0.01 * step as f64)
        };
        let points: Vec<Point3<f64>> = along(0)
            .flat_map(|x| along(1).flat_map(move |y| along(2).map(move |z| Point3::new(x, y, z))))
            .collect();
        let bounds = OrientedBox::upright_around(&points).unwrap();
        let mut object = Object::unnamed(ObjectKey::default(), PointCloud::from_points(points), bounds);
        (object.class_name, object.confidence, object.view_count) = (name.to_owned(), 0.8, 5);
        Known::seen(object, 1.0, &MergeRule::default(), 1)
    }

    #[test]
    fn what_the_hand_closed_on_has_left_its_place_unless_it_is_seen_there() {
        let mut apple = block("apple", [0.4, 0.0, 0.02], [0.45, 0.05, 0.07]);
        apple.object.key = "apple_0".into();
        // What is below it is seen where its lowest points were.
        let mut look = Look::default();
        look.visibility =
            super::super::gone::Visibility { points: 100, confirmed: 45, through: 55, hidden: 0 };
        let settings = AssociationSettings::default();
        let old = [apple];
        let taken_with = |holds: Option<&ObjectKey>, pairs: &[Option<usize>]| {
            let held = [old[0].object.clone()];
            taken(&old, std::slice::from_ref(&look), &held, holds, pairs, &settings)
        };
        let key = old[0].object.key.clone();
        assert_eq!(taken_with(Some(&key), &[None]), Some(0));
        assert_eq!(taken_with(Some(&key), &[Some(0)]), None, "it is seen in its place");
        assert_eq!(taken_with(Some(&"pear_0".into()), &[None]), None);
        assert_eq!(taken_with(None, &[None]), None, "nobody says that it is this one");
    }

    #[test]
    fn what_lies_in_a_drawer_is_not_the_drawer_and_a_misnamed_view_is_the_same_thing() {
        let apple = block("apple", [0.4, 0.0, 0.02], [0.45, 0.05, 0.07]);
        let rule = MergeRule::default();
        let pair_of = |old: Vec<Known>, seen: Known| {
            let near = super::super::known::boxes(old.iter().map(|known| &known.object));
            pair(&old, &vec![false; old.len()], &[seen], &near, &rule, &AssociationSettings::default())[0]
        };
        let drawer = block("drawer", [0.3, -0.1, 0.0], [0.5, 0.2, 0.07]);
        assert_eq!(pair_of(vec![apple.clone()], drawer.clone()), None);
        assert_eq!(pair_of(vec![apple.clone(), drawer.clone()], drawer.clone()), Some(1));
        // One view calls it something else, or all that is seen of it is more than before.
        let pear = block("pear", [0.4, 0.0, 0.02], [0.45, 0.05, 0.07]);
        assert_eq!(pair_of(vec![apple.clone()], pear), Some(0));
        let mut part = block("drawer", [0.3, -0.1, 0.0], [0.3, 0.0, 0.07]);
        assert_eq!(pair_of(vec![part.clone()], drawer.clone()), Some(0));
        part.object.class_name.clear();
        assert_eq!(pair_of(vec![part], drawer.clone()), Some(0));
        // A drawer does not become the one below it, however much of both touches; its handle is at its height.
        let above = block("drawer", [0.3, -0.1, 0.07], [0.5, 0.2, 0.14]);
        assert_eq!(pair_of(vec![drawer.clone()], above.clone()), None);
        assert_eq!(
            pair_of(vec![drawer.clone(), above], block("drawer", [0.3, 0.0, 0.1], [0.3, 0.1, 0.12])),
            Some(1)
        );
        // The front behind a button, when no view names it.
        let mut front = drawer;
        front.object.class_name.clear();
        assert_eq!(pair_of(vec![apple], front), None);
    }
}
