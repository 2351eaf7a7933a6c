//! Ways from pose to pose among obstacles: A* over position and heading, then shortcuts.
//!
//! The base turns in place and drives straight, forwards or (dearer) backwards. Searching headings too finds ways through doors and
//! between tables that a disc around the base would not fit through, and never one on which the base would touch when it turns.

mod clearance;
mod field;
mod lattice;
mod leave;
mod shortcut;

use crate::footprint::{Contact, Footprint};
use crate::grid::Costmap;
use crate::pose::{Pose2, normalised};
use clearance::Clearance;

/// What a way costs besides its length, and what it keeps away from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouteParams {
    /// Room kept around the outline of the base where there is any, metres: one and a half times how far off its way the base is.
    pub margin: f64,
    /// How much dearer a metre is where the cost is highest (0 is free of it).
    pub cost_weight: f64,
    /// Metres that a turn of one radian costs.
    pub turn_cost: f64,
    /// How much dearer a metre backwards is, at least 1.
    pub backwards_factor: f64,
    /// Most states that are expanded.
    pub max_expansions: usize,
}

impl Default for RouteParams {
    fn default() -> Self {
        Self {
            margin: 0.03,
            cost_weight: 2.0,
            turn_cost: 0.3,
            backwards_factor: 2.5,
            max_expansions: 2_000_000,
        }
    }
}

/// Turn in place, then drive straight; either may be nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leg {
    /// Radians, signed; may be more than half a turn where the short way is blocked.
    pub turn: f64,
    /// Metres along the heading after the turn, negative backwards.
    pub drive: f64,
}

/// A way: legs from a pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Where it begins, in the map's frame.
    pub start: Pose2,
    /// What to do, in order.
    pub legs: Vec<Leg>,
}

impl Route {
    /// Where each leg ends; as many as there are legs.
    pub fn ends(&self) -> Vec<Pose2> {
        let mut at = self.start;
        let step = |leg: &Leg| {
            let yaw = normalised(at.yaw + leg.turn);
            let (sin, cos) = yaw.sin_cos();
            at = Pose2::new(at.x + leg.drive * cos, at.y + leg.drive * sin, yaw);
            at
        };
        self.legs.iter().map(step).collect()
    }

    /// Where it ends.
    pub fn end(&self) -> Pose2 {
        self.ends().last().copied().unwrap_or(self.start)
    }

    /// Metres that are driven.
    pub fn length(&self) -> f64 {
        self.legs.iter().map(|leg| leg.drive.abs()).sum()
    }

    /// Poses along the way, at most `spacing` metres or 0.2 rad apart, start and end among them.
    pub fn poses(&self, spacing: f64) -> Vec<Pose2> {
        self.sampled(spacing.max(1e-3), 0.2)
    }

    /// Poses along the way, at most `spacing` metres or `angle` radians apart, start and end among them.
    fn sampled(&self, spacing: f64, angle: f64) -> Vec<Pose2> {
        let mut poses = vec![self.start];
        let mut at = self.start;
        for (leg, end) in self.legs.iter().zip(self.ends()) {
            let turns = (leg.turn.abs() / angle).ceil().max(1.0) as usize;
            if leg.turn != 0.0 {
                let turned = |step: usize| normalised(at.yaw + leg.turn * step as f64 / turns as f64);
                poses.extend((1..=turns).map(|step| Pose2 { yaw: turned(step), ..at }));
            }
            if leg.drive != 0.0 {
                let steps = (leg.drive.abs() / spacing).ceil().max(1.0) as usize;
                poses.extend((1..=steps).map(|step| {
                    let share = step as f64 / steps as f64;
                    Pose2::new(at.x + share * (end.x - at.x), at.y + share * (end.y - at.y), end.yaw)
                }));
            }
            at = end;
        }
        poses
    }

    /// The first pose on the way at which the base touches something, or may; what it touches at the start it may leave.
    pub fn first_collision(&self, map: &Costmap, footprint: &Footprint) -> Option<Pose2> {
        let spacing = map.layout().resolution;
        let mut contact = Contact::from(map, footprint, &self.start);
        self.poses(spacing).into_iter().find(|pose| contact.worsens(pose))
    }
}

/// Why there is no way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RouteError {
    /// The goal is outside the map, or not a number.
    #[error("the goal [{x:.2}, {y:.2}] m is outside the map")]
    GoalOutside {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    },
    /// The base would touch something at the goal.
    #[error("something is in the way at the goal [{x:.2}, {y:.2}] m")]
    GoalBlocked {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    },
    /// The start is outside the map, or not a number.
    #[error("the base at [{x:.2}, {y:.2}] m is outside the map")]
    StartOutside {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    },
    /// The base touches something where it is, on every side.
    #[error("the base at [{x:.2}, {y:.2}] m cannot move without touching something")]
    StartBlocked {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    },
    /// No way leads there.
    #[error("there is no way to [{x:.2}, {y:.2}] m ({expanded} states looked at)")]
    NoWay {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
        /// States that were expanded.
        expanded: usize,
    },
}

/// A way from a pose to another, in the map's frame, on which the outline (with the margin, where there is room for it) touches
/// nothing and stays in what is known.
///
/// Errors: [`RouteError`].
pub fn plan(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    goal: &Pose2,
    params: &RouteParams,
) -> Result<Route, RouteError> {
    let outside = |pose: &Pose2| !pose.is_finite() || map.layout().cell(pose.xy()).is_none();
    if outside(goal) {
        return Err(RouteError::GoalOutside { x: goal.x, y: goal.y });
    }
    if outside(start) {
        return Err(RouteError::StartOutside { x: start.x, y: start.y });
    }
    if footprint.collides(map, goal) {
        return Err(RouteError::GoalBlocked { x: goal.x, y: goal.y });
    }
    let direct = match footprint.depth(map, start) {
        Some(_) => Err(RouteError::StartBlocked { x: start.x, y: start.y }),
        None => between(map, footprint, start, goal, params),
    };
    // Near to something the base moves less than a step of the lattice at a time.
    direct.or_else(|missing| leave::plan_between_tight(map, footprint, start, goal, params, missing))
}

/// A way between two poses that touch nothing, by the steps of the lattice.
fn between(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    goal: &Pose2,
    params: &RouteParams,
) -> Result<Route, RouteError> {
    // Where there is room the way of a disc, straightened, is free already; headings are searched where it is not.
    if let Some(goal_cell) = map.layout().index(goal.xy()) {
        let bounds = field::lower_bounds(map, goal_cell, params);
        let roomy = Clearance::roomiest(footprint, params);
        let straightened = field::descend(map, &bounds, start, goal)
            .map(|route| shortcut::shorten(map, &roomy, &route, params))
            .filter(|route| roomy.cost(map, route, params).is_some());
        if let Some(route) = straightened {
            return Ok(route);
        }
    }
    let mut missing = RouteError::NoWay { x: goal.x, y: goal.y, expanded: 0 };
    for clearance in Clearance::all(footprint, params) {
        match lattice::search(map, &clearance, start, goal, params) {
            Ok(route) => {
                // The lattice stands half a cell beside the true ends: what counts is the way as it would be driven. Where only the
                // ends are too tight for it, one that keeps more room elsewhere may be free.
                let short = shortcut::shorten(map, &clearance, &route, params);
                let free = |route: &Route| route.first_collision(map, footprint).is_none();
                if let Some(route) = [short, route].into_iter().find(free) {
                    return Ok(route);
                }
            }
            Err(error) => {
                missing = error;
                break;
            }
        }
    }
    Err(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::turn;
    use crate::rooms;
    use std::f64::consts::{FRAC_PI_2, PI};

    fn way(map: &Costmap, start: Pose2, goal: Pose2) -> Result<Route, RouteError> {
        let route = plan(map, &rooms::footprint(), &start, &goal, &RouteParams::default())?;
        let end = route.end();
        assert!(end.distance(&goal) < 1e-6 && turn(end.yaw, goal.yaw).abs() < 1e-6, "{end:?} {goal:?}");
        assert_eq!(route.start, start);
        assert_eq!(route.first_collision(map, &rooms::footprint()), None, "{route:?}");
        Ok(route)
    }

    #[test]
    fn in_an_empty_room_the_way_is_straight() {
        let map = rooms::costmap(&rooms::room([0.0, 6.0, 0.0, 5.0]));
        let route = way(&map, Pose2::new(1.0, 1.0, 0.0), Pose2::new(5.0, 4.0, FRAC_PI_2)).expect("a way");
        assert!(route.length() < 1.01 * 5.0, "{route:?}");
        assert!(route.legs.len() <= 2, "{route:?}");
        let turn_only = way(&map, Pose2::new(1.0, 1.0, 0.0), Pose2::new(1.0, 1.0, 3.0)).expect("a way");
        assert!(turn_only.length() < 0.02, "{turn_only:?}");
    }

    #[test]
    fn the_way_goes_around_the_table() {
        let map = rooms::costmap(&rooms::furnished());
        let route = way(&map, Pose2::new(1.0, 2.5, 0.0), Pose2::new(5.0, 2.5, PI)).expect("a way");
        assert!(route.length() > 4.0 && route.length() < 5.2, "{route:?}");
    }

    #[test]
    fn ways_through_doors_and_none_through_walls() {
        let (start, goal) = (Pose2::new(1.0, 1.0, 1.0), Pose2::new(5.0, 1.0, -1.0));
        // 0.74 x 0.5 m goes through 0.7 m only along its length.
        for door in [1.2, 0.9, 0.7] {
            let map = rooms::costmap(&rooms::two_rooms(door));
            let route = way(&map, start, goal).unwrap_or_else(|error| panic!("{door}: {error}"));
            assert!(route.length() > 4.3, "{route:?}");
        }
        for door in [0.4, 0.0] {
            let map = rooms::costmap(&rooms::two_rooms(door));
            assert!(matches!(way(&map, start, goal), Err(RouteError::NoWay { .. })), "{door}");
        }
    }

    #[test]
    fn out_of_a_dead_end_it_backs() {
        // 0.6 m wide: no room to turn.
        let mut grid = rooms::room([0.0, 6.0, 0.0, 5.0]);
        rooms::fill(&mut grid, [4.0, 6.0, 0.0, 2.2], 100);
        rooms::fill(&mut grid, [4.0, 6.0, 2.8, 5.0], 100);
        let map = rooms::costmap(&grid);
        let route = way(&map, Pose2::new(5.4, 2.5, 0.0), Pose2::new(1.0, 2.5, 0.0)).expect("a way");
        assert!(route.legs[0].drive < -0.8 && route.legs[0].turn.abs() < 0.1, "{route:?}");
    }

    #[test]
    fn goals_that_cannot_be_are_told_apart() {
        let map = rooms::costmap(&rooms::furnished());
        let start = Pose2::new(1.0, 1.0, 0.0);
        let go = |goal| way(&map, start, goal);
        assert!(matches!(go(Pose2::new(50.0, 1.0, 0.0)), Err(RouteError::GoalOutside { .. })));
        assert!(matches!(go(Pose2::new(f64::NAN, 1.0, 0.0)), Err(RouteError::GoalOutside { .. })));
        assert!(matches!(go(Pose2::new(3.0, 2.5, 0.0)), Err(RouteError::GoalBlocked { .. })));
        assert!(matches!(
            way(&map, Pose2::new(-40.0, 0.0, 0.0), start),
            Err(RouteError::StartOutside { .. })
        ));
        assert!(matches!(way(&map, Pose2::new(3.0, 2.5, 0.0), start), Err(RouteError::StartBlocked { .. })));
    }

    /// Along a wall, nearer to it than the base can turn: the wall itself is not touched, not only the middles of its cells.
    #[test]
    fn a_place_along_a_wall_is_come_to_and_left_beside_the_wall() {
        let map = rooms::costmap(&rooms::room([0.0, 6.0, 0.0, 5.0]));
        let (open, tight) = (Pose2::new(3.0, 3.0, 1.0), Pose2::new(3.0, 0.38, PI));
        for (start, goal) in [(open, tight), (tight, open)] {
            let route = way(&map, start, goal).expect("a way");
            let lowest = route
                .poses(0.01)
                .iter()
                .flat_map(|pose| rooms::footprint().at(pose))
                .map(|corner| corner[1])
                .fold(f64::INFINITY, f64::min);
            assert!(lowest > 0.02, "{lowest} {route:?}");
        }
    }

    #[test]
    fn where_there_is_room_a_way_keeps_it() {
        // A gap of 0.55 m, and a way round that is a metre longer.
        let mut grid = rooms::room([0.0, 6.0, 0.0, 5.0]);
        rooms::fill(&mut grid, [2.8, 3.2, 0.0, 2.2], 100);
        rooms::fill(&mut grid, [2.8, 3.2, 2.75, 3.0], 100);
        let map = rooms::costmap(&grid);
        let route = way(&map, Pose2::new(1.5, 2.5, 0.0), Pose2::new(4.5, 2.5, 0.0)).expect("a way");
        let highest = route.ends().iter().map(|end| end.y).fold(f64::NEG_INFINITY, f64::max);
        assert!(highest > 3.0, "{route:?}");
        // Without another way the gap is taken.
        rooms::fill(&mut grid, [2.8, 3.2, 3.0, 5.0], 100);
        let through = way(&rooms::costmap(&grid), route.start, route.end()).expect("a way");
        assert!(through.length() < 3.5, "{through:?}");
    }

    /// No gap leaves all the room that is wanted; one leaves more of it, and is a metre aside.
    #[test]
    fn of_two_tight_ways_the_less_probable_touch_is_taken() {
        let mut grid = rooms::room([0.0, 6.0, 0.0, 5.0]);
        for wall in [[0.0, 2.2], [2.75, 3.2], [3.85, 5.0]] {
            rooms::fill(&mut grid, [2.8, 3.2, wall[0], wall[1]], 100);
        }
        let params = RouteParams { margin: 0.04, ..RouteParams::default() };
        let (start, goal) = (Pose2::new(1.5, 2.475, 0.0), Pose2::new(4.5, 2.475, 0.0));
        let route = plan(&rooms::costmap(&grid), &rooms::footprint(), &start, &goal, &params).expect("a way");
        let highest = route.ends().iter().map(|end| end.y).fold(f64::NEG_INFINITY, f64::max);
        assert!(highest > 3.2, "{route:?}");
    }

    #[test]
    fn every_pair_of_free_poses_in_a_room_is_connected_without_touching() {
        use rand::{RngExt, SeedableRng};
        let map = rooms::costmap(&rooms::furnished());
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let outline = rooms::footprint().grown(0.03);
        let mut free = Vec::new();
        while free.len() < 24 {
            let yaw = PI * (2.0 * rng.random::<f64>() - 1.0);
            let pose = Pose2::new(6.0 * rng.random::<f64>(), 5.0 * rng.random::<f64>(), yaw);
            // A little more than the margin, or the lattice may find no neighbour.
            if !outline.grown(0.04).collides(&map, &pose) {
                free.push(pose);
            }
        }
        for pair in free.chunks(2) {
            let route = way(&map, pair[0], pair[1]).unwrap_or_else(|error| panic!("{pair:?}: {error}"));
            assert!(route.length() < 2.0 * pair[0].distance(&pair[1]) + 2.5, "{pair:?} {route:?}");
        }
    }
}
