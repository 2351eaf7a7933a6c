//! Objects as solids for placement: do they touch, and what ground do they cover.

use super::REST_GAP;
use crate::body::collider::{shapes, to_pose};
use crate::body::{ConvexPart, PartShape, at};
use crate::scene::{FurnitureSpec, ObjectSpec};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rapier3d::parry::query::intersection_test;
use rapier3d::parry::shape::SharedShape;
use std::sync::Arc;

/// A thing with a pose, for touching tests in f32.
#[derive(Clone)]
pub(in crate::scene) struct Solid {
    pub(in crate::scene) pose: Isometry3<f64>,
    shape: SharedShape,
    vertices: Arc<[Point3<f64>]>,
    round: bool,
}

/// On its side: the own z axis becomes horizontal, the own x axis (a handle's side) stays so.
pub(in crate::scene) fn lying_rotation() -> UnitQuaternion<f64> {
    UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2)
}

impl Solid {
    pub(in crate::scene) fn new(object: &ObjectSpec, pose: Isometry3<f64>) -> Self {
        Self::of_parts(&object.parts(), pose, object.shape.is_round())
    }

    pub(in crate::scene) fn furniture(spec: &FurnitureSpec) -> Self {
        let part = ConvexPart::new(PartShape::Box { half: spec.size / 2.0 }, at(0.0, 0.0, 0.0), spec.color);
        Self::of_parts(&[part], spec.pose, false)
    }

    /// With its lowest point just above height `z`.
    pub(in crate::scene) fn standing(
        object: &ObjectSpec,
        x: f64,
        y: f64,
        z: f64,
        turn: UnitQuaternion<f64>,
    ) -> Self {
        let mut solid = Self::new(object, Isometry3::from_parts(Translation3::new(x, y, 0.0), turn));
        solid.pose.translation.z = z + REST_GAP - solid.bottom();
        solid
    }

    fn of_parts(parts: &[ConvexPart], pose: Isometry3<f64>, round: bool) -> Self {
        let vertices = parts
            .iter()
            .filter(|part| !part.only_seen)
            .flat_map(|part| {
                let mesh = part.shape.mesh();
                mesh.vertices.into_iter().map(|vertex| part.body_from_part * vertex)
            })
            .collect();
        Self { pose, shape: SharedShape::compound(shapes(parts)), vertices, round }
    }

    /// Height of its lowest point.
    pub(in crate::scene) fn bottom(&self) -> f64 {
        self.heights().fold(f64::INFINITY, f64::min)
    }

    /// Height of its highest point.
    pub(in crate::scene) fn top(&self) -> f64 {
        self.heights().fold(f64::NEG_INFINITY, f64::max)
    }

    fn heights(&self) -> impl Iterator<Item = f64> {
        self.vertices.iter().map(|vertex| (self.pose * vertex).z)
    }

    /// Whether it is wholly above the other or wholly below it.
    pub(super) fn above(&self, other: &Self) -> bool {
        self.bottom() >= other.top() || other.bottom() >= self.top()
    }

    /// Whether the two touch.
    pub(in crate::scene) fn intersects(&self, other: &Self) -> bool {
        // Compounds of known shapes: the test is always supported.
        intersection_test(&to_pose(&self.pose), &*self.shape, &to_pose(&other.pose), &*other.shape)
            .is_ok_and(|answer| answer.intersecting)
    }
}

/// The ground a thing covers: a rectangle, grown by a radius for round things.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footprint {
    center: [f64; 2],
    axis: [f64; 2],
    half: [f64; 2],
    radius: f64,
}

impl Footprint {
    pub(super) fn of(solid: &Solid) -> Self {
        let forward = solid.pose.rotation * Vector3::x();
        let length = forward.x.hypot(forward.y);
        let axis = if length > 1e-6 { [forward.x / length, forward.y / length] } else { [1.0, 0.0] };
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for vertex in solid.vertices.iter() {
            let point = solid.pose * vertex;
            let along = [point.x * axis[0] + point.y * axis[1], point.y * axis[0] - point.x * axis[1]];
            for side in 0..2 {
                low[side] = low[side].min(along[side]);
                high[side] = high[side].max(along[side]);
            }
        }
        let middle = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0];
        let half = [(high[0] - low[0]) / 2.0, (high[1] - low[1]) / 2.0];
        let center = [middle[0] * axis[0] - middle[1] * axis[1], middle[0] * axis[1] + middle[1] * axis[0]];
        let upright = (solid.pose.rotation * Vector3::z()).z.abs() > 0.99;
        if solid.round && upright {
            Self { center, axis, half: [0.0; 2], radius: half[0].max(half[1]) }
        } else {
            Self { center, axis, half, radius: 0.0 }
        }
    }

    /// Distance between two footprints, or less; negative when they overlap.
    pub(super) fn gap(&self, other: &Self) -> f64 {
        let offset = [other.center[0] - self.center[0], other.center[1] - self.center[1]];
        if self.half == [0.0; 2] && other.half == [0.0; 2] {
            return offset[0].hypot(offset[1]) - self.radius - other.radius;
        }
        let axes = [self.axis, [-self.axis[1], self.axis[0]], other.axis, [-other.axis[1], other.axis[0]]];
        let separation = axes
            .iter()
            .map(|axis| {
                let apart = (offset[0] * axis[0] + offset[1] * axis[1]).abs();
                apart - self.extent(axis) - other.extent(axis)
            })
            .fold(f64::NEG_INFINITY, f64::max);
        separation - self.radius - other.radius
    }

    fn extent(&self, axis: &[f64; 2]) -> f64 {
        let along = (axis[0] * self.axis[0] + axis[1] * self.axis[1]).abs();
        let across = (axis[1] * self.axis[0] - axis[0] * self.axis[1]).abs();
        along * self.half[0] + across * self.half[1]
    }

    /// Corners of the rectangle around it.
    pub(super) fn corners(&self) -> [[f64; 2]; 4] {
        let (hx, hy) = (self.half[0] + self.radius, self.half[1] + self.radius);
        [(hx, hy), (-hx, hy), (-hx, -hy), (hx, -hy)].map(|(u, v)| {
            [
                self.center[0] + u * self.axis[0] - v * self.axis[1],
                self.center[1] + u * self.axis[1] + v * self.axis[0],
            ]
        })
    }
}
