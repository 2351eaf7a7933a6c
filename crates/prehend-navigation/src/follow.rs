//! Following a route: regulated pure pursuit with turns in place, as Nav2's controller of that name does it.
//!
//! The base aims at a point ahead on its leg. It slows down near the end and where room is short, and turns in place between
//! legs. It looks along the arc that it is about to drive. If its outline would touch something there, it stops and says so.

use crate::footprint::{Contact, Footprint};
use crate::grid::Costmap;
use crate::pose::{Pose2, turn};
use crate::route::{Leg, Route};

/// What the base can do and how exact it must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowParams {
    /// Greatest speed, m/s.
    pub max_speed: f64,
    /// Greatest turning rate, rad/s.
    pub max_turn: f64,
    /// Greatest acceleration, m/s².
    pub acceleration: f64,
    /// Greatest turning acceleration, rad/s².
    pub turn_acceleration: f64,
    /// Distance of the point that is aimed at, metres.
    pub lookahead: f64,
    /// Distance from the end of a leg at which it counts as driven, metres.
    pub tolerance_xy: f64,
    /// Deviation from a heading at which a turn counts as done, radians.
    pub tolerance_yaw: f64,
    /// Distance from the route at which the base counts as lost, metres.
    pub lost: f64,
    /// How far ahead of the distance needed for stopping it looks, metres.
    pub look: f64,
}

impl Default for FollowParams {
    fn default() -> Self {
        Self {
            max_speed: 0.5,
            max_turn: 1.0,
            acceleration: 0.6,
            turn_acceleration: 2.0,
            lookahead: 0.4,
            tolerance_xy: 0.02,
            tolerance_yaw: 0.02,
            lost: 0.35,
            look: 0.15,
        }
    }
}

/// A speed along x and a turning rate about z, in the base's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// m/s.
    pub linear: f64,
    /// rad/s.
    pub angular: f64,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Follow {
    /// Drive like this until the next step.
    Drive(Velocity),
    /// The end is reached and the base stands.
    Arrived,
    /// Something is in the way at this pose; the velocity brings the base to a stand.
    Blocked {
        /// First pose ahead at which the base would touch something.
        at: Pose2,
        /// Velocity until the next step.
        velocity: Velocity,
    },
    /// The base is not near its route any more (a jump of the localisation, a push); the velocity brings it to a stand.
    Lost {
        /// Distance from the route, metres.
        off: f64,
        /// Velocity until the next step.
        velocity: Velocity,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Still to turn by about this much, signed; the sense matters while it is more than half a turn.
    Turn(f64),
    Drive,
}

/// One drive along a route.
#[derive(Clone, Debug)]
pub struct Follower {
    start: Pose2,
    legs: Vec<(Pose2, Leg, Pose2)>,
    leg: usize,
    phase: Phase,
    params: FollowParams,
    velocity: Velocity,
    last_yaw: Option<f64>,
}

impl Follower {
    /// Begins a route with the base standing.
    pub fn new(route: &Route, params: FollowParams) -> Self {
        let mut from = route.start;
        let mut legs = Vec::new();
        for (leg, end) in route.legs.iter().zip(route.ends()) {
            legs.push((from, *leg, end));
            from = end;
        }
        let phase = Phase::Turn(legs.first().map_or(0.0, |(_, leg, _)| leg.turn));
        Self {
            start: route.start,
            legs,
            leg: 0,
            phase,
            params,
            velocity: Velocity::default(),
            last_yaw: None,
        }
    }

    /// Metres still to drive from a pose.
    pub fn remaining(&self, pose: &Pose2) -> f64 {
        let Some((_, leg, end)) = self.legs.get(self.leg) else {
            return 0.0;
        };
        let rest: f64 = self.legs[self.leg + 1..].iter().map(|(_, leg, _)| leg.drive.abs()).sum();
        rest + if leg.drive == 0.0 { 0.0 } else { pose.distance(end) }
    }

    /// What to do with the base at `pose` (the map's frame), for the next `dt` seconds.
    pub fn step(&mut self, pose: &Pose2, map: &Costmap, footprint: &Footprint, dt: f64) -> Follow {
        if !(pose.is_finite() && dt.is_finite() && dt > 0.0) {
            return Follow::Lost { off: f64::INFINITY, velocity: Velocity::default() };
        }
        let turned = self.last_yaw.map_or(0.0, |last| turn(last, pose.yaw));
        self.last_yaw = Some(pose.yaw);
        if let Phase::Turn(left) = &mut self.phase {
            *left -= turned;
        }
        // Each pass ends a leg or a phase, so this ends.
        loop {
            let Some((from, leg, end)) = self.legs.get(self.leg).copied() else {
                return self.finish(dt);
            };
            match self.phase {
                Phase::Turn(left) => {
                    let exact = turn(pose.yaw, end.yaw);
                    // More than half a turn is left: keep its sense.
                    let left = if left.abs() > std::f64::consts::PI { left } else { exact };
                    let last = self.leg + 1 == self.legs.len() && leg.drive == 0.0;
                    let enough =
                        if last { self.params.tolerance_yaw } else { 2.0 * self.params.tolerance_yaw };
                    if left.abs() <= enough && self.velocity.angular.abs() < 0.2 {
                        self.phase = Phase::Drive;
                        continue;
                    }
                    return self.turn_in_place(pose, left, map, footprint, dt);
                }
                Phase::Drive => {
                    let (sin, cos) = end.yaw.sin_cos();
                    let along = |x: f64, y: f64| (x - from.x) * cos + (y - from.y) * sin;
                    let sense = if leg.drive < 0.0 { -1.0 } else { 1.0 };
                    let left = sense * (leg.drive - along(pose.x, pose.y));
                    let off = ((pose.y - from.y) * cos - (pose.x - from.x) * sin).abs();
                    if off > self.params.lost || left > leg.drive.abs() + self.params.lost {
                        let velocity = self.slow(dt);
                        return Follow::Lost { off: off.max(left - leg.drive.abs()), velocity };
                    }
                    if left <= self.params.tolerance_xy.min(leg.drive.abs() / 2.0) {
                        self.leg += 1;
                        let next = self.legs.get(self.leg);
                        self.phase = Phase::Turn(next.map_or(0.0, |(_, _, end)| turn(pose.yaw, end.yaw)));
                        if let Some((_, next, _)) = next
                            && next.turn.abs() > std::f64::consts::PI
                        {
                            self.phase = Phase::Turn(next.turn);
                        }
                        continue;
                    }
                    return self.pursue(pose, (&from, &leg, &end), left, map, footprint, dt);
                }
            }
        }
    }

    fn finish(&mut self, dt: f64) -> Follow {
        let velocity = self.slow(dt);
        let stands = velocity.linear.abs() < 1e-3 && velocity.angular.abs() < 1e-3;
        if stands { Follow::Arrived } else { Follow::Drive(velocity) }
    }

    fn turn_in_place(
        &mut self,
        pose: &Pose2,
        left: f64,
        map: &Costmap,
        footprint: &Footprint,
        dt: f64,
    ) -> Follow {
        let reach = (left.abs().min(0.4) / 0.1).ceil().max(1.0) as usize;
        let ahead = (1..=reach).map(|step| left.signum() * (0.1 * step as f64).min(left.abs()));
        let mut contact = Contact::resumed(map, footprint, &self.start, pose);
        let touching =
            ahead.map(|angle| Pose2 { yaw: pose.yaw + angle, ..*pose }).find(|pose| contact.worsens(pose));
        if let Some(at) = touching {
            return Follow::Blocked { at, velocity: self.slow(dt) };
        }
        let rate = (2.0 * 0.7 * self.params.turn_acceleration * left.abs()).sqrt().min(self.params.max_turn);
        // Near the end: no faster than what is left in a few steps.
        let rate = rate.min(left.abs() / (2.0 * dt)).max(0.0);
        Follow::Drive(self.towards(0.0, rate * left.signum(), dt))
    }

    fn pursue(
        &mut self,
        pose: &Pose2,
        (from, leg, end): (&Pose2, &Leg, &Pose2),
        left: f64,
        map: &Costmap,
        footprint: &Footprint,
        dt: f64,
    ) -> Follow {
        let params = self.params;
        let sense = if leg.drive < 0.0 { -1.0 } else { 1.0 };
        let (sin, cos) = end.yaw.sin_cos();
        let driven = leg.drive.abs() - left;
        // The aim lies on the leg's line and may lie beyond its end: the last bit is driven straight, too.
        let aim = sense * (driven + params.lookahead);
        let [x, y] = pose.inverse_transform([from.x + aim * cos, from.y + aim * sin]);
        let curvature = 2.0 * y / (x * x + y * y).max(0.01);
        let stopping = (2.0 * 0.7 * params.acceleration * left.max(0.0)).sqrt();
        // Slower in bends, and where room is short.
        let room = map.room(pose.xy()) - footprint.inscribed_radius();
        let near = (0.35 + room.max(0.0) / 0.5).min(1.0);
        let bend = params.max_turn / curvature.abs().max(1e-3);
        let speed = (params.max_speed * near).min(stopping).min(bend).min(left / (2.0 * dt)).max(0.01);
        let ahead = speed * speed / (2.0 * params.acceleration) + params.look;
        let reach = ahead.min(left.max(0.0));
        let spacing = map.layout().resolution;
        let steps = (reach / spacing).ceil().max(1.0) as usize;
        let mut on_arc = *pose;
        let mut contact = Contact::resumed(map, footprint, &self.start, pose);
        for _ in 0..steps {
            let step = sense * reach / steps as f64;
            let middle = on_arc.yaw + curvature * step / 2.0;
            on_arc = Pose2::new(
                on_arc.x + step * middle.cos(),
                on_arc.y + step * middle.sin(),
                on_arc.yaw + curvature * step,
            );
            if contact.worsens(&on_arc) {
                return Follow::Blocked { at: on_arc, velocity: self.slow(dt) };
            }
        }
        let velocity = self.towards(sense * speed, sense * speed * curvature, dt);
        Follow::Drive(velocity)
    }

    fn slow(&mut self, dt: f64) -> Velocity {
        self.towards(0.0, 0.0, dt)
    }

    /// Brings the velocity towards a wanted one as fast as the base may.
    fn towards(&mut self, linear: f64, angular: f64, dt: f64) -> Velocity {
        let params = self.params;
        let near = |from: f64, to: f64, most: f64| from + (to - from).clamp(-most, most);
        let linear = near(self.velocity.linear, linear, params.acceleration * dt);
        let angular = near(self.velocity.angular, angular, params.turn_acceleration * dt);
        self.velocity = Velocity {
            linear: linear.clamp(-params.max_speed, params.max_speed),
            angular: angular.clamp(-params.max_turn, params.max_turn),
        };
        self.velocity
    }
}

/// Where a base is after driving like this for `dt` seconds (the exact arc).
pub fn driven(pose: &Pose2, velocity: &Velocity, dt: f64) -> Pose2 {
    let (v, w) = (velocity.linear, velocity.angular);
    let yaw = pose.yaw + w * dt;
    let (x, y) = if w.abs() < 1e-9 {
        (v * dt * pose.yaw.cos(), v * dt * pose.yaw.sin())
    } else {
        (v / w * (yaw.sin() - pose.yaw.sin()), v / w * (pose.yaw.cos() - yaw.cos()))
    };
    Pose2 { x: pose.x + x, y: pose.y + y, yaw: crate::pose::normalised(yaw) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::OccupancyGrid;
    use crate::rooms;
    use crate::route::{RouteParams, plan};

    /// Drives until something ends it; the poses on the way and the end.
    fn drive(
        grid: &OccupancyGrid,
        route: &Route,
        disturb: impl Fn(usize, &mut Pose2),
    ) -> (Vec<Pose2>, Follow) {
        let (map, footprint) = (rooms::costmap(grid), rooms::footprint());
        let mut follower = Follower::new(route, FollowParams::default());
        let (mut pose, dt) = (route.start, 0.02);
        let mut poses = vec![pose];
        let mut last = Velocity::default();
        for step in 0..20_000 {
            disturb(step, &mut pose);
            match follower.step(&pose, &map, &footprint, dt) {
                Follow::Drive(velocity) => {
                    assert!((velocity.linear - last.linear).abs() <= 0.6 * dt + 1e-9);
                    assert!((velocity.angular - last.angular).abs() <= 2.0 * dt + 1e-9);
                    assert!(velocity.linear.abs() <= 0.5 && velocity.angular.abs() <= 1.0);
                    pose = driven(&pose, &velocity, dt);
                    last = velocity;
                    poses.push(pose);
                }
                end => return (poses, end),
            }
        }
        panic!("still driving at {pose:?} of {route:?}");
    }

    fn route(grid: &OccupancyGrid, start: Pose2, goal: Pose2) -> Route {
        plan(&rooms::costmap(grid), &rooms::footprint(), &start, &goal, &RouteParams::default())
            .expect("a way")
    }

    #[test]
    fn routes_are_driven_to_their_end_without_touching() {
        let grid = rooms::furnished();
        let map = rooms::costmap(&grid);
        for (start, goal) in [
            (Pose2::new(1.0, 2.5, 0.0), Pose2::new(5.0, 2.5, 3.1)),
            (Pose2::new(0.8, 0.8, 2.0), Pose2::new(3.0, 1.65, 1.57)),
            (Pose2::new(3.0, 3.5, -1.57), Pose2::new(1.0, 1.0, 0.3)),
        ] {
            let route = route(&grid, start, goal);
            let (poses, end) = drive(&grid, &route, |_, _| ());
            assert_eq!(end, Follow::Arrived, "{route:?} at {:?}", poses.last());
            let last = poses[poses.len() - 1];
            assert!(
                last.distance(&goal) < 0.05 && turn(last.yaw, goal.yaw).abs() < 0.04,
                "{last:?} {goal:?}"
            );
            assert!(poses.iter().all(|pose| !rooms::footprint().collides(&map, pose)));
        }
    }

    #[test]
    fn noise_of_the_localisation_is_borne() {
        let grid = rooms::two_rooms(0.9);
        let (start, goal) = (Pose2::new(1.0, 1.0, 1.0), Pose2::new(5.0, 1.0, -1.0));
        let route = route(&grid, start, goal);
        let (poses, end) = drive(&grid, &route, |step, pose| {
            // A slow sway, as of a filter.
            pose.x += 0.0006 * (step as f64 * 0.05).sin();
            pose.yaw += 0.0006 * (step as f64 * 0.08).cos();
        });
        assert_eq!(end, Follow::Arrived, "{:?}", poses.last());
        assert!(poses[poses.len() - 1].distance(&goal) < 0.06);
    }

    #[test]
    fn what_was_not_there_stops_it_before_it_touches() {
        let free = rooms::room([0.0, 6.0, 0.0, 3.0]);
        let route = route(&free, Pose2::new(1.0, 1.5, 0.0), Pose2::new(5.0, 1.5, 0.0));
        let mut blocked = free.clone();
        rooms::fill(&mut blocked, [3.0, 3.2, 1.0, 2.0], 100);
        let (poses, end) = drive(&blocked, &route, |_, _| ());
        assert!(matches!(end, Follow::Blocked { .. }), "{end:?}");
        let map = rooms::costmap(&blocked);
        assert!(poses.iter().all(|pose| !rooms::footprint().collides(&map, pose)));
        assert!(poses[poses.len() - 1].x > 2.0);
    }

    #[test]
    fn what_touches_already_may_leave_and_not_go_deeper() {
        let mut grid = rooms::room([0.0, 6.0, 0.0, 3.0]);
        rooms::fill(&mut grid, [3.3, 3.6, 1.0, 2.0], 100);
        let start = Pose2::new(3.0, 1.5, 0.0);
        assert!(rooms::footprint().collides(&rooms::costmap(&grid), &start));
        let leg = |drive: f64| Route { start, legs: vec![Leg { turn: 0.0, drive }] };
        let (poses, end) = drive(&grid, &leg(-0.3), |_, _| ());
        assert_eq!(end, Follow::Arrived);
        assert!(!rooms::footprint().collides(&rooms::costmap(&grid), &poses[poses.len() - 1]));
        assert!(matches!(drive(&grid, &leg(0.3), |_, _| ()).1, Follow::Blocked { .. }));
    }

    #[test]
    fn what_stands_too_near_comes_free_by_a_way_that_is_driven() {
        use rand::{RngExt, SeedableRng};
        let grid = rooms::furnished();
        let (map, footprint) = (rooms::costmap(&grid), rooms::footprint());
        let goal = Pose2::new(1.0, 1.0, 0.3);
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        let (mut tried, mut turned, mut again) = (0, 0, 0);
        while tried < 40 {
            let yaw = std::f64::consts::TAU * rng.random::<f64>();
            let start = Pose2::new(0.2 + 5.6 * rng.random::<f64>(), 0.2 + 4.6 * rng.random::<f64>(), yaw);
            // Into something by a cell or a few, as a base stands that touched it.
            if !footprint.depth(&map, &start).is_some_and(|depth| depth < 0.06) {
                continue;
            }
            tried += 1;
            let (mut at, mut end, mut plans) = (start, Follow::Arrived, 0);
            // What the way is not driven exactly enough for, the next plan sees.
            while plans < 3 && (plans == 0 || end != Follow::Arrived) {
                let route = plan(&map, &footprint, &at, &goal, &RouteParams::default())
                    .unwrap_or_else(|error| panic!("{at:?} of {start:?}: {error}"));
                turned += usize::from(route.legs[0].turn.abs() > 0.05);
                plans += 1;
                let deepest = footprint.depth(&map, &at).map(|depth| depth + 0.03);
                let poses;
                (poses, end) = drive(&grid, &route, |_, _| ());
                assert!(
                    poses.iter().all(|pose| footprint.depth(&map, pose) <= deepest),
                    "{start:?} {route:?}"
                );
                at = poses[poses.len() - 1];
            }
            assert_eq!(end, Follow::Arrived, "{start:?} at {at:?}");
            again += plans - 1;
        }
        assert!(again < tried / 4, "{again} of {tried} were planned again");
        // Most drive out straight; where that goes deeper, they turn first.
        assert!(turned > 0, "{turned}");
    }

    #[test]
    fn what_the_localisation_puts_into_a_wall_on_the_way_drives_on() {
        let grid = rooms::room([0.0, 6.0, 0.0, 3.0]);
        // Free by half a centimetre, along the wall.
        let start = Pose2::new(3.0, 0.255, 0.0);
        assert!(!rooms::footprint().collides(&rooms::costmap(&grid), &start));
        let leaving = Route { start, legs: vec![Leg { turn: 0.0, drive: 1.0 }] };
        let (poses, end) = drive(&grid, &leaving, |step, pose| {
            if step == 3 {
                (pose.y, pose.yaw) = (pose.y - 0.03, 0.06);
            }
        });
        assert!(poses.len() > 20, "it went on: {end:?}");
    }

    #[test]
    fn a_jump_of_the_localisation_is_seen() {
        let grid = rooms::room([0.0, 6.0, 0.0, 5.0]);
        let route = route(&grid, Pose2::new(1.0, 1.0, 0.0), Pose2::new(5.0, 1.0, 0.0));
        let (_, end) = drive(&grid, &route, |step, pose| {
            if step == 150 {
                pose.y += 0.6;
            }
        });
        assert!(matches!(end, Follow::Lost { off, .. } if (off - 0.6).abs() < 0.05), "{end:?}");
        let mut follower = Follower::new(&route, FollowParams::default());
        let nowhere = Pose2::new(f64::NAN, 0.0, 0.0);
        let step = follower.step(&nowhere, &rooms::costmap(&grid), &rooms::footprint(), 0.02);
        assert!(matches!(step, Follow::Lost { .. }));
    }

    #[test]
    fn backwards_legs_are_driven_backwards() {
        let grid = rooms::room([0.0, 6.0, 0.0, 3.0]);
        let legs = vec![Leg { turn: 0.0, drive: -1.0 }, Leg { turn: 4.0, drive: 0.5 }];
        let route = Route { start: Pose2::new(3.0, 1.5, 0.0), legs };
        let (poses, end) = drive(&grid, &route, |_, _| ());
        assert_eq!(end, Follow::Arrived);
        assert!(poses.iter().any(|pose| pose.x < 2.05 && pose.yaw.abs() < 0.05));
        assert!(poses[poses.len() - 1].distance(&route.end()) < 0.05);
        // The long way round was kept: it turned left past half a turn.
        assert!(
            poses.iter().any(|pose| pose.yaw > 3.0)
                && !poses.iter().any(|pose| (-1.5..-0.2).contains(&pose.yaw))
        );
    }
}
