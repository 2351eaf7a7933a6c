//! Boxes by place: which of many are near one, without a look at all of them.

use crate::OrientedBox;
use crate::voxel::{Voxel, VoxelMap, voxel_of};
use nalgebra::{Point3, Vector3};

/// A box along the axes of its frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisBox {
    /// Corner with the least coordinates.
    pub low: Point3<f64>,
    /// Corner with the greatest coordinates.
    pub high: Point3<f64>,
}

impl AxisBox {
    /// The hull of a box with a pose, in the outer frame.
    pub fn around(bounds: &OrientedBox) -> Self {
        let half = bounds.pose.rotation.to_rotation_matrix().matrix().abs() * bounds.size / 2.0;
        let center = Point3::from(bounds.pose.translation.vector);
        Self { low: center - half, high: center + half }
    }

    /// The box grown by `margin` metres on every side.
    #[inline]
    pub fn grown(&self, margin: f64) -> Self {
        let margin = Vector3::repeat(margin);
        Self { low: self.low - margin, high: self.high + margin }
    }

    /// Whether two boxes share a point.
    #[inline]
    pub fn touches(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }

    /// Longest edge, metres.
    fn extent(&self) -> f64 {
        (self.high - self.low).max()
    }
}

/// Edge of the smallest cells, metres: about that of the smallest things.
const EDGE: f64 = 0.04;
/// Levels, each with cells twice as large as the one before.
const LEVELS: usize = 24;

/// Boxes in cells no smaller than themselves, so that each is in eight cells at most: small boxes in small cells, large ones in
/// large cells.
#[derive(Clone, Debug)]
pub struct BoxHash {
    boxes: Vec<AxisBox>,
    levels: Vec<Level>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    /// Numbers of the boxes of this level.
    members: Vec<u32>,
    cells: VoxelMap<Vec<u32>>,
}

impl BoxHash {
    /// Sorts boxes into cells; they are numbered in their order. Boxes with a coordinate that is not finite are never found.
    pub fn new(boxes: impl IntoIterator<Item = AxisBox>) -> Self {
        let boxes: Vec<AxisBox> = boxes.into_iter().collect();
        let mut levels = vec![Level::default(); LEVELS];
        for (number, one) in boxes.iter().enumerate() {
            if !one.low.iter().chain(one.high.iter()).all(|edge| edge.is_finite()) {
                continue;
            }
            let steps = (one.extent() / EDGE).log2().ceil().max(0.0) as usize;
            let at = steps.min(LEVELS - 1);
            let level = &mut levels[at];
            level.members.push(number as u32);
            let (low, high) = cells_of(one, at);
            each_cell(low, high, |cell| level.cells.entry(cell).or_default().push(number as u32));
        }
        Self { boxes, levels }
    }

    /// Numbers of the boxes that touch one, ascending.
    pub fn touching(&self, one: &AxisBox) -> Vec<usize> {
        let mut found = Vec::new();
        for (at, level) in self.levels.iter().enumerate().filter(|(_, level)| !level.members.is_empty()) {
            let (low, high) = cells_of(one, at);
            let cells: f64 = (0..3).map(|axis| f64::from(high[axis]) - f64::from(low[axis]) + 1.0).product();
            let mut take = |number: &u32| {
                if self.boxes[*number as usize].touches(one) {
                    found.push(*number as usize);
                }
            };
            // A box that is large against the cells covers more of them than there are boxes.
            if cells.is_nan() || cells > level.members.len() as f64 {
                level.members.iter().for_each(&mut take);
            } else {
                each_cell(low, high, |cell| level.cells.get(&cell).into_iter().flatten().for_each(&mut take));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The least and the greatest cell of a level that a box touches.
fn cells_of(one: &AxisBox, level: usize) -> (Voxel, Voxel) {
    let edge = EDGE * f64::from(2_u32.pow(level as u32));
    (voxel_of(&one.low, edge), voxel_of(&one.high, edge))
}

fn each_cell(low: Voxel, high: Voxel, mut visit: impl FnMut(Voxel)) {
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                visit([x, y, z]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boxes() -> impl Strategy<Value = Vec<AxisBox>> {
        let size = prop_oneof![0.0..0.1_f64, 0.1..3.0_f64];
        prop::collection::vec(((-2.0..2.0_f64, -2.0..2.0_f64, -1.0..1.0_f64), size), 1..80).prop_map(|all| {
            all.into_iter()
                .map(|((x, y, z), size)| AxisBox {
                    low: Point3::new(x, y, z),
                    high: Point3::new(x + size, y + size / 2.0, z + size / 3.0),
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn what_touches_is_found_and_nothing_else(all in boxes(), margin in 0.0..0.2_f64) {
            let hash = BoxHash::new(all.iter().copied());
            for one in &all {
                let one = one.grown(margin);
                let brute: Vec<usize> = (0..all.len()).filter(|number| all[*number].touches(&one)).collect();
                prop_assert_eq!(hash.touching(&one), brute);
            }
        }
    }

    #[test]
    fn a_box_without_end_is_asked_for_but_never_found() {
        let unit = AxisBox { low: Point3::origin(), high: Point3::new(1.0, 1.0, 1.0) };
        let endless = AxisBox { low: Point3::origin(), high: Point3::new(1.0, 1.0, f64::INFINITY) };
        let hash = BoxHash::new([unit, endless, AxisBox { low: Point3::new(f64::NAN, 0.0, 0.0), ..unit }]);
        assert_eq!(hash.touching(&unit), [0]);
        assert_eq!(hash.touching(&endless), [0]);
    }
}
