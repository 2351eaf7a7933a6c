//! What became of a door: the angle at which a new image shows it in what it belongs to.

use super::{Outcome, failed};
use prehend_scene::{Felt, Object, ObjectMap, Observation, PartEffect, PartMotion, SkillPlan, furniture};

/// Angle from which a door is open, and up to which one is closed, radians: between them nothing is claimed.
const OPEN: f64 = 0.60;
const CLOSED: f64 = 0.12;
/// Angle a door that was to be closed is still plainly open at, radians.
const STILL_OPEN: f64 = 0.25;
/// Angle a door that was to be opened is still plainly not open at, radians.
const HARDLY_OPEN: f64 = 0.35;

/// Farthest the nearest point of a door is from where the hand let go of it, metres.
const LET_GO: f64 = 0.06;

/// The verdict on a door that was opened or closed; `None` for what is no door, or a door that is not seen in what it belongs to.
pub(super) fn check_door(
    plan: &SkillPlan,
    motion: &PartMotion,
    felt: &Felt,
    before: &Observation,
    now: &[Object],
) -> Option<Outcome> {
    let door = now.iter().find(|object| object.key == plan.object);
    let door = door.or_else(|| new_door(motion, felt, before, now))?;
    if !furniture::is_door(&door.class_name) {
        return None;
    }
    let map = ObjectMap { objects: now.to_vec(), ..ObjectMap::default() };
    let angle = match furniture::hinge(door, &map) {
        Some(hinge) => hinge.angle,
        // Without a handle in view only the tilt of its face is known.
        None => furniture::opening(door, &map)?.angle,
    };
    let degrees = angle.to_degrees();
    let at = format!("{} is seen at {degrees:.0} degrees", door.key);
    Some(match motion.effect {
        PartEffect::Open if angle >= OPEN => Outcome::Succeeded { because: at },
        PartEffect::Open if angle < HARDLY_OPEN => failed(at),
        PartEffect::Close if angle <= CLOSED && felt.stopped => {
            Outcome::Succeeded { because: format!("{at}, and it stopped the hand there") }
        }
        PartEffect::Close if angle > STILL_OPEN => failed(at),
        _ => Outcome::NotObserved { because: format!("{at}, which is neither open nor closed") },
    })
}

/// The door that came to be seen where the hand let go, when the one that was moved was lost from sight: a door that swung far shows
/// another side. `None` when there is none or more than one.
fn new_door<'a>(
    motion: &PartMotion,
    felt: &Felt,
    before: &Observation,
    now: &'a [Object],
) -> Option<&'a Object> {
    let end = motion.anchor + felt.displacement;
    let is_new = |object: &&Object| {
        let known = before.objects.iter().flatten().any(|old| old.key == object.key);
        !known
            && furniture::is_door(&object.class_name)
            && object.cloud.points.iter().any(|p| (p - end).norm() < LET_GO)
    };
    let mut found = now.iter().filter(is_new);
    found.next().filter(|_| found.next().is_none())
}
