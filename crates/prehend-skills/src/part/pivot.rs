//! Parts that turn: the axis a door, a lever or a knob is thought to turn about, and how far it is turned (ASP III-C pulls
//! along a straight line only).

use super::{LONGEST, PartError, PartFrame, PartRequest, STRAIGHT, finite, span};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_scene::furniture::Hinge;
use prehend_scene::{PartEffect, PartMotion};
use serde::{Deserialize, Serialize};

/// To which angle a door is opened, and the least at which it counts as open, radians.
const OPEN_TO: [f64; 2] = [1.20, 0.85];
/// Least change of a door's angle that is a motion, radians.
const LEAST_SWING: f64 = 0.2;
/// A door is pushed this much beyond where it should be closed, metres: the guess of its angle is rough.
const BEYOND: f64 = 0.04;
/// Share of what is left of a door's way that closing it must take.
const CLOSED_BY: f64 = 0.6;
/// How far the arc may leave its first direction, as a share of its length: more is not permitted.
const BULGE: f64 = 0.6;
/// Nearest to the axis that a door is pushed, metres.
const SHORTEST_ARM: f64 = 0.05;

/// An axis that a part is turned about. Map frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pivot {
    /// A point on the axis.
    pub foot: Point3<f64>,
    /// The axis; the part shall turn counterclockwise about it.
    pub axis: Unit<Vector3<f64>>,
    /// Arm for which the metres of the motion count, metres; positive.
    pub arm: f64,
}

impl Pivot {
    /// Distance of a point from the axis, metres.
    pub fn arm_of(&self, point: &Point3<f64>) -> f64 {
        let offset = point - self.foot;
        (offset - self.axis.into_inner() * offset.dot(&self.axis)).norm()
    }

    /// Where a body that turns with the part is after `distance` metres of the motion; with `turning` it keeps its place on
    /// the part, without it only its position goes along.
    pub fn advance(&self, map_from_body: &Isometry3<f64>, distance: f64, turning: bool) -> Isometry3<f64> {
        let turn = UnitQuaternion::from_axis_angle(&self.axis, distance / self.arm);
        let about = Translation3::from(self.foot.coords);
        let moved = about * turn * about.inverse() * map_from_body;
        if turning { moved } else { Isometry3::from_parts(moved.translation, map_from_body.rotation) }
    }

    /// Angle swept about the axis from one point to another, radians in (-pi, pi].
    pub fn swept(&self, from: &Point3<f64>, to: &Point3<f64>) -> f64 {
        let (a, b) = (from - self.foot, to - self.foot);
        a.cross(&b).dot(&self.axis).atan2(a.dot(&b) - a.dot(&self.axis) * b.dot(&self.axis))
    }

    /// Unit direction in which a point of the part goes first; `None` on the axis.
    pub fn tangent(&self, at: &Point3<f64>) -> Option<Vector3<f64>> {
        self.axis.cross(&(at - self.foot)).try_normalize(1e-6)
    }
}

/// The axis of a part that is opened, closed or turned, seen from where it is touched; `None` for what goes straight.
pub(super) fn find(request: &PartRequest<'_>, frame: &PartFrame) -> Option<Pivot> {
    let hinge = request.hinge?;
    match request.effect {
        PartEffect::Open => Some(of_door(&hinge, hinge.opens, &frame.anchor)),
        PartEffect::Close => Some(of_door(&hinge, -hinge.opens, &frame.anchor)),
        PartEffect::Turn | PartEffect::Press | PartEffect::TakeOut | PartEffect::Hold => None,
    }
}

fn of_door(hinge: &Hinge, axis: Unit<Vector3<f64>>, at: &Point3<f64>) -> Pivot {
    let pivot = Pivot { foot: hinge.foot, axis, arm: 1.0 };
    Pivot { arm: pivot.arm_of(at).max(SHORTEST_ARM), ..pivot }
}

/// The motion of a door that is touched at `at`, and the pivot with the arm for that place.
///
/// Errors: [`PartError::Unusable`] on the axis itself.
pub(super) fn swing(
    motion: &PartMotion,
    pivot: &Pivot,
    hinge: &Hinge,
    at: &Point3<f64>,
) -> Result<(PartMotion, Pivot), PartError> {
    let direction = pivot.tangent(at).ok_or(PartError::Unusable { what: "the place on the door" })?;
    let pivot = of_door(hinge, pivot.axis, at);
    let (angle, least) = match motion.effect {
        PartEffect::Close => {
            (hinge.angle + BEYOND / pivot.arm, (CLOSED_BY * hinge.angle).max(0.02 / pivot.arm))
        }
        _ => ((OPEN_TO[0] - hinge.angle).max(LEAST_SWING), (OPEN_TO[1] - hinge.angle).max(LEAST_SWING)),
    };
    let extent = (angle * pivot.arm).min(LONGEST);
    // Of a circle the hand leaves the tangent by so much.
    let bulge = pivot.arm * (1.0 - (extent / pivot.arm).min(std::f64::consts::PI).cos());
    let corridor = STRAIGHT + bulge.min(BULGE * extent);
    let least = (least * pivot.arm).min(extent);
    Ok((PartMotion { anchor: *at, direction, extent, least, corridor, ..*motion }, pivot))
}

/// Where a door can be pushed shut: places along it as shares of the way from its middle to its edges, the free edge first.
pub(super) fn places(request: &PartRequest<'_>, level: &Unit<Vector3<f64>>) -> Option<Vec<[f64; 2]>> {
    let hinge = request.hinge?;
    let [low, high] = span(&finite(request.part), level)?;
    let foot = level.dot(&hinge.foot.coords);
    let free = if (low - foot).abs() > (high - foot).abs() { -1.0 } else { 1.0 };
    let rows = [0.2, 0.55, -0.2];
    Some([0.45, 0.2, 0.65].iter().flat_map(|share| rows.map(|row| [share * free, row])).collect())
}
