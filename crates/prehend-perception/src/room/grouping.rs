//! Which sightings are of one thing: one decision over all of them.
//!
//! Two sightings are one thing as far as they share their room, and are two when one frame shows both. Each pair has a weight, the
//! logarithm of the odds that they are one, and groups are joined as long as the sum of the weights between two of them says so
//! (greedy additive edge contraction, Keuper et al. 2015). So a mask that runs over two things, or the half of one, stands against all that
//! other frames saw.

use super::RoomSettings;
use super::sighting::{Shared, Sighting};
use prehend_geometry::OrientedBox;
use prehend_scene::merge::semantic_similarity;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// The weights of pairs, kept from frame to frame: a sighting does not change.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    of: BTreeMap<(u64, u64), Weight>,
    /// Both directions of the pairs.
    near: BTreeMap<u64, Vec<u64>>,
}

/// Logarithms of the odds that a pair is one thing: for the share of the smaller sighting that lies in the larger, for that of the larger
/// in the smaller, and for nothing. A piece of a thing lies in it; with another name it must be nearly all of it. These and the following
/// numbers were chosen by the rooms 1 to 40 and 12001 to 12040 of `eval map --rooms`; others are in docs/benchmarks.md.
const ALIKE: [f64; 3] = [2.5, 1.0, -1.2];
const UNLIKE: [f64; 3] = [1.5, 2.5, -2.2];
/// Of furniture each view shows another side: what two do not share says little.
const FURNITURE_MORE: f64 = 0.8;
const FURNITURE_LEAST: f64 = -0.3;
/// What stands on something is not it, though the detector may say so.
const CARRIED: f64 = -0.5;
/// Two masks of one frame are two things, or halves of one that touch.
const APART: f64 = -4.0;
const HALVES: f64 = -3.0;
/// Two masks touch from this share on.
const TOUCHING: f64 = 0.02;

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight {
    odds: f64,
    /// By id: the lesser first.
    shared: Shared,
}

impl Weights {
    /// Learns all pairs of a new sighting with known ones.
    pub(super) fn learn(&mut self, new: &Sighting, known: &[Sighting], settings: &RoomSettings) {
        for other in known {
            if let Some(shared) = other.shared(new, settings) {
                let odds = odds(other, new, shared, settings);
                self.of.insert((other.id, new.id), Weight { odds, shared });
                self.near.entry(new.id).or_default().push(other.id);
                self.near.entry(other.id).or_default().push(new.id);
            }
        }
    }

    /// The sightings that may share something with one.
    fn near(&self, id: u64) -> impl Iterator<Item = u64> + '_ {
        self.near.get(&id).into_iter().flatten().copied()
    }

    /// Forgets all pairs of sightings that are gone.
    pub(super) fn retain(&mut self, is_known: impl Fn(u64) -> bool) {
        self.of.retain(|(a, b), _| is_known(*a) && is_known(*b));
        self.near.retain(|id, _| is_known(*id));
        self.near.values_mut().for_each(|others| others.retain(|id| is_known(*id)));
    }

    /// Share of the first that lies where the second is.
    pub(super) fn share(&self, a: u64, b: u64) -> f64 {
        let known = self.of.get(&(a.min(b), a.max(b)));
        known.map_or(0.0, |weight| if a < b { weight.shared.of_a } else { weight.shared.of_b })
    }
}

/// The logarithm of the odds that two sightings are of one thing; 0 when they are too far from each other to tell.
pub(super) fn odds_of(a: &Sighting, b: &Sighting, settings: &RoomSettings) -> f64 {
    a.shared(b, settings).map_or(0.0, |shared| odds(a, b, shared, settings))
}

/// The logarithm of the odds that two sightings are of one thing, by what they share, what they are called, and how large they are.
fn odds(a: &Sighting, b: &Sighting, shared: Shared, settings: &RoomSettings) -> f64 {
    let (one, other) = (&a.object.bounds, &b.object.bounds);
    let (small, of_small, of_large) = match one.size.norm() <= other.size.norm() {
        true => (a, shared.of_a, shared.of_b),
        false => (b, shared.of_b, shared.of_a),
    };
    let size = small.object.bounds.size.norm();
    let is_alike = a.object.class_name == b.object.class_name
        || semantic_similarity(&a.object.features, &b.object.features) > settings.similar;
    if a.frame == b.frame {
        let touch = of_small.max(of_large) > TOUCHING;
        return if is_alike && touch { HALVES } else { APART };
    }
    let linear = |of_small: f64, [small, large, none]: [f64; 3]| small * of_small + large * of_large + none;
    let mut odds = match is_alike {
        // In the other, or in the box around it: the leg of a table, the side of a drawer.
        true => linear(of_small.max(shared.boxed), ALIKE),
        false => linear(of_small, UNLIKE),
    };
    if size > settings.handy {
        odds = (odds + FURNITURE_MORE).max(if of_small > 0.0 { FURNITURE_LEAST } else { 0.0 });
    }
    if carries(one, other, settings) { odds.min(CARRIED) } else { odds }
}

/// Whether one of two boxes stands on the other, so that they are two things whatever a detector calls them: much smaller, and above
/// its top.
pub(super) fn carries(a: &OrientedBox, b: &OrientedBox, settings: &RoomSettings) -> bool {
    let (small, large) = if a.size.norm() < b.size.norm() { (a, b) } else { (b, a) };
    let underside = small.top() - small.size.z;
    small.size.norm() < settings.carried * large.size.norm()
        && underside > large.top() - settings.rests_below
        && small.top() > large.top() + settings.rests_above
}

/// Share of a mask from which something is a part of it; what leaves less over is all of it.
const PART: f64 = 0.2;

/// Two groups that may be joined.
struct Join {
    odds: f64,
    a: usize,
    b: usize,
}

impl PartialEq for Join {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Join {}
impl PartialOrd for Join {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Join {
    fn cmp(&self, other: &Self) -> Ordering {
        self.odds.total_cmp(&other.odds).then_with(|| (other.a, other.b).cmp(&(self.a, self.b)))
    }
}

/// Groups of sightings by their places in the slice, each of one thing; in the order of their first ones.
pub(super) fn groups(sightings: &[Sighting], weights: &Weights) -> Vec<Vec<usize>> {
    let count = sightings.len();
    let place: BTreeMap<u64, usize> =
        sightings.iter().enumerate().map(|(place, sighting)| (sighting.id, place)).collect();
    let mut edges: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); count];
    let mut open = BinaryHeap::new();
    for ((a, b), weight) in &weights.of {
        let (Some(&a), Some(&b)) = (place.get(a), place.get(b)) else { continue };
        edges[a].insert(b, weight.odds);
        edges[b].insert(a, weight.odds);
        if weight.odds > 0.0 {
            open.push(Join { odds: weight.odds, a: a.min(b), b: a.max(b) });
        }
    }
    let mut members: Vec<Vec<usize>> = (0..count).map(|place| vec![place]).collect();
    while let Some(Join { odds, a, b }) = open.pop() {
        // What was joined meanwhile has other odds.
        if edges[a].get(&b) != Some(&odds) {
            continue;
        }
        let joined = std::mem::take(&mut members[b]);
        members[a].extend(joined);
        for (other, odds) in std::mem::take(&mut edges[b]) {
            edges[other].remove(&b);
            if other == a {
                continue;
            }
            let sum = edges[a].get(&other).copied().unwrap_or(0.0) + odds;
            edges[a].insert(other, sum);
            edges[other].insert(a, sum);
            if sum > 0.0 {
                open.push(Join { odds: sum, a: a.min(other), b: a.max(other) });
            }
        }
    }
    members.retain(|group| !group.is_empty());
    members.iter_mut().for_each(|group| group.sort_unstable());
    members
}

/// The sightings of a group without those that run over a thing of another group too: more frames show a part of them and a part of it
/// apart than show all of it as one.
pub(super) fn without_merged(
    group: &[usize],
    group_of: &[usize],
    sightings: &[Sighting],
    weights: &Weights,
    settings: &RoomSettings,
) -> Vec<usize> {
    let share = |a: usize, b: usize| weights.share(sightings[a].id, sightings[b].id);
    let runs_over = |mask: usize| {
        let near = || {
            weights
                .near(sightings[mask].id)
                .filter_map(|id| sightings.binary_search_by_key(&id, |one| one.id).ok())
        };
        let is_all =
            |other: usize| share(mask, other) > settings.inside && share(other, mask) > settings.inside;
        let is_part = |other: &usize| {
            let share = share(mask, *other);
            share > PART && share < 1.0 - PART
        };
        let frames = |places: &mut dyn Iterator<Item = usize>| -> BTreeSet<u64> {
            places.map(|place| sightings[place].frame).collect()
        };
        let together = frames(&mut near().filter(|other| is_all(*other)).chain([mask]));
        let mut apart: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        for mine in near().filter(is_part).filter(|other| group_of[*other] == group_of[mask]) {
            for theirs in near().filter(is_part).filter(|other| group_of[*other] != group_of[mask]) {
                let least = 1.0 - settings.inside;
                if sightings[mine].frame == sightings[theirs].frame
                    && share(mine, theirs).max(share(theirs, mine)) < least
                {
                    apart.entry(group_of[theirs]).or_default().insert(sightings[mine].frame);
                }
            }
        }
        apart.values().any(|frames| frames.len() > together.len())
    };
    let kept: Vec<usize> = group.iter().copied().filter(|mask| !runs_over(*mask)).collect();
    if kept.is_empty() { group.to_vec() } else { kept }
}
