//! Masks that were found, held against those of the things.

use super::Shown;
use crate::boxes::assign;
use prehend_geometry::Mask;
use serde::Serialize;

/// Least intersection over union of a thing that was found.
const FOUND: f64 = 0.5;

/// How many of how many, by masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Things asked for.
    pub things: usize,
    /// Of them those that were found.
    pub found: usize,
    /// Objects that count: those of something that is not asked for do not.
    pub objects: usize,
    /// Objects most of which show no thing.
    pub nothing: usize,
}

impl Count {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            things: self.things + other.things,
            found: self.found + other.found,
            objects: self.objects + other.objects,
            nothing: self.nothing + other.nothing,
        }
    }
}

/// What a map has of a frame.
#[derive(Clone, Debug)]
pub struct Found {
    /// How much of it is right.
    pub count: Count,
    /// The masks of its objects.
    pub masks: Vec<Mask>,
    /// How long the map took, seconds.
    pub seconds: f64,
}

/// Counts masks. An object that agrees best with something that is not asked for, or lies on such a thing, counts neither way.
pub(super) fn count(things: &[Shown], masks: &[Mask]) -> Count {
    let (asked, others): (Vec<&Shown>, Vec<&Shown>) = things.iter().partition(|thing| thing.is_asked);
    let ious: Vec<Vec<f64>> =
        asked.iter().map(|thing| masks.iter().map(|mask| mask.iou(&thing.mask)).collect()).collect();
    let pairs = assign(&ious, FOUND);
    let taken: Vec<usize> = pairs.into_iter().flatten().collect();
    let mut count = Count { things: asked.len(), found: taken.len(), ..Count::default() };
    for (number, mask) in masks.iter().enumerate() {
        let share = |thing: &&Shown| mask.intersection_area(&thing.mask) as f64 / mask.area().max(1) as f64;
        let is_other = !taken.contains(&number)
            && (others.iter().any(|thing| share(thing) > 0.5 || mask.iou(&thing.mask) > FOUND));
        count.objects += usize::from(!is_other);
        count.nothing += usize::from(things.iter().map(|thing| share(&thing)).sum::<f64>() < 0.5);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_once_in_two_pieces_and_beside_everything() {
        let rows = |from: usize, to: usize| Mask::filled_box(10, 20, 0, from, 10, to - from);
        let shown = |mask: Mask, is_asked: bool| Shown { class: String::new(), mask, is_asked };
        let things = [shown(rows(0, 4), true), shown(rows(4, 8), true), shown(rows(8, 10), false)];
        // The first is found, the second is in two halves, the third counts neither way; one is of the table.
        let masks = [rows(0, 3), rows(4, 6), rows(6, 8), rows(8, 10), rows(12, 20)];
        let told = count(&things, &masks);
        assert_eq!((told.things, told.objects, told.nothing), (2, 4, 1));
        assert_eq!(told.found, 2, "a half is found at an IoU of a half, once");
        assert_eq!(count(&things, &[]), Count { things: 2, ..Count::default() });
    }
}
