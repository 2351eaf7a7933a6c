//! The floor of a room: what a map of it knows, where the base is, and areas with names.

use nalgebra::{Isometry3, Point3};
use prehend_navigation::OccupancyGrid;

/// Most cells along a side that are drawn one by one; of a larger grid, several become one.
const MOST_CELLS: usize = 400;
/// Cost from which the middle of the base cannot be at a place without touching something, as `nav2_costmap_2d` publishes it.
const INSCRIBED: i8 = 99;

/// What is known of a place on the floor, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occupancy {
    /// Nothing.
    Unknown,
    /// Nothing is near.
    Free,
    /// Something is near.
    Near,
    /// The base cannot be here.
    Blocked,
}

impl Occupancy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Free, Self::Near, Self::Blocked];

    fn of(cell: i8) -> Self {
        match cell {
            ..0 => Self::Unknown,
            0 => Self::Free,
            1..INSCRIBED => Self::Near,
            INSCRIBED.. => Self::Blocked,
        }
    }
}

/// A rectangle on the floor, along x and y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// Its least x and y, metres.
    pub low: [f64; 2],
    /// Its greatest x and y, metres.
    pub high: [f64; 2],
    /// What is known of it.
    pub ground: Occupancy,
}

/// A map of the floor, at height 0: rectangles that do not overlap; of what is not known there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floor {
    /// The rectangles.
    pub patches: Vec<Patch>,
}

impl Floor {
    /// The floor that a grid or a costmap tells (-1 unknown, 0 free to 100 occupied), in the frame of the grid. Of grids with more than 400
    /// cells along a side several cells become one, which is as bad as the worst of them.
    pub fn of(grid: &OccupancyGrid) -> Self {
        let layout = grid.layout();
        let step = layout.width.max(layout.height).div_ceil(MOST_CELLS).max(1);
        let (columns, rows) = (layout.width.div_ceil(step), layout.height.div_ceil(step));
        let worst = |column: usize, row: usize| {
            let across = column * step..((column + 1) * step).min(layout.width);
            let cells = (row * step..((row + 1) * step).min(layout.height))
                .flat_map(|row| &grid.cells()[row * layout.width..][across.clone()]);
            cells.map(|cell| Occupancy::of(*cell)).max().unwrap_or(Occupancy::Unknown)
        };
        let edge = |axis: usize, count: usize| {
            let most = [layout.width, layout.height][axis];
            layout.origin[axis] + (count * step).min(most) as f64 * layout.resolution
        };
        let mut patches: Vec<Patch> = Vec::new();
        // Runs of a row join the run above them when both begin and end at the same place.
        let mut open: Vec<usize> = Vec::new();
        for row in 0..rows {
            let mut runs = Vec::new();
            let mut column = 0;
            while column < columns {
                let (first, ground) = (column, worst(column, row));
                while column < columns && worst(column, row) == ground {
                    column += 1;
                }
                if ground == Occupancy::Unknown {
                    continue;
                }
                let (low, high) = ([edge(0, first), edge(1, row)], [edge(0, column), edge(1, row + 1)]);
                let same = |index: &&usize| {
                    let patch = &patches[**index];
                    patch.ground == ground && patch.low[0] == low[0] && patch.high[0] == high[0]
                };
                match open.iter().find(same).copied() {
                    Some(index) => {
                        patches[index].high[1] = high[1];
                        runs.push(index);
                    }
                    None => {
                        runs.push(patches.len());
                        patches.push(Patch { low, high, ground });
                    }
                }
            }
            open = runs;
        }
        Self { patches }
    }
}

/// A part of a building that has a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// What it is called.
    pub name: String,
    /// Its outline at height 0, in order; closed by going back to the first.
    pub outline: Vec<Point3<f64>>,
}

impl Area {
    /// The middle of its outline's corners; `None` without any.
    pub fn middle(&self) -> Option<Point3<f64>> {
        let count = self.outline.len();
        let sum = self.outline.iter().map(|corner| corner.coords).reduce(|sum, corner| sum + corner)?;
        Some(Point3::from(sum / count as f64))
    }
}

/// Why the base is shown at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is there.
    Now,
    /// It will look from there.
    Stop,
    /// It is going there.
    Goal,
}

/// The base at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Stand {
    /// Pose of the base: x forward, z up, on the floor.
    pub stage_from_base: Isometry3<f64>,
    /// Why it is shown there.
    pub standing: Standing,
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_navigation::grid::Layout;
    use proptest::prelude::*;

    fn grid(width: usize, cells: Vec<i8>) -> OccupancyGrid {
        let height = cells.len() / width;
        OccupancyGrid::new(Layout { width, height, resolution: 0.5, origin: [-1.0, 2.0] }, cells)
            .expect("a grid")
    }

    fn at(floor: &Floor, x: f64, y: f64) -> Occupancy {
        let inside = |patch: &&Patch| {
            (patch.low[0]..patch.high[0]).contains(&x) && (patch.low[1]..patch.high[1]).contains(&y)
        };
        let mut found = floor.patches.iter().filter(inside);
        let ground = found.next().map_or(Occupancy::Unknown, |patch| patch.ground);
        assert_eq!(found.next(), None, "patches overlap at {x}, {y}");
        ground
    }

    #[test]
    fn cells_are_where_the_grid_has_them_and_equal_ones_are_joined() {
        let floor = Floor::of(&grid(3, vec![0, 0, -1, 0, 0, 100, 50, 99, -1]));
        for (x, y, expected) in [
            (-0.75, 2.25, Occupancy::Free),
            (0.25, 2.25, Occupancy::Unknown),
            (0.25, 2.75, Occupancy::Blocked),
            (-0.75, 3.25, Occupancy::Near),
            (-0.25, 3.25, Occupancy::Blocked),
            (5.0, 5.0, Occupancy::Unknown),
        ] {
            assert_eq!(at(&floor, x, y), expected, "{x}, {y}");
        }
        assert_eq!(floor.patches.len(), 4, "{:?}", floor.patches);
        assert_eq!(Floor::of(&grid(2, vec![-1; 4])), Floor::default());
    }

    #[test]
    fn a_huge_grid_stays_small_and_loses_no_obstacle() {
        let width = 3000;
        let mut cells = vec![0; width * width];
        cells[1234 * width + 2345] = 100;
        let floor = Floor::of(&grid(width, cells));
        assert!(floor.patches.len() < 10, "{}", floor.patches.len());
        assert_eq!(at(&floor, -1.0 + 2345.5 * 0.5, 2.0 + 1234.5 * 0.5), Occupancy::Blocked);
        let (low, high) = (floor.patches[0].low, floor.patches.iter().map(|p| p.high[1]).fold(0.0, f64::max));
        assert_eq!((low, high), ([-1.0, 2.0], 2.0 + 1500.0));
    }

    proptest! {
        #[test]
        fn every_cell_is_in_one_patch_of_its_own_ground(
            width in 1..7_usize, values in proptest::collection::vec(-1..=100_i8, 6..60),
        ) {
            let height = values.len() / width;
            let cells = values[..width * height].to_vec();
            let floor = Floor::of(&grid(width, cells.clone()));
            for (index, cell) in cells.iter().enumerate() {
                let (x, y) = (-1.0 + (index % width) as f64 * 0.5 + 0.25, 2.0 + (index / width) as f64 * 0.5 + 0.25);
                prop_assert_eq!(at(&floor, x, y), Occupancy::of(*cell));
            }
        }
    }
}
