//! "Moutai means the white bottle", "by saucer I mean the plate": a word that a person teaches.

use super::goal::Goal;
use super::lexicon::Lexicon;
use super::token::Token;

/// Most words of a name that is taught.
const LONGEST: usize = 5;

/// The lesson that a sentence is; `None` when it is none.
///
/// Constructions: WORD `means` THING; WORD `is another word/name for` THING; `a` WORD `is a kind/sort/type of` THING;
/// `by/with WORD I mean` THING; `when I say WORD I mean` THING.
pub(super) fn lesson(tokens: &[Token], lexicon: &Lexicon) -> Option<Goal> {
    let words: Vec<&str> = tokens.iter().filter(|token| **token != Token::Comma).map(Token::word).collect();
    if words.iter().any(|word| word.is_empty()) {
        return None;
    }
    let at = |phrase: &[&str]| words.windows(phrase.len()).position(|window| window == phrase);
    let said = |before: usize, begin: usize, after: usize| Some((&words[before..begin], &words[after..]));
    let opened: [&[&str]; 4] = [&["by"], &["with"], &["when", "i", "say"], &["if", "i", "say"]];
    let opening = opened.iter().find(|opening| words.starts_with(opening)).map(|opening| opening.len());
    let joints: [&[&str]; 9] = [
        &["is", "another", "word", "for"],
        &["is", "another", "name", "for"],
        &["is", "a", "word", "for"],
        &["is", "a", "name", "for"],
        &["is", "a", "kind", "of"],
        &["is", "a", "sort", "of"],
        &["is", "a", "type", "of"],
        &["means"],
        &["mean"],
    ];
    let (word, means) = match opening {
        Some(before) => at(&["i", "mean"]).and_then(|begin| said(before, begin, begin + 2)),
        None => {
            joints.iter().find_map(|joint| at(joint).and_then(|begin| said(0, begin, begin + joint.len())))
        }
    }?;
    let named = |words: &[&str]| {
        let from = usize::from(words.len() > 1 && lexicon.determiners.has_word(words[0]));
        let words = &words[from..];
        let fits = !words.is_empty()
            && words.len() <= LONGEST
            && words.iter().all(|word| lexicon.nounable(word) || lexicon.describing.has_word(word));
        fits.then(|| super::singular(&words.join(" "), lexicon))
    };
    // "Red means the apple": a word that describes is no name.
    let names =
        word.iter().any(|word| !lexicon.describing.has_word(word) && !lexicon.determiners.has_word(word));
    names.then_some(Goal::Lesson { word: named(word)?, means: named(means)? })
}
