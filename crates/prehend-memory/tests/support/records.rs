//! Records of every kind.

use prehend_agent::language::rooms::RoomNames;
use prehend_memory::record::{Action, Area, Episode, Id, Look, Place, Seen, Sighting, Tally, Thing, View};
use prehend_memory::{Memory, Store, WordEncoder};
use prehend_perception::Lexicon;
use std::collections::BTreeMap;

/// Length of the vectors of the records here.
pub(crate) const LENGTH: usize = 8;

/// A number that looks like chance: the same for the same seed.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    /// In [-1, 1].
    pub(crate) fn share(&mut self) -> f64 {
        self.below(2_000_001) as f64 / 1e6 - 1.0
    }

    /// A vector of length 1.
    pub(crate) fn unit(&mut self) -> Vec<f32> {
        prehend_memory::encode::unit((0..LENGTH).map(|_| self.share() as f32).collect())
    }
}

/// A memory with the words of the tree.
pub(crate) fn memory(store: Box<dyn Store>) -> Memory {
    let words = lexicon();
    let encoder = Box::new(WordEncoder::new(words.clone()));
    Memory::new(store, encoder, words, RoomNames::built_in()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn lexicon() -> Lexicon {
    let text = include_str!("../../../../config/language/synonyms.yaml");
    Lexicon::parse("synonyms.yaml", text).unwrap_or_else(|findings| panic!("{findings}"))
}

pub(crate) fn seen(name: &str, center: [f64; 3]) -> Seen {
    Seen {
        name: name.to_owned(),
        score: 0.9,
        colors: vec![("red".to_owned(), 0.7), ("white".to_owned(), 0.1 + 0.2)],
        place: Place { center, size: [0.08, 0.08, 0.1], yaw: -0.0 },
        share: 0.02,
        parts: vec!["handle".to_owned()],
        actions: vec![(Action::Pick, 0.8)],
        key: None,
        description: String::new(),
    }
}

/// A view of things from a place above the floor.
pub(crate) fn look(building: &str, robot: &str, taken: f64, seen: Vec<Seen>) -> Look {
    let eye = seen.first().map_or([0.0; 3], |seen| seen.place.center);
    Look {
        building: building.to_owned(),
        robot: robot.to_owned(),
        taken,
        building_from_camera: nalgebra::Isometry3::translation(eye[0], eye[1], eye[2] - 1.0),
        half_field: 0.6,
        picture: None,
        caption: String::new(),
        present: Default::default(),
        seen,
    }
}

pub(crate) fn view(id: Id, building: &str, robot: &str, taken: f64) -> View {
    View {
        id,
        building: building.to_owned(),
        robot: robot.to_owned(),
        taken,
        eye: [1.0 / 3.0, -0.0, 1e-300],
        forward: [0.6, -0.8],
        half_field: 0.5,
        middle: [f64::MAX, f64::MIN_POSITIVE, 0.1 + 0.2],
        text: "a \"mug\" \u{0}\u{1f375}\n\\u0000 élan".to_owned(),
        area: None,
        text_features: Chance::new(id as u64).unit(),
        picture_features: vec![-0.0, f32::MIN_POSITIVE, 1.0 / 3.0],
    }
}

pub(crate) fn thing(id: Id, building: &str, center: [f64; 3]) -> Thing {
    let tally = BTreeMap::from([("r1".to_owned(), Tally { done: 2, failed: 1 })]);
    Thing {
        id,
        building: building.to_owned(),
        votes: vec![("mug".to_owned(), 1.9), ("cup".to_owned(), 0.3)],
        colors: vec![("red".to_owned(), 1.0 / 3.0)],
        description: "c'est \u{0} une tasse".to_owned(),
        place: Place { center, size: [0.1, 0.2, 0.3], yaw: 0.1 },
        count: 3,
        first_seen: 1.7e9,
        last_seen: 1.7e9 + 0.123_456_7,
        missed: Some(1.8e9),
        parts: vec!["handle".to_owned()],
        proposed: BTreeMap::from([(Action::Pick, 0.75), (Action::Place, 0.1)]),
        tried: BTreeMap::from([(Action::Pick, tally)]),
        keys: BTreeMap::from([("r1".to_owned(), "mug_1".to_owned())]),
        area: None,
        model: String::new(),
        best_view: (id, 0.25),
        features: Chance::new(id as u64).unit(),
    }
}

pub(crate) fn sighting(id: Id, view: Id, thing: Id) -> Sighting {
    let center = [0.1, 0.2, 0.3];
    Sighting { id, view, thing, seen: Seen { share: 0.5 / id as f64, ..seen("mug", center) } }
}

pub(crate) fn area(id: Id, building: &str, level: u8, parent: Option<Id>) -> Area {
    Area {
        id,
        building: building.to_owned(),
        level,
        parent,
        room: Some("kitchen".to_owned()),
        summary: "Where coffee is made.".to_owned(),
        rule: (level == 4).then(|| "kitchen: red mug".to_owned()),
        center: [0.1, -0.0, 2.0 / 3.0],
        views: 2,
        features: Chance::new(id as u64).unit(),
    }
}

pub(crate) fn episode(building: &str, robot: &str, at: f64) -> Episode {
    Episode {
        building: building.to_owned(),
        robot: robot.to_owned(),
        at,
        goal: "bring me the mug".to_owned(),
        action: Action::Pick,
        object: "red mug".to_owned(),
        key: "mug_1".to_owned(),
        target: String::new(),
        done: false,
        reason: "it slipped".to_owned(),
    }
}
