//! What a robot sees of a thing and feels of its parts: clouds of the simulated depth camera, and the hand's way.

use super::things::Thing;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_articulation::{Look, Model, MovablePart, Observation, Shape, Track};
use prehend_geometry::{Intrinsics, backproject};
use prehend_sim::body::Owner;
use prehend_sim::scene::{CameraSpec, DepthNoise};
use prehend_sim::sensors::{Drawable, Mesh, RgbdCamera, Surface};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Farthest measurement, metres.
const RANGE: f64 = 3.0;
/// Views of one look.
const VIEWS: usize = 2;
/// How far the pose of a look is off: metres and radians, standard deviations.
const OFF: [f64; 2] = [0.0015, 0.002];
/// How far the hand's way is off at each pose, and how far it slips in all, metres.
const HAND: [f64; 2] = [0.0008, 0.003];
/// Share of the pixels at the edge of a mask that are given to the neighbour.
const SWAPPED: f64 = 0.3;

/// The camera: like a D435i at half its width.
fn intrinsics() -> Intrinsics {
    Intrinsics { fx: 307.0, fy: 307.0, cx: 159.5, cy: 119.5, width: 320, height: 240 }
}

/// Normally distributed, by twelve uniform numbers.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// A thing in front of a camera.
pub struct Scene<'a> {
    thing: &'a Thing,
    camera: RgbdCamera,
    eyes: Vec<Point3<f64>>,
    frame: u64,
}

/// A model as it is drawn, its links at their poses in the world, each in its colour.
pub fn drawables(model: &Model, poses: &[Isometry3<f64>], color: impl Fn(usize) -> [u8; 3]) -> Vec<Drawable> {
    let mesh = |shape: &Shape| match shape {
        Shape::Box(size) => Mesh::cuboid([size.x, size.y, size.z]),
        Shape::Cylinder { radius, length } => Mesh::cylinder(*radius, *length),
    };
    let links = model.links.iter().zip(poses).enumerate();
    let solids =
        links.flat_map(|(index, (link, pose))| link.solids.iter().map(move |solid| (index, pose, solid)));
    solids
        .map(|(link, pose, solid)| Drawable {
            mesh: Arc::new(mesh(&solid.shape)),
            world_from_mesh: pose * solid.pose,
            color: color(link),
            surface: Surface::Plain,
            owner: Owner::Object(link),
            region: 0,
        })
        .collect()
}

impl<'a> Scene<'a> {
    /// Before a thing, from somewhere in front of it.
    pub fn new(thing: &'a Thing, rng: &mut ChaCha8Rng, seed: u64) -> Self {
        let spec = CameraSpec { rate_hz: 10.0, depth_noise: Some(DepthNoise::default()), color_noise: 0.0 };
        let camera = RgbdCamera::new(intrinsics(), spec, seed);
        let first = thing.map_from_model * Point3::new(-1.0, 0.0, 0.0);
        let top = thing.model.links.iter().filter_map(|link| link.bounds()).map(|(_, high)| high.z);
        let high = thing.map_from_model.translation.z + top.fold(0.2, f64::max);
        let side = thing.map_from_model.rotation * Vector3::y();
        let back = rng.random_range(0.0..0.25);
        let eyes = (0..VIEWS).map(|view| {
            let aside = 0.28 * (view as f64 - 0.5) + rng.random_range(-0.1..0.1);
            let mut eye = first + side * aside - (thing.map_from_model.rotation * Vector3::x()) * back;
            eye.z = high + rng.random_range(0.1..0.35);
            eye
        });
        Self { eyes: eyes.collect(), camera, thing, frame: 0 }
    }

    /// Where it is looked at from.
    pub fn eye(&self) -> Point3<f64> {
        self.eyes[0]
    }

    /// One look with the joints at positions.
    ///
    /// Errors: in words, when a picture cannot be drawn.
    pub fn look(&mut self, positions: &[f64], rng: &mut ChaCha8Rng) -> Result<Look, String> {
        let map_from_link: Vec<Isometry3<f64>> =
            self.thing.model.poses(positions).iter().map(|pose| self.thing.map_from_model * pose).collect();
        let drawables = drawables(&self.thing.model, &map_from_link, |_| [180, 170, 160]);
        let mut look = Look { body: Vec::new(), parts: vec![Vec::new(); self.thing.model.joints.len()] };
        let target = self.thing.map_from_model * self.thing.model.links[0].middle();
        // The robot does not know exactly where its camera is.
        let shift = Vector3::from_fn(|_, _| OFF[0] * normal(rng));
        let turn = Vector3::from_fn(|_, _| OFF[1] * normal(rng));
        for eye in self.eyes.clone() {
            self.frame += 1;
            let flip = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI);
            let pose = Isometry3::face_towards(&eye, &target, &Vector3::z()) * flip;
            let drawn =
                self.camera.capture(&pose, &drawables, self.frame).map_err(|error| error.to_string())?;
            let believed = Translation3::from(eye.coords + shift)
                * UnitQuaternion::from_scaled_axis(turn)
                * pose.rotation;
            let grid = backproject::point_grid(&drawn.depth, &intrinsics(), &believed, RANGE);
            let width = intrinsics().width;
            for (index, point) in grid.points.iter().enumerate() {
                let Some(point) = point else { continue };
                let mut label = drawn.labels.labels[index];
                if rng.random_bool(SWAPPED) {
                    let other = if index % width + 1 < width { index + 1 } else { index - 1 };
                    label = drawn.labels.labels[other];
                }
                match usize::from(label) {
                    0 => {}
                    1 => look.body.push(*point),
                    part => {
                        if let Some(points) = look.parts.get_mut(part - 2) {
                            points.push(*point);
                        }
                    }
                }
            }
        }
        Ok(look)
    }

    /// The way of a hand that moves one joint from a position to another.
    pub fn track(&self, joint: usize, [from, to]: [f64; 2], stopped: bool, rng: &mut ChaCha8Rng) -> Track {
        const POSES: usize = 60;
        let moved = &self.thing.model.joints[joint];
        let hold = self.thing.holds[joint];
        let slip = Vector3::from_fn(|_, _| HAND[1] * normal(rng) / 3.0_f64.sqrt());
        let poses = (0..=POSES).map(|step| {
            let share = step as f64 / POSES as f64;
            let at = self.thing.map_from_model * moved.at(from + share * (to - from)) * hold;
            let off = Vector3::from_fn(|_, _| HAND[0] * normal(rng)) + slip * share;
            Isometry3::from_parts(Translation3::from(at.coords + off), UnitQuaternion::identity())
        });
        Track { part: joint, after: 0, poses: poses.collect(), stopped }
    }

    /// An observation without looks.
    pub fn observation(&self) -> Observation {
        let model = &self.thing.model;
        let part = |link: &prehend_articulation::Link| MovablePart {
            name: link.name.clone(),
            class: link.class.clone(),
        };
        Observation {
            name: model.links[0].name.clone(),
            class: model.links[0].class.clone(),
            parts: model.links[1..].iter().map(part).collect(),
            looks: Vec::new(),
            tracks: Vec::new(),
            eye: self.eye(),
        }
    }
}
