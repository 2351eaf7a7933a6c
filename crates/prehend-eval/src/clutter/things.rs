//! What may stand there: the things of the random tables, and smaller and larger ones that no hand has to hold.

use crate::scenario::catalogue::{CLASSES, Class, Item, Role, mix};
use prehend_sim::scene::Shape;
use rand::{Rng, RngExt};

const ANY: &[&str] = &["red", "green", "blue", "yellow", "orange", "purple", "white", "black", "brown"];

/// Too small, too flat or too large for the tables on which a robot grasps.
const EXTREMES: &[Class] = &[
    small("key", &["silver", "gold"], false, |s| Shape::Box {
        size: [mix(0.05, 0.065, s), mix(0.02, 0.026, s), mix(0.004, 0.007, s)],
    }),
    small("pen", ANY, true, |s| Shape::Capsule { radius: mix(0.004, 0.006, s), height: mix(0.13, 0.15, s) }),
    small("die", ANY, false, |s| Shape::Box { size: [mix(0.014, 0.02, s); 3] }),
    small("eraser", &["white", "pink", "blue"], false, |s| Shape::Box {
        size: [mix(0.04, 0.055, s), mix(0.018, 0.024, s), mix(0.011, 0.014, s)],
    }),
    small("matchbox", &["red", "yellow", "blue"], false, |s| Shape::Box {
        size: [mix(0.05, 0.056, s), mix(0.034, 0.038, s), mix(0.014, 0.018, s)],
    }),
    small("phone", &["black", "white", "blue"], false, |s| Shape::Box {
        size: [mix(0.138, 0.16, s), mix(0.067, 0.077, s), mix(0.008, 0.011, s)],
    }),
    small("cereal box", &["yellow", "red", "blue", "green"], false, |s| Shape::Box {
        size: [mix(0.16, 0.2, s), mix(0.05, 0.07, s), mix(0.22, 0.28, s)],
    }),
    small("carton", &["brown", "white"], false, |s| Shape::Box {
        size: [mix(0.17, 0.24, s), mix(0.12, 0.16, s), mix(0.1, 0.15, s)],
    }),
];

/// A class whose mass matters to nobody.
const fn small(
    noun: &'static str,
    colors: &'static [&'static str],
    lying: bool,
    shape: fn(f64) -> Shape,
) -> Class {
    Class { noun, colors, confusions: &[], role: Role::Thing, lying, mass: [0.1, 0.2], shape }
}

/// One thing of any class, size and colour.
pub(crate) fn any(rng: &mut impl Rng) -> Item {
    let number = rng.random_range(0..CLASSES.len() + EXTREMES.len());
    let class = CLASSES.get(number).unwrap_or_else(|| &EXTREMES[number - CLASSES.len()]);
    class.any(rng)
}
