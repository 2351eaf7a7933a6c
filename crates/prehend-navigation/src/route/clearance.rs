//! How much dearer a way is where room is short.
//!
//! Who drives is never exactly on its way: the localisation and the control are off by about two thirds of the margin (one standard
//! deviation). Where so much room is left, the base touches something with a known probability for each metre, and a touch costs as much
//! as [`TOUCH`] metres: it backs away and begins anew. So a tight place makes itself dear, and not the rest of the way.

use super::field::dearness;
use super::{Leg, Route, RouteParams};
use crate::footprint::Footprint;
use crate::grid::Costmap;
use crate::pose::{Pose2, turn};

/// Metres that are as bad as touching something.
const TOUCH: f64 = 20.0;
/// Room around the outline, in margins, and the probability of touching something per metre where there is no more: those of a normal
/// error beyond 3.75, 2.25, 1.125 and 0 standard deviations.
const LEVELS: [(f64, f64); 4] = [(2.5, 1e-4), (1.5, 0.012), (0.75, 0.13), (0.0, 0.5)];

/// Outlines with ever less room around them.
pub(super) struct Clearance {
    /// Each with the factor of what a way costs on which it touches nothing; the roomiest first.
    levels: Vec<(Footprint, f64)>,
}

impl Clearance {
    /// All levels of a base, then without the tightest, and so on to the roomiest alone.
    pub(super) fn all(footprint: &Footprint, params: &RouteParams) -> impl Iterator<Item = Self> {
        let levels = LEVELS
            .map(|(margins, touches)| (footprint.grown(margins * params.margin), 1.0 + TOUCH * touches));
        (1..=levels.len()).rev().map(move |kept| Self { levels: levels[..kept].to_vec() })
    }

    /// Only where there is all the room that is wanted.
    pub(super) fn roomiest(footprint: &Footprint, params: &RouteParams) -> Self {
        Self::all(footprint, params).last().unwrap_or(Self { levels: Vec::new() })
    }

    pub(super) fn levels(&self) -> &[(Footprint, f64)] {
        &self.levels
    }

    /// What a way costs, metres; `None` where the base may not be.
    pub(super) fn cost(&self, map: &Costmap, route: &Route, params: &RouteParams) -> Option<f64> {
        let mut at = route.start;
        let mut sum = 0.0;
        for (leg, end) in route.legs.iter().zip(route.ends()) {
            sum += self.cost_of_leg(map, &at, leg, params)?;
            at = end;
        }
        Some(sum)
    }

    /// What a leg from a pose costs, metres; `None` where the base may not be.
    fn cost_of_leg(&self, map: &Costmap, from: &Pose2, leg: &Leg, params: &RouteParams) -> Option<f64> {
        let backwards = if leg.drive < 0.0 { params.backwards_factor.max(1.0) } else { 1.0 };
        let route = Route { start: *from, legs: vec![*leg] };
        let mut at = *from;
        let mut sum = 0.0;
        for pose in route.poses(map.layout().resolution).into_iter().skip(1) {
            let factor = self.factor(map, &pose)?;
            let metre = dearness(map.cost(pose.xy()), params);
            let turned = params.turn_cost * turn(at.yaw, pose.yaw).abs();
            sum += factor * (turned + at.distance(&pose) * backwards * metre);
            at = pose;
        }
        Some(sum)
    }

    /// By how much a way is dearer at a pose; `None` where the base may not be.
    fn factor(&self, map: &Costmap, pose: &Pose2) -> Option<f64> {
        self.levels.iter().find(|(outline, _)| !outline.collides(map, pose)).map(|(_, factor)| *factor)
    }
}
