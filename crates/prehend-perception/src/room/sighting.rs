//! One mask of one frame as a thing in the room, and how much of the room two of them share.

use super::RoomSettings;
use nalgebra::{Point3, Vector3};
use prehend_geometry::voxel::VoxelGrid;
use prehend_scene::Object;
use std::sync::Arc;

/// Points of a sighting that are asked whether another one has them too.
const SAMPLE: usize = 250;
/// Cell in which the points of a sighting are kept for that, metres; about what is asked for.
const CELL: f64 = 0.04;

/// One mask of one frame.
#[derive(Clone)]
pub(super) struct Sighting {
    /// Counted up over the life of the map.
    pub(super) id: u64,
    /// What one frame shows of it; features included.
    pub(super) object: Arc<Object>,
    /// Number of the stop and of the frame.
    pub(super) stop: u64,
    pub(super) frame: u64,
    /// How far beyond a metre it was seen from, metres.
    pub(super) beyond: f64,
    /// Its points with heights stretched: a base is off on the floor, and not in height.
    sample: Arc<[Point3<f64>]>,
    grid: Arc<VoxelGrid>,
}

/// How much of each of two sightings lies where the other one is, [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shared {
    /// Of the first.
    pub(super) of_a: f64,
    /// Of the second.
    pub(super) of_b: f64,
    /// Share of the smaller one that lies in the box around the larger.
    pub(super) boxed: f64,
}

impl Sighting {
    pub(super) fn new(id: u64, object: Object, stop: u64, frame: u64, settings: &RoomSettings) -> Self {
        let stretched: Vec<Point3<f64>> = object
            .cloud
            .points
            .iter()
            .map(|point| Point3::new(point.x, point.y, settings.level * point.z))
            .collect();
        let step = stretched.len().div_ceil(SAMPLE).max(1);
        let sample = stretched.iter().step_by(step).copied().collect();
        let beyond = beyond(&object);
        let grid = Arc::new(VoxelGrid::new(&stretched, CELL));
        Self { id, object: Arc::new(object), stop, frame, beyond, sample, grid }
    }

    /// How far apart two points of one thing may be in this sighting and another, metres.
    fn reach(&self, other: &Self, settings: &RoomSettings) -> f64 {
        match self.stop == other.stop {
            // The base did not move: what is between them is noise of the camera.
            true => settings.noise,
            false => settings.drift + settings.heading * (self.beyond + other.beyond),
        }
    }

    /// How much two sightings share; `None` when they are too far from each other for any and in different frames.
    pub(super) fn shared(&self, other: &Self, settings: &RoomSettings) -> Option<Shared> {
        let reach = self.reach(other, settings);
        let (a, b) = (&self.object.bounds, &other.object.bounds);
        let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
        if apart > (a.size.norm() + b.size.norm()) / 2.0 + reach {
            // That one frame shows both is said of any two.
            let nothing = Shared { of_a: 0.0, of_b: 0.0, boxed: 0.0 };
            return (self.frame == other.frame).then_some(nothing);
        }
        let (small, large) = if a.size.norm() <= b.size.norm() { (self, other) } else { (other, self) };
        Some(Shared {
            of_a: other.grid.share_within(self.sample.iter(), reach),
            of_b: self.grid.share_within(other.sample.iter(), reach),
            boxed: small.share_in_box(large, reach, settings),
        })
    }

    /// Share of its points that lie in the box around another one, grown by what it may be off.
    fn share_in_box(&self, other: &Self, reach: f64, settings: &RoomSettings) -> f64 {
        let bounds = &other.object.bounds;
        let half = bounds.size / 2.0 + Vector3::new(reach, reach, reach / settings.level);
        let is_in = |point: &&Point3<f64>| {
            let point = Point3::new(point.x, point.y, point.z / settings.level);
            let local = bounds.pose.inverse_transform_point(&point);
            (0..3).all(|axis| local[axis].abs() <= half[axis])
        };
        self.sample.iter().filter(is_in).count() as f64 / self.sample.len().max(1) as f64
    }
}

/// The least distance from which a thing was seen, less one metre; at least 0, and 0 if it is not known. Metres.
pub(super) fn beyond(object: &Object) -> f64 {
    let middle = object.bounds.pose.translation.vector;
    let nearest = object
        .crops
        .iter()
        .map(|crop| (crop.map_from_camera.translation.vector - middle).norm())
        .fold(f64::INFINITY, f64::min);
    if nearest.is_finite() { (nearest - 1.0).max(0.0) } else { 0.0 }
}
