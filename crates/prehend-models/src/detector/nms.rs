//! Non-maximum suppression: of boxes that are one thing the best one stays.

use prehend_geometry::PixelBox;

/// A box before its class has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its box.
    pub bounds: PixelBox,
    /// Number of its class, from 0.
    pub class: usize,
    /// Confidence, [0, 1].
    pub score: f64,
}

/// Which boxes are one thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suppression {
    /// Intersection over union above which they are.
    pub iou: f64,
    /// Whether only boxes of one class can be.
    pub within_class: bool,
    /// What is added to the sides of a box: 1 where a model's authors count the last pixel in, else 0.
    pub side: f64,
    /// Most boxes that stay.
    pub most: usize,
}

/// Places of the candidates that stay, best first; of equal ones the first.
pub fn survivors(candidates: &[Candidate], rule: &Suppression) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|a, b| candidates[*b].score.total_cmp(&candidates[*a].score));
    let grown = |candidate: &Candidate| PixelBox {
        right: candidate.bounds.right + rule.side,
        bottom: candidate.bounds.bottom + rule.side,
        ..candidate.bounds
    };
    let mut kept: Vec<usize> = Vec::new();
    for place in order {
        if kept.len() == rule.most {
            break;
        }
        let candidate = &candidates[place];
        let bounds = grown(candidate);
        let same = |other: &Candidate| {
            (!rule.within_class || other.class == candidate.class) && grown(other).iou(&bounds) > rule.iou
        };
        if !kept.iter().any(|other| same(&candidates[*other])) {
            kept.push(place);
        }
    }
    kept
}

/// The candidates that stay, best first; of equal ones the first.
pub fn suppress(candidates: &[Candidate], rule: &Suppression) -> Vec<Candidate> {
    survivors(candidates, rule).into_iter().map(|place| candidates[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Suppression = Suppression { iou: 0.45, within_class: true, side: 0.0, most: 300 };

    fn candidate(left: f64, right: f64, class: usize, score: f64) -> Candidate {
        Candidate { bounds: PixelBox { left, top: 0.0, right, bottom: 10.0 }, class, score }
    }

    /// Scores of what stays.
    fn check(rule: Suppression, candidates: &[Candidate], expected: &[f64]) {
        let kept: Vec<f64> = suppress(candidates, &rule).iter().map(|c| c.score).collect();
        assert_eq!(kept, expected, "{rule:?}");
    }

    #[test]
    fn the_best_of_each_thing_stays() {
        // The first and the second share 8 of 12 columns; the third touches neither.
        let boxes = [
            candidate(0.0, 10.0, 0, 0.6),
            candidate(2.0, 12.0, 0, 0.9),
            candidate(30.0, 40.0, 0, 0.3),
            candidate(30.0, 40.0, 1, 0.2),
        ];
        check(RULE, &boxes, &[0.9, 0.3, 0.2]);
        check(Suppression { within_class: false, ..RULE }, &boxes, &[0.9, 0.3]);
        check(Suppression { iou: 0.7, ..RULE }, &boxes, &[0.9, 0.6, 0.3, 0.2]);
        check(Suppression { most: 1, ..RULE }, &boxes, &[0.9]);
        check(RULE, &[], &[]);
    }

    #[test]
    fn what_was_suppressed_suppresses_nothing() {
        let boxes =
            [candidate(0.0, 10.0, 0, 0.9), candidate(3.0, 13.0, 0, 0.8), candidate(6.0, 16.0, 0, 0.7)];
        check(RULE, &boxes, &[0.9, 0.7]);
    }

    #[test]
    fn a_counted_last_pixel_makes_small_boxes_overlap_more() {
        // 1 of 3 columns, and 2 of 4 when the last one counts.
        let boxes = [candidate(0.0, 2.0, 0, 0.9), candidate(1.0, 3.0, 0, 0.8)];
        check(RULE, &boxes, &[0.9, 0.8]);
        check(Suppression { side: 1.0, ..RULE }, &boxes, &[0.9]);
    }
}
