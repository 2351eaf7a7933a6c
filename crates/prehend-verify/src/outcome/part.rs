//! What became of a part, from what the hand felt and what new images show.
//!
//! - hold: as a grasp: something keeps the pads open and the object left its place.
//! - take out: something keeps the pads open, the hand went far enough with it, and the part is not seen where it was.
//! - open, close, turn: the hand went far enough with the part, and a new image shows the part at its new place, where
//!   nothing was before. For a door, the angle at which it is seen decides (see `door`). For a knob and a lever, the direction
//!   in which they point decides (see `knob` and `lever`).
//! - open, when it came less far than was wanted: the image alone decides, by how far the drawer stands out.
//! - close, when it stopped before it went as far as was wanted, or when nothing stopped it: the image alone decides, and only what
//!   is plainly shut counts. That it went far says nothing: how far it had stood open is not known so well.
//! - press: the hand felt the part give way, stop and come back; and the object still stands where it stood.
//!
//! What only the hand's own motion says is never enough where an image can show it: pads slip off.

use super::{
    EMPTY_OPENING, Outcome, SLACK, STALLED_BY, center, check_grasp, failed, find_object, horizontal,
};
use nalgebra::{Point3, Vector3};
use prehend_geometry::LevelSpread;
use prehend_scene::furniture::{self, Opening};
use prehend_scene::{Felt, Object, ObjectMap, Observation, PartEffect, PartMotion, SkillPlan};

/// Points of a part lie within this of its middle, metres.
pub(super) const PART_RADIUS: f64 = 0.035;
/// Fewest points that are a part.
const PART_POINTS: usize = 5;
/// Share of the points a part had before from which it counts as seen again.
const SEEN_AGAIN: f64 = 0.25;
/// Share of the points at the new place that may have been there before.
const WAS_THERE: f64 = 0.34;
/// A part seen within this of where it should be counts, as a share of its least motion.
const SHORT: f64 = 0.7;
/// Share of its travel by which a pressed part must come back.
const RETURNED: f64 = 0.5;
/// How far behind its handle the middle of a drawer may be, beyond the way it went, metres.
const ITS_DEPTH: f64 = 0.25;
/// Most that a pressed part pushes back at the tip's slow speed, newtons: what pushes harder stood still, and the tip gave way.
const PUSHES_BACK: f64 = 80.0;
/// What a drawer that slides cannot have been turned by, radians: what is seen at its new place is something else.
const ANOTHER_WAY: f64 = 0.6;
/// What pads and links give when a part holds, metres.
const STRAIN: f64 = 0.01;
/// How far a drawer that stands out is not closed, metres: more than a thick front stands out, or than it springs back.
const PLAINLY_OPEN: f64 = 0.05;
/// Why what was pushed in is shut.
const SHUT: &str = "its front is seen level with the front of what it belongs to";
/// Farthest an object may be shifted by a push on its button, metres.
const PUSHED_AWAY: f64 = 0.03;

/// Checks what became of the part of `plan`.
pub fn check_part(plan: &SkillPlan, before: &Observation, after: &Observation) -> Outcome {
    let Some(motion) = &plan.motion else {
        return failed("the plan says nothing of the part's motion".to_owned());
    };
    let felt = after.felt.as_ref();
    match motion.effect {
        PartEffect::Hold => check_grasp(plan, before, after),
        PartEffect::TakeOut => match went_far_enough(motion, felt) {
            Ok(felt) => taken_out(motion, felt, before, after),
            Err(outcome) => outcome,
        },
        PartEffect::Open | PartEffect::Close | PartEffect::Turn => match went_far_enough(motion, felt) {
            Ok(felt) => moved(plan, motion, felt, before, after),
            Err(outcome) => shut_early(plan, motion, felt, before, after)
                .or_else(|| stands_out(plan, motion, felt, after))
                .unwrap_or(outcome),
        },
        PartEffect::Press => match went_far_enough(motion, felt) {
            Ok(felt) => pressed(plan, felt, before, after),
            Err(outcome) => outcome,
        },
    }
}

fn not_observed(because: impl Into<String>) -> Outcome {
    Outcome::NotObserved { because: because.into() }
}

fn went_far_enough<'a>(motion: &PartMotion, felt: Option<&'a Felt>) -> Result<&'a Felt, Outcome> {
    let Some(felt) = felt else {
        return Err(not_observed("the hand felt nothing of the part"));
    };
    if felt.travel.is_nan() || felt.travel < motion.least {
        return Err(failed(format!(
            "the part gave way by {:.1} mm, {:.1} mm were wanted",
            felt.travel * 1e3,
            motion.least * 1e3
        )));
    }
    Ok(felt)
}

/// How many observed points lie where a part of this middle would be.
fn points_at(objects: &[Object], at: &Point3<f64>) -> usize {
    let near = |p: &&Point3<f64>| (*p - at).norm() < PART_RADIUS;
    objects.iter().map(|object| object.cloud.points.iter().filter(near).count()).sum()
}

/// How many observed points lie around the way of a part out of what it is in, beyond its middle.
fn points_beyond(objects: &[Object], motion: &PartMotion) -> usize {
    let is_beyond = |p: &&Point3<f64>| {
        let offset = *p - motion.anchor;
        let along = offset.dot(&motion.direction);
        (0.0..1.5 * PART_RADIUS).contains(&along) && (offset - motion.direction * along).norm() < PART_RADIUS
    };
    objects.iter().map(|object| object.cloud.points.iter().filter(is_beyond).count()).sum()
}

fn needed(was: usize) -> usize {
    PART_POINTS.max((was as f64 * SEEN_AGAIN) as usize)
}

fn taken_out(motion: &PartMotion, felt: &Felt, before: &Observation, after: &Observation) -> Outcome {
    let opening = after.gripper_opening;
    if !opening.is_finite() {
        return not_observed("the gripper reports no opening");
    }
    if opening < EMPTY_OPENING || opening < after.gripper_command + STALLED_BY {
        return failed(format!("the pads closed to {:.1} mm with nothing between them", opening * 1e3));
    }
    let (Some(was), Some(now)) = (&before.objects, &after.objects) else {
        return not_observed("no new image was taken");
    };
    // The part stood out of what it was in: beyond its middle, along its way out, there must be nothing left. What it was in
    // ends before that, and says nothing.
    let (had, left) = (points_beyond(was, motion), points_beyond(now, motion));
    if had >= PART_POINTS && left > had / 2 {
        return failed("the part is still seen where it was".to_owned());
    }
    Outcome::Succeeded {
        because: format!(
            "the pads stand {:.1} mm apart and the part came {:.0} mm with the hand",
            opening * 1e3,
            felt.travel * 1e3
        ),
    }
}

fn moved(
    plan: &SkillPlan,
    motion: &PartMotion,
    felt: &Felt,
    before: &Observation,
    after: &Observation,
) -> Outcome {
    let Some(now) = &after.objects else {
        return not_observed("no new image was taken");
    };
    if motion.effect == PartEffect::Turn && super::knob::in_place(felt) {
        return super::knob::check_knob(plan, motion, before.objects.as_deref(), now);
    }
    if motion.effect == PartEffect::Turn && super::lever::is_lever(plan) {
        return super::lever::check_lever(plan, motion, felt, before.objects.as_deref(), now);
    }
    if let Some(verdict) = super::door::check_door(plan, motion, felt, before, now) {
        return verdict;
    }
    if motion.effect == PartEffect::Close && furniture::is_door(class_before(plan, before)) {
        return not_observed(format!("{} was not seen again", plan.object));
    }
    let was: &[Object] = before.objects.as_deref().unwrap_or_default();
    let (old, new) = (motion.anchor, motion.anchor + felt.displacement);
    let had = points_at(was, &old);
    let (came, there_before) = (points_at(now, &new), points_at(was, &new));
    let stayed = points_at(now, &old);
    let fresh = came >= needed(had) && (there_before as f64) <= came as f64 * WAS_THERE;
    let shift = front_shift(plan, motion, was, now);
    let turned = turned(plan, was, now);
    let class = class_before(plan, before);
    if let Some(angle) = turned.filter(|angle| *angle > ANOTHER_WAY)
        && furniture::is_panel(class)
        && !furniture::is_door(class)
    {
        return not_observed(format!(
            "what is called {} faces {:.0} degrees another way than the drawer that was moved",
            plan.object,
            angle.to_degrees()
        ));
    }
    let how_far = |mm: f64| match turned {
        Some(angle) if angle > 0.15 => {
            format!(
                "the part is seen {mm:.0} mm from where it was, its face turned by {:.0} degrees",
                angle.to_degrees()
            )
        }
        _ => format!("the part is seen {mm:.0} mm from where it was"),
    };
    if motion.effect == PartEffect::Close {
        // What was pushed in a part of the way has moved, and is not closed.
        if let Some(out) = stands_open(motion, felt, now) {
            return failed(format!("it is still seen to stand {:.0} mm open", out * 1e3));
        }
        if is_shut(motion, now) {
            return Outcome::Succeeded { because: SHUT.to_owned() };
        }
        if !felt.stopped {
            return not_observed(format!(
                "nothing stopped the hand in the {:.0} mm that it pushed, and it is not seen to be shut",
                felt.travel * 1e3
            ));
        }
    }
    if fresh && (motion.effect != PartEffect::Close || stayed < came) {
        return Outcome::Succeeded { because: how_far(felt.displacement.norm() * 1e3) };
    }
    match shift {
        Some(shift) if shift >= SHORT * motion.least.max(0.5 * felt.displacement.norm()) => {
            return Outcome::Succeeded { because: how_far(shift * 1e3) };
        }
        Some(_) | None => {}
    }
    if had >= PART_POINTS && stayed > had / 2 && came < needed(had) {
        return failed("the part is still seen where it was".to_owned());
    }
    not_observed("the part is not seen where the hand let go of it")
}

/// The verdict on a drawer that came less far than was wanted, because it stood open a part of the way already: it is seen to stand out
/// as far as counts.
fn stands_out(
    plan: &SkillPlan,
    motion: &PartMotion,
    felt: Option<&Felt>,
    after: &Observation,
) -> Option<Outcome> {
    felt.filter(|felt| motion.effect == PartEffect::Open && felt.travel > STRAIN)?;
    let now = after.objects.as_deref()?;
    let drawer = now.iter().find(|object| object.key == plan.object)?;
    if !furniture::is_panel(&drawer.class_name) || furniture::is_door(&drawer.class_name) {
        return None;
    }
    let map = ObjectMap { objects: now.to_vec(), ..ObjectMap::default() };
    let out = furniture::opening(drawer, &map)?.offset;
    let because = || format!("{} is seen {:.0} mm before what it belongs to", plan.object, out * 1e3);
    (out >= motion.least).then(|| Outcome::Succeeded { because: because() })
}

/// The verdict on what stopped before it was pushed as far as was wanted, when that was its end: it is seen to be shut.
fn shut_early(
    plan: &SkillPlan,
    motion: &PartMotion,
    felt: Option<&Felt>,
    before: &Observation,
    after: &Observation,
) -> Option<Outcome> {
    let felt = felt.filter(|felt| motion.effect == PartEffect::Close && felt.stopped)?;
    let now = after.objects.as_deref()?;
    if furniture::is_door(class_before(plan, before)) {
        return super::door::check_door(plan, motion, felt, before, now);
    }
    is_shut(motion, now).then(|| Outcome::Succeeded { because: SHUT.to_owned() })
}

/// The drawers and doors that are seen where the part was, or on its way in.
fn panels_at<'o>(motion: &PartMotion, now: &'o [Object]) -> Vec<&'o Object> {
    let across = Vector3::z().cross(&motion.direction);
    let is_there = |object: &&Object| {
        let offset = center(object) - motion.anchor;
        furniture::is_panel(&object.class_name)
            && offset.z.abs() < object.bounds.size.z / 2.0
            && offset.dot(&across).abs() < object.bounds.size.x.max(object.bounds.size.y) / 4.0
            && (-PART_RADIUS..motion.extent + ITS_DEPTH).contains(&offset.dot(&motion.direction))
    };
    now.iter().filter(is_there).collect()
}

/// Whether the drawers that are seen there are all closed, and there is one.
fn is_shut(motion: &PartMotion, now: &[Object]) -> bool {
    let map = ObjectMap { objects: now.to_vec(), ..ObjectMap::default() };
    let found = panels_at(motion, now);
    let shut =
        |object: &&Object| furniture::opening(object, &map).is_some_and(|opening| opening.is_surely_closed());
    !found.is_empty() && found.iter().all(shut)
}

/// How far a drawer that is seen there still stands open, metres; `None` when none does. Where something stopped the hand, as the end
/// of its way does, only what stands plainly open counts.
fn stands_open(motion: &PartMotion, felt: &Felt, now: &[Object]) -> Option<f64> {
    let map = ObjectMap { objects: now.to_vec(), ..ObjectMap::default() };
    let drawers = panels_at(motion, now).into_iter().filter(|object| !furniture::is_door(&object.class_name));
    let opened = drawers.filter_map(|object| furniture::opening(object, &map));
    let counts = |opening: &Opening| opening.is_open() && (!felt.stopped || opening.offset > PLAINLY_OPEN);
    opened.filter(counts).map(|opening| opening.offset).max_by(f64::total_cmp)
}

/// What the object was called before; empty when it was not seen.
fn class_before<'a>(plan: &SkillPlan, before: &'a Observation) -> &'a str {
    find_object(before, &plan.object).map_or("", |object| object.class_name.as_str())
}

/// How far the object's own front went along the motion, metres: for parts that are hidden now, but not their object.
fn front_shift(plan: &SkillPlan, motion: &PartMotion, was: &[Object], now: &[Object]) -> Option<f64> {
    let find = |objects: &[Object]| -> Option<f64> {
        let object = objects.iter().find(|o| o.key == plan.object)?;
        // The side that the part is on: what comes out leads, what goes in trails.
        let outward = if motion.effect == PartEffect::Close { -motion.direction } else { motion.direction };
        let across = |p: &Point3<f64>| {
            let d = p - motion.anchor;
            (d - outward * outward.dot(&d)).norm()
        };
        let mut along: Vec<f64> = object
            .cloud
            .points
            .iter()
            .filter(|p| across(p) < 0.10)
            .map(|p| outward.dot(&(p - motion.anchor)))
            .collect();
        along.sort_by(f64::total_cmp);
        along.get(along.len().checked_sub(1)? * 95 / 100).copied().filter(|_| along.len() >= 3 * PART_POINTS)
    };
    let shift = find(now)? - find(was)?;
    Some(if motion.effect == PartEffect::Close { -shift } else { shift })
}

/// Angle between the upright faces of the object before and now, radians; `None` when one was not seen.
fn turned(plan: &SkillPlan, was: &[Object], now: &[Object]) -> Option<f64> {
    let face = |objects: &[Object]| -> Option<Vector3<f64>> {
        let object = objects.iter().find(|o| o.key == plan.object)?;
        let points = &object.cloud.points;
        if points.len() < 6 * PART_POINTS {
            return None;
        }
        let spread = LevelSpread::of(points.iter())?;
        // Only something thin has a direction of its own, seen from above.
        (spread.most - spread.least > 0.8 * (spread.most + spread.least)).then_some(spread.across)
    };
    let angle = face(was)?.angle(&face(now)?);
    Some(angle.min(std::f64::consts::PI - angle))
}

fn pressed(plan: &SkillPlan, felt: &Felt, before: &Observation, after: &Observation) -> Outcome {
    if felt.force <= 0.0 {
        return not_observed("the robot measures no force, so what gave way is not known");
    }
    if !felt.stopped {
        return failed(format!(
            "nothing stopped the tip after {:.1} mm: it went past the part",
            felt.travel * 1e3
        ));
    }
    if felt.force > PUSHES_BACK {
        return not_observed(format!(
            "something hard stopped the tip with {:.0} N: whether it gave way is not known",
            felt.force
        ));
    }
    if felt.returned.is_nan() || felt.returned < RETURNED * felt.travel.min(0.008) {
        return failed(format!(
            "the part gave way by {:.1} mm and came back by {:.1} mm only",
            felt.travel * 1e3,
            felt.returned * 1e3
        ));
    }
    let Some(now) = &after.objects else {
        return not_observed("no new image was taken");
    };
    let done =
        format!("the part gave way by {:.1} mm at {:.0} N and came back", felt.travel * 1e3, felt.force);
    let Some(start) = find_object(before, &plan.object) else {
        return Outcome::Succeeded { because: done };
    };
    match now.iter().find(|o| o.key == plan.object) {
        Some(object) if horizontal(&center(object), &center(start)) > PUSHED_AWAY => {
            failed(format!("{} was pushed away", plan.object))
        }
        Some(object) if (object.bounds.top() - start.bounds.top()).abs() > 2.0 * SLACK => {
            failed(format!("{} does not stand as it stood", plan.object))
        }
        Some(_) => Outcome::Succeeded { because: done },
        None => {
            let place = center(start);
            let near = |o: &&Object| horizontal(&center(o), &place) < PUSHED_AWAY;
            match now.iter().find(near) {
                Some(_) => Outcome::Succeeded { because: done },
                None => not_observed(format!("{} was not seen again", plan.object)),
            }
        }
    }
}
