//! Surfaces of simple things, and what a noisy camera above the table sees of them. Tests only.

use nalgebra::{Isometry3, Point3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Spacing of the sampled surfaces, metres.
const FINE: f64 = 0.0015;

fn steps(length: f64) -> usize {
    (length / FINE).ceil() as usize + 1
}

fn between(low: f64, high: f64, n: usize) -> impl Iterator<Item = f64> + Clone {
    (0..n).map(move |i| low + (high - low) * i as f64 / (n - 1) as f64)
}

/// A box standing on z = 0.
pub(crate) fn cuboid(x: f64, y: f64, z: f64) -> Vec<Point3<f64>> {
    let mut points = Vec::new();
    for u in between(-0.5, 0.5, steps(x)) {
        for v in between(-0.5, 0.5, steps(y)) {
            points.extend([Point3::new(u * x, v * y, 0.0), Point3::new(u * x, v * y, z)]);
        }
        for w in between(0.0, 1.0, steps(z)) {
            points.extend([Point3::new(u * x, -y / 2.0, w * z), Point3::new(u * x, y / 2.0, w * z)]);
        }
    }
    for v in between(-0.5, 0.5, steps(y)) {
        for w in between(0.0, 1.0, steps(z)) {
            points.extend([Point3::new(-x / 2.0, v * y, w * z), Point3::new(x / 2.0, v * y, w * z)]);
        }
    }
    points
}

/// The surface swept by a profile of (radius, height) corners about z.
pub(crate) fn lathe(profile: &[(f64, f64)]) -> Vec<Point3<f64>> {
    let mut points = Vec::new();
    for pair in profile.windows(2) {
        let ((r0, z0), (r1, z1)) = (pair[0], pair[1]);
        for t in between(0.0, 1.0, steps((r1 - r0).hypot(z1 - z0))) {
            let (r, z) = (r0 + t * (r1 - r0), z0 + t * (z1 - z0));
            for a in between(0.0, TAU, steps(TAU * r).max(4)) {
                points.push(Point3::new(r * a.cos(), r * a.sin(), z));
            }
        }
    }
    points
}

pub(crate) fn cylinder(r: f64, h: f64) -> Vec<Point3<f64>> {
    lathe(&[(0.0, 0.0), (r, 0.0), (r, h), (0.0, h)])
}

pub(crate) fn sphere(r: f64) -> Vec<Point3<f64>> {
    let profile: Vec<(f64, f64)> = between(-1.0, 1.0, 40)
        .map(|t| {
            let a = t * std::f64::consts::FRAC_PI_2;
            (r * a.cos(), r + r * a.sin())
        })
        .collect();
    lathe(&profile)
}

/// A cup with an upright wall and a handle along +x.
pub(crate) fn mug(r: f64, h: f64) -> Vec<Point3<f64>> {
    let wall = 0.004;
    let mut points = lathe(&[(0.0, 0.0), (r, 0.0), (r, h), (r - wall, h), (r - wall, 0.006), (0.0, 0.006)]);
    points.extend(handle(r, h));
    points
}

/// The handle of [`mug`]: a bar 10 mm wide, 28 mm long, from 20 % to 80 % of the height.
pub(crate) fn handle(r: f64, h: f64) -> Vec<Point3<f64>> {
    let mut points = Vec::new();
    for (x0, x1, z0, z1) in [
        (r, r + 0.028, 0.7 * h, 0.8 * h),
        (r, r + 0.028, 0.2 * h, 0.3 * h),
        (r + 0.018, r + 0.028, 0.2 * h, 0.8 * h),
    ] {
        let lift = Vector3::new((x0 + x1) / 2.0, 0.0, z0);
        points.extend(cuboid(x1 - x0, 0.010, z1 - z0).into_iter().map(|p| p + lift));
    }
    points
}

pub(crate) fn bowl(r: f64, h: f64) -> Vec<Point3<f64>> {
    let wall = 0.005;
    lathe(&[(0.0, 0.0), (0.55 * r, 0.0), (r, h), (r - wall, h), (0.55 * r - wall, wall), (0.0, wall)])
}

/// A plate whose rim ends nearly upright.
pub(crate) fn plate(r: f64, h: f64) -> Vec<Point3<f64>> {
    let (foot, wall) = (0.7 * r, 0.005);
    let outer = [(0.0, 0.0), (foot, 0.0), (r - 0.004, 0.45 * h), (r, h)];
    let inner = [(r - wall, h), (r - 0.004 - wall, 0.45 * h), (foot - wall, wall), (0.0, wall)];
    lathe(&[outer, inner].concat())
}

pub(crate) fn bottle(r: f64, h: f64) -> Vec<Point3<f64>> {
    lathe(&[(0.0, 0.0), (r, 0.0), (r, 0.6 * h), (0.014, 0.75 * h), (0.014, h), (0.0, h)])
}

/// What a camera at `eye` sees of the surface points, with Gaussian-like noise of `sigma` metres, thinned to 3 mm cells.
pub(crate) fn seen(surface: &[Point3<f64>], eye: Point3<f64>, sigma: f64, seed: u64) -> Vec<Point3<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // A z-buffer of directions: 1/250 rad is 2.4 mm at 0.6 m.
    let direction = |p: &Point3<f64>| {
        let r = p - eye;
        let (down, far) = (-r.z, r.norm());
        (((r.x / down * 250.0).round() as i64, (r.y / down * 250.0).round() as i64), far)
    };
    let mut nearest: HashMap<(i64, i64), f64> = HashMap::new();
    for p in surface {
        let (key, far) = direction(p);
        let entry = nearest.entry(key).or_insert(far);
        *entry = entry.min(far);
    }
    let mut cells: HashMap<(i64, i64, i64), Point3<f64>> = HashMap::new();
    let mut order = Vec::new();
    for p in surface {
        let (key, far) = direction(p);
        if far > nearest[&key] + 0.004 {
            continue;
        }
        let ray = (p - eye).normalize();
        let noise = ((0..4).map(|_| rng.random::<f64>()).sum::<f64>() - 2.0) * sigma * 1.7;
        let q = p + ray * noise;
        let cell = ((q.x / 0.003).floor() as i64, (q.y / 0.003).floor() as i64, (q.z / 0.003).floor() as i64);
        if cells.insert(cell, q).is_none() {
            order.push(cell);
        }
    }
    order.iter().map(|cell| cells[cell]).collect()
}

/// The wrist camera at the home pose.
pub(crate) fn home_eye() -> Point3<f64> {
    Point3::new(0.20, 0.0, 0.60)
}

/// The points moved to (x, y) and turned by `yaw`.
pub(crate) fn at(points: &[Point3<f64>], x: f64, y: f64, yaw: f64) -> Vec<Point3<f64>> {
    let pose = Isometry3::new(Vector3::new(x, y, 0.0), Vector3::new(0.0, 0.0, yaw));
    points.iter().map(|p| pose * p).collect()
}
