//! What the planner's scene shall hold.

use crate::body::Body;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::OrientedBox;
use prehend_scene::ObjectMap;
use std::collections::BTreeMap;

/// Key of the table; objects of the map have a number behind theirs.
pub(crate) const TABLE: &str = "table";
/// How far the table's box lies below the measured plane, metres: pads may come within 4 mm of it.
const TABLE_DROP: f64 = 0.003;

/// Solids for the planner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// Boxes in the base frame, by object.
    pub objects: BTreeMap<String, Vec<OrientedBox>>,
    /// Boxes in the tool frame of what is held; empty when nothing is.
    pub held: Vec<OrientedBox>,
}

impl World {
    /// The world with a table of this height under it, metres.
    pub fn on_table(height: f64, body: &Body) -> Self {
        let (low, high) = (body.workspace_low, body.workspace_high);
        let thick = 0.05;
        // The base itself stands where the table would begin: leave it room.
        let near = low[0].max(0.12).max(body.chassis_edge);
        let table = OrientedBox {
            pose: Isometry3::translation(
                (near + high[0] + 0.3) / 2.0,
                (low[1] + high[1]) / 2.0,
                height - TABLE_DROP - thick / 2.0,
            ),
            size: Vector3::new(high[0] + 0.3 - near, high[1] - low[1] + 0.6, thick),
        };
        Self { objects: BTreeMap::from([(TABLE.to_owned(), vec![table])]), held: Vec::new() }
    }

    /// The same world without some objects.
    pub fn without(&self, keys: &[&str]) -> Self {
        let mut world = self.clone();
        world.objects.retain(|key, _| !keys.contains(&key.as_str()));
        world
    }

    /// The same world with this in the hand.
    pub fn holding(&self, boxes: &[OrientedBox]) -> Self {
        Self { held: boxes.to_vec(), ..self.clone() }
    }
}

/// Height of the support under the middle of a cloud.
pub(crate) fn support(map: &ObjectMap, points: &[Point3<f64>]) -> f64 {
    let n = points.len().max(1) as f64;
    let x = points.iter().map(|p| p.x).sum::<f64>() / n;
    let y = points.iter().map(|p| p.y).sum::<f64>() / n;
    map.support_height(x, y)
}
