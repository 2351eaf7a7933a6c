//! Straight ways instead of bent ones, where they are free and no dearer.

use super::{Leg, Route, RouteParams};
use crate::footprint::Footprint;
use crate::grid::{Costmap, INSCRIBED};
use crate::pose::{Pose2, turn};

/// How many times the whole way is gone over.
const ROUNDS: usize = 3;

/// A route on which no leg can be left out.
pub(super) fn shorten(map: &Costmap, outline: &Footprint, route: &Route, params: &RouteParams) -> Route {
    let mut route = route.clone();
    for _ in 0..ROUNDS {
        let before = route.legs.len();
        let mut first = 0;
        while first < route.legs.len() {
            let mut last = route.legs.len();
            while last > first + 1 {
                last -= 1;
                if let Some(shorter) = replaced(map, outline, &route, first, last, params) {
                    route = shorter;
                    break;
                }
            }
            first += 1;
        }
        if route.legs.len() == before {
            break;
        }
    }
    route
}

/// The route with legs `first..=last` replaced by one, when that is free and no dearer.
fn replaced(
    map: &Costmap,
    outline: &Footprint,
    route: &Route,
    first: usize,
    last: usize,
    params: &RouteParams,
) -> Option<Route> {
    let ends = route.ends();
    let from = if first == 0 { route.start } else { ends[first - 1] };
    let to = ends[last];
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy);
    let next = route.legs.get(last + 1);
    let next_yaw = ends.get(last + 1).map_or(to.yaw, |end| end.yaw);
    let old_cost: f64 = {
        let legs = &route.legs[first..=last];
        let after = next.map_or(0.0, |leg| params.turn_cost * leg.turn.abs());
        let mut at = from;
        let mut sum = after;
        for (leg, end) in legs.iter().zip(&ends[first..]) {
            sum += leg_cost(map, &at, end, leg, params);
            at = *end;
        }
        sum
    };
    let yaws = if length < 1e-6 {
        vec![to.yaw]
    } else {
        let along = dy.atan2(dx);
        vec![along, along + std::f64::consts::PI]
    };
    for (index, yaw) in yaws.into_iter().enumerate() {
        let leg = Leg { turn: turn(from.yaw, yaw), drive: if index == 0 { length } else { -length } };
        let mut legs = vec![leg];
        let end = Pose2::new(to.x, to.y, from.yaw + leg.turn);
        let mut cost = leg_cost(map, &from, &end, &leg, params);
        // What comes after turns from another heading now; at the very end the heading is that of the goal.
        let after = turn(end.yaw, next_yaw);
        cost += params.turn_cost * after.abs();
        let tail = match next {
            Some(next) => Some(Leg { turn: after, ..*next }),
            None if after.abs() > 1e-9 => Some(Leg { turn: after, drive: 0.0 }),
            None => None,
        };
        legs.extend(tail);
        if cost > old_cost + 1e-9 || legs.len() > last - first + usize::from(next.is_some()) {
            continue;
        }
        let tried = Route { start: from, legs: legs.clone() };
        if tried.first_collision(map, outline).is_some() {
            continue;
        }
        let rest = route.legs.get(last + 2..).unwrap_or_default();
        let all = route.legs[..first].iter().chain(&legs).chain(rest).copied().collect();
        return Some(Route { start: route.start, legs: all });
    }
    None
}

/// What a leg costs, metres.
fn leg_cost(map: &Costmap, from: &Pose2, to: &Pose2, leg: &Leg, params: &RouteParams) -> f64 {
    let length = leg.drive.abs();
    let steps = (length / map.layout().resolution).ceil().max(1.0) as usize;
    let mut mean = 0.0;
    for step in 0..steps {
        let share = (step as f64 + 0.5) / steps as f64;
        let cost = map.cost([from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)]);
        mean += f64::from(cost.min(INSCRIBED)) / f64::from(INSCRIBED) / steps as f64;
    }
    let factor = if leg.drive < 0.0 { params.backwards_factor.max(1.0) } else { 1.0 };
    params.turn_cost * leg.turn.abs() + length * factor * (1.0 + params.cost_weight.max(0.0) * mean)
}
