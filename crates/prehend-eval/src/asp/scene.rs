//! Scenes of the benchmark: things with the ground they need, placed one after the other, written as a scene file.

use crate::scenario::Conditions;
use crate::scenario::catalogue::{CLASSES, Class, Item};
use crate::scenario::layout::{is_in_view, item_keys};
use rand::{Rng, RngExt};
use std::fmt::Write as _;

/// Least gap between the circles around two things, metres.
const GAP: f64 = 0.03;
/// Draws of one place.
const DRAWS: usize = 200;

/// A rectangle of the table, metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) x: [f64; 2],
    pub(super) y: [f64; 2],
}

/// Where small things are seen from home and reached.
pub(super) const ANYWHERE: Area = Area { x: [0.28, 0.54], y: [-0.30, 0.30] };

/// A thing on its way to the table.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    /// Name in the scene file.
    pub(super) name: String,
    /// Keys of the scene file but for its name and place.
    pub(super) keys: String,
    /// Radius of the circle around the ground it covers, metres.
    pub(super) reach: f64,
    /// Height of its top, metres; `None` when it need not be all in view from home.
    pub(super) seen_to: Option<f64>,
    /// Where its origin may be.
    pub(super) area: Area,
    /// Range of its rotation about z, radians.
    pub(super) yaw: [f64; 2],
    /// On its side.
    pub(super) lying: bool,
}

impl Thing {
    /// A thing of the catalogue of plain things.
    pub(super) fn item(name: &str, item: &Item) -> Self {
        Self {
            name: name.to_owned(),
            keys: item_keys(item, 0.7),
            reach: item.reach(),
            seen_to: Some(item.height()),
            area: ANYWHERE,
            yaw: [-3.1, 3.1],
            lying: item.class.lying,
        }
    }

    /// A model of `config/objects`.
    pub(super) fn model(name: &str, model: &str, reach: f64, area: Area, yaw: [f64; 2]) -> Self {
        let keys = format!("model: {model}");
        Self { name: name.to_owned(), keys, reach, seen_to: None, area, yaw, lying: false }
    }

    pub(super) fn with(self, keys: &str) -> Self {
        Self { keys: format!("{}, {keys}", self.keys), ..self }
    }

    pub(super) fn within(self, area: Area) -> Self {
        Self { area, ..self }
    }
}

/// A thing in its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) thing: Thing,
    pub(super) x: f64,
    pub(super) y: f64,
    yaw: f64,
}

/// Places things one after the other; `None` when one finds no room.
pub(super) fn place(rng: &mut impl Rng, things: Vec<Thing>) -> Option<Vec<Placed>> {
    let mut placed: Vec<Placed> = Vec::new();
    for thing in things {
        let here = (0..DRAWS).find_map(|_| {
            let mut draw = |range: [f64; 2]| (rng.random_range(range[0]..=range[1]) * 1e4).round() / 1e4;
            let (x, y, yaw) = (draw(thing.area.x), draw(thing.area.y), draw(thing.yaw));
            let seen = thing.seen_to.is_none_or(|height| is_in_view(x, y, thing.reach, height));
            let free = placed
                .iter()
                .all(|other| (other.x - x).hypot(other.y - y) >= other.thing.reach + thing.reach + GAP);
            (seen && free).then(|| Placed { thing: thing.clone(), x, y, yaw })
        });
        placed.push(here?);
    }
    Some(placed)
}

/// Up to `count` movable things of different classes that are not among `without`, within an area.
pub(super) fn distractors(rng: &mut impl Rng, count: usize, without: &[&str], area: Area) -> Vec<Thing> {
    let mut classes: Vec<&'static Class> =
        CLASSES.iter().filter(|class| class.movable() && !without.contains(&class.noun)).collect();
    let mut things = Vec::new();
    while things.len() < count && !classes.is_empty() {
        let class = classes.swap_remove(rng.random_range(0..classes.len()));
        let item = class.any(rng);
        things.push(Thing::item(&format!("{} {}", item.color, class.noun), &item).within(area));
    }
    things
}

/// The scene file. `confusions` says what the detector may take a class for.
pub(super) fn scene_yaml(name: &str, conditions: Conditions, confusions: &str, placed: &[Placed]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "name: {name}");
    let _ = writeln!(text, "table: {{size: [0.9, 1.2], center: [0.5, 0.0], height: 0.0, color: beige}}");
    let _ = writeln!(text, "camera: {{rate_hz: 10, depth_noise: true}}");
    let _ = writeln!(text, "detector: {{{}, confusions: {{{confusions}}}}}", conditions.detector());
    let _ = writeln!(text, "objects:");
    for Placed { thing, x, y, yaw } in placed {
        let lying = if thing.lying { ", lying: true" } else { "" };
        let _ = writeln!(
            text,
            "- {{name: \"{}\", {}, pose: {{xy: [{x}, {y}], yaw: {yaw}{lying}}}}}",
            thing.name, thing.keys
        );
    }
    text
}
