//! 2.5-D height maps: columns of observed points over a support.

use crate::PointCloud;
use nalgebra::Point3;
use serde::{Deserialize, Serialize};

/// Greatest number of cells a map may have; more means outliers in the cloud or a cell size in the wrong unit.
pub const MAX_CELLS: usize = 4_000_000;

/// A grid over x and y that keeps the greatest height of the points in each cell.
///
/// What is below an observed point was not seen, so a column counts as occupied from the support up to its height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeightMap {
    /// Edge of a cell, metres.
    pub cell: f64,
    /// x of the lower corner of cell (0, 0), metres.
    pub x: f64,
    /// y of the lower corner of cell (0, 0), metres.
    pub y: f64,
    /// Number of cells along x.
    pub columns: usize,
    /// Number of cells along y.
    pub rows: usize,
    /// Height of the support, metres.
    pub support_z: f64,
    /// `[rows, columns]` greatest z of the points in the cell, metres; `support_z` where none was seen.
    pub heights: Vec<f64>,
    /// `[rows, columns]` whether any point fell into the cell.
    pub observed: Vec<bool>,
}

/// Why no height map can be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum HeightMapError {
    /// The cell is not a positive finite length.
    #[error("a cell of {cell} m is not a positive length")]
    BadCell {
        /// Offending cell edge, metres.
        cell: f64,
    },
    /// A point is not finite.
    #[error("point {index} is not finite")]
    NotFinite {
        /// Index of the offending point.
        index: usize,
    },
    /// The cloud is too wide for the cell.
    #[error("{columns} x {rows} cells are more than {MAX_CELLS}")]
    TooLarge {
        /// Cells along x it would need.
        columns: usize,
        /// Cells along y it would need.
        rows: usize,
    },
}

/// One column of a height map: a box `[x - cell/2, x + cell/2] x [y - cell/2, y + cell/2] x [bottom, top]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// x of the centre, metres.
    pub x: f64,
    /// y of the centre, metres.
    pub y: f64,
    /// Lower end (the support), metres.
    pub bottom: f64,
    /// Upper end (the highest point seen), metres.
    pub top: f64,
}

impl HeightMap {
    /// The height map of a cloud (z up) with square cells of edge `cell` over a support at `support_z`.
    /// An empty cloud gives a map without cells. Cell borders lie on multiples of `cell`, so maps of different clouds match.
    ///
    /// Errors: [`HeightMapError`] for a cell that is no length, a point that is not finite, and more than [`MAX_CELLS`] cells.
    pub fn from_cloud(cloud: &PointCloud, cell: f64, support_z: f64) -> Result<Self, HeightMapError> {
        if !(cell.is_finite() && cell > 0.0) {
            return Err(HeightMapError::BadCell { cell });
        }
        if let Some(index) = cloud.points.iter().position(|p| !p.coords.iter().all(|c| c.is_finite())) {
            return Err(HeightMapError::NotFinite { index });
        }
        let empty = Self {
            cell,
            x: 0.0,
            y: 0.0,
            columns: 0,
            rows: 0,
            support_z,
            heights: Vec::new(),
            observed: Vec::new(),
        };
        let Some((low, high)) = cloud.bounds() else {
            return Ok(empty);
        };
        let (x, y) = ((low.x / cell).floor() * cell, (low.y / cell).floor() * cell);
        let columns = ((high.x - x) / cell).floor() as usize + 1;
        let rows = ((high.y - y) / cell).floor() as usize + 1;
        if columns.saturating_mul(rows) > MAX_CELLS {
            return Err(HeightMapError::TooLarge { columns, rows });
        }
        let mut map = Self {
            x,
            y,
            columns,
            rows,
            heights: vec![support_z; columns * rows],
            observed: vec![false; columns * rows],
            ..empty
        };
        for point in &cloud.points {
            if let Some(index) = map.index(point.x, point.y) {
                if !map.observed[index] || point.z > map.heights[index] {
                    map.heights[index] = point.z;
                }
                map.observed[index] = true;
            }
        }
        Ok(map)
    }

    /// Row-major index of the cell that holds (x, y); `None` outside the grid.
    pub fn index(&self, x: f64, y: f64) -> Option<usize> {
        let (u, v) = (((x - self.x) / self.cell).floor(), ((y - self.y) / self.cell).floor());
        let inside = u >= 0.0 && v >= 0.0 && u < self.columns as f64 && v < self.rows as f64;
        inside.then(|| v as usize * self.columns + u as usize)
    }

    /// Centre (x, y) of the cell with this index; it may lie outside the grid when the index does.
    pub fn center(&self, index: usize) -> (f64, f64) {
        let columns = self.columns.max(1);
        (
            self.x + ((index % columns) as f64 + 0.5) * self.cell,
            self.y + ((index / columns) as f64 + 0.5) * self.cell,
        )
    }

    /// Greatest z seen at (x, y); `None` where nothing was seen.
    pub fn height(&self, x: f64, y: f64) -> Option<f64> {
        let index = self.index(x, y)?;
        self.observed[index].then(|| self.heights[index])
    }

    /// Greatest z seen within `radius` of (x, y), cell centres counting; `None` where nothing was seen.
    pub fn height_around(&self, x: f64, y: f64, radius: f64) -> Option<f64> {
        let reach = (radius / self.cell).ceil().max(0.0);
        let (u0, v0) = (((x - self.x) / self.cell).floor(), ((y - self.y) / self.cell).floor());
        let clamp = |value: f64, limit: usize| value.clamp(0.0, limit as f64) as usize;
        let mut best: Option<f64> = None;
        for v in clamp(v0 - reach, self.rows)..clamp(v0 + reach + 1.0, self.rows) {
            for u in clamp(u0 - reach, self.columns)..clamp(u0 + reach + 1.0, self.columns) {
                let index = v * self.columns + u;
                let (cx, cy) = self.center(index);
                if self.observed[index] && (cx - x).hypot(cy - y) <= radius.max(self.cell * 0.71) {
                    best = Some(best.map_or(self.heights[index], |b| b.max(self.heights[index])));
                }
            }
        }
        best
    }

    /// Every observed column from the support to its height, in row-major order. A height below the support gives a
    /// column of no height.
    pub fn occupied(&self) -> impl Iterator<Item = Column> + '_ {
        (0..self.observed.len()).filter(|index| self.observed[*index]).map(|index| {
            let (x, y) = self.center(index);
            Column { x, y, bottom: self.support_z, top: self.heights[index].max(self.support_z) }
        })
    }

    /// Whether the point lies in an occupied column (support included, height plus `margin` included).
    pub fn is_occupied(&self, point: &Point3<f64>, margin: f64) -> bool {
        self.height(point.x, point.y)
            .is_some_and(|top| point.z >= self.support_z - margin && point.z <= top + margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(points: &[[f64; 3]]) -> PointCloud {
        PointCloud::from_points(points.iter().map(|p| Point3::new(p[0], p[1], p[2])).collect())
    }

    #[test]
    fn columns_keep_the_highest_point() {
        let cloud = cloud(&[[0.101, 0.101, 0.02], [0.102, 0.103, 0.07], [0.121, 0.101, -0.01]]);
        let map = HeightMap::from_cloud(&cloud, 0.01, 0.0).unwrap();
        assert_eq!((map.columns, map.rows), (3, 1));
        assert_eq!(map.height(0.105, 0.105), Some(0.07));
        assert_eq!(map.height(0.115, 0.105), None);
        assert_eq!(map.height(0.125, 0.105), Some(-0.01));
        assert_eq!(map.height(0.5, 0.5), None);
        let tops: Vec<f64> = map.occupied().map(|c| c.top).collect();
        assert_eq!(tops, [0.07, 0.0]);
        assert!(map.is_occupied(&Point3::new(0.105, 0.105, 0.03), 0.0), "below a seen point was not seen");
        assert!(!map.is_occupied(&Point3::new(0.105, 0.105, 0.09), 0.01));
        assert_eq!(map.height_around(0.115, 0.105, 0.012), Some(0.07));
    }

    #[test]
    fn bad_input_is_typed() {
        let far = cloud(&[[0.0, 0.0, 0.0], [1e6, 1e6, 0.0]]);
        assert!(matches!(HeightMap::from_cloud(&far, 0.01, 0.0), Err(HeightMapError::TooLarge { .. })));
        let nan = cloud(&[[f64::NAN, 0.0, 0.0]]);
        assert_eq!(HeightMap::from_cloud(&nan, 0.01, 0.0), Err(HeightMapError::NotFinite { index: 0 }));
        assert!(matches!(HeightMap::from_cloud(&far, 0.0, 0.0), Err(HeightMapError::BadCell { .. })));
        assert_eq!(HeightMap::from_cloud(&PointCloud::default(), 0.01, 0.0).unwrap().occupied().count(), 0);
    }
}
