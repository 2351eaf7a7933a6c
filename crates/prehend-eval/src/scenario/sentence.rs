//! Sentences: many ways to say one thing.

use crate::goal::Predicate;
use crate::place::Side;
use rand::{Rng, RngExt};

/// One of several.
pub(crate) fn pick<'a, T: ?Sized>(rng: &mut impl Rng, from: &[&'a T]) -> &'a T {
    from[rng.random_range(0..from.len())]
}

/// A destination: how it is said and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    In,
    On,
    Beside,
    Side(Side),
}

impl Destination {
    /// The predicate of this destination.
    pub(crate) fn predicate(self, object: &str, target: &str) -> Predicate {
        let (object, target) = (object.to_owned(), target.to_owned());
        match self {
            Self::In => Predicate::In { object, target },
            Self::On => Predicate::On { object, target },
            Self::Beside => Predicate::NextTo { object, target },
            Self::Side(Side::Left) => Predicate::LeftOf { object, target },
            Self::Side(Side::Right) => Predicate::RightOf { object, target },
            Self::Side(Side::Front) => Predicate::InFrontOf { object, target },
            Self::Side(Side::Back) => Predicate::Behind { object, target },
        }
    }

    /// "in the bowl".
    pub(crate) fn phrase(self, rng: &mut impl Rng, target: &str) -> String {
        let words: &[&str] = match self {
            Self::In => &["in", "in", "into", "inside"],
            Self::On => &["on", "on", "onto", "on top of"],
            Self::Beside => &["next to", "next to", "beside", "near"],
            Self::Side(Side::Left) => &["to the left of", "left of", "on the left side of"],
            Self::Side(Side::Right) => &["to the right of", "right of", "on the right side of"],
            Self::Side(Side::Front) => &["in front of"],
            Self::Side(Side::Back) => &["behind"],
        };
        format!("{} {target}", pick(rng, words))
    }
}

/// "put the mug in the bowl", in one of many ways.
pub(crate) fn put(rng: &mut impl Rng, object: &str, destination: &str) -> String {
    match rng.random_range(0..12) {
        0..=3 => format!("put {object} {destination}"),
        4 | 5 => format!("place {object} {destination}"),
        6 => format!("move {object} {destination}"),
        7 => format!("pick up {object} and put it {destination}"),
        8 => format!("pick {object} and place it {destination}"),
        9 => format!("take {object} and put it {destination}"),
        10 => format!("grab {object} and place it {destination}"),
        _ => format!("set {object} {destination}"),
    }
}

/// As [`put`], for several objects.
pub(super) fn put_all(rng: &mut impl Rng, objects: &str, destination: &str) -> String {
    let verb = pick(rng, &["put", "put", "place", "move", "collect"]);
    let verb = if verb == "collect" && !destination.starts_with("in") { "put" } else { verb };
    format!("{verb} {objects} {destination}")
}

/// "pick up the mug".
pub(crate) fn pick_up(rng: &mut impl Rng, object: &str) -> String {
    match rng.random_range(0..5) {
        0 | 1 => format!("pick up {object}"),
        2 => format!("grab {object}"),
        3 => format!("take {object}"),
        _ => format!("pick {object} up"),
    }
}

/// Makes a command polite, or not, and gives it a capital letter and a full stop, or not.
pub(crate) fn polite(rng: &mut impl Rng, command: &str) -> String {
    let text = match rng.random_range(0..14) {
        0..=5 => command.to_owned(),
        6 | 7 => format!("please {command}"),
        8 => format!("{command}, please"),
        9 => format!("can you {command}?"),
        10 => format!("could you please {command}?"),
        11 => format!("I want you to {command}"),
        12 => format!("robot, {command}"),
        _ => format!("I would like you to {command}"),
    };
    finish(rng, text)
}

/// Capital letter and full stop, sometimes.
pub(crate) fn finish(rng: &mut impl Rng, text: String) -> String {
    let mut letters = text.chars();
    let text = match letters.next() {
        Some(first) if rng.random_bool(0.5) => first.to_uppercase().chain(letters).collect(),
        _ => text,
    };
    let ends = text.ends_with(['?', '.', '!']);
    if !ends && rng.random_bool(0.3) { format!("{text}.") } else { text }
}

/// "mugs".
pub(crate) fn plural(noun: &str) -> String {
    match noun {
        "box" => "boxes".to_owned(),
        "tomato" => "tomatoes".to_owned(),
        _ => format!("{noun}s"),
    }
}
