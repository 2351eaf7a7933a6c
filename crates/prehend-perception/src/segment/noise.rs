//! How noisy the depth of a frame is, measured in the frame itself.
//!
//! Along a line over any plane the inverse of depth is linear. So the second difference of inverse depth, over a distance at which a camera's
//! errors hardly agree any more, is noise alone where the picture shows planes. It has an edge in it here and there: the median does not
//! mind. For stereo and structured light, whose error grows with the square of depth, it is one number for the whole picture; for others
//! it is right at the depths that the picture shows most of.

/// Columns and rows between pixels that are asked.
const STEP: usize = 5;
/// Distances of second differences as shares of the picture's width: 16, 8 and 2 of 640 pixels.
const FAR: f64 = 0.025;
const CREASE: f64 = 0.0125;
const NEAR: f64 = 0.003;
/// Fewest second differences of a measurement.
const FEWEST: usize = 200;
/// A median absolute deviation is this share of the standard deviation of normal numbers.
const MEDIAN: f64 = 0.6745;

/// Standard deviations of depth at 1 m, growing with the square, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    /// Of a pixel.
    pub(super) pixel: f64,
    /// Of the mean over a square of `2 window + 1` pixels.
    pub(super) mean: f64,
    /// Of a pixel against those beside it, which share much of its error.
    pub(super) near: f64,
    /// Of how far a mean of nine pixels lies behind the middle of two others.
    pub(super) crease: f64,
}

impl Noise {
    /// The same noise of every pixel, none of it shared; that of a mean is this share of it.
    pub(super) fn white(pixel: f64, averaged: f64) -> Self {
        Self { pixel, mean: pixel * averaged, near: pixel, crease: pixel * averaged }
    }

    /// Both, where each is greater.
    pub(super) fn at_least(self, other: Self) -> Self {
        Self {
            pixel: self.pixel.max(other.pixel),
            mean: self.mean.max(other.mean),
            near: self.near.max(other.near),
            crease: self.crease.max(other.crease),
        }
    }

    /// Measures it; `None` where too little of the picture has depth. `depths` are metres, 0 where nothing was measured; `window` is the
    /// reach of means, pixels.
    pub(super) fn measure(depths: &[f64], width: usize, window: usize) -> Option<Self> {
        let rows = depths.len().checked_div(width)?;
        let picture = Inverse { depths, width, rows };
        let six = 6.0_f64.sqrt();
        let pixel = picture.second(0, FAR)? / six;
        let near = picture.second(0, NEAR)? / six;
        // Holes in every square: nothing is known but that a mean is no worse than a pixel.
        let mean = picture.second(window, FAR).map_or(pixel, |all| all / six);
        let crease = picture.second(1, CREASE).map_or(pixel, |all| all / 2.0);
        Some(Self { pixel, mean, near, crease })
    }
}

/// The inverse of depths.
struct Inverse<'a> {
    depths: &'a [f64],
    width: usize,
    rows: usize,
}

impl Inverse<'_> {
    /// Standard deviation of the second difference of means of `2 window + 1` pixels over this share of the width, 1/m.
    fn second(&self, window: usize, reach: f64) -> Option<f64> {
        let reach = ((self.width as f64 * reach).round() as usize).max(1);
        let margin = reach + window;
        // Each mean costs a square of pixels: fewer are enough.
        let step = STEP * (1 + window);
        let mut all = Vec::new();
        for v in (margin..self.rows.saturating_sub(margin)).step_by(step) {
            for u in (margin..self.width.saturating_sub(margin)).step_by(step) {
                for (du, dv) in [(reach, 0), (0, reach)] {
                    let [a, b, c] =
                        [(u - du, v - dv), (u, v), (u + du, v + dv)].map(|(u, v)| self.mean(u, v, window));
                    if let (Some(a), Some(b), Some(c)) = (a, b, c) {
                        all.push((a - 2.0 * b + c).abs());
                    }
                }
            }
        }
        let middle = all.len() / 2;
        (all.len() >= FEWEST).then(|| *all.select_nth_unstable_by(middle, f64::total_cmp).1 / MEDIAN)
    }

    /// Mean of a square that was measured whole.
    fn mean(&self, u: usize, v: usize, window: usize) -> Option<f64> {
        let mut sum = 0.0;
        for row in v - window..=v + window {
            for depth in &self.depths[row * self.width + u - window..=row * self.width + u + window] {
                if *depth <= 0.0 {
                    return None;
                }
                sum += depth.recip();
            }
        }
        Some(sum / ((2 * window + 1) * (2 * window + 1)) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A slanting plane with noise that grows with the square of depth, each value for `block` x `block` pixels.
    fn plane(sigma: f64, block: usize) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (width, height) = (320, 240);
        let normal: Vec<f64> =
            (0..width * height).map(|_| (0..12).map(|_| rng.random_range(-0.5..0.5_f64)).sum()).collect();
        let place = |index: usize| (index % width, index / width);
        let depth = |index: usize| {
            let (u, v) = place(index);
            let truth = 1.0 / (0.8 + 0.001 * u as f64 + 0.002 * v as f64);
            truth + sigma * truth * truth * normal[v / block * block * width + u / block * block]
        };
        (0..width * height).map(depth).collect()
    }

    #[test]
    fn noise_is_measured_on_a_slanting_plane() {
        for sigma in [0.0005, 0.002, 0.006] {
            let noise = Noise::measure(&plane(sigma, 1), 320, 2).unwrap();
            assert!((noise.pixel / sigma - 1.0).abs() < 0.1, "{noise:?}");
            assert!((noise.near / sigma - 1.0).abs() < 0.1, "{noise:?}");
            assert!((noise.mean / sigma - 0.2).abs() < 0.04, "a mean of 25 pixels: {noise:?}");
        }
        // Errors that neighbours share do not average out.
        let noise = Noise::measure(&plane(0.002, 6), 320, 2).unwrap();
        assert!((noise.pixel / 0.002 - 1.0).abs() < 0.15 && noise.mean > 0.0012, "{noise:?}");
        assert!(noise.near < 0.001, "pixels beside each other have one error: {noise:?}");
    }

    #[test]
    fn nothing_is_measured_where_there_is_no_depth() {
        assert_eq!(Noise::measure(&[0.0; 320 * 240], 320, 2), None);
        assert_eq!(Noise::measure(&[], 320, 2), None);
        assert_eq!(Noise::measure(&[1.0; 16], 4, 2), None);
    }
}
