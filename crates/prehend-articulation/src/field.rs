//! How far a place is from the nearest point of a cloud, looked up in a grid.

use nalgebra::Point3;

/// Distances above this are this, metres.
pub(crate) const FAR: f64 = 0.04;
/// Side of a cell, metres.
const CELL: f64 = 0.005;
/// Most cells: a cloud of some metres gets larger ones.
const MOST: f64 = 4e6;

/// Number of no point.
const NONE: u32 = u32::MAX;

/// Distances around a cloud.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    origin: Point3<f64>,
    /// Cells for each metre.
    scale: f64,
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
        let cells: usize = dims.iter().product();
        let mut field = Self { origin, scale: 1.0 / cell, dims, values: vec![FAR as f32; cells] };
        let nearest = field.nearest(points, cell);
        for (value, (squared, _)) in field.values.iter_mut().zip(&nearest) {
            *value = squared.sqrt();
        }
        Some(field)
    }

    /// Squared distance of each cell from the nearest point and the number of that point, handed on from cell to cell along the axes
    /// (Danielsson 1980); [`FAR`] squared and [`NONE`] where no point is near.
    fn nearest(&self, points: &[Point3<f64>], cell: f64) -> Vec<(f32, u32)> {
        let cell = cell as f32;
        let [wide, deep, high] = self.dims;
        let layer = wide * deep;
        // In cells.
        let places: Vec<[f32; 3]> = points
            .iter()
            .map(|point| {
                let at = (point - self.origin) * self.scale;
                [at.x as f32, at.y as f32, at.z as f32]
            })
            .collect();
        let mut nearest = vec![((FAR * FAR) as f32, NONE); layer * high];
        let offer = |slot: &mut (f32, u32), point: u32, at: [usize; 3]| {
            if point == NONE || point == slot.1 {
                return;
            }
            let place = &places[point as usize];
            let [dx, dy, dz] = [0, 1, 2].map(|axis: usize| (place[axis] - at[axis] as f32) * cell);
            let squared = dx * dx + dy * dy + dz * dz;
            if squared < slot.0 {
                *slot = (squared, point);
            }
        };
        for (number, place) in places.iter().enumerate() {
            let low = place.map(|at| at as usize);
            for corner in 0..8 {
                let at = [0, 1, 2].map(|axis: usize| low[axis] + (corner >> axis & 1));
                let index = at[2] * layer + at[1] * wide + at[0];
                offer(&mut nearest[index], number as u32, at);
            }
        }
        let mut row = |[y, z]: [usize; 2], from: Option<[usize; 2]>| {
            let base = z * layer + y * wide;
            if let Some([y_from, z_from]) = from {
                let other = z_from * layer + y_from * wide;
                for x in 0..wide {
                    let point = nearest[other + x].1;
                    offer(&mut nearest[base + x], point, [x, y, z]);
                }
            }
            for x in 1..wide {
                let point = nearest[base + x - 1].1;
                offer(&mut nearest[base + x], point, [x, y, z]);
            }
            for x in (0..wide - 1).rev() {
                let point = nearest[base + x + 1].1;
                offer(&mut nearest[base + x], point, [x, y, z]);
            }
        };
        let mut slab = |z: usize, from: Option<usize>| {
            for y in 0..deep {
                if let Some(z_from) = from {
                    row([y, z], Some([y, z_from]));
                }
                row([y, z], y.checked_sub(1).map(|before| [before, z]));
            }
            for y in (0..deep - 1).rev() {
                row([y, z], Some([y + 1, z]));
            }
        };
        for z in 0..high {
            slab(z, z.checked_sub(1));
        }
        for z in (0..high - 1).rev() {
            slab(z, Some(z + 1));
        }
        nearest
    }

    /// Distance of a place, metres, at most [`FAR`].
    pub(crate) fn at(&self, point: &Point3<f64>) -> f64 {
        let at = (point - self.origin) * self.scale;
        let [wide, deep, high] = self.dims;
        let within = |at: f64, count: usize| at >= 0.0 && at < (count - 1) as f64;
        if !(within(at.x, wide) && within(at.y, deep) && within(at.z, high)) {
            return FAR;
        }
        let low = [at.x as usize, at.y as usize, at.z as usize];
        let part = [at.x - low[0] as f64, at.y - low[1] as f64, at.z - low[2] as f64].map(|part| part as f32);
        let layer = wide * deep;
        let base = low[2] * layer + low[1] * wide + low[0];
        let Some(around) = self.values.get(base..base + layer + wide + 2) else { return FAR };
        let along = |first: usize| around[first] + (around[first + 1] - around[first]) * part[0];
        let across = |first: usize| {
            let near = along(first);
            near + (along(first + wide) - near) * part[1]
        };
        let near = across(0);
        f64::from(near + (across(layer) - near) * part[2])
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

    #[test]
    fn what_is_handed_on_from_cell_to_cell_is_nearest() {
        let places = (0..400).map(|i| {
            let [a, b] = [f64::from(i % 20), f64::from(i / 20)];
            Point3::new(0.007 * a, 0.006 * b, 0.02 * (0.3 * a).sin() + 0.01 * (0.4 * b).cos())
        });
        let points: Vec<Point3<f64>> = places.collect();
        let field = Field::around(&points).expect("points");
        let mut worst: f64 = 0.0;
        for i in 0..4000 {
            let share = |by: f64| (f64::from(i) * by).fract();
            let at =
                Point3::new(0.2 * share(0.618) - 0.03, 0.2 * share(0.414) - 0.04, 0.1 * share(0.732) - 0.05);
            let nearest = points.iter().map(|p| (p - at).norm()).fold(FAR, f64::min);
            worst = worst.max((field.at(&at) - nearest).abs());
        }
        assert!(worst < 0.0045, "{worst}");
    }
}
