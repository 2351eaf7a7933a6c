//! Kinds of depth cameras, and what each makes of true distances.
//!
//! - Structured light measures disparity in steps of an eighth of a pixel, and nothing where the projector's light does not come
//!   (Khoshelham and Elberink 2012).
//! - Stereo has errors that neighbours share, edges that go to what is nearer, and holes (Keselman et al. 2017).
//! - Time of flight bends the picture, mixes near and far at edges, and measures hollows too deep (Tolgyessy et al. 2021).

use prehend_geometry::{DepthImage, Intrinsics};
use prehend_sim::sensors::Capture;
use rand::{Rng, RngExt};
use serde::Serialize;
use std::f64::consts::FRAC_PI_2;
use std::fmt;

/// A kind of camera, with the way in which it is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Structured light, 640 x 480, from 0.6 to 1.4 m, 20 to 60 degrees above the table.
    StructuredLight,
    /// Stereo, 848 x 480 or 1280 x 720, from 0.35 to 1 m, 30 to 80 degrees.
    Stereo,
    /// Time of flight, 640 x 576 or 1280 x 720, from 0.5 to 1.2 m, 30 to 75 degrees.
    TimeOfFlight,
    /// Wide-field time of flight, 1280 x 720, from 0.45 to 0.65 m, straight down; the robot's base is in the picture.
    Overhead,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::StructuredLight, Self::Stereo, Self::TimeOfFlight, Self::Overhead];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::StructuredLight => "structured-light",
            Self::Stereo => "stereo",
            Self::TimeOfFlight => "time-of-flight",
            Self::Overhead => "overhead",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a table is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Material {
    /// Smooth and bright.
    Plain,
    /// With a grain.
    Wood,
    /// Soft: it has bumps of its own.
    Cloth,
    /// It gives little light back: more noise, and holes.
    Black,
}

impl Material {
    const ALL: [Self; 4] = [Self::Plain, Self::Wood, Self::Cloth, Self::Black];

    /// What its colour multiplies that of the drawn table by.
    pub(super) fn color(self, rng: &mut impl Rng) -> [f64; 3] {
        let any: [f64; 3] = std::array::from_fn(|_| rng.random_range(0.5..1.3));
        match self {
            Self::Plain => any.map(|share| share * 1.1),
            Self::Wood => [1.0, rng.random_range(0.8..1.0), rng.random_range(0.6..1.0)],
            Self::Cloth => any,
            Self::Black => any.map(|share| share * 0.25),
        }
    }

    /// How much its pattern changes its brightness.
    pub(super) fn pattern(self) -> f64 {
        match self {
            Self::Plain => 0.02,
            Self::Wood => 0.2,
            Self::Cloth => 0.1,
            Self::Black => 0.05,
        }
    }
}

/// One camera at its place over one table.
pub(super) struct Sensor {
    kind: Kind,
    pub(super) intrinsics: Intrinsics,
    pub(super) material: Material,
    /// Distance from where it looks, metres.
    pub(super) distance: f64,
    /// Angle above the table, radians.
    pub(super) elevation: f64,
    /// How far from the middle things stand, metres.
    pub(super) spread: f64,
}

/// Share of the pixels of a black table that are not measured.
const BLACK_HOLES: f64 = 0.02;
/// Distance of the projector or the second lens, metres.
const BASELINE: f64 = 0.055;

impl Sensor {
    pub(super) fn draw(kind: Kind, rng: &mut impl Rng) -> Self {
        let camera = |focal: f64, width: usize, height: usize| Intrinsics {
            fx: focal,
            fy: focal,
            cx: width as f64 / 2.0,
            cy: height as f64 / 2.0,
            width,
            height,
        };
        let is_large = rng.random_bool(0.5);
        let material = Material::ALL[rng.random_range(0..Material::ALL.len())];
        let mut between = |low: f64, high: f64| rng.random_range(low..high);
        let degrees = f64::to_radians;
        let (intrinsics, distance, elevation) = match kind {
            Kind::StructuredLight => (
                camera(between(525.0, 590.0), 640, 480),
                between(0.6, 1.4),
                between(degrees(20.0), degrees(60.0)),
            ),
            Kind::Stereo if is_large => (
                camera(between(890.0, 930.0), 1280, 720),
                between(0.45, 1.0),
                between(degrees(30.0), degrees(80.0)),
            ),
            Kind::Stereo => (
                camera(between(600.0, 625.0), 848, 480),
                between(0.35, 0.9),
                between(degrees(30.0), degrees(80.0)),
            ),
            Kind::TimeOfFlight if is_large => (
                camera(between(600.0, 640.0), 1280, 720),
                between(0.5, 1.0),
                between(degrees(30.0), degrees(75.0)),
            ),
            Kind::TimeOfFlight => (
                camera(between(495.0, 510.0), 640, 576),
                between(0.5, 1.2),
                between(degrees(30.0), degrees(75.0)),
            ),
            Kind::Overhead => (
                camera(between(610.0, 640.0), 1280, 720),
                between(0.45, 0.65),
                FRAC_PI_2 - between(0.01, 0.12),
            ),
        };
        // What the picture shows of the table, without its borders.
        let spread = (0.3 * distance * intrinsics.height as f64 / intrinsics.fx).clamp(0.1, 0.35);
        Self { kind, intrinsics, material, distance, elevation, spread }
    }

    /// The depth image, millimetres; 0 is a hole.
    pub(super) fn measure(&self, capture: &Capture, rng: &mut impl Rng) -> DepthImage {
        let (width, height) = (self.intrinsics.width, self.intrinsics.height);
        let mut truth = capture.true_depth.clone();
        let is_table: Vec<bool> = capture.labels.labels.iter().map(|label| *label == 0).collect();
        if self.material == Material::Cloth {
            let bumps = Waves::draw(rng, 0.002, [0.03, 0.12], width, self.intrinsics.fx / self.distance);
            for (index, depth) in
                truth.iter_mut().enumerate().filter(|(index, depth)| is_table[*index] && **depth > 0.0)
            {
                *depth += bumps.at(index);
            }
        }
        let coarse = if self.material == Material::Black { rng.random_range(1.5..3.0) } else { 1.0 };
        let factor = |index: usize| if is_table[index] { coarse as f32 } else { 1.0 };
        let measured = match self.kind {
            Kind::StructuredLight => structured_light(&truth, &self.intrinsics, factor, rng),
            Kind::Stereo => stereo(&truth, &self.intrinsics, factor, rng),
            Kind::TimeOfFlight | Kind::Overhead => time_of_flight(&truth, width, height, factor, rng),
        };
        let is_black = |index: usize| is_table[index] && self.material == Material::Black;
        let millimetres = measured.into_iter().enumerate().map(|(index, depth)| {
            let is_seen = (0.15..6.0).contains(&depth)
                && !(is_black(index) && rng.random_range(0.0..1.0) < BLACK_HOLES);
            if is_seen { (depth * 1000.0 + 0.5) as u16 } else { 0 }
        });
        let millimetres = millimetres.collect();
        DepthImage { width, height, millimetres }
    }
}

/// A normal number.
fn normal(rng: &mut impl Rng) -> f32 {
    let (a, b): (f32, f32) = (rng.random_range(1e-7..1.0), rng.random_range(0.0..1.0));
    (-2.0 * a.ln()).sqrt() * (std::f32::consts::TAU * b).cos()
}

/// Smooth bumps over a picture: a few waves of any direction.
struct Waves {
    width: usize,
    waves: Vec<[f32; 3]>,
    size: f32,
}

impl Waves {
    /// Bumps of this standard deviation, metres, with lengths between two in metres, where a metre has so many pixels.
    fn draw(rng: &mut impl Rng, size: f32, lengths: [f64; 2], width: usize, pixels: f64) -> Self {
        let wave = |_| {
            let length = rng.random_range(lengths[0]..lengths[1]) * pixels;
            let turn = rng.random_range(0.0..std::f64::consts::TAU);
            let step = std::f64::consts::TAU / length;
            [
                (turn.cos() * step) as f32,
                (turn.sin() * step) as f32,
                rng.random_range(0.0..std::f32::consts::TAU),
            ]
        };
        Self { width, waves: (0..6).map(wave).collect(), size: size / 3.0_f32.sqrt() }
    }

    fn at(&self, index: usize) -> f32 {
        let (u, v) = ((index % self.width) as f32, (index / self.width) as f32);
        self.size * self.waves.iter().map(|[a, b, phase]| (a * u + b * v + phase).sin()).sum::<f32>()
    }
}

/// Noise that neighbours share: white noise, averaged over a box of `2 reach + 1` pixels twice, with standard deviation 1.
fn shared_noise(width: usize, height: usize, reach: usize, rng: &mut impl Rng) -> Vec<f32> {
    let mut noise: Vec<f32> = (0..width * height).map(|_| normal(rng)).collect();
    for _ in 0..2 {
        noise = box_mean(&noise, width, height, reach);
    }
    let variance = noise.iter().map(|x| x * x).sum::<f32>() / noise.len().max(1) as f32;
    let scale = 1.0 / variance.sqrt().max(1e-9);
    noise.iter_mut().for_each(|x| *x *= scale);
    noise
}

fn box_mean(values: &[f32], width: usize, height: usize, reach: usize) -> Vec<f32> {
    let pass = |values: &[f32], lines: usize, length: usize, stride: usize, step: usize| {
        let mut out = vec![0.0; values.len()];
        for line in 0..lines {
            let at = |place: usize| line * stride + place * step;
            let (mut sum, mut count) = (0.0, 0.0);
            for place in 0..length + reach {
                if place < length {
                    sum += values[at(place)];
                    count += 1.0;
                }
                if let Some(gone) = place.checked_sub(2 * reach + 1) {
                    sum -= values[at(gone)];
                    count -= 1.0;
                }
                if let Some(middle) = place.checked_sub(reach).filter(|middle| *middle < length) {
                    out[at(middle)] = sum / f32::max(count, 1.0);
                }
            }
        }
        out
    };
    let rows = pass(values, height, width, width, 1);
    pass(&rows, width, height, 1, width)
}

fn structured_light(
    truth: &[f32],
    camera: &Intrinsics,
    factor: impl Fn(usize) -> f32,
    rng: &mut impl Rng,
) -> Vec<f32> {
    let (width, height) = (camera.width, camera.height);
    let scale = (camera.fx * BASELINE * 1.36) as f32;
    let spread = rng.random_range(0.06..0.12_f32);
    let mut noise = shared_noise(width, height, 2, rng);
    noise.iter_mut().for_each(|x| *x *= spread);
    let mut out = vec![0.0; truth.len()];
    for v in 0..height {
        // The projector is to the right: what is lit by it farther right hides what is behind it.
        let mut reached = f32::INFINITY;
        for u in (0..width).rev() {
            let index = v * width + u;
            if truth[index] <= 0.0 {
                continue;
            }
            let disparity = scale / truth[index];
            let lit = u as f32 - disparity;
            if lit > reached + 1.0 {
                continue;
            }
            reached = reached.min(lit);
            let steps = ((disparity + noise[index] * factor(index)) * 8.0).round() / 8.0;
            out[index] = scale / steps.max(0.5);
        }
    }
    out
}

fn stereo(truth: &[f32], camera: &Intrinsics, factor: impl Fn(usize) -> f32, rng: &mut impl Rng) -> Vec<f32> {
    let (width, height) = (camera.width, camera.height);
    let scale = (camera.fx * BASELINE) as f32;
    let fine = shared_noise(width, height, 2, rng);
    let coarse = shared_noise(width, height, 9, rng);
    let smear = shared_noise(width, height, 3, rng);
    let holes = shared_noise(width, height, 5, rng);
    let (fine_size, coarse_size) = (rng.random_range(0.03..0.08_f32), rng.random_range(0.03..0.09_f32));
    let reach = rng.random_range(1.5..3.5_f32);
    let mut out = vec![0.0; truth.len()];
    for v in 0..height {
        for u in 0..width {
            let index = v * width + u;
            // What is nearer grows over its border.
            let far = (reach * (1.0 + 0.5 * smear[index])).clamp(0.0, 6.0) as usize;
            let (left, right) = (u.saturating_sub(far), (u + far).min(width - 1));
            let row = &truth[v * width + left..=v * width + right];
            let nearest = row.iter().copied().filter(|d| *d > 0.0).fold(f32::INFINITY, f32::min);
            let depth = if truth[index] - nearest > 0.015 { nearest } else { truth[index] };
            // What the second lens does not see: just left of what is nearer.
            let disparity = scale / depth;
            let ahead = ((scale / nearest - disparity).max(0.0)) as usize;
            let hidden = (1..=ahead.min(12)).any(|step| {
                u + step < width && scale / truth[index + step].max(0.05) - disparity > step as f32 + 1.0
            });
            let wrong = fine[index] * fine_size + coarse[index] * coarse_size;
            if depth > 0.0 && !hidden && holes[index] < 3.4 {
                out[index] = scale / (disparity + wrong * factor(index)).max(0.5);
            }
        }
    }
    out
}

fn time_of_flight(
    truth: &[f32],
    width: usize,
    height: usize,
    factor: impl Fn(usize) -> f32,
    rng: &mut impl Rng,
) -> Vec<f32> {
    let sigma = rng.random_range(0.0007..0.0018_f32);
    let bend: [f32; 5] = std::array::from_fn(|_| rng.random_range(-0.008..0.008));
    let hollow = rng.random_range(0.1..0.3_f32);
    // How much nearer what is around is: light that came by way of it is late.
    let around = box_mean(truth, width, height, 24);
    let mixed = box_mean(truth, width, height, 1);
    let mut out = vec![0.0; truth.len()];
    for (index, out) in out.iter_mut().enumerate() {
        let depth = truth[index];
        if depth <= 0.0 {
            continue;
        }
        let (x, y) = (
            (index % width) as f32 / width as f32 * 2.0 - 1.0,
            (index / width) as f32 / height as f32 * 2.0 - 1.0,
        );
        let bent =
            bend[0] * x * x + bend[1] * y * y + bend[2] * x * y + bend[3] * x * x * x + bend[4] * x * x * y;
        let late = (depth - around[index]).clamp(0.0, 0.04) * hollow;
        // At edges a pixel sees near and far at once.
        let jump = (mixed[index] - depth).abs();
        let edge = if jump > 0.004 { mixed[index] } else { depth };
        *out = edge + bent + late + sigma * factor(index) * normal(rng);
        // Where they differ much, it often measures nothing.
        if jump > 0.03 && rng.random_bool(0.3) {
            *out = 0.0;
        }
    }
    out
}
