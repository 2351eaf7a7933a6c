//! How far a place is from the nearest point of a cloud, looked up in a grid.

use nalgebra::Point3;

/// Distances above this are this, metres.
pub(crate) const FAR: f64 = 0.04;
/// Side of a cell, metres.
const CELL: f64 = 0.005;
/// Most cells: a cloud of some metres gets larger ones.
const MOST: f64 = 4e6;

/// Distances around a cloud.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    origin: Point3<f64>,
    cell: f64,
    dims: [usize; 3],
    values: Vec<f32>,
}

impl Field {
    /// Around at least one point, all of them finite.
    pub(crate) fn around(points: &[Point3<f64>]) -> Option<Self> {
        let first = *points.first()?;
        let (low, high) = points.iter().fold((first, first), |(low, high), point| {
            (Point3::from(low.coords.inf(&point.coords)), Point3::from(high.coords.sup(&point.coords)))
        });
        let size = (high - low).add_scalar(2.0 * FAR);
        let cell = CELL.max((size.product() / MOST).cbrt());
        let dims = [0, 1, 2].map(|axis: usize| (size[axis] / cell).ceil() as usize + 2);
        let origin = low - nalgebra::Vector3::repeat(FAR);
        let mut values = vec![FAR as f32; dims.iter().product()];
        let reach = (FAR / cell).ceil() as isize;
        for point in points {
            let at = (point - origin) / cell;
            let middle = [0, 1, 2].map(|axis: usize| at[axis].round() as isize);
            let range = |axis: usize| {
                let (low, high) = (middle[axis] - reach, middle[axis] + reach);
                low.max(0)..=high.min(dims[axis] as isize - 1)
            };
            for z in range(2) {
                let dz = (z as f64 - at.z) * cell;
                for y in range(1) {
                    let dy = (y as f64 - at.y) * cell;
                    let row = (z as usize * dims[1] + y as usize) * dims[0];
                    let across = dy * dy + dz * dz;
                    if across > FAR * FAR {
                        continue;
                    }
                    for x in range(0) {
                        let dx = (x as f64 - at.x) * cell;
                        let squared = (dx * dx + across) as f32;
                        let value = &mut values[row + x as usize];
                        // Squared until all is in.
                        let before = *value * *value;
                        if squared < before {
                            *value = squared.sqrt();
                        }
                    }
                }
            }
        }
        Some(Self { origin, cell, dims, values })
    }

    /// Distance of a place, metres, at most [`FAR`].
    pub(crate) fn at(&self, point: &Point3<f64>) -> f64 {
        let at = (point - self.origin) / self.cell;
        let low = at.map(f64::floor);
        let inside = (0..3).all(|axis| low[axis] >= 0.0 && low[axis] + 1.0 < self.dims[axis] as f64);
        if !inside {
            return FAR;
        }
        let base = [0, 1, 2].map(|axis: usize| low[axis] as usize);
        let part = at - low;
        let value = |x: usize, y: usize, z: usize| {
            f64::from(self.values[((base[2] + z) * self.dims[1] + base[1] + y) * self.dims[0] + base[0] + x])
        };
        let along = |y, z| value(0, y, z) * (1.0 - part.x) + value(1, y, z) * part.x;
        let across = |z| along(0, z) * (1.0 - part.y) + along(1, z) * part.y;
        across(0) * (1.0 - part.z) + across(1) * part.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_nearest_point() {
        let points = [Point3::new(0.0, 0.0, 0.0), Point3::new(0.1, 0.0, 0.0)];
        let field = Field::around(&points).expect("points");
        for at in [[0.02, 0.01, 0.0], [0.09, -0.01, 0.015], [0.05, 0.0, 0.0], [0.5, 0.5, 0.5]] {
            let at = Point3::from(at);
            let nearest = points.iter().map(|p| (p - at).norm()).fold(FAR, f64::min);
            assert!((field.at(&at) - nearest).abs() < 0.003, "{at}: {} {nearest}", field.at(&at));
        }
        assert!(Field::around(&[]).is_none());
    }
}
