//! A query text taken apart into a noun and attributes, and how well its noun names a class.

use crate::lexicon::{Lexicon, SizeWord};

/// What a text asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Words of the noun phrase, singular, head last; empty when any thing will do ("the red one").
    pub noun: Vec<String>,
    /// Colour words asked for, as written.
    pub colors: Vec<String>,
    /// `Some(true)` for light, `Some(false)` for dark.
    pub shade: Option<bool>,
    /// Size words asked for, as written, with their meaning.
    pub sizes: Vec<(String, SizeWord)>,
    /// Adjectives nothing can measure.
    pub unmeasured: Vec<String>,
    /// Whether the head noun is a plural.
    pub is_plural: bool,
    /// Every content word in order, singular: for class names that contain colours or sizes ("akita black bowl").
    pub phrase: Vec<String>,
}

impl Query {
    /// Takes a text apart; unknown words are nouns.
    pub fn parse(text: &str, lexicon: &Lexicon) -> Self {
        let raw = words(text, lexicon);
        let mut query = Self::default();
        let last = raw.len().saturating_sub(1);
        for (place, word) in raw.iter().enumerate() {
            let one = lexicon.singular(word);
            query.phrase.push(one.clone());
            let is_head = place == last;
            if lexicon.generic.contains(&one) && (is_head || query.noun.is_empty()) {
                query.is_plural |= is_head && one != *word;
                continue;
            }
            // "navy blue": two words, one colour.
            let pair = place.checked_sub(1).map(|before| format!("{} {word}", raw[before]));
            if pair.as_ref().is_some_and(|pair| lexicon.colors.contains_key(pair)) {
                query.colors.pop();
                query.colors.extend(pair);
            } else if lexicon.shades.contains_key(word) && !is_head {
                query.shade = lexicon.shades.get(word).copied();
            } else if lexicon.colors.contains_key(word) && !(is_head && lexicon.knows(word)) {
                query.colors.push(word.clone());
            } else if let Some(size) = lexicon.sizes.get(word) {
                query.sizes.push((word.clone(), *size));
            } else if lexicon.unmeasured.contains(word)
                && !(is_head && query.noun.is_empty() && lexicon.knows(word))
            {
                query.unmeasured.push(word.clone());
            } else {
                if is_head {
                    query.is_plural = one != *word;
                }
                query.noun.push(one);
            }
        }
        query
    }

    /// Whether the query asks for no particular class.
    pub fn is_any(&self) -> bool {
        self.noun.is_empty()
    }
}

/// Lower-case words without punctuation, possessive endings and dropped words.
fn words(text: &str, lexicon: &Lexicon) -> Vec<String> {
    text.to_lowercase()
        .replace("'s", "")
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .flat_map(|word| {
            // "big-sized" may stand in the table; "cheez-it" is two words.
            let known = lexicon.sizes.contains_key(word);
            if known { vec![word.to_owned()] } else { word.split('-').map(str::to_owned).collect() }
        })
        .filter(|word| !word.is_empty() && !lexicon.dropped.contains(word))
        .collect()
}

/// Least similarity of a noun and a class that is a match.
pub const MATCH: f64 = 0.6;

/// How well a noun phrase names a class, [0, 1]; from [`MATCH`] it is a match. An empty phrase names everything, a class-less
/// object is named by nothing else.
pub fn noun_similarity(noun: &[String], class_name: &str, lexicon: &Lexicon) -> f64 {
    if noun.is_empty() {
        return 1.0;
    }
    let class: Vec<String> = class_name
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| lexicon.singular(word))
        .collect();
    if class.is_empty() {
        return 0.0;
    }
    let (asked, named) = (noun.join(" "), class.join(" "));
    if asked == named || asked.replace(' ', "") == named.replace(' ', "") {
        return 1.0;
    }
    if lexicon.same(&asked, &named) {
        return 0.92;
    }
    let (Some(head), Some(class_head)) = (noun.last(), class.last()) else { return 0.0 };
    let covered = |a: &[String], b: &[String]| a.iter().all(|word| b.contains(word));
    if head == class_head {
        return heads_agree(noun, &class, covered(noun, &class));
    }
    // "cookies box" is the cookies; "milk" is the milk carton.
    let unpacked = |phrase: &[String], other: &str| {
        phrase.split_last().is_some_and(|(package, content)| {
            !content.is_empty() && lexicon.packages.contains(package) && content.join(" ") == other
        })
    };
    if unpacked(noun, &named) {
        return if lexicon.packaged.contains(&named) { 0.85 } else { 0.5 };
    }
    if unpacked(&class, &asked) {
        return if lexicon.packaged.contains(&asked) { 0.8 } else { 0.45 };
    }
    if lexicon.same(head, class_head) || lexicon.same(head, &named) || lexicon.same(&asked, class_head) {
        // "coffee mug" and "cup" are one thing; "tomato can" and "soup tin" are not quite.
        return if noun.len() == 1 || class.len() == 1 { 0.88 } else { 0.7 };
    }
    if lexicon.is_kind(&asked, &named) || lexicon.is_kind(&asked, class_head) {
        return 0.85;
    }
    if lexicon.is_kind(head, &named) || lexicon.is_kind(head, class_head) {
        return if noun.len() == 1 { 0.85 } else { 0.65 };
    }
    if lexicon.is_kind(&named, &asked) || lexicon.is_kind(&named, head) {
        return 0.7;
    }
    let spelled = misspelling(&asked, &named, lexicon).max(misspelling(head, class_head, lexicon) - 0.05);
    if spelled >= MATCH {
        return spelled;
    }
    if covered(noun, &class) || covered(&class, noun) {
        return 0.45;
    }
    if lexicon.are_siblings(head, class_head) {
        return 0.4;
    }
    0.3 * strsim::jaro_winkler(&asked, &named)
}

/// Same head word: "bowl" for "akita black bowl", "rubber duck" for "duck"; other kinds of it are less alike.
fn heads_agree(noun: &[String], class: &[String], covered: bool) -> f64 {
    if covered {
        return 0.95;
    }
    let shared = noun.iter().filter(|word| class.contains(word)).count();
    let foreign = noun.len() - shared;
    if class.len() == 1 || shared == class.len() {
        // The class says less than the query: it may well be that one.
        return 0.82 - 0.04 * foreign as f64;
    }
    // "tomato sauce" is not "bbq sauce".
    0.5
}

/// Whether only the spelling brings a class near to a noun: its last word is another that looks alike.
pub(crate) fn is_spelled_like(noun: &[String], class_name: &str, lexicon: &Lexicon) -> bool {
    let (Some(head), Some(class_head)) = (noun.last(), class_name.split(' ').next_back()) else {
        return false;
    };
    let class_head = lexicon.singular(class_head);
    *head != class_head && misspelling(head, &class_head, lexicon) > 0.0
}

/// Similarity of an unknown word that is spelled nearly like a class; 0 for known words, which mean what they say.
fn misspelling(asked: &str, named: &str, lexicon: &Lexicon) -> f64 {
    let length = asked.chars().count().max(named.chars().count());
    if length < 4 || lexicon.knows(asked) {
        return 0.0;
    }
    let errors = strsim::osa_distance(asked, named);
    let allowed = if length >= 8 { 2 } else { 1 };
    if errors <= allowed { 0.85 - 0.05 * errors as f64 } else { 0.0 }
}
