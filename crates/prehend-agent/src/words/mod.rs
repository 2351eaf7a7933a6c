//! Words that nobody knows, and what they are taken for: instant learning (VLA2 III-B).
//!
//! A word is learned by double judgement. First, nothing that is seen bears it, and no table knows it (the paper's missing box and
//! missing entry of the KnownList). Then witnesses are heard: pages of allowed hosts, a language model; what they say must be
//! something that is seen. Two of them must agree, and more than twice as much must speak for it as against it; otherwise nothing is
//! replaced, and the person is told what is missing. What a page says is text to be read, and never an instruction.
//!
//! A replacement is kept when the goal that used it was observed to be done, and unlearned when one fails. What a person taught stays
//! until a person forgets it. Read [`Words`] first, then `judge.rs`.

mod book;
mod judge;
mod known;
mod page;
mod prompt;

pub use book::{Book, BookError};
pub use judge::{Judgement, judge};
pub use known::in_known_words;
pub use page::{Page, label};
pub use prompt::{Said, answer, ask_again, question};

use crate::fault::Fault;
use crate::language::lexicon::Describing;
use crate::language::{Lexicon, singular};
use prehend_scene::{ObjectKey, Reason};
use serde::{Deserialize, Serialize};

/// Where a replacement comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A person said so.
    Taught,
    /// Witnesses agreed on it.
    Learned,
}

/// What an unknown word is taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// The word or words, singular, lower case.
    pub word: String,
    /// What it is taken for: words that are known.
    pub means: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Who said so: `person`, hosts of pages, names of models.
    pub witnesses: Vec<String>,
    /// Goals that used it and were observed to be done.
    #[serde(default)]
    pub confirmed: u32,
    /// When it was learned, seconds since 1970.
    #[serde(default)]
    pub since: u64,
}

impl Lesson {
    /// What a person says that a word means.
    pub fn taught(word: &str, means: &str) -> Self {
        Self {
            word: word.to_owned(),
            means: means.to_owned(),
            origin: Origin::Taught,
            witnesses: vec!["person".to_owned()],
            confirmed: 0,
            since: 0,
        }
    }
}

/// What one witness says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Testimony {
    /// Host of a page, or name of a model: who says the same twice counts once.
    pub witness: String,
    /// How much it counts: see [`PAGE`] and [`MODEL`].
    pub weight: u32,
    /// What the word is taken for.
    pub label: String,
}

/// Weight of the pages of one host.
pub const PAGE: u32 = 1;
/// Weight of a language model that sees no page: as trustworthy as one that plans.
pub const MODEL: u32 = 2;

/// What is seen, for a witness that chooses among it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// Key in the object map.
    pub key: ObjectKey,
    /// Its class.
    pub class: String,
    /// Colours that cover a share of it, the largest first.
    pub colors: Vec<String>,
    /// Sides of its box, centimetres.
    pub size_cm: [f64; 3],
}

/// Who knows words, keeps what was learned, and asks witnesses.
pub trait Words {
    /// Whether a table knows the word or words as a noun.
    fn is_known(&self, word: &str) -> bool;
    /// What the word is taken for, when that was learned before.
    fn lesson(&mut self, word: &str) -> Option<Lesson>;
    /// Asks the witnesses there are; none is no error. `picture` (the bytes of a PNG) shows what is seen with its keys, for a witness
    /// that sees.
    ///
    /// Errors: what ends the goal.
    fn ask(&mut self, word: &str, seen: &[Seen], picture: Option<&[u8]>) -> Result<Vec<Testimony>, Fault>;
    /// Keeps a lesson for good.
    ///
    /// Errors: in words, when it cannot be kept.
    fn keep(&mut self, lesson: &Lesson) -> Result<(), String>;
    /// Forgets a lesson.
    ///
    /// Errors: in words, when that cannot be kept.
    fn forget(&mut self, word: &str) -> Result<(), String>;
}

/// A query as what describes and what is named: "white ramequins" is "white" and "ramequin".
pub(crate) fn split_query(query: &str, lexicon: &Lexicon) -> (String, String) {
    let lower = query.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let describes = |word: &str| {
        lexicon.determiners.has_word(word)
            || lexicon.describing.word(word).is_some_and(|kind| !matches!(kind, Describing::Other))
    };
    let named = words.iter().position(|word| !describes(word)).unwrap_or(words.len());
    let (before, noun) = words.split_at(named);
    (before.join(" "), singular(&noun.join(" "), lexicon))
}

/// Whether a goal that ended for this reason speaks against the words it was understood by: not what the robot itself lacked.
pub(crate) fn speaks_against_words(reason: Reason) -> bool {
    match reason {
        Reason::Slipped
        | Reason::OutcomeNotObserved
        | Reason::NoGrasp
        | Reason::NoPlace
        | Reason::NoPlan
        | Reason::VerifierRefused
        | Reason::NotApproved
        | Reason::Canceled
        | Reason::Stopped
        | Reason::Unsafe
        | Reason::Stale
        | Reason::NotFound
        | Reason::Infeasible => true,
        Reason::NotUnderstood
        | Reason::Ambiguous
        | Reason::Busy
        | Reason::NotArmed
        | Reason::VerifierLost
        | Reason::PeerLost
        | Reason::ControlFailed
        | Reason::Timeout
        | Reason::SensorFault
        | Reason::Internal => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_what_describes_and_what_is_named() {
        let lexicon = Lexicon::built_in();
        for (query, before, noun) in [
            ("moutai", "", "moutai"),
            ("white ramequins", "white", "ramequin"),
            ("the large blue Saucers", "the large blue", "saucer"),
            ("blue white porcelain bowl", "blue white porcelain", "bowl"),
            ("baby wipes", "", "baby wipe"),
            ("red", "red", ""),
        ] {
            assert_eq!(split_query(query, &lexicon), (before.to_owned(), noun.to_owned()), "{query}");
        }
        assert_eq!(singular("A Pair-of  Ramequins!", &lexicon), "pair-of ramequin");
    }
}
