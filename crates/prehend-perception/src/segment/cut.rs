//! One decision about all borders at once: which pieces are of one thing.
//!
//! Every pair of pieces that meet has a weight, the logarithm of the odds that they are of one thing. Wanted are the groups for which the
//! weights within groups sum up to the most (correlation clustering, or minimum cost multicut). Joining the two whose weight is greatest as
//! long as one is positive comes near to it (greedy additive edge contraction, Keuper et al. 2015): a gap in a border is outvoted by
//! the rest of the border.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// A weight that waits for its turn.
#[derive(PartialEq)]
struct Waiting {
    weight: f64,
    pair: [u32; 2],
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight.total_cmp(&other.weight).then_with(|| other.pair.cmp(&self.pair))
    }
}

/// The group of each of `count` pieces, numbered from 0 in the order of their first pieces.
pub(super) fn groups(count: usize, weights: impl IntoIterator<Item = ([u32; 2], f64)>) -> Vec<usize> {
    let mut beside: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); count];
    for ([a, b], weight) in weights {
        if a != b && weight.is_finite() {
            *beside[a as usize].entry(b).or_default() += weight;
            *beside[b as usize].entry(a).or_default() += weight;
        }
    }
    let mut waiting: BinaryHeap<Waiting> = BinaryHeap::new();
    for (a, others) in (0_u32..).zip(&beside) {
        let positive = others.iter().filter(|(b, weight)| **b > a && **weight > 0.0);
        waiting.extend(positive.map(|(b, weight)| Waiting { weight: *weight, pair: [a, *b] }));
    }
    let mut root: Vec<usize> = (0..count).collect();
    while let Some(Waiting { weight, pair: [a, b] }) = waiting.pop() {
        // What was said before one of them was joined does not hold any more.
        if beside[a as usize].get(&b) != Some(&weight) {
            continue;
        }
        let (keep, gone) = if beside[a as usize].len() < beside[b as usize].len() { (b, a) } else { (a, b) };
        root[gone as usize] = keep as usize;
        for (other, weight) in std::mem::take(&mut beside[gone as usize]) {
            beside[other as usize].remove(&gone);
            if other == keep {
                continue;
            }
            let sum = beside[keep as usize].entry(other).or_default();
            *sum += weight;
            let sum = *sum;
            beside[other as usize].insert(keep, sum);
            if sum > 0.0 {
                waiting.push(Waiting { weight: sum, pair: [keep.min(other), keep.max(other)] });
            }
        }
    }
    let mut number: BTreeMap<usize, usize> = BTreeMap::new();
    (0..count)
        .map(|mut piece| {
            while root[piece] != piece {
                piece = root[piece];
            }
            let next = number.len();
            *number.entry(piece).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_in_a_border_is_outvoted() {
        // Two rows of three; the pieces of a row belong together, one of three borders between the rows is open.
        let within = [([0, 1], 2.0), ([1, 2], 2.0), ([3, 4], 2.0), ([4, 5], 2.0)];
        let between = [([0, 3], -2.0), ([1, 4], 1.5), ([2, 5], -2.0)];
        assert_eq!(groups(6, within.into_iter().chain(between)), [0, 0, 0, 1, 1, 1]);
        let open = [([0, 3], -1.0), ([1, 4], 1.5), ([2, 5], 1.0)];
        assert_eq!(groups(6, within.into_iter().chain(open)), [0; 6]);
    }

    #[test]
    fn nothing_joins_without_reason() {
        assert_eq!(groups(3, []), [0, 1, 2]);
        assert_eq!(groups(0, []), [0; 0]);
        assert_eq!(groups(2, [([0, 1], f64::NAN)]), [0, 1]);
        assert_eq!(groups(2, [([0, 1], 1.0), ([1, 0], -3.0)]), [0, 1], "weights of one pair are summed");
        assert_eq!(groups(2, [([1, 1], 5.0)]), [0, 1]);
    }
}
