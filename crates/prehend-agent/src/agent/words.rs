//! What actions come to, in words.

use crate::planner::{Action, describe, describe_apart, listed};
use prehend_scene::{ObjectMap, Relation};

/// Whether an action puts down what the one before it picked up.
pub(super) fn puts_down(before: &Action, action: &Action) -> bool {
    match (before, action) {
        (Action::Pick { object: picked, .. }, Action::Place { object, .. }) => picked == object,
        _ => false,
    }
}

/// What an action comes to, in words.
pub(crate) fn done_words(action: &Action, named_in: &ObjectMap) -> String {
    match action {
        Action::Pick { object, .. } => format!("I hold {}", describe(object, named_in)),
        Action::Place { object, spot: Some(spot), .. } => {
            format!("{} is {}", describe(object, named_in), spot.words)
        }
        Action::Place { object, relation, targets, .. } => {
            let there = match relation {
                Relation::Table => "on the table".to_owned(),
                Relation::Away if targets.is_empty() => "put aside".to_owned(),
                _ => {
                    let names: Vec<String> = targets.iter().map(|key| describe(key, named_in)).collect();
                    format!("{} {}", relation.name().replace('_', " "), listed(&names))
                }
            };
            format!("{} is {there}", describe(object, named_in))
        }
        Action::Act { object, action, .. } => format!("{action} {}: done", describe_apart(object, named_in)),
        Action::Go { object } => format!("I am at {}", describe(object, named_in)),
        Action::Home => "I am at home".to_owned(),
        Action::Look => "I looked again".to_owned(),
        Action::Stop => "I hold still".to_owned(),
        Action::Already(clause) => clause.clone(),
    }
}
