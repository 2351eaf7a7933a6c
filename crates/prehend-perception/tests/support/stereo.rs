//! What a stereo camera makes of depth: disparity over a window, in steps, with noise that neighbours share; mixed and missing
//! pixels at edges; shadows that only one of its eyes sees.

use prehend_geometry::DepthImage;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Distance of the eyes, metres: that of a small camera for a wrist.
const BASELINE: f64 = 0.050;
/// Noise of the disparity and its steps, pixels.
const NOISE: f64 = 0.08;
const STEP: f64 = 1.0 / 16.0;
/// Change of disparity at which a window shows two surfaces, pixels, and the share of such pixels that are not measured.
const EDGE: f64 = 1.5;
const MISSING: f64 = 0.4;
/// Widest shadow, pixels.
const SHADOW: usize = 12;

/// The depth as a stereo camera of focal length `fx`, pixels, measures it; its rim of two pixels is not measured.
pub fn stereo(depth: &DepthImage, fx: f64, rng: &mut ChaCha8Rng) -> DepthImage {
    let (width, height) = (depth.width, depth.height);
    let scale = fx * BASELINE * 1e3;
    let disparity: Vec<f64> =
        depth.millimetres.iter().map(|mm| if *mm == 0 { 0.0 } else { scale / f64::from(*mm) }).collect();
    let white: Vec<f64> =
        (0..width * height).map(|_| (0..3).map(|_| rng.random_range(-1.0..1.0)).sum()).collect();
    let mut measured = vec![0; width * height];
    for v in 2..height - 2 {
        for u in 2..width - 2 {
            let index = v * width + u;
            let own = disparity[index];
            let is_hidden =
                |step: usize| u + step < width && disparity[index + step] - own > step as f64 + 1.0;
            if own == 0.0 || (1..SHADOW).any(is_hidden) {
                continue;
            }
            let window = |reach: usize| {
                let rows = v - reach..=v + reach;
                rows.flat_map(move |row| (row * width + u - reach)..=(row * width + u + reach))
            };
            let seen: Vec<f64> = window(1).map(|place| disparity[place]).collect();
            let (low, high) = seen.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
            if high - low > EDGE && rng.random_range(0.0..1.0) < MISSING {
                continue;
            }
            let noise = NOISE * window(2).map(|place| white[place]).sum::<f64>() / 5.0;
            let mean = seen.iter().sum::<f64>() / seen.len() as f64;
            let read = ((mean + noise) / STEP).round() * STEP;
            if read > 0.5 {
                measured[index] = (scale / read).round().min(f64::from(u16::MAX)) as u16;
            }
        }
    }
    DepthImage { width, height, millimetres: measured }
}
