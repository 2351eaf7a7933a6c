//! What was observed to be done, and what `finish` is held against.

use crate::planner::Action;
use prehend_scene::ObjectKey;
use serde_json::{Value, json};

/// The actions of a goal whose outcome was observed, in order; an action undoes what it makes untrue.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    actions: Vec<Action>,
}

/// The object that an action changes.
fn object_of(action: &Action) -> Option<&ObjectKey> {
    match action {
        Action::Pick { object, .. }
        | Action::Place { object, .. }
        | Action::Act { object, .. }
        | Action::Go { object } => Some(object),
        Action::Home | Action::Look | Action::Stop | Action::Already(_) => None,
    }
}

impl Observed {
    /// What was done to an object is not known any more.
    pub(super) fn forget(&mut self, object: &ObjectKey) {
        self.actions.retain(|action| object_of(action) != Some(object));
    }

    /// An action was done, and its outcome observed.
    pub(super) fn note(&mut self, action: Action) {
        if let Some(object) = object_of(&action) {
            self.forget(object);
        }
        self.actions.push(action);
    }

    pub(super) fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Whether all of a plan was observed.
    pub(super) fn covers(&self, plan: &[Action]) -> bool {
        plan.iter().all(|wanted| match wanted {
            // What is picked up to be put down later was picked up if it was put down.
            Action::Pick { object, .. } => self.actions.iter().any(|done| {
                matches!(done, Action::Pick { object: held, .. } | Action::Place { object: held, .. } if held == object)
            }),
            Action::Place { object, relation, targets, compartment, spot: None, .. } => {
                self.actions.iter().any(|done| match done {
                    Action::Place { object: put, relation: how, targets: to, compartment: room, .. } => {
                        (put, how, room) == (object, relation, compartment) && same(to, targets)
                    }
                    _ => false,
                })
            }
            // No tool puts into a part of the table.
            Action::Place { spot: Some(_), .. } => false,
            Action::Act { object, action, .. } => self.actions.iter().any(
                |done| matches!(done, Action::Act { object: it, action: verb, .. } if it == object && verb == action),
            ),
            Action::Go { object } => {
                self.actions.iter().any(|done| matches!(done, Action::Go { object: at } if at == object))
            }
            Action::Home | Action::Look | Action::Stop | Action::Already(_) => true,
        })
    }

    /// What a model that knows what happened claims: each action as [`fact`] tells it, and nothing else. `None` when it is so.
    pub(super) fn contradiction(&self, claims: &[Value]) -> Option<String> {
        let told: Vec<Value> = self.actions.iter().filter_map(fact).collect();
        let unseen = claims.iter().filter(|claim| !told.contains(claim)).count();
        if unseen > 0 {
            return Some(format!(
                "{unseen} of your facts were not observed; observed were {}",
                Value::Array(told)
            ));
        }
        let untold = told.iter().filter(|fact| !claims.contains(fact)).count();
        (untold > 0)
            .then(|| format!("your facts leave out what was done; observed were {}", Value::Array(told)))
    }
}

/// An action as a fact of `finish`; none of what leaves no trace in the scene.
pub(super) fn fact(action: &Action) -> Option<Value> {
    let (object, state, target) = match action {
        Action::Pick { object, .. } => (object, "held", None),
        Action::Place { object, relation, targets, .. } => (object, relation.name(), targets.first()),
        Action::Act { object, action, .. } => (object, action.as_str(), None),
        Action::Go { .. } | Action::Home | Action::Look | Action::Stop | Action::Already(_) => return None,
    };
    let target = target.map_or("", |key| key.0.as_str());
    Some(json!({ "object": object.0, "state": state, "target": target }))
}

fn same(one: &[ObjectKey], other: &[ObjectKey]) -> bool {
    one.len() == other.len() && one.iter().all(|key| other.contains(key))
}
