//! Old objects and those of a frame become the new list.

use super::furniture::{bank, rows};
use super::known::{Known, boxes, paired};
use super::{
    MapBuilder, MapSettings, Sights, UpdateReport, associate, existence, gone, join, keep_names, touching,
};
use prehend_scene::ObjectKey;
use prehend_scene::merge::MergeMethod;
use rayon::prelude::*;

/// Most objects that left their places unseen and are recognised when they turn up.
const LOST: usize = 32;

/// What becomes of the things of a frame, by their numbers, and of the known objects, by their places.
struct Assignment {
    /// The known object each thing is.
    pairs: Vec<Option<usize>>,
    /// The known object each thing is that left its place.
    moves: Vec<Option<usize>>,
    /// The object that was lost in an earlier frame and that each thing is, by its place among those.
    returns: Vec<Option<usize>>,
    /// Things that are scraps of known objects.
    scraps: Vec<bool>,
    /// Known objects that this frame shows to be several.
    several: Vec<bool>,
    /// Known objects that are none: several things of which each is known for itself.
    torn: Vec<bool>,
    /// Known objects whose place is seen to be empty.
    gone: Vec<bool>,
    /// Place from which on the known objects were in the hand.
    on_map: usize,
}

/// Which thing of a frame each pixel shows, from 1: those that are to be assigned, then the drawers of banks, with their keys.
#[derive(Default)]
struct Shown {
    owners: Vec<u16>,
    drawers: Vec<Option<ObjectKey>>,
}

/// A thing of a frame that is a known object, and what that makes of the object.
struct Sighting {
    thing: Known,
    how: How,
}

enum How {
    /// More of what the same frame has shown of it.
    Piece,
    /// All that is known of it from now on.
    Instead,
    /// The same, but for its names: the object turned out to be several.
    Named,
    /// One more view of what has not moved.
    More,
    /// One more view; where a drawer has slid, as [`How::Named`].
    Merged,
}

/// What an older frame called a thing counts a little less with each new one: a name that came from a mistake, or from another thing, is
/// outvoted by what is seen now, however long it stood. `remembered` is the number of frames over which it counts.
fn fade(votes: &mut [(String, f64)], remembered: f64) {
    votes.iter_mut().for_each(|(_, weight)| *weight *= 1.0 - 1.0 / remembered);
}

impl Sighting {
    fn settle(self, known: &mut Known, settings: &MapSettings, update: u64) {
        let rule = &settings.merge;
        let Self { mut thing, how } = self;
        match how {
            How::Piece => {
                known.merge(thing, rule, update);
                known.object.view_count = known.object.view_count.saturating_sub(1).max(1);
                return;
            }
            How::Instead => return known.replace(thing),
            How::Named | How::More | How::Merged => {}
        }
        fade(&mut known.object.class_votes, settings.association.remembered);
        let named = match how {
            How::Merged => {
                rule.method == MergeMethod::Prehend
                    && rows::has_slid(known, &thing, rule, &settings.furniture.rows)
            }
            _ => matches!(how, How::Named),
        };
        if named {
            keep_names(&mut thing.object, std::mem::take(&mut known.object.class_votes));
            known.replace(thing);
        } else {
            known.merge(thing, rule, update);
        }
    }
}

impl MapBuilder {
    /// The objects after a frame; old ones come first, in their order.
    pub(super) fn associate(
        &mut self,
        mut old: Vec<Known>,
        mut sights: Sights<'_>,
        reset: bool,
        report: &mut UpdateReport,
    ) -> Vec<Known> {
        let (rule, update, stamp) = (self.settings.merge, self.updates, sights.frame.stamp);
        if rule.method == MergeMethod::Asp {
            sights.seen = associate::merge_within(std::mem::take(&mut sights.seen), &rule, update);
        }
        // Drawers of a bank are known by their places; what follows is for all else.
        let is_of_bank = |known: &mut Known| known.track.slot.is_some();
        let drawers: Vec<Known> = old.extract_if(.., is_of_bank).collect();
        if rule.method == MergeMethod::Prehend {
            sights.seen = self.banks.sort(std::mem::take(&mut sights.seen), &rule, update);
        }
        let seen_drawers: Vec<Known> = sights.seen.extract_if(.., is_of_bank).collect();
        let mut shown = Shown::default();
        if rule.method == MergeMethod::Prehend && !reset {
            let all = sights.seen.iter().chain(&seen_drawers);
            shown.owners = touching::owners(all, sights.frame.depth.millimetres.len());
            shown.drawers = seen_drawers.iter().map(|thing| thing.track.slot.clone()).collect();
        }
        let (drawers, slid) = self.settle_drawers(drawers, seen_drawers, &sights, reset, report);
        self.banks.carry(&slid, &mut old, update);
        let assignment = self.assign(&mut old, &mut sights, &shown, reset, report);
        let mut objects = self.settle(old, sights.seen, assignment, reset, report);
        for known in objects.extract_if(.., |known| known.track.piece_of.is_some()) {
            if let Some(whole) = &known.track.piece_of {
                join::report_lost(known.object.key, whole, report);
            }
        }
        match rule.method {
            MergeMethod::Prehend => {
                let MapSettings { joining, furniture, .. } = &self.settings;
                join::absorb_duplicates(&mut objects, stamp, &rule, joining, update, report);
                rows::absorb_slots(&mut objects, stamp, &rule, &furniture.rows, update, report);
                objects.extend(drawers);
                self.banks.learn(&mut objects, &rule, update, report);
            }
            MergeMethod::ConceptGraphs | MergeMethod::Asp => {
                if let Some(settings) = &rule.join {
                    join::join_overlapping(&mut objects, settings, &rule, update, report);
                }
            }
            MergeMethod::Off => {}
        }
        if let Some(settings) = &rule.denoise {
            join::denoise(&mut objects, settings, update);
        }
        objects
    }

    /// The drawers of banks after a frame: each is what the frame shows in its place. Drawers stay in their cabinet: one that is not seen
    /// where it was has slid to where it cannot be seen, unless all of its bank have left their places. With them how they slid.
    fn settle_drawers(
        &mut self,
        mut old: Vec<Known>,
        seen: Vec<Known>,
        sights: &Sights<'_>,
        reset: bool,
        report: &mut UpdateReport,
    ) -> (Vec<Known>, Vec<bank::Slid>) {
        let (settings, update) = (self.settings, self.updates);
        let sight = gone::Sight::new(sights.frame, sights.scene, sights.sigma, settings.leaving);
        let mut is_gone = Vec::with_capacity(old.len());
        for known in &mut old {
            let look = sight.look(&known.object, &[]);
            let is_seen = seen.iter().any(|thing| thing.track.slot == known.track.slot);
            if look.visibility.is_gone() && !is_seen {
                is_gone.push(known.object.key.clone());
            } else if !look.visibility.is_gone() && gone::carve(&mut known.object, &look, &settings.leaving) {
                known.cloud_changed(update);
            }
        }
        self.banks.leave(|key| is_gone.contains(key));
        if reset {
            let is_seen = |known: &mut Known| seen.iter().any(|thing| thing.track.slot == known.track.slot);
            let kept: Vec<Known> = old.extract_if(.., is_seen).collect();
            report.removed.extend(old.into_iter().map(|known| known.object.key));
            old = kept;
        }
        let mut all_slid = Vec::new();
        for mut thing in seen {
            let Some(key) = thing.track.slot.clone() else { continue };
            let Some(known) = old.iter_mut().find(|known| known.object.key == key) else {
                self.ages += 1;
                thing.track.age = self.ages;
                thing.object.key = key.clone();
                report.added.push(key);
                old.push(thing);
                continue;
            };
            report.merged.push(key);
            let how = match self.banks.slid(known, &thing) {
                _ if reset => How::Instead,
                None => How::More,
                Some(slid) => {
                    self.banks.bring(&slid, known, &mut thing, settings.merge.leaf, update);
                    all_slid.push(slid);
                    How::Named
                }
            };
            Sighting { thing, how }.settle(known, &settings, update);
        }
        (old, all_slid)
    }

    /// Says what is what. What is seen to be elsewhere is taken out of the old clouds before anything is compared; what the gripper
    /// took leaves the list, and what it put down comes back to it.
    fn assign(
        &mut self,
        old: &mut Vec<Known>,
        sights: &mut Sights<'_>,
        shown: &Shown,
        reset: bool,
        report: &mut UpdateReport,
    ) -> Assignment {
        let MapSettings {
            merge: rule,
            association,
            touching: apart,
            existence: doubting,
            leaving,
            furniture,
            ..
        } = self.settings;
        let is_ours = rule.method == MergeMethod::Prehend;
        let sight = gone::Sight::new(sights.frame, sights.scene, sights.sigma, leaving);
        let update = self.updates;
        let look = |known: &mut Known| {
            let look = sight.look(&known.object, &shown.owners);
            if !look.visibility.is_gone() && gone::carve(&mut known.object, &look, &leaving) {
                known.cloud_changed(update);
            }
            look
        };
        let looks: Vec<gone::Look> = old.par_iter_mut().map(look).collect();
        let mut gone: Vec<bool> = looks.iter().map(|look| look.visibility.is_gone()).collect();
        let mut several = touching::are_several(old, &looks, &sights.seen, &rule, &apart);
        let mut near = boxes(old.iter().map(|known| &known.object));
        let mut spanning = Vec::new();
        let is_named: Vec<bool> =
            sights.seen.iter().map(|thing| !thing.object.class_name.is_empty()).collect();
        if !reset && is_ours {
            spanning = touching::spanning(old, &looks, &sights.seen, &rule, &apart);
            for (spans, thing) in spanning.iter_mut().zip(&sights.seen) {
                *spans |= rows::spans_several(old, &gone, thing, &near, &rule, &furniture.rows);
            }
            let mut spans = spanning.iter();
            sights.seen.retain(|_| spans.next() != Some(&true));
        }
        let seen = &sights.seen;
        let mut pairs = associate::pair(old, &gone, seen, &near, &rule, &association);
        let mut torn = vec![false; old.len()];
        if !reset && is_ours {
            let keys = existence::keys(old, &spanning, &pairs);
            let is_seen = paired(old.len(), &pairs);
            existence::doubt(old, &looks, &is_seen, &keys, &doubting);
            let keys: Vec<Option<ObjectKey>> =
                keys.into_iter().chain(shown.drawers.iter().cloned()).collect();
            // Drawers of a bank have their name from all of it.
            let is_named = |number: usize| is_named.get(number).copied().unwrap_or(true);
            torn = existence::torn(old, &looks, &is_seen, is_named, &keys, &doubting);
        }
        // What the gripper took is no longer in its place, even when the gripper hides that place.
        let mut on_map = usize::MAX;
        let held = &sights.held;
        // Between the pads a small thing is not seen, and is there all the same.
        let is_holding = !held.is_empty() || sights.holds.is_some();
        let is_first = !std::mem::replace(&mut self.was_holding, is_holding);
        let taken = associate::taken(old, &looks, held, sights.holds, &pairs, &association)
            .filter(|_| is_first || sights.holds.is_some());
        if is_holding {
            self.let_go = 0;
        } else if !self.in_hand.is_empty() {
            self.let_go += 1;
            if self.let_go > association.looked_for {
                self.lost.append(&mut self.in_hand);
            }
        }
        if !is_holding {
            // The hand is empty: what was in it may be among what is seen.
            on_map = old.len();
            gone.extend(self.in_hand.iter().map(|_| true));
            old.append(&mut self.in_hand);
        } else if let Some(place) = taken {
            gone.remove(place);
            several.remove(place);
            torn.remove(place);
            let known = old.remove(place);
            pairs.iter_mut().flatten().filter(|other| **other > place).for_each(|other| *other -= 1);
            report.removed.push(known.object.key.clone());
            self.in_hand = vec![known];
        }
        if old.len() != looks.len() {
            near = boxes(old.iter().map(|known| &known.object));
        }
        let mut scraps = vec![false; seen.len()];
        if is_ours {
            scraps = associate::scraps(old, &gone, seen, &pairs, &near, &rule, &association);
        }
        // A scrap with a name is none of the things that left their places: its name may be wrong.
        let is_free: Vec<bool> = (0..seen.len())
            .map(|number| {
                pairs[number].is_none() && (!scraps[number] || seen[number].object.class_name.is_empty())
            })
            .collect();
        let mut moves = associate::moved(old, &gone, seen, &pairs, &is_free, &association);
        several.resize(old.len(), false);
        torn.resize(old.len(), false);
        if is_ours {
            let slid = rows::slid(old, seen, &pairs, &moves, &near, &furniture.rows);
            for (number, place) in slid.into_iter().enumerate() {
                moves[number] = moves[number].or(place);
            }
            let fronts = rows::were_several(old, seen, &pairs, &near, &rule, &furniture.rows);
            several.iter_mut().zip(fronts).for_each(|(several, fronts)| *several |= fronts);
        }
        // Something left the hand: it is looked for even when this frame misnames it.
        for (place, in_hand) in old.iter().enumerate().skip(on_map) {
            if let Some(number) = associate::put_down(in_hand, seen, &pairs, &association) {
                moves[number] = Some(place);
            }
        }
        let returns = if reset {
            vec![None; seen.len()]
        } else {
            let is_free: Vec<bool> =
                is_free.iter().zip(&moves).map(|(is_free, moved)| *is_free && moved.is_none()).collect();
            associate::returned(&self.lost, seen, &is_free, &association)
        };
        Assignment { pairs, moves, returns, scraps, several, torn, gone, on_map }
    }

    /// Puts the things of a frame where they belong.
    fn settle(
        &mut self,
        old: Vec<Known>,
        seen: Vec<Known>,
        assignment: Assignment,
        reset: bool,
        report: &mut UpdateReport,
    ) -> Vec<Known> {
        let (settings, update) = (self.settings, self.updates);
        let Assignment { pairs, moves, returns, scraps, several, torn, gone, on_map } = assignment;
        let paired = paired(old.len(), &pairs);
        // What each object becomes one with, in this order: more than one thing when a frame shows it in pieces.
        let mut sightings: Vec<Vec<Sighting>> = Vec::new();
        sightings.resize_with(old.len(), Vec::new);
        let mut next: Vec<Option<Known>> = old.into_iter().map(Some).collect();
        let mut lost: Vec<Option<Known>> = std::mem::take(&mut self.lost).into_iter().map(Some).collect();
        let mut new = Vec::new();
        for (number, mut thing) in seen.into_iter().enumerate() {
            if let Some(place) = pairs[number] {
                let Some(known) = &next[place] else { continue };
                let how = if !sightings[place].is_empty() {
                    How::Piece
                } else if reset || torn[place] {
                    How::Instead
                } else if several[place] {
                    How::Named
                } else {
                    How::Merged
                };
                if !matches!(how, How::Piece) {
                    report.merged.push(known.object.key.clone());
                }
                sightings[place].push(Sighting { thing, how });
            } else if scraps[number]
                && moves[number].is_none()
                && (thing.object.class_name.is_empty()
                    || !self.tentative.is_confirmed(&thing.object, update, &settings.tentative))
            {
                report.skipped.specks += 1;
            } else if let Some(mut known) = moves[number]
                .and_then(|place| next[place].take())
                .or_else(|| returns[number].and_then(|place| lost[place].take()))
            {
                report.moved.push(known.object.key.clone());
                let mut votes = std::mem::take(&mut known.object.class_votes);
                fade(&mut votes, settings.association.remembered);
                known.replace(thing);
                if !reset {
                    keep_names(&mut known.object, votes);
                }
                new.push(known);
            } else {
                thing.object.key = self.fresh_key(&thing.object.class_name);
                self.ages += 1;
                thing.track.age = self.ages;
                report.added.push(thing.object.key.clone());
                new.push(thing);
            }
        }
        // Each object alone.
        next.par_iter_mut().zip(sightings).for_each(|(known, sightings)| {
            let Some(known) = known else { return };
            sightings.into_iter().for_each(|sighting| sighting.settle(known, &settings, update));
        });
        let mut kept = Vec::with_capacity(next.len() + new.len());
        for (place, known) in next.into_iter().enumerate() {
            let Some(known) = known else { continue };
            if paired[place] || (!reset && !gone[place]) {
                kept.push(known);
            } else if place < on_map {
                report.removed.push(known.object.key.clone());
                lost.push(Some(known).filter(|_| !reset));
            } else {
                self.in_hand.push(known);
            }
        }
        kept.extend(new);
        self.lost = lost.into_iter().flatten().collect();
        self.lost.drain(..self.lost.len().saturating_sub(LOST));
        kept
    }
}
