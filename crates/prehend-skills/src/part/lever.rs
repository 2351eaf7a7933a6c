//! Levers: one that lies flat is turned about the upright axis at its inner end (a faucet), one that stands is thrown over to
//! its other side (a toggle switch). ASP III-C pulls along a straight line only.

use super::clear::Surroundings;
use super::{
    PartCandidate, PartError, PartFrame, PartMotion, PartRequest, Pivot, STRAIGHT, finite, pull, push, span,
};
use nalgebra::{Point3, Unit, Vector3};
use prehend_geometry::LevelSpread;
use prehend_scene::{PartEffect, Skill};

/// Depth under its highest point in which a lever that lies flat is, metres.
const FLAT: f64 = 0.020;
/// Height above the lowest point in which the base of a thing lies, metres.
const BASE: f64 = 0.025;
/// Least ratio of the sides of a lever that lies flat.
const LONG: f64 = 1.8;
/// How far from its inner end the axis of a lever may be, metres.
const AXIS_WITHIN: f64 = 0.03;
/// Least arm at which a lever is turned, metres.
const SHORTEST: f64 = 0.02;
/// Share of the arm of its outer half at which a lever is still held: nearer to the axis it needs too much force.
const OUTER: f64 = 0.5;
/// How far a lever is turned on, and the least that counts, radians.
const ON: [f64; 2] = [1.15, 0.60];
/// How far a lever is turned back until it stops, and the least that counts, radians.
const OFF: [f64; 2] = [1.70, 0.30];
/// Share of its height at both ends of a standing lever that its tip and its foot are.
const END: f64 = 0.3;
/// Least lean of a standing lever that says to which side it is to be thrown, metres.
const LEAN: f64 = 0.006;
/// What a standing lever is pushed beyond its other side, metres, and the share of the way to there that counts.
const BEYOND: f64 = 0.030;
const THROWN: f64 = 0.35;

/// Ways to turn or throw a lever.
///
/// Errors: [`PartError::WrongSkill`] for another effect than turning; [`PartError::NoNormal`] when neither an inner end nor
/// a lean shows; else as for pulling and pushing.
pub(super) fn candidates(
    request: &PartRequest<'_>,
    frame: &PartFrame,
) -> Result<Vec<PartCandidate>, PartError> {
    let (skill, effect) = (request.skill, request.effect);
    if effect != PartEffect::Turn || !effect.fits(skill) {
        return Err(PartError::WrongSkill { skill, effect });
    }
    if skill == Skill::TipPush {
        let motion = throw(request, frame)?;
        let around = Surroundings::new(request, frame);
        return push::poses(request, &motion, None, &around);
    }
    let bar = flat_top(request.part);
    let request = &PartRequest { part: &bar, ..*request };
    let (frame, pivot) = swing(request)?;
    // Against the normal is clockwise, as a screw goes in.
    let off = request.direction.is_some_and(|direction| direction.dot(&frame.normal) < 0.0);
    let angles = if off { OFF } else { ON };
    let motion = about(&pivot, angles, &frame.anchor, &frame.anchor)?.0;
    let around = Surroundings::new(request, &frame);
    let mut found = pull::poses(request, &frame, &motion, &around)?;
    let tried = found.len();
    let arm_of =
        |candidate: &PartCandidate| pivot.arm_of(&Point3::from(candidate.contact.translation.vector));
    found.retain(|candidate| arm_of(candidate) > OUTER * pivot.arm);
    if found.is_empty() {
        return Err(PartError::NoRoom { tried });
    }
    for candidate in &mut found {
        let at = Point3::from(candidate.contact.translation.vector);
        let (motion, pivot) = about(&pivot, angles, &frame.anchor, &at)?;
        (candidate.motion, candidate.pivot) = (motion, Some(pivot));
    }
    Ok(found)
}

/// Points of the upper layer of a part.
fn flat_top(part: &[Point3<f64>]) -> Vec<Point3<f64>> {
    let part = finite(part);
    let Some([_, top]) = span(&part, &Vector3::z()) else { return Vec::new() };
    part.into_iter().filter(|p| p.z > top - FLAT).collect()
}

/// How a lever that lies flat lies, and its axis: upright, at the end that is over the base of its thing.
fn swing(request: &PartRequest<'_>) -> Result<(PartFrame, Pivot), PartError> {
    let bar = request.part;
    let (axis, ratio) = level_axis(bar).ok_or(PartError::NoNormal)?;
    if ratio < LONG {
        return Err(PartError::NoNormal);
    }
    let across = Vector3::z().cross(&axis);
    let (Some([low, high]), Some([near, far])) = (span(bar, &axis), span(bar, &across)) else {
        return Err(PartError::TooFewPoints { points: bar.len() });
    };
    let object = finite(request.object);
    let floor = object.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let base: Vec<Point3<f64>> = object.into_iter().filter(|p| p.z < floor + BASE).collect();
    let [first, last] = span(&base, &axis).ok_or(PartError::NoNormal)?;
    let over = (first + last) / 2.0;
    let inner_is_low = (low - over).abs() < (high - over).abs();
    let place = match inner_is_low {
        true => over.clamp(low, low + AXIS_WITHIN),
        false => over.clamp(high - AXIS_WITHIN, high),
    };
    let height = bar.iter().map(|p| p.z).sum::<f64>() / bar.len() as f64;
    let at = |along: f64| Point3::from(axis * along + across * ((near + far) / 2.0) + Vector3::z() * height);
    let off = request.direction.is_some_and(|direction| direction.z < 0.0);
    let upright = if off { -Vector3::z_axis() } else { Vector3::z_axis() };
    // Held in the outer half: a short arm needs much force.
    let outer = if inner_is_low { high } else { low };
    let anchor = at(0.4 * place + 0.6 * outer);
    let foot = at(place);
    let pivot = Pivot { foot, axis: upright, arm: (anchor - foot).norm().max(SHORTEST) };
    let along = Unit::new_normalize(axis);
    let pull =
        pivot.tangent(&anchor).and_then(|tangent| Unit::try_new(tangent, 1e-6)).ok_or(PartError::NoNormal)?;
    let frame = PartFrame { anchor, normal: Vector3::z_axis(), pull, long: Some(along), face: None };
    Ok((frame, pivot))
}

/// The motion of a lever that is held at `held`, and the pivot with the arm of that place.
fn about(
    pivot: &Pivot,
    [to, least]: [f64; 2],
    anchor: &Point3<f64>,
    held: &Point3<f64>,
) -> Result<(PartMotion, Pivot), PartError> {
    let direction = pivot.tangent(held).ok_or(PartError::Unusable { what: "the place on the lever" })?;
    let arm = pivot.arm_of(held).max(SHORTEST);
    let corridor = STRAIGHT + arm * (1.0 - to.cos());
    let motion = PartMotion {
        effect: PartEffect::Turn,
        anchor: *anchor,
        direction,
        extent: to * arm,
        least: least * arm,
        corridor,
    };
    Ok((motion, Pivot { arm, ..*pivot }))
}

/// The motion of a standing lever: level, from the side it leans to, to the other one.
fn throw(request: &PartRequest<'_>, frame: &PartFrame) -> Result<PartMotion, PartError> {
    let part = finite(request.part);
    let [low, high] = span(&part, &Vector3::z()).ok_or(PartError::TooFewPoints { points: part.len() })?;
    let band = END * (high - low);
    let middle = |keep: &dyn Fn(f64) -> bool| {
        let kept: Vec<&Point3<f64>> = part.iter().filter(|p| keep(p.z)).collect();
        let sum = kept.iter().fold(Vector3::zeros(), |sum, p| sum + p.coords);
        (!kept.is_empty()).then(|| Point3::from(sum / kept.len() as f64))
    };
    let (Some(tip), Some(foot)) = (middle(&|z| z > high - band), middle(&|z| z < low + band)) else {
        return Err(PartError::TooFewPoints { points: part.len() });
    };
    let lean = Vector3::new(tip.x - foot.x, tip.y - foot.y, 0.0);
    if lean.norm() < LEAN {
        return Err(PartError::NoNormal);
    }
    let direction = -lean.normalize();
    // The middle of the tip to the middle of the foot is not all of its height.
    let way = 2.0 * lean.norm() / (1.0 - END);
    let extent = way + BEYOND;
    Ok(PartMotion {
        effect: PartEffect::Turn,
        anchor: Point3::new(frame.anchor.x, frame.anchor.y, tip.z),
        direction,
        extent,
        least: THROWN * way,
        corridor: STRAIGHT + 0.5 * extent,
    })
}

/// Level direction along which points spread most, and the ratio of that spread to the one across.
fn level_axis(points: &[Point3<f64>]) -> Option<(Vector3<f64>, f64)> {
    if points.len() < super::LEAST_POINTS {
        return None;
    }
    let spread = LevelSpread::of(points.iter())?;
    Some((spread.along, (spread.most / spread.least.max(1e-12)).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::request;
    use super::*;

    /// A patch of points between two corners, 3 mm apart.
    fn block(low: [f64; 3], high: [f64; 3]) -> Vec<Point3<f64>> {
        let steps = |axis: usize| ((high[axis] - low[axis]) / 0.003).ceil() as usize;
        let at = |axis: usize, i: usize| {
            low[axis] + (high[axis] - low[axis]) * i as f64 / steps(axis).max(1) as f64
        };
        let mut points = Vec::new();
        for i in 0..=steps(0) {
            for j in 0..=steps(1) {
                for k in 0..=steps(2) {
                    points.push(Point3::new(at(0, i), at(1, j), at(2, k)));
                }
            }
        }
        points
    }

    #[test]
    fn a_flat_lever_turns_about_the_end_over_its_base() {
        let bar = block([0.493, 0.10, 0.18], [0.507, 0.19, 0.19]);
        let mut object = block([0.475, 0.075, 0.0], [0.525, 0.125, 0.012]);
        object.extend(block([0.38, 0.09, 0.12], [0.5, 0.11, 0.14]));
        object.extend(&bar);
        for (direction, sign) in [(Vector3::z(), 1.0), (-Vector3::z(), -1.0)] {
            let request = PartRequest {
                normal: Vector3::z(),
                direction: Some(direction),
                is_lever: true,
                ..request(Skill::HookPull, PartEffect::Turn, &bar, &object)
            };
            let found = super::super::part_candidates(&request).expect("ways");
            for candidate in &found {
                let pivot = candidate.pivot.expect("turns");
                assert!((pivot.foot - Point3::new(0.5, 0.1, 0.185)).norm() < 0.012, "{:?}", pivot.foot);
                assert!(pivot.axis.z * sign > 0.9);
                let at = Point3::from(candidate.contact.translation.vector);
                assert!(at.y > 0.12, "{at}");
                // Counterclockwise from +y is towards the robot.
                assert!(candidate.motion.direction.x * sign < -0.9, "{:?}", candidate.motion.direction);
            }
        }
    }

    #[test]
    fn a_standing_lever_is_thrown_to_the_side_it_does_not_lean_to() {
        let mut lever = Vec::new();
        for step in 0..=20 {
            let height = 0.04 + 0.0022 * f64::from(step);
            let x = 0.42 - 0.0012 * f64::from(step);
            lever.extend(block([x - 0.006, -0.008, height], [x + 0.006, 0.008, height + 0.001]));
        }
        let mut object = block([0.38, -0.04, 0.0], [0.46, 0.04, 0.04]);
        object.extend(&lever);
        let throw = |lever: &[Point3<f64>]| {
            let request = PartRequest {
                normal: Vector3::z(),
                is_lever: true,
                ..request(Skill::TipPush, PartEffect::Turn, lever, &object)
            };
            super::super::part_candidates(&request)
        };
        let motion = throw(&lever).expect("ways")[0].motion;
        assert!(motion.direction.x > 0.95, "{:?}", motion.direction);
        assert!(motion.extent > 0.05 && motion.least < 0.05, "{motion:?}");
        // One that stands upright says nothing.
        assert_eq!(throw(&block([0.414, -0.008, 0.04], [0.426, 0.008, 0.08])), Err(PartError::NoNormal));
    }
}
