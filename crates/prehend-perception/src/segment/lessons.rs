//! What the weights of evidence are learned from: frames of which it is known what each pixel shows.

/// Least share of the pixels of a piece that show one thing.
const PURE: f64 = 0.8;

/// What is known of a pair of pieces, and whether they are of one thing; or of one piece, and whether it is of a thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// What speaks for and against it.
    pub evidence: Vec<f64>,
    /// How much it counts: the length of a border in patches, or the pixels of the smaller surface.
    pub weight: f64,
    /// Whether they are of one thing, or it is.
    pub is_one: bool,
}

/// What each pixel shows: a thing from 1, or 0.
pub(super) struct Truth<'a>(pub(super) &'a [u16]);

impl Truth<'_> {
    /// What most of some pixels show; `None` where they show several things.
    pub(super) fn owner(&self, pixels: &[usize]) -> Option<u16> {
        let mut labels: Vec<u16> = pixels.iter().filter_map(|index| self.0.get(*index).copied()).collect();
        labels.sort_unstable();
        let longest = labels.chunk_by(|a, b| a == b).max_by_key(|run| run.len())?;
        (longest.len() as f64 >= PURE * labels.len() as f64).then(|| longest[0])
    }

    /// Whether most of some pixels show things.
    pub(super) fn is_thing(&self, pixels: &[usize]) -> bool {
        pixels.iter().filter(|index| self.0.get(**index).is_some_and(|label| *label > 0)).count() * 2
            > pixels.len()
    }

    /// Whether two pieces are of one thing; `None` where neither is of a thing.
    pub(super) fn is_one(a: u16, b: u16) -> Option<bool> {
        (a > 0 || b > 0).then_some(a == b)
    }
}
