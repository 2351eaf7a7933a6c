//! The held object as cells around the tool, upright as it was grasped.

use crate::columns::{Columns, Fill};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use std::collections::{HashMap, HashSet};

/// Side of a cell, metres.
const CELL: f64 = 0.005;

/// What is in the hand: horizontal offsets from the tool origin in map axes at the grasp, and heights relative to it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldShape {
    /// `[n]` cells as (dx, dy, top), metres relative to the tool origin at the grasp.
    pub cells: Vec<[f64; 3]>,
    /// Underside relative to the tool origin, metres; negative when the object hangs below it.
    pub bottom: f64,
    /// Which cells belong to its bulk; the others are thin things at its side, such as a handle, which hang in the air.
    pub bulk: Vec<bool>,
    /// Horizontal offset of the middle of its bulk: where a mug's axis is, whatever its handle does.
    pub middle: [f64; 2],
    /// Orientation of the tool at the grasp.
    pub map_from_tool: UnitQuaternion<f64>,
    /// Direction from the base to the grasp, radians.
    pub azimuth: f64,
    /// Distance between the pads while holding, metres.
    pub opening: f64,
}

impl HeldShape {
    /// From the object's cloud before it was grasped, the tool pose at the grasp, the height of what it stood on, and
    /// the measured opening. `None` when no point is finite or the pose is not.
    pub fn new(
        cloud: &[Point3<f64>],
        map_from_tool: &Isometry3<f64>,
        stood_on: f64,
        opening: f64,
    ) -> Option<Self> {
        let t = map_from_tool.translation.vector;
        if !t.iter().chain(map_from_tool.rotation.coords.iter()).all(|c| c.is_finite())
            || !stood_on.is_finite()
            || !opening.is_finite()
        {
            return None;
        }
        let columns = Columns::new(CELL, [(0, cloud, Fill::To(stood_on))]);
        let cells: Vec<[f64; 3]> =
            columns.occupied().map(|(x, y, _, top)| [x - t.x, y - t.y, top - t.z]).collect();
        let bulk = bulk(&cells);
        let count = bulk.iter().filter(|b| **b).count() as f64;
        let sum = cells
            .iter()
            .zip(&bulk)
            .filter(|(_, b)| **b)
            .fold([0.0, 0.0], |sum, (cell, _)| [sum[0] + cell[0], sum[1] + cell[1]]);
        (count > 0.0).then(|| Self {
            cells,
            bulk,
            bottom: stood_on - t.z,
            middle: [sum[0] / count, sum[1] / count],
            map_from_tool: map_from_tool.rotation,
            azimuth: t.y.atan2(t.x),
            opening,
        })
    }

    /// Height of the object, metres.
    pub fn height(&self) -> f64 {
        self.cells.iter().map(|c| c[2]).fold(f64::NEG_INFINITY, f64::max) - self.bottom
    }

    /// The footprint turned by `yaw` about the vertical.
    pub(crate) fn turned(&self, yaw: f64) -> Footprint {
        let (s, c) = yaw.sin_cos();
        let turn = |[x, y]: [f64; 2]| [c * x - s * y, s * x + c * y];
        let middle = turn(self.middle);
        let cells: Vec<[f64; 2]> = self
            .cells
            .iter()
            .map(|[x, y, _]| {
                let [x, y] = turn([*x, *y]);
                [x - middle[0], y - middle[1]]
            })
            .collect();
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for cell in &cells {
            for axis in 0..2 {
                low[axis] = low[axis].min(cell[axis] - CELL / 2.0);
                high[axis] = high[axis].max(cell[axis] + CELL / 2.0);
            }
        }
        let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw) * self.map_from_tool;
        let bulk = self.bulk.clone();
        Footprint { yaw, cells, bulk, low, high, tool_from_middle: [-middle[0], -middle[1]], rotation }
    }
}

/// Share of the widest inscribed disk's radius that a part must be wide to belong to the bulk.
const THICK: f64 = 0.6;

/// The footprint opened by a disk: cells that a disk of [`THICK`] times the widest inscribed radius covers without
/// leaving the footprint. Holes in it (what the camera did not see) are filled along rows and columns first.
fn bulk(cells: &[[f64; 3]]) -> Vec<bool> {
    let index = |v: f64| (v / CELL).round() as i32;
    let own: HashSet<(i32, i32)> = cells.iter().map(|c| (index(c[0]), index(c[1]))).collect();
    let filled = fill(&own);
    let edge: Vec<(i32, i32)> = filled
        .iter()
        .flat_map(|(x, y)| [(x + 1, *y), (x - 1, *y), (*x, y + 1), (*x, y - 1)])
        .filter(|cell| !filled.contains(cell))
        .collect();
    let square = |a: (i32, i32), b: (i32, i32)| (a.0 - b.0).pow(2) + (a.1 - b.1).pow(2);
    let depth: Vec<((i32, i32), i32)> = filled
        .iter()
        .map(|cell| (*cell, edge.iter().map(|e| square(*cell, *e)).min().unwrap_or(0)))
        .collect();
    let widest = depth.iter().map(|(_, d)| *d).max().unwrap_or(0);
    let radius = f64::from(widest) * THICK * THICK;
    let inner: Vec<(i32, i32)> =
        depth.iter().filter(|(_, d)| f64::from(*d) >= radius).map(|(cell, _)| *cell).collect();
    cells
        .iter()
        .map(|c| {
            let cell = (index(c[0]), index(c[1]));
            inner.iter().any(|i| f64::from(square(*i, cell)) <= radius)
        })
        .collect()
}

/// The cells and those between two of them in their row and in their column.
fn fill(own: &HashSet<(i32, i32)>) -> HashSet<(i32, i32)> {
    let mut rows: HashMap<i32, (i32, i32)> = HashMap::new();
    let mut columns: HashMap<i32, (i32, i32)> = HashMap::new();
    for (x, y) in own {
        let row = rows.entry(*y).or_insert((*x, *x));
        *row = (row.0.min(*x), row.1.max(*x));
        let column = columns.entry(*x).or_insert((*y, *y));
        *column = (column.0.min(*y), column.1.max(*y));
    }
    let mut filled = own.clone();
    for (y, (low, high)) in &rows {
        for x in *low..=*high {
            if columns.get(&x).is_some_and(|(low, high)| (low..=high).contains(&y)) {
                filled.insert((x, *y));
            }
        }
    }
    filled
}

/// A footprint around the middle of the held object.
pub(crate) struct Footprint {
    pub(crate) yaw: f64,
    pub(crate) cells: Vec<[f64; 2]>,
    pub(crate) bulk: Vec<bool>,
    pub(crate) low: [f64; 2],
    pub(crate) high: [f64; 2],
    /// Where the tool is, seen from the middle.
    pub(crate) tool_from_middle: [f64; 2],
    pub(crate) rotation: UnitQuaternion<f64>,
}
