//! From text to tokens.

use std::collections::{HashMap, HashSet};

/// Longest sentence the grammar looks at, tokens.
pub const MAX_TOKENS: usize = 120;

/// A word or a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A word, lower case, without marks around it; `'s` is a word of its own.
    Word(String),
    /// A comma or a colon.
    Comma,
    /// The end of a sentence: full stop, semicolon, exclamation mark, new line.
    Stop,
    /// A question mark.
    Question,
}

impl Token {
    /// The word, or nothing for a mark.
    pub fn word(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Comma | Self::Stop | Self::Question => "",
        }
    }
}

/// How words that are run together are written out.
#[derive(Clone, Debug, Default)]
pub(super) struct Contractions {
    /// Whole words: "can't" is "can not".
    pub(super) whole: HashMap<String, Vec<String>>,
    /// Endings with the word they stand for: "'ll" is "will".
    pub(super) endings: HashMap<String, String>,
    /// Words after which `'s` is "is".
    pub(super) is: HashSet<String>,
}

/// Splits text into words and marks: lower case, hyphens and slashes part words, contractions are written out.
/// Symbols that are neither letters nor digits are left out; letters of every script are kept.
pub(super) fn tokens(text: &str, contractions: &Contractions) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = text.chars().collect();
    for (index, raw) in chars.iter().enumerate() {
        let c = match raw {
            '\u{2019}' | '\u{2018}' | '\u{02bc}' | '`' | '\u{00b4}' => '\'',
            other => *other,
        };
        let next_is_digit = chars.get(index + 1).is_some_and(char::is_ascii_digit);
        let after_digit = word.chars().last().is_some_and(|last| last.is_ascii_digit());
        let inside_number = c == '.' && after_digit && next_is_digit;
        if c.is_alphanumeric() || inside_number || (c == '\'' && !word.is_empty()) || c == '%' {
            word.extend(c.to_lowercase());
            continue;
        }
        // "cheez-it" is one word: its end means nothing by itself.
        let ends_it = c == '-'
            && !word.is_empty()
            && chars.get(index + 1).is_some_and(|c| c.eq_ignore_ascii_case(&'i'))
            && chars.get(index + 2).is_some_and(|c| c.eq_ignore_ascii_case(&'t'))
            && chars.get(index + 3).is_none_or(|c| !c.is_alphanumeric());
        if ends_it {
            word.push('-');
            continue;
        }
        finish(&mut word, &mut out, contractions);
        match c {
            '&' | '+' => out.push(Token::Word("and".to_owned())),
            ',' | ':' | '(' | ')' => mark(&mut out, Token::Comma),
            '.' | ';' | '!' | '\n' | '\u{3002}' => mark(&mut out, Token::Stop),
            '?' => mark(&mut out, Token::Question),
            '\u{2014}' | '\u{2013}' => mark(&mut out, Token::Comma),
            '-' if chars.get(index + 1) == Some(&' ') && index > 0 && chars[index - 1] == ' ' => {
                mark(&mut out, Token::Comma);
            }
            _ => {}
        }
    }
    finish(&mut word, &mut out, contractions);
    while out.first().is_some_and(|token| token.word().is_empty()) {
        out.remove(0);
    }
    while out.last().is_some_and(|token| matches!(token, Token::Comma | Token::Stop)) {
        out.pop();
    }
    out
}

/// Two marks in a row are one: the stronger.
fn mark(out: &mut Vec<Token>, mark: Token) {
    match out.last_mut() {
        Some(last @ Token::Comma) => *last = mark,
        Some(Token::Stop) if mark == Token::Question => {
            out.pop();
            out.push(mark);
        }
        Some(Token::Stop | Token::Question) => {}
        Some(Token::Word(_)) | None => out.push(mark),
    }
}

fn finish(word: &mut String, out: &mut Vec<Token>, contractions: &Contractions) {
    let taken = std::mem::take(word);
    let text = taken.trim_matches('\'');
    if text.is_empty() {
        return;
    }
    let mut push = |words: &[&str]| out.extend(words.iter().map(|w| Token::Word((*w).to_owned())));
    if let Some(words) = contractions.whole.get(text) {
        return push(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    for (ending, full) in &contractions.endings {
        if let Some(stem) = text.strip_suffix(ending.as_str()) {
            return push(&[stem, full]);
        }
    }
    if let Some(stem) = text.strip_suffix("'s") {
        return push(&[stem, if contractions.is.contains(stem) { "is" } else { "'s" }]);
    }
    push(&[text.trim_end_matches('\'')]);
}
