//! Phrases of one or more words with a meaning each, found in a row of tokens.

use super::token::Token;
use std::collections::HashMap;

/// A table of phrases.
#[derive(Clone, Debug)]
pub struct Phrases<T> {
    by_first: HashMap<String, Vec<(Vec<String>, T)>>,
}

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self { by_first: HashMap::new() }
    }
}

impl<T> Phrases<T> {
    /// Adds a phrase of words with single blanks between them; an empty one is left out.
    pub fn add(&mut self, phrase: &str, meaning: T) {
        let words: Vec<String> =
            phrase.split([' ', '-']).filter(|w| !w.is_empty()).map(str::to_owned).collect();
        if let Some(first) = words.first() {
            let list = self.by_first.entry(first.clone()).or_default();
            list.push((words, meaning));
            list.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
    }

    /// Every phrase that stands at `position`, longest first, with its length in tokens.
    pub fn at<'a>(
        &'a self,
        tokens: &'a [Token],
        position: usize,
    ) -> impl Iterator<Item = (usize, &'a T)> + 'a {
        let first = tokens.get(position).map_or("", Token::word);
        self.by_first.get(first).into_iter().flatten().filter_map(move |(words, meaning)| {
            let fits = words.iter().enumerate().all(|(offset, word)| {
                tokens.get(position + offset).is_some_and(|token| token.word() == word)
            });
            fits.then_some((words.len(), meaning))
        })
    }

    /// Length of the longest phrase at `position`.
    pub fn longest(&self, tokens: &[Token], position: usize) -> Option<usize> {
        self.at(tokens, position).next().map(|(length, _)| length)
    }

    /// Whether this one word is a phrase of the table.
    pub fn has_word(&self, word: &str) -> bool {
        self.by_first.get(word).is_some_and(|list| list.iter().any(|(words, _)| words.len() == 1))
    }

    /// The meaning of this one word.
    pub fn word(&self, word: &str) -> Option<&T> {
        self.by_first.get(word)?.iter().find(|(words, _)| words.len() == 1).map(|(_, meaning)| meaning)
    }

    /// All phrases, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], &T)> {
        self.by_first.values().flatten().map(|(words, meaning)| (words.as_slice(), meaning))
    }
}
