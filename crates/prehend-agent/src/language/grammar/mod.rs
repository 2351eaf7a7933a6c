//! The grammar: every reading of a row of tokens, cheapest first.
//!
//! A parser function takes a position and gives all ways to read on from there, each with its cost. Attachment is not
//! decided here: "the bowl on the plate on the tray" gives both readings, and the scene decides. Nothing is skipped but
//! what the lexicon lists as without influence.

mod act;
mod building;
mod clause;
mod compare;
mod destination;
mod list;
mod means;
mod modifier;
mod noun;
mod one;
mod other;
mod put;
mod question;
mod region;
mod sentence;
mod spot;
mod verb;
mod wish;

use super::goal::{NounPhrase, Question, Step};
use super::lexicon::{Lexicon, Words};
use super::token::Token;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

pub(super) use one::{replace_pronoun, resolve_ones};

/// One way to read on.
#[derive(Clone, Debug)]
pub(super) struct Alt<T> {
    pub(super) value: T,
    /// Position after what was read.
    pub(super) next: usize,
    /// How forced the reading is; 0 is plain.
    pub(super) cost: u32,
}

pub(super) type Alts<T> = Vec<Alt<T>>;

/// What a clause turned out to be.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "readings live for one sentence; a question is the largest, and the rarest"
)]
pub(super) enum Clause {
    /// Something to do.
    Step(Step),
    /// Understood so far, but something is missing: the question that settles it.
    Problem(String),
    /// What shall be put somewhere, with the question where; the place may have been gone to before.
    Placeless(Vec<NounPhrase>, String),
    /// A question put as a command ("find the apple").
    Question(Question),
    /// "There is a mug on the table.": what a later "it" means.
    Mention(NounPhrase),
    /// "Do not put the knife in it": what shall be left alone, and what a later "it" means.
    Denied(NounPhrase),
    /// A promise that holds anyway ("do not drop it").
    Nothing,
}

/// The grammar over one sentence.
pub(super) struct Parser<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) lexicon: &'a Lexicon,
    nouns: RefCell<HashMap<usize, Alts<NounPhrase>>>,
    lists: RefCell<HashMap<usize, Alts<Vec<NounPhrase>>>>,
    farthest: Cell<usize>,
    /// Position of the first clause that has no verb the lexicon knows.
    verbless: Cell<Option<usize>>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: &'a [Token], lexicon: &'a Lexicon) -> Self {
        Self {
            tokens,
            lexicon,
            nouns: RefCell::default(),
            lists: RefCell::default(),
            farthest: Cell::new(0),
            verbless: Cell::new(None),
        }
    }

    /// Whether there is nothing here but words of politeness.
    pub(super) fn is_idle(&self) -> bool {
        self.clause_starts(0).into_iter().any(|start| self.at_end(start))
    }

    /// The noun phrases that all of this is; `None` when it is more or less.
    pub(super) fn whole_list(&self) -> Option<Vec<NounPhrase>> {
        let lists = self.noun_list(0);
        let whole = lists.into_iter().filter(|list| {
            self.at_end(list.next) || self.past("closers", list.next).is_some_and(|next| self.at_end(next))
        });
        whole.min_by_key(|list| list.cost).map(|list| list.value)
    }

    /// The first token no reading came past.
    pub(super) fn farthest(&self) -> usize {
        self.farthest.get()
    }

    /// Where a clause was expected and no known verb stands.
    pub(super) fn verbless(&self) -> Option<usize> {
        self.verbless.get()
    }

    fn reach(&self, position: usize) {
        self.farthest.set(self.farthest.get().max(position));
    }

    fn word(&self, position: usize) -> &'a str {
        self.tokens.get(position).map_or("", Token::word)
    }

    fn is(&self, position: usize, words: &[&str]) -> bool {
        let word = self.word(position);
        !word.is_empty() && words.contains(&word)
    }

    /// Whether the word here is one of a list.
    fn is_in(&self, key: &'static str, position: usize) -> bool {
        self.list(key).has_word(self.word(position))
    }

    fn is_comma(&self, position: usize) -> bool {
        self.tokens.get(position) == Some(&Token::Comma)
    }

    fn at_end(&self, position: usize) -> bool {
        self.tokens[position.min(self.tokens.len())..]
            .iter()
            .all(|token| matches!(token, Token::Stop | Token::Question | Token::Comma))
    }

    fn list(&self, key: &'static str) -> &'a Words {
        self.lexicon.list(key)
    }

    /// Position after the longest phrase of a list, if one stands here.
    fn past(&self, key: &'static str, position: usize) -> Option<usize> {
        self.list(key).longest(self.tokens, position).map(|length| position + length)
    }

    /// Every position after a phrase of a list that stands here, longest first.
    fn pasts(&self, key: &'static str, position: usize) -> Vec<usize> {
        self.list(key).at(self.tokens, position).map(|(length, ())| position + length).collect()
    }

    /// Position after these words, if they stand here.
    fn past_words(&self, words: &str, position: usize) -> Option<usize> {
        let mut next = position;
        for word in words.split(' ') {
            if self.word(next) != word {
                return None;
            }
            next += 1;
        }
        Some(next)
    }

    /// Position after the first of these phrases that stands here.
    fn past_any(&self, phrases: &[&str], position: usize) -> Option<usize> {
        phrases.iter().find_map(|phrase| self.past_words(phrase, position))
    }

    fn skip_articles(&self, position: usize) -> usize {
        if self.is_in("articles", position) { position + 1 } else { position }
    }

    /// The words from one position up to another.
    fn text(&self, from: usize, to: usize) -> String {
        let words: Vec<&str> = self.tokens[from.min(to)..to.min(self.tokens.len())]
            .iter()
            .map(Token::word)
            .filter(|w| !w.is_empty())
            .collect();
        words.join(" ").replace(" 's", "'s")
    }
}

/// Keeps the cheapest readings: at most `per_end` for each end, `total` in all; the order of equal ones stays.
fn keep<T>(mut alts: Alts<T>, per_end: usize, total: usize) -> Alts<T> {
    alts.sort_by_key(|alt| alt.cost);
    let mut counts: HashMap<usize, usize> = HashMap::new();
    alts.retain(|alt| {
        let count = counts.entry(alt.next).or_default();
        *count += 1;
        *count <= per_end
    });
    alts.truncate(total);
    alts
}
