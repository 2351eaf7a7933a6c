//! Recall of views (Affordance RAG V-B): which share of the views that show what is meant is among the first K.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The list of views of one wish, best first, and those that are right.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    /// Views, best first.
    pub views: Vec<i64>,
    /// Those that show what is meant.
    pub right: BTreeSet<i64>,
}

impl Ranked {
    /// recall@K: right views among the first K, as a share of the right ones.
    pub fn recall(&self, k: usize) -> f64 {
        let hit = self.views.iter().take(k).filter(|view| self.right.contains(view)).count();
        hit as f64 / self.right.len().max(1) as f64
    }

    /// Whether one of the first K is right.
    pub fn is_hit(&self, k: usize) -> bool {
        self.views.iter().take(k).any(|view| self.right.contains(view))
    }
}

/// Recall at 5, 10 and 20.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recall {
    /// recall@5.
    pub r5: f64,
    /// recall@10.
    pub r10: f64,
    /// recall@20.
    pub r20: f64,
}

/// What a method makes of all instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The target objects.
    pub target: Recall,
    /// The receptacles.
    pub receptacle: Recall,
    /// Both in the mean.
    pub overall: Recall,
    /// Share of instructions of which both are right among the first K (SR@K): 1, 5, 10, 20.
    pub sr: [f64; 4],
}

fn recall(ranked: &[&Ranked]) -> Recall {
    let mean =
        |k: usize| ranked.iter().map(|ranked| ranked.recall(k)).sum::<f64>() / ranked.len().max(1) as f64;
    Recall { r5: mean(5), r10: mean(10), r20: mean(20) }
}

impl Tally {
    /// Of pairs of lists: target and receptacle of each instruction.
    pub fn of(pairs: &[[Ranked; 2]]) -> Self {
        let [target, receptacle] =
            [0, 1].map(|which| recall(&pairs.iter().map(|pair| &pair[which]).collect::<Vec<_>>()));
        let both = |of: fn(&Recall) -> f64| (of(&target) + of(&receptacle)) / 2.0;
        let overall = Recall { r5: both(|r| r.r5), r10: both(|r| r.r10), r20: both(|r| r.r20) };
        let sr = [1, 5, 10, 20].map(|k| {
            let hit = pairs.iter().filter(|pair| pair.iter().all(|ranked| ranked.is_hit(k))).count();
            hit as f64 / pairs.len().max(1) as f64
        });
        Self { target, receptacle, overall, sr }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_is_the_share_of_the_right_views_and_both_must_be_hit() {
        let ranked = |views: &[i64], right: &[i64]| Ranked {
            views: views.to_vec(),
            right: right.iter().copied().collect(),
        };
        let pair = [ranked(&[1, 2, 3, 4, 5, 6], &[2, 6, 9]), ranked(&[7, 8], &[8])];
        let tally = Tally::of(&[pair]);
        assert!((tally.target.r5 - 1.0 / 3.0).abs() < 1e-9 && (tally.target.r10 - 2.0 / 3.0).abs() < 1e-9);
        assert!((tally.overall.r5 - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(tally.sr, [0.0, 1.0, 1.0, 1.0]);
    }
}
