//! Analytic frames of tables with simple things, for tests and benches.

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::{ColorImage, DepthImage, Intrinsics};
use prehend_perception::{Detection, Keyframe, LabelImage};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Full sizes.
    Block([f64; 3]),
    /// Radius and height.
    Can(f64, f64),
    /// Outer radius, height, wall: an open cup.
    Cup(f64, f64, f64),
    /// Radius.
    Ball(f64),
}

#[derive(Clone, Debug)]
pub struct Thing {
    pub class: &'static str,
    pub form: Form,
    /// Foot (x, y, z of the lowest point) and yaw.
    pub at: [f64; 4],
    pub color: [u8; 3],
}

pub fn thing(class: &'static str, form: Form, x: f64, y: f64, color: [u8; 3]) -> Thing {
    Thing { class, form, at: [x, y, 0.0, 0.0], color }
}

impl Thing {
    /// Distance along the ray and unit normal of the first hit.
    fn hit(&self, origin: &Point3<f64>, ray: &Vector3<f64>) -> Option<(f64, Vector3<f64>)> {
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), -self.at[3]);
        let o = turn * (origin - Vector3::new(self.at[0], self.at[1], self.at[2])).coords;
        let d = turn * ray;
        let mut hits: Vec<(f64, Vector3<f64>)> = Vec::new();
        match self.form {
            Form::Block([x, y, z]) => {
                let (mut near, mut far, mut normal) = (f64::MIN, f64::MAX, Vector3::zeros());
                for (axis, (low, high)) in
                    [(-x / 2.0, x / 2.0), (-y / 2.0, y / 2.0), (0.0, z)].into_iter().enumerate()
                {
                    let (mut a, mut b) = ((low - o[axis]) / d[axis], (high - o[axis]) / d[axis]);
                    if a > b {
                        std::mem::swap(&mut a, &mut b);
                    }
                    if a > near {
                        near = a;
                        normal = Vector3::zeros();
                        normal[axis] = -d[axis].signum();
                    }
                    far = far.min(b);
                }
                if near < far && near > 0.0 {
                    hits.push((near, normal));
                }
            }
            Form::Ball(radius) => {
                let center = Vector3::new(0.0, 0.0, radius);
                let oc = o - center;
                let (b, c) = (oc.dot(&d), oc.norm_squared() - radius * radius);
                let root = b * b - c * d.norm_squared();
                if root > 0.0 {
                    let t = (-b - root.sqrt()) / d.norm_squared();
                    if t > 0.0 {
                        hits.push((t, (oc + d * t) / radius));
                    }
                }
            }
            Form::Can(radius, height) => {
                tube(&mut hits, &o, &d, radius, 0.0, height, 1.0);
                disc(&mut hits, &o, &d, 0.0, radius, height);
            }
            Form::Cup(radius, height, wall) => {
                tube(&mut hits, &o, &d, radius, 0.0, height, 1.0);
                tube(&mut hits, &o, &d, radius - wall, wall, height, -1.0);
                disc(&mut hits, &o, &d, radius - wall, radius, height);
                disc(&mut hits, &o, &d, 0.0, radius - wall, wall);
            }
        }
        hits.into_iter()
            .filter(|(t, _)| *t > 1e-6)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(t, n)| (t, turn.inverse() * n))
    }
}

fn tube(
    hits: &mut Vec<(f64, Vector3<f64>)>,
    o: &Vector3<f64>,
    d: &Vector3<f64>,
    radius: f64,
    low: f64,
    high: f64,
    side: f64,
) {
    let (a, b, c) = (d.xy().norm_squared(), o.xy().dot(&d.xy()), o.xy().norm_squared() - radius * radius);
    let root = b * b - a * c;
    if root <= 0.0 || a < 1e-12 {
        return;
    }
    for t in [(-b - root.sqrt()) / a, (-b + root.sqrt()) / a] {
        let p = o + d * t;
        let normal = Vector3::new(p.x, p.y, 0.0) / radius * side;
        if t > 0.0 && p.z >= low && p.z <= high && normal.dot(d) < 0.0 {
            hits.push((t, normal));
        }
    }
}

fn disc(
    hits: &mut Vec<(f64, Vector3<f64>)>,
    o: &Vector3<f64>,
    d: &Vector3<f64>,
    inner: f64,
    outer: f64,
    z: f64,
) {
    let t = (z - o.z) / d.z;
    let p = o + d * t;
    if t > 0.0 && (inner..=outer).contains(&p.xy().norm()) {
        hits.push((t, Vector3::z()));
    }
}

pub const VGA: Intrinsics =
    Intrinsics { fx: 615.0, fy: 615.0, cx: 319.5, cy: 239.5, width: 640, height: 480 };
pub const QVGA: Intrinsics =
    Intrinsics { fx: 307.5, fy: 307.5, cx: 159.5, cy: 119.5, width: 320, height: 240 };

/// Camera at `eye` looking at `target`, image right side towards -y when it looks along +x.
pub fn looking(eye: [f64; 3], target: [f64; 3]) -> Isometry3<f64> {
    let (eye, target) = (Point3::from(eye), Point3::from(target));
    let z = (target - eye).normalize();
    let x = z.cross(&Vector3::z()).normalize();
    let y = z.cross(&x);
    let rotation = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, y, z]));
    Isometry3::from_parts(Translation3::from(eye.coords), UnitQuaternion::from_rotation_matrix(&rotation))
}

pub fn home() -> Isometry3<f64> {
    looking([0.15, 0.0, 0.55], [0.45, 0.0, 0.0])
}

/// A frame with a perfect detector; depth noise `sigma * z^2` in metres, and one pixel in a hundred a hole when there is noise.
pub fn render(
    things: &[Thing],
    camera: &Intrinsics,
    pose: &Isometry3<f64>,
    sigma: f64,
    seed: u64,
) -> Keyframe {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let lamp = Vector3::new(-0.3, 0.45, 1.0).normalize();
    let size = camera.width * camera.height;
    let mut color = vec![[168, 124, 78]; size];
    let mut depth = vec![0; size];
    let mut labels = vec![0; size];
    let eye = Point3::from(pose.translation.vector);
    for v in 0..camera.height {
        for u in 0..camera.width {
            let index = v * camera.width + u;
            let local =
                Vector3::new((u as f64 - camera.cx) / camera.fx, (v as f64 - camera.cy) / camera.fy, 1.0);
            let ray = pose.rotation * local;
            let floor = -eye.z / ray.z;
            let mut best = (floor, Vector3::z(), [168_u8, 124, 78], 0_u16);
            if floor <= 0.0 {
                best.0 = f64::MAX;
            }
            for (number, thing) in things.iter().enumerate() {
                if let Some((t, normal)) = thing.hit(&eye, &ray)
                    && t < best.0
                {
                    best = (t, normal, thing.color, number as u16 + 1);
                }
            }
            let (z, normal, base, label) = best;
            if z > 10.0 {
                continue;
            }
            let half: f64 = 0.5 + 0.5 * normal.dot(&lamp);
            let light = 0.55 + 0.45 * half * half;
            color[index] = base.map(|c: u8| (f64::from(c) * light) as u8);
            labels[index] = label;
            let noise: f64 = if sigma > 0.0 {
                // Sum of three: near enough to a normal distribution.
                (0..3).map(|_| rng.random_range(-1.0..1.0)).sum::<f64>()
            } else {
                0.0
            };
            if sigma == 0.0 || rng.random_range(0..100) > 0 {
                depth[index] = ((z + noise * sigma * z * z) * 1e3).round() as u16;
            }
        }
    }
    let (width, height) = (camera.width, camera.height);
    Keyframe {
        view: "home".to_owned(),
        stamp: 1.0,
        color: ColorImage { width, height, pixels: color },
        depth: DepthImage { width, height, millimetres: depth },
        labels: LabelImage { width, height, labels },
        detections: things
            .iter()
            .enumerate()
            .map(|(number, thing)| Detection {
                label: number as u16 + 1,
                class_name: thing.class.to_owned(),
                score: 0.9,
            })
            .collect(),
        parts: None,
        intrinsics: *camera,
        map_from_camera: *pose,
        robot: Vec::new(),
    }
}

/// Ten things, none touching another.
pub fn ten() -> Vec<Thing> {
    vec![
        thing("mug", Form::Cup(0.04, 0.09, 0.005), 0.35, 0.15, [196, 30, 36]),
        thing("bowl", Form::Cup(0.07, 0.05, 0.006), 0.5, -0.12, [232, 232, 228]),
        thing("can", Form::Can(0.033, 0.11), 0.42, 0.0, [34, 74, 188]),
        thing("apple", Form::Ball(0.035), 0.33, -0.06, [44, 140, 58]),
        thing("block", Form::Block([0.05, 0.05, 0.05]), 0.5, 0.09, [236, 204, 38]),
        thing("block", Form::Block([0.04, 0.06, 0.04]), 0.3, 0.05, [34, 74, 188]),
        thing("orange", Form::Ball(0.035), 0.56, 0.2, [232, 118, 20]),
        thing("bottle", Form::Can(0.03, 0.18), 0.6, 0.03, [28, 28, 30]),
        thing("box", Form::Block([0.08, 0.14, 0.05]), 0.42, -0.24, [112, 48, 150]),
        thing("cup", Form::Cup(0.035, 0.08, 0.004), 0.62, -0.05, [40, 184, 196]),
    ]
}

/// Applies `change` to the label of every labelled pixel as (label, u, v).
pub fn relabel(frame: &mut Keyframe, mut change: impl FnMut(u16, usize, usize) -> u16) {
    let width = frame.labels.width;
    for (index, label) in frame.labels.labels.iter_mut().enumerate() {
        if *label > 0 {
            *label = change(*label, index % width, index / width);
        }
    }
}
