//! Occupied space as one vertical column per grid cell, and boxes checked against it.

use crate::gripper::ToolBox;
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// How far down an observed surface fills its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Down to this height: what is below an observed point is unknown, thus occupied.
    To(f64),
    /// Only this thick, metres: the wall of something hollow.
    Shell(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    low: f64,
    top: f64,
    owner: usize,
}

/// Columns of square cells over the map's x-y plane, metres.
#[derive(Clone, Debug)]
pub struct Columns {
    cell: f64,
    x0: f64,
    y0: f64,
    nx: usize,
    ny: usize,
    cells: Vec<Option<Column>>,
}

/// Largest number of cells along one axis; a cloud that needs more is cut to the cells around its first points.
const MAX_CELLS: usize = 800;

impl Columns {
    /// Columns of several clouds (map frame, points with a number that is not finite are left out), each with the
    /// owner's index that [`first_hit`](Self::first_hit) reports. `cell` is clamped to 1 mm at least.
    pub fn new<'a>(cell: f64, clouds: impl IntoIterator<Item = (usize, &'a [Point3<f64>], Fill)>) -> Self {
        let cell = if cell.is_finite() { cell.max(0.001) } else { 0.005 };
        let clouds: Vec<_> = clouds.into_iter().collect();
        let finite = |p: &&Point3<f64>| p.coords.iter().all(|c| c.is_finite() && c.abs() < 100.0);
        let mut low = Point3::new(f64::INFINITY, f64::INFINITY, 0.0);
        let mut high = Point3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0);
        for point in clouds.iter().flat_map(|(_, points, _)| points.iter()).filter(finite) {
            low = low.inf(point);
            high = high.sup(point);
        }
        if low.x > high.x {
            return Self { cell, x0: 0.0, y0: 0.0, nx: 0, ny: 0, cells: Vec::new() };
        }
        let count = |a: f64, b: f64| (((b - a) / cell).floor() as usize + 3).min(MAX_CELLS);
        let (nx, ny) = (count(low.x, high.x), count(low.y, high.y));
        let mut columns =
            Self { cell, x0: low.x - cell, y0: low.y - cell, nx, ny, cells: vec![None; nx * ny] };
        for (owner, points, fill) in clouds {
            columns.add(owner, points, fill);
        }
        columns
    }

    fn add(&mut self, owner: usize, points: &[Point3<f64>], fill: Fill) {
        let mut tops: Vec<Option<f64>> = vec![None; self.cells.len()];
        for point in points.iter().filter(|p| p.coords.iter().all(|c| c.is_finite())) {
            if let Some(index) = self.index(point.x, point.y) {
                tops[index] = Some(tops[index].map_or(point.z, |top| top.max(point.z)));
            }
        }
        let filled = self.close_gaps(&tops);
        for (index, top) in filled.into_iter().enumerate() {
            let Some(top) = top else { continue };
            let low = match fill {
                Fill::To(height) => height.min(top),
                Fill::Shell(thickness) => top - thickness,
            };
            let entry = &mut self.cells[index];
            *entry = Some(match *entry {
                Some(old) if old.top >= top => Column { low: old.low.min(low), ..old },
                Some(old) => Column { low: old.low.min(low), top, owner },
                None => Column { low, top, owner },
            });
        }
    }

    /// Cells without a point but with five filled neighbours take the lowest of them.
    fn close_gaps(&self, tops: &[Option<f64>]) -> Vec<Option<f64>> {
        let mut filled = tops.to_vec();
        for iy in 1..self.ny.saturating_sub(1) {
            for ix in 1..self.nx.saturating_sub(1) {
                let index = iy * self.nx + ix;
                if tops[index].is_some() {
                    continue;
                }
                let around = [
                    index - self.nx - 1,
                    index - self.nx,
                    index - self.nx + 1,
                    index - 1,
                    index + 1,
                    index + self.nx - 1,
                    index + self.nx,
                    index + self.nx + 1,
                ];
                let known: Vec<f64> = around.into_iter().filter_map(|i| tops[i]).collect();
                if known.len() >= 5 {
                    filled[index] = Some(known.iter().copied().fold(f64::INFINITY, f64::min));
                }
            }
        }
        filled
    }

    fn index(&self, x: f64, y: f64) -> Option<usize> {
        let (ix, iy) = ((x - self.x0) / self.cell, (y - self.y0) / self.cell);
        (ix >= 0.0 && iy >= 0.0 && ix < self.nx as f64 && iy < self.ny as f64)
            .then(|| iy as usize * self.nx + ix as usize)
    }

    /// Side of a cell, metres.
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// Height of the occupied column at (x, y), metres; `None` where nothing was seen.
    pub fn top(&self, x: f64, y: f64) -> Option<f64> {
        self.cells[self.index(x, y)?].map(|column| column.top)
    }

    /// Centre, bottom and top of every occupied cell, row by row.
    pub fn occupied(&self) -> impl Iterator<Item = (f64, f64, f64, f64)> + '_ {
        self.cells.iter().enumerate().filter_map(|(index, column)| {
            let column = (*column)?;
            let (x, y) = self.centre(index);
            Some((x, y, column.low, column.top))
        })
    }

    fn centre(&self, index: usize) -> (f64, f64) {
        (
            self.x0 + ((index % self.nx) as f64 + 0.5) * self.cell,
            self.y0 + ((index / self.nx) as f64 + 0.5) * self.cell,
        )
    }

    /// The greatest top within `radius` of (x, y), in the square sense; `None` where nothing was seen.
    pub fn max_top(&self, x: f64, y: f64, radius: f64) -> Option<f64> {
        let (xs, ys) = (self.range(x - radius, x + radius, true), self.range(y - radius, y + radius, false));
        let mut best: Option<f64> = None;
        for iy in ys {
            for ix in xs.clone() {
                if let Some(column) = self.cells[iy * self.nx + ix] {
                    best = Some(best.map_or(column.top, |b: f64| b.max(column.top)));
                }
            }
        }
        best
    }

    fn range(&self, low: f64, high: f64, along_x: bool) -> std::ops::Range<usize> {
        let (origin, count) = if along_x { (self.x0, self.nx) } else { (self.y0, self.ny) };
        let first = ((low - origin) / self.cell).floor().max(0.0);
        let last = ((high - origin) / self.cell).floor() + 1.0;
        if last.is_nan() || first.is_nan() || last <= first {
            return 0..0;
        }
        (first as usize).min(count)..(last as usize).min(count)
    }

    /// Owner of the first column that reaches into one of `boxes` grown by `margin` metres, the boxes given in a tool
    /// frame at `map_from_tool`.
    pub fn first_hit(&self, map_from_tool: &Isometry3<f64>, boxes: &[ToolBox], margin: f64) -> Option<usize> {
        let mut first = None;
        self.each_hit(map_from_tool, boxes, margin, |owner| {
            first = Some(owner);
            ControlFlow::Break(())
        });
        first
    }

    /// As [`first_hit`](Self::first_hit), every owner once, ascending.
    pub fn hits(&self, map_from_tool: &Isometry3<f64>, boxes: &[ToolBox], margin: f64) -> Vec<usize> {
        let mut owners = BTreeSet::new();
        self.each_hit(map_from_tool, boxes, margin, |owner| {
            owners.insert(owner);
            ControlFlow::Continue(())
        });
        owners.into_iter().collect()
    }

    fn each_hit(
        &self,
        map_from_tool: &Isometry3<f64>,
        boxes: &[ToolBox],
        margin: f64,
        mut hit: impl FnMut(usize) -> ControlFlow<()>,
    ) {
        let rotation = map_from_tool.rotation.to_rotation_matrix();
        let up = rotation.inverse() * Vector3::z();
        for b in boxes {
            // A column is thinned to its axis, so the box grows by half a cell as well.
            let grow = Vector3::repeat(margin + self.cell * 0.4);
            let (low, high) = (b.low - grow, b.high + grow);
            let centre = map_from_tool * Point3::from((low + high) / 2.0);
            let half = rotation.matrix().abs() * ((high - low) / 2.0);
            let lowest = centre.z - half.z;
            let xs = self.range(centre.x - half.x, centre.x + half.x, true);
            let ys = self.range(centre.y - half.y, centre.y + half.y, false);
            for iy in ys {
                for ix in xs.clone() {
                    let index = iy * self.nx + ix;
                    let Some(column) = self.cells[index] else { continue };
                    if column.top <= lowest {
                        continue;
                    }
                    let (x, y) = self.centre(index);
                    let start = map_from_tool.inverse_transform_point(&Point3::new(x, y, column.low));
                    if segment_meets_box(&start, &(up * (column.top - column.low)), &low, &high)
                        && hit(column.owner).is_break()
                    {
                        return;
                    }
                }
            }
        }
    }
}

/// Whether the segment from `start` along `along` has a point in the box.
fn segment_meets_box(
    start: &Point3<f64>,
    along: &Vector3<f64>,
    low: &Vector3<f64>,
    high: &Vector3<f64>,
) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in 0..3 {
        if along[axis].abs() < 1e-12 {
            if start[axis] < low[axis] || start[axis] > high[axis] {
                return false;
            }
            continue;
        }
        let a = (low[axis] - start[axis]) / along[axis];
        let b = (high[axis] - start[axis]) / along[axis];
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
        if enter > leave {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plate() -> Vec<Point3<f64>> {
        (0..20)
            .flat_map(|i| {
                (0..20).map(move |j| Point3::new(0.3 + 0.005 * f64::from(i), 0.005 * f64::from(j), 0.05))
            })
            .collect()
    }

    #[test]
    fn a_box_meets_what_was_seen_and_what_is_below_it() {
        let points = plate();
        let columns = Columns::new(0.005, [(7, points.as_slice(), Fill::To(0.0))]);
        let shell = Columns::new(0.005, [(7, points.as_slice(), Fill::Shell(0.01))]);
        let cube = [ToolBox { low: Vector3::repeat(-0.01), high: Vector3::repeat(0.01) }];
        for (x, y, z, solid, hollow) in [
            (0.35, 0.05, 0.05, Some(7), Some(7)),
            (0.35, 0.05, 0.02, Some(7), None),
            (0.35, 0.05, 0.08, None, None),
            (0.45, 0.05, 0.02, None, None),
            (0.402, 0.05, 0.02, Some(7), None),
        ] {
            let pose = Isometry3::translation(x, y, z);
            assert_eq!(columns.first_hit(&pose, &cube, 0.0), solid, "{x} {y} {z}");
            assert_eq!(shell.first_hit(&pose, &cube, 0.0), hollow, "{x} {y} {z}");
        }
        assert_eq!(columns.top(0.35, 0.05), Some(0.05));
        // Two owners side by side, and one that is lower than the box.
        let shifted = |by: f64, down: f64| -> Vec<Point3<f64>> {
            points.iter().map(|p| Point3::new(p.x, p.y + by, p.z - down)).collect()
        };
        let (beside, low) = (shifted(0.1, 0.0), shifted(-0.1, 0.045));
        let clouds = [(7, &points), (9, &beside), (3, &low)].map(|(i, p)| (i, p.as_slice(), Fill::To(0.0)));
        let columns = Columns::new(0.005, clouds);
        let bar = [ToolBox { low: Vector3::new(-0.01, -0.2, -0.01), high: Vector3::new(0.01, 0.2, 0.01) }];
        assert_eq!(columns.hits(&Isometry3::translation(0.35, 0.05, 0.04), &bar, 0.0), [7, 9]);
        assert_eq!(columns.hits(&Isometry3::translation(0.35, 0.05, 0.09), &bar, 0.0), [0; 0]);
        assert_eq!(columns.top(0.0, 0.05), None);
    }

    #[test]
    fn nothing_and_garbage_make_no_columns() {
        let garbage = [Point3::new(f64::NAN, 0.0, 0.0), Point3::new(f64::INFINITY, 1.0, 1.0)];
        for points in [&garbage[..], &[]] {
            let columns = Columns::new(f64::NAN, [(0, points, Fill::To(0.0))]);
            assert_eq!(columns.occupied().count(), 0);
            let cube = [ToolBox { low: Vector3::repeat(-1.0), high: Vector3::repeat(1.0) }];
            assert_eq!(columns.first_hit(&Isometry3::identity(), &cube, 0.0), None);
        }
    }
}
