//! Merging of objects seen twice (ASP IV-A, after ConceptGraphs, Gu et al. 2023).

use crate::{Crop, Object};
use prehend_geometry::OrientedBox;
use prehend_geometry::voxel::{downsample, overlap_ratio};
use serde::{Deserialize, Serialize};

/// How two objects are compared and merged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeRule {
    /// Distance up to which two points count as the same place, metres.
    pub distance: f64,
    /// Least sum of geometric and semantic similarity of two views of one object (ConceptGraphs uses 1.1).
    pub threshold: f64,
    /// Least geometric similarity, whatever the names say; keeps equal neighbours apart.
    pub min_geometry: f64,
    /// Voxel edge of merged clouds, metres.
    pub leaf: f64,
    /// Most crops kept.
    pub crops: usize,
}

impl Default for MergeRule {
    fn default() -> Self {
        Self { distance: 0.012, threshold: 1.1, min_geometry: 0.25, leaf: 0.003, crops: 5 }
    }
}

/// Most points of a cloud that are held against another.
const SAMPLE: usize = 600;

/// Geometric similarity, [0, 1]: the greater of the share of the smaller cloud that lies on the other (ConceptGraphs'
/// nearest-neighbour ratio) and the overlap of the two upright boxes.
pub fn geometric_similarity(a: &Object, b: &Object, distance: f64) -> f64 {
    if !may_touch(&a.bounds, &b.bounds, distance) {
        return 0.0;
    }
    let (small, large) = if a.cloud.len() <= b.cloud.len() { (a, b) } else { (b, a) };
    let step = small.cloud.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<_> = small.cloud.points.iter().step_by(step).copied().collect();
    let ratio = overlap_ratio(&sample, &large.cloud.points, distance);
    ratio.max(box_overlap(&a.bounds, &b.bounds))
}

/// Semantic similarity, [0, 1]: `cos / 2 + 1 / 2` of the features; 0.5 (no opinion) when one has none.
pub fn semantic_similarity(a: &[f32], b: &[f32]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
    let norm = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let scale = norm(a) * norm(b);
    if a.len() != b.len() || scale < 1e-9 { 0.5 } else { (dot / scale).clamp(-1.0, 1.0) / 2.0 + 0.5 }
}

/// Sum of both similarities, [0, 2], or `None` when the two are not one object by the rule.
pub fn similarity(a: &Object, b: &Object, rule: &MergeRule) -> Option<f64> {
    let geometry = geometric_similarity(a, b, rule.distance);
    let sum = geometry + semantic_similarity(&a.features, &b.features);
    (geometry >= rule.min_geometry && sum >= rule.threshold).then_some(sum)
}

fn radius(bounds: &OrientedBox) -> f64 {
    bounds.size.norm() / 2.0
}

fn may_touch(a: &OrientedBox, b: &OrientedBox, margin: f64) -> bool {
    let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
    apart <= radius(a) + radius(b) + margin
}

/// Intersection over union of the axis-parallel hulls of two upright boxes.
fn box_overlap(a: &OrientedBox, b: &OrientedBox) -> f64 {
    let hull = |bounds: &OrientedBox| {
        let rotation = bounds.pose.rotation.to_rotation_matrix();
        let half = rotation.matrix().abs() * bounds.size / 2.0;
        let center = bounds.pose.translation.vector;
        (center - half, center + half)
    };
    let ((a0, a1), (b0, b1)) = (hull(a), hull(b));
    let both: f64 = (0..3).map(|i| (a1[i].min(b1[i]) - a0[i].max(b0[i])).max(0.0)).product();
    let union = (a1 - a0).product() + (b1 - b0).product() - both;
    if union > 0.0 { both / union } else { 0.0 }
}

/// Takes a new view of an object into it: points accumulated and down-sampled, features as a running average, votes
/// summed, colours averaged by views, crops sorted by rank with one per view (ASP IV-A). The key stays; parts are
/// forgotten, since the geometry changed.
pub fn merge_into(known: &mut Object, seen: Object, rule: &MergeRule) {
    let (old, new) = (f64::from(known.view_count.max(1)), f64::from(seen.view_count.max(1)));
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
    known.crops.retain(|crop| seen.crops.iter().all(|other| other.view != crop.view));
    known.crops.extend(seen.crops);
    rank_crops(&mut known.crops, rule.crops);
    known.affordances.clear();
    known.view_count += seen.view_count;
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

/// Sorts crops by rank, best first, and keeps the best `most`.
pub fn rank_crops(crops: &mut Vec<Crop>, most: usize) {
    crops.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    crops.truncate(most);
}

#[cfg(test)]
mod tests;
