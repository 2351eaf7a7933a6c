//! What stands in the way of a grasp is put aside first, if nobody can mind.

use super::executor::Executor;
use super::remedy::{Remedy, remedy};
use crate::planner::{Action, describe, is_furniture, judge, listed};
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey, ObjectMap, Relation, fixture, spatial};

impl Executor<'_, '_> {
    /// Puts one of the things aside without which an object could be grasped, if anything may be; what it is called.
    ///
    /// Errors: `fault` with who is in the way and why it stays there, when none of them may be moved or could be; what ends the goal
    /// whatever else is tried.
    pub(super) fn make_way(&mut self, object: &ObjectKey, fault: Fault, may: bool) -> Result<String, Fault> {
        let map = self.tools.map()?;
        let mut why = Vec::new();
        for key in fault.in_the_way.iter().filter(|_| may) {
            let name = describe(key, &map);
            if let Some(stays) = self.stays(key, &map) {
                why.push(format!("{name} stays: {stays}"));
                continue;
            }
            let away = Action::Place {
                object: key.clone(),
                relation: Relation::Away,
                targets: vec![object.clone()],
                until_full: false,
                drop: false,
                part: None,
                compartment: None,
                spot: None,
            };
            self.remember_here(key, &map);
            // What stands in the way of that is not put aside in turn.
            let clearings = std::mem::take(&mut self.clearings);
            let mut moved = self.act(&away, &map);
            if moved.is_err() && self.tools.state().held_object.is_some() {
                // No place that is far enough away: any on the table will do.
                moved = moved.or_else(|_| self.act(&Action::put_on_table(key.clone(), None), &map));
            }
            self.clearings = clearings;
            match moved {
                Ok(_) => return Ok(name),
                Err(ends) if remedy(ends.reason) == Remedy::Give => return Err(ends),
                Err(other) => why.push(format!("{name} stays: {}", other.message.trim_end_matches('.'))),
            }
        }
        Err(blocked(&self.alias(object), fault, &why, &map))
    }

    /// Why a thing must not be put aside, if so: what may be stands on the table by itself, carries nothing, was not put there by this
    /// goal, and policy and hand allow it.
    pub(super) fn stays(&mut self, key: &ObjectKey, map: &ObjectMap) -> Option<String> {
        let Some(thing) = map.get(key) else { return Some("I do not see it any more".to_owned()) };
        if is_furniture(thing) || fixture::is_panel(&thing.class_name) {
            return Some("it is furniture".to_owned());
        }
        if self.taken.iter().any(|taken| self.alias(taken) == *key) {
            return Some("I have just put it there".to_owned());
        }
        let others: Vec<&Object> =
            map.objects.iter().filter(|it| it.key != *key && !is_furniture(it)).collect();
        if let Some(on) = others.iter().find(|other| is_at(other, thing)) {
            return Some(format!("{} is in or on it", describe(&on.key, map)));
        }
        if let Some(under) = others.iter().find(|other| is_at(thing, other)) {
            return Some(format!("it is in or on {}", describe(&under.key, map)));
        }
        let actions =
            [Action::Pick { object: key.clone(), part: None }, Action::put_on_table(key.clone(), None)];
        let refused = actions.iter().find_map(|action| judge(action, self.tools, self.knowledge).err());
        refused.map(|fault| fault.message.trim_end_matches('.').to_owned())
    }
}

/// How far below the top of what carries it the underside of a thing may be seen, metres.
const SUNK: f64 = 0.02;
/// How far what is inside something may be seen to stick out of it, metres.
const OUT: f64 = 0.005;

/// Whether a thing lies on top of another, with its middle over it, or wholly inside its outline. What only stands close beside another
/// does neither, although some points of one are taken for the other.
fn is_at(one: &Object, other: &Object) -> bool {
    let middle = other.bounds.pose.inverse_transform_point(&spatial::centre(one));
    let half = other.bounds.size / 2.0;
    let within = |reach: f64| middle.x.abs() + reach <= half.x && middle.y.abs() + reach <= half.y;
    let underside = spatial::centre(one).z - spatial::height_of(one) / 2.0;
    let is_on = within(0.0) && underside > other.bounds.top() - SUNK;
    is_on || within(spatial::width_of(one) / 2.0 - OUT) && spatial::inside(one, other)
}

/// Why an object is not taken, for the person who may help.
fn blocked(object: &ObjectKey, fault: Fault, why: &[String], map: &ObjectMap) -> Fault {
    let names: Vec<String> = fault.in_the_way.iter().map(|key| describe(key, map)).collect();
    let (stand, them) = if names.len() == 1 { ("stands", "it") } else { ("stand", "them") };
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    let message = format!(
        "I cannot take {}: {} {stand} in the way{why}. Move {them} aside, or tell me where to put {them}.",
        describe(object, map),
        listed(&names)
    );
    Fault { message, ..fault }
}
