//! The least distance of two surfaces, without a look at every pair of their points.

use nalgebra::{Point3, Vector3};
use prehend_geometry::voxel::{VoxelMap, voxel_of};

/// Points in one voxel, and the box around them.
struct Cell {
    points: Vec<Point3<f64>>,
    low: Point3<f64>,
    high: Point3<f64>,
}

/// The points of a surface, cell by cell.
pub(super) struct Cells {
    cells: Vec<Cell>,
    low: Point3<f64>,
    high: Point3<f64>,
}

impl Cells {
    /// Sorts points into cells of edge `leaf`, metres.
    pub(super) fn new(points: &[Point3<f64>], leaf: f64) -> Self {
        let mut place: VoxelMap<usize> = VoxelMap::default();
        let mut all = Self { cells: Vec::new(), low: Point3::origin(), high: Point3::origin() };
        for point in points {
            let at = *place.entry(voxel_of(point, leaf)).or_insert_with(|| {
                all.cells.push(Cell { points: Vec::new(), low: *point, high: *point });
                all.cells.len() - 1
            });
            let cell = &mut all.cells[at];
            cell.points.push(*point);
            (cell.low, cell.high) = (cell.low.inf(point), cell.high.sup(point));
        }
        if let Some(first) = all.cells.first() {
            (all.low, all.high) = (first.low, first.high);
        }
        for cell in &all.cells {
            (all.low, all.high) = (all.low.inf(&cell.low), all.high.sup(&cell.high));
        }
        all
    }

    /// Least distance of two surfaces, metres; `None` when it is more than `reach`.
    pub(super) fn gap(&self, other: &Self, reach: f64) -> Option<f64> {
        if box_gap((&self.low, &self.high), (&other.low, &other.high)) > reach {
            return None;
        }
        let mut pairs: Vec<(f64, &Cell, &Cell)> = Vec::new();
        for mine in &self.cells {
            if box_gap((&mine.low, &mine.high), (&other.low, &other.high)) > reach {
                continue;
            }
            for theirs in &other.cells {
                let least = box_gap((&mine.low, &mine.high), (&theirs.low, &theirs.high));
                if least <= reach {
                    pairs.push((least, mine, theirs));
                }
            }
        }
        // No two points of a pair of cells are nearer than their boxes.
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = reach;
        let mut found = false;
        for (least, mine, theirs) in pairs {
            if found && least >= best {
                break;
            }
            for point in &mine.points {
                for there in &theirs.points {
                    let distance = (point - there).norm();
                    if distance <= best {
                        (best, found) = (distance, true);
                    }
                }
            }
        }
        found.then_some(best)
    }
}

/// Distance of two boxes; 0 when they touch.
fn box_gap(a: (&Point3<f64>, &Point3<f64>), b: (&Point3<f64>, &Point3<f64>)) -> f64 {
    let apart = (b.0 - a.1).sup(&(a.0 - b.1));
    apart.sup(&Vector3::zeros()).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cloud() -> impl Strategy<Value = Vec<Point3<f64>>> {
        prop::collection::vec((0.0..0.1_f64, 0.0..0.1_f64, 0.0..0.1_f64), 0..60)
            .prop_map(|raw| raw.into_iter().map(|(x, y, z)| Point3::new(x, y, z)).collect())
    }

    proptest! {
        /// The same as by all pairs.
        #[test]
        fn the_gap_is_the_least_distance(a in cloud(), b in cloud(), shift in 0.0..0.15_f64, reach in 0.005..0.05_f64) {
            let b: Vec<Point3<f64>> = b.iter().map(|p| p + Vector3::x() * shift).collect();
            let least = a
                .iter()
                .flat_map(|p| b.iter().map(move |q| (p - q).norm()))
                .filter(|distance| *distance <= reach)
                .reduce(f64::min);
            let found = Cells::new(&a, reach).gap(&Cells::new(&b, reach), reach);
            prop_assert_eq!(found, least);
        }
    }
}
