//! Questions about a run: what they ask, and about which things.
//!
//! What makes a question is a table, read from `config/language/questions.yaml`. Things in it are described in the robot's own language: by its
//! tokens, lexicon and grammar.

mod table;
mod things;

use crate::Words;
use prehend_agent::language::Token;
use prehend_agent::language::token::MAX_TOKENS;
use prehend_scene::Reason;
use serde::Serialize;
use table::Kind;
pub use table::Questions;
use things::{is_known, phrases};

/// What can be asked, as examples.
pub const ASKABLE: [&str; 9] = [
    "why did you take the red mug?",
    "why did you not take the blue one?",
    "why did you refuse?",
    "why did you stop?",
    "what would have changed it?",
    "how sure were you?",
    "what did you see?",
    "how did you understand it?",
    "why did it take so long?",
];

/// What a question asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// Why a thing was taken, or done something to.
    Why(String),
    /// Why a thing was not taken.
    WhyNot(String),
    /// Why one thing and not another.
    Instead {
        /// What was taken.
        of: String,
        /// What was not.
        not: String,
    },
    /// All that is known of a thing.
    About(String),
    /// Why the goal was not done.
    Stop,
    /// What was refused, and why.
    Refuse,
    /// What would have changed the outcome.
    Otherwise,
    /// How sure the robot was, of a thing or of all it acted on.
    Sure(Option<String>),
    /// What was seen.
    Seen,
    /// How the sentence was read.
    Understood,
    /// What was done.
    Did,
    /// Where the time went.
    Time,
}

/// The tokens of a question; what comes after the longest that the grammar looks at is not read.
fn said(text: &str, words: &Words) -> Vec<Token> {
    let mut said = words.lexicon.tokens(text);
    said.truncate(MAX_TOKENS);
    said
}

/// Reads a question; `None` when it is none that a trace can answer.
pub(super) fn read(text: &str, words: &Words) -> Option<Asked> {
    let tokens = said(text, words);
    // "I do not see why you took the red one": what comes before "why" denies nothing. "You did not take the blue one, why?"
    let why = words.questions.why(&tokens);
    part(text, &tokens[why..], words).or_else(|| part(text, &tokens, words).filter(|_| why > 0))
}

/// Reads a part of a question.
fn part(text: &str, tokens: &[Token], words: &Words) -> Option<Asked> {
    let things = phrases(text, tokens, words);
    let known = things.iter().filter(|thing| is_known(thing, &words.names)).count();
    let rule = words.questions.rule(tokens, things.len(), known)?;
    let mut things = things.into_iter();
    let (first, second) = (things.next(), things.next());
    let asked = match rule {
        Kind::Why => Asked::Why(first?),
        Kind::WhyNot => Asked::WhyNot(first?),
        Kind::Instead { reversed: false } => Asked::Instead { of: first?, not: second? },
        Kind::Instead { reversed: true } => Asked::Instead { of: second?, not: first? },
        Kind::About => Asked::About(first?),
        Kind::Stop => Asked::Stop,
        Kind::Refuse => Asked::Refuse,
        Kind::Otherwise => Asked::Otherwise,
        Kind::Sure => Asked::Sure(first),
        Kind::Seen => Asked::Seen,
        Kind::Understood => Asked::Understood,
        Kind::Did => Asked::Did,
        Kind::Time => Asked::Time,
    };
    Some(asked)
}

/// What a sentence that was said to a robot asks about its last goal; `None` when it asks nothing of that. `refused` is why it is neither a
/// goal nor a question about what is there: those come first.
pub fn of_last_goal(text: &str, refused: Reason, words: &Words) -> Option<Asked> {
    let may_be = match refused {
        // "Tell me why" is understood, and nothing that a robot can do.
        Reason::NotUnderstood | Reason::Infeasible => {
            words.questions.may_be(&words.lexicon, &said(text, words), false)
        }
        Reason::Unsafe => words.questions.may_be(&words.lexicon, &said(text, words), true),
        _ => false,
    };
    if may_be { read(text, words) } else { None }
}

#[cfg(test)]
mod tests;
