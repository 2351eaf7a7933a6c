//! What can stand on the table: classes with shapes, sizes and colours.

use prehend_sim::scene::Shape;
use rand::{Rng, RngExt};

/// A class of things.
#[derive(Debug)]
pub(crate) struct Class {
    /// The noun, and what the detector calls it.
    pub(crate) noun: &'static str,
    /// Colours it comes in.
    pub(crate) colors: &'static [&'static str],
    /// What a detector takes it for.
    pub(crate) confusions: &'static [&'static str],
    /// What one can do with it.
    pub(crate) role: Role,
    /// Lies on its side.
    pub(crate) lying: bool,
    /// Mass, kg.
    pub(crate) mass: [f64; 2],
    /// A shape of a size between 0 (smallest) and 1 (largest).
    pub(crate) shape: fn(f64) -> Shape,
}

/// What a thing is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// To be moved; stands by itself.
    Thing,
    /// To be moved; would roll off a flat top.
    Rolling,
    /// Holds things.
    Container,
    /// Carries things; a shallow rim keeps them.
    Dish,
    /// Carries things on a flat top.
    Flat,
}

/// One thing with its size and colour.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) class: &'static Class,
    pub(crate) shape: Shape,
    pub(crate) color: &'static str,
    pub(crate) mass: f64,
}

const ANY: &[&str] = &["red", "green", "blue", "yellow", "orange", "purple", "white", "black", "pink"];

pub(crate) fn mix(low: f64, high: f64, share: f64) -> f64 {
    low + (high - low) * share
}

/// Everything there is.
pub(crate) const CLASSES: &[Class] = &[
    Class {
        noun: "mug",
        colors: &["red", "green", "blue", "yellow", "white", "black", "purple", "pink"],
        confusions: &["cup"],
        role: Role::Thing,
        lying: false,
        mass: [0.2, 0.3],
        shape: |s| Shape::Mug {
            radius: mix(0.034, 0.041, s),
            height: mix(0.078, 0.1, s),
            wall: 0.004,
            handle: 0.028,
        },
    },
    Class {
        noun: "can",
        colors: &["red", "green", "blue", "yellow", "orange", "black"],
        confusions: &["jar", "tin"],
        role: Role::Thing,
        lying: false,
        mass: [0.2, 0.3],
        shape: |s| Shape::Can { radius: mix(0.027, 0.034, s), height: mix(0.085, 0.115, s) },
    },
    Class {
        noun: "bottle",
        colors: &["red", "green", "blue", "white", "black", "orange"],
        confusions: &["flask"],
        role: Role::Thing,
        lying: false,
        mass: [0.2, 0.35],
        shape: |s| {
            let (radius, height) = (mix(0.026, 0.033, s), mix(0.14, 0.2, s));
            Shape::Bottle { radius, height, neck_radius: 0.45 * radius, neck_height: 0.22 * height }
        },
    },
    Class {
        noun: "jar",
        colors: &["red", "green", "blue", "white", "purple", "yellow"],
        confusions: &["can"],
        role: Role::Thing,
        lying: false,
        mass: [0.2, 0.3],
        shape: |s| Shape::Cylinder { radius: mix(0.028, 0.035, s), height: mix(0.065, 0.095, s) },
    },
    Class {
        noun: "box",
        colors: ANY,
        confusions: &["package"],
        role: Role::Thing,
        lying: false,
        mass: [0.1, 0.25],
        shape: |s| Shape::Box { size: [mix(0.04, 0.06, s), mix(0.055, 0.085, s), mix(0.06, 0.11, s)] },
    },
    Class {
        noun: "block",
        colors: ANY,
        confusions: &["cube"],
        role: Role::Thing,
        lying: false,
        mass: [0.05, 0.12],
        shape: |s| Shape::Box { size: [mix(0.032, 0.055, s); 3] },
    },
    Class {
        noun: "sponge",
        colors: &["yellow", "green", "pink", "blue"],
        confusions: &["brick"],
        role: Role::Thing,
        lying: false,
        mass: [0.03, 0.06],
        shape: |s| Shape::Box { size: [mix(0.05, 0.06, s), mix(0.075, 0.095, s), mix(0.028, 0.036, s)] },
    },
    Class {
        noun: "apple",
        colors: &["red", "green", "yellow"],
        confusions: &["tomato"],
        role: Role::Rolling,
        lying: false,
        mass: [0.12, 0.2],
        shape: |s| Shape::Sphere { radius: mix(0.029, 0.035, s) },
    },
    Class {
        noun: "tomato",
        colors: &["red"],
        confusions: &["apple"],
        role: Role::Rolling,
        lying: false,
        mass: [0.1, 0.15],
        shape: |s| Shape::Sphere { radius: mix(0.026, 0.033, s) },
    },
    Class {
        noun: "ball",
        colors: ANY,
        confusions: &["sphere"],
        role: Role::Rolling,
        lying: false,
        mass: [0.05, 0.1],
        shape: |s| Shape::Sphere { radius: mix(0.021, 0.035, s) },
    },
    Class {
        noun: "lemon",
        colors: &["yellow"],
        confusions: &["lime"],
        role: Role::Rolling,
        lying: true,
        mass: [0.08, 0.12],
        shape: |s| Shape::Egg { radius: mix(0.023, 0.027, s), height: mix(0.06, 0.072, s) },
    },
    Class {
        noun: "egg",
        colors: &["white"],
        confusions: &["ball"],
        role: Role::Rolling,
        lying: true,
        mass: [0.05, 0.07],
        shape: |s| Shape::Egg { radius: mix(0.02, 0.023, s), height: mix(0.054, 0.062, s) },
    },
    Class {
        noun: "pear",
        colors: &["green", "yellow"],
        confusions: &["avocado"],
        role: Role::Rolling,
        lying: true,
        mass: [0.12, 0.18],
        shape: |s| Shape::Egg { radius: mix(0.026, 0.031, s), height: mix(0.075, 0.09, s) },
    },
    Class {
        noun: "carrot",
        colors: &["orange"],
        confusions: &["sausage"],
        role: Role::Rolling,
        lying: true,
        mass: [0.06, 0.1],
        shape: |s| Shape::Capsule { radius: mix(0.012, 0.016, s), height: mix(0.11, 0.145, s) },
    },
    Class {
        noun: "bowl",
        colors: &["white", "blue", "green", "red", "yellow", "black"],
        confusions: &["dish"],
        role: Role::Container,
        lying: false,
        mass: [0.3, 0.4],
        shape: |s| {
            let radius = mix(0.075, 0.095, s);
            Shape::Bowl { radius, foot: 0.55 * radius, height: mix(0.048, 0.06, s), wall: 0.004 }
        },
    },
    Class {
        noun: "basket",
        colors: &["brown", "white", "blue", "green"],
        confusions: &["crate"],
        role: Role::Container,
        lying: false,
        mass: [0.4, 0.5],
        shape: |s| Shape::Tray {
            size: [mix(0.14, 0.17, s), mix(0.18, 0.23, s), mix(0.05, 0.06, s)],
            wall: 0.005,
        },
    },
    Class {
        noun: "pan",
        colors: &["black", "red", "blue"],
        confusions: &["skillet"],
        role: Role::Container,
        lying: false,
        mass: [0.5, 0.7],
        shape: |s| Shape::Pan { radius: mix(0.085, 0.098, s), height: 0.038, wall: 0.004, handle: 0.10 },
    },
    Class {
        noun: "plate",
        colors: &["white", "blue", "green", "yellow", "pink"],
        confusions: &["saucer"],
        role: Role::Dish,
        lying: false,
        mass: [0.4, 0.5],
        shape: |s| {
            let radius = mix(0.088, 0.1, s);
            Shape::Plate { radius, foot: 0.68 * radius, height: 0.024, wall: 0.004 }
        },
    },
    Class {
        noun: "tray",
        colors: &["white", "brown", "black", "blue"],
        confusions: &["crate"],
        role: Role::Dish,
        lying: false,
        mass: [0.4, 0.5],
        shape: |s| Shape::Tray { size: [mix(0.14, 0.17, s), mix(0.19, 0.24, s), 0.025], wall: 0.005 },
    },
    Class {
        noun: "book",
        colors: &["red", "blue", "green", "purple"],
        confusions: &["notebook"],
        role: Role::Flat,
        lying: false,
        mass: [0.6, 0.8],
        shape: |s| Shape::Box { size: [mix(0.12, 0.15, s), mix(0.16, 0.2, s), mix(0.02, 0.03, s)] },
    },
];

/// The class with this noun.
pub(crate) fn class(noun: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.noun == noun)
}

impl Class {
    /// Whether it is made to be moved.
    pub(crate) fn movable(&self) -> bool {
        matches!(self.role, Role::Thing | Role::Rolling)
    }

    /// One of this class, of this size (0 to 1) and colour.
    pub(crate) fn item(&'static self, rng: &mut impl Rng, size: f64, color: &'static str) -> Item {
        // Thousandths of a metre, as they are written to the scene file.
        let mass = (rng.random_range(self.mass[0]..=self.mass[1]) * 1000.0).round() / 1000.0;
        Item { class: self, shape: rounded((self.shape)(size)), color, mass }
    }

    /// One of this class of any size and colour.
    pub(crate) fn any(&'static self, rng: &mut impl Rng) -> Item {
        let color = self.colors[rng.random_range(0..self.colors.len())];
        let size = rng.random_range(0.0..=1.0);
        self.item(rng, size, color)
    }
}

impl Item {
    /// Radius of the circle around what it covers, metres.
    pub(crate) fn reach(&self) -> f64 {
        let half = self.shape.half_extents();
        let reach = match self.shape {
            Shape::Box { .. } | Shape::Tray { .. } => half.x.hypot(half.y),
            Shape::Mug { radius, handle, .. } => radius + handle,
            _ => half.x,
        };
        if self.class.lying { reach.max(half.z) } else { reach }
    }

    /// Height of its top above the table, metres.
    pub(crate) fn height(&self) -> f64 {
        let half = self.shape.half_extents();
        2.0 * if self.class.lying { half.x } else { half.z }
    }

    /// Whether it fits into or onto a container or surface, with a finger's breadth to spare.
    pub(crate) fn fits(&self, target: &Self) -> bool {
        let room = match target.shape.hollow() {
            Some(hollow) => hollow.half[0].min(hollow.half[1]),
            None => target.shape.half_extents().x.min(target.shape.half_extents().y),
        };
        let flat_enough = match target.class.role {
            Role::Container | Role::Dish => true,
            Role::Flat => self.class.role == Role::Thing,
            Role::Thing | Role::Rolling => false,
        };
        self.class.movable() && flat_enough && self.reach() + 0.012 <= room
    }
}

/// Sizes in whole tenths of a millimetre, so that the scene file says exactly what is meant.
fn rounded(shape: Shape) -> Shape {
    let r = |x: f64| (x * 1e4).round() / 1e4;
    match shape {
        Shape::Box { size } => Shape::Box { size: size.map(r) },
        Shape::Cylinder { radius, height } => Shape::Cylinder { radius: r(radius), height: r(height) },
        Shape::Can { radius, height } => Shape::Can { radius: r(radius), height: r(height) },
        Shape::Sphere { radius } => Shape::Sphere { radius: r(radius) },
        Shape::Capsule { radius, height } => Shape::Capsule { radius: r(radius), height: r(height) },
        Shape::Egg { radius, height } => Shape::Egg { radius: r(radius), height: r(height) },
        Shape::Mug { radius, height, wall, handle } => {
            Shape::Mug { radius: r(radius), height: r(height), wall: r(wall), handle: r(handle) }
        }
        Shape::Bowl { radius, foot, height, wall } => {
            Shape::Bowl { radius: r(radius), foot: r(foot), height: r(height), wall: r(wall) }
        }
        Shape::Plate { radius, foot, height, wall } => {
            Shape::Plate { radius: r(radius), foot: r(foot), height: r(height), wall: r(wall) }
        }
        Shape::Pan { radius, height, wall, handle } => {
            Shape::Pan { radius: r(radius), height: r(height), wall: r(wall), handle: r(handle) }
        }
        Shape::Bottle { radius, height, neck_radius, neck_height } => Shape::Bottle {
            radius: r(radius),
            height: r(height),
            neck_radius: r(neck_radius),
            neck_height: r(neck_height),
        },
        Shape::Tray { size, wall } => Shape::Tray { size: size.map(r), wall: r(wall) },
    }
}
