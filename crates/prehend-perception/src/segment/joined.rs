//! What is joined with what, each by the number of one that it is joined with; the first of them has its own.

/// The first of what one is joined with.
pub(super) fn find(root: &[usize], mut number: usize) -> usize {
    while root[number] != number {
        number = root[number];
    }
    number
}
