//! How far every cell is from a goal, for a disc, and the way that follows from it.

use super::{Leg, Route, RouteParams};
use crate::grid::{Costmap, INSCRIBED};
use crate::pose::{Pose2, turn};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Steps to the eight neighbours.
const STAR: [(isize, isize); 8] = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];

/// What waits to be looked at.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Open {
    pub(super) estimate: f64,
    pub(super) state: usize,
}

impl Eq for Open {}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Open {
    /// The least estimate is the greatest; equal ones by state, so that every run is the same.
    fn cmp(&self, other: &Self) -> Ordering {
        other.estimate.total_cmp(&self.estimate).then_with(|| other.state.cmp(&self.state))
    }
}

/// Lower bound of the cost from every cell to a cell, metres, by Dijkstra over cells; infinite where there is no way.
pub(super) fn lower_bounds(map: &Costmap, goal: usize, params: &RouteParams) -> Vec<f64> {
    let layout = map.layout();
    let costs = map.costs();
    let mut bound = vec![f64::INFINITY; costs.len()];
    let mut open = BinaryHeap::new();
    bound[goal] = 0.0;
    open.push(Open { estimate: 0.0, state: goal });
    while let Some(Open { estimate, state }) = open.pop() {
        if estimate > bound[state] {
            continue;
        }
        let (column, row) = layout.at(state);
        for (dx, dy) in STAR {
            let (Some(x), Some(y)) = (column.checked_add_signed(dx), row.checked_add_signed(dy)) else {
                continue;
            };
            if x >= layout.width || y >= layout.height {
                continue;
            }
            let next = y * layout.width + x;
            if costs[next] >= INSCRIBED {
                continue;
            }
            let length = ((dx * dx + dy * dy) as f64).sqrt() * layout.resolution;
            let worth = estimate + length * dearness(costs[next].min(costs[state]), params);
            if worth < bound[next] {
                bound[next] = worth;
                open.push(Open { estimate: worth, state: next });
            }
        }
    }
    bound
}

pub(super) fn dearness(cost: u8, params: &RouteParams) -> f64 {
    1.0 + params.cost_weight.max(0.0) * f64::from(cost.min(INSCRIBED)) / f64::from(INSCRIBED)
}

/// The way down the bounds from start to goal; `None` when the start has none. Nothing but the disc was looked at.
pub(super) fn descend(map: &Costmap, bounds: &[f64], start: &Pose2, goal: &Pose2) -> Option<Route> {
    let layout = map.layout();
    let mut at = layout.index(start.xy())?;
    if !bounds[at].is_finite() {
        return None;
    }
    let mut points = vec![start.xy()];
    let mut last = (0isize, 0isize);
    while bounds[at] > 0.0 {
        let (column, row) = layout.at(at);
        let next = STAR
            .into_iter()
            .filter_map(|(dx, dy)| {
                let (x, y) = (column.checked_add_signed(dx)?, row.checked_add_signed(dy)?);
                let next = y * layout.width + x;
                let inside = x < layout.width && y < layout.height;
                let length = ((dx * dx + dy * dy) as f64).sqrt() * layout.resolution;
                (inside && bounds[next] < bounds[at]).then(|| (bounds[next] + length, next, (dx, dy)))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, next, step) = next?;
        let here = layout.centre(layout.at(next));
        if step == last
            && points.len() > 1
            && let Some(point) = points.last_mut()
        {
            *point = here;
        } else {
            points.push(here);
        }
        (at, last) = (next, step);
    }
    if points.len() > 1 {
        points.pop();
    }
    points.push(goal.xy());
    let mut legs = Vec::new();
    let mut heading = start.yaw;
    for pair in points.windows(2) {
        let (dx, dy) = (pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
        if dx.hypot(dy) > 1e-9 {
            let along = dy.atan2(dx);
            legs.push(Leg { turn: turn(heading, along), drive: dx.hypot(dy) });
            heading = along;
        }
    }
    if turn(heading, goal.yaw) != 0.0 {
        legs.push(Leg { turn: turn(heading, goal.yaw), drive: 0.0 });
    }
    Some(Route { start: *start, legs })
}
