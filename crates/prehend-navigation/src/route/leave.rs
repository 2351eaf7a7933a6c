//! Ways from where the base touches something: first free of it, by small motions on which it goes nowhere deeper, then on.

use super::{Leg, MARGINS, ROOMY, Route, RouteError, RouteParams, plan};
use crate::footprint::{Contact, Footprint};
use crate::grid::Costmap;
use crate::pose::{Pose2, normalised};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// How deep a base may be in something that it drove into, metres; who is deeper stands elsewhere than it believes.
const GRAZED: f64 = 0.1;
/// A small turn, radians.
const TURN: f64 = 0.1;
/// Most poses that are looked at.
const MOST: usize = 20_000;

/// A way from a pose that touches something: first away from it, with as much room as there is, then on.
pub(super) fn plan_from_contact(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    goal: &Pose2,
    params: &RouteParams,
) -> Result<Route, RouteError> {
    let mut missing = RouteError::StartBlocked { x: start.x, y: start.y };
    if footprint.depth(map, start).is_some_and(|depth| depth > GRAZED) {
        return Err(missing);
    }
    // Who drives is never exactly on its way.
    let cautious = footprint.grown(params.margin);
    for share in [2.0 * ROOMY].into_iter().chain(MARGINS) {
        let outline = footprint.grown(params.margin * share);
        let Some(legs) = leave(map, &cautious, start, &outline) else { continue };
        let mut route = Route { start: *start, legs };
        match plan(map, footprint, &route.end(), goal, params) {
            Ok(rest) => {
                route.legs.extend(rest.legs);
                return Ok(route);
            }
            Err(error) => missing = error,
        }
    }
    Err(missing)
}

/// A pose that was come to by small motions.
struct Step<'a> {
    pose: Pose2,
    contact: Contact<'a>,
    before: usize,
    motion: Leg,
    cost: f64,
}

/// The shortest small motions after which an outline touches nothing.
fn leave(map: &Costmap, footprint: &Footprint, start: &Pose2, outline: &Footprint) -> Option<Vec<Leg>> {
    let spacing = map.layout().resolution;
    // A corner moves by as much as its arm times the turn.
    let arm = footprint.circumscribed_radius();
    let motions =
        [(0.0, spacing), (0.0, -spacing), (TURN, 0.0), (-TURN, 0.0)].map(|(turn, drive)| Leg { turn, drive });
    let contact = Contact::from(map, footprint, start);
    let mut steps = vec![Step { pose: *start, contact, before: 0, motion: Leg::default(), cost: 0.0 }];
    let mut open = BinaryHeap::from([Reverse((0u64, 0usize))]);
    let mut done = BTreeSet::new();
    // By half a motion, so that each comes to another place.
    let place = |pose: &Pose2| {
        let cells = |value: f64, step: f64| (2.0 * value / step).round() as i64;
        (cells(pose.x, spacing), cells(pose.y, spacing), cells(normalised(pose.yaw), TURN))
    };
    while let Some(Reverse((_, at))) = open.pop() {
        let (pose, cost) = (steps[at].pose, steps[at].cost);
        if !done.insert(place(&pose)) {
            continue;
        }
        if !outline.collides(map, &pose) {
            return Some(legs(&steps, at));
        }
        if done.len() > MOST {
            break;
        }
        for motion in motions {
            let route = Route { start: pose, legs: vec![motion] };
            let mut contact = steps[at].contact.clone();
            if route.sampled(spacing / 2.0, TURN / 4.0).iter().any(|pose| contact.worsens(pose)) {
                continue;
            }
            let cost = cost + motion.drive.abs() + arm * motion.turn.abs();
            // Micrometres: whole numbers have an order.
            open.push(Reverse(((cost * 1e6) as u64, steps.len())));
            steps.push(Step { pose: route.end(), contact, before: at, motion, cost });
        }
    }
    None
}

/// The motions that led to a pose, those of one kind in one.
fn legs(steps: &[Step<'_>], mut at: usize) -> Vec<Leg> {
    let mut motions = Vec::new();
    while at != 0 {
        motions.push(steps[at].motion);
        at = steps[at].before;
    }
    let mut legs: Vec<Leg> = Vec::new();
    for motion in motions.into_iter().rev() {
        match legs.last_mut() {
            Some(last) if motion.turn == 0.0 && (last.drive == 0.0 || last.drive * motion.drive > 0.0) => {
                last.drive += motion.drive;
            }
            Some(last) if motion.drive == 0.0 && last.drive == 0.0 => last.turn += motion.turn,
            _ => legs.push(motion),
        }
    }
    legs
}
