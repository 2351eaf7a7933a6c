//! Masks without prompts: points of a grid, and which of their masks stay.
//!
//! Source: `segment_anything/automatic_mask_generator.py` and `utils/amg.py`, without the crops.

use crate::detector::{Candidate, Suppression, survivors};
use prehend_geometry::PixelBox;
use prehend_perception::traits::ScoredMask;

/// Which masks stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutomaticSettings {
    /// Points along each side of the grid.
    pub points_per_side: usize,
    /// Predicted IoU that must be exceeded.
    pub predicted_iou: f64,
    /// Least stability.
    pub stability: f64,
    /// By how much the threshold is moved for the stability.
    pub stability_offset: f32,
    /// Overlap of boxes above which two masks are one.
    pub overlap: f64,
}

impl Default for AutomaticSettings {
    /// The authors' values for SAM.
    fn default() -> Self {
        Self {
            points_per_side: 32,
            predicted_iou: 0.88,
            stability: 0.95,
            stability_offset: 1.0,
            overlap: 0.7,
        }
    }
}

/// A mask that has passed the first filters.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Its pixels, with the predicted IoU.
    pub region: ScoredMask,
    /// Its stability, [0, 1].
    pub stability: f64,
}

/// Points `[x, y]` in the middle of the cells of a grid, as shares of the picture, row by row.
pub fn grid(side: usize) -> Vec<[f64; 2]> {
    let centre = |place: usize| (place as f64 + 0.5) / side as f64;
    (0..side).flat_map(|row| (0..side).map(move |column| [centre(column), centre(row)])).collect()
}

/// IoU of the mask cut at `offset` with the one cut at `-offset`; 0 when both are empty.
pub fn stability(logits: &[f32], offset: f32) -> f64 {
    let above = |threshold: f32| logits.iter().filter(|logit| **logit > threshold).count();
    // The stricter mask lies in the other one.
    let (strict, loose) = (above(offset), above(-offset));
    if loose == 0 { 0.0 } else { strict as f64 / loose as f64 }
}

/// The proposals that pass all filters, best first; of those with nearly the same box the best one stays.
pub fn select(proposals: Vec<Proposal>, settings: &AutomaticSettings) -> Vec<ScoredMask> {
    let good: Vec<ScoredMask> = proposals
        .into_iter()
        .filter(|p| p.region.score > settings.predicted_iou && p.stability >= settings.stability)
        .map(|proposal| proposal.region)
        .filter(|region| region.mask.area() > 0)
        .collect();
    let candidates: Vec<Candidate> = good
        .iter()
        .map(|region| {
            let mask = &region.mask;
            let bounds = PixelBox {
                left: mask.x as f64,
                top: mask.y as f64,
                right: (mask.x + mask.width) as f64,
                bottom: (mask.y + mask.height) as f64,
            };
            Candidate { bounds, class: 0, score: region.score }
        })
        .collect();
    let rule = Suppression { iou: settings.overlap, within_class: false, side: 0.0, most: usize::MAX };
    survivors(&candidates, &rule).into_iter().map(|place| good[place].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::Mask;

    fn proposal(left: usize, width: usize, score: f64, stability: f64) -> Proposal {
        let mask = Mask::filled_box(100, 10, left, 0, width, 10);
        Proposal { region: ScoredMask { mask, score }, stability }
    }

    fn check(proposals: Vec<Proposal>, expected: &[f64]) {
        let kept: Vec<f64> =
            select(proposals, &AutomaticSettings::default()).iter().map(|region| region.score).collect();
        assert_eq!(kept, expected);
    }

    #[test]
    fn each_filter_takes_out_what_it_is_for() {
        check(vec![proposal(0, 10, 0.9, 0.96), proposal(20, 10, 0.95, 0.99)], &[0.95, 0.9]);
        check(vec![proposal(0, 10, 0.87, 0.99)], &[]);
        check(vec![proposal(0, 10, 0.99, 0.94)], &[]);
        check(vec![proposal(0, 0, 0.99, 0.99)], &[]);
        // 9 of 11 columns are shared, then 5 of 15.
        check(vec![proposal(0, 10, 0.9, 1.0), proposal(1, 10, 0.95, 1.0)], &[0.95]);
        check(vec![proposal(0, 10, 0.9, 1.0), proposal(5, 10, 0.95, 1.0)], &[0.95, 0.9]);
    }

    #[test]
    fn a_mask_is_stable_when_moving_the_threshold_changes_little() {
        assert_eq!(stability(&[5.0, 5.0, -5.0, -5.0], 1.0), 1.0);
        assert_eq!(stability(&[5.0, 0.5, -0.5, -5.0], 1.0), 1.0 / 3.0);
        assert_eq!(stability(&[-5.0; 4], 1.0), 0.0);
    }

    #[test]
    fn a_grid_has_its_points_in_the_middle_of_cells() {
        assert_eq!(grid(2), [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]);
        assert_eq!(grid(32).len(), 1024);
    }
}
