//! How evidence is weighed: a sum of small decision trees (gradient boosting, Friedman 2001).

/// Questions of a tree, and answers.
const SPLITS: usize = 7;
const LEAVES: usize = 8;

/// A tree of three questions one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tree {
    /// Which number of the evidence is asked for, and what it must exceed to go on to the right: first question, then those on its left and
    /// right, and so on.
    pub splits: [(u8, f32); SPLITS],
    /// What is added to the logarithm of the odds, from the left to the right.
    pub leaves: [f32; LEAVES],
}

/// What was learned about patches, surfaces and things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned<'a> {
    /// Whether two patches that meet are of one thing.
    pub patches: &'a [Tree],
    /// Whether two surfaces that come near each other are of one thing.
    pub surfaces: &'a [Tree],
    /// Whether something is a thing.
    pub things: &'a [Tree],
}

impl Tree {
    /// The place of the leaf where the evidence leads to.
    pub fn leaf(&self, evidence: &[f64]) -> usize {
        let mut node = 0;
        while let Some((number, least)) = self.splits.get(node) {
            let is_more = evidence.get(usize::from(*number)).is_some_and(|part| *part > f64::from(*least));
            node = 2 * node + 1 + usize::from(is_more);
        }
        node - SPLITS
    }
}

/// The logarithm of the odds that a piece of evidence gives.
pub fn odds(trees: &[Tree], evidence: &[f64]) -> f64 {
    trees.iter().map(|tree| f64::from(tree.leaves[tree.leaf(evidence)])).sum()
}

/// The probability that such odds stand for.
pub fn probability(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_gone_through_from_its_root() {
        let splits = [(0, 0.5), (1, 0.2), (1, 0.8), (2, 0.0), (2, 0.0), (2, 0.0), (2, 0.0)];
        let tree = Tree { splits, leaves: std::array::from_fn(|leaf| leaf as f32) };
        assert_eq!(tree.leaf(&[0.0, 0.0, -1.0]), 0);
        assert_eq!(tree.leaf(&[0.0, 0.3, 1.0]), 3);
        assert_eq!(tree.leaf(&[0.6, 0.3, 1.0]), 5);
        assert_eq!(tree.leaf(&[0.6, 0.9, -1.0]), 6);
        assert_eq!(tree.leaf(&[f64::NAN, 0.9, -1.0]), 2, "what is no number is not more than anything");
        assert_eq!(tree.leaf(&[]), 0);
        assert_eq!(odds(&[tree, tree], &[0.6, 0.9, 1.0]), 14.0);
        assert_eq!(odds(&[], &[1.0]), 0.0);
    }
}
