//! The things of the map as the trace tells them, and which of them words mean.

use super::Event;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_perception::lexicon::Lexicon;
use prehend_perception::retrieve;
use prehend_scene::{Object, ObjectKey, ObjectMap, ROOM_PREFIX, Scope};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Weight of a name in the map that words are held against: one that is sure.
const SURE: f64 = 4.0;

/// A thing as the trace tells it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Seen {
    /// Its key.
    pub key: String,
    /// What it is called; empty when nothing named it.
    pub class: String,
    /// Share of the votes for that name, [0, 1]; `None` when the trace does not tell.
    pub confidence: Option<f64>,
    /// Its colour words, most first; empty when the trace does not tell.
    pub colors: Vec<String>,
    /// Middle of its box, map frame, millimetres.
    pub center_mm: [f64; 3],
    /// Sides of its box, millimetres.
    pub size_mm: [f64; 3],
    /// How far its box is turned about z, degrees; `None` when the trace does not tell.
    pub turn_deg: Option<f64>,
    /// Whether it is in the last map, or held.
    pub is_there: bool,
}

impl Seen {
    fn read(entry: &Value) -> Option<Self> {
        let vector = |key: &str| {
            let at = |index: usize| entry[key][index].as_f64().unwrap_or_default();
            [at(0), at(1), at(2)]
        };
        let colors = entry["colors"].as_array().into_iter().flatten();
        Some(Self {
            key: entry["key"].as_str()?.to_owned(),
            class: entry["class"].as_str().unwrap_or_default().to_owned(),
            confidence: entry["confidence"].as_f64(),
            colors: colors.filter_map(|color| color[0].as_str().map(str::to_owned)).collect(),
            center_mm: vector("center_mm"),
            size_mm: vector("size_mm"),
            turn_deg: entry["turn_deg"].as_f64(),
            is_there: true,
        })
    }

    /// What a person would call it: "red mug", "blue thing".
    pub fn name(&self) -> String {
        let noun = if self.class.is_empty() { "thing" } else { &self.class };
        match self.colors.first() {
            Some(color) if !noun.contains(color.as_str()) => format!("{color} {noun}"),
            _ => noun.to_owned(),
        }
    }

    fn object(&self) -> Object {
        let metres = |side: usize| Vector3::from(self.size_mm)[side] / 1e3;
        let size = Vector3::new(metres(0), metres(1), metres(2));
        let center = Vector3::from(self.center_mm) / 1e3;
        let cloud = PointCloud::from_points(vec![Point3::from(center)]);
        let bounds = OrientedBox { pose: Isometry3::translation(center.x, center.y, center.z), size };
        let mut object = Object::unnamed(ObjectKey(self.key.clone()), cloud, bounds);
        if !self.class.is_empty() {
            object.class_name.clone_from(&self.class);
            object.confidence = 1.0;
            object.class_votes = vec![(self.class.clone(), SURE)];
        }
        let share = 1.0 / self.colors.len().max(1) as f64;
        object.color_fractions = self.colors.iter().map(|color| (color.clone(), share)).collect();
        object.view_count = 2;
        object
    }
}

/// All that was ever in the map, by key, as last seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Things(BTreeMap<String, Seen>);

impl Things {
    /// Takes in the map after a look.
    pub(super) fn look(&mut self, event: &Event) {
        let Some(objects) = event.data["objects"].as_array() else { return };
        // The maps of a place and of the room are two, and what is held is not on the table.
        let is_room = event.text("scope") == Scope::Room.name();
        let held = event.text("gripped");
        for thing in self.0.values_mut().filter(|thing| thing.key.starts_with(ROOM_PREFIX) == is_room) {
            thing.is_there = thing.key == held;
        }
        for thing in objects.iter().filter_map(Seen::read) {
            let known = self.0.remove(&thing.key).map(|known| known.colors).unwrap_or_default();
            let colors = if thing.colors.is_empty() { known } else { thing.colors.clone() };
            self.0.insert(thing.key.clone(), Seen { colors, ..thing });
        }
    }

    /// Takes in what the reasons of a retrieval tell of colours: "it is blue, not red".
    pub(super) fn hear(&mut self, key: &str, reason: &str, words: &Lexicon) {
        let Some(thing) = self.0.get_mut(key).filter(|thing| thing.colors.is_empty()) else { return };
        let told = super::reason::contrasts(reason);
        thing.colors.extend(told.into_iter().map(|(is, _)| is).filter(|is| !words.measured(is).is_empty()));
    }

    /// What a person would call the thing of a key; the key itself when the trace does not know it.
    pub(super) fn name(&self, key: &str) -> String {
        self.0.get(key).map_or_else(|| key.to_owned(), |thing| format!("{key} (the {})", thing.name()))
    }

    /// The thing of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Seen> {
        self.0.get(key)
    }

    /// All things as they are known now.
    pub(super) fn now(&self) -> Vec<Seen> {
        self.0.values().cloned().collect()
    }

    pub(super) fn all(self) -> Vec<Seen> {
        self.0.into_values().collect()
    }
}

/// Which of the things words mean, by the same retrieval as the robot's (ASP IV-C); the key itself is a word, too.
pub(super) fn meant(things: &[Seen], phrase: &str, words: &Lexicon) -> Vec<String> {
    let key = phrase.trim().rsplit(' ').next().unwrap_or_default();
    if things.iter().any(|thing| thing.key == key) {
        return vec![key.to_owned()];
    }
    let map = ObjectMap { objects: things.iter().map(Seen::object).collect(), ..ObjectMap::default() };
    let found = retrieve(&map, phrase, things.len(), words);
    found.matches.into_iter().map(|found| found.key.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_look_at_one_map_takes_nothing_from_the_other_and_what_is_held_is_there() {
        let look = |scope: &str, held: &str, keys: &[&str]| {
            let objects: Vec<Value> = keys.iter().map(|key| json!({"key": key, "class": "mug"})).collect();
            Event { data: json!({"scope": scope, "gripped": held, "objects": objects}), ..Event::default() }
        };
        let mut things = Things::default();
        things.look(&look("room", "", &["room_mug_0", "room_table_0"]));
        things.look(&look("local", "", &["mug_0", "mug_1"]));
        things.look(&look("local", "mug_0", &[]));
        let there: Vec<String> =
            things.all().into_iter().filter(|one| one.is_there).map(|one| one.key).collect();
        assert_eq!(there, ["mug_0", "room_mug_0", "room_table_0"]);
    }
}
