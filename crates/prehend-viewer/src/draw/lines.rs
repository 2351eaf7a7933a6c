//! Boxes, grippers and the floor as lines.

use super::{light, vec3};
use crate::{Candidate, Layer, Rgb, Stage, Standing, Thing};
use kiss3d::color::Color;
use kiss3d::glamx::Vec3;
use nalgebra::{Point3, Vector3};
use prehend_geometry::OrientedBox;
use prehend_motion::Shape;

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
/// Colour of the base where it is, of places from which it will look, of its way, and of areas.
const BASE: Rgb = [90, 225, 225];
const STOP: Rgb = [70, 120, 150];
const ROUTE: Rgb = [92, 160, 255];
const AREA: Rgb = [150, 120, 220];
/// Length of the arrow ahead of the base, and how far above the floor lines on it are, m.
const AHEAD: f64 = 0.35;
const LIFT: f64 = 0.01;
/// Half of the longest side from which a box of the planner has edges, m: of what is made of small boxes, edges would hide it.
const EDGED: f64 = 0.2;
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
    if let Some(fence) = stage.fence.as_ref().filter(|_| stage.shows(Layer::Fence)) {
        edges(fence, FENCE, 1.0, &mut lines);
    }
    for solid in stage.shapes.iter().filter(|_| stage.shows(Layer::Shapes)) {
        if let Shape::Box { half } = solid.shape
            && half.max() > EDGED
        {
            edges(
                &OrientedBox { pose: solid.stage_from_solid, size: half * 2.0 },
                solid.color,
                1.0,
                &mut lines,
            );
        }
    }
    room(stage, &mut lines);
    lines.retain(|line| line.from.is_finite() && line.to.is_finite());
    lines
}

/// The base where it is and where it will be, its way, and areas.
fn room(stage: &Stage, lines: &mut Vec<Line>) {
    for stand in &stage.stands {
        let (color, width) = match stand.standing {
            Standing::Now => (BASE, 3.0),
            Standing::Stop => (STOP, 2.0),
            Standing::Goal => (ROUTE, 3.0),
        };
        let at = |[x, y]: [f64; 2]| stand.stage_from_base * Point3::new(x, y, LIFT);
        for (index, corner) in stage.outline.iter().enumerate() {
            let next = stage.outline[(index + 1) % stage.outline.len()];
            push(lines, [at(*corner), at(next)], color, width);
        }
        // Which way is ahead.
        for ends in [
            [[0.0, 0.0], [AHEAD, 0.0]],
            [[AHEAD, 0.0], [0.7 * AHEAD, 0.2 * AHEAD]],
            [[AHEAD, 0.0], [0.7 * AHEAD, -0.2 * AHEAD]],
        ] {
            push(lines, ends.map(at), color, width);
        }
    }
    let lifted = |place: &Point3<f64>| place + Vector3::z() * LIFT;
    for ends in stage.route.windows(2) {
        push(lines, [lifted(&ends[0]), lifted(&ends[1])], ROUTE, 3.0);
    }
    for area in stage.areas.iter().filter(|_| stage.shows(Layer::Areas)) {
        for (index, corner) in area.outline.iter().enumerate() {
            let next = area.outline[(index + 1) % area.outline.len()];
            push(lines, [lifted(corner), lifted(&next)], AREA, 2.0);
        }
    }
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
