//! A laser scanner that looks at physics, and the map that a survey with all sensors would have made.

use super::World;
use crate::body::ConvexPart;
use crate::body::collider::to_vector;
use crate::sensors::dice;
use nalgebra::{Isometry3, Point2, Vector3};
use prehend_navigation::OccupancyGrid;
use prehend_navigation::grid::{GridError, Layout};
use rapier3d::prelude::{InteractionGroups, InteractionTestMode, QueryFilter, Ray};

/// A planar scanner in its own frame: x forward, z up, angles counter-clockwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaserSpec {
    /// Angle of the first beam, radians.
    pub angle_min: f64,
    /// Angle between beams, radians.
    pub angle_increment: f64,
    /// Number of beams.
    pub beams: usize,
    /// Nearest and farthest distance that is measured, metres.
    pub range: [f64; 2],
    /// Standard deviation of a distance, metres.
    pub sigma: f64,
}

impl Default for LaserSpec {
    /// 270 degrees in steps of half a degree, 8 m.
    fn default() -> Self {
        let step = 0.5f64.to_radians();
        Self { angle_min: -270.0 * step, angle_increment: step, beams: 541, range: [0.05, 8.0], sigma: 0.008 }
    }
}

/// Margin of unknown cells around a room, metres.
const MARGIN: f64 = 0.5;
/// Heights above the floor between which a thing is in the way of the robot, metres.
const IN_THE_WAY: [f64; 2] = [0.03, 1.5];

impl World {
    /// Distances of every beam, metres; infinite where nothing is in range. `None` without a laser.
    pub fn scan(&self, spec: &LaserSpec) -> Option<Vec<f32>> {
        let laser = self.link_poses()[self.model.laser()?];
        let groups = InteractionGroups::new(
            super::build::ROBOT,
            super::build::STATIC | super::build::OBJECT,
            InteractionTestMode::And,
        );
        let filter = QueryFilter { groups: Some(groups), ..QueryFilter::default() };
        let pipeline = self.physics.query_pipeline_with_filter(filter);
        let origin = to_vector(&laser.translation.vector);
        let beam = |index: usize| {
            let (sin, cos) = (spec.angle_min + spec.angle_increment * index as f64).sin_cos();
            let direction = laser.rotation * Vector3::new(cos, sin, 0.0);
            let ray = Ray::new(origin, to_vector(&direction));
            let hit = pipeline.cast_ray(&ray, spec.range[1] as f32, true)?;
            let bits = dice::hash(&[self.scene.seed, self.steps, index as u64]);
            // The sum of four even numbers is near enough to a normal one.
            let even = |part: u32| ((bits >> (16 * part)) & 0xffff) as f64 / 65535.0 - 0.5;
            let normal = (0..4).map(even).sum::<f64>() * 3.0f64.sqrt();
            let distance = f64::from(hit.1) + spec.sigma * normal;
            (distance >= spec.range[0]).then_some(distance as f32)
        };
        Some((0..spec.beams).map(|index| beam(index).unwrap_or(f32::INFINITY)).collect())
    }

    /// What a survey of the room would have found, in `map`: fixed things up to the robot's height, seen from above; unknown outside the
    /// walls. `None` without a room.
    ///
    /// Errors: [`GridError`] for a resolution that gives no grid.
    pub fn survey(&self, resolution: f64) -> Option<Result<OccupancyGrid, GridError>> {
        let room = self.scene.scene.room.as_ref()?;
        let cells = |length: f64| ((length + 2.0 * MARGIN) / resolution).ceil().max(0.0) as usize;
        let layout = Layout {
            width: cells(room.size[0]),
            height: cells(room.size[1]),
            resolution,
            origin: [-MARGIN, -MARGIN],
        };
        Some(OccupancyGrid::filled(layout, -1).map(|mut grid| {
            let [x, y] = room.size;
            grid.fill_polygon(&[[0.0, 0.0], [x, 0.0], [x, y], [0.0, y]], 0);
            for wall in &self.scene.scene.furniture {
                let half = wall.size / 2.0;
                let shape = crate::body::PartShape::Box { half };
                let part = ConvexPart::new(shape, Isometry3::identity(), wall.color);
                fill_part(&mut grid, &part, &wall.pose, resolution);
            }
            for object in self.scene.objects.iter().filter(|object| object.spec.fixed) {
                for part in object.parts().iter().filter(|part| !part.only_seen) {
                    fill_part(&mut grid, part, &object.pose, resolution);
                }
            }
            grid
        }))
    }
}

/// Marks the ground below a part that is in the way; thinner parts than a cell mark the cells they touch.
fn fill_part(grid: &mut OccupancyGrid, part: &ConvexPart, pose: &Isometry3<f64>, resolution: f64) {
    let vertices: Vec<_> =
        part.shape.mesh().vertices.iter().map(|vertex| pose * (part.body_from_part * vertex)).collect();
    let low = vertices.iter().map(|vertex| vertex.z).fold(f64::INFINITY, f64::min);
    let high = vertices.iter().map(|vertex| vertex.z).fold(f64::NEG_INFINITY, f64::max);
    if high < IN_THE_WAY[0] || low > IN_THE_WAY[1] {
        return;
    }
    let corners = hull(vertices.iter().map(|vertex| Point2::new(vertex.x, vertex.y)).collect());
    grid.fill_polygon(&corners, 100);
    // The outline itself: cells that it touches without covering their centres.
    for (index, a) in corners.iter().enumerate() {
        let b = corners[(index + 1) % corners.len()];
        let steps = ((b[0] - a[0]).hypot(b[1] - a[1]) / (0.5 * resolution)).ceil().max(1.0) as usize;
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            // Just inside, so that a side on a cell's border does not take the next cell.
            let middle = corners.iter().fold([0.0; 2], |sum, c| [sum[0] + c[0], sum[1] + c[1]]);
            let count = corners.len() as f64;
            let at = [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
            let inward = |axis: usize| at[axis] + 1e-4 * (middle[axis] / count - at[axis]).signum();
            grid.set([inward(0), inward(1)], 100);
        }
    }
}

/// Convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(mut points: Vec<Point2<f64>>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let turns =
        |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for point in points {
            while chain.len() >= 2 && turns(chain[chain.len() - 2], chain[chain.len() - 1], point) <= 1e-12 {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut lower = half(&mut points.iter().map(|point| [point.x, point.y]));
    lower.extend(half(&mut points.iter().rev().map(|point| [point.x, point.y])));
    lower
}
