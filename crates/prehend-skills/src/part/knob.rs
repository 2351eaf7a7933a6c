//! Knobs: held by what stands out of them most and turned in place.

use super::{PartError, PartFrame, PartRequest, Pivot, STRAIGHT, finite, span};
use nalgebra::{Point3, Unit, Vector3};
use prehend_scene::{PartEffect, PartMotion};

/// Depth of the top of a knob, in which the ridge that is held lies, metres.
const TOP: f64 = 0.012;
/// How far a knob is turned on, and the least that counts, radians.
const ON: [f64; 2] = [1.25, 0.75];
/// How far a knob is turned back until it stops, and the least that counts, radians.
const BACK: [f64; 2] = [2.6, 0.30];
/// Arm for which metres of the motion count, least and greatest: half the width of a knob.
const ARM: [f64; 2] = [0.012, 0.04];

/// The points of a knob that are held.
pub(super) fn held(part: &[Point3<f64>], normal: &Vector3<f64>) -> Vec<Point3<f64>> {
    let part = finite(part);
    let Some([_, top]) = span(&part, normal) else { return Vec::new() };
    part.into_iter().filter(|p| normal.dot(&p.coords) > top - TOP).collect()
}

/// The axis and the motion of a knob that is turned: clockwise seen from outside when the direction that was asked for is
/// into the thing, as a screw goes; else counterclockwise until it stops.
///
/// Errors: [`PartError::WrongSkill`] for another effect than turning.
pub(super) fn turn(request: &PartRequest<'_>, frame: &PartFrame) -> Result<(PartMotion, Pivot), PartError> {
    let (skill, effect) = (request.skill, request.effect);
    if effect != PartEffect::Turn || !effect.fits(skill) {
        return Err(PartError::WrongSkill { skill, effect });
    }
    let out = frame.normal;
    let back = request.direction.is_some_and(|direction| direction.dot(&out) > 0.0);
    let axis = if back { out } else { -out };
    let level = Unit::try_new(out.cross(&Vector3::x()), 0.1).unwrap_or(Vector3::y_axis());
    let part = finite(request.part);
    let wide = [level.into_inner(), out.cross(&level)]
        .iter()
        .filter_map(|side| span(&part, side))
        .map(|[low, high]| high - low)
        .fold(0.0, f64::max);
    let arm = (wide / 2.0).clamp(ARM[0], ARM[1]);
    let [to, least] = if back { BACK } else { ON };
    let motion = PartMotion {
        effect,
        anchor: frame.anchor,
        direction: axis.into_inner(),
        extent: to * arm,
        least: least * arm,
        corridor: STRAIGHT,
    };
    Ok((motion, Pivot { foot: frame.anchor, axis, arm }))
}
