//! Pushing with the tips of the closed gripper: along the motion, or with the hand tilted when there is no room for that.

use super::clear::Surroundings;
use super::{PartCandidate, PartError, PartMotion, PartRequest, Pivot, finite, pivot, rotation};
use nalgebra::{Isometry3, Point3, Rotation3, Translation3, Unit, Vector3};
use prehend_scene::PartEffect;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Tilts of the hand from the motion, radians, towards coming from above.
const TILTS: [f64; 5] = [0.0, 0.44, 0.79, 1.13, 1.45];
/// Turns of the hand about its approach, radians.
const ROLLS: [f64; 8] =
    [0.0, FRAC_PI_2, FRAC_PI_4, -FRAC_PI_4, PI, -FRAC_PI_2, 3.0 * FRAC_PI_4, -3.0 * FRAC_PI_4];
/// Places on the part relative to its middle, as shares of its half size across the motion.
const PLACES: [[f64; 2]; 7] =
    [[0.0, 0.0], [0.0, 0.4], [0.0, -0.4], [0.35, 0.0], [-0.35, 0.0], [0.35, 0.35], [-0.35, 0.35]];
/// The same on a lever that is thrown over: high on it, where it goes farthest.
const ON_LEVER: [[f64; 2]; 3] = [[0.0, 0.4], [0.0, 0.1], [0.0, 0.6]];
/// Distance of the tips before the approach, metres.
const STANDOFF: f64 = 0.05;
/// Stops before the contact at which the gripper must be free, metres.
const STOPS: [f64; 3] = [0.006, 0.025, 0.05];
/// Rank lost by a push on whose way the hand seems to meet something.
const MEETS: f64 = 0.3;
/// Farthest a panel goes in that is thought of, metres.
const PANEL_WAY: f64 = 0.15;
/// Shares of a push that closes at which the gripper must be free of what stays where it is.
const AHEAD: [f64; 3] = [0.3, 0.55, 0.8];
/// What the two closed fingers touch around the middle of their tips, metres.
const TIP_RADIUS: f64 = 0.014;
/// What a door is taken to be thick at most when only its far side was seen, metres.
const PANEL: f64 = 0.016;
/// Least distance of the tips' lowest edge to the support, metres.
const SUPPORT: f64 = 0.004;

pub(super) fn poses(
    request: &PartRequest<'_>,
    motion: &PartMotion,
    turns_about: Option<&Pivot>,
    around: &Surroundings,
) -> Result<Vec<PartCandidate>, PartError> {
    let push = Unit::try_new(motion.direction, 1e-9).ok_or(PartError::Unusable { what: "the direction" })?;
    let part = finite(request.part);
    let all: Vec<Point3<f64>> = part.iter().copied().chain(finite(request.object)).collect();
    // Two axes across the push: level, and the one that rises.
    let level = Unit::try_new(Vector3::z().cross(&push), 0.1).unwrap_or(Vector3::y_axis());
    let rise = push.cross(&level);
    let rise = if rise.z < 0.0 { -rise } else { rise };
    let (Some(side), Some(height)) = (super::span(&part, &level), super::span(&part, &rise)) else {
        return Err(PartError::TooFewPoints { points: part.len() });
    };
    let boxes = request.gripper.boxes(0.0);
    let (mut found, mut tried) = (Vec::new(), 0);
    let far_side = turns_about.is_some() && request.normal.dot(&push) > 0.0;
    let places = turns_about.and_then(|_| pivot::places(request, &level));
    let usual = if request.is_lever { ON_LEVER.to_vec() } else { PLACES.to_vec() };
    let places = places.unwrap_or(usual);
    for (index, place) in places.iter().enumerate() {
        let at = |[low, high]: [f64; 2], share: f64| (low + high) / 2.0 + share * (high - low) / 2.0;
        let (u, v) = (at(side, place[0]), at(height, place[1]));
        let Some(depth) = first_touched(&all, &push, (&level, u), (&rise, v)) else { continue };
        let touch = Point3::from(
            level.into_inner() * u
                + rise * v
                + push.into_inner() * (depth - if far_side { PANEL } else { 0.0 }),
        );
        let (motion, pivot) = match (turns_about, &request.hinge) {
            (Some(about), Some(hinge)) => match pivot::swing(motion, about, hinge, &touch) {
                Ok((motion, pivot)) => (motion, Some(pivot)),
                Err(_) => continue,
            },
            _ => (*motion, None),
        };
        let (mut here, before) = (0, found.len());
        for tilt in TILTS {
            let approach = tilted(&push, &level, tilt);
            for roll in ROLLS {
                let Some(turn) = rotation(&approach, &level).or_else(|| rotation(&approach, &rise)) else {
                    continue;
                };
                let turn = turn * nalgebra::UnitQuaternion::from_axis_angle(&Vector3::z_axis(), roll);
                let tool = touch - approach * request.gripper.tip_beyond_tool;
                // Of a tilted hand an edge of the tips touches first: stand that much farther off.
                let edge = 0.5 * request.gripper.pad_width * tilt.sin();
                let tool = tool - push.into_inner() * edge;
                let contact = Isometry3::from_parts(Translation3::from(tool.coords), turn);
                tried += 1;
                here += 1;
                let back = |d: f64| Translation3::from(push.into_inner() * -d) * contact;
                // What is pressed gives way before the tips would be at the support.
                let room = (tool.z - SUPPORT - request.support_height) / (-push.z).max(1e-6);
                let extent = if push.z < -0.1 { motion.extent.min(room) } else { motion.extent };
                if extent < motion.least || !STOPS.iter().all(|stop| around.free(&back(*stop), &boxes, true))
                {
                    continue;
                }
                let far = extent.min(PANEL_WAY);
                let ahead = |share: &f64| Translation3::from(push.into_inner() * (share * far)) * contact;
                // What a panel goes into may be known badly: the motion is checked once more when it is planned.
                let meets = motion.effect == PartEffect::Close
                    && !AHEAD.iter().all(|share| around.free_of_others(&ahead(share), &boxes));
                let reach = request.reach.comfort(tool.x, tool.y);
                let score = if meets { -MEETS } else { 0.0 } + 0.40 * (1.0 - tilt / PI) + 0.25 * reach
                    - 0.04 * index as f64
                    - 0.01 * (roll.abs() / PI);
                found.push(PartCandidate {
                    before: back(STANDOFF),
                    contact,
                    opening: 0.0,
                    width: 0.0,
                    motion: PartMotion { anchor: touch, extent, ..motion },
                    pivot,
                    turning: true,
                    measured: None,
                    score,
                });
            }
        }
        // The middle is best; other places are for when it is not free.
        if found.len() >= before + here / 4 && found.len() > 6 {
            break;
        }
    }
    if found.is_empty() { Err(PartError::NoRoom { tried }) } else { Ok(found) }
}

/// Where along the push the tips first touch something at a place across it; `None` where nothing was seen.
fn first_touched(
    points: &[Point3<f64>],
    push: &Unit<Vector3<f64>>,
    (level, u): (&Unit<Vector3<f64>>, f64),
    (rise, v): (&Vector3<f64>, f64),
) -> Option<f64> {
    let mut depths: Vec<f64> = points
        .iter()
        .filter(|p| (level.dot(&p.coords) - u).hypot(rise.dot(&p.coords) - v) < TIP_RADIUS)
        .map(|p| push.dot(&p.coords))
        .collect();
    depths.sort_by(f64::total_cmp);
    // The very first may be a flying pixel.
    depths.get((depths.len() / 12).min(2)).copied()
}

/// The push turned by `tilt` towards straight down; about the level axis when it is down already.
fn tilted(push: &Unit<Vector3<f64>>, level: &Unit<Vector3<f64>>, tilt: f64) -> Vector3<f64> {
    let turned = |angle: f64| Rotation3::from_axis_angle(level, angle) * push.into_inner();
    let (a, b) = (turned(tilt), turned(-tilt));
    if a.z <= b.z { a } else { b }
}
