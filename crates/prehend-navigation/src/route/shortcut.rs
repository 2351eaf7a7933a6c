//! Straight ways instead of bent ones, where they are free and no dearer.

use super::clearance::Clearance;
use super::{Leg, Route, RouteParams};
use crate::grid::Costmap;
use crate::pose::turn;

/// How many times the whole way is gone over.
const ROUNDS: usize = 3;

/// A route on which no leg can be left out.
pub(super) fn shorten(map: &Costmap, clearance: &Clearance, route: &Route, params: &RouteParams) -> Route {
    let mut route = route.clone();
    for _ in 0..ROUNDS {
        let before = route.legs.len();
        let mut first = 0;
        while first < route.legs.len() {
            let mut last = route.legs.len();
            while last > first + 1 {
                last -= 1;
                if let Some(shorter) = replaced(map, clearance, &route, first, last, params) {
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

/// The route with legs `first..=last` replaced by one, when that is free and no dearer. A way that is not free costs any amount.
fn replaced(
    map: &Costmap,
    clearance: &Clearance,
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
    let until = (last + 2).min(route.legs.len());
    let old = Route { start: from, legs: route.legs[first..until].to_vec() };
    let old_cost = clearance.cost(map, &old, params).unwrap_or(f64::INFINITY);
    let yaws = if length < 1e-6 {
        vec![to.yaw]
    } else {
        let along = dy.atan2(dx);
        vec![along, along + std::f64::consts::PI]
    };
    for (index, yaw) in yaws.into_iter().enumerate() {
        let leg = Leg { turn: turn(from.yaw, yaw), drive: if index == 0 { length } else { -length } };
        // What comes after turns from another heading now; at the very end the heading is that of the goal.
        let after = turn(from.yaw + leg.turn, next_yaw);
        let tail = match next {
            Some(next) => Some(Leg { turn: after, ..*next }),
            None if after.abs() > 1e-9 => Some(Leg { turn: after, drive: 0.0 }),
            None => None,
        };
        let legs: Vec<Leg> = [leg].into_iter().chain(tail).collect();
        if legs.len() > last - first + usize::from(next.is_some()) {
            continue;
        }
        let tried = Route { start: from, legs: legs.clone() };
        if clearance.cost(map, &tried, params).is_none_or(|cost| cost > old_cost + 1e-9) {
            continue;
        }
        let rest = route.legs.get(until..).unwrap_or_default();
        let all = route.legs[..first].iter().chain(&legs).chain(rest).copied().collect();
        return Some(Route { start: route.start, legs: all });
    }
    None
}
