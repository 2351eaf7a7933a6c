//! Down to where things stand: from right above only the top of a thing is seen, and its box must not hang in the air; and what is too
//! low to stand out of the noise of the support is cut off from the foot of a thing.

use nalgebra::Point3;
use prehend_geometry::plane::Plane;
use prehend_geometry::{AxisBox, BoxHash, OrientedBox};
use prehend_scene::{Object, fixture};

/// Greatest angle between the view and the vertical at which the sides of a thing may be hidden by its top, radians.
const STEEP: f64 = 0.42;
/// Gap below a box that is not closed by what noise and voxels leave out, metres.
const GAP: f64 = 0.02;

/// The middle of a footprint: its share of the smaller side, the points that must be there, and how level they must be, metres.
const FLOOR_SHARE: f64 = 0.4;
const FLOOR_POINTS: usize = 8;
const LEVEL: f64 = 0.012;

/// Extends the boxes of the things seen at `stamp` to what they stand on, the support plane, or the top of a thing below their middle:
/// those seen from steeply above, and those whose foot is no farther above it than what `foot` gives for their distance from the
/// camera, metres.
pub(super) fn stand(
    objects: &mut [Object],
    camera: &Point3<f64>,
    plane: &Plane,
    stamp: f64,
    foot: impl Fn(f64) -> f64,
) {
    let boxes: Vec<OrientedBox> = objects.iter().map(|object| object.bounds).collect();
    let near = BoxHash::new(boxes.iter().map(AxisBox::around));
    for (place, object) in objects.iter_mut().enumerate() {
        let center = Point3::from(object.bounds.pose.translation.vector);
        let down = camera - center;
        let is_steep = down.xy().norm() < STEEP.tan() * down.z;
        // A drawer hangs in its cabinet.
        let hangs = fixture::is_panel(&object.class_name);
        let foot = foot(down.norm());
        if !is_steep && foot <= 0.0 || hangs || (object.last_seen - stamp).abs() > 1e-9 {
            continue;
        }
        let bottom = center.z - object.bounds.size.z / 2.0;
        let table = center.z - plane.distance(&center) / plane.normal.z.max(0.1);
        // What ends below the table is no ground.
        let column = AxisBox {
            low: Point3::new(center.x, center.y, table),
            high: Point3::new(center.x, center.y, (bottom + GAP).max(table)),
        };
        let below = near
            .touching(&column.grown(1e-6))
            .into_iter()
            .filter(|other| *other != place && is_under(&boxes[*other], &center, bottom));
        let ground = below.map(|other| boxes[other].top()).fold(table, f64::max);
        let gap = bottom - ground;
        // What is seen to be hollow down to a floor is no tall thing: it stands on something that it hides.
        if gap > 0.0 && gap <= foot || is_steep && gap > GAP && !has_floor(object) {
            let top = object.bounds.top();
            object.bounds.size.z = top - ground;
            object.bounds.pose.translation.z = (top + ground) / 2.0;
        }
    }
}

/// Whether the middle of a thing is a level floor below its rim, near the lowest of its points.
fn has_floor(object: &Object) -> bool {
    let center = object.bounds.pose.translation.vector;
    let reach = FLOOR_SHARE * object.bounds.size.x.min(object.bounds.size.y) / 2.0;
    let top = object.bounds.top();
    let mut heights: Vec<f64> = object
        .cloud
        .points
        .iter()
        .filter(|point| (point.coords - center).xy().norm() < reach)
        .map(|point| point.z)
        .collect();
    if heights.len() < FLOOR_POINTS {
        return false;
    }
    heights.sort_by(f64::total_cmp);
    let at = |share: f64| heights[((heights.len() - 1) as f64 * share) as usize];
    let lowest = center.z - object.bounds.size.z / 2.0;
    at(0.9) - at(0.1) < LEVEL && top - at(0.5) > LEVEL && at(0.5) - lowest < LEVEL
}

/// Whether a box lies under a point that is the middle of something whose bottom is at `bottom`.
fn is_under(bounds: &OrientedBox, center: &Point3<f64>, bottom: f64) -> bool {
    let local = bounds.pose.inverse_transform_point(center);
    let over = local.x.abs() <= bounds.size.x / 2.0 && local.y.abs() <= bounds.size.y / 2.0;
    over && bounds.top() <= bottom + GAP
}
