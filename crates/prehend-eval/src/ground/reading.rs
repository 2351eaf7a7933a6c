//! What a word may mean: nouns and colours, read with the robot's forgiveness for spelling and synonyms, but held against true classes and
//! true colours.
//!
//! The judge is independent in what is true, not in what a word means: a sentence that is misspelled is misspelled for both.

use nalgebra::{Isometry3, Vector3};
use prehend_agent::language::{Quantity, plural};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_perception::Lexicon;
use prehend_scene::{Object, ObjectKey, ObjectMap};
use prehend_sim::scene::named_color;
use prehend_sim::world::{ObjectTruth, Truth};

/// The true names of a scene.
pub(super) struct Names {
    map: ObjectMap,
}

impl Names {
    /// What each object is, and of which colour.
    pub(super) fn of(truth: &Truth) -> Self {
        let nowhere = OrientedBox { pose: Isometry3::identity(), size: Vector3::zeros() };
        let objects = truth.objects.iter().map(|object| Object {
            class_name: object.class.to_lowercase(),
            color: object.color,
            color_fractions: color_of(object).map(|word| (word, 1.0)).into_iter().collect(),
            // Without measures nothing passes for another by its looks: who bears a name is known here.
            ..Object::unnamed(ObjectKey(object.name.clone()), PointCloud::default(), nowhere)
        });
        Self { map: ObjectMap { objects: objects.collect(), ..ObjectMap::default() } }
    }

    /// Objects that a noun can mean, in the order of the scene.
    pub(super) fn named(&self, noun: &str, quantity: &Quantity, words: &Lexicon) -> Vec<usize> {
        let is_one = matches!(quantity, Quantity::One | Quantity::Any | Quantity::Other);
        let query = if is_one { noun.to_owned() } else { plural_phrase(noun) };
        let found = prehend_perception::retrieve(&self.map, &query, self.map.objects.len().max(1), words);
        let is_found = |key: &ObjectKey| found.matches.iter().any(|candidate| candidate.key == *key);
        let objects = self.map.objects.iter().enumerate();
        objects.filter(|(_, object)| is_found(&object.key)).map(|(index, _)| index).collect()
    }
}

/// "can of soup" to "cans of soup".
fn plural_phrase(noun: &str) -> String {
    match noun.split_once(" of ") {
        Some((head, rest)) => format!("{} of {rest}", plural(head)),
        None => plural(noun),
    }
}

/// The word that is measured of the true colour.
fn color_of(object: &ObjectTruth) -> Option<String> {
    basic(object.color)
}

fn basic(rgb: [u8; 3]) -> Option<String> {
    prehend_perception::color::fractions(std::iter::once(rgb)).into_iter().next().map(|(word, _)| word)
}

/// Whether an object truly has the colour that a word names.
pub(super) fn has_color(object: &ObjectTruth, word: &str, words: &Lexicon) -> bool {
    let word = word.replace("gray", "grey");
    if let Some(name) = &object.color_name {
        let name = name.replace("gray", "grey");
        if name == word || name.rsplit(' ').next() == Some(word.as_str()) {
            return true;
        }
    }
    let own = color_of(object);
    let value = object.color.iter().copied().max().unwrap_or(0);
    let is_meant = || own.as_ref().is_some_and(|own| words.measured(&word).contains(own));
    match word.as_str() {
        "dark" => value < 128,
        "light" | "bright" | "pale" => value >= 128,
        word => match named_color(word).or_else(|| named_color(word.rsplit(' ').next().unwrap_or(word))) {
            Some(named) => basic(named.0) == own || is_meant(),
            None => own.as_deref() == Some(word) || is_meant(),
        },
    }
}
