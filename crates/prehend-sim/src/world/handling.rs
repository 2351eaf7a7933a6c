//! What the gripper did with each thing over time, for scores of progress.

use super::World;
use crate::body::{Owner, PartShape, RenderItem};
use nalgebra::{Isometry3, Point3, Vector3};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Steps from one look to the next: 20 a second.
pub(super) const EVERY: u64 = 12;
/// Seconds from one look to the next.
const PERIOD: f64 = EVERY as f64 * super::STEP;
/// The name of what belongs to no named region.
pub const BODY: &str = "body";

/// What the gripper did with a thing since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Handling {
    /// Least distance from the tool centre point to the box around the thing, metres; `None` before the first look.
    pub nearest: Option<f64>,
    /// A finger pressed on it.
    pub touched: bool,
    /// Seconds both fingers pressed on it, by the named region (`handle`, ...; [`BODY`] for the rest) between them.
    pub held: BTreeMap<String, f64>,
}

impl Handling {
    /// Seconds both fingers pressed on it.
    pub fn held_seconds(&self) -> f64 {
        self.held.values().sum()
    }

    /// The region it was held by longest.
    pub fn held_by(&self) -> Option<&str> {
        self.held.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(region, _)| region.as_str())
    }
}

impl World {
    /// Looks at what the gripper does now.
    pub(super) fn note_handling(&mut self) {
        let tool = self.tool_point();
        for index in 0..self.entities.len() {
            let entity = &self.entities[index];
            let local = self.entity_pose(entity).inverse_transform_point(&tool).coords;
            let distance = outside(&local, &entity.shape.half_extents());
            let touched = self.contacts.touched(Owner::Object(index));
            let region = self.is_held(index).then(|| self.region_at(index, &tool));
            let Some(handling) = self.handling.get_mut(index) else { continue };
            handling.nearest = Some(handling.nearest.map_or(distance, |nearest| nearest.min(distance)));
            handling.touched |= touched;
            if let Some(region) = region {
                *handling.held.entry(region).or_default() += PERIOD;
            }
        }
    }

    /// The tool centre point, between the pads.
    fn tool_point(&self) -> Point3<f64> {
        let tool = self.model.tcp_pose(self.arm_joints());
        let world = self.base_transform().map_or(tool, |map_from_base| map_from_base * tool);
        world.translation.vector.into()
    }

    /// The region of a thing that is nearest to a point.
    fn region_at(&self, entity: usize, point: &Point3<f64>) -> String {
        let poses = self.frame().base_from_body;
        let of_it = |item: &&RenderItem| item.owner == Owner::Object(entity) && !item.part.only_seen;
        let nearest = self.items.iter().filter(of_it).filter_map(|item| {
            let base_from_part = poses.get(item.body)? * item.part.body_from_part;
            Some((distance(&item.part.shape, &base_from_part, point), item))
        });
        let region =
            nearest.min_by(|a, b| a.0.total_cmp(&b.0)).and_then(|(_, item)| item.part.region.as_ref());
        region.map_or_else(|| BODY.to_owned(), |region| region.class.to_string())
    }
}

/// From a point to the surface of a part, 0 within; of a hull, to the box around it. Metres.
fn distance(shape: &PartShape, base_from_part: &Isometry3<f64>, point: &Point3<f64>) -> f64 {
    let local = base_from_part.inverse_transform_point(point).coords;
    match shape {
        PartShape::Box { half } => outside(&local, half),
        PartShape::Sphere { radius } => (local.norm() - radius).max(0.0),
        PartShape::Cylinder { radius, half_height } => {
            let beside = (local.x.hypot(local.y) - radius).max(0.0);
            beside.hypot((local.z.abs() - half_height).max(0.0))
        }
        PartShape::Capsule { radius, half_height } => {
            let along = local.z.clamp(-half_height, *half_height);
            ((local - Vector3::z() * along).norm() - radius).max(0.0)
        }
        PartShape::Hull(mesh) => {
            let first = mesh.vertices.first().map_or_else(Vector3::zeros, |vertex| vertex.coords);
            let (low, high) = mesh.vertices.iter().fold((first, first), |(low, high), vertex| {
                (low.inf(&vertex.coords), high.sup(&vertex.coords))
            });
            outside(&(local - (low + high) / 2.0), &((high - low) / 2.0))
        }
    }
}

/// From a point to a box about the origin, 0 within.
fn outside(point: &Vector3<f64>, half: &Vector3<f64>) -> f64 {
    (point.abs() - half).map(|way| way.max(0.0)).norm()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_to_parts() {
        let here = Isometry3::translation(0.0, 0.0, 1.0);
        let at = |x: f64, y: f64, z: f64| Point3::new(x, y, z);
        let cube = PartShape::Box { half: Vector3::repeat(0.1) };
        assert!((distance(&cube, &here, &at(0.4, 0.0, 1.5)) - 0.5).abs() < 1e-12);
        assert_eq!(distance(&cube, &here, &at(0.05, 0.0, 1.0)), 0.0);
        let can = PartShape::Cylinder { radius: 0.1, half_height: 0.2 };
        assert!((distance(&can, &here, &at(0.0, 0.3, 1.0)) - 0.2).abs() < 1e-12);
        assert!((distance(&can, &here, &at(0.0, 0.0, 1.5)) - 0.3).abs() < 1e-12);
        let pill = PartShape::Capsule { radius: 0.1, half_height: 0.2 };
        assert!((distance(&pill, &here, &at(0.0, 0.0, 1.5)) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn the_longest_hold_counts() {
        let held = BTreeMap::from([("handle".to_owned(), 2.0), (BODY.to_owned(), 0.5)]);
        let handling = Handling { nearest: Some(0.0), touched: true, held };
        assert_eq!(handling.held_by(), Some("handle"));
        assert_eq!(handling.held_seconds(), 2.5);
        assert_eq!(Handling::default().held_by(), None);
    }
}
