//! Shared test scenes; the tests stand beside what they test.

mod detecting;
mod noise;
mod pictures;

use super::*;
use crate::body::{ConvexPart, Frame, Owner, PartShape, RenderItem, object_parts};
use crate::scene::{CameraSpec, Color, DepthNoise, Shape};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::Intrinsics;

/// Objects on a table, seen by a camera.
pub(super) struct Setting {
    items: Vec<RenderItem>,
    frame: Frame,
}

impl Setting {
    /// A table with its top at z = 0.
    pub(super) fn table() -> Self {
        let mut setting = Self {
            items: Vec::new(),
            frame: Frame {
                time: 0.0,
                base_from_body: Vec::new(),
                base_from_camera: camera_above(0.45, 0.0, 0.6),
            },
        };
        let half = Vector3::new(0.4, 0.6, 0.02);
        setting.add(Owner::Table, vec![part(PartShape::Box { half }, [150, 120, 90])], at(0.45, 0.0, -0.02));
        setting
    }

    pub(super) fn add(&mut self, owner: Owner, parts: Vec<ConvexPart>, pose: Isometry3<f64>) {
        let body = self.frame.base_from_body.len();
        self.frame.base_from_body.push(pose);
        self.items.extend(parts.into_iter().map(|part| RenderItem { owner, body, part }));
    }

    /// Adds the next object, standing on the table.
    pub(super) fn object(&mut self, shape: Shape, color: [u8; 3], x: f64, y: f64, height: f64) -> usize {
        let index = self.items.iter().filter_map(|i| match i.owner {
            Owner::Object(index) => Some(index + 1),
            _ => None,
        });
        let index = index.max().unwrap_or(0);
        self.add(Owner::Object(index), object_parts(&shape, Color(color), None), at(x, y, height / 2.0));
        index
    }

    pub(super) fn drawables(&self) -> Vec<Drawable> {
        Stage::new(&self.items).unwrap().drawables(&self.frame).unwrap()
    }

    pub(super) fn capture(&self, spec: CameraSpec, seed: u64, frame: u64) -> Capture {
        self.capture_with(wrist_camera_intrinsics(), spec, seed, frame)
    }

    pub(super) fn capture_with(&self, k: Intrinsics, spec: CameraSpec, seed: u64, frame: u64) -> Capture {
        RgbdCamera::new(k, spec, seed)
            .capture(&self.frame.base_from_camera, &self.drawables(), frame)
            .unwrap()
    }
}

pub(super) fn part(shape: PartShape, color: [u8; 3]) -> ConvexPart {
    ConvexPart {
        shape,
        body_from_part: Isometry3::identity(),
        color: Color(color),
        only_seen: false,
        region: None,
    }
}

pub(super) fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

/// A camera that looks straight down.
pub(super) fn camera_above(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    Isometry3::from_parts(Translation3::new(x, y, z), turn)
}

/// A camera that looks from one point to another.
pub(super) fn camera_looking(eye: [f64; 3], target: [f64; 3]) -> Isometry3<f64> {
    overview::look_at(Point3::from(eye), Point3::from(target)).world_from_camera
}

pub(super) fn clean() -> CameraSpec {
    CameraSpec { rate_hz: 15.0, depth_noise: None, color_noise: 0.0 }
}

pub(super) fn noisy() -> CameraSpec {
    CameraSpec { rate_hz: 15.0, depth_noise: Some(DepthNoise::default()), color_noise: 2.0 }
}

#[test]
fn the_overview_shows_the_object() {
    let mut setting = Setting::table();
    setting.object(Shape::Box { size: [0.1; 3] }, [220, 20, 20], 0.4, 0.0, 0.1);
    let bytes = overview_png(&setting.drawables()).unwrap();
    let image = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert_eq!(image.dimensions(), (960, 720));
    let red = image.pixels().filter(|p| p.0[0] > 90 && p.0[1] < 40).count();
    assert!(red > 2000, "{red} red pixels");
}
