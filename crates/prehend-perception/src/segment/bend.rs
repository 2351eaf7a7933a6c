//! How a support that is level looks bent: wide-field cameras bend the picture, by up to a centimetre from its middle to its corners.
//!
//! The bend is a polynomial of the third degree over the picture, fitted to the heights of what lies about on the plane. What stands on the
//! support pulls to one side only; points count less the farther they are from the fit of before (Tukey's biweight, Beaton and Tukey 1974).

use nalgebra::{DMatrix, DVector};

/// Numbers of the polynomial.
const TERMS: usize = 10;
/// Pixels between points of the fit.
const STEP: usize = 6;
/// Fewest points of a fit.
const FEWEST: usize = 300;
/// Greatest bend, metres.
const MOST: f64 = 0.02;
/// Rounds of the fit; from each to the next the distance at which a point counts nothing comes down to its least.
const ROUNDS: usize = 8;
/// Least such distance, metres, and in standard deviations of depth.
const REACH: f64 = 0.004;
const SIGMAS: f64 = 4.0;
/// Share of the points by which the bent support must have more on it than the plane.
const GAIN: f64 = 0.05;

/// Height of the support above its plane, pixel by pixel.
#[derive(Clone, Debug)]
pub(super) struct Bend {
    terms: [f64; TERMS],
    width: f64,
    height: f64,
    /// The least and the most where it was fitted, metres: beyond nothing is known.
    range: [f64; 2],
}

impl Bend {
    /// Fits it to heights above the plane, metres, NaN where nothing was measured; `sigma` is the noise of each pixel, metres. `None` where
    /// the plane is as good.
    pub(super) fn fit(heights: &[f64], width: usize, sigma: impl Fn(usize) -> f64) -> Option<Self> {
        let rows = heights.len().checked_div(width)?;
        let mut bend =
            Self { terms: [0.0; TERMS], width: width as f64, height: rows as f64, range: [0.0; 2] };
        let mut points = Vec::new();
        for v in (0..rows).step_by(STEP) {
            for u in (0..width).step_by(STEP) {
                let index = v * width + u;
                if heights[index].abs() < 2.0 * MOST {
                    points.push((bend.basis(index), heights[index], sigma(index)));
                }
            }
        }
        if points.len() < FEWEST {
            return None;
        }
        let on = |bend: &Self| {
            let near = |(basis, height, sigma): &&([f64; TERMS], f64, f64)| {
                (height - bend.value(basis)).abs() < REACH.max(SIGMAS / 2.0 * sigma)
            };
            points.iter().filter(near).count() as f64
        };
        let flat = on(&bend);
        for round in 0..ROUNDS {
            let wide = MOST * (1.0 - round as f64 / (ROUNDS - 1) as f64);
            let mut matrix = DMatrix::<f64>::zeros(TERMS, TERMS);
            let mut right = DVector::<f64>::zeros(TERMS);
            for (basis, height, sigma) in &points {
                let reach = wide.max(REACH).max(SIGMAS * sigma);
                let off = (height - bend.value(basis)) / reach;
                if off.abs() >= 1.0 {
                    continue;
                }
                let weight = (1.0 - off * off).powi(2);
                for (row, a) in basis.iter().enumerate() {
                    for (column, b) in basis.iter().enumerate() {
                        matrix[(row, column)] += weight * a * b;
                    }
                    right[row] += weight * a * height;
                }
            }
            // A little weight on a flat support, where a corner of the picture has no point.
            for term in 0..TERMS {
                matrix[(term, term)] += 1e-3 * points.len() as f64;
            }
            let solved = matrix.cholesky()?.solve(&right);
            bend.terms.copy_from_slice(solved.as_slice());
        }
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for (basis, height, sigma) in &points {
            let value = bend.value(basis);
            if (height - value).abs() < REACH.max(SIGMAS * sigma) {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        bend.range = [low.max(-MOST), high.min(MOST)];
        let bound =
            |bend: Self| if bend.terms.iter().all(|term| term.is_finite()) { Some(bend) } else { None };
        (on(&bend) >= flat + GAIN * points.len() as f64).then_some(bend).and_then(bound)
    }

    /// Height above the plane at a pixel, metres.
    pub(super) fn at(&self, index: usize) -> f64 {
        self.value(&self.basis(index)).clamp(self.range[0], self.range[1])
    }

    fn value(&self, basis: &[f64; TERMS]) -> f64 {
        self.terms.iter().zip(basis).map(|(term, part)| term * part).sum()
    }

    fn basis(&self, index: usize) -> [f64; TERMS] {
        let width = self.width as usize;
        let x = 2.0 * (index % width) as f64 / self.width - 1.0;
        let y = 2.0 * (index / width) as f64 / self.height - 1.0;
        [1.0, x, y, x * x, x * y, y * y, x * x * x, x * x * y, x * y * y, y * y * y]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 160;
    const ROWS: usize = 120;

    /// Heights of a support that is bent by this much, with a block of 5 cm on a fifth of it.
    fn heights(bend: f64) -> Vec<f64> {
        let height = |index: usize| {
            let (x, y) = (index % WIDTH, index / WIDTH);
            let from_middle = (2.0 * x as f64 / WIDTH as f64 - 1.0).powi(2);
            if (60..110).contains(&x) && (20..70).contains(&y) { 0.05 } else { bend * from_middle }
        };
        (0..WIDTH * ROWS).map(height).collect()
    }

    #[test]
    fn a_bent_support_is_followed_and_what_stands_on_it_is_not() {
        let bent = heights(0.012);
        let bend = Bend::fit(&bent, WIDTH, |_| 0.0005).unwrap();
        for index in [0, 80, 159, 60 * WIDTH + 5, 119 * WIDTH + 159] {
            assert!(
                (bend.at(index) - bent[index]).abs() < 0.0015,
                "{index}: {} of {}",
                bend.at(index),
                bent[index]
            );
        }
        assert!(bend.at(45 * WIDTH + 85).abs() < 0.003, "{}", bend.at(45 * WIDTH + 85));
    }

    #[test]
    fn a_flat_support_has_no_bend() {
        assert!(Bend::fit(&heights(0.0), WIDTH, |_| 0.0005).is_none());
        assert!(Bend::fit(&[f64::NAN; WIDTH * ROWS], WIDTH, |_| 0.0005).is_none());
        assert!(Bend::fit(&[], WIDTH, |_| 0.0005).is_none());
    }
}
