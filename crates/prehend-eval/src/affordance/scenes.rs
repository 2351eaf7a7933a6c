//! Tables with one thing that has a part to act on, among others.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// What makes a sample hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subset {
    /// One thing among others, the imperfect detectors.
    Plain,
    /// The thing stands far away and something stands before it.
    Hidden,
    /// Detectors that miss, split, merge and misname a third of what they see.
    Lying,
}

impl Subset {
    /// All, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Hidden, Self::Lying];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Hidden => "hidden",
            Self::Lying => "lying",
        }
    }
}

/// A thing and its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name in tables.
    pub name: &'static str,
    /// What the scene file says of the thing besides its name and place.
    thing: &'static str,
    /// What its region is called.
    pub part: &'static str,
    /// Whether it stands at the far side of the table, its front to the robot.
    is_fixture: bool,
}

const fn thing(name: &'static str, thing: &'static str, part: &'static str) -> Kind {
    Kind { name, thing, part, is_fixture: false }
}

const fn fixture(name: &'static str, thing: &'static str, part: &'static str) -> Kind {
    Kind { name, thing, part, is_fixture: true }
}

/// The kinds that are known, in the order in which samples take turns.
pub const KINDS: [Kind; 14] = [
    thing("bell", "model: desk_bell", "button"),
    fixture("drawer bar", "model: drawer_cabinet", "handle"),
    thing(
        "mug",
        "class: mug, shape: mug, color: red, size: {radius: 0.04, height: 0.09}, mass: 0.3",
        "handle",
    ),
    thing("stove", "model: flat_stove", "knob"),
    fixture("cabinet door", "model: door_cabinet", "handle"),
    thing("thumbtack", "model: thumbtack_board", "pin"),
    thing("push button", "model: push_button", "button"),
    fixture("drawer knob", "model: knob_cabinet", "knob"),
    thing(
        "pan",
        "class: pan, shape: pan, color: dark grey, size: {radius: 0.09, height: 0.035}, mass: 0.6",
        "handle",
    ),
    thing("faucet", "model: faucet", "lever"),
    fixture("microwave", "model: microwave", "handle"),
    thing("power strip", "model: power_strip", "plug"),
    thing("switch", "model: switch", "lever"),
    fixture("drawer edge", "model: edge_cabinet", "handle"),
];

/// Kinds that nothing was tuned on.
pub const KEPT_BACK: [Kind; 3] = [
    thing("pot", "model: pot", "handle"),
    thing("keyboard", "model: keyboard", "key"),
    thing("pot lid", "model: pot_lid", "knob"),
];

/// Name of the thing that a sample is about.
pub(super) const TARGET: &str = "target";

/// The text of a scene file.
pub(super) fn scene(kind: Kind, subset: Subset, seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (x, y, yaw) = match (kind.is_fixture, subset) {
        (true, _) => {
            (rng.random_range(0.70..0.78), rng.random_range(-0.08..0.08), rng.random_range(-0.08..0.08))
        }
        (false, Subset::Hidden) => {
            (rng.random_range(0.50..0.62), rng.random_range(-0.15..0.15), rng.random_range(-3.1..3.1))
        }
        (false, _) => {
            (rng.random_range(0.38..0.52), rng.random_range(-0.15..0.15), rng.random_range(-3.1..3.1))
        }
    };
    let detector = match subset {
        Subset::Plain | Subset::Hidden => "imperfect".to_owned(),
        Subset::Lying => "{preset: imperfect, miss: 0.3, wrong_class: 0.25, split: 0.15, merge: 0.15, erode_px: 2, score: 0.6, score_noise: 0.2}".to_owned(),
    };
    let mut things =
        vec![format!("- {{name: {TARGET}, {}, pose: {{xy: [{x:.3}, {y:.3}], yaw: {yaw:.3}}}}}", kind.thing)];
    // What stands before it hides its lower part, or one side of it.
    if subset == Subset::Hidden {
        let near =
            if kind.is_fixture { x - rng.random_range(0.29..0.38) } else { x - rng.random_range(0.12..0.28) };
        let aside = y + rng.random_range(-0.05..0.05);
        let height = rng.random_range(0.08..0.14);
        things.push(format!(
            "- {{name: before, class: box, shape: box, color: yellow, size: [0.05, 0.07, {height:.3}], mass: 0.2, pose: {{xy: [{near:.3}, {aside:.3}], yaw: 0.0}}}}"
        ));
    }
    for (name, what, side) in [
        ("apple", "class: apple, shape: sphere, color: [186, 34, 30], size: {radius: 0.03}, mass: 0.12", 1.0),
        ("block", "class: block, shape: box, color: blue, size: [0.04, 0.04, 0.04], mass: 0.1", -1.0),
    ] {
        let at: [f64; 2] = [rng.random_range(0.28..0.42), side * rng.random_range(0.26..0.36)];
        things.push(format!(
            "- {{name: {name}, {what}, pose: {{xy: [{:.3}, {:.3}], yaw: 0.0}}}}",
            at[0], at[1]
        ));
    }
    format!(
        "name: affordance\ntable: {{size: [0.9, 1.2], center: [0.5, 0.0], color: light grey}}\ndetector: {detector}\npart_detector: {detector}\nobjects:\n{}\n",
        things.join("\n")
    )
}
