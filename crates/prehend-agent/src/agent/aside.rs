//! What stands in the way of a grasp is put aside first, if nobody can mind.

use super::executor::Executor;
use super::remedy::{Remedy, remedy};
use crate::planner::{Action, describe, is_furniture, judge, listed};
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey, ObjectMap, Relation, furniture, spatial};

impl Executor<'_, '_> {
    /// Which of the things in the way may be put aside, and why the others stay.
    ///
    /// Errors: those of the map.
    pub(super) fn movable(&mut self, fault: &Fault) -> Result<(Vec<ObjectKey>, Vec<String>), Fault> {
        let (mut movable, mut why) = (Vec::new(), Vec::new());
        if fault.in_the_way.is_empty() || self.clearings == 0 {
            return Ok((movable, why));
        }
        let map = self.tools.map()?;
        for key in &fault.in_the_way {
            match self.stays(key, &map) {
                Some(stays) => why.push(format!("{} stays: {stays}", describe(key, &map))),
                None => movable.push(key.clone()),
            }
        }
        Ok((movable, why))
    }

    /// Puts one of these things aside, without which an object could be grasped; what it is called.
    ///
    /// Errors: `fault` with who is in the way and why it stays there, when none of them could be; what ends the goal whatever else is
    /// tried.
    pub(super) fn make_way(
        &mut self,
        object: &ObjectKey,
        fault: Fault,
        movable: &[ObjectKey],
    ) -> Result<String, Fault> {
        let map = self.tools.map()?;
        let mut why = Vec::new();
        for key in movable {
            let name = describe(key, &map);
            let away = Action::place(key.clone(), Relation::Away, vec![object.clone()]);
            self.remember_here(key, &map);
            // What stands in the way of that is not put aside in turn.
            let clearings = std::mem::take(&mut self.clearings);
            let moved = match self.act(&away, &map) {
                // No place that is far enough away: any on the table will do.
                Err(_) if self.tools.state().held_object.is_some() => self.put_aside(&map),
                moved => moved.map(drop),
            };
            self.clearings = clearings;
            match moved {
                Ok(()) => return Ok(name),
                Err(ends) if remedy(ends.reason) == Remedy::Give => return Err(ends),
                Err(other) => why.push(format!("{name} stays: {}", other.message.trim_end_matches('.'))),
            }
        }
        Err(self.blocked(object, fault, &why)?)
    }

    /// Why an object is not taken, for the person who may help; `why` says of things in the way why they stay.
    ///
    /// Errors: those of the map.
    pub(super) fn blocked(
        &mut self,
        object: &ObjectKey,
        fault: Fault,
        why: &[String],
    ) -> Result<Fault, Fault> {
        let map = self.tools.map()?;
        let names: Vec<String> = fault.in_the_way.iter().map(|key| describe(key, &map)).collect();
        let (stand, them) = if names.len() == 1 { ("stands", "it") } else { ("stand", "them") };
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        let message = format!(
            "I cannot take {}: {} {stand} in the way{why}. Move {them} aside, or tell me where to put {them}.",
            describe(&self.alias(object), &map),
            listed(&names)
        );
        Ok(Fault { message, ..fault })
    }

    /// Why a thing must not be put aside, if so: what may be stands on the table by itself, carries nothing, was not put there by this
    /// goal, and policy and hand allow it.
    fn stays(&mut self, key: &ObjectKey, map: &ObjectMap) -> Option<String> {
        let Some(thing) = map.get(key) else { return Some("I do not see it any more".to_owned()) };
        if is_furniture(thing) || furniture::is_panel(&thing.class_name) {
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
