//! Why candidates were passed over.

/// Each candidate that was passed over, by its place among the candidates, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Misses(Vec<(usize, String)>);

impl Misses {
    /// A candidate was passed over.
    pub(crate) fn add(&mut self, candidate: usize, why: impl Into<String>) {
        self.0.push((candidate, why.into()));
    }

    /// Why the candidate was passed over; `None` when it was not, or not tried.
    pub(crate) fn of(&self, candidate: usize) -> Option<&str> {
        self.0.iter().find(|(index, _)| *index == candidate).map(|(_, why)| why.as_str())
    }

    /// The reasons, counted.
    pub(crate) fn summary(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (_, miss) in &self.0 {
            match counts.iter_mut().find(|(known, _)| known == miss) {
                Some((_, count)) => *count += 1,
                None => counts.push((miss, 1)),
            }
        }
        counts.iter().map(|(miss, count)| format!("{count} x {miss}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_kept_by_candidate() {
        let mut misses = Misses::default();
        misses.add(0, "no joints");
        misses.add(2, "outside the workspace");
        misses.add(3, "no joints");
        assert_eq!(misses.summary(), "2 x no joints, 1 x outside the workspace");
        assert_eq!((misses.of(1), misses.of(3)), (None, Some("no joints")));
    }
}
