//! Where words stand in a picture so that none covers another.

use crate::Pixel;

/// Space between two labels, pixels.
const GAP: f64 = 2.0;
/// Most labels of a picture, the nearest: more could not be read.
const MOST: usize = 200;
/// How far a label may be from its place before a line leads to it, pixels.
const NEAR: f64 = 6.0;

/// Words that belong to a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The words, one line.
    pub text: String,
    /// The place in the picture.
    pub at: Pixel,
    /// How far the place is from the eye, metres: what is nearer comes first.
    pub depth: f64,
    /// Width and height of the words, pixels.
    pub size: [f64; 2],
}

/// Words and where they stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The words.
    pub text: String,
    /// Their left top corner.
    pub corner: Pixel,
    /// Their width and height, pixels.
    pub size: [f64; 2],
    /// The ends of a line from the words to their place, when they do not stand right at it.
    pub leader: Option<[Pixel; 2]>,
}

impl Placed {
    fn top(&self) -> f64 {
        self.corner.y
    }

    fn bottom(&self) -> f64 {
        self.corner.y + self.size[1]
    }

    fn meets(&self, left: f64, top: f64, size: [f64; 2]) -> bool {
        self.is_above_or_below(left, size[0]) && top < self.bottom() + GAP && self.top() < top + size[1] + GAP
    }

    fn is_above_or_below(&self, left: f64, width: f64) -> bool {
        left < self.corner.x + self.size[0] + GAP && self.corner.x < left + width + GAP
    }
}

/// Puts each label above its place, the nearest first, and moves up or down those that would cover one that is there already, as little as
/// it takes. Labels whose place is outside of the picture (of `width` and `height` pixels) are left out, and those for which there is no
/// room; at most 200 are placed.
pub fn spread(mut labels: Vec<Label>, width: f64, height: f64) -> Vec<Placed> {
    labels.retain(|label| {
        (0.0..width).contains(&label.at.x) && (0.0..height).contains(&label.at.y) && label.depth.is_finite()
    });
    labels.sort_by(|one, other| one.depth.total_cmp(&other.depth));
    labels.truncate(MOST);
    let mut placed: Vec<Placed> = Vec::with_capacity(labels.len());
    for Label { text, at, size, .. } in labels {
        let left = (at.x - size[0] / 2.0).min(width - size[0]).max(0.0);
        let wanted = at.y - size[1] - 4.0;
        let beside: Vec<&Placed> =
            placed.iter().filter(|other| other.is_above_or_below(left, size[0])).collect();
        // Free places begin where something ends.
        let edges = beside.iter().flat_map(|other| [other.top() - GAP - size[1], other.bottom() + GAP]);
        let free = edges.chain([wanted]).filter(|top| {
            *top >= 0.0
                && top + size[1] <= height
                && !beside.iter().any(|other| other.meets(left, *top, size))
        });
        let Some(top) = free.min_by(|a, b| (a - wanted).abs().total_cmp(&(b - wanted).abs())) else {
            continue;
        };
        let nearest = if top < at.y { top + size[1] } else { top };
        let middle = Pixel { x: left + size[0] / 2.0, y: nearest };
        let is_away = (top - wanted).abs() > NEAR;
        placed.push(Placed {
            text,
            corner: Pixel { x: left, y: top },
            size,
            leader: is_away.then_some([middle, at]),
        });
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn label(text: &str, x: f64, y: f64, depth: f64) -> Label {
        Label { text: text.to_owned(), at: Pixel { x, y }, depth, size: [50.0, 17.0] }
    }

    fn named<'a>(placed: &'a [Placed], text: &str) -> &'a Placed {
        placed.iter().find(|one| one.text == text).expect("a label")
    }

    #[test]
    fn the_nearer_one_stands_at_its_place_and_the_other_has_a_line_to_its_own() {
        let alone = spread(vec![label("far", 104.0, 102.0, 2.0)], 320.0, 240.0);
        assert_eq!(named(&alone, "far").leader, None);
        let both =
            spread(vec![label("far", 104.0, 102.0, 2.0), label("near", 100.0, 100.0, 1.0)], 320.0, 240.0);
        let (near, far) = (named(&both, "near"), named(&both, "far"));
        assert_eq!((near.leader, near.corner), (None, Pixel { x: 75.0, y: 79.0 }));
        let [from, to] = far.leader.expect("a line");
        assert_eq!(to, Pixel { x: 104.0, y: 102.0 });
        assert_eq!(from.y, if far.corner.y < 102.0 { far.corner.y + 17.0 } else { far.corner.y });
        assert!(!near.meets(far.corner.x, far.corner.y, far.size));
    }

    #[test]
    fn what_is_outside_or_has_no_room_is_left_out() {
        let outside = vec![label("left", -1.0, 50.0, 1.0), label("nan", f64::NAN, 50.0, 1.0)];
        assert_eq!(spread(outside, 320.0, 240.0), []);
        let many = (0..50).map(|_| label("one", 30.0, 30.0, 1.0)).collect();
        let placed = spread(many, 60.0, 60.0);
        assert_eq!(placed.len(), 2, "below the second there is no room for a third: {placed:?}");
    }

    proptest! {
        #[test]
        fn no_two_labels_overlap_and_all_are_in_the_picture(
            places in proptest::collection::vec((0.0..320.0_f64, 0.0..240.0_f64, 0.1..5.0_f64, 5.0..90.0_f64), 0..40),
        ) {
            let labels = places.iter().map(|(x, y, depth, width)| {
                Label { size: [*width, 17.0], ..label("x", *x, *y, *depth) }
            });
            let placed = spread(labels.collect(), 320.0, 240.0);
            for (index, one) in placed.iter().enumerate() {
                prop_assert!(one.corner.x >= 0.0 && one.corner.x + one.size[0] <= 320.0);
                prop_assert!(one.corner.y >= 0.0 && one.bottom() <= 240.0);
                for other in &placed[..index] {
                    let apart = one.corner.x >= other.corner.x + other.size[0]
                        || other.corner.x >= one.corner.x + one.size[0]
                        || one.top() >= other.bottom()
                        || other.top() >= one.bottom();
                    prop_assert!(apart, "{:?} {:?}", one, other);
                }
            }
        }
    }
}
