//! Which things a question describes.

use crate::Words;
use prehend_agent::language::{Dimension, Goal, Head, NounPhrase, Question, Selector, Token, parse};
use prehend_perception::lexicon::Lexicon as Names;

/// Longest description that is looked for, tokens.
const LONGEST: usize = 10;

/// Whether a description speaks of a kind of thing that the tables know, of anything at all ("the blue one"), or is a key of the map.
pub(super) fn is_known(described: &str, names: &Names) -> bool {
    let head = described.rsplit(' ').next().unwrap_or_default();
    described.contains('_') || names.knows_noun(head)
}

/// The descriptions of things in a question, as words that retrieval understands: keys of the map and known nouns first.
pub(super) fn phrases(text: &str, tokens: &[Token], words: &Words) -> Vec<String> {
    /// Most things that a question is about.
    const MOST: usize = 8;
    let (lexicon, names) = (&words.lexicon, &words.names);
    let keys = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let keys = keys.filter(|word| word.trim_matches('_').contains('_')).take(MOST);
    let mut found: Vec<String> = keys.map(str::to_lowercase).collect();
    let mut at = 0;
    while at < tokens.len() && found.len() < MOST {
        let begins = lexicon.determiners.longest(tokens, at).is_some() && tokens[at].word() != "what";
        // "why not red mugs", "why no blue one"
        let follows = at > 0
            && ["not", "no"].contains(&tokens[at - 1].word())
            && found.is_empty()
            && !words.questions.is_listed(tokens[at].word())
            && !ends(tokens, at, words);
        let last = tokens.len().min(at + LONGEST);
        let end = (at + 1..last).find(|at| ends(tokens, *at, words)).unwrap_or(last);
        let read = if begins || follows { longest(&tokens[at..end], words) } else { None };
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
fn longest(tokens: &[Token], words: &Words) -> Option<(String, usize)> {
    let said: Vec<&str> = tokens.iter().map(Token::word).collect();
    let read = |length: usize| Some((described(&said[..length].join(" "), words)?, length));
    let all: Vec<(String, usize)> = (1..=said.len()).rev().filter_map(read).collect();
    all.iter().find(|(described, _)| is_known(described, &words.names)).or(all.first()).cloned()
}

fn ends(tokens: &[Token], at: usize, words: &Words) -> bool {
    let Words { lexicon, names, questions } = words;
    let word = tokens[at].word();
    let is_verb = lexicon.verbs.longest(tokens, at).is_some() && !names.knows_noun(word);
    let leads = lexicon.place_words.longest(tokens, at).is_some()
        || lexicon.spatial_words.longest(tokens, at).is_some();
    let is_end = questions.ends.longest(tokens, at).is_some();
    word.is_empty() || is_end || questions.is_negative(word) || is_verb || leads
}

/// What a description says of the thing itself, by the grammar of goals.
fn described(phrase: &str, words: &Words) -> Option<String> {
    let goals = parse(&format!("where is {phrase}"), &words.lexicon).ok()?;
    let Goal::Question(Question::Where(phrases)) = goals.into_iter().next()? else { return None };
    let [NounPhrase { head, attributes, selectors, .. }] = phrases.as_slice() else { return None };
    let mut said: Vec<String> = selectors.iter().filter_map(size_word).collect();
    said.extend(attributes.iter().map(|attribute| attribute.word.clone()));
    match head {
        Head::Noun(noun) if is_no_thing(noun, words) => return None,
        Head::Noun(noun) => said.push(noun.clone()),
        Head::Anything if !said.is_empty() => said.push("one".to_owned()),
        Head::Anything | Head::It | Head::Them => return None,
    }
    Some(said.join(" "))
}

/// Whether a noun, or the first of its words, names no thing: "the verifier", "the verifier say".
fn is_no_thing(noun: &str, words: &Words) -> bool {
    let first = noun.split(' ').next().unwrap_or_default();
    words.questions.no_things.has_word(first)
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
