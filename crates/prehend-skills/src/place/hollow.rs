//! The room inside something open at the top: a bowl, a tray, a drawer that stands out of its cabinet.

use crate::columns::Columns;
use prehend_scene::Compartment;
use std::collections::{HashMap, HashSet, VecDeque};

/// Least depth of a hollow below what surrounds it, metres.
pub(super) const DEPTH: f64 = 0.008;
/// Farthest wall, in cells.
const WALL: i32 = 60;
/// Sides out of four on which there is a wall: of a drawer the back may be hidden in its cabinet.
const WALLS: usize = 3;
/// Least share of the cells of a room that were seen: what was not seen at all is no room.
const SEEN: f64 = 0.15;
/// Fewest cells of one room of a divided target: less is a gap between its walls.
const ROOM: usize = 30;

/// The largest room of a target: cells with walls around them, whether their floor was seen or lies in the shadow of a wall.
#[derive(Clone, Debug, Default)]
pub(super) struct Hollow {
    cell: f64,
    /// Centre of cell (0, 0), metres.
    origin: [f64; 2],
    cells: HashSet<(i32, i32)>,
    /// Height of its floor, metres: that of cells in the shadow.
    pub(super) floor: f64,
    /// Range of x and of y, metres.
    pub(super) low: [f64; 2],
    pub(super) high: [f64; 2],
    /// Whether there is room, all of it under other things.
    pub(super) is_covered: bool,
}

impl Hollow {
    /// Finds the room in a target's own columns below `top`: the largest, or of a divided target the one at a side; empty when
    /// there is none. What nothing can be let down into from above, by `is_open`, is no part of it.
    pub(super) fn find(
        columns: &Columns,
        top: f64,
        compartment: Option<Compartment>,
        is_open: impl Fn([f64; 2]) -> bool,
    ) -> Self {
        let cell = columns.cell();
        let Some(origin) = columns.occupied().next().map(|(x, y, _, _)| [x, y]) else {
            return Self::default();
        };
        let index = |x: f64, y: f64| {
            (((x - origin[0]) / cell).round() as i32, ((y - origin[1]) / cell).round() as i32)
        };
        let tops: HashMap<(i32, i32), f64> =
            columns.occupied().map(|(x, y, _, z)| (index(x, y), z)).collect();
        let walls = |(x, y): (i32, i32), z: f64| {
            let higher = |dx: i32, dy: i32| {
                (1..WALL).any(|k| tops.get(&(x + dx * k, y + dy * k)).is_some_and(|t| *t > z + DEPTH))
            };
            [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().filter(|(dx, dy)| higher(*dx, *dy)).count()
        };
        let seen: HashMap<(i32, i32), f64> = tops
            .iter()
            .filter(|(at, z)| **z < top - DEPTH && walls(**at, **z) >= WALLS)
            .map(|(at, z)| (*at, *z))
            .collect();
        if seen.is_empty() {
            return Self::default();
        }
        let mut floors: Vec<f64> = seen.values().copied().collect();
        floors.sort_by(f64::total_cmp);
        let floor = crate::grasp::quantile(&floors, 0.3);
        // What lies behind a wall was not seen, but it is inside all the same.
        let (xs, ys) = (range(tops.keys().map(|at| at.0)), range(tops.keys().map(|at| at.1)));
        let shadow = |at: &(i32, i32)| !tops.contains_key(at) && walls(*at, floor) >= WALLS;
        let mut inside: HashSet<(i32, i32)> =
            (xs.0..=xs.1).flat_map(|x| (ys.0..=ys.1).map(move |y| (x, y))).filter(shadow).collect();
        inside.extend(seen.keys());
        let rooms = rooms(inside, |at| seen.contains_key(at));
        let middle = [f64::from(xs.0 + xs.1) / 2.0, f64::from(ys.0 + ys.1) / 2.0];
        let half = [f64::from(xs.1 - xs.0) / 2.0, f64::from(ys.1 - ys.0) / 2.0];
        let mut room = match compartment {
            None => largest(rooms),
            Some(side) => at_side(rooms, side, middle, half),
        };
        if room.is_empty() {
            return Self::default();
        }
        let at = |axis: usize, index: f64| origin[axis] + index * cell;
        room.retain(|(x, y)| is_open([at(0, f64::from(*x)), at(1, f64::from(*y))]));
        if room.is_empty() {
            return Self { is_covered: true, ..Self::default() };
        }
        let (x, y) = (range(room.iter().map(|at| at.0)), range(room.iter().map(|at| at.1)));
        Self {
            cell,
            origin,
            floor,
            low: [at(0, f64::from(x.0) - 0.5), at(1, f64::from(y.0) - 0.5)],
            high: [at(0, f64::from(x.1) + 0.5), at(1, f64::from(y.1) + 0.5)],
            cells: room,
            is_covered: false,
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Middle of its range.
    pub(super) fn middle(&self) -> [f64; 2] {
        [0, 1].map(|axis| (self.low[axis] + self.high[axis]) / 2.0)
    }

    /// Whether a place is in it.
    pub(super) fn holds(&self, x: f64, y: f64) -> bool {
        let index = |axis: usize, v: f64| ((v - self.origin[axis]) / self.cell).round() as i32;
        !self.is_empty() && self.cells.contains(&(index(0, x), index(1, y)))
    }
}

fn range(values: impl Iterator<Item = i32>) -> (i32, i32) {
    values.fold((i32::MAX, i32::MIN), |(low, high), v| (low.min(v), high.max(v)))
}

/// Groups of cells that hang together and of which enough was seen.
fn rooms(mut left: HashSet<(i32, i32)>, is_seen: impl Fn(&(i32, i32)) -> bool) -> Vec<HashSet<(i32, i32)>> {
    let mut rooms = Vec::new();
    // In a fixed order, so that of two equal rooms the same one is taken every time.
    let mut starts: Vec<(i32, i32)> = left.iter().copied().collect();
    starts.sort_unstable();
    for start in starts {
        if !left.remove(&start) {
            continue;
        }
        let (mut group, mut queue) = (HashSet::from([start]), VecDeque::from([start]));
        while let Some((x, y)) = queue.pop_front() {
            for next in [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)] {
                if left.remove(&next) {
                    group.insert(next);
                    queue.push_back(next);
                }
            }
        }
        let seen = group.iter().filter(|at| is_seen(at)).count();
        if seen as f64 >= SEEN * group.len() as f64 {
            rooms.push(group);
        }
    }
    rooms
}

/// The largest room, of equal ones the first; empty when there is none.
fn largest(rooms: Vec<HashSet<(i32, i32)>>) -> HashSet<(i32, i32)> {
    let mut best = HashSet::new();
    for room in rooms {
        if room.len() > best.len() {
            best = room;
        }
    }
    best
}

/// Of several rooms the one that is most at a side of the whole; empty when there is none, or only one.
fn at_side(
    mut rooms: Vec<HashSet<(i32, i32)>>,
    side: Compartment,
    middle: [f64; 2],
    half: [f64; 2],
) -> HashSet<(i32, i32)> {
    rooms.retain(|room| room.len() >= ROOM);
    if rooms.len() < 2 {
        return HashSet::new();
    }
    let fit = |room: &HashSet<(i32, i32)>| {
        let centre = |(low, high): (i32, i32)| f64::from(low + high) / 2.0;
        let x = centre(range(room.iter().map(|at| at.0)));
        let y = centre(range(room.iter().map(|at| at.1)));
        side.fit([x - middle[0], y - middle[1]], half)
    };
    let fitting = rooms.into_iter().filter_map(|room| Some((fit(&room)?, room)));
    fitting.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, room)| room).unwrap_or_default()
}
