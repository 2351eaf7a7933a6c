//! Outcome checks: did the skill do what it was for, as new observations show it?

mod door;
mod knob;
mod lever;
mod needed;
pub mod part;

pub use needed::keep_needed;

use nalgebra::Point3;
use prehend_scene::{Compartment, Object, ObjectKey, Observation, Relation, Skill, SkillPlan, furniture};

/// Pads closer than this hold nothing, metres.
const EMPTY_OPENING: f64 = 0.003;
/// Pads this much wider than commanded were stopped by something, metres.
const STALLED_BY: f64 = 0.002;
/// Farthest an object may be from where it was put and still be that object, metres.
const SAME_PLACE: f64 = 0.10;
/// Slack of positions and heights that a noisy depth image allows, metres.
const SLACK: f64 = 0.02;

/// The verdict on an outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The postcondition is observed.
    Succeeded {
        /// What shows it.
        because: String,
    },
    /// The observation contradicts the postcondition.
    Failed {
        /// What contradicts it.
        because: String,
    },
    /// The observation shows neither: look again.
    NotObserved {
        /// What is missing.
        because: String,
    },
}

/// Checks the postcondition of `plan` on new observations only.
///
/// - grasp: something keeps the pads open, and the object is not where it was.
/// - place, drop: the pads hold nothing, and the object is re-observed in the relation that was wanted.
/// - the skills on parts: see [`part`].
/// - look, home, go_to: always succeed; the controller reports them.
pub fn check_outcome(plan: &SkillPlan, before: &Observation, after: &Observation) -> Outcome {
    match plan.skill {
        Skill::Look | Skill::Home | Skill::GoTo => {
            Outcome::Succeeded { because: "the controller reached its goal".to_owned() }
        }
        Skill::Grasp => check_grasp(plan, before, after),
        Skill::Place | Skill::Drop => check_place(plan, before, after),
        Skill::GraspPart | Skill::TipPush | Skill::PinchPull | Skill::HookPull => {
            part::check_part(plan, before, after)
        }
    }
}

fn failed(because: String) -> Outcome {
    Outcome::Failed { because }
}

fn check_grasp(plan: &SkillPlan, before: &Observation, after: &Observation) -> Outcome {
    let (opening, command) = (after.gripper_opening, after.gripper_command);
    if !opening.is_finite() {
        return Outcome::NotObserved { because: "the gripper reports no opening".to_owned() };
    }
    if opening < EMPTY_OPENING || opening < command + STALLED_BY {
        return failed(format!("the pads closed to {:.1} mm with nothing between them", opening * 1e3));
    }
    let held = format!("the pads stand {:.1} mm apart", opening * 1e3);
    let (Some(objects), Some(start)) = (&after.objects, find_object(before, &plan.object)) else {
        return Outcome::Succeeded { because: held };
    };
    // The same thing still standing where it was means that something else is between the pads.
    let same = |o: &&Object| {
        o.class_name == start.class_name
            && horizontal(&center(o), &center(start)) < SLACK
            && (o.bounds.top() - start.bounds.top()).abs() < SLACK
            && (o.bounds.size - start.bounds.size).norm() < 1.5 * SLACK
    };
    // So does a thing that is seen elsewhere on the table, while another one is gone: that is what was taken.
    let is_seen = |key: &ObjectKey| objects.iter().any(|o| o.key == *key);
    let others = before.objects.iter().flatten().filter(|o| o.key != plan.object);
    let gone = others.into_iter().find(|o| !is_seen(&o.key));
    match (objects.iter().find(same), gone) {
        (Some(object), _) => failed(format!("{} is still where it was", object.key)),
        (None, Some(gone)) if is_seen(&plan.object) => {
            failed(format!("{} is gone, and {} is still on the table", gone.key, plan.object))
        }
        (None, _) => Outcome::Succeeded { because: format!("{held} and {} left its place", plan.object) },
    }
}

fn check_place(plan: &SkillPlan, before: &Observation, after: &Observation) -> Outcome {
    if after.gripper_opening.is_finite()
        && after.gripper_opening > EMPTY_OPENING
        && after.gripper_command + STALLED_BY < after.gripper_opening
    {
        return failed("the pads still hold something".to_owned());
    }
    let Some(objects) = &after.objects else {
        return Outcome::NotObserved { because: "no new image was taken".to_owned() };
    };
    let Some(goal) = plan.pose_goals.last() else {
        return failed("the plan names no place".to_owned());
    };
    let goal = Point3::from(goal.translation.vector);
    let held = find_object(before, &plan.object);
    let target = |index: usize| {
        let key = plan.targets.get(index)?;
        objects.iter().find(|o| o.key == *key).or_else(|| find_object(before, key))
    };
    let relation = plan.relation.unwrap_or(Relation::Table);
    // What rolls in a bowl is still in it.
    let carrier = target(0).filter(|_| matches!(relation, Relation::In | Relation::On));
    let was_there: Vec<&Object> =
        before.objects.iter().flatten().filter(|object| object.key != plan.object).collect();
    let is_new = |object: &Object| !was_there.iter().any(|known| stands_where(object, known));
    let is_there = |object: &Object| {
        horizontal(&center(object), &goal) < SAME_PLACE
            || carrier.is_some_and(|carrier| related(relation, object, carrier).is_ok())
    };
    let candidates = objects.iter().filter(|object| looks_like_held(plan, held, object));
    let found = candidates
        .filter(|object| is_there(object) && is_new(object))
        .map(|object| (horizontal(&center(object), &goal), object))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, object)) = found else {
        return Outcome::NotObserved { because: format!("{} was not seen where it was put", plan.object) };
    };
    let verdict = match (relation, target(0), target(1)) {
        (Relation::Table | Relation::Away, _, _) => Ok(()),
        (Relation::Between, Some(a), Some(b)) => between(object, a, b),
        (_, Some(target), _) => {
            related(relation, object, target).and_then(|()| in_compartment(&plan.part, object, target))
        }
        _ => {
            return Outcome::NotObserved { because: "the target was not seen again".to_owned() };
        }
    };
    match verdict {
        Ok(()) => Outcome::Succeeded {
            because: format!("{} is seen {} {}", object.key, relation.name(), names(&plan.targets)),
        },
        Err(because) => failed(because),
    }
}

fn names(keys: &[ObjectKey]) -> String {
    keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>().join(" and ")
}

fn find_object<'a>(observation: &'a Observation, key: &ObjectKey) -> Option<&'a Object> {
    observation.objects.as_ref()?.iter().find(|object| object.key == *key)
}

fn center(object: &Object) -> Point3<f64> {
    Point3::from(object.bounds.pose.translation.vector)
}

fn horizontal(a: &Point3<f64>, b: &Point3<f64>) -> f64 {
    (a.xy() - b.xy()).norm()
}

/// Whether two sightings, before and after, are of one thing that was not moved.
fn stands_where(now: &Object, before: &Object) -> bool {
    now.class_name == before.class_name
        && horizontal(&center(now), &center(before)) < SLACK / 2.0
        && (now.bounds.top() - before.bounds.top()).abs() < SLACK / 2.0
}

/// Whether an object may be the one that was held; the targets themselves are not.
fn looks_like_held(plan: &SkillPlan, held: Option<&Object>, object: &Object) -> bool {
    if plan.targets.contains(&object.key) {
        return false;
    }
    let Some(held) = held else { return true };
    let voted = |a: &Object, b: &Object| a.class_votes.iter().any(|(name, _)| *name == b.class_name);
    held.class_name.is_empty()
        || object.class_name == held.class_name
        || voted(held, object)
        || voted(object, held)
        // Detectors misname: a thing of its colour and size, where nothing was before, is it whatever it is called.
        || (color_distance(object, held) < 80.0 && (0.5..2.0).contains(&size_ratio(object, held)))
}

fn size_ratio(a: &Object, b: &Object) -> f64 {
    a.bounds.size.norm() / b.bounds.size.norm().max(1e-6)
}

fn color_distance(a: &Object, b: &Object) -> f64 {
    (0..3).map(|i| (f64::from(a.color[i]) - f64::from(b.color[i])).powi(2)).sum::<f64>().sqrt()
}

/// Half the horizontal diagonal-free reach of a box along a direction: its support in x or y, metres.
fn half_extent(object: &Object) -> f64 {
    object.bounds.size.x.max(object.bounds.size.y) / 2.0
}

fn inside_footprint(object: &Object, target: &Object) -> bool {
    let local = target.bounds.pose.inverse_transform_point(&center(object));
    local.x.abs() <= target.bounds.size.x / 2.0 + SLACK / 2.0
        && local.y.abs() <= target.bounds.size.y / 2.0 + SLACK / 2.0
}

fn related(relation: Relation, object: &Object, target: &Object) -> Result<(), String> {
    let (o, t) = (center(object), center(target));
    let offset = o - t;
    let bottom = o.z - object.bounds.size.z / 2.0;
    let table = t.z - target.bounds.size.z / 2.0;
    let fine = match relation {
        // The lower part of a thing in or on another is hidden: the footprint and a raised top must do.
        // What lies on a drawer's front or handle is above its rim, and not in it.
        Relation::In if furniture::is_panel(&target.class_name) => {
            inside_footprint(object, target) && object.bounds.top() < target.bounds.top()
        }
        Relation::On | Relation::In => inside_footprint(object, target) && o.z > table - SLACK,
        Relation::NextTo => {
            offset.xy().norm() < half_extent(object) + half_extent(target) + 0.15
                && !(inside_footprint(object, target) && bottom > table + SLACK)
        }
        Relation::LeftOf => offset.y > 0.0 && offset.y > 0.5 * offset.x.abs(),
        Relation::RightOf => offset.y < 0.0 && -offset.y > 0.5 * offset.x.abs(),
        Relation::InFrontOf => offset.x < 0.0 && -offset.x > 0.5 * offset.y.abs(),
        Relation::Behind => offset.x > 0.0 && offset.x > 0.5 * offset.y.abs(),
        Relation::Between | Relation::Away | Relation::Table => true,
    };
    if fine {
        return Ok(());
    }
    Err(format!(
        "{} is seen {:.0} mm ahead and {:.0} mm left of {}, which is not {}",
        object.key,
        offset.x * 1e3,
        offset.y * 1e3,
        target.key,
        relation.name()
    ))
}

/// Whether what is in a divided container is in the room of it that was meant: at its side of the whole.
fn in_compartment(part: &str, object: &Object, target: &Object) -> Result<(), String> {
    let Some(compartment) = Compartment::parse(part) else { return Ok(()) };
    let offset = center(object) - center(target);
    let points = &target.cloud.points;
    let half = [0, 1].map(|axis| {
        let (low, high) = points
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p[axis]), high.max(p[axis])));
        (high - low) / 2.0
    });
    match compartment.fit([offset.x, offset.y], half) {
        Some(_) => Ok(()),
        None => Err(format!(
            "{} is seen {:.0} mm ahead and {:.0} mm left of the middle of {}, which is not its {part}",
            object.key,
            offset.x * 1e3,
            offset.y * 1e3,
            target.key
        )),
    }
}

fn between(object: &Object, a: &Object, b: &Object) -> Result<(), String> {
    let (o, a_center, b_center) = (center(object).xy(), center(a).xy(), center(b).xy());
    let axis = b_center - a_center;
    let length = axis.norm();
    let along = if length > 1e-6 { (o - a_center).dot(&axis) / (length * length) } else { f64::NAN };
    let aside = (o - a_center - axis * along).norm();
    if (0.1..=0.9).contains(&along) && aside < 0.5 * length {
        Ok(())
    } else {
        Err(format!("{} is not seen between {} and {}", object.key, a.key, b.key))
    }
}

#[cfg(test)]
mod tests;
