//! Merging of objects seen twice (ASP IV-A, after ConceptGraphs, Gu et al. 2023).

mod rule;
mod similarity;

use crate::{Crop, Object};
use prehend_geometry::OrientedBox;
use prehend_geometry::voxel::downsample;

pub use rule::{Averaging, Denoise, Join, MergeMethod, MergeRule};
pub use similarity::{Body, CloudIndex, geometric_similarity, semantic_similarity, similarity};

/// Takes a new view of an object into it: points accumulated and down-sampled, features as a running average, votes
/// summed, colours averaged by views, crops sorted by rank with one per view (ASP IV-A). The key stays; parts are
/// forgotten, since the geometry changed.
pub fn merge_into(known: &mut Object, seen: Object, rule: &MergeRule) {
    let weights = [f64::from(known.view_count.max(1)), f64::from(seen.view_count.max(1))];
    merge_weighted(known, seen, weights, rule);
}

/// [`merge_into`] with features and colours averaged by these weights, the known object's first; positive.
pub fn merge_weighted(known: &mut Object, seen: Object, [old, new]: [f64; 2], rule: &MergeRule) {
    known.cloud.extend(&seen.cloud);
    // The box first: means of voxels lie up to half a leaf inside.
    if let Some(bounds) = OrientedBox::upright_around(&known.cloud.points) {
        known.bounds = bounds;
    }
    known.cloud = downsample(&known.cloud, rule.leaf);
    if known.features.len() == seen.features.len() {
        for (mine, theirs) in known.features.iter_mut().zip(&seen.features) {
            *mine = ((f64::from(*mine) * old + f64::from(*theirs) * new) / (old + new)) as f32;
        }
        let norm = known.features.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm > 1e-6 {
            known.features.iter_mut().for_each(|x| *x /= norm);
        }
    } else if known.features.is_empty() {
        known.features = seen.features;
    }
    for (name, weight) in seen.class_votes {
        add_vote(&mut known.class_votes, &name, weight);
    }
    settle_class(known);
    for (channel, other) in known.color.iter_mut().zip(seen.color) {
        *channel = ((f64::from(*channel) * old + f64::from(other) * new) / (old + new)).round() as u8;
    }
    let mut fractions: Vec<(String, f64)> =
        known.color_fractions.drain(..).map(|(word, share)| (word, share * old / (old + new))).collect();
    for (word, share) in seen.color_fractions {
        add_vote(&mut fractions, &word, share * new / (old + new));
    }
    fractions.sort_by(|a, b| b.1.total_cmp(&a.1));
    known.color_fractions = fractions;
    for crop in seen.crops {
        add_crop(&mut known.crops, crop);
    }
    rank_crops(&mut known.crops, rule.crops);
    known.affordances.clear();
    known.view_count += seen.view_count;
    known.probability = known.probability.max(seen.probability);
    known.touches_border &= seen.touches_border;
    known.last_seen = known.last_seen.max(seen.last_seen);
}

/// Adds `weight` to the vote with this name.
pub fn add_vote(votes: &mut Vec<(String, f64)>, name: &str, weight: f64) {
    match votes.iter_mut().find(|(known, _)| known == name) {
        Some((_, sum)) => *sum += weight,
        None => votes.push((name.to_owned(), weight)),
    }
}

/// Sets `class_name` and `confidence` from the votes, most weight first; the empty name stands for doubt and never wins.
pub fn settle_class(object: &mut Object) {
    object.class_votes.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let total: f64 = object.class_votes.iter().map(|(_, weight)| weight).sum();
    match object.class_votes.iter().find(|(name, weight)| !name.is_empty() && *weight > 0.0) {
        Some((name, weight)) => {
            object.class_name = name.clone();
            object.confidence = weight / total;
        }
        None => {
            object.class_name.clear();
            object.confidence = 0.0;
        }
    }
}

/// Adds a crop when it is the newest of its view, or of one moment the best: pieces of one thing are seen at once.
fn add_crop(crops: &mut Vec<Crop>, crop: Crop) {
    match crops.iter_mut().find(|known| known.view == crop.view) {
        Some(known) if (known.stamp, known.rank) > (crop.stamp, crop.rank) => {}
        Some(known) => *known = crop,
        None => crops.push(crop),
    }
}

/// Sorts crops by rank, best first, and keeps the best `most`.
pub fn rank_crops(crops: &mut Vec<Crop>, most: usize) {
    crops.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    crops.truncate(most);
}

#[cfg(test)]
mod tests;
