//! Ways from where and to where room is short, or from where the base touches something: by small motions on which it goes nowhere
//! deeper, to where there is room, then on.

use super::{Leg, Route, RouteError, RouteParams, between};
use crate::footprint::{Contact, Footprint};
use crate::grid::Costmap;
use crate::pose::{Pose2, normalised};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// How many margins are kept once there is room, the most wanted first: who drives is never exactly on its way.
const MARGINS: [f64; 5] = [5.0, 2.5, 1.0, 0.5, 0.0];
/// How deep a base may be in something that it drove into, metres; who is deeper stands elsewhere than it believes.
const GRAZED: f64 = 0.1;
/// A small turn, radians.
const TURN: f64 = 0.1;
/// Most poses that are looked at.
const MOST: usize = 20_000;

/// A way by small motions from the start to where there is room, from there to such a place before the goal, and by small motions into
/// it; as much room as there is.
///
/// Errors: `missing`, which is why there is no other way, or why there is none between the places with room.
pub(super) fn plan_between_tight(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    goal: &Pose2,
    params: &RouteParams,
    mut missing: RouteError,
) -> Result<Route, RouteError> {
    if footprint.depth(map, start).is_some_and(|depth| depth > GRAZED) {
        return Err(missing);
    }
    // Where it may turn as it likes, else with some room around the outline.
    let disc = Footprint::circle(footprint.circumscribed_radius() + params.margin).ok();
    let grown = MARGINS.into_iter().map(|share| footprint.grown(params.margin * share));
    for outline in disc.into_iter().chain(grown) {
        let away = |from: &Pose2| leave(map, footprint, params, from, &outline);
        let (Some(out), Some(back)) = (away(start), away(goal)) else { continue };
        // With room at both ends small motions change nothing.
        if out.is_empty() && back.is_empty() && !footprint.collides(map, start) {
            continue;
        }
        let out = Route { start: *start, legs: out };
        let before = Route { start: *goal, legs: back };
        match between(map, footprint, &out.end(), &before.end(), params) {
            Ok(rest) => {
                let legs = out.legs.into_iter().chain(rest.legs).chain(reversed(&before.legs)).collect();
                return Ok(Route { start: *start, legs });
            }
            Err(error) => missing = error,
        }
    }
    Err(missing)
}

/// The same way the other way round; it begins with the heading with which that one ends.
fn reversed(legs: &[Leg]) -> Vec<Leg> {
    let mut back: Vec<Leg> = Vec::new();
    for leg in legs.iter().rev() {
        match back.last_mut() {
            Some(last) if last.drive == 0.0 => last.drive = -leg.drive,
            _ => back.push(Leg { turn: 0.0, drive: -leg.drive }),
        }
        back.push(Leg { turn: -leg.turn, drive: 0.0 });
    }
    back.retain(|leg| leg.turn != 0.0 || leg.drive != 0.0);
    back
}

/// A pose that was come to by small motions.
struct Step<'a> {
    pose: Pose2,
    contact: Contact<'a>,
    before: usize,
    motion: Leg,
    cost: f64,
}

/// The shortest small motions after which an outline touches nothing; none when it touches nothing already.
fn leave(
    map: &Costmap,
    footprint: &Footprint,
    params: &RouteParams,
    start: &Pose2,
    outline: &Footprint,
) -> Option<Vec<Leg>> {
    // With the margin where there is room for it, which there may not be.
    [footprint.grown(params.margin), footprint.clone()]
        .iter()
        .find_map(|cautious| small_motions(map, cautious, start, outline))
}

fn small_motions(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    outline: &Footprint,
) -> Option<Vec<Leg>> {
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
