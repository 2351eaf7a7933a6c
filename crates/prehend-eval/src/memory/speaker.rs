//! Sentences about a building: what is meant is told by its colour, by what it stands on or near, and by its room, as far as that is
//! needed to tell it from everything else.

use super::building::{Building, TrueThing};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Plain commands: the one that the memory was made with.
    Plain,
    /// Other words, other orders, more of them; nothing was chosen by this one.
    Talkative,
}

/// A sentence and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// What is said.
    pub sentence: String,
    /// The phrase for the target, and things that it fits.
    pub target: (String, BTreeSet<usize>),
    /// The phrase for the receptacle, and things that it fits.
    pub receptacle: (String, BTreeSet<usize>),
}

/// Distance at which people say "near", metres.
const NEAR: f64 = 0.9;
/// Sentences tried for one that is wanted.
const DRAWS: usize = 200;

/// Words for one class, the class first; the second column is said by the talkative one.
const WORDS: &[(&str, &str)] = &[
    ("mug", "cup"),
    ("bottle", "flask"),
    ("can", "tin"),
    ("sofa", "couch"),
    ("fridge", "refrigerator"),
    ("book", "novel"),
    ("towel", "cloth"),
    ("phone", "telephone"),
    ("bowl", "basin"),
    ("ball", "ball"),
    ("box", "package"),
    ("plate", "plate"),
    ("cabinet", "cupboard"),
    ("stove", "cooker"),
];

const PLAIN: &[&str] = &[
    "bring {target} to {place}",
    "put {target} on {place}",
    "take {target} to {place}",
    "move {target} to {place}",
    "carry {target} to {place}",
    "pick up {target} and put it on {place}",
    "take {target} and place it on {place}",
    "please put {target} on {place}",
];

const TALKATIVE: &[&str] = &[
    "could you please carry {target} over to {place}",
    "I need {target} on {place}",
    "go and get {target}, then put it down on {place}",
    "{target} belongs on {place}, please take it there",
    "would you mind bringing {target} to {place}",
    "fetch {target} and set it on {place}",
    "grab {target} for me and leave it on {place}",
    "let's have {target} moved to {place}",
];

impl Speaker {
    fn say(self, class: &str, rng: &mut ChaCha8Rng) -> String {
        let other = WORDS.iter().find(|(known, _)| *known == class).map(|(_, other)| *other);
        match (self, other) {
            (Self::Talkative, Some(other)) if rng.random_bool(0.6) => other.to_owned(),
            _ => class.to_owned(),
        }
    }

    /// Draws so many instructions about a building; fewer when it does not hold as many.
    pub fn instructions(
        self,
        building: &Building,
        seen: &BTreeSet<usize>,
        count: usize,
        seed: u64,
    ) -> Vec<Instruction> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let things = &building.things;
        let is_seen = |index: &usize| seen.contains(index);
        let small: Vec<usize> =
            (0..things.len()).filter(|index| !things[*index].is_furniture()).filter(is_seen).collect();
        let takes = |thing: &TrueThing| {
            thing.is_furniture()
                && !["fridge", "wardrobe", "locker", "whiteboard", "toilet"].contains(&thing.class)
        };
        let places: Vec<usize> =
            (0..things.len()).filter(|index| takes(&things[*index])).filter(is_seen).collect();
        let templates = match self {
            Self::Plain => PLAIN,
            Self::Talkative => TALKATIVE,
        };
        let mut found: Vec<Instruction> = Vec::new();
        for _ in 0..DRAWS * count {
            if found.len() == count {
                break;
            }
            let (Some(&target), Some(&place)) = (small.choose(&mut rng), places.choose(&mut rng)) else {
                break;
            };
            if things[target].on == Some(place) {
                continue;
            }
            let (Some(target), Some(place)) =
                (self.describe(building, target, &mut rng), self.describe(building, place, &mut rng))
            else {
                continue;
            };
            let Some(template) = templates.choose(&mut rng) else { break };
            let sentence = template.replace("{target}", &target.0).replace("{place}", &place.0);
            let instruction = Instruction { sentence, target, receptacle: place };
            if !found.contains(&instruction) {
                found.push(instruction);
            }
        }
        found
    }

    /// A phrase that fits this thing alone, as short as one of a few tries gets it; `None` when none does.
    fn describe(
        self,
        building: &Building,
        index: usize,
        rng: &mut ChaCha8Rng,
    ) -> Option<(String, BTreeSet<usize>)> {
        let things = &building.things;
        let thing = &things[index];
        let noun = self.say(thing.class, rng);
        let mut kinds: Vec<Clue> = vec![Clue::Room];
        if !thing.is_furniture() {
            kinds.extend([Clue::Color, Clue::On]);
        }
        kinds.extend(self.landmark(building, index, rng));
        kinds.shuffle(rng);
        let mut said: Vec<Clue> = Vec::new();
        let fits = |said: &[Clue]| -> BTreeSet<usize> {
            (0..things.len())
                .filter(|other| said.iter().all(|clue| clue.fits(building, index, *other)))
                .filter(|other| things[*other].class == thing.class)
                .collect()
        };
        let mut left = fits(&said);
        // People say a little more than they must.
        let more = rng.random_bool(0.5);
        for clue in kinds {
            if left.len() == 1 && (!more || !said.is_empty()) {
                break;
            }
            said.push(clue);
            let now = fits(&said);
            if now.len() == left.len() && left.len() > 1 {
                said.pop();
            } else {
                left = now;
            }
        }
        if left.len() != 1 || said.len() > 3 {
            return None;
        }
        let mut words = noun;
        if said.contains(&Clue::Color) {
            words = format!("{} {words}", thing.color);
        }
        let mut words = format!("the {words}");
        for clue in &said {
            match clue {
                Clue::On => {
                    let on = &things[thing.on?];
                    words = format!("{words} on the {}", self.say(on.class, rng));
                }
                Clue::Near(other) => {
                    let near =
                        if self == Self::Talkative && rng.random_bool(0.5) { "next to" } else { "near" };
                    words = format!("{words} {near} the {}", self.say(things[*other].class, rng));
                }
                Clue::Color | Clue::Room => {}
            }
        }
        if said.contains(&Clue::Room) {
            words = format!("{words} in the {}", building.rooms[thing.room].name);
        }
        Some((words, left))
    }

    /// Something near by that is easily named.
    fn landmark(self, building: &Building, index: usize, rng: &mut ChaCha8Rng) -> Option<Clue> {
        let things = &building.things;
        let near: Vec<usize> = (0..things.len())
            .filter(|other| {
                *other != index && things[index].on != Some(*other) && things[*other].on != Some(index)
            })
            .filter(|other| {
                things[*other].class != things[index].class && is_near(&things[index], &things[*other])
            })
            .collect();
        near.choose(rng).map(|other| Clue::Near(*other))
    }
}

/// Something that is said about a thing.
#[derive(Clone, Debug, PartialEq)]
enum Clue {
    Color,
    On,
    Near(usize),
    Room,
}

impl Clue {
    /// Whether what it says of one thing is true of another, too.
    fn fits(&self, building: &Building, index: usize, other: usize) -> bool {
        let things = &building.things;
        let (thing, other) = (&things[index], &things[other]);
        match self {
            Self::Color => thing.color == other.color,
            Self::On => match (thing.on, other.on) {
                (Some(a), Some(b)) => things[a].class == things[b].class,
                _ => false,
            },
            Self::Near(landmark) => {
                let class = things[*landmark].class;
                things.iter().any(|near| near.class == class && is_near(other, near))
            }
            Self::Room => building.rooms[thing.room].name == building.rooms[other.room].name,
        }
    }
}

fn is_near(a: &TrueThing, b: &TrueThing) -> bool {
    let flat = (a.pose.translation.vector - b.pose.translation.vector).xy().norm();
    let own = |thing: &TrueThing| thing.size[0].min(thing.size[1]) / 2.0;
    a.room == b.room && flat - own(a) - own(b) < NEAR
}
