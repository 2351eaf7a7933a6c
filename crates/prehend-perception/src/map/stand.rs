//! Down to where things stand: from right above only the top of a thing is seen, and its box must not hang in the air; and what is too
//! low to stand out of the noise of the support is cut off from the foot of a thing.

use nalgebra::Point3;
use prehend_geometry::plane::Plane;
use prehend_geometry::{AxisBox, BoxHash, OrientedBox};
use prehend_scene::{Object, furniture};
use serde::{Deserialize, Serialize};

/// When a box goes down to what its thing stands on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StandSettings {
    /// Greatest angle between the view and the vertical at which the sides of a thing may be hidden by its top, radians.
    pub steep: f64,
    /// Gap below a box that is not closed by what noise and voxels leave out, metres.
    pub gap: f64,
    /// Size of the middle of a footprint, where a hollow thing has its floor, as a share of the smaller side.
    pub floor: f64,
    /// Fewest points of a floor.
    pub floor_points: usize,
    /// How level a floor is, metres.
    pub level: f64,
}

impl Default for StandSettings {
    fn default() -> Self {
        Self { steep: 0.42, gap: 0.02, floor: 0.4, floor_points: 8, level: 0.012 }
    }
}

/// Extends the boxes of the things seen at `stamp` to what they stand on, the support plane, or the top of a thing below their middle:
/// those seen from steeply above, and those whose foot is no farther above it than what `foot` gives for their distance from the
/// camera, metres.
pub(super) fn stand(
    objects: &mut [Object],
    camera: &Point3<f64>,
    plane: &Plane,
    stamp: f64,
    settings: &StandSettings,
    foot: impl Fn(f64) -> f64,
) {
    let boxes: Vec<OrientedBox> = objects.iter().map(|object| object.bounds).collect();
    let near = BoxHash::new(boxes.iter().map(AxisBox::around));
    for (place, object) in objects.iter_mut().enumerate() {
        let center = Point3::from(object.bounds.pose.translation.vector);
        let down = camera - center;
        let is_steep = down.xy().norm() < settings.steep.tan() * down.z;
        // A drawer hangs in its cabinet.
        let hangs = furniture::is_panel(&object.class_name);
        let foot = foot(down.norm());
        if !is_steep && foot <= 0.0 || hangs || (object.last_seen - stamp).abs() > 1e-9 {
            continue;
        }
        let bottom = center.z - object.bounds.size.z / 2.0;
        let table = center.z - plane.distance(&center) / plane.normal.z.max(0.1);
        // What ends below the table is no ground.
        let column = AxisBox {
            low: Point3::new(center.x, center.y, table),
            high: Point3::new(center.x, center.y, (bottom + settings.gap).max(table)),
        };
        let below = near
            .touching(&column.grown(1e-6))
            .into_iter()
            .filter(|other| *other != place && is_under(&boxes[*other], &center, bottom + settings.gap));
        let ground = below.map(|other| boxes[other].top()).fold(table, f64::max);
        let gap = bottom - ground;
        // What is seen to be hollow down to a floor is no tall thing: it stands on something that it hides.
        if gap > 0.0 && gap <= foot || is_steep && gap > settings.gap && !has_floor(object, settings) {
            let top = object.bounds.top();
            object.bounds.size.z = top - ground;
            object.bounds.pose.translation.z = (top + ground) / 2.0;
        }
    }
}

/// Whether the middle of a thing is a level floor below its rim, near the lowest of its points.
fn has_floor(object: &Object, settings: &StandSettings) -> bool {
    let center = object.bounds.pose.translation.vector;
    let reach = settings.floor * object.bounds.size.x.min(object.bounds.size.y) / 2.0;
    let top = object.bounds.top();
    let mut heights: Vec<f64> = object
        .cloud
        .points
        .iter()
        .filter(|point| (point.coords - center).xy().norm() < reach)
        .map(|point| point.z)
        .collect();
    if heights.len() < settings.floor_points {
        return false;
    }
    heights.sort_by(f64::total_cmp);
    let at = |share: f64| heights[((heights.len() - 1) as f64 * share) as usize];
    let lowest = center.z - object.bounds.size.z / 2.0;
    let level = settings.level;
    at(0.9) - at(0.1) < level && top - at(0.5) > level && at(0.5) - lowest < level
}

/// Whether a box lies under a point, with its top no higher than `highest`.
fn is_under(bounds: &OrientedBox, center: &Point3<f64>, highest: f64) -> bool {
    let local = bounds.pose.inverse_transform_point(center);
    let over = local.x.abs() <= bounds.size.x / 2.0 && local.y.abs() <= bounds.size.y / 2.0;
    over && bounds.top() <= highest
}
