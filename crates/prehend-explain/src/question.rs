//! Questions about a run that is over: what they ask, and about which things.
//!
//! Words are taken apart by the tokens, lexicon and grammar of the robot's own language; only the question itself, which no goal is, is
//! read here.

use prehend_agent::language::token::tokens;
use prehend_agent::language::{Dimension, Goal, Head, Lexicon, NounPhrase, Question, Selector, Token, parse};
use prehend_perception::lexicon::Lexicon as Names;
use serde::Serialize;

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

const NEGATIVE: [&str; 20] = [
    "not",
    "never",
    "ignore",
    "ignored",
    "ignoring",
    "skip",
    "skipped",
    "overlook",
    "overlooked",
    "leave",
    "left",
    "reject",
    "rejected",
    "avoid",
    "avoided",
    "miss",
    "prevented",
    "kept",
    "spare",
    "spared",
];
const STOP: [&str; 22] = [
    "stop",
    "stopped",
    "halt",
    "halted",
    "end",
    "ended",
    "abort",
    "aborted",
    "fail",
    "failed",
    "failure",
    "finish",
    "finished",
    "quit",
    "interrupted",
    "broke",
    "wrong",
    "continue",
    "complete",
    "completed",
    "succeed",
    "error",
];
const GIVE_UP: [&str; 3] = ["give", "gave", "given"];
const REFUSE: [&str; 17] = [
    "refuse",
    "refused",
    "refusal",
    "deny",
    "denied",
    "decline",
    "declined",
    "forbid",
    "forbidden",
    "unsafe",
    "verifier",
    "gate",
    "permit",
    "permits",
    "permission",
    "allowed",
    "permitted",
];
const SURE: [&str; 10] = [
    "sure",
    "certain",
    "confident",
    "confidence",
    "certainty",
    "doubt",
    "doubts",
    "decide",
    "decided",
    "decision",
];
const SLOW: [&str; 5] = ["slow", "slowly", "duration", "seconds", "minutes"];
const LASTED: [&str; 13] = [
    "take", "took", "taken", "taking", "last", "lasted", "need", "needed", "spend", "spent", "go", "went",
    "waste",
];
const OTHERWISE: [&str; 8] =
    ["changed", "otherwise", "differently", "different", "change", "if", "need", "needed"];
const SEE: [&str; 19] = [
    "see",
    "saw",
    "seen",
    "look",
    "looked",
    "there",
    "notice",
    "noticed",
    "detect",
    "detected",
    "perceive",
    "map",
    "recognise",
    "recognize",
    "consider",
    "considered",
    "candidates",
    "alternatives",
    "choices",
];
const READ: [&str; 12] = [
    "understand",
    "understood",
    "mean",
    "meant",
    "think",
    "thought",
    "read",
    "hear",
    "heard",
    "interpret",
    "told",
    "asked",
];
const DO: [&str; 6] = ["do", "happened", "happen", "done", "move", "moved"];
/// How a question about a thing begins that names no more than the thing.
const ASKS: [&str; 23] = [
    "did", "do", "was", "were", "is", "are", "have", "had", "has", "could", "can", "and", "tell", "show",
    "explain", "describe", "what", "which", "how", "who", "where", "when", "on",
];
/// Where a description ends, beside verbs and prepositions.
const ENDS: [&str; 20] = [
    "instead", "then", "first", "earlier", "before", "please", "rather", "not", "is", "was", "were", "did",
    "are", "you", "and", "than", "again", "now", "but", "too",
];

/// Reads a question; `None` when it is none that a trace can answer.
pub(super) fn read(text: &str, lexicon: &Lexicon, names: &Names) -> Option<Asked> {
    let tokens = tokens(text);
    let words: Vec<&str> = tokens.iter().map(Token::word).filter(|word| !word.is_empty()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let things = phrases(text, &tokens, lexicon, names);
    let first = things.first().cloned();
    let begins = |start: &[&str]| words.starts_with(start);
    let asks_why = has(&["why", "reason", "because", "grounds"])
        || [["how", "come"], ["what", "made"], ["what", "prevented"], ["what", "kept"]]
            .iter()
            .any(|start| begins(start));
    if has(&SLOW) || (has(&["long", "time"]) && has(&LASTED)) {
        return Some(Asked::Time);
    }
    if has(&SURE) {
        return Some(Asked::Sure(first));
    }
    if has(&["would", "could", "should", "must", "had"]) && has(&OTHERWISE) {
        return Some(Asked::Otherwise);
    }
    if let [one, other, ..] = things.as_slice()
        && asks_why
        && has(&["instead", "rather", "not", "over"])
    {
        let (of, not) = (one.clone(), other.clone());
        // "why did you not take the blue one but the red one"
        let is_turned =
            words.iter().position(|word| *word == "not").is_some_and(|at| at < 5) && has(&["but"]);
        return Some(if is_turned {
            Asked::Instead { of: not, not: of }
        } else {
            Asked::Instead { of, not }
        });
    }
    if has(&REFUSE) {
        let is_judge =
            |thing: &String| ["verifier", "gate", "permit"].iter().any(|word| thing.starts_with(word));
        return Some(first.filter(|thing| !is_judge(thing)).map_or(Asked::Refuse, Asked::WhyNot));
    }
    if words.starts_with(&["what", "was", "wrong", "with"])
        || words.starts_with(&["what", "is", "wrong", "with"])
    {
        return Some(first.map_or(Asked::Stop, Asked::WhyNot));
    }
    if has(&STOP) || (has(&GIVE_UP) && has(&["up"])) {
        return Some(Asked::Stop);
    }
    if asks_why {
        return Some(match (first, has(&NEGATIVE)) {
            (Some(thing), true) => Asked::WhyNot(thing),
            (Some(thing), false) => Asked::Why(thing),
            (None, true) => Asked::Stop,
            (None, false) => return None,
        });
    }
    if has(&READ) && has(&["what", "how", "who"]) {
        return Some(Asked::Understood);
    }
    let is_question = words.first().is_some_and(|first| ASKS.contains(first));
    let is_open = has(&["what", "which"]);
    match first {
        _ if is_open && has(&SEE) => Some(Asked::Seen),
        Some(thing) if is_question && is_known(&thing, names) => Some(Asked::About(thing)),
        _ if is_open && (has(&DO) || (has(&["did"]) && has(&["you"]))) => Some(Asked::Did),
        _ => None,
    }
}

/// Whether a description speaks of a kind of thing that the tables know, of anything at all ("the blue one"), or is a key of the map.
fn is_known(described: &str, names: &Names) -> bool {
    let head = described.rsplit(' ').next().unwrap_or_default();
    described.contains('_') || names.knows_noun(head)
}

/// The descriptions of things in a question, as words that retrieval understands: keys of the map and known nouns first.
fn phrases(text: &str, tokens: &[Token], lexicon: &Lexicon, names: &Names) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut found: Vec<String> =
        words.filter(|word| word.trim_matches('_').contains('_')).map(str::to_lowercase).collect();
    let mut at = 0;
    while at < tokens.len() {
        let begins = lexicon.determiners.longest(tokens, at).is_some() && tokens[at].word() != "what";
        // "why not red mugs", "why no blue one"
        let follows = at > 0
            && ["not", "no"].contains(&tokens[at - 1].word())
            && found.is_empty()
            && !ends(tokens, at, lexicon, names);
        let end = (at + 1..tokens.len()).find(|at| ends(tokens, *at, lexicon, names)).unwrap_or(tokens.len());
        let read = if begins || follows { longest(&tokens[at..end], lexicon, names) } else { None };
        match read {
            Some((words, length)) => {
                found.push(words);
                at += length;
            }
            None => at += 1,
        }
    }
    found.sort_by_key(|described| !is_known(described, names));
    found
}

/// The longest beginning that describes a thing of a known kind, else the longest that describes any, with its length in tokens.
fn longest(tokens: &[Token], lexicon: &Lexicon, names: &Names) -> Option<(String, usize)> {
    let words: Vec<&str> = tokens.iter().map(Token::word).collect();
    let read = |length: usize| Some((described(&words[..length].join(" "), lexicon)?, length));
    let all: Vec<(String, usize)> = (1..=words.len()).rev().filter_map(read).collect();
    all.iter().find(|(described, _)| is_known(described, names)).or(all.first()).cloned()
}

fn ends(tokens: &[Token], at: usize, lexicon: &Lexicon, names: &Names) -> bool {
    let word = tokens[at].word();
    let is_verb = lexicon.verbs.longest(tokens, at).is_some() && !names.knows_noun(word);
    let leads = lexicon.place_words.longest(tokens, at).is_some()
        || lexicon.spatial_words.longest(tokens, at).is_some();
    word.is_empty() || ENDS.contains(&word) || NEGATIVE.contains(&word) || is_verb || leads
}

/// What a description says of the thing itself, by the grammar of goals.
fn described(phrase: &str, lexicon: &Lexicon) -> Option<String> {
    let goals = parse(&format!("where is {phrase}"), lexicon).ok()?;
    let Goal::Question(Question::Where(phrases)) = goals.into_iter().next()? else { return None };
    let [NounPhrase { head, attributes, selectors, .. }] = phrases.as_slice() else { return None };
    let mut words: Vec<String> = selectors.iter().filter_map(size_word).collect();
    words.extend(attributes.iter().map(|attribute| attribute.word.clone()));
    match head {
        Head::Noun(noun) => words.push(noun.clone()),
        Head::Anything if !words.is_empty() => words.push("one".to_owned()),
        Head::Anything | Head::It | Head::Them => return None,
    }
    Some(words.join(" "))
}

fn size_word(selector: &Selector) -> Option<String> {
    let word = match selector {
        Selector::Most(Dimension::Height) => "tallest",
        Selector::Least(Dimension::Height) => "shortest",
        Selector::Most(_) => "largest",
        Selector::Least(_) => "smallest",
        _ => return None,
    };
    Some(word.to_owned())
}
