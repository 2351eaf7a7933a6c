//! Where a described thing is in a new map: there where it was, or where something of its size stands.

use crate::describe::{Iteration, Outcome};
use crate::gather::{parts_of, viewer};
use crate::model::{Joint, JointKind};
use crate::search::least;
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_geometry::OrientedBox;
use prehend_scene::{Object, ObjectKey, ObjectMap};

/// Points of a body, and of a part, that are compared.
const BODY: usize = 150;
const PART: usize = 60;
/// A point that is farther off counts as this far, metres: what is seen in a drawer is no fault of the model.
const FAR: f64 = 0.03;
/// Mean distance of points from the model at which it is there, metres: a camera is a few millimetres off, and boards are guessed.
const THERE: f64 = 0.012;
/// A point this far before a surface that is seen is in nothing, metres; less than half of a board.
const BEFORE: f64 = 0.004;
/// How much the sides of two views of one body differ, as a share and in metres.
const ALIKE: (f64, f64) = (0.2, 0.02);
/// Positions of a joint that are tried over its range, and again around the best.
const POSITIONS: i32 = 20;
/// How far beyond its limits a part may be found, as a share of their range: those that nobody felt are guessed.
const BEYOND: f64 = 0.2;
/// First steps of the search for a pose: metres and radians.
const STEPS: [f64; 3] = [0.01, 0.01, 0.02];

/// A described thing in a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its key there.
    pub thing: ObjectKey,
    /// Where its model is, in the frame of that map.
    pub map_from_model: Isometry3<f64>,
    /// For each part of the description its key there and the position of its joint; `None` for those that are not seen.
    pub parts: Vec<Option<(ObjectKey, f64)>>,
    /// Mean distance of what is seen from the model, metres.
    pub off: f64,
}

/// A part and its joint in the frame of a map: what is needed to move it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    /// Key in the map.
    pub key: ObjectKey,
    /// What it is called: drawer, door.
    pub class: String,
    /// How it moves.
    pub kind: JointKind,
    /// Direction of travel, or of the turn by the right hand.
    pub axis: Unit<Vector3<f64>>,
    /// A point on the axis; of a slide the middle of the part at position 0.
    pub origin: Point3<f64>,
    /// Lowest and highest position, metres or radians.
    pub limits: [f64; 2],
    /// Where it is now.
    pub position: f64,
    /// What became of its description.
    pub outcome: Outcome,
}

/// Where the described thing is that `whole` may be; `None` when it is another one. With `may_have_moved` it may stand elsewhere than it
/// was described.
pub(crate) fn place(
    known: &Iteration,
    whole: &Object,
    map: &ObjectMap,
    may_have_moved: bool,
) -> Option<Placed> {
    let panels = parts_of(whole, map);
    if panels.is_empty() || known.model.links.is_empty() {
        return None;
    }
    let eye = viewer(whole);
    let body = Seen::of(&whole.cloud.points, BODY, &eye);
    let seen: Vec<Seen> = panels.iter().map(|panel| Seen::of(&panel.cloud.points, PART, &eye)).collect();
    let poses = if may_have_moved { aligned(known, &whole.cloud.points) } else { vec![known.map_from_model] };
    let off_body = |pose: &Isometry3<f64>| off(known, 0, &Isometry3::identity(), pose, &body);
    let mut best: Option<(Isometry3<f64>, Assigned)> = None;
    for mut pose in poses {
        if may_have_moved {
            let shifted = |by: &[f64]| {
                Translation3::new(by[0], by[1], 0.0)
                    * pose
                    * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), by[2])
            };
            let (by, _) = least(&[0.0; 3], &STEPS, |by| {
                let at = shifted(by);
                off_body(&at) + Assigned::new(known, &at, &seen, false).off
            });
            pose = shifted(&by);
        }
        if off_body(&pose) > THERE {
            continue;
        }
        let found = Assigned::new(known, &pose, &seen, true);
        // Most of what moves in it must be what moved in it.
        if 2 * found.parts.iter().flatten().count() < panels.len() {
            continue;
        }
        if best.as_ref().is_none_or(|(_, least)| found.off < least.off) {
            best = Some((pose, found));
        }
    }
    let (map_from_model, found) = best?;
    let keyed =
        |part: &Option<(usize, f64)>| part.map(|(panel, position)| (panels[panel].key.clone(), position));
    Some(Placed {
        thing: whole.key.clone(),
        map_from_model,
        parts: found.parts.iter().map(keyed).collect(),
        off: found.off,
    })
}

/// The joints of a placed thing, of those parts that are seen and hang on one. `outcomes` are those of its parts.
pub(crate) fn mechanisms(known: &Iteration, placed: &Placed, outcomes: &[Outcome]) -> Vec<Mechanism> {
    let seen = placed.parts.iter().zip(outcomes).enumerate();
    seen.filter_map(|(part, (found, outcome))| {
        let (key, position) = found.clone()?;
        let joint = joint_of(known, part)?;
        let parent = known.model.poses(&[]).get(joint.parent).copied()?;
        let to_map = placed.map_from_model * parent;
        Some(Mechanism {
            key,
            class: known.model.links[joint.child].class.clone(),
            kind: joint.kind,
            axis: to_map.rotation * joint.axis,
            origin: to_map * joint.origin,
            limits: joint.limits,
            position,
            outcome: outcome.clone(),
        })
    })
    .collect()
}

fn joint_of(known: &Iteration, part: usize) -> Option<&Joint> {
    known.model.joint_of(known.links.get(part).copied().flatten()?)
}

/// Poses in which the box around a body is that of the model's, were it turned by quarters.
fn aligned(known: &Iteration, body: &[Point3<f64>]) -> Vec<Isometry3<f64>> {
    let Some(bounds) = OrientedBox::upright_around(body) else { return Vec::new() };
    let Some((low, high)) = known.model.links.first().and_then(|link| link.bounds()) else {
        return Vec::new();
    };
    let (size, middle) = (high - low, nalgebra::center(&low, &high));
    let alike = |a: f64, b: f64| (a - b).abs() <= ALIKE.0 * a.max(b) + ALIKE.1;
    (0..4)
        .filter_map(|quarter| {
            let turn = UnitQuaternion::from_axis_angle(
                &Vector3::z_axis(),
                f64::from(quarter) * std::f64::consts::FRAC_PI_2,
            );
            let there = (turn.inverse() * bounds.size).abs();
            let is_alike = (0..3).all(|axis| alike(there[axis], size[axis]));
            is_alike.then(|| bounds.pose * turn * Translation3::from(-middle.coords))
        })
        .collect()
}

/// Which panel is which part.
struct Assigned {
    /// For each part its panel and position.
    parts: Vec<Option<(usize, f64)>>,
    /// Mean distance over the panels, metres.
    off: f64,
}

impl Assigned {
    /// `fully` looks for the positions of joints; else closed parts alone are compared.
    fn new(known: &Iteration, pose: &Isometry3<f64>, seen: &[Seen], fully: bool) -> Self {
        let mut pairs = Vec::new();
        for (part, link) in known.links.iter().enumerate() {
            let (Some(link), Some(joint)) = (*link, joint_of(known, part)) else { continue };
            for (panel, points) in seen.iter().enumerate() {
                let at = |position: f64| off(known, link, &joint.at(position), pose, points);
                let (distance, position) = if fully { nearest(joint, at) } else { (at(0.0), 0.0) };
                pairs.push((distance, part, panel, position));
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut parts = vec![None; known.links.len()];
        let mut taken = vec![None; seen.len()];
        for (distance, part, panel, position) in pairs {
            if distance < THERE && parts[part].is_none() && taken[panel].is_none() {
                parts[part] = Some((panel, position));
                taken[panel] = Some(distance);
            }
        }
        let sum: f64 = taken.iter().map(|distance| distance.unwrap_or(FAR)).sum();
        Self { parts, off: sum / seen.len().max(1) as f64 }
    }
}

/// The position at which a distance is least, and that distance.
fn nearest(joint: &Joint, at: impl Fn(f64) -> f64) -> (f64, f64) {
    let [low, high] = match joint.kind {
        JointKind::Fixed => [0.0, 0.0],
        JointKind::Continuous => [-std::f64::consts::PI, std::f64::consts::PI],
        JointKind::Prismatic | JointKind::Revolute => {
            let beyond = BEYOND * (joint.limits[1] - joint.limits[0]);
            [joint.limits[0] - beyond, joint.limits[1] + beyond]
        }
    };
    let step = (high - low) / f64::from(POSITIONS);
    let least = |from: f64, step: f64| {
        let tried = (0..=POSITIONS).map(|index| from + step * f64::from(index));
        let tried = tried.map(|position| (at(position), position));
        tried.fold((f64::INFINITY, from), |best, next| if next.0 < best.0 { next } else { best })
    };
    let coarse = least(low, step);
    let fine = least(coarse.1 - step, 2.0 * step / f64::from(POSITIONS));
    if fine.0 < coarse.0 { fine } else { coarse }
}

/// Mean distance of points of the map from a link that its joint has brought to `parent_from_link`, metres; the parent is the root.
fn off(
    known: &Iteration,
    link: usize,
    parent_from_link: &Isometry3<f64>,
    map_from_model: &Isometry3<f64>,
    seen: &Seen,
) -> f64 {
    let to_link = (map_from_model * parent_from_link).inverse();
    let link = &known.model.links[link];
    let off = |[point, before]: &[Point3<f64>; 2]| {
        // What is seen is the near side of a board.
        let behind = (BEFORE - link.distance(&(to_link * before))).max(0.0);
        (link.distance(&(to_link * point)).abs() + behind).min(FAR)
    };
    let sum: f64 = seen.points.iter().map(off).sum();
    if seen.points.is_empty() { FAR } else { sum / seen.points.len() as f64 }
}

/// Points that were seen, each with one a little before it towards the eye.
struct Seen {
    points: Vec<[Point3<f64>; 2]>,
}

impl Seen {
    /// At most so many of them.
    fn of(points: &[Point3<f64>], most: usize, eye: &Point3<f64>) -> Self {
        let some = points.iter().step_by(points.len().div_ceil(most).max(1));
        let towards = |point: &Point3<f64>| (eye - point).try_normalize(1e-6).unwrap_or_default();
        Self { points: some.map(|point| [*point, point + towards(point) * BEFORE]).collect() }
    }
}
