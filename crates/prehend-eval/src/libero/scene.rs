//! From a task's regions to a scene file.
//!
//! LIBERO's x points away from its robot and y to its left, and its sentences are those of someone who faces that robot: "the
//! bowl at the front" is the one at the largest x, "the left plate" the one at the smallest y. Here the robot is told them
//! from its own place, so the table is turned by half a turn: front is near the robot, left is its left. One scale and one
//! shift then map regions into the arm's reach. What has to give way: things that would overlap are pushed apart, and fixtures
//! that need another place (a cabinet's front must face the robot within reach, with room for its drawers) are moved to the
//! nearest place that leaves the objects' regions free; see `libero/station.rs`.

use super::station::{self, Placed, Rectangle, Wanted};
use super::{Region, Task};
use prehend_sim::scene::Shape;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write as _;

/// Metres here to metres there.
const SCALE: f64 = 0.95;
/// Where the middle of LIBERO's table or floor is, metres in `link_base`.
const MIDDLE: [f64; 2] = [0.43, 0.0];
/// Layouts that are tried for one seed.
const ATTEMPTS: u64 = 60;

/// Why a task gives no scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// A predicate of another kind.
    #[error("`{text}` is not a predicate that is known: On, In, Open, Close, Turnon, Turnoff")]
    Predicate {
        /// The predicate.
        text: String,
    },
    /// A category that the catalogue of objects does not have.
    #[error(
        "LIBERO's category `{category}` (of `{name}`) has no model: add one of that name to a file of the catalogue, such as \
         config/objects/mine.yaml with `{category}: {{class: .., shape: .., size: .., color: .., mass: ..}}`"
    )]
    Category {
        /// The object or fixture.
        name: String,
        /// Its category.
        category: String,
    },
    /// An object without a place, or one that is defined nowhere.
    #[error("`{name}` has no place at first")]
    NoPlace {
        /// The object.
        name: String,
    },
    /// A fixture that finds no room.
    #[error("no room for the fixture `{name}`")]
    NoRoom {
        /// The fixture.
        name: String,
    },
    /// No layout is a valid scene.
    #[error("no valid scene: {why}")]
    Scene {
        /// What is wrong with the last one.
        why: String,
    },
}

/// A place on LIBERO's table, metres, in `link_base`.
fn to_base([x, y]: [f64; 2]) -> [f64; 2] {
    [MIDDLE[0] - SCALE * x, MIDDLE[1] - SCALE * y]
}

/// The name of a part of a fixture in snapshots: the drawer or door it means, or the fixture.
pub(super) fn link_of(task: &Task, region: &Region) -> String {
    let category = task.fixtures.get(&region.target).map_or("", String::as_str);
    let level = region.region.strip_suffix("_region").unwrap_or(&region.region);
    if category.contains("cabinet") && ["top", "middle", "bottom"].contains(&level) {
        format!("{}/{level} drawer", region.target)
    } else {
        region.target.clone()
    }
}

/// Room that the region of an unknown object needs beside its ranges, metres.
const OBJECT_ROOM: f64 = 0.05;

/// A scene file of the task; layouts are drawn until `parse` takes one.
pub(super) fn yaml(
    task: &Task,
    seed: u64,
    parse: &dyn Fn(&str) -> Result<(), String>,
) -> Result<String, SceneError> {
    let used = task.fixtures.iter().filter(|(_, category)| !is_ground(category)).chain(&task.objects);
    for (name, category) in used {
        if catalogue(category).is_none() {
            return Err(SceneError::Category { name: name.clone(), category: category.clone() });
        }
    }
    let fixtures = fixtures(task)?;
    let mut why = String::new();
    for attempt in 0..ATTEMPTS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(attempt + 1);
        let text = layout(task, &fixtures, &mut rng)?;
        match parse(&text) {
            Ok(()) => return Ok(text),
            Err(error) => why = error,
        }
    }
    Err(SceneError::Scene { why })
}

/// Where each fixture stands; tables and floors are the table.
fn fixtures(task: &Task) -> Result<Vec<Placed<'_>>, SceneError> {
    let is_fixture = |p: &Vec<String>| p.get(1).is_some_and(|name| task.fixtures.contains_key(name));
    let used = task.init.iter().chain(&task.goal).filter(|p| !is_fixture(p));
    let object = |predicate: &Vec<String>| {
        let region = region_rectangle(task, predicate.last()?)?;
        let category = predicate.get(1).and_then(|name| task.objects.get(name));
        let room = ROOM + category.map_or(OBJECT_ROOM, |category| reach(category));
        Some(Rectangle { middle: standing_room(region.middle), half: region.half.map(|half| half + room) })
    };
    let taken: Vec<Rectangle> = used.filter_map(object).collect();
    let is_top = |region: &Region| region.region.starts_with("top_side");
    let wanted = |name: &String| {
        let mut predicates = task.init.iter().filter(|predicate| predicate.get(1) == Some(name));
        let place = predicates.find_map(|predicate| region_rectangle(task, predicate.last()?));
        let mut ends = task.init.iter().chain(&task.goal).filter_map(|predicate| predicate.last());
        let is_top_used = ends
            .any(|end| task.regions.get(end).is_some_and(|region| region.target == *name && is_top(region)));
        (place.map_or(MIDDLE, |r| r.middle), is_top_used)
    };
    let wanted: Vec<Wanted<'_>> = task
        .fixtures
        .iter()
        .filter(|(_, category)| !is_ground(category))
        .map(|(name, category)| {
            let (at, is_top_used) = wanted(name);
            Wanted { name, category, at, is_top_used }
        })
        .collect();
    station::stations(&wanted, &taken).map_err(|name| SceneError::NoRoom { name: name.to_owned() })
}

fn is_ground(category: &str) -> bool {
    ["table", "floor"].iter().any(|ground| category.ends_with(ground))
}

/// The first rectangle of a region on the table, in `link_base`; `None` for a part of a fixture.
pub(super) fn region_rectangle(task: &Task, name: &str) -> Option<Rectangle> {
    let [x0, y0, x1, y1] = *task.regions.get(name)?.ranges.first()?;
    let (one, other) = (to_base([x0, y0]), to_base([x1, y1]));
    Some(Rectangle {
        middle: [0, 1].map(|i| (one[i] + other[i]) / 2.0),
        half: [0, 1].map(|i| (one[i] - other[i]).abs() / 2.0),
    })
}

fn layout(task: &Task, fixtures: &[Placed<'_>], rng: &mut ChaCha8Rng) -> Result<String, SceneError> {
    let mut standing = Vec::new();
    for (name, category) in &task.objects {
        let middle = initial(task, name)?.last().and_then(|at| region_rectangle(task, at));
        if let Some(Rectangle { middle, half }) = middle {
            let at = [0, 1].map(|i| middle[i] + half[i] * rng.random_range(-1.0..=1.0));
            standing.push(Standing { name, at, reach: reach(category) });
        }
    }
    let rectangles: Vec<Rectangle> = fixtures.iter().map(|fixture| fixture.ground).collect();
    spread(&mut standing, &rectangles);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "name: {}", task.name());
    let _ = writeln!(text, "table: {{size: [1.0, 1.4], center: [0.55, 0.0], color: beige}}");
    let _ = writeln!(text, "detector: imperfect");
    let _ = writeln!(text, "objects:");
    for Placed { name, category, at: [x, y], .. } in fixtures {
        let joints = joints(task, name);
        let _ = writeln!(
            text,
            "- {{name: {name}, model: {category}, pose: {{xy: [{x:.4}, {y:.4}], yaw: 0.0}}{joints}}}"
        );
    }
    for (name, category) in &task.objects {
        let predicate = initial(task, name)?;
        let at = &predicate[2];
        let yaw = rng.random_range(-0.4..0.4);
        let stands = standing.iter().find(|thing| thing.name == name);
        let place = match (stands, task.regions.get(at)) {
            (Some(Standing { at: [x, y], .. }), _) => {
                format!("pose: {{xy: [{x:.4}, {y:.4}], yaw: {yaw:.3}}}")
            }
            (None, Some(region)) if predicate[0].eq_ignore_ascii_case("in") => {
                format!("in: {}, yaw: {yaw:.3}", link_of(task, region))
            }
            (None, Some(region)) => format!("on: {}, yaw: {yaw:.3}", region.target),
            (None, None) if predicate[0].eq_ignore_ascii_case("in") => format!("in: {at}, yaw: {yaw:.3}"),
            (None, None) => format!("on: {at}, yaw: {yaw:.3}"),
        };
        let _ = writeln!(text, "- {{name: {name}, model: {category}, {place}}}");
    }
    Ok(text)
}

/// Where an object is at first.
fn initial<'t>(task: &'t Task, name: &str) -> Result<&'t Vec<String>, SceneError> {
    task.init
        .iter()
        .find(|predicate| predicate.len() == 3 && predicate[1] == *name)
        .ok_or_else(|| SceneError::NoPlace { name: name.to_owned() })
}

/// A thing on the ground.
struct Standing<'t> {
    name: &'t str,
    at: [f64; 2],
    /// Radius of the circle around it, metres.
    reach: f64,
}

/// The body of middle size of a model of the catalogue; `None` when there is no such model.
fn catalogue(category: &str) -> Option<Shape> {
    let text = format!("name: x\nobjects:\n- {{name: x, model: {category}, pose: {{xy: [0.45, 0.0]}}}}\n");
    Some(prehend_sim::Scene::parse("x", &text).ok()?.objects.pop()?.shape)
}

/// Radius of the circle around it, metres; of one that is unknown that of a mug.
fn reach(category: &str) -> f64 {
    catalogue(category).map_or(0.05, |shape| {
        let half = shape.half_extents();
        if shape.is_round() { half.x } else { half.x.hypot(half.y) }
    })
}

/// Bodies here are larger than LIBERO's against its distances: things that would overlap are pushed apart, each as little
/// as it takes, within the arm's reach and the camera's view.
fn spread(things: &mut [Standing<'_>], fixtures: &[Rectangle]) {
    for _ in 0..ROUNDS {
        let mut moved = false;
        for b in 1..things.len() {
            let (before, rest) = things.split_at_mut(b);
            let Some(second) = rest.first_mut() else { continue };
            for first in before {
                moved |= part(first, second);
            }
        }
        for thing in things.iter_mut() {
            for fixture in fixtures {
                moved |= leave(thing, fixture);
            }
            thing.at = standing_room(thing.at);
        }
        if !moved {
            return;
        }
    }
}

/// The place within the room for objects that is nearest to another.
fn standing_room(at: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|i| at[i].clamp(STAND[i][0], STAND[i][1]))
}

/// Moves a thing off the ground of a fixture, the shortest way that ends within the room for objects; whether it was on it.
fn leave(thing: &mut Standing<'_>, fixture: &Rectangle) -> bool {
    let free = [0, 1].map(|i| fixture.half[i] + thing.reach + ROOM);
    if (0..2).any(|i| (thing.at[i] - fixture.middle[i]).abs() >= free[i] - 1e-9) {
        return false;
    }
    let ways = [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0)].map(|(i, sign)| {
        let to = fixture.middle[i] + sign * free[i];
        let outside = (to - to.clamp(STAND[i][0], STAND[i][1])).abs();
        (i, to, (to - thing.at[i]).abs() + 10.0 * outside)
    });
    if let Some((i, to, _)) = ways.into_iter().min_by(|a, b| a.2.total_cmp(&b.2)) {
        thing.at[i] = to;
    }
    true
}

/// Pushes two things apart when they are too near; whether they were.
fn part<'t>(first: &mut Standing<'t>, second: &mut Standing<'t>) -> bool {
    let way = [second.at[0] - first.at[0], second.at[1] - first.at[1]];
    let distance = way[0].hypot(way[1]);
    let lacking = first.reach + second.reach + ROOM - distance;
    if lacking <= 0.0 {
        return false;
    }
    // Two in one place part along y.
    let along = if distance < 1e-6 { [0.0, 1.0] } else { way.map(|part| part / distance) };
    for (thing, sign) in [(first, -0.5), (second, 0.5)] {
        for (at, along) in thing.at.iter_mut().zip(along) {
            *at += along * sign * lacking;
        }
    }
    true
}

/// Least gap between things that are pushed apart, metres, and how often.
const ROOM: f64 = 0.015;
const ROUNDS: usize = 120;
/// Where things may be pushed to, metres.
const STAND: [[f64; 2]; 2] = [[0.26, 0.60], [-0.36, 0.36]];

/// Where joints of the catalogue's fixtures stand when they are open or on: drawers, doors, knobs; metres or radians.
const OPEN_DRAWER: f64 = 0.14;
const OPEN_DOOR: f64 = 1.3;
const TURNED_ON: f64 = 1.3;

/// What is open or on at first, as a key of the scene file.
fn joints(task: &Task, fixture: &str) -> String {
    let set: Vec<String> = task
        .init
        .iter()
        .filter_map(|predicate| {
            let [state, name] = predicate.as_slice() else { return None };
            let region = task.regions.get(name);
            let target = region.map_or(name.as_str(), |region| region.target.as_str());
            let level = region.map_or("", |region| region.region.trim_end_matches("_region"));
            let joint = match (state.to_lowercase().as_str(), level) {
                ("open", "top" | "middle" | "bottom") => format!("{level}: {OPEN_DRAWER}"),
                ("open", _) => format!("door: {OPEN_DOOR}"),
                ("turnon", _) => format!("knob: {TURNED_ON}"),
                _ => return None,
            };
            (target == fixture).then_some(joint)
        })
        .collect();
    if set.is_empty() { String::new() } else { format!(", joints: {{{}}}", set.join(", ")) }
}
