//! Goal predicates for the judge.

use super::scene::{SceneError, link_of, region_rectangle};
use super::{Region, Task};
use crate::goal::{GoalSpec, Predicate};
use crate::place::Side;

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
        ("in", [object, target]) if is_board(task, target) => on(task, object, target),
        ("in", [object, target]) if let Some((container, side)) = room(task, target) => {
            Ok(Predicate::InRoom { object: object.clone(), target: container, side })
        }
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
    if region.ranges.is_empty() {
        return Ok(Predicate::On { object, target: region.target.clone() });
    }
    if let Some(beside) = beside(task, &object, region) {
        return Ok(beside);
    }
    let Some(area) = region_rectangle(task, target) else { return Err(SceneError::NoPlace { name: object }) };
    let [x, y] = [0, 1].map(|i| [area.middle[i] - area.half[i], area.middle[i] + area.half[i]]);
    Ok(Predicate::InArea { object, x, y })
}

/// A region of the table that is named after a side of one thing, as `plate_right_region`, is that side of it: bodies here are
/// larger than LIBERO's against its distances, and a fixture may stand elsewhere. As the speaker sees it, see `scene.rs`.
fn beside(task: &Task, object: &str, region: &Region) -> Option<Predicate> {
    let (of, side) = region.region.strip_suffix("_region")?.rsplit_once('_')?;
    let mut named = task.objects.keys().chain(task.fixtures.keys()).filter(|name| {
        let kind = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        name.as_str() != object && (kind == of || kind.ends_with(&format!("_{of}")))
    });
    let (target, None) = (named.next()?.clone(), named.next()) else { return None };
    let object = object.to_owned();
    match side {
        "left" => Some(Predicate::LeftOf { object, target }),
        "right" => Some(Predicate::RightOf { object, target }),
        "front" => Some(Predicate::InFrontOf { object, target }),
        "back" => Some(Predicate::Behind { object, target }),
        _ => None,
    }
}

/// The shelf of this world has one room and a board above it: LIBERO's upper layer is that board, its lower one the room.
fn is_board(task: &Task, target: &str) -> bool {
    task.regions.get(target).is_some_and(|region| {
        let category = task.fixtures.get(&region.target);
        region.region == "top_region" && category.is_some_and(|category| category.contains("shelf"))
    })
}

/// A region such as `back_contain_region`: one of the rooms of a divided container, as the speaker sees it.
fn room(task: &Task, target: &str) -> Option<(String, Side)> {
    let region = task.regions.get(target)?;
    let side = match region.region.strip_suffix("_contain_region")? {
        "left" => Side::Left,
        "right" => Side::Right,
        "front" => Side::Front,
        "back" => Side::Back,
        _ => return None,
    };
    Some((region.target.clone(), side))
}

/// What holds the thing: the drawer of a cabinet, or the whole container.
fn container(task: &Task, target: &str) -> String {
    task.regions.get(target).map_or_else(|| target.to_owned(), |region| link_of(task, region))
}

fn state(task: &Task, target: &str, state: &str) -> Predicate {
    Predicate::InState { object: container(task, target), state: state.to_owned() }
}
