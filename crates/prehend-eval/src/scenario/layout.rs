//! Where things stand: drawn so that relations are clear and the arm can reach, written as a scene file.

use super::Conditions;
use super::catalogue::Item;
use crate::place::Side;
use prehend_sim::scene::Shape;
use rand::{Rng, RngExt};
use std::f64::consts::PI;
use std::fmt::Write as _;

/// Distances from the base within which things stand, metres.
const REACH: [f64; 2] = [0.30, 0.58];
/// Part of the table on which they stand, metres.
const X: [f64; 2] = [0.26, 0.56];
const Y: [f64; 2] = [-0.36, 0.36];
/// Where the wrist camera is when the arm is at home, metres, and the part of the table's plane that it sees from there, without
/// the part behind the fingers. Everything stands in view: what would have to be searched for could not be refused
/// without motion.
const CAMERA: [f64; 3] = [0.34, 0.0, 0.673];
const SEEN: [f64; 2] = [0.68, 0.322];
const FINGERS: [f64; 2] = [0.305, 0.10];
/// Least gap between the circles around two things, metres.
const GAP: f64 = 0.030;

/// Where a thing may stand. Numbers are indices of things before it.
#[derive(Clone, Debug)]
pub(super) enum Spot {
    /// Anywhere.
    Anywhere,
    /// On a side of another one: so far to that side, and at most so far across, metres.
    Aside { of: usize, side: Side, along: [f64; 2], across: f64 },
    /// So far from another one, centre to centre, metres.
    Around { of: usize, distance: [f64; 2] },
    /// In this direction from another one, radians, facing it, with so much between the two, metres; it may be as close to others.
    Close { to: usize, angle: f64, gap: f64 },
    /// Near the middle of two others.
    Between { first: usize, second: usize },
    /// In or on another one.
    In { of: usize },
}

/// A thing and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Name in the scene file.
    pub(super) name: String,
    pub(super) item: Item,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) yaw: f64,
    /// Index of the thing it is in or on.
    pub(super) inside: Option<usize>,
}

impl Placed {
    /// Distance of the centres, metres.
    pub(super) fn distance(&self, other: &Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// How far its centre is from another's, towards a side, metres.
    pub(super) fn toward(&self, other: &Self, side: Side) -> f64 {
        let [dx, dy] = side.direction();
        (self.x - other.x) * dx + (self.y - other.y) * dy
    }
}

/// Places things one after the other; `None` when one finds no room.
pub(super) fn place(rng: &mut impl Rng, things: &[(Item, Spot)]) -> Option<Vec<Placed>> {
    let mut placed: Vec<Placed> = Vec::new();
    for (item, spot) in things {
        let name = format!("thing_{}", placed.len());
        let mut found = None;
        for _ in 0..120 {
            let (x, y, inside) = draw(rng, item, spot, &placed)?;
            let yaw = match spot {
                Spot::Close { angle, .. } => *angle,
                _ if item.class.movable() => rng.random_range(-PI..PI),
                _ => rng.random_range(-0.4..0.4),
            };
            let here = Placed { name: name.clone(), item: item.clone(), x, y, yaw, inside };
            // Whether those that stand close overlap is seen when the scene is placed.
            let is_close = matches!(spot, Spot::Close { .. });
            if inside.is_some() || is_overseen(&here) && (is_close || has_berth(&here, &placed)) {
                found = Some(here);
                break;
            }
        }
        placed.push(found?);
    }
    for (index, thing) in placed.iter_mut().enumerate() {
        thing.x = (thing.x * 1e4).round() / 1e4;
        thing.y = (thing.y * 1e4).round() / 1e4;
        thing.yaw = (thing.yaw * 1e3).round() / 1e3;
        thing.name = format!("{} {} {}", thing.item.color, thing.item.class.noun, index);
    }
    Some(placed)
}

fn draw(
    rng: &mut impl Rng,
    item: &Item,
    spot: &Spot,
    placed: &[Placed],
) -> Option<(f64, f64, Option<usize>)> {
    Some(match spot {
        Spot::Anywhere => (rng.random_range(X[0]..X[1]), rng.random_range(Y[0]..Y[1]), None),
        Spot::Aside { of, side, along, across } => {
            let of = placed.get(*of)?;
            let [dx, dy] = side.direction();
            let along = rng.random_range(along[0]..=along[1]);
            let across = rng.random_range(-across..=*across);
            (of.x + along * dx - across * dy, of.y + along * dy + across * dx, None)
        }
        Spot::Around { of, distance } => {
            let of = placed.get(*of)?;
            let angle = rng.random_range(-PI..PI);
            let distance = rng.random_range(distance[0]..=distance[1]);
            (of.x + distance * angle.cos(), of.y + distance * angle.sin(), None)
        }
        Spot::Close { to, angle, gap } => {
            let to = placed.get(*to)?;
            let half = item.shape.half_extents().x;
            let distance = to.item.reach() + gap + half;
            (to.x + distance * angle.cos(), to.y + distance * angle.sin(), None)
        }
        Spot::Between { first, second } => {
            let (a, b) = (placed.get(*first)?, placed.get(*second)?);
            let share = rng.random_range(0.42..0.58);
            let jitter = rng.random_range(-0.015..0.015);
            (a.x + share * (b.x - a.x) + jitter, a.y + share * (b.y - a.y) - jitter, None)
        }
        Spot::In { of } => {
            let carrier = placed.get(*of)?;
            (carrier.x, carrier.y, Some(*of))
        }
    })
}

/// Whether the arm reaches it and the camera sees all of it.
fn is_overseen(here: &Placed) -> bool {
    is_reachable(here.x, here.y) && is_in_view(here.x, here.y, here.item.reach(), here.item.height())
}

fn has_berth(here: &Placed, placed: &[Placed]) -> bool {
    placed
        .iter()
        .filter(|other| other.inside.is_none())
        .all(|other| here.distance(other) >= here.item.reach() + other.item.reach() + GAP)
}

/// Whether all of a thing is seen from home: its shadow, cast by the camera, is on the seen part of the table. Metres: its
/// place, the radius of the circle around it, and the height of its top.
pub(crate) fn is_in_view(at_x: f64, at_y: f64, reach: f64, height: f64) -> bool {
    let is_free = |x: f64, y: f64| x > FINGERS[0] || y.abs() < FINGERS[1] && x > 0.2;
    is_in_picture(at_x, at_y, reach, height) && each_edge(at_x, at_y, reach, height, is_free)
}

/// As [`is_in_view`], whatever the fingers hide: they open and close, and other views show what they hide in one.
pub(crate) fn is_in_picture(at_x: f64, at_y: f64, reach: f64, height: f64) -> bool {
    each_edge(at_x, at_y, reach, height, |x, y| x < SEEN[0] && y.abs() < SEEN[1])
}

/// Whether all that is seen of the edge of a circle and of the same higher up passes, as places in the table's plane.
fn each_edge(at_x: f64, at_y: f64, reach: f64, height: f64, passes: impl Fn(f64, f64) -> bool) -> bool {
    [0.0, height].into_iter().all(|height| {
        let scale = CAMERA[2] / (CAMERA[2] - height).max(0.05);
        (0..8).all(|k| {
            let angle = f64::from(k) / 8.0 * std::f64::consts::TAU;
            let x = CAMERA[0] + (at_x + reach * angle.cos() - CAMERA[0]) * scale;
            let y = CAMERA[1] + (at_y + reach * angle.sin() - CAMERA[1]) * scale;
            passes(x, y)
        })
    })
}

/// Whether a place on the table is in reach of an arm that stands still.
pub(crate) fn is_reachable(x: f64, y: f64) -> bool {
    (REACH[0]..=REACH[1]).contains(&x.hypot(y)) && (X[0]..=X[1]).contains(&x) && (Y[0]..=Y[1]).contains(&y)
}

/// Whether there is room for `item` on a side of a thing (on any side when `side` is `None`): what a placement needs.
pub(super) fn has_room(placed: &[Placed], moving: usize, target: usize, side: Option<Side>) -> bool {
    let (Some(item), Some(of)) = (placed.get(moving), placed.get(target)) else { return false };
    let sides = [Side::Left, Side::Right, Side::Front, Side::Back];
    let near = item.item.reach() + of.item.reach();
    sides.into_iter().filter(|s| side.is_none_or(|wanted| wanted == *s)).any(|side| {
        let [dx, dy] = side.direction();
        [0.025, 0.05, 0.075].into_iter().any(|gap| {
            let (x, y) = (of.x + (near + gap) * dx, of.y + (near + gap) * dy);
            is_reachable(x, y)
                && placed.iter().enumerate().all(|(index, other)| {
                    index == moving
                        || (other.x - x).hypot(other.y - y) >= item.item.reach() + other.item.reach() + 0.015
                })
        })
    })
}

/// Whether there is room for a thing midway between two others.
pub(super) fn has_room_between(placed: &[Placed], moving: usize, first: usize, second: usize) -> bool {
    let (Some(item), Some(a), Some(b)) = (placed.get(moving), placed.get(first), placed.get(second)) else {
        return false;
    };
    let (x, y) = ((a.x + b.x) / 2.0, (a.y + b.y) / 2.0);
    is_reachable(x, y)
        && placed.iter().enumerate().all(|(index, other)| {
            index == moving
                || (other.x - x).hypot(other.y - y) >= item.item.reach() + other.item.reach() + 0.02
        })
}

/// The scene file of a layout.
pub(super) fn scene_yaml(name: &str, conditions: Conditions, placed: &[Placed]) -> String {
    let mut text = String::new();
    let mut nouns: Vec<&str> = placed.iter().map(|p| p.item.class.noun).collect();
    nouns.sort_unstable();
    nouns.dedup();
    let confusions: Vec<String> = nouns
        .iter()
        .filter_map(|noun| super::catalogue::class(noun))
        .map(|class| format!("{}: [{}]", class.noun, class.confusions.join(", ")))
        .collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "name: {name}");
    let _ = writeln!(text, "table: {{size: [0.8, 1.2], center: [0.5, 0.0], height: 0.0, color: beige}}");
    let _ = writeln!(text, "camera: {{rate_hz: 10, depth_noise: true}}");
    let _ =
        writeln!(text, "detector: {{{}, confusions: {{{}}}}}", conditions.detector(), confusions.join(", "));
    let _ = writeln!(text, "objects:");
    for (index, thing) in placed.iter().enumerate() {
        let item = &thing.item;
        let place = match thing.inside.and_then(|of| placed.get(of)) {
            Some(carrier) => {
                format!("in: \"{}\", yaw: {}, lying: {}", carrier.name, thing.yaw, item.class.lying)
            }
            None => {
                format!(
                    "pose: {{xy: [{}, {}], yaw: {}, lying: {}}}",
                    thing.x, thing.y, thing.yaw, item.class.lying
                )
            }
        };
        let _ = writeln!(
            text,
            "- {{name: \"{}\", {}, {place}}}",
            thing.name,
            item_keys(item, conditions.friction(index))
        );
    }
    text
}

/// The keys of a scene file for a thing, but for its name and place.
pub(crate) fn item_keys(item: &Item, friction: f64) -> String {
    let (shape, size) = size_yaml(&item.shape);
    format!(
        "class: {}, shape: {shape}, size: {size}, color: {}, mass: {}, friction: {friction}",
        item.class.noun, item.color, item.mass
    )
}

fn size_yaml(shape: &Shape) -> (&'static str, String) {
    let round = |radius: f64, height: f64| format!("{{radius: {radius}, height: {height}}}");
    match *shape {
        Shape::Box { size: [x, y, z] } => ("box", format!("[{x}, {y}, {z}]")),
        Shape::Cylinder { radius, height } => ("cylinder", round(radius, height)),
        Shape::Can { radius, height } => ("can", round(radius, height)),
        Shape::Sphere { radius } => ("sphere", format!("{{radius: {radius}}}")),
        Shape::Capsule { radius, height } => ("capsule", round(radius, height)),
        Shape::Egg { radius, height } => ("egg", round(radius, height)),
        Shape::Mug { radius, height, wall, handle } => {
            ("mug", format!("{{radius: {radius}, height: {height}, wall: {wall}, handle: {handle}}}"))
        }
        Shape::Bowl { radius, foot, height, wall } => {
            ("bowl", format!("{{radius: {radius}, foot: {foot}, height: {height}, wall: {wall}}}"))
        }
        Shape::Plate { radius, foot, height, wall } => {
            ("plate", format!("{{radius: {radius}, foot: {foot}, height: {height}, wall: {wall}}}"))
        }
        Shape::Pan { radius, height, wall, handle } => {
            ("pan", format!("{{radius: {radius}, height: {height}, wall: {wall}, handle: {handle}}}"))
        }
        Shape::Bottle { radius, height, neck_radius, neck_height } => (
            "bottle",
            format!(
                "{{radius: {radius}, height: {height}, neck_radius: {neck_radius}, neck_height: {neck_height}}}"
            ),
        ),
        Shape::Tray { size: [x, y, z], wall } => {
            ("tray", format!("{{x: {x}, y: {y}, z: {z}, wall: {wall}}}"))
        }
    }
}
