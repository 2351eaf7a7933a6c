//! The ground that a base stands and drives on, as a costmap tells it.

/// Cost from which a cell is an obstacle (`nav_msgs/OccupancyGrid` of a costmap: 100 = lethal).
pub(crate) const LETHAL: i8 = 100;

/// A costmap with the outline of the base, as the verifier received it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// Edge of a cell, metres; positive.
    pub resolution: f64,
    /// Corner of cell (0, 0), map frame, metres; the grid is not turned against the map.
    pub origin: [f64; 2],
    /// Cells along x.
    pub width: usize,
    /// Cells along y.
    pub height: usize,
    /// Costs, row-major from the origin, x first: 0 free to 100 lethal, -1 unknown.
    pub cost: Vec<i8>,
    /// Outline of the base around its frame, metres; at least three corners.
    pub footprint: Vec<[f64; 2]>,
}

impl Ground {
    /// The cost at a point of the map frame; `None` outside the grid or where nothing is known.
    pub fn cost_at(&self, x: f64, y: f64) -> Option<i8> {
        let cell = |value: f64, origin: f64, count: usize| {
            let index = ((value - origin) / self.resolution).floor();
            (index.is_finite() && index >= 0.0 && index < count as f64).then_some(index as usize)
        };
        let (column, row) = (cell(x, self.origin[0], self.width)?, cell(y, self.origin[1], self.height)?);
        self.cost.get(row * self.width + column).copied().filter(|cost| *cost >= 0)
    }

    /// The first point under the footprint at (x, y, yaw) that is lethal, outside or unknown, map frame.
    pub fn blocked_at(&self, x: f64, y: f64, yaw: f64) -> Option<[f64; 2]> {
        let (sin, cos) = yaw.sin_cos();
        let step = self.resolution.max(0.005);
        let reach = self.footprint.iter().flatten().fold(0.0_f64, |most, side| most.max(side.abs()));
        let count = (reach / step).ceil() as i64;
        (-count..=count)
            .flat_map(|row| (-count..=count).map(move |column| [column as f64 * step, row as f64 * step]))
            .filter(|point| is_inside(&self.footprint, point))
            .map(|[u, v]| [x + cos * u - sin * v, y + sin * u + cos * v])
            .find(|[px, py]| self.cost_at(*px, *py).is_none_or(|cost| cost >= LETHAL))
    }
}

/// Whether a point is inside a polygon.
fn is_inside(polygon: &[[f64; 2]], [x, y]: &[f64; 2]) -> bool {
    let mut inside = false;
    for (i, a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        if (a[1] > *y) != (b[1] > *y) && *x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0] {
            inside = !inside;
        }
    }
    inside
}
