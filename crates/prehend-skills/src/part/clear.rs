//! Whether the gripper is free at a part: boxes against the points that were seen, in full 3-D.
//!
//! Columns filled down to the support, as for grasps from above, would wall up the room below a handle that sticks out.

use super::{PartFrame, PartRequest, finite};
use crate::gripper::ToolBox;
use nalgebra::{Isometry3, Point3, Vector3};

/// Points farther from the part than the hand reaches do not matter, metres.
const NEAR: f64 = 0.26;
/// Least distance of the gripper to what was seen, metres.
const MARGIN: f64 = 0.002;
/// Points inside that may be flying pixels.
const STRAYS: usize = 2;
/// Least height of any part of the gripper above the support, metres.
const ABOVE_SUPPORT: f64 = 0.004;
/// Distance within which points of two objects are of one, metres.
const TWICE: f64 = 0.012;
/// How far behind its face the object is taken as solid, and how far beyond its edge, metres.
const FACE_LEAVE: f64 = 0.001;

/// What the gripper must not touch.
pub(super) struct Surroundings {
    points: Vec<Point3<f64>>,
    support: f64,
    /// The face behind the part: outward normal, offset, and the box of its object along the face and up.
    face: Option<(Vector3<f64>, f64, [[f64; 2]; 2])>,
    /// Points that are the part itself, which the tips are meant to touch.
    part: Vec<Point3<f64>>,
    /// Points of other things, which stay where they are when the object moves.
    others: Vec<Point3<f64>>,
}

impl Surroundings {
    pub(super) fn new(request: &PartRequest<'_>, frame: &PartFrame) -> Self {
        let near = |p: &Point3<f64>| (p - frame.anchor).norm() < NEAR;
        let part = finite(request.part);
        let of_part = |p: &Point3<f64>| part.iter().any(|q| (p - q).norm_squared() < 0.004 * 0.004);
        let mut points: Vec<Point3<f64>> =
            finite(request.object).into_iter().filter(|p| near(p) && !of_part(p)).collect();
        let mut others: Vec<Point3<f64>> = request.neighbours.iter().flat_map(|n| finite(n)).collect();
        others.retain(|p| near(p) && !of_part(p));
        points.extend(&others);
        // What is seen twice goes with the object.
        let own: Vec<Point3<f64>> = finite(request.object).into_iter().filter(near).collect();
        others.retain(|p| own.iter().all(|q| (p - q).norm_squared() > TWICE * TWICE));
        // What stands on a top has room on all sides; a flank of its own is no wall behind it.
        let upright = frame.face.filter(|_| frame.normal.z.abs() <= 0.7);
        let face = upright.and_then(|offset| {
            let out = frame.pull.into_inner();
            let across = Vector3::z().cross(&out);
            let object = finite(request.object);
            let span = |along: &Vector3<f64>| super::span(&object, along);
            Some((out, offset, [span(&across)?, span(&Vector3::z())?]))
        });
        Self { points, support: request.support_height, face, part, others }
    }

    /// Whether boxes of a tool frame at `map_from_tool` are free of all that stays where it is when the object moves.
    pub(super) fn free_of_others(&self, map_from_tool: &Isometry3<f64>, boxes: &[ToolBox]) -> bool {
        let tool_from_map = map_from_tool.inverse();
        let inside = |p: &&Point3<f64>| {
            let local = tool_from_map * **p;
            boxes.iter().any(|b| (0..3).all(|i| local[i] > b.low[i] && local[i] < b.high[i]))
        };
        self.others.iter().filter(inside).take(STRAYS + 1).count() <= STRAYS
    }

    /// Whether boxes of a tool frame at `map_from_tool` touch nothing; with `part` not even the part itself.
    pub(super) fn free(&self, map_from_tool: &Isometry3<f64>, boxes: &[ToolBox], part: bool) -> bool {
        if boxes.iter().flat_map(corners).any(|corner| !self.corner_free(&(map_from_tool * corner))) {
            return false;
        }
        let tool_from_map = map_from_tool.inverse();
        let inside = |p: &&Point3<f64>| {
            let local = tool_from_map * **p;
            boxes
                .iter()
                .any(|b| (0..3).all(|i| local[i] > b.low[i] - MARGIN && local[i] < b.high[i] + MARGIN))
        };
        let own = if part { self.part.iter().filter(inside).take(STRAYS + 1).count() } else { 0 };
        own <= STRAYS && self.points.iter().filter(inside).take(STRAYS + 1).count() <= STRAYS
    }

    fn corner_free(&self, corner: &Point3<f64>) -> bool {
        if corner.z < self.support + ABOVE_SUPPORT {
            return false;
        }
        match &self.face {
            None => true,
            Some((out, offset, [side, height])) => {
                let across = Vector3::z().cross(out).dot(&corner.coords);
                let behind = out.dot(&corner.coords) < offset + FACE_LEAVE;
                let within =
                    (side[0]..=side[1]).contains(&across) && corner.z <= height[1] && corner.z >= height[0];
                !(behind && within)
            }
        }
    }
}

fn corners(b: &ToolBox) -> impl Iterator<Item = Point3<f64>> {
    let (low, high) = (b.low, b.high);
    (0..8).map(move |i| {
        let pick = |axis: usize| if i >> axis & 1 == 0 { low[axis] } else { high[axis] };
        Point3::new(pick(0), pick(1), pick(2))
    })
}
