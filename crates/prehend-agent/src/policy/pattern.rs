//! Patterns of words, and the forms of a verb.

use super::usage::Irregular;
use crate::language::{Phrases, Token, inflections};

/// Most words that a gap of a pattern spans.
const GAP: usize = 6;

/// Form of a verb in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// "smash", "smashes"
    Finite,
    /// "smashing"
    Gerund,
    /// "smashed"
    Past,
}

/// Every form of a verb, which may be a phrase ("knock over").
pub(super) fn forms(verb: &str, irregular: &Irregular) -> Vec<(String, Form)> {
    let (first, rest) = match verb.split_once(' ') {
        Some((first, rest)) => (first, format!(" {rest}")),
        None => (verb, String::new()),
    };
    let [third, gerund, past] = inflections(first);
    let mut out = vec![
        (format!("{first}{rest}"), Form::Finite),
        (format!("{third}{rest}"), Form::Finite),
        (format!("{gerund}{rest}"), Form::Gerund),
        (format!("{past}{rest}"), Form::Past),
    ];
    out.extend(irregular.pasts(first).iter().map(|form| (format!("{form}{rest}"), Form::Past)));
    out
}

/// One element of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Element {
    Words(Vec<String>),
    Gap,
    SomeGap,
    Number,
    End,
}

/// Words in an order, with gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    elements: Vec<Element>,
}

impl Pattern {
    /// Reads `~drop * from|off # metres`.
    pub(super) fn new(text: &str, irregular: &Irregular) -> Self {
        let elements = text
            .split_whitespace()
            .map(|element| match element {
                "*" => Element::Gap,
                "+" => Element::SomeGap,
                "#" => Element::Number,
                "$" => Element::End,
                words => Element::Words(
                    words
                        .split('|')
                        .flat_map(|word| match word.strip_prefix('~') {
                            Some(verb) => forms(verb, irregular).into_iter().map(|(form, _)| form).collect(),
                            None => vec![word.to_owned()],
                        })
                        .collect(),
                ),
            })
            .collect();
        Self { elements }
    }

    /// The end of a match that begins at `position`; `ends` are the words that end a clause.
    pub(super) fn matches(&self, tokens: &[Token], position: usize, ends: &Phrases<()>) -> Option<usize> {
        Self::go(&self.elements, tokens, position, ends)
    }

    fn go(elements: &[Element], tokens: &[Token], position: usize, ends: &Phrases<()>) -> Option<usize> {
        let Some((first, rest)) = elements.split_first() else { return Some(position) };
        let word = tokens.get(position).map_or("", Token::word);
        match first {
            Element::Words(words) => (!word.is_empty() && words.iter().any(|w| w == word))
                .then(|| Self::go(rest, tokens, position + 1, ends))?,
            Element::End => {
                (word.is_empty() || ends.has_word(word)).then(|| Self::go(rest, tokens, position, ends))?
            }
            Element::Number => {
                word.parse::<f64>().is_ok().then(|| Self::go(rest, tokens, position + 1, ends))?
            }
            Element::Gap | Element::SomeGap => {
                let least = usize::from(*first == Element::SomeGap);
                let stop = (position..=position + GAP)
                    .find(|p| {
                        tokens.get(*p).is_none_or(|token| matches!(token, Token::Stop | Token::Question))
                    })
                    .unwrap_or(position + GAP);
                (position + least..=stop).find_map(|next| Self::go(rest, tokens, next, ends))
            }
        }
    }
}
