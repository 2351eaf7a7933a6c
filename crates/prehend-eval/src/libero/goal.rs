//! Goal predicates for the judge.

use super::Task;
use super::scene::{SceneError, link_of, to_base};
use crate::goal::{GoalSpec, Predicate};

/// All goal predicates of a task.
pub(super) fn spec(task: &Task) -> Result<GoalSpec, SceneError> {
    let predicates: Vec<Predicate> =
        task.goal.iter().map(|goal| predicate(task, goal)).collect::<Result<_, _>>()?;
    let mut spec = GoalSpec::world(predicates);
    // What an opened or closed thing carries moves with it, and its handle is pushed: fixtures stand.
    let parts = task.goal.iter().filter_map(|goal| goal.last()).filter_map(|name| task.regions.get(name));
    spec.may_move.extend(parts.map(|region| region.target.clone()));
    spec.may_move.sort();
    spec.may_move.dedup();
    Ok(spec)
}

fn predicate(task: &Task, goal: &[String]) -> Result<Predicate, SceneError> {
    let unsupported = || SceneError::Predicate { text: goal.join(" ") };
    let [name, arguments @ ..] = goal else { return Err(unsupported()) };
    match (name.to_lowercase().as_str(), arguments) {
        ("on", [object, target]) => on(task, object, target),
        ("in", [object, target]) => {
            Ok(Predicate::In { object: object.clone(), target: container(task, target) })
        }
        ("open", [target]) => Ok(state(task, target, "open")),
        ("close", [target]) => Ok(state(task, target, "closed")),
        ("turnon", [target]) => Ok(state(task, target, "on")),
        ("turnoff", [target]) => Ok(state(task, target, "off")),
        _ => Err(unsupported()),
    }
}

fn on(task: &Task, object: &str, target: &str) -> Result<Predicate, SceneError> {
    let object = object.to_owned();
    let Some(region) = task.regions.get(target) else {
        return Ok(Predicate::On { object, target: target.to_owned() });
    };
    match region.ranges.first() {
        Some([x0, y0, x1, y1]) => {
            let (low, high) = (to_base([*x0, *y0]), to_base([*x1, *y1]));
            Ok(Predicate::InArea { object, x: [low[0], high[0]], y: [low[1], high[1]] })
        }
        None => Ok(Predicate::On { object, target: region.target.clone() }),
    }
}

/// What holds the thing: the drawer of a cabinet, or the whole container.
fn container(task: &Task, target: &str) -> String {
    task.regions.get(target).map_or_else(|| target.to_owned(), |region| link_of(task, region))
}

fn state(task: &Task, target: &str, state: &str) -> Predicate {
    Predicate::InState { object: container(task, target), state: state.to_owned() }
}
