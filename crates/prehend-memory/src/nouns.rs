//! How well nouns name classes, remembered: the word tables are walked once for each pair.

use prehend_perception::{Lexicon, query};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Pairs that are remembered at most; then all are forgotten.
const MOST: usize = 100_000;

/// The word tables with what was looked up in them.
#[derive(Debug)]
pub struct Nouns {
    lexicon: Lexicon,
    known: Mutex<HashMap<(String, String), f64>>,
}

impl Nouns {
    /// Over these tables.
    pub fn new(lexicon: Lexicon) -> Self {
        Self { lexicon, known: Mutex::default() }
    }

    /// The tables.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// How well a noun of one or more words names a class, as [`query::noun_similarity`].
    pub fn alike(&self, noun: &str, class: &str) -> f64 {
        let key = (noun.to_owned(), class.to_owned());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&key) {
            return *found;
        }
        let words: Vec<String> = noun.split_whitespace().map(|word| self.lexicon.singular(word)).collect();
        let found = query::noun_similarity(&words, class, &self.lexicon);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, found);
        found
    }

    /// Whether a noun names a class.
    pub fn names(&self, noun: &str, class: &str) -> bool {
        self.alike(noun, class) >= query::MATCH
    }
}
