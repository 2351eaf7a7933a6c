//! Patterns of words, and the forms of a verb.

use crate::language::Token;
use crate::language::inflections;

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

/// Forms that the rules do not make.
const IRREGULAR: [(&str, &[(&str, Form)]); 20] = [
    ("throw", &[("threw", Form::Past), ("thrown", Form::Past)]),
    ("break", &[("broke", Form::Past), ("broken", Form::Past)]),
    ("hit", &[("hit", Form::Past)]),
    ("strike", &[("struck", Form::Past)]),
    ("beat", &[("beaten", Form::Past)]),
    ("tear", &[("tore", Form::Past), ("torn", Form::Past)]),
    ("fling", &[("flung", Form::Past)]),
    ("sling", &[("slung", Form::Past)]),
    ("swing", &[("swung", Form::Past)]),
    ("shoot", &[("shot", Form::Past)]),
    ("hurt", &[("hurt", Form::Past)]),
    ("bite", &[("bit", Form::Past), ("bitten", Form::Past)]),
    ("fight", &[("fought", Form::Past)]),
    ("burst", &[("burst", Form::Past)]),
    ("spill", &[("spilt", Form::Past)]),
    ("burn", &[("burnt", Form::Past)]),
    ("fall", &[("fell", Form::Past), ("fallen", Form::Past)]),
    ("set", &[("set", Form::Past)]),
    ("blow", &[("blew", Form::Past), ("blown", Form::Past)]),
    ("run", &[("ran", Form::Past)]),
];

/// Every form of a verb, which may be a phrase ("knock over").
pub(super) fn forms(verb: &str) -> Vec<(String, Form)> {
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
    for (base, irregular) in IRREGULAR {
        if base == first {
            out.extend(irregular.iter().map(|(form, kind)| (format!("{form}{rest}"), *kind)));
        }
    }
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
    pub(super) fn new(text: &str) -> Self {
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
                            Some(verb) => forms(verb).into_iter().map(|(form, _)| form).collect(),
                            None => vec![word.to_owned()],
                        })
                        .collect(),
                ),
            })
            .collect();
        Self { elements }
    }

    /// The end of a match that begins at `position`.
    pub(super) fn matches(&self, tokens: &[Token], position: usize) -> Option<usize> {
        Self::go(&self.elements, tokens, position)
    }

    fn go(elements: &[Element], tokens: &[Token], position: usize) -> Option<usize> {
        let Some((first, rest)) = elements.split_first() else { return Some(position) };
        let word = tokens.get(position).map_or("", Token::word);
        match first {
            Element::Words(words) => (!word.is_empty() && words.iter().any(|w| w == word))
                .then(|| Self::go(rest, tokens, position + 1))?,
            Element::End => (word.is_empty() || matches!(word, "and" | "then" | "please" | "now"))
                .then(|| Self::go(rest, tokens, position))?,
            Element::Number => word.parse::<f64>().is_ok().then(|| Self::go(rest, tokens, position + 1))?,
            Element::Gap | Element::SomeGap => {
                let least = usize::from(*first == Element::SomeGap);
                let stop = (position..=position + GAP)
                    .find(|p| {
                        tokens.get(*p).is_none_or(|token| matches!(token, Token::Stop | Token::Question))
                    })
                    .unwrap_or(position + GAP);
                (position + least..=stop).find_map(|next| Self::go(rest, tokens, next))
            }
        }
    }
}
