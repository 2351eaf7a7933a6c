//! The mobile benchmark: rooms, affordances seen from the right side, double picks and spatial references (ASP §V-B, Fig. 6).

use super::score::Subject;
use crate::goal::{GoalSpec, Predicate};
use crate::scenario::sentence::finish;
use crate::scenario::{Conditions, Kind, Scenario, ScenarioError};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::{self, Write as _};

/// Rooms tried for one seed.
const ATTEMPTS: u64 = 60;
/// Queries of each of the two kinds with several.
const QUERIES: u64 = 10;

/// A kind of query of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MobileTask {
    /// Dial a number on a phone that stands anyhow.
    Phone,
    /// Open a drawer of a cabinet that can be come to from all sides.
    Cabinet,
    /// Two objects into one container; ten queries by turns.
    DoublePick,
    /// One of several, told by where it is; ten queries by turns.
    Spatial,
    /// Open or close a drawer of other cabinets that can be come to from all sides.
    Sides,
}

impl MobileTask {
    /// Every task with its code in reports.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Phone, "affordance_phone"),
        (Self::Cabinet, "affordance_cabinet"),
        (Self::DoublePick, "double_pick"),
        (Self::Spatial, "spatial"),
        (Self::Sides, "affordance_sides"),
    ];

    /// The code in reports.
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(task, _)| *task == self).map_or("", |(_, code)| code)
    }
}

impl fmt::Display for MobileTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A small thing: its class, and its other keys in the scene file.
#[derive(Clone, Copy)]
struct Small {
    class: &'static str,
    keys: &'static str,
}

const fn small(class: &'static str, keys: &'static str) -> Small {
    Small { class, keys }
}

const APPLE: Small = small("apple", "shape: sphere, color: red, size: {radius: 0.034}, mass: 0.15");
const TOMATO: Small = small("tomato", "shape: sphere, color: red, size: {radius: 0.032}, mass: 0.12");
const EGG: Small = small("egg", "shape: egg, color: cream, mass: 0.06");
const ORANGE: Small = small("orange", "shape: sphere, color: orange, size: {radius: 0.035}, mass: 0.16");
const CAN: Small = small(
    "can",
    "shape: can, color: green, second_color: silver, size: {radius: 0.031, height: 0.10}, mass: 0.25",
);
const MUG: Small = small("mug", "shape: mug, color: blue, size: {radius: 0.038, height: 0.09}, mass: 0.28");
const BALL: Small = small("ball", "shape: sphere, color: yellow, size: {radius: 0.033}, mass: 0.1");
const BLOCK: Small = small("block", "shape: box, color: purple, size: [0.05, 0.05, 0.05], mass: 0.1");
const BOWL: Small =
    small("bowl", "shape: bowl, color: white, size: {radius: 0.10, foot: 0.072, height: 0.05}, mass: 0.4");
const PAN: Small =
    small("pan", "shape: pan, color: dark grey, size: {radius: 0.10, height: 0.045}, mass: 0.6");
const BASKET: Small =
    small("basket", "shape: tray, color: brown, size: {x: 0.22, y: 0.18, z: 0.06}, mass: 0.4");

/// The ten double picks: what, and into what.
const DOUBLES: [(Small, Small, Small); QUERIES as usize] = [
    (APPLE, TOMATO, BOWL),
    (EGG, ORANGE, BASKET),
    (CAN, APPLE, BASKET),
    (BALL, BLOCK, BASKET),
    (TOMATO, EGG, PAN),
    (ORANGE, APPLE, BOWL),
    (BLOCK, CAN, BASKET),
    (EGG, TOMATO, BOWL),
    (APPLE, BALL, BASKET),
    (ORANGE, BLOCK, BOWL),
];

/// The ten spatial queries: which thing of two alike, by which landmark, near it or far from it, into what.
const SPATIALS: [(Small, Small, bool, Small); QUERIES as usize] = [
    (EGG, TOMATO, true, PAN),
    (APPLE, MUG, true, BOWL),
    (BLOCK, CAN, true, BASKET),
    (TOMATO, MUG, true, PAN),
    (BALL, CAN, true, BASKET),
    (ORANGE, MUG, true, BOWL),
    (EGG, CAN, true, BOWL),
    (APPLE, CAN, false, BASKET),
    (BLOCK, MUG, false, BOWL),
    (TOMATO, CAN, false, BASKET),
];

/// Furniture along the walls and in the middle of the room: name, model, place, yaw.
struct Place {
    name: &'static str,
    model: &'static str,
    xy: [f64; 2],
    yaw: f64,
    /// Half of the length on which things are put, metres.
    half: f64,
}

/// The places of the room; a seed says what stands on which.
const PLACES: [Place; 3] = [
    Place { name: "dining table", model: "table", xy: [5.35, 2.4], yaw: 0.0, half: 0.42 },
    Place { name: "kitchen table", model: "table", xy: [2.9, 4.45], yaw: FRAC_PI_2, half: 0.42 },
    Place { name: "counter", model: "counter", xy: [2.6, 0.32], yaw: -FRAC_PI_2, half: 0.5 },
];

/// Bins along a place, so that things keep apart, metres.
const BIN: f64 = 0.24;

/// A room on its way to a scene file.
struct Draft {
    objects: String,
    sentence: String,
    spec: GoalSpec,
    subject: Subject,
}

/// A thing put at a place: in the bin of this number, front row.
fn put(text: &mut String, name: &str, thing: Small, place: &Place, bin: usize) {
    let low = -place.half + BIN * bin as f64 + 0.03;
    put_between(text, name, thing, place, [low, low + BIN - 0.10]);
}

/// A thing put between two distances along a place, front row.
fn put_between(text: &mut String, name: &str, thing: Small, place: &Place, [low, high]: [f64; 2]) {
    let depth = if place.model == "counter" { [-0.18, -0.08] } else { [-0.22, -0.10] };
    let Small { class, keys } = thing;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "- {{name: \"{name}\", class: {class}, {keys}, on: {}, region: {{x: [{}, {}], y: [{low:.3}, {high:.3}]}}}}",
        place.name, depth[0], depth[1]
    );
}

/// Numbers below `count` in a random order.
fn shuffled(rng: &mut impl Rng, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
    order
}

fn subject(objects: &[&str], each: bool) -> Subject {
    Subject {
        objects: objects.iter().map(|name| (*name).to_owned()).collect(),
        acted_on: false,
        has_handle: false,
        each_counts: each,
    }
}

fn double_pick(rng: &mut impl Rng, query: usize) -> Draft {
    let (first, second, container) = DOUBLES[query % DOUBLES.len()];
    let order = shuffled(rng, PLACES.len());
    let (from, also, to) = (&PLACES[order[0]], &PLACES[order[1]], &PLACES[order[2]]);
    // By turns both from one place or from two.
    let second_from = if rng.random_bool(0.5) { from } else { also };
    let mut objects = String::new();
    for (thing, place, bin) in [(first, from, 0), (second, second_from, 2), (container, to, 1)] {
        put(&mut objects, thing.class, thing, place, bin);
    }
    let others = [MUG, CAN, BLOCK, BALL];
    let mut others = others.iter().filter(|other| ![first.class, second.class].contains(&other.class));
    for (place, bin) in [(to, 3), (also, 1)] {
        if let Some(other) = others.next() {
            put(&mut objects, other.class, *other, place, bin.min(2));
        }
    }
    let (a, b, c) = (first.class, second.class, container.class);
    let sentences = [
        format!("put the {a} and the {b} in the {c}"),
        format!("bring the {a} and the {b} to the {c}"),
        format!("put the {a} in the {c}, then put the {b} in the {c}"),
    ];
    let inside = |object: &str| Predicate::In { object: object.to_owned(), target: c.to_owned() };
    Draft {
        objects,
        sentence: sentences[rng.random_range(0..sentences.len())].clone(),
        spec: GoalSpec::world(vec![inside(a), inside(b)]),
        subject: subject(&[a, b], true),
    }
}

fn spatial(rng: &mut impl Rng, query: usize) -> Draft {
    let (thing, landmark, near, container) = SPATIALS[query % SPATIALS.len()];
    let order = shuffled(rng, PLACES.len());
    let (from, to) = (&PLACES[order[0]], &PLACES[order[1]]);
    // The one that is not meant: at the far end, or at another place.
    let elsewhere = if rng.random_bool(0.5) { (from, 3) } else { (&PLACES[order[2]], 1) };
    let mut objects = String::new();
    let (meant, other) = (thing.class.to_owned(), format!("other {}", thing.class));
    let (beside, away) = if near { (&meant, &other) } else { (&other, &meant) };
    // What is near is a hand's breadth away, what is far at least twice as far.
    put_between(&mut objects, beside, thing, from, [0.02 - from.half, 0.06 - from.half]);
    put_between(&mut objects, landmark.class, landmark, from, [0.16 - from.half, 0.20 - from.half]);
    put(&mut objects, away, thing, elsewhere.0, elsewhere.1.min(2));
    put(&mut objects, container.class, container, to, 1);
    let (a, b, c) = (thing.class, landmark.class, container.class);
    let sentence = match (near, rng.random_bool(0.5)) {
        (true, true) => format!("place the {a} that is near the {b} in the {c}"),
        (true, false) => format!("put the {a} closest to the {b} in the {c}"),
        (false, true) => format!("put the {a} farthest from the {b} in the {c}"),
        (false, false) => format!("place the {a} that is far from the {b} in the {c}"),
    };
    let predicate = Predicate::In { object: meant.clone(), target: c.to_owned() };
    Draft { objects, sentence, spec: GoalSpec::world(vec![predicate]), subject: subject(&[&meant], false) }
}

/// A table in the middle of the room, with something on it that faces one side.
fn facing(rng: &mut impl Rng, task: MobileTask) -> Draft {
    let quarter = f64::from(rng.random_range(0..4_u8)) * FRAC_PI_2;
    let yaw = quarter + rng.random_range(-0.25..0.25);
    let mut objects = String::new();
    let _ = writeln!(
        objects,
        "- {{name: side table, model: side_table, parameters: {{length: 0.5, depth: 0.5, height: 0.66}}, pose: {{xy: [3.0, 2.4], yaw: 0.0}}}}"
    );
    let mut stands = |name: &str, model: &str, more: &str| {
        let _ = writeln!(
            objects,
            "- {{name: {name}, model: {model}, on: side table, region: {{x: [-0.03, 0.03], y: [-0.03, 0.03], yaw: {yaw:.3}}}{more}}}"
        );
    };
    let was = |object: String, state: &str| Predicate::WasInState { object, state: state.to_owned() };
    let (acted, sentences, predicate) = match task {
        MobileTask::Cabinet => {
            stands("cabinet", "drawer_cabinet", "");
            let sentences = ["open the top drawer", "open the top drawer of the cabinet"];
            ("cabinet", sentences.map(str::to_owned), was("cabinet/top drawer".to_owned(), "open"))
        }
        MobileTask::Sides => {
            let closes = rng.random_bool(0.5);
            let model = ["drawer_cabinet", "knob_cabinet"][usize::from(!closes || rng.random_bool(0.5))];
            let which = ["top", "middle"][usize::from(rng.random_bool(0.5))];
            let open = format!(", joints: {{{which}: {{position: [0.09, 0.12]}}}}");
            stands("cabinet", model, if closes { &open } else { "" });
            let (verb, state) = if closes { ("close", "closed") } else { ("open", "open") };
            let sentences =
                [format!("{verb} the {which} drawer"), format!("{verb} the {which} drawer of the cabinet")];
            let object = format!("cabinet/{which} drawer");
            ("cabinet", sentences, Predicate::InState { object, state: state.to_owned() })
        }
        _ => {
            stands("phone", "phone", "");
            let digit = rng.random_range(0..10_u8);
            let sentences = ["on", "of"].map(|of| format!("press the {digit} key {of} the phone"));
            ("phone", sentences, was(format!("phone/{digit} key"), "pressed"))
        }
    };
    Draft {
        objects,
        sentence: sentences[rng.random_range(0..sentences.len())].clone(),
        spec: GoalSpec::world(vec![predicate]),
        subject: Subject { acted_on: true, ..subject(&[acted], false) },
    }
}

fn scene_yaml(
    name: &str,
    conditions: Conditions,
    rng: &mut impl Rng,
    draft: &Draft,
    walls_only: bool,
) -> String {
    let mut text = String::new();
    let yaw: f64 = rng.random_range(-PI..PI);
    let _ = writeln!(text, "name: {name}");
    let _ = writeln!(text, "robot: {{xy: [1.0, 2.4], yaw: {yaw:.3}}}");
    let _ = writeln!(text, "room: {{size: [6.0, 5.0]}}");
    let _ = writeln!(text, "localisation: {{sigma_xy: 0.015, sigma_yaw: 0.008, drift: 0.02}}");
    let confusions = "apple: [ball], orange: [ball], mug: [cup], egg: [ball], can: [cup], block: [box]";
    let _ = writeln!(text, "detector: {{{}, confusions: {{{confusions}}}}}", conditions.detector());
    let _ = writeln!(text, "objects:");
    for Place { name, model, xy: [x, y], yaw, .. } in PLACES.iter().take(if walls_only { 2 } else { 3 }) {
        let _ = writeln!(text, "- {{name: {name}, model: {model}, pose: {{xy: [{x}, {y}], yaw: {yaw:.4}}}}}");
    }
    text.push_str(&draft.objects);
    text
}

/// The scenario of a task and a seed; the same two always give the same one. The query of double picks and spatial ones is the
/// seed's, by turns.
///
/// Errors: [`ScenarioError`].
pub fn mobile(task: MobileTask, seed: u64, conditions: Conditions) -> Result<Scenario, ScenarioError> {
    let mut failed = ScenarioError::NoTable { seed, kind: Kind::Task };
    for attempt in 0..ATTEMPTS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(70_000 + attempt + ATTEMPTS * task as u64);
        let query = (seed % QUERIES) as usize;
        let draft = match task {
            MobileTask::DoublePick => double_pick(&mut rng, query),
            MobileTask::Spatial => spatial(&mut rng, query),
            MobileTask::Phone | MobileTask::Cabinet | MobileTask::Sides => facing(&mut rng, task),
        };
        let middle = !matches!(task, MobileTask::DoublePick | MobileTask::Spatial);
        let scene_yaml = scene_yaml(&format!("{task} {seed}"), conditions, &mut rng, &draft, middle);
        let scenario = Scenario {
            seed,
            kind: Kind::Task,
            sentence: finish(&mut rng, draft.sentence),
            scene_yaml,
            spec: draft.spec,
            group: task.code().to_owned(),
            subject: Some(draft.subject),
        };
        match scenario.placed() {
            Ok(_) => return Ok(scenario),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_rooms_and_the_same_seed_gives_the_same_one() {
        for (task, code) in MobileTask::ALL {
            for seed in 0..QUERIES {
                let scenario = mobile(task, seed, Conditions::Imperfect)
                    .unwrap_or_else(|error| panic!("{code} {seed}: {error}"));
                assert_eq!(scenario, mobile(task, seed, Conditions::Imperfect).expect("again"));
                assert_eq!(scenario.group, code);
                let names = &scenario.subject.as_ref().expect("a subject").objects;
                assert!(names.iter().all(|name| scenario.scene_yaml.contains(name.as_str())), "{names:?}");
            }
        }
    }
}
