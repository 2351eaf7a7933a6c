//! Boxes, grippers and the floor as lines.

use super::{light, vec3};
use crate::{Candidate, Rgb, Stage, Thing};
use kiss3d::color::Color;
use kiss3d::glamx::Vec3;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::OrientedBox;

/// A line of the scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) from: Vec3,
    pub(super) to: Vec3,
    pub(super) color: Color,
    /// Pixels.
    pub(super) width: f32,
}

/// Colour of what was clicked.
const SELECTED: Rgb = [255, 221, 64];
/// Colour of the chosen candidate, and of the others.
const CHOSEN: Rgb = [64, 224, 110];
const OTHER: Rgb = [120, 126, 138];
/// Colour of the box that the tool does not leave.
const FENCE: Rgb = [196, 110, 52];
/// Colour of the lines on the floor.
const FLOOR: Rgb = [58, 63, 73];
/// Colour of the way out of a part.
pub(super) const PART: Rgb = [240, 96, 220];
/// Length of the way out of a part, m.
const WAY_OUT: f64 = 0.06;
/// Length of the fingers of a candidate, m.
const FINGER: f64 = 0.04;
/// Distance of the lines on the floor, m.
const FLOOR_STEP: f64 = 0.25;
/// Most lines on the floor along one axis.
const FLOOR_LINES: i32 = 80;

/// From red for what is not sure at all to green for what is.
pub(super) fn sureness(sure: f64) -> Rgb {
    let sure = if sure.is_finite() { sure.clamp(0.0, 1.0) } else { 0.0 };
    [(235.0 - 165.0 * sure) as u8, (80.0 + 150.0 * sure) as u8, 90]
}

/// Every line of the stage.
pub(super) fn lines(stage: &Stage) -> Vec<Line> {
    let mut lines = Vec::new();
    floor(stage, &mut lines);
    for thing in stage.things.iter() {
        thing_lines(thing, stage.selected.as_ref() == Some(&thing.key), &mut lines);
    }
    for candidate in &stage.candidates {
        gripper(candidate, &mut lines);
    }
    if let Some(fence) = &stage.fence {
        let (low, high) = (Point3::from(fence.low()), Point3::from(fence.high()));
        let pose = Isometry3::from(nalgebra::center(&low, &high).coords);
        edges(&OrientedBox { pose, size: high - low }, FENCE, 1.0, &mut lines);
    }
    lines
}

fn push(lines: &mut Vec<Line>, ends: [Point3<f64>; 2], color: Rgb, width: f32) {
    let [from, to] = ends.map(|end| vec3(&end));
    lines.push(Line { from, to, color: light(color, 1.0), width });
}

fn thing_lines(thing: &Thing, is_selected: bool, lines: &mut Vec<Line>) {
    let (color, width) = if is_selected { (SELECTED, 3.0) } else { (sureness(thing.sure), 1.5) };
    edges(&thing.bounds, color, width, lines);
    for part in &thing.parts {
        if let Some(normal) = part.normal {
            push(lines, [part.at, part.at + normal * WAY_OUT], PART, 3.0);
        }
    }
}

/// The twelve edges of a box.
fn edges(bounds: &OrientedBox, color: Rgb, width: f32, lines: &mut Vec<Line>) {
    let corner = |index: usize| {
        let side = |bit: usize| if index & bit == 0 { -0.5 } else { 0.5 };
        bounds.pose * Point3::from(Vector3::new(side(1), side(2), side(4)).component_mul(&bounds.size))
    };
    for from in 0..8 {
        for bit in [1, 2, 4] {
            if from & bit == 0 {
                push(lines, [corner(from), corner(from | bit)], color, width);
            }
        }
    }
}

/// A fork: two fingers, what joins them, and the arm that they are on.
fn gripper(candidate: &Candidate, lines: &mut Vec<Line>) {
    let (color, width) = if candidate.chosen { (CHOSEN, 4.0) } else { (OTHER, 1.0) };
    let at = |y: f64, z: f64| candidate.stage_from_tool * Point3::new(0.0, y, z);
    let half = candidate.opening / 2.0;
    for ends in [
        [at(half, 0.0), at(half, -FINGER)],
        [at(-half, 0.0), at(-half, -FINGER)],
        [at(half, -FINGER), at(-half, -FINGER)],
        [at(0.0, -FINGER), at(0.0, -2.0 * FINGER)],
    ] {
        push(lines, ends, color, width);
    }
}

/// Lines at height 0, below everything that is there.
fn floor(stage: &Stage, lines: &mut Vec<Line>) {
    let Some((low, high)) = stage.extent() else { return };
    let first = |value: f64| ((value / FLOOR_STEP).floor() as i32).clamp(-FLOOR_LINES / 2, FLOOR_LINES / 2);
    let last = |value: f64| ((value / FLOOR_STEP).ceil() as i32).clamp(-FLOOR_LINES / 2, FLOOR_LINES / 2);
    let (x, y) = (first(low.x)..=last(high.x), first(low.y)..=last(high.y));
    let at = |x: i32, y: i32| Point3::new(f64::from(x) * FLOOR_STEP, f64::from(y) * FLOOR_STEP, 0.0);
    for line in x.clone() {
        push(lines, [at(line, *y.start()), at(line, *y.end())], FLOOR, 1.0);
    }
    for line in y {
        push(lines, [at(*x.start(), line), at(*x.end(), line)], FLOOR, 1.0);
    }
}
