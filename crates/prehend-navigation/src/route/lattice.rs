//! A* over cells and 16 headings.

use super::clearance::Clearance;
use super::field::{Open, dearness, lower_bounds};
use super::{Leg, Route, RouteError, RouteParams};
use crate::footprint::Footprint;
use crate::grid::{Costmap, INSCRIBED, for_cells_touched};
use crate::pose::{Pose2, turn};
use std::collections::BinaryHeap;
use std::f64::consts::FRAC_PI_2;

/// Steps of the 16 headings, in cells, counter-clockwise from x.
const STEPS: [(isize, isize); 16] = [
    (1, 0),
    (2, 1),
    (1, 1),
    (1, 2),
    (0, 1),
    (-1, 2),
    (-1, 1),
    (-2, 1),
    (-1, 0),
    (-2, -1),
    (-1, -1),
    (-1, -2),
    (0, -1),
    (1, -2),
    (1, -1),
    (2, -1),
];
const HEADINGS: usize = STEPS.len();
/// How far from a pose, in cells, a state of the lattice may stand for it.
const SNAP: isize = 2;

fn yaw(heading: usize) -> f64 {
    let (x, y) = STEPS[heading % HEADINGS];
    (y as f64).atan2(x as f64)
}

fn step_length(heading: usize) -> f64 {
    let (x, y) = STEPS[heading];
    (x as f64).hypot(y as f64)
}

/// An outline at every heading, and by how much ways are dearer where there is room for it only.
struct Level {
    circumscribed: f64,
    /// Cells under the outline for every heading, then for those halfway to the next, relative to the base's.
    under: Vec<Vec<(isize, isize)>>,
    factor: f64,
}

/// Where the base may be, found out as it is asked.
struct Space<'a> {
    map: &'a Costmap,
    /// The roomiest first.
    levels: Vec<Level>,
    /// 0 not asked yet; the number of the first level that is free counted from 1; one more than there are where none is.
    known: Vec<u8>,
}

impl Level {
    fn new(map: &Costmap, (outline, factor): &(Footprint, f64)) -> Self {
        let layout = map.layout();
        let reach = (outline.circumscribed_radius() / layout.resolution).ceil() as usize + 2;
        let side = 2 * reach + 1;
        let local = crate::grid::Layout {
            width: side,
            height: side,
            resolution: layout.resolution,
            origin: [-(reach as f64 + 0.5) * layout.resolution; 2],
        };
        let halfway = |heading: usize| yaw(heading) + turn(yaw(heading), yaw(heading + 1)) / 2.0;
        let under = (0..HEADINGS)
            .map(yaw)
            .chain((0..HEADINGS).map(halfway))
            .map(|yaw| {
                let mut cells = Vec::new();
                let corners = outline.at(&Pose2::new(0.0, 0.0, yaw));
                for_cells_touched(&local, &corners, |index| {
                    let (column, row) = local.at(index);
                    cells.push((column as isize - reach as isize, row as isize - reach as isize));
                });
                // Far cells first: they are the ones that touch.
                cells.sort_by_key(|(x, y)| std::cmp::Reverse(x * x + y * y));
                cells
            })
            .collect();
        Self { circumscribed: outline.circumscribed_radius(), under, factor: *factor }
    }

    fn is_free(&self, map: &Costmap, cell: usize, heading: usize) -> bool {
        let layout = map.layout();
        let costs = map.costs();
        let (column, row) = layout.at(cell);
        if map.room(layout.centre((column, row))) > self.circumscribed {
            return true;
        }
        self.under[heading].iter().all(|(dx, dy)| {
            let (Some(x), Some(y)) = (column.checked_add_signed(*dx), row.checked_add_signed(*dy)) else {
                return false;
            };
            x < layout.width && y < layout.height && costs[y * layout.width + x] <= INSCRIBED
        })
    }
}

impl<'a> Space<'a> {
    fn new(map: &'a Costmap, clearance: &Clearance) -> Self {
        let layout = map.layout();
        let levels = clearance.levels().iter().map(|level| Level::new(map, level)).collect();
        Self { map, levels, known: vec![0; layout.width * layout.height * 2 * HEADINGS] }
    }

    /// By how much a way is dearer there; `None` where the base may not be.
    fn factor(&mut self, cell: usize, heading: usize) -> Option<f64> {
        let state = cell * 2 * HEADINGS + heading;
        if self.known[state] == 0 {
            let free = |level: &Level| level.is_free(self.map, cell, heading);
            let first = match self.map.costs()[cell] >= INSCRIBED {
                true => None,
                false => self.levels.iter().position(free),
            };
            self.known[state] = first.unwrap_or(self.levels.len()) as u8 + 1;
        }
        self.levels.get(usize::from(self.known[state]) - 1).map(|level| level.factor)
    }

    fn is_free(&mut self, cell: usize, heading: usize) -> bool {
        self.factor(cell, heading).is_some()
    }

    /// The free state that is nearest to a pose.
    fn snap(&mut self, pose: &Pose2) -> Option<usize> {
        let layout = *self.map.layout();
        let (column, row) = layout.cell(pose.xy())?;
        let mut best: Option<(f64, usize)> = None;
        for dy in -SNAP..=SNAP {
            for dx in -SNAP..=SNAP {
                let (Some(x), Some(y)) = (column.checked_add_signed(dx), row.checked_add_signed(dy)) else {
                    continue;
                };
                if x >= layout.width || y >= layout.height {
                    continue;
                }
                let [cx, cy] = layout.centre((x, y));
                let away = (cx - pose.x).hypot(cy - pose.y);
                for heading in 0..HEADINGS {
                    let turned = turn(pose.yaw, yaw(heading)).abs();
                    // Half a step of headings is 0.23 rad at most.
                    if turned > 0.5 {
                        continue;
                    }
                    let off = away + 0.3 * turned;
                    let cell = y * layout.width + x;
                    if best.is_none_or(|(least, _)| off < least) && self.is_free(cell, heading) {
                        best = Some((off, cell * HEADINGS + heading));
                    }
                }
            }
        }
        best.map(|(_, state)| state)
    }
}

/// How much longer ways over eight neighbours are than those over sixteen headings, at most.
const OCTILE: f64 = 1.09;

pub(super) fn search(
    map: &Costmap,
    clearance: &Clearance,
    start: &Pose2,
    goal: &Pose2,
    params: &RouteParams,
) -> Result<Route, RouteError> {
    let layout = *map.layout();
    let mut space = Space::new(map, clearance);
    let from = space.snap(start).ok_or(RouteError::StartBlocked { x: start.x, y: start.y })?;
    let to = space.snap(goal).ok_or(RouteError::GoalBlocked { x: goal.x, y: goal.y })?;
    let states = layout.width * layout.height * HEADINGS;
    let bounds = lower_bounds(map, to / HEADINGS, params);
    let mut best = vec![f32::INFINITY; states];
    let mut came = vec![u32::MAX; states];
    let mut open = BinaryHeap::new();
    best[from] = 0.0;
    open.push(Open { estimate: bounds[from / HEADINGS] / OCTILE, state: from });
    let mut expanded = 0;
    let mut done = vec![false; states];
    while let Some(Open { state, .. }) = open.pop() {
        if std::mem::replace(&mut done[state], true) {
            continue;
        }
        if state == to {
            return Ok(assemble(&layout, &came, from, to, start, goal));
        }
        expanded += 1;
        if expanded > params.max_expansions {
            break;
        }
        let (cell, heading) = (state / HEADINGS, state % HEADINGS);
        let here = f64::from(best[state]);
        let mut offer = |next: usize, worth: f64| {
            let bound = bounds[next / HEADINGS];
            if worth < f64::from(best[next]) - 1e-6 && bound.is_finite() {
                best[next] = worth as f32;
                came[next] = state as u32;
                open.push(Open { estimate: worth + bound / OCTILE, state: next });
            }
        };
        for side in [1, HEADINGS - 1] {
            let turned = (heading + side) % HEADINGS;
            let between = HEADINGS + if side == 1 { heading } else { turned };
            if let (Some(there), Some(on_the_way)) = (space.factor(cell, turned), space.factor(cell, between))
            {
                let angle = turn(yaw(heading), yaw(turned)).abs();
                let dear = there.max(on_the_way);
                offer(cell * HEADINGS + turned, here + params.turn_cost.max(1e-3) * angle * dear);
            }
        }
        let (column, row) = layout.at(cell);
        for forwards in [true, false] {
            let (dx, dy) = STEPS[if forwards { heading } else { (heading + HEADINGS / 2) % HEADINGS }];
            let (Some(x), Some(y)) = (column.checked_add_signed(dx), row.checked_add_signed(dy)) else {
                continue;
            };
            if x >= layout.width || y >= layout.height {
                continue;
            }
            let next = y * layout.width + x;
            let Some(tight) = space.factor(next, heading) else { continue };
            let length = step_length(heading) * layout.resolution;
            let factor = if forwards { 1.0 } else { params.backwards_factor.max(1.0) };
            let cost = map.costs()[next].max(map.costs()[cell]);
            offer(next * HEADINGS + heading, here + length * factor * tight * dearness(cost, params));
        }
    }
    Err(RouteError::NoWay { x: goal.x, y: goal.y, expanded })
}

/// The legs from the exact start through the states to the exact goal.
fn assemble(
    layout: &crate::grid::Layout,
    came: &[u32],
    from: usize,
    to: usize,
    start: &Pose2,
    goal: &Pose2,
) -> Route {
    let mut states = vec![to];
    let mut at = to;
    while at != from && came[at] != u32::MAX {
        at = came[at] as usize;
        states.push(at);
    }
    states.reverse();
    // Headings and the points at which they change: the exact ends replace the first and the last.
    let mut points = vec![start.xy()];
    let mut headings: Vec<(f64, bool)> = Vec::new();
    let mut turned = turn(start.yaw, yaw(from % HEADINGS));
    let mut turns = Vec::new();
    for pair in states.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let (h, k) = (a % HEADINGS, b % HEADINGS);
        if h != k {
            turned += turn(yaw(h), yaw(k));
            continue;
        }
        let (p, q) = (layout.centre(layout.at(a / HEADINGS)), layout.centre(layout.at(b / HEADINGS)));
        let (sin, cos) = yaw(h).sin_cos();
        let forwards = (q[0] - p[0]) * cos + (q[1] - p[1]) * sin > 0.0;
        let same = turned == 0.0 && headings.last() == Some(&(yaw(h), forwards));
        if same {
            if let Some(last) = points.last_mut() {
                *last = q;
            }
        } else {
            headings.push((yaw(h), forwards));
            turns.push(std::mem::take(&mut turned));
            points.push(q);
        }
    }
    if let Some(last) = points.last_mut().filter(|_| !headings.is_empty()) {
        *last = goal.xy();
    } else {
        points.push(goal.xy());
        headings.push((goal.yaw, true));
        turns.push(turn(start.yaw, goal.yaw));
    }
    // From points back to exact legs: every heading is the direction of its leg.
    let mut legs = Vec::new();
    let mut heading = start.yaw;
    for (index, pair) in points.windows(2).enumerate() {
        let (dx, dy) = (pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
        let length = dx.hypot(dy);
        if length < 1e-9 {
            continue;
        }
        let planned = headings[index].0;
        // A heading of the lattice within a quarter turn: forwards, else backwards.
        let forwards = turn(planned, dy.atan2(dx)).abs() <= FRAC_PI_2;
        let direction = if forwards { dy.atan2(dx) } else { (-dy).atan2(-dx) };
        let planned_turn = turns[index];
        let exact = turn(heading, direction);
        // Keep the sense of a planned turn that goes the long way round.
        let turned = exact + nearest_whole_turn(planned_turn - exact);
        legs.push(Leg { turn: turned, drive: if forwards { length } else { -length } });
        heading = direction;
    }
    let last = turn(heading, goal.yaw);
    let last = last + nearest_whole_turn(turned - last);
    if last != 0.0 {
        legs.push(Leg { turn: last, drive: 0.0 });
    }
    Route { start: *start, legs }
}

fn nearest_whole_turn(angle: f64) -> f64 {
    (angle / std::f64::consts::TAU).round() * std::f64::consts::TAU
}
