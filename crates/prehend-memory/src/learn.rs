//! What outcomes and time teach about a thing; the paper's scores never change.

use crate::record::{Action, Tally, Thing};

/// What the proposer's score is worth, in tries.
const PRIOR: f64 = 2.0;
/// What another robot's try is worth: its hand may be another one.
const OTHERS: f64 = 0.5;
/// Seconds after which a thing that can be taken is still there with probability one half, when nobody looked again; a thing that cannot is
/// furniture.
const HALF_LIFE: [f64; 2] = [3.0 * 86_400.0, 300.0 * 86_400.0];
/// From this score on a thing counts as one that people take.
const TAKEN: f64 = 0.3;
/// What is left of the belief in a thing that a look should have shown and did not.
const MISSED: f64 = 0.2;

/// How well an action goes with a thing for a robot, [0, 1]: the proposed score as a prior of two tries, and what was tried since.
/// 0 when it was neither proposed nor tried.
pub fn score(thing: &Thing, action: Action, robot: &str) -> f64 {
    let prior = thing.proposed.get(&action).copied();
    let tried = thing.tried.get(&action);
    if prior.is_none() && tried.is_none() {
        return 0.0;
    }
    let (mut done, mut all) = (PRIOR * prior.unwrap_or(0.5), PRIOR);
    for (who, Tally { done: good, failed }) in tried.into_iter().flatten() {
        let weight = if who == robot { 1.0 } else { OTHERS };
        done += weight * f64::from(*good);
        all += weight * f64::from(good + failed);
    }
    (done / all).clamp(0.0, 1.0)
}

/// How sure it is that a thing is still where it was seen last, [0, 1].
pub fn belief(thing: &Thing, now: f64) -> f64 {
    let is_taken = thing.proposed.get(&Action::Pick).is_some_and(|score| *score >= TAKEN);
    let age = (now - thing.last_seen).max(0.0);
    let still = 0.5_f64.powf(age / HALF_LIFE[usize::from(!is_taken)]);
    if thing.missed.is_some() { still * MISSED } else { still }
}
