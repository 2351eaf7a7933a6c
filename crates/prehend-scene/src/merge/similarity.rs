//! How similar two objects are.

use super::MergeRule;
use crate::Object;
use nalgebra::Point3;
use prehend_geometry::voxel::VoxelGrid;
use prehend_geometry::{AxisBox, OrientedBox};
use std::sync::OnceLock;

/// Most points of a cloud that are held against another by the method `prehend`.
const SAMPLE: usize = 600;

/// The points of a cloud by place: made when they are first asked for, and kept for as long as the cloud stays what it is.
#[derive(Clone, Debug, Default)]
pub struct CloudIndex(OnceLock<VoxelGrid>);

/// An object with the index of its cloud.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// The object.
    pub object: &'a Object,
    /// Index of its cloud, always asked with one `distance`.
    pub index: &'a CloudIndex,
}

impl Body<'_> {
    /// Share of these points that have one of the object's within `distance`, [0, 1]; 0 when either is empty. `phi_geo` (Gu et al.
    /// 2023, III-B) when the points are those of what is seen.
    pub fn share_on<'p>(&self, points: impl IntoIterator<Item = &'p Point3<f64>>, distance: f64) -> f64 {
        self.index
            .0
            .get_or_init(|| VoxelGrid::new(&self.object.cloud.points, distance))
            .share_within(points, distance)
    }

    /// Geometric similarity by the method `prehend`, [0, 1]: the greater of the share of the smaller cloud that lies on the other
    /// and the overlap of the two upright boxes.
    pub fn geometric(&self, other: &Self, distance: f64) -> f64 {
        if !may_touch(&self.object.bounds, &other.object.bounds, distance) {
            return 0.0;
        }
        let is_smaller = self.object.cloud.len() <= other.object.cloud.len();
        let (small, large) = if is_smaller { (self, other) } else { (other, self) };
        let step = small.object.cloud.len().div_ceil(SAMPLE).max(1);
        let ratio = large.share_on(small.object.cloud.points.iter().step_by(step), distance);
        ratio.max(box_overlap(&self.object.bounds, &other.object.bounds))
    }

    /// Sum of both similarities by the method `prehend`, [0, 2], or `None` when the two are not one object by the rule.
    pub fn similarity(&self, other: &Self, rule: &MergeRule) -> Option<f64> {
        let geometry = self.geometric(other, rule.distance);
        let sum = geometry + semantic_similarity(&self.object.features, &other.object.features);
        (geometry >= rule.min_geometry && sum >= rule.threshold).then_some(sum)
    }

    /// `phi = phi_sem + phi_geo` of something seen with this known object, [0, 2] (Gu et al. 2023, III-B); `None` when no point of
    /// it lies on the object, so that the two are not compared, or when it is not more than `delta_sim`.
    pub fn phi(&self, seen: &Object, rule: &MergeRule) -> Option<f64> {
        let geometry = self.share_on(&seen.cloud.points, rule.distance);
        let sum = geometry + semantic_similarity(&self.object.features, &seen.features);
        (geometry > 0.0 && sum > rule.threshold).then_some(sum)
    }
}

/// Geometric similarity of two objects without an index; see [`Body::geometric`].
pub fn geometric_similarity(a: &Object, b: &Object, distance: f64) -> f64 {
    let (first, second) = (CloudIndex::default(), CloudIndex::default());
    Body { object: a, index: &first }.geometric(&Body { object: b, index: &second }, distance)
}

/// Semantic similarity `phi_sem`, [0, 1]: `cos / 2 + 1 / 2` of the features; 0.5 (no opinion) when one has none.
pub fn semantic_similarity(a: &[f32], b: &[f32]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
    let norm = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let scale = norm(a) * norm(b);
    if a.len() != b.len() || scale < 1e-9 { 0.5 } else { (dot / scale).clamp(-1.0, 1.0) / 2.0 + 0.5 }
}

/// Similarity of two objects without an index; see [`Body::similarity`].
pub fn similarity(a: &Object, b: &Object, rule: &MergeRule) -> Option<f64> {
    let (first, second) = (CloudIndex::default(), CloudIndex::default());
    Body { object: a, index: &first }.similarity(&Body { object: b, index: &second }, rule)
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
    let (a, b) = (AxisBox::around(a), AxisBox::around(b));
    let both: f64 = (0..3).map(|i| (a.high[i].min(b.high[i]) - a.low[i].max(b.low[i])).max(0.0)).product();
    let union = (a.high - a.low).product() + (b.high - b.low).product() - both;
    if union > 0.0 { both / union } else { 0.0 }
}
