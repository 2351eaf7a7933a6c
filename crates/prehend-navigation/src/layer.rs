//! What a laser scan adds to the map and takes away again: the obstacle layer of a costmap.
//!
//! A beam that ends where the map knows of nothing marks that cell; beams that pass a marked cell clear it. A cell counts as occupied
//! after two scans and is free again about a second after the last: single wrong beams and things that move leave nothing behind.

use crate::grid::{Costmap, Layout, OccupancyGrid};
use crate::pose::Pose2;

// What a beam that ends in a cell adds, what one that passes takes, how much counts as occupied, and the most there is.
const HIT: u8 = 3;
const PASS: u8 = 1;
const OCCUPIED: u8 = 6;
const MOST: u8 = 12;

/// One scan: beams from a pose of the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scan<'a> {
    /// `map_from_sensor`.
    pub sensor: Pose2,
    /// Angle of the first beam, radians.
    pub angle_min: f64,
    /// Angle between beams, radians.
    pub angle_increment: f64,
    /// Metres; what is not finite is nothing in range.
    pub ranges: &'a [f32],
}

/// Cells that were seen to be occupied besides those of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleLayer {
    layout: Layout,
    evidence: Vec<u8>,
    range: f64,
    slack: f64,
}

impl ObstacleLayer {
    /// An empty layer over a map. Beams count up to `range` metres; what they see within `slack` metres of something on the map is
    /// taken to be that.
    pub fn new(layout: Layout, range: f64, slack: f64) -> Self {
        Self { layout, evidence: vec![0; layout.width * layout.height], range, slack }
    }

    /// Takes a scan in; whether a cell became occupied or free. `map` is the costmap of the map alone.
    pub fn take(&mut self, scan: &Scan<'_>, map: &Costmap) -> bool {
        if !scan.sensor.is_finite() || map.layout() != &self.layout {
            return false;
        }
        let mut passed = vec![false; self.evidence.len()];
        let mut hit = vec![false; self.evidence.len()];
        let step = self.layout.resolution;
        for (index, range) in scan.ranges.iter().enumerate() {
            let measured = f64::from(*range);
            if measured.is_nan() {
                continue;
            }
            let (sin, cos) =
                (scan.sensor.yaw + scan.angle_min + scan.angle_increment * index as f64).sin_cos();
            let at = |way: f64| [scan.sensor.x + way * cos, scan.sensor.y + way * sin];
            // The last cell before the end is left alone: it may be the end's.
            let steps = ((measured.min(self.range) - 1.5 * step) / step).max(0.0) as usize;
            for step_index in 0..steps {
                if let Some(cell) = self.layout.index(at(step_index as f64 * step)) {
                    passed[cell] = true;
                }
            }
            if measured <= self.range
                && let Some(cell) = self.layout.index(at(measured))
                && map.is_known(cell)
                && map.clearance(at(measured)) > self.slack
            {
                hit[cell] = true;
            }
        }
        let mut changed = false;
        for ((evidence, hit), passed) in self.evidence.iter_mut().zip(hit).zip(passed) {
            let before = *evidence >= OCCUPIED;
            if hit {
                *evidence = (*evidence + HIT).min(MOST);
            } else if passed {
                *evidence = evidence.saturating_sub(PASS);
            }
            changed |= before != (*evidence >= OCCUPIED);
        }
        changed
    }

    /// The map with what was seen besides.
    pub fn over(&self, map: &OccupancyGrid) -> OccupancyGrid {
        let mut grid = map.clone();
        for (index, _) in self.evidence.iter().enumerate().filter(|(_, evidence)| **evidence >= OCCUPIED) {
            grid.set(self.layout.centre(self.layout.at(index)), 100);
        }
        grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms;

    /// Beams in all directions that see a square and otherwise walls.
    fn look(from: Pose2, square: Option<[f64; 4]>) -> Vec<f32> {
        let mut grid = rooms::room([0.0, 6.0, 0.0, 5.0]);
        if let Some(square) = square {
            rooms::fill(&mut grid, square, 100);
        }
        (0..360)
            .map(|degree| {
                let (sin, cos) = (from.yaw + f64::from(degree).to_radians()).sin_cos();
                let hit = (1..400)
                    .map(|step| 0.02 * f64::from(step))
                    .find(|way| grid.occupied([from.x + way * cos, from.y + way * sin]) == Some(true));
                hit.map_or(f32::INFINITY, |way| way as f32)
            })
            .collect()
    }

    #[test]
    fn what_appears_is_marked_and_what_leaves_is_cleared() {
        let grid = rooms::room([0.0, 6.0, 0.0, 5.0]);
        let map = rooms::costmap(&grid);
        let mut layer = ObstacleLayer::new(*grid.layout(), 4.0, 0.12);
        let sensor = Pose2::new(2.0, 2.0, 0.3);
        let mut take = |square: Option<[f64; 4]>, believed: Pose2| {
            let ranges = look(sensor, square);
            let increment = 1f64.to_radians();
            let scan = Scan { sensor: believed, angle_min: 0.0, angle_increment: increment, ranges: &ranges };
            let changed = layer.take(&scan, &map);
            let seen = layer.over(&grid);
            (changed, seen.cells().iter().zip(grid.cells()).filter(|(a, b)| a != b).count())
        };
        // Somewhat wrong about where it is: walls are still the map's.
        let believed = Pose2::new(2.03, 1.98, 0.31);
        assert_eq!(take(None, believed), (false, 0));
        let square = Some([3.0, 3.4, 1.8, 2.2]);
        assert_eq!(take(square, believed), (false, 0), "once is not enough");
        let (changed, cells) = take(square, believed);
        assert!(changed && cells >= 6, "{cells}");
        let left: Vec<usize> = (0..14).map(|_| take(None, believed).1).collect();
        assert_eq!(left.last(), Some(&0), "{left:?}");
        assert_eq!(take(None, Pose2::new(f64::NAN, 0.0, 0.0)), (false, 0));
    }
}
