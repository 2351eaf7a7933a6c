//! A joint that was measured when the part moved before: nothing of it has to be felt again.

use nalgebra::{Point3, Unit, Vector3};
use prehend_scene::PartEffect;
use prehend_scene::furniture::Hinge;
use serde::{Deserialize, Serialize};

/// Share of a part's points that are nearer to its axis than its edge; the rest may be strays.
const EDGE: f64 = 0.98;

/// The measured joint of a part. Map frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownJoint {
    /// Whether it turns; else it slides.
    pub turns: bool,
    /// Direction in which it opens, or the axis about which it opens counterclockwise.
    pub axis: Unit<Vector3<f64>>,
    /// A point on the axis; no meaning for slides.
    pub origin: Point3<f64>,
    /// Where it is, metres or radians; 0 is closed.
    pub position: f64,
    /// Its other end, as far as it is known.
    pub upper: f64,
}

impl KnownJoint {
    /// The hinge of a part with these points; `None` for slides and for points on the axis.
    pub fn hinge(&self, points: &[Point3<f64>]) -> Option<Hinge> {
        let along = |point: &Point3<f64>| self.axis.dot(&(point - self.origin));
        let mut radii: Vec<f64> = points
            .iter()
            .map(|point| (point - self.origin - self.axis.into_inner() * along(point)).norm())
            .collect();
        radii.sort_by(f64::total_cmp);
        let last = radii.len().checked_sub(1)?;
        let radius = radii[(EDGE * last as f64).round() as usize];
        let middle = points.iter().map(along).sum::<f64>() / points.len() as f64;
        let foot = self.origin + self.axis.into_inner() * middle;
        let is_hinge = self.turns && radius.is_finite() && radius > 1e-3;
        is_hinge.then(|| Hinge { foot, opens: self.axis, radius, angle: self.position.max(0.0) })
    }

    /// The way of a slide that is opened or closed; `None` for hinges and for other effects.
    pub fn way(&self, effect: PartEffect) -> Option<Vector3<f64>> {
        match effect {
            _ if self.turns => None,
            PartEffect::Open => Some(self.axis.into_inner()),
            PartEffect::Close => Some(-self.axis.into_inner()),
            PartEffect::Hold | PartEffect::Press | PartEffect::Turn | PartEffect::TakeOut => None,
        }
    }

    /// How far a point at this distance from the axis goes until the part is at its end, metres, at least 0; of slides the distance does
    /// not count.
    pub fn left(&self, effect: PartEffect, arm: f64) -> f64 {
        let left = if effect == PartEffect::Close { self.position } else { self.upper - self.position };
        (if self.turns { left * arm } else { left }).max(0.0)
    }

    /// Whether it tells how to reach an effect.
    pub fn tells(&self, effect: PartEffect) -> bool {
        matches!(effect, PartEffect::Open | PartEffect::Close)
    }
}
