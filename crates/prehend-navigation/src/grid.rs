//! Occupancy grids and the costmaps made from them.

use crate::distance::distances;

/// Cost of a cell in which nothing is near.
pub const FREE: u8 = 0;
/// Cost of a cell in which the centre of the base cannot be without touching something.
pub const INSCRIBED: u8 = 253;
/// Cost of a cell in which something is.
pub const LETHAL: u8 = 254;
/// Cost of a cell of which nothing is known.
pub const UNKNOWN: u8 = 255;

/// Most cells of a grid: 400 million would not fit; 16 million are 4 km² at 0.5 m or 200 x 200 m at 0.05 m.
const MOST_CELLS: usize = 16_000_000;

/// Why a grid is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// The number of cells is not width times height, is zero, or is more than memory is given for.
    #[error("{cells} cells for a grid of {width} x {height}")]
    Size {
        /// Cells given.
        cells: usize,
        /// Cells a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The resolution or the origin is not a usable number.
    #[error("resolution {resolution} m and origin [{x}, {y}] m are not usable")]
    Numbers {
        /// Side of a cell, metres.
        resolution: f64,
        /// Origin, metres.
        x: f64,
        /// Origin, metres.
        y: f64,
    },
}

/// Where the cells of a grid are: row-major, rows along x, row 0 at the least y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Cells a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Side of a cell, metres, positive.
    pub resolution: f64,
    /// Lower left corner of cell 0, metres in the grid's frame; the grid's axes are those of the frame.
    pub origin: [f64; 2],
}

impl Layout {
    fn check(&self, cells: usize) -> Result<(), GridError> {
        let Self { width, height, resolution, origin: [x, y] } = *self;
        let numbers = resolution.is_finite() && resolution > 1e-4 && x.is_finite() && y.is_finite();
        if !numbers {
            return Err(GridError::Numbers { resolution, x, y });
        }
        let fits = width.checked_mul(height).is_some_and(|all| all == cells && all > 0 && all <= MOST_CELLS);
        if fits { Ok(()) } else { Err(GridError::Size { cells, width, height }) }
    }

    /// The cell (column, row) of a point; `None` outside the grid.
    pub fn cell(&self, [x, y]: [f64; 2]) -> Option<(usize, usize)> {
        let (column, row) = ((x - self.origin[0]) / self.resolution, (y - self.origin[1]) / self.resolution);
        let inside = column >= 0.0 && row >= 0.0 && column < self.width as f64 && row < self.height as f64;
        inside.then_some((column as usize, row as usize))
    }

    /// The centre of a cell, metres.
    pub fn centre(&self, (column, row): (usize, usize)) -> [f64; 2] {
        [
            self.origin[0] + (column as f64 + 0.5) * self.resolution,
            self.origin[1] + (row as f64 + 0.5) * self.resolution,
        ]
    }

    /// Index of a point's cell; `None` outside the grid.
    pub fn index(&self, point: [f64; 2]) -> Option<usize> {
        self.cell(point).map(|(column, row)| row * self.width + column)
    }

    /// Column and row of a cell by index.
    pub fn at(&self, index: usize) -> (usize, usize) {
        (index % self.width, index / self.width)
    }
}

/// What is known of a plane, as `nav_msgs/OccupancyGrid` has it: -1 unknown, 0 free to 100 occupied.
#[derive(Clone, Debug, PartialEq)]
pub struct OccupancyGrid {
    layout: Layout,
    cells: Vec<i8>,
}

impl OccupancyGrid {
    /// At this value and above a cell is occupied, as Nav2's map server has it (65 %).
    pub const OCCUPIED: i8 = 65;

    /// A grid from its cells, row-major from the lowest y.
    ///
    /// Errors: [`GridError`] for sizes that do not match and numbers that are none.
    pub fn new(layout: Layout, cells: Vec<i8>) -> Result<Self, GridError> {
        layout.check(cells.len())?;
        Ok(Self { layout, cells })
    }

    /// A grid of which every cell has one value.
    ///
    /// Errors: as [`OccupancyGrid::new`].
    pub fn filled(layout: Layout, value: i8) -> Result<Self, GridError> {
        let cells = layout.width.saturating_mul(layout.height);
        layout.check(cells)?;
        Ok(Self { layout, cells: vec![value; cells] })
    }

    /// Where the cells are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All cells, row-major from the lowest y.
    pub fn cells(&self) -> &[i8] {
        &self.cells
    }

    /// Whether something is at a point; `None` when that is not known.
    pub fn occupied(&self, point: [f64; 2]) -> Option<bool> {
        let value = self.cells[self.layout.index(point)?];
        (value >= 0).then_some(value >= Self::OCCUPIED)
    }

    /// Sets the cell of a point; points outside are left alone.
    pub fn set(&mut self, point: [f64; 2], value: i8) {
        if let Some(index) = self.layout.index(point) {
            self.cells[index] = value;
        }
    }

    /// Sets every cell whose centre is in a convex polygon (counter-clockwise corners, metres).
    pub fn fill_polygon(&mut self, corners: &[[f64; 2]], value: i8) {
        let layout = self.layout;
        for_cells_of(&layout, corners, |index| self.cells[index] = value);
    }
}

/// Calls `each` with every cell whose centre is in a convex, counter-clockwise polygon; the part outside the grid is left out.
pub(crate) fn for_cells_of(layout: &Layout, corners: &[[f64; 2]], mut each: impl FnMut(usize)) {
    if corners.len() < 3 || corners.iter().flatten().any(|value| !value.is_finite()) {
        return;
    }
    let bound = |axis: usize, count: usize, wanted: fn(f64, f64) -> f64, start: f64| {
        let extreme = corners.iter().map(|corner| corner[axis]).fold(start, wanted);
        ((extreme - layout.origin[axis]) / layout.resolution).clamp(0.0, count as f64) as usize
    };
    let (first, last) = (
        bound(1, layout.height, f64::min, f64::INFINITY),
        bound(1, layout.height, f64::max, f64::NEG_INFINITY),
    );
    for row in first..=last.min(layout.height - 1) {
        let y = layout.origin[1] + (row as f64 + 0.5) * layout.resolution;
        // The row's line cuts a convex polygon in one interval.
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (index, a) in corners.iter().enumerate() {
            let b = corners[(index + 1) % corners.len()];
            if (a[1] <= y) != (b[1] <= y) {
                let x = a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
                (low, high) = (low.min(x), high.max(x));
            }
        }
        if low > high {
            continue;
        }
        let from = ((low - layout.origin[0]) / layout.resolution - 0.5).ceil().max(0.0) as usize;
        let to = ((high - layout.origin[0]) / layout.resolution - 0.5).floor();
        if to < 0.0 {
            continue;
        }
        for column in from..=(to as usize).min(layout.width - 1) {
            each(row * layout.width + column);
        }
    }
}

/// Overlaps up to this count as none, metres: a side on the border of a cell does not touch the cell.
const BORDER: f64 = 1e-6;

/// Every cell that a convex polygon overlaps, as Nav2 takes outlines: what is in a cell may be anywhere in it.
pub(crate) fn for_cells_touched(layout: &Layout, corners: &[[f64; 2]], mut each: impl FnMut(usize)) {
    if corners.len() < 3 || corners.iter().flatten().any(|value| !value.is_finite()) {
        return;
    }
    // In cells from the origin.
    let resolution = layout.resolution;
    let local = |corner: &[f64; 2]| [0, 1].map(|axis| (corner[axis] - layout.origin[axis]) / resolution);
    let border = BORDER / resolution;
    let first_and_last = |low: f64, high: f64, count: usize| {
        let (first, last) = ((low + border).floor().max(0.0), (high - border).floor());
        (last >= 0.0 && first < count as f64).then(|| (first as usize, (last as usize).min(count - 1)))
    };
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for [_, y] in corners.iter().map(local) {
        (low, high) = (low.min(y), high.max(y));
    }
    let Some((first, last)) = first_and_last(low, high, layout.height) else { return };
    for row in first..=last {
        let (below, above) = (row as f64 + border, (row + 1) as f64 - border);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        // A side reaches farthest within a row at its ends there.
        for (index, corner) in corners.iter().enumerate() {
            let (a, b) = (local(corner), local(&corners[(index + 1) % corners.len()]));
            let (down, up) = if a[1] <= b[1] { (a, b) } else { (b, a) };
            if up[1] < below || down[1] > above {
                continue;
            }
            let rise = up[1] - down[1];
            let at = |y: f64| down[0] + (y - down[1]) / rise * (up[0] - down[0]);
            let ends = match rise > border {
                true => [at(down[1].max(below)), at(up[1].min(above))],
                false => [down[0], up[0]],
            };
            for x in ends {
                (low, high) = (low.min(x), high.max(x));
            }
        }
        if let Some((from, to)) = first_and_last(low, high, layout.width).filter(|_| low <= high) {
            (from..=to).for_each(|column| each(row * layout.width + column));
        }
    }
}

/// How cost falls with the distance to what is occupied; the words and the formula are those of Nav2's inflation layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflation {
    /// Up to this distance the base touches whatever its heading is, metres.
    pub inscribed_radius: f64,
    /// Beyond this distance there is no cost, metres.
    pub inflation_radius: f64,
    /// Cost falls by e within one over this, 1/m.
    pub cost_scaling_factor: f64,
}

impl Inflation {
    /// Nav2's cost at a distance from the nearest occupied cell, metres.
    pub fn cost(&self, distance: f64) -> u8 {
        if distance <= 0.0 {
            LETHAL
        } else if distance <= self.inscribed_radius {
            INSCRIBED
        } else if distance > self.inflation_radius {
            FREE
        } else {
            let share = (-self.cost_scaling_factor * (distance - self.inscribed_radius)).exp();
            (f64::from(INSCRIBED - 1) * share) as u8
        }
    }
}

/// The cost of being somewhere, and how far it is from there to the nearest thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Costmap {
    layout: Layout,
    costs: Vec<u8>,
    /// Metres to the nearest occupied cell's centre.
    clearance: Vec<f32>,
    /// Metres to the nearest cell's centre that is occupied or unknown.
    room: Vec<f32>,
    known: Vec<bool>,
    inflation: Inflation,
}

impl Costmap {
    /// The costmap of an occupancy grid: occupied cells are lethal, what is around them is inflated, unknown cells stay unknown
    /// unless an inflated cost reaches them that forbids being there.
    pub fn new(grid: &OccupancyGrid, inflation: Inflation) -> Self {
        let layout = grid.layout;
        let away = |from: fn(i8) -> bool| -> Vec<f32> {
            let set: Vec<bool> = grid.cells.iter().map(|value| from(*value)).collect();
            let cells = distances(&set, layout.width);
            cells.into_iter().map(|cells| (cells * layout.resolution) as f32).collect()
        };
        let clearance = away(|value| value >= OccupancyGrid::OCCUPIED);
        let room = away(|value| !(0..OccupancyGrid::OCCUPIED).contains(&value));
        let cost = |(distance, value): (&f32, &i8)| {
            let cost = inflation.cost(f64::from(*distance));
            if *value < 0 && cost < INSCRIBED { UNKNOWN } else { cost }
        };
        let costs = clearance.iter().zip(&grid.cells).map(cost).collect();
        let known = grid.cells.iter().map(|value| *value >= 0).collect();
        Self { layout, costs, clearance, room, known, inflation }
    }

    /// Where the cells are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All costs, row-major from the lowest y.
    pub fn costs(&self) -> &[u8] {
        &self.costs
    }

    /// Whether anything is known of a cell by index (false outside).
    pub fn is_known(&self, index: usize) -> bool {
        self.known.get(index).copied().unwrap_or(false)
    }

    /// How it was inflated.
    pub fn inflation(&self) -> &Inflation {
        &self.inflation
    }

    /// Cost at a point; outside the grid nothing is known.
    pub fn cost(&self, point: [f64; 2]) -> u8 {
        self.layout.index(point).map_or(UNKNOWN, |index| self.costs[index])
    }

    /// Metres from a point's cell to the nearest occupied cell; infinite when nothing is occupied, 0 outside the grid.
    pub fn clearance(&self, point: [f64; 2]) -> f64 {
        self.layout.index(point).map_or(0.0, |index| f64::from(self.clearance[index]))
    }

    /// Metres from a point to the nearest cell that is occupied, unknown or outside, at least; never negative.
    pub fn room(&self, point: [f64; 2]) -> f64 {
        let Some(index) = self.layout.index(point) else {
            return 0.0;
        };
        let Layout { width, height, resolution, origin } = self.layout;
        let side = |axis: usize, count: usize| {
            let low = point[axis] - origin[axis];
            low.min(count as f64 * resolution - low)
        };
        // From a centre to anywhere in another cell: half a diagonal less on both sides.
        let room = f64::from(self.room[index]) - 1.5 * resolution;
        room.min(side(0, width)).min(side(1, height)).max(0.0)
    }

    /// As `nav_msgs/OccupancyGrid` carries a costmap: 0 free, 1 to 98 inflated, 99 inscribed, 100 lethal, -1 unknown (Nav2's
    /// `costmap_2d_publisher`).
    pub fn to_occupancy(&self) -> Vec<i8> {
        let value = |cost: &u8| match *cost {
            FREE => 0,
            INSCRIBED => 99,
            LETHAL => 100,
            UNKNOWN => -1,
            cost => (1 + 97 * (i32::from(cost) - 1) / 251) as i8,
        };
        self.costs.iter().map(value).collect()
    }

    /// Every cell that can be reached from a point over cells whose cost is below inscribed and known; the start counts
    /// whatever its cost is. All false when the point is outside.
    pub fn reachable(&self, from: [f64; 2]) -> Vec<bool> {
        let mut seen = vec![false; self.costs.len()];
        let Some(start) = self.layout.index(from) else {
            return seen;
        };
        let mut open = vec![start];
        seen[start] = true;
        while let Some(index) = open.pop() {
            let (column, row) = self.layout.at(index);
            for (next_column, next_row) in neighbours(&self.layout, column, row) {
                let next = next_row * self.layout.width + next_column;
                if !seen[next] && self.costs[next] < INSCRIBED {
                    seen[next] = true;
                    open.push(next);
                }
            }
        }
        seen
    }
}

/// The up to four cells that share a side.
pub(crate) fn neighbours(
    layout: &Layout,
    column: usize,
    row: usize,
) -> impl Iterator<Item = (usize, usize)> + use<> {
    let (width, height) = (layout.width, layout.height);
    [(1, 0), (0, 1), (-1, 0), (0, -1)].into_iter().filter_map(move |(dx, dy)| {
        let (x, y) = (column.checked_add_signed(dx)?, row.checked_add_signed(dy)?);
        (x < width && y < height).then_some((x, y))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(width: usize, height: usize) -> Layout {
        Layout { width, height, resolution: 0.1, origin: [-1.0, 2.0] }
    }

    const INFLATION: Inflation =
        Inflation { inscribed_radius: 0.25, inflation_radius: 0.6, cost_scaling_factor: 4.0 };

    #[test]
    fn cells_and_points_agree() {
        let layout = layout(20, 10);
        for cell in [(0, 0), (19, 9), (7, 3)] {
            assert_eq!(layout.cell(layout.centre(cell)), Some(cell));
        }
        assert_eq!(layout.cell([-1.01, 2.5]), None);
        assert_eq!(layout.cell([1.01, 2.5]), None);
        assert_eq!(layout.cell([f64::NAN, 2.5]), None);
    }

    #[test]
    fn grids_that_are_none_are_refused() {
        assert!(matches!(
            OccupancyGrid::new(layout(3, 3), vec![0; 8]),
            Err(GridError::Size { cells: 8, .. })
        ));
        assert!(matches!(OccupancyGrid::filled(layout(usize::MAX, 3), 0), Err(GridError::Size { .. })));
        for resolution in [0.0, -1.0, f64::NAN] {
            let wrong = Layout { resolution, ..layout(3, 3) };
            assert!(matches!(OccupancyGrid::filled(wrong, 0), Err(GridError::Numbers { .. })));
        }
    }

    #[test]
    fn costs_fall_with_the_distance_as_nav2s_do() {
        let mut grid = OccupancyGrid::filled(layout(21, 21), 0).expect("a grid");
        let middle = grid.layout().centre((10, 10));
        grid.set(middle, 100);
        let map = Costmap::new(&grid, INFLATION);
        assert_eq!(map.cost(middle), LETHAL);
        assert_eq!(map.cost([middle[0] + 0.2, middle[1]]), INSCRIBED);
        // 252 exp(-4 (0.4 - 0.25)) = 138.3
        assert_eq!(map.cost([middle[0] + 0.4, middle[1]]), 138);
        assert_eq!(map.cost([middle[0] + 0.7, middle[1]]), FREE);
        assert_eq!(map.cost([99.0, 0.0]), UNKNOWN);
        assert!((map.clearance([middle[0] + 0.3, middle[1] + 0.4]) - 0.5).abs() < 1e-6);
        assert_eq!(map.to_occupancy()[10 * 21 + 10], 100);
    }

    #[test]
    fn what_is_unknown_stays_unknown_unless_it_is_forbidden() {
        let mut grid = OccupancyGrid::filled(layout(21, 21), -1).expect("a grid");
        let middle = grid.layout().centre((10, 10));
        grid.set(middle, 100);
        let map = Costmap::new(&grid, INFLATION);
        assert_eq!(map.cost([middle[0] + 0.2, middle[1]]), INSCRIBED);
        assert_eq!(map.cost([middle[0] + 0.4, middle[1]]), UNKNOWN);
        assert_eq!(grid.occupied(middle), Some(true));
        assert_eq!(grid.occupied([middle[0] + 0.2, middle[1]]), None);
    }

    #[test]
    fn a_polygon_covers_the_cells_whose_centres_are_in_it() {
        let mut grid = OccupancyGrid::filled(layout(20, 10), 0).expect("a grid");
        grid.fill_polygon(&[[-0.75, 2.15], [0.0, 2.15], [0.0, 2.55], [-0.75, 2.55]], 100);
        let set = grid.cells().iter().filter(|value| **value == 100).count();
        // Centres from x = -0.75 to -0.05 and y = 2.15 (a corner counts) to 2.45.
        assert!((7..=8).contains(&(set / 4)), "{set}");
        // Partly and wholly outside, and no polygon: nothing breaks.
        grid.fill_polygon(&[[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]], 50);
        assert!(grid.cells().iter().all(|value| *value == 50));
        grid.fill_polygon(&[[5.0, 5.0], [6.0, 5.0], [6.0, 6.0]], 7);
        grid.fill_polygon(&[[f64::NAN, 5.0], [6.0, 5.0], [6.0, 6.0]], 7);
        assert!(grid.cells().iter().all(|value| *value == 50));
    }

    #[test]
    fn walls_part_what_can_be_reached() {
        let mut grid = OccupancyGrid::filled(layout(40, 20), 0).expect("a grid");
        grid.fill_polygon(&[[0.9, 2.0], [1.1, 2.0], [1.1, 4.0], [0.9, 4.0]], 100);
        let map = Costmap::new(&grid, INFLATION);
        let seen = map.reachable([0.0, 3.0]);
        assert!(seen[map.layout().index([-0.5, 2.5]).expect("inside")]);
        assert!(!seen[map.layout().index([2.0, 3.0]).expect("inside")]);
        assert!(map.reachable([77.0, 3.0]).iter().all(|is| !is));
    }
}
