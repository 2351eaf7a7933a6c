//! The upper edge of a thing as a circle or a rectangle.

use nalgebra::{Matrix3, Point3, Vector3};
use prehend_geometry::OrientedBox;

/// An edge seen from above.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ring {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Radius of a circle; `None` for a rectangle.
    radius: Option<f64>,
    bounds: OrientedBox,
    /// Share of directions from the middle in which the edge was seen, [0, 1].
    pub(super) coverage: f64,
    /// Whether the edge's points lie near the line, as those of a rim do and those of a lid do not.
    pub(super) is_thin: bool,
}

const SECTORS: usize = 24;

impl Ring {
    /// The circle or rectangle through the points of an edge; `None` for too few of them.
    pub(super) fn fit(edge: &[Point3<f64>]) -> Option<Self> {
        if edge.len() < 8 {
            return None;
        }
        let bounds = OrientedBox::upright_around(edge)?;
        let center = bounds.pose.translation.vector;
        let mut ring = Self { x: center.x, y: center.y, radius: None, bounds, coverage: 0.0, is_thin: false };
        if let Some((x, y, radius)) = circle(edge) {
            ring = Self { x, y, radius: Some(radius), ..ring };
        }
        let mut sectors = [false; SECTORS];
        let mut near = 0;
        for point in edge {
            let angle = (point.y - ring.y).atan2(point.x - ring.x) / std::f64::consts::TAU + 0.5;
            let radial = ring.radial(point.x, point.y);
            if radial > 0.7 {
                near += 1;
                sectors[((angle * SECTORS as f64) as usize).min(SECTORS - 1)] = true;
            }
        }
        ring.coverage = sectors.iter().filter(|seen| **seen).count() as f64 / SECTORS as f64;
        ring.is_thin = near * 10 >= edge.len() * 8;
        Some(ring)
    }

    /// Place between the middle (0) and the edge (1).
    pub(super) fn radial(&self, x: f64, y: f64) -> f64 {
        match self.radius {
            Some(radius) => (x - self.x).hypot(y - self.y) / radius,
            None => {
                let z = self.bounds.pose.translation.z;
                let local = self.bounds.pose.inverse_transform_point(&Point3::new(x, y, z));
                let half = self.bounds.size / 2.0;
                (local.x.abs() / half.x.max(1e-3)).max(local.y.abs() / half.y.max(1e-3))
            }
        }
    }

    /// Distance beyond the edge, metres; negative inside.
    pub(super) fn outside(&self, x: f64, y: f64) -> f64 {
        match self.radius {
            Some(radius) => (x - self.x).hypot(y - self.y) - radius,
            None => {
                let z = self.bounds.pose.translation.z;
                let local = self.bounds.pose.inverse_transform_point(&Point3::new(x, y, z));
                let half = self.bounds.size / 2.0;
                (local.x.abs() - half.x).max(local.y.abs() - half.y)
            }
        }
    }

    /// Half the lesser width, metres.
    pub(super) fn reach(&self) -> f64 {
        self.radius.unwrap_or(self.bounds.size.x.min(self.bounds.size.y) / 2.0)
    }
}

/// Circles through three points that are tried.
const TRIALS: usize = 120;
/// Share of the directions from the middle in which something may lie beyond a circle: a handle.
const BESIDE: f64 = 0.25;

/// The circle most of an edge lies on, refined by least squares (Kasa); `None` when too little lies on it.
fn circle(edge: &[Point3<f64>]) -> Option<(f64, f64, f64)> {
    let mut kept: Vec<&Point3<f64>> = edge.iter().collect();
    let mut found = most_agreed(edge).or_else(|| kasa(&kept))?;
    for limit in [0.012, 0.006] {
        let near: Vec<&Point3<f64>> = edge.iter().filter(|p| off(p, found) < limit).collect();
        if near.len() < 8 {
            return None;
        }
        kept = near;
        found = kasa(&kept)?;
    }
    // Only points at the outside of the circle make it a ring: a filled disc or square is fitted as a rectangle. A handle
    // beside it is none of its points, when it is narrow.
    let near = edge.iter().filter(|p| off(p, found) < 0.008).count();
    let beyond: Vec<&Point3<f64>> =
        edge.iter().filter(|p| (p.x - found.0).hypot(p.y - found.1) - found.2 >= 0.008).collect();
    let mut sectors = [false; SECTORS];
    for p in &beyond {
        let angle = (p.y - found.1).atan2(p.x - found.0) / std::f64::consts::TAU + 0.5;
        sectors[((angle * SECTORS as f64) as usize).min(SECTORS - 1)] = true;
    }
    let narrow = sectors.iter().filter(|seen| **seen).count() as f64 <= BESIDE * SECTORS as f64;
    let counted = if narrow { edge.len() - beyond.len() } else { edge.len() };
    let fits = near * 10 >= counted * 6 && near * 10 >= edge.len() * 4;
    (fits && (0.01..0.3).contains(&found.2)).then_some(found)
}

/// Of circles through three points each the one with most points near it. Deterministic.
fn most_agreed(edge: &[Point3<f64>]) -> Option<(f64, f64, f64)> {
    let count = edge.len();
    let at = |number: usize| &edge[number % count.max(1)];
    (0..TRIALS)
        .filter_map(|trial| {
            // Strides without a common period spread the three over the edge.
            let three = [
                at(trial * 7919 + 13),
                at(trial * 104_729 + count / 3),
                at(trial * 15_485_863 + 2 * count / 3),
            ];
            let found = kasa(&three)?;
            let fits = (0.01..0.3).contains(&found.2);
            fits.then(|| (edge.iter().filter(|p| off(p, found) < 0.005).count(), found))
        })
        .max_by_key(|(near, _)| *near)
        .map(|(_, found)| found)
}

fn off(point: &Point3<f64>, (x, y, radius): (f64, f64, f64)) -> f64 {
    ((point.x - x).hypot(point.y - y) - radius).abs()
}

fn kasa(points: &[&Point3<f64>]) -> Option<(f64, f64, f64)> {
    let (mut left, mut right) = (Matrix3::zeros(), Vector3::zeros());
    for p in points {
        let row = Vector3::new(p.x, p.y, 1.0);
        left += row * row.transpose();
        right += row * (p.x * p.x + p.y * p.y);
    }
    let solved = left.lu().solve(&right)?;
    let (x, y) = (solved.x / 2.0, solved.y / 2.0);
    let square = solved.z + x * x + y * y;
    (square > 0.0 && square.is_finite()).then(|| (x, y, square.sqrt()))
}
