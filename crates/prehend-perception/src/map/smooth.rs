//! Depth of a thing without most of the sensor's noise: each pixel with those around it on the same surface.
//!
//! A box around a thing goes around its outermost points, so noise makes every box too long, and what is flat becomes a lump. The
//! mean over a window takes the noise away where the window lies on one plane. Pixels count in pairs, each with the one opposite to
//! it, so that slopes and borders bias nothing; a pair across a crease or a jump does not count.

use crate::Keyframe;
use nalgebra::Point3;
use prehend_geometry::backproject::PointGrid;

/// Standard deviation of depth that is aimed at, metres: an eighth of the height from which on something is a thing.
const STILL: f64 = 0.000_75;
/// Greatest reach of a window, pixels.
const REACH: usize = 3;
/// Standard deviations by which the mean of a pair may differ from the pixel between: three of that difference.
const APART: f64 = 3.7;

/// The depths of a thing's pixels and nothing else, with an empty border.
struct Window {
    width: usize,
    /// Depths along the optical axis, metres; 0 where the thing is not.
    depths: Vec<f32>,
    /// Place of each pixel of the thing.
    places: Vec<usize>,
}

impl Window {
    fn new(frame: &Keyframe, pixels: &[usize]) -> Self {
        let columns = frame.depth.width;
        let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
        for index in pixels {
            for (axis, place) in [index % columns, index / columns].into_iter().enumerate() {
                (low[axis], high[axis]) = (low[axis].min(place), high[axis].max(place));
            }
        }
        let border = 2 * REACH;
        let size = [0, 1].map(|axis| (high[axis] + 1).saturating_sub(low[axis]) + 2 * border);
        let mut depths = vec![0.0; size[0] * size[1]];
        let place = |index: &usize| {
            (index / columns - low[1] + border) * size[0] + index % columns - low[0] + border
        };
        let places: Vec<usize> = pixels.iter().map(place).collect();
        for (place, index) in places.iter().zip(pixels) {
            depths[*place] = f32::from(frame.depth.millimetres[*index]) * 1e-3;
        }
        Self { width: size[0], depths, places }
    }

    /// The pixels around one in half a window, of which each stands for the one opposite to it as well.
    fn half(&self, reach: usize) -> Vec<usize> {
        let reach = reach as isize;
        let steps = (0..=reach).flat_map(|dv| (-reach..=reach).map(move |du| (du, dv)));
        let after = steps.filter(|(du, dv)| *dv > 0 || *du > 0);
        after.map(|(du, dv)| (dv * self.width as isize + du) as usize).collect()
    }
}

/// The points of a thing's pixels (which must have some), in their order, with less noise; `sigma` is the standard deviation of depth at
/// 1 m, growing with the square, metres. Where that is small already the points are those of the grid.
pub(super) fn smoothed(frame: &Keyframe, grid: &PointGrid, pixels: &[usize], sigma: f64) -> Vec<Point3<f64>> {
    let raw = || pixels.iter().filter_map(|index| grid.points[*index]);
    let mean = pixels.iter().filter_map(|index| frame.depth.metres(*index)).sum::<f64>() / pixels.len().max(1) as f64;
    let reach = ((sigma * mean * mean / STILL - 1.0) / 2.0).ceil().clamp(0.0, REACH as f64) as usize;
    if reach == 0 {
        return raw().collect();
    }
    let window = Window::new(frame, pixels);
    let half = window.half(reach);
    let apart = |depth: f32| (APART * sigma) as f32 * depth * depth;
    // Depths, and for how many pairs of the window; those with half of them are sure.
    let mut smooth = window.depths.clone();
    let mut is_sure = vec![false; window.depths.len()];
    for place in &window.places {
        let here = window.depths[*place];
        let (most, mut sum, mut pairs) = (2.0 * apart(here), 0.0_f32, 0.0_f32);
        for step in &half {
            let (a, b) = (window.depths[place + step], window.depths[place - step]);
            let off = a + b - 2.0 * here;
            let counts = a > 0.0 && b > 0.0 && off.abs() <= most;
            sum += if counts { off } else { 0.0 };
            pairs += f32::from(u8::from(counts));
        }
        smooth[*place] = here + sum / (2.0 * pairs + 1.0);
        is_sure[*place] = 2.0 * pairs >= half.len() as f32;
    }
    // At a border what lies within goes on.
    let ways = window.half(1);
    let eye = Point3::from(frame.map_from_camera.translation.vector);
    let points = raw().zip(&window.places).map(|(point, place)| {
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
