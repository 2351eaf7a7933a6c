//! Pinching and hooking: the pads close across a bar or a knob, from the front, from above, or between.

use super::clear::Surroundings;
use super::{PartCandidate, PartError, PartFrame, PartMotion, PartRequest, finite, rotation, span};
use nalgebra::{Isometry3, Point3, Rotation3, Translation3, Unit, Vector3};
use prehend_scene::Skill;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Turns of the approach about the bar, radians: 0 is straight at the face, positive comes from above (or from the left
/// of an upright bar).
const TURNS: [f64; 8] = [0.0, 0.44, -0.44, FRAC_PI_4, -FRAC_PI_4, 1.13, FRAC_PI_2, -1.13];
/// Ways to lay the closing line of a part that is no bar, radians about its normal.
const ROLLS: [f64; 4] = [0.0, FRAC_PI_2, FRAC_PI_4, -FRAC_PI_4];
/// Positions along a bar relative to its middle, metres.
const ALONG: [f64; 5] = [0.0, 0.018, -0.018, 0.036, -0.036];
/// How far the tips reach beyond the middle of the part, metres; a stub that stands on a board is held nearer to its end.
const DEPTHS: [f64; 6] = [0.013, 0.009, 0.006, 0.002, -0.002, -0.006];
/// Least length of the part between the pads, along the approach, metres.
const HELD: f64 = 0.006;
/// Room on both sides of the part together before the pads close, metres.
const ROOMS: [f64; 3] = [0.030, 0.018, 0.012];
/// Distance of the tool before the approach, metres.
const STANDOFF: f64 = 0.08;
/// Stops on the approach at which the gripper must be free, metres before the contact.
const STOPS: [f64; 3] = [0.0, 0.03, 0.08];
/// An approach that looks up by more than this comes out of the table, sine.
const UPWARD: f64 = 0.35;

pub(super) fn poses(
    request: &PartRequest<'_>,
    frame: &PartFrame,
    motion: &PartMotion,
    around: &Surroundings,
) -> Result<Vec<PartCandidate>, PartError> {
    let part = finite(request.part);
    let mut found = Vec::new();
    let (mut tried, mut thinnest) = (0, f64::INFINITY);
    for bar in bars(frame) {
        let Some([low, high]) = span(&part, &bar) else { continue };
        let middle = (low + high) / 2.0;
        let room = ((high - low) / 2.0 - 0.008).max(0.0);
        for along in ALONG.into_iter().filter(|a| a.abs() <= room) {
            let slab: Vec<Point3<f64>> = part
                .iter()
                .filter(|p| (bar.dot(&p.coords) - middle - along).abs() < request.gripper.pad_width * 0.7)
                .copied()
                .collect();
            if slab.len() < 3 {
                continue;
            }
            // What is turned in place is held straight from outside.
            let turns = if request.is_knob { &TURNS[..1] } else { &TURNS[..] };
            for turn in turns.iter().copied() {
                let Some(grip) = Grip::across(frame, &bar, turn, &slab, middle + along) else { continue };
                thinnest = thinnest.min(grip.width);
                if grip.width > request.gripper.usable_width {
                    continue;
                }
                tried += 1;
                if let Some(candidate) = fit(request, motion, around, &grip) {
                    let off_centre = along.abs() / 0.04;
                    found.push(PartCandidate { score: candidate.score - 0.10 * off_centre, ..candidate });
                }
            }
        }
    }
    if !found.is_empty() {
        Ok(found)
    } else if thinnest > request.gripper.usable_width && thinnest.is_finite() {
        Err(PartError::TooThick { thickness: thinnest, usable: request.gripper.usable_width })
    } else {
        Err(PartError::NoRoom { tried })
    }
}

/// Directions the pads may lie along: the bar's, or several for a knob.
fn bars(frame: &PartFrame) -> Vec<Unit<Vector3<f64>>> {
    if let Some(long) = frame.long {
        return vec![long];
    }
    let out = if frame.normal.z.abs() > 0.7 { frame.normal } else { frame.pull };
    // Level first: with an upright normal that is across the robot's view.
    let level = Vector3::z().cross(&out);
    let level = Unit::try_new(level, 0.1).unwrap_or(Vector3::y_axis());
    ROLLS
        .map(|roll| Unit::new_normalize(Rotation3::from_axis_angle(&out, roll) * level.into_inner()))
        .to_vec()
}

/// A way to close on a slab of the part.
struct Grip {
    centre: Point3<f64>,
    approach: Vector3<f64>,
    closing: Vector3<f64>,
    width: f64,
    /// Half the part's thickness along the approach, metres.
    half_depth: f64,
}

impl Grip {
    fn across(
        frame: &PartFrame,
        bar: &Unit<Vector3<f64>>,
        turn: f64,
        slab: &[Point3<f64>],
        along: f64,
    ) -> Option<Self> {
        let out = if frame.normal.z.abs() > 0.7 { frame.normal } else { frame.pull };
        let out = (out.into_inner() - bar.into_inner() * bar.dot(&out)).try_normalize(1e-3)?;
        // Turned so that a positive angle comes from above where there is an above.
        let side = bar.cross(&out);
        let side = if side.z < -1e-6 { -side } else { side };
        let approach = -(out * turn.cos() + side * turn.sin());
        if approach.z > UPWARD {
            return None;
        }
        let closing = approach.cross(bar);
        let [c0, c1] = span(slab, &closing)?;
        let [d0, d1] = span(slab, &approach)?;
        let centre = bar.into_inner() * along + closing * ((c0 + c1) / 2.0) + approach * ((d0 + d1) / 2.0);
        // Posts that carry a bar reach back to the face: what is held is the bar in front of them.
        let half_depth = ((d1 - d0) / 2.0).min(0.02);
        let centre = centre + approach * (d0 + half_depth - (d0 + d1) / 2.0);
        Some(Self { centre: Point3::from(centre), approach, closing, width: c1 - c0, half_depth })
    }
}

/// The first depth and opening at which the gripper is free.
fn fit(
    request: &PartRequest<'_>,
    motion: &PartMotion,
    around: &Surroundings,
    grip: &Grip,
) -> Option<PartCandidate> {
    let max = request.gripper.max_opening;
    let rotation = rotation(&grip.approach, &grip.closing)?;
    for depth in DEPTHS {
        let beyond = depth.max(grip.half_depth.min(depth + 0.004));
        if beyond + grip.half_depth < HELD {
            break;
        }
        let tip = grip.centre + grip.approach * beyond;
        let tool = tip - grip.approach * request.gripper.tip_beyond_tool;
        let contact = Isometry3::from_parts(Translation3::from(tool.coords), rotation);
        for room in ROOMS {
            let opening = (grip.width + room).min(max);
            let boxes = request.gripper.boxes(opening);
            let free = STOPS
                .iter()
                .all(|stop| around.free(&PartCandidate::withdrawn(&contact, *stop), &boxes, true));
            if !free {
                continue;
            }
            let score = score(request, motion, grip, depth, room);
            let before = PartCandidate::withdrawn(&contact, STANDOFF);
            return Some(PartCandidate {
                before,
                contact,
                opening,
                width: grip.width,
                motion: *motion,
                pivot: None,
                turning: true,
                measured: None,
                score,
            });
        }
    }
    None
}

fn score(request: &PartRequest<'_>, motion: &PartMotion, grip: &Grip, depth: f64, room: f64) -> f64 {
    // A hook comes from above, a pinch from the front: what the skill is named for comes first.
    let wanted = if request.skill == Skill::HookPull { -Vector3::z() } else { -motion.direction };
    let away = grip.approach.angle(&wanted) / PI;
    let reach = request.reach.comfort(grip.centre.x, grip.centre.y);
    let hold = (depth + grip.half_depth) / 0.02;
    0.45 * (1.0 - away) + 0.2 * hold.min(1.0) + 0.15 * (room / 0.03).min(1.0) + 0.2 * reach
}
