//! Depth of a thing without most of the sensor's noise: each pixel with those around it on the same surface.
//!
//! A box around a thing goes around its outermost points, so noise makes every box too long, and what is flat becomes a lump. The
//! mean over a window takes the noise away where the window lies on one plane. Pixels count in pairs, each with the one opposite to
//! it, so that slopes and borders bias nothing; a pair across a crease or a jump that stands out of the noise does not count.

use crate::Keyframe;
use nalgebra::Point3;
use prehend_geometry::backproject::PointGrid;
use serde::{Deserialize, Serialize};

/// How depth is smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SmoothingSettings {
    /// Greatest reach of a window to each side, pixels.
    pub reach: usize,
    /// Standard deviations by which the mean of a pair may differ from the pixel between: three of that difference.
    pub apart: f64,
}

impl Default for SmoothingSettings {
    fn default() -> Self {
        Self { reach: 3, apart: 3.7 }
    }
}

/// The depths of a thing's pixels and nothing else, with an empty border.
struct Window {
    width: usize,
    /// Pixels to each side of the thing.
    border: usize,
    /// Depths along the optical axis, metres; 0 where the thing is not.
    depths: Vec<f32>,
    /// Place of each pixel of the thing.
    places: Vec<usize>,
}

impl Window {
    fn new(frame: &Keyframe, pixels: &[usize], border: usize) -> Self {
        let columns = frame.depth.width;
        let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
        for index in pixels {
            for (axis, place) in [index % columns, index / columns].into_iter().enumerate() {
                (low[axis], high[axis]) = (low[axis].min(place), high[axis].max(place));
            }
        }
        let size = [0, 1].map(|axis| (high[axis] + 1).saturating_sub(low[axis]) + 2 * border);
        let mut depths = vec![0.0; size[0] * size[1]];
        let place =
            |index: &usize| (index / columns - low[1] + border) * size[0] + index % columns - low[0] + border;
        let places: Vec<usize> = pixels.iter().map(place).collect();
        for (place, index) in places.iter().zip(pixels) {
            depths[*place] = f32::from(frame.depth.millimetres[*index]) * 1e-3;
        }
        Self { width: size[0], border, depths, places }
    }

    /// The pixels around one in half a window, of which each stands for the one opposite to it as well.
    fn half(&self, reach: usize) -> Vec<usize> {
        let reach = reach as isize;
        let steps = (0..=reach).flat_map(|dv| (-reach..=reach).map(move |du| (du, dv)));
        let after = steps.filter(|(du, dv)| *dv > 0 || *du > 0);
        after.map(|(du, dv)| (dv * self.width as isize + du) as usize).collect()
    }

    /// For each pixel the sum over the pairs around it of what they are off its depth, twice, metres; and how many pairs count.
    fn pairs(&self, half: &[usize], apart: f32) -> (Vec<f32>, Vec<f32>) {
        let (mut sums, mut pairs) = (vec![0.0_f32; self.depths.len()], vec![0.0_f32; self.depths.len()]);
        let border = self.border * self.width;
        let inner = border..self.depths.len() - border;
        let here = &self.depths[inner.clone()];
        for step in half {
            // Equally long, so that four pixels are done at once.
            let after = &self.depths[inner.start + step..inner.end + step];
            let before = &self.depths[inner.start - step..inner.end - step];
            let slots = sums[inner.clone()].iter_mut().zip(&mut pairs[inner.clone()]);
            for (((sum, pairs), here), (a, b)) in slots.zip(here).zip(after.iter().zip(before)) {
                let off = a + b - 2.0 * here;
                let counts = (*a > 0.0) & (*b > 0.0) & (off.abs() <= 2.0 * apart * here * here);
                let one = if counts { 1.0 } else { 0.0 };
                *sum += off * one;
                *pairs += one;
            }
        }
        (sums, pairs)
    }
}

/// The points of a thing's pixels (which must have some), in their order, with less noise; `sigma` is the standard deviation of depth at
/// 1 m, growing with the square, and `still` what is aimed at, metres. Where it is that small already, or nothing is aimed at, the points are
/// those of the grid.
pub(super) fn smoothed(
    frame: &Keyframe,
    grid: &PointGrid,
    pixels: &[usize],
    sigma: f64,
    still: Option<f64>,
    settings: &SmoothingSettings,
) -> Vec<Point3<f64>> {
    let raw = grid.of(pixels);
    let Some(still) = still else { return raw };
    let mean = pixels.iter().filter_map(|index| frame.depth.metres(*index)).sum::<f64>()
        / pixels.len().max(1) as f64;
    let reach = ((sigma * mean * mean / still - 1.0) / 2.0).ceil().clamp(0.0, settings.reach as f64) as usize;
    if reach == 0 {
        return raw;
    }
    let window = Window::new(frame, pixels, 2 * settings.reach);
    let half = window.half(reach);
    let off = (settings.apart * sigma) as f32;
    let apart = |depth: f32| off * depth * depth;
    let (sums, pairs) = window.pairs(&half, off);
    // Depths; those with half of their pairs are sure.
    let smooth: Vec<f32> = window
        .depths
        .iter()
        .zip(&sums)
        .zip(&pairs)
        .map(|((here, sum), n)| here + sum / (2.0 * n + 1.0))
        .collect();
    let is_sure: Vec<bool> = pairs.iter().map(|pairs| 2.0 * pairs >= half.len() as f32).collect();
    // At a border what lies within goes on.
    let ways = window.half(1);
    let eye = Point3::from(frame.map_from_camera.translation.vector);
    let points = raw.into_iter().zip(&window.places).map(|(point, place)| {
        let own = smooth[*place];
        let (mut sum, mut count) = (own, 1.0_f32);
        for step in ways.iter().filter(|_| !is_sure[*place]) {
            for (one, two) in [(place + step, place + 2 * step), (place - step, place - 2 * step)] {
                let on = 2.0 * smooth[one] - smooth[two];
                if is_sure[one] && is_sure[two] && (on - window.depths[*place]).abs() <= apart(own) {
                    sum += on;
                    count += 1.0;
                }
            }
        }
        // Along the ray of the pixel.
        eye + (point - eye) * f64::from(sum / count / window.depths[*place])
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabelImage;
    use nalgebra::Isometry3;
    use prehend_geometry::backproject::point_grid;
    use prehend_geometry::{ColorImage, DepthImage, Intrinsics};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const SIDE: usize = 60;
    /// Standard deviation of depth at 1 m, metres.
    const SIGMA: f64 = 0.002;

    /// A picture of the depths that `at` gives, with noise.
    fn frame(at: impl Fn(usize, usize) -> f64, seed: u64) -> Keyframe {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // The sum of twelve even numbers is normal enough.
        let mut normal = || (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>();
        let pixels = (0..SIDE * SIDE).map(|index| {
            let depth = at(index % SIDE, index / SIDE);
            ((depth + SIGMA * depth * depth * normal()) * 1e3).round() as u16
        });
        Keyframe {
            view: String::new(),
            stamp: 0.0,
            color: ColorImage::filled(SIDE, SIDE, [0; 3]),
            depth: DepthImage { width: SIDE, height: SIDE, millimetres: pixels.collect() },
            labels: LabelImage::blank(SIDE, SIDE),
            detections: Vec::new(),
            parts: None,
            intrinsics: Intrinsics { fx: 600.0, fy: 600.0, cx: 30.0, cy: 30.0, width: SIDE, height: SIDE },
            map_from_camera: Isometry3::identity(),
            robot: Vec::new(),
        }
    }

    /// What the depths of these pixels are off what they should be, smoothed and as measured, metres.
    fn errors(at: impl Fn(usize, usize) -> f64, pixels: &[usize], seed: u64) -> [Vec<f64>; 2] {
        let frame = frame(&at, seed);
        let grid = point_grid(&frame.depth, &frame.intrinsics, &frame.map_from_camera, 5.0);
        assert!(pixels.iter().all(|index| grid.points[*index].is_some()), "no pixel is flying");
        [Some(0.000_75), None].map(|still| {
            let points = smoothed(&frame, &grid, pixels, SIGMA, still, &SmoothingSettings::default());
            assert_eq!(points.len(), pixels.len());
            let off = |(point, index): (&Point3<f64>, &usize)| point.z - at(index % SIDE, index / SIDE);
            points.iter().zip(pixels).map(off).collect()
        })
    }

    /// Mean and root of the mean square, metres.
    fn mean_and_spread(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let square = values.iter().map(|value| value * value).sum::<f64>() / count;
        (values.iter().sum::<f64>() / count, square.sqrt())
    }

    /// Errors of several pictures, all and those in one column.
    fn of_pictures(
        at: impl Fn(usize, usize) -> f64,
        pixels: &[usize],
        column: usize,
    ) -> [(Vec<f64>, Vec<f64>); 2] {
        let mut all = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
        for seed in 0..8 {
            for (found, (every, some)) in errors(&at, pixels, seed).into_iter().zip(&mut all) {
                let here = found.iter().zip(pixels).filter(|(_, index)| *index % SIDE == column);
                some.extend(here.map(|(error, _)| *error));
                every.extend(found);
            }
        }
        all
    }

    #[test]
    fn noise_goes_and_a_slope_stays_up_to_its_border() {
        let slope = |u: usize, v: usize| 1.2 + 0.002 * u as f64 + 0.001 * v as f64;
        let inside = |index: &usize| (10..50).contains(&(index % SIDE)) && (15..40).contains(&(index / SIDE));
        let thing: Vec<usize> = (0..SIDE * SIDE).filter(inside).collect();
        // Either end of the slope, where a plain mean would be 2 mm off.
        for end in [10, 49] {
            let [(smooth, at_end), (raw, _)] = of_pictures(slope, &thing, end);
            let (noise, smooth) = (mean_and_spread(&raw).1, mean_and_spread(&smooth).1);
            assert!(smooth < 0.4 * noise, "{smooth} {noise}");
            let (mean, spread) = mean_and_spread(&at_end);
            assert!(mean.abs() < 0.001 && spread < 0.7 * noise, "{mean} {spread} {noise}");
        }
    }

    #[test]
    fn an_edge_is_hardly_blurred() {
        // Two faces 3 cm apart; a plain mean would be 12 mm off beside the edge.
        let step = |u: usize, _: usize| if u < 30 { 1.2 } else { 1.23 };
        let all: Vec<usize> = (0..SIDE * SIDE).collect();
        for (column, most) in [(27, 0.001), (29, 0.004), (30, 0.004), (32, 0.001)] {
            let [(smooth, beside), (raw, _)] = of_pictures(step, &all, column);
            assert!(mean_and_spread(&smooth).1 < 0.5 * mean_and_spread(&raw).1);
            let (mean, _) = mean_and_spread(&beside);
            assert!(mean.abs() < most, "column {column}: {mean}");
        }
    }

    #[test]
    fn what_is_near_is_left_as_it_was_measured() {
        let all: Vec<usize> = (0..SIDE * SIDE).collect();
        let [smooth, raw] = errors(|_, _| 0.5, &all, 3);
        assert_eq!(smooth, raw);
        // A thing of one pixel.
        let [smooth, raw] = errors(|_, _| 1.2, &[700], 3);
        assert!((smooth[0] - raw[0]).abs() < 1e-6);
    }
}
