//! The words the grammar knows, read from `config/language/lexicon.yaml`.

mod lists;
mod reading;

use super::goal::{Dimension, Spatial, TableRegion};
use super::inflect::{gerund, regular_singular};
use super::phrases::Phrases;
use super::rooms::RoomNames;
use super::token::{Contractions, Token, tokens};
use prehend_config::{Findings, read};
use prehend_scene::{ActionTable, Relation};
use std::collections::{HashMap, HashSet};

/// The lexicon that is built in.
pub const DEFAULT: &str = include_str!("../../../../config/language/lexicon.yaml");

/// What a verb means to the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerbMeaning {
    /// Grasp and hold.
    Pick,
    /// As pick; with a destination as place ("gather the fruit in the bowl").
    Collect,
    /// Put somewhere.
    Place,
    /// Put on top of each other.
    Stack,
    /// Let go of.
    Drop,
    /// Take away from where it is.
    Remove,
    /// Away for good: only whoever says it knows where to.
    Discard,
    /// Take everything out.
    Empty,
    /// Take everything off the table.
    Clear,
    /// Put things of a kind together: only whoever says it knows where.
    Sort,
    /// Put things into.
    Fill,
    /// Hand over to a person.
    Give,
    /// Ask where.
    Find,
    /// Ask how many.
    Count,
    /// Ask which.
    List,
    /// Move without grasping.
    Push,
    /// Exchange places.
    Swap,
    /// Known, but nothing the robot can do.
    Other,
    /// Act on a part, when the table of actions has a rule for the thing.
    Act,
}

/// Grammatical form of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerbForm {
    /// "put"
    Base,
    /// "puts"
    Third,
    /// "putting"
    Gerund,
    /// "taken"
    Past,
}

/// A form of a verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verb {
    /// Base form.
    pub lemma: String,
    /// What it means.
    pub meaning: VerbMeaning,
    /// Which form the phrase is.
    pub form: VerbForm,
    /// Index into [`Lexicon::particles`].
    pub particles: usize,
}

/// A verb whose last word may stand after the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Separable {
    /// Base form with its particle.
    pub lemma: String,
    /// The particle.
    pub particle: String,
}

/// Kinds of determiner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Determiner {
    /// "the"
    One,
    /// "a", "any"
    Any,
    /// "all"
    All,
    /// "both"
    Both,
    /// "the other"
    Other,
    /// "the rest of the"
    Rest,
}

/// What a word before a noun says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Describing {
    /// A colour.
    Color,
    /// A material.
    Material,
    /// A shape.
    Shape,
    /// Another adjective.
    Other,
    /// A size; `true` for the greater end.
    Size(Dimension, bool),
    /// A side.
    Side(TableRegion),
    /// The highest (true) or lowest of several above each other.
    Level(bool),
    /// Closest (true) or farthest (false).
    Distance(bool),
    /// Where something is, of anything: "grasped", "stacked"; `true` for where it is not: "empty" is with nothing.
    State(Spatial, bool),
}

/// Place relation of a preposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceWord {
    /// A relation the skills know.
    Known(Relation),
    /// "to"
    To,
    /// "under"
    Under,
    /// "above"
    Above,
}

/// Phrases of one kind without a meaning of their own.
pub type Words = Phrases<()>;

/// Every word the grammar knows.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    /// Verb forms.
    pub verbs: Phrases<Verb>,
    /// Particles by [`Verb::particles`].
    pub particles: Vec<Words>,
    /// Actions on parts.
    pub actions: ActionTable,
    /// Forms of the first word of actions with a particle, which may follow the object: "turn the stove on".
    pub separable: Phrases<Separable>,
    /// Prepositions as destinations.
    pub place_words: Phrases<PlaceWord>,
    /// Prepositions of what is there.
    pub spatial_words: Phrases<Spatial>,
    /// "out of", "off".
    pub removals: Phrases<Spatial>,
    /// Determiners.
    pub determiners: Phrases<Determiner>,
    /// Words that describe before a noun.
    pub describing: Phrases<Describing>,
    /// Number words.
    pub numbers: Phrases<u32>,
    /// Ordinals.
    pub ordinals: Phrases<u32>,
    /// Words that ask for a dimension: "how tall", "the width of".
    pub measures: Phrases<Dimension>,
    /// Units of length with their millimetres.
    pub units: Phrases<f64>,
    /// Words that say which way by themselves: "forward", "leftwards".
    pub directions: Phrases<TableRegion>,
    /// Sides of a thing that was named before: "to its left".
    pub its_sides: Phrases<Relation>,
    /// Rooms that people speak of.
    pub rooms: RoomNames,
    /// Whether tables are things one can speak of, as in a room with several, rather than where everything is.
    pub tables_are_things: bool,
    /// Every other kind of phrase, by its key in the file.
    lists: HashMap<&'static str, Words>,
    contractions: Contractions,
    corrections: HashMap<String, Vec<String>>,
    irregular_plurals: HashMap<String, String>,
    closed: HashSet<String>,
}

impl Lexicon {
    /// Reads a lexicon; `file` names it in findings.
    ///
    /// Errors: every finding at once, as [`prehend_config::read`].
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, Findings> {
        read(file, text, |root| root.map(Self::from_map))
    }

    /// The built-in lexicon with the built-in actions; empty when a built-in file is broken, which tests rule out.
    pub fn built_in() -> Self {
        Self::from_yaml("lexicon.yaml", DEFAULT).unwrap_or_default().with_actions(ActionTable::built_in())
    }

    /// The lexicon with the verbs of these actions.
    pub fn with_actions(mut self, actions: ActionTable) -> Self {
        let particles = self.particles.len();
        self.particles.push(Words::default());
        for verb in actions.verbs() {
            self.add_verb(verb, VerbMeaning::Act, particles);
            if let Some((first, particle)) = verb.split_once(' ') {
                let separable = Separable { lemma: verb.to_owned(), particle: particle.to_owned() };
                for form in [first.to_owned(), gerund(first)] {
                    self.separable.add(&form, separable.clone());
                }
            }
        }
        self.actions = actions;
        self
    }

    /// A text as words and marks.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        tokens(text, &self.contractions)
    }

    /// The phrases under a key of the file that holds a plain list.
    pub fn list(&self, key: &'static str) -> &Words {
        static EMPTY: std::sync::LazyLock<Words> = std::sync::LazyLock::new(Words::default);
        debug_assert!(lists::is_key(key), "no list of the lexicon: {key}");
        self.lists.get(key).unwrap_or(&EMPTY)
    }

    /// Whether a word may be part of a noun.
    pub fn nounable(&self, word: &str) -> bool {
        let is_length = word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(['m', '"']);
        !word.is_empty() && !self.closed.contains(word) && !is_length
    }

    /// Writes out slips of the pen and takes fillers away.
    pub fn cleaned(&self, tokens: Vec<Token>) -> Vec<Token> {
        let mut corrected = Vec::with_capacity(tokens.len());
        for token in tokens {
            match self.corrections.get(token.word()) {
                Some(words) => corrected.extend(words.iter().cloned().map(Token::Word)),
                None => corrected.push(token),
            }
        }
        let mut out: Vec<Token> = Vec::with_capacity(corrected.len());
        let mut position = 0;
        while position < corrected.len() {
            if let Some(length) = self.list("fillers").longest(&corrected, position) {
                position += length;
                // ", please," leaves one comma.
                if matches!(out.last(), Some(Token::Comma) | None)
                    && corrected.get(position) == Some(&Token::Comma)
                {
                    position += 1;
                }
                continue;
            }
            // "the the handle", "and and drag"
            let word = corrected[position].word();
            let is_twice = out.last().is_some_and(|last| !word.is_empty() && last.word() == word);
            if is_twice && (self.determiners.has_word(word) || word == "and") {
                position += 1;
                continue;
            }
            out.push(corrected[position].clone());
            position += 1;
        }
        while out.last().is_some_and(|token| matches!(token, Token::Comma | Token::Stop)) {
            out.pop();
        }
        out
    }

    /// The singular of a noun's last word, and whether it was plural.
    pub fn singular(&self, word: &str) -> (String, bool) {
        if self.list("plural_only").has_word(word) || self.list("singular_s").has_word(word) {
            return (word.to_owned(), false);
        }
        if let Some(singular) = self.irregular_plurals.get(word) {
            return (singular.clone(), true);
        }
        match regular_singular(word) {
            Some(singular) => (singular, true),
            None => (word.to_owned(), false),
        }
    }

    /// The verb nearest in spelling to an unknown word, when it is near enough to be meant.
    pub fn nearest_verb(&self, word: &str) -> Option<&Verb> {
        let length = word.chars().count();
        if length < 3 || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let allowed = if length >= 7 { 2 } else { 1 };
        self.verbs
            .iter()
            .filter(|(words, verb)| {
                words.len() == 1
                    && words[0].len() >= if verb.meaning == VerbMeaning::Act { 4 } else { 3 }
                    && (verb.form == VerbForm::Base)
                    && verb.meaning != VerbMeaning::Other
            })
            .map(|(words, verb)| (strsim::osa_distance(word, &words[0]), &words[0], verb))
            .filter(|(distance, form, _)| *distance <= allowed && form.chars().next() == word.chars().next())
            .min_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)))
            .map(|(_, _, verb)| verb)
    }
}

/// A noun of one or more words, singular, lower case, with single blanks and without an article.
pub fn singular(noun: &str, lexicon: &Lexicon) -> String {
    let lower = noun.to_lowercase();
    let mut words: Vec<String> = lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\'')))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    if words.len() > 1 && lexicon.determiners.has_word(&words[0]) {
        words.remove(0);
    }
    if let Some(last) = words.last_mut() {
        *last = lexicon.singular(last).0;
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_is_valid() {
        if let Err(findings) = Lexicon::from_yaml("lexicon.yaml", DEFAULT) {
            panic!("{findings}");
        }
    }

    #[test]
    fn nouns_and_verbs() {
        let lexicon = Lexicon::built_in();
        assert_eq!(lexicon.singular("tomatoes"), ("tomato".to_owned(), true));
        assert_eq!(lexicon.singular("scissors"), ("scissors".to_owned(), false));
        assert_eq!(lexicon.singular("glass"), ("glass".to_owned(), false));
        assert_eq!(lexicon.nearest_verb("plce").map(|v| v.lemma.as_str()), Some("place"));
        assert_eq!(lexicon.nearest_verb("banana"), None);
        assert!(!lexicon.nounable("between") && lexicon.nounable("ramekin"));
    }

    #[test]
    fn a_broken_file_names_every_place() {
        let error = Lexicon::from_yaml("x.yaml", "verbs: []").expect_err("incomplete");
        assert!(error.to_string().contains("missing key `verb_noise`"), "{error}");
    }

    fn check_tokens(text: &str, expected: &str) {
        let shown: Vec<String> = Lexicon::built_in()
            .tokens(text)
            .into_iter()
            .map(|token| match token {
                Token::Word(word) => word,
                Token::Comma => ",".to_owned(),
                Token::Stop => ".".to_owned(),
                Token::Question => "?".to_owned(),
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn words_marks_and_contractions() {
        check_tokens("Put the MUG, please, in the bowl!!!", "put the mug , please , in the bowl");
        check_tokens("Don\u{2019}t; where's it?", "do not . where is it ?");
        check_tokens("the left-most cup's handle", "the left most cup 's handle");
        check_tokens("0.2 m. Then go", "0.2 m . then go");
        check_tokens("I'd like 3 eggs & a pan...", "i would like 3 eggs and a pan");
        check_tokens("\u{1F600} \u{1F600}", "");
        check_tokens("?!.,", "");
        check_tokens("na\u{00ef}ve \u{676F}\u{5B50}", "na\u{00ef}ve \u{676F}\u{5B50}");
    }
}
