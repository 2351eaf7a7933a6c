//! Rooms for the tests of this crate: drawn by hand, 0.05 m a cell.

use crate::footprint::Footprint;
use crate::grid::{Costmap, Inflation, Layout, OccupancyGrid};

/// Centre of the table in [`furnished`]: 1.0 m along x, 0.6 m along y.
pub(crate) const TABLE: [f64; 2] = [3.0, 2.5];
/// Centre of the shelf in [`furnished`]: 1.2 m along x, 0.4 m along y, at the upper wall.
pub(crate) const SHELF: [f64; 2] = [4.5, 4.8];

/// Free floor `[x0, x1, y0, y1]` with walls of 0.1 m around it, nothing known outside.
pub(crate) fn room([x0, x1, y0, y1]: [f64; 4]) -> OccupancyGrid {
    let margin = 0.5;
    let cells = |length: f64| ((length + 2.0 * margin) / 0.05).round() as usize;
    let layout = Layout {
        width: cells(x1 - x0),
        height: cells(y1 - y0),
        resolution: 0.05,
        origin: [x0 - margin, y0 - margin],
    };
    let mut grid = OccupancyGrid::filled(layout, -1).expect("a grid");
    fill(&mut grid, [x0 - 0.1, x1 + 0.1, y0 - 0.1, y1 + 0.1], 100);
    fill(&mut grid, [x0, x1, y0, y1], 0);
    grid
}

/// Sets a rectangle `[x0, x1, y0, y1]`.
pub(crate) fn fill(grid: &mut OccupancyGrid, [x0, x1, y0, y1]: [f64; 4], value: i8) {
    grid.fill_polygon(&[[x0, y0], [x1, y0], [x1, y1], [x0, y1]], value);
}

/// A corridor along x of this width, its middle at y = 1.
pub(crate) fn corridor(width: f64) -> OccupancyGrid {
    room([0.0, 4.0, 1.0 - width / 2.0, 1.0 + width / 2.0])
}

/// 6 x 5 m with a table in it and a shelf at the wall.
pub(crate) fn furnished() -> OccupancyGrid {
    let mut grid = room([0.0, 6.0, 0.0, 5.0]);
    fill(&mut grid, [2.5, 3.5, 2.2, 2.8], 100);
    fill(&mut grid, [3.9, 5.1, 4.6, 5.0], 100);
    grid
}

/// 6 x 3 m with a wall across at x = 3.
pub(crate) fn two_rooms_without_door() -> OccupancyGrid {
    let mut grid = room([0.0, 6.0, 0.0, 3.0]);
    fill(&mut grid, [2.95, 3.05, 0.0, 3.0], 100);
    grid
}

/// The same with a door of this width at the top.
pub(crate) fn two_rooms(door: f64) -> OccupancyGrid {
    let mut grid = two_rooms_without_door();
    fill(&mut grid, [2.9, 3.1, 2.8 - door, 2.8], 0);
    grid
}

pub(crate) fn footprint() -> Footprint {
    Footprint::polygon(&[[0.37, 0.25], [-0.37, 0.25], [-0.37, -0.25], [0.37, -0.25]]).expect("a footprint")
}

pub(crate) fn costmap(grid: &OccupancyGrid) -> Costmap {
    let inscribed_radius = footprint().inscribed_radius();
    Costmap::new(grid, Inflation { inscribed_radius, inflation_radius: 0.7, cost_scaling_factor: 4.0 })
}
