//! The door that is meant by the microwave: what of a thing moves when the thing is opened or closed.

use super::Action;
use super::describe::{class_of, describe, listed};
use super::furniture::panels_of;
use super::ground::Grounder;
use crate::world::Fault;
use nalgebra::Vector3;
use prehend_scene::{Makes, Object, ObjectKey, ObjectMap, Reason, furniture, spatial};

impl Grounder<'_, '_, '_> {
    /// What of a thing an action opens or closes: its only drawer or door, or of several the only one that is not yet as the action
    /// makes it; the thing itself when none is seen in it or the action is another.
    ///
    /// Errors: ambiguous when several are left.
    pub(super) fn moving_part(&mut self, verb: &str, key: &ObjectKey) -> Result<ObjectKey, Fault> {
        let map = self.map()?;
        let table = &self.knowledge.lexicon.actions;
        let made = map.get(key).and_then(|object| table.rule(verb, class_of(object))?.makes);
        let Some(makes @ (Makes::Open | Makes::Closed)) = made else { return Ok(key.clone()) };
        let panels = panels_of(key, &map);
        panels.iter().for_each(|panel| self.tools.add_to_inventory(panel));
        let left = match panels.as_slice() {
            [] => return Ok(key.clone()),
            [one] => return Ok(one.clone()),
            [first, ..] => {
                let mut left = Vec::new();
                for panel in &panels {
                    if self.state_of(panel)? != Some(makes) {
                        left.push(panel.clone());
                    }
                }
                if left.is_empty() { vec![first.clone()] } else { left }
            }
        };
        if let [one] = left.as_slice() {
            return Ok(one.clone());
        }
        let all: Vec<String> = left.iter().map(|panel| describe(panel, &map)).collect();
        let message = format!("{} has {}. Which one shall I {verb}?", describe(key, &map), listed(&all));
        Err(Fault::new(Reason::Ambiguous, super::describe::capital(&message)))
    }

    /// Closes what stands open closely above a drawer or door that shall be opened: there is no room for a hand under it. What the
    /// same sentence wants open stays so.
    pub(super) fn clear_above(&mut self, key: &ObjectKey, actions: &mut Vec<Action>) -> Result<(), Fault> {
        let map = self.map()?;
        self.close_all(above(key, &map), actions)
    }

    /// Closes what stands open over a thing that shall be taken, or over its place: the hand comes from above. What the same sentence wants
    /// open stays so.
    pub(super) fn clear_over(&mut self, key: &ObjectKey, actions: &mut Vec<Action>) -> Result<(), Fault> {
        let map = self.map()?;
        self.close_all(over(key, &map), actions)
    }

    fn close_all(&mut self, uppers: Vec<ObjectKey>, actions: &mut Vec<Action>) -> Result<(), Fault> {
        for upper in uppers {
            let is_wanted = self.states.iter().any(|(other, _)| *other == upper);
            if !is_wanted && self.surely(&upper)? == Some(Makes::Open) {
                self.tools.add_to_inventory(&upper);
                self.states.push((upper.clone(), Makes::Closed));
                actions.push(Action::Act { object: upper, action: "close".to_owned(), part: None });
            }
        }
        Ok(())
    }
}

/// Room that a hand needs between the middle of what it opens and the lower edge of what stands open above it, metres: a gripper and
/// the wrist behind it, a little tilted.
const HAND_ROOM: f64 = 0.16;
/// The same above the middle of what it takes from above, metres: a gripper as long as it is, and the wrist.
const HAND_LENGTH: f64 = 0.30;
/// How far beside what hangs over it a thing may be and still be under the hand's way, metres: half a hand.
const BESIDE: f64 = 0.05;

/// Drawers and doors of the same thing that are above one of them with less room than a hand needs, the highest first.
fn above(key: &ObjectKey, map: &ObjectMap) -> Vec<ObjectKey> {
    let panel = map.get(key).filter(|object| furniture::is_panel(class_of(object)));
    let found = panel.and_then(|panel| Some((panel, furniture::whole_of(panel, map)?)));
    let found =
        found.and_then(|(panel, whole)| Some((panel, whole, furniture::opening(panel, map)?.outward)));
    let Some((panel, whole, outward)) = found else { return Vec::new() };
    let at = spatial::centre(panel);
    let across = Vector3::z().cross(&outward);
    let is_above = |upper: &&Object| {
        // How far one stands out does not count.
        let aside = (spatial::centre(upper) - at).dot(&across).abs();
        leaves_no_room(upper, panel, HAND_ROOM) && aside < spatial::length_of(panel) / 2.0
    };
    let panels = panels_of(&whole.key, map);
    highest_first(panels.iter().filter_map(|key| map.get(key)).filter(is_above).collect())
}

/// Whether something is higher than a thing, and its lower edge nearer to the middle of that than this room.
fn leaves_no_room(upper: &Object, thing: &Object, room: f64) -> bool {
    let centre = spatial::centre(upper);
    let low = centre.z - spatial::height_of(upper) / 2.0;
    centre.z > thing.bounds.top() && low - spatial::centre(thing).z < room
}

fn highest_first(mut panels: Vec<&Object>) -> Vec<ObjectKey> {
    panels.sort_by(|a, b| spatial::centre(b).z.total_cmp(&spatial::centre(a).z));
    panels.into_iter().map(|panel| panel.key.clone()).collect()
}

/// Drawers and doors that hang over a thing with less room than a hand needs, the highest first; of a drawer or door itself those above it.
fn over(key: &ObjectKey, map: &ObjectMap) -> Vec<ObjectKey> {
    let Some(thing) = map.get(key) else { return Vec::new() };
    if furniture::is_panel(class_of(thing)) {
        return above(key, map);
    }
    let panels = map.objects.iter().filter(|other| furniture::is_panel(class_of(other)));
    highest_first(panels.filter(|panel| hangs_over(panel, thing, map, 0.0)).collect())
}

/// Whether a drawer or door, pulled out so far more than it is, hangs over a thing with less room than a hand needs.
fn hangs_over(panel: &Object, thing: &Object, map: &ObjectMap, pulled: f64) -> bool {
    let Some(opening) = furniture::opening(panel, map) else { return false };
    if furniture::holds(panel, thing) {
        return false;
    }
    let from = spatial::centre(thing) - spatial::centre(panel);
    // From its front back to the front of what it belongs to.
    let local = panel.bounds.pose.inverse_transform_vector(&opening.outward);
    let front = local.abs().dot(&panel.bounds.size) / 2.0;
    let reach = front - opening.offset - BESIDE..front + pulled + BESIDE;
    let across = from.dot(&Vector3::z().cross(&opening.outward)).abs();
    let is_under =
        reach.contains(&from.dot(&opening.outward)) && across < spatial::length_of(panel) / 2.0 + BESIDE;
    leaves_no_room(panel, thing, HAND_LENGTH) && is_under
}

/// Whether a drawer will hang over a thing once it is open: what shall go into it cannot be taken from under it.
pub(super) fn will_hang_over(panel: &ObjectKey, thing: &ObjectKey, map: &ObjectMap) -> bool {
    let (Some(panel), Some(thing)) = (map.get(panel), map.get(thing)) else { return false };
    furniture::is_panel(class_of(panel))
        && furniture::opening(panel, map).is_some_and(|opening| {
            hangs_over(panel, thing, map, (furniture::PULLED - opening.offset).max(0.0))
        })
}
