//! What became of a door: the angle at which a new image shows it in what it belongs to.

use super::{Outcome, failed};
use prehend_scene::{Felt, Object, ObjectMap, PartEffect, PartMotion, SkillPlan, fixture};

/// Angle from which a door is open, and up to which one is closed, radians: between them nothing is claimed.
const OPEN: f64 = 0.60;
const CLOSED: f64 = 0.12;
/// Angle a door that was to be closed is still plainly open at, radians.
const STILL_OPEN: f64 = 0.25;
/// Angle a door that was to be opened is still plainly not open at, radians.
const HARDLY_OPEN: f64 = 0.35;

/// The verdict on a door that was opened or closed; `None` for what is no door, or a door that is not seen in what it belongs to.
pub(super) fn check_door(
    plan: &SkillPlan,
    motion: &PartMotion,
    felt: &Felt,
    now: &[Object],
) -> Option<Outcome> {
    let door = now.iter().find(|object| object.key == plan.object)?;
    if !fixture::is_door(&door.class_name) {
        return None;
    }
    let map = ObjectMap { objects: now.to_vec(), ..ObjectMap::default() };
    let angle = match fixture::hinge(door, &map) {
        Some(hinge) => hinge.angle,
        // Without a handle in view only the tilt of its face is known.
        None => fixture::opening(door, &map)?.angle,
    };
    let degrees = angle.to_degrees();
    let at = format!("{} is seen at {degrees:.0} degrees", plan.object);
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
