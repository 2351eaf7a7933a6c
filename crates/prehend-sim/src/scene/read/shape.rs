//! Shapes of a scene file: which sizes each takes, and what they are when not given.

use super::{length, lengths};
use crate::scene::Shape;
use prehend_config::{Map, Value};

/// Words for shapes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Box,
    Cylinder,
    Can,
    Sphere,
    Capsule,
    Egg,
    Mug,
    Bowl,
    Plate,
    Pan,
    Bottle,
    Tray,
}

/// The shape words; some shapes have several.
pub(super) const SHAPES: &[(&str, Kind)] = &[
    ("box", Kind::Box),
    ("cylinder", Kind::Cylinder),
    ("can", Kind::Can),
    ("sphere", Kind::Sphere),
    ("ball", Kind::Sphere),
    ("capsule", Kind::Capsule),
    ("egg", Kind::Egg),
    ("mug", Kind::Mug),
    ("cup", Kind::Mug),
    ("bowl", Kind::Bowl),
    ("plate", Kind::Plate),
    ("pan", Kind::Pan),
    ("bottle", Kind::Bottle),
    ("tray", Kind::Tray),
    ("container", Kind::Tray),
    ("basket", Kind::Tray),
];

/// Largest length of an object, metres.
const MOST: f64 = 1.9;

/// Reads the sizes of a shape; absent sizes have the defaults of `config/scenes/README.md`.
pub(super) fn read_size(kind: Kind, size: Option<&Value<'_>>) -> Option<Shape> {
    match kind {
        Kind::Box => {
            let size = corners(size, [0.05, 0.05, 0.05])?;
            Some(Shape::Box { size })
        }
        Kind::Tray => {
            let default = [0.24, 0.18, 0.05];
            if size.is_some_and(Value::is_list) {
                return Some(Shape::Tray { size: corners(size, default)?, wall: 0.005 });
            }
            sizes(size, |map| {
                let x = one(map, "x", default[0]);
                let y = one(map, "y", default[1]);
                let z = one(map, "z", default[2]);
                let wall = one(map, "wall", 0.005);
                let shape = Shape::Tray { size: [x?, y?, z?], wall: wall? };
                thin(map, wall? * 2.2 < x?.min(y?).min(z?))?;
                Some(shape)
            })
        }
        Kind::Cylinder => round(size, [0.03, 0.10], |radius, height| Shape::Cylinder { radius, height }),
        Kind::Can => round(size, [0.033, 0.10], |radius, height| Shape::Can { radius, height }),
        Kind::Egg => round(size, [0.022, 0.058], |radius, height| Shape::Egg { radius, height }),
        Kind::Sphere => sizes(size, |map| Some(Shape::Sphere { radius: one(map, "radius", 0.035)? })),
        Kind::Capsule => sizes(size, |map| {
            let (radius, height) = (one(map, "radius", 0.02), one(map, "height", 0.12));
            let (radius, height) = (radius?, height?);
            if height < 2.0 * radius {
                map.report("a capsule's height is at least twice its radius");
                return None;
            }
            Some(Shape::Capsule { radius, height })
        }),
        Kind::Mug => sizes(size, |map| {
            let radius = one(map, "radius", 0.04);
            let height = one(map, "height", 0.095);
            let wall = one(map, "wall", 0.004);
            let handle = match map.opt("handle") {
                Some(value) => value.f64_in(0.0, 0.2),
                None => Some(0.03),
            };
            thin(map, wall? * 2.2 < radius?.min(height?))?;
            Some(Shape::Mug { radius: radius?, height: height?, wall: wall?, handle: handle? })
        }),
        Kind::Bowl => sizes(size, |map| {
            let radius = one(map, "radius", 0.075);
            let foot = one(map, "foot", radius? * 0.5);
            let height = one(map, "height", 0.055);
            let wall = one(map, "wall", 0.004);
            thin(map, wall? * 2.2 < foot?.min(height?) && foot? < radius?)?;
            Some(Shape::Bowl { radius: radius?, foot: foot?, height: height?, wall: wall? })
        }),
        Kind::Plate => sizes(size, |map| {
            let radius = one(map, "radius", 0.09);
            let foot = one(map, "foot", radius? * 0.65);
            let height = one(map, "height", 0.024);
            let wall = one(map, "wall", 0.004);
            thin(map, wall? * 2.2 < height? && foot? + 0.006 < radius?)?;
            Some(Shape::Plate { radius: radius?, foot: foot?, height: height?, wall: wall? })
        }),
        Kind::Pan => sizes(size, |map| {
            let radius = one(map, "radius", 0.09);
            let height = one(map, "height", 0.04);
            let wall = one(map, "wall", 0.004);
            let handle = one(map, "handle", 0.12);
            thin(map, wall? * 2.2 < height? && wall? * 4.0 < radius? && height? > 0.02)?;
            Some(Shape::Pan { radius: radius?, height: height?, wall: wall?, handle: handle? })
        }),
        Kind::Bottle => sizes(size, |map| {
            let radius = one(map, "radius", 0.03);
            let height = one(map, "height", 0.18);
            let neck_radius = one(map, "neck_radius", radius? * 0.45);
            let neck_height = one(map, "neck_height", height? * 0.22);
            if neck_radius? >= radius? || neck_height? > 0.8 * height? {
                map.report("a bottle's neck is thinner than its body and at most 0.8 of its height");
                return None;
            }
            Some(Shape::Bottle {
                radius: radius?,
                height: height?,
                neck_radius: neck_radius?,
                neck_height: neck_height?,
            })
        }),
    }
}

/// Reads a mapping of sizes; an absent mapping has only defaults.
fn sizes(size: Option<&Value<'_>>, read: impl Fn(&mut Map<'_>) -> Option<Shape>) -> Option<Shape> {
    match size {
        Some(value) => value.map(|map| read(map)),
        // An empty document stands for an absent mapping, so that the defaults are written once.
        None => prehend_config::read("", "{}", |root| root.map(|map| read(map))).ok(),
    }
}

fn one(map: &mut Map<'_>, key: &'static str, default: f64) -> Option<f64> {
    map.or(key, default, |value| length(value, MOST))
}

fn round(size: Option<&Value<'_>>, default: [f64; 2], shape: fn(f64, f64) -> Shape) -> Option<Shape> {
    sizes(size, |map| {
        let radius = one(map, "radius", default[0]);
        let height = one(map, "height", default[1]);
        Some(shape(radius?, height?))
    })
}

/// `[x, y, z]`, or a mapping of x, y, z.
fn corners(size: Option<&Value<'_>>, default: [f64; 3]) -> Option<[f64; 3]> {
    let Some(value) = size else {
        return Some(default);
    };
    if value.is_map() {
        return value.map(|map| {
            let x = one(map, "x", default[0]);
            let y = one(map, "y", default[1]);
            let z = one(map, "z", default[2]);
            Some([x?, y?, z?])
        });
    }
    lengths::<3>(value, MOST)
}

fn thin(map: &Map<'_>, holds: bool) -> Option<()> {
    if !holds {
        map.report("these sizes leave no hollow: walls too thick, or a foot wider than the rim");
    }
    holds.then_some(())
}
