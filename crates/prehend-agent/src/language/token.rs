//! From text to tokens.

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

/// Splits text into words and marks: lower case, hyphens and slashes part words, contractions are written out.
/// Symbols that are neither letters nor digits are left out; letters of every script are kept.
pub fn tokens(text: &str) -> Vec<Token> {
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
        finish(&mut word, &mut out);
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
    finish(&mut word, &mut out);
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

fn finish(word: &mut String, out: &mut Vec<Token>) {
    let taken = std::mem::take(word);
    let text = taken.trim_matches('\'');
    if text.is_empty() {
        return;
    }
    let mut push = |words: &[&str]| out.extend(words.iter().map(|w| Token::Word((*w).to_owned())));
    match text {
        "can't" => return push(&["can", "not"]),
        "won't" => return push(&["will", "not"]),
        "shan't" => return push(&["shall", "not"]),
        "let's" => return push(&["let", "us"]),
        "cannot" => return push(&["can", "not"]),
        _ => {}
    }
    if let Some(stem) = text.strip_suffix("n't") {
        return push(&[stem, "not"]);
    }
    for (suffix, full) in [("'ll", "will"), ("'d", "would"), ("'m", "am"), ("'re", "are"), ("'ve", "have")] {
        if let Some(stem) = text.strip_suffix(suffix) {
            return push(&[stem, full]);
        }
    }
    if let Some(stem) = text.strip_suffix("'s") {
        const IS: [&str; 13] = [
            "what",
            "where",
            "who",
            "that",
            "it",
            "there",
            "here",
            "how",
            "which",
            "he",
            "she",
            "this",
            "everything",
        ];
        return if IS.contains(&stem) { push(&[stem, "is"]) } else { push(&[stem, "'s"]) };
    }
    push(&[text.trim_end_matches('\'')]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = tokens(text)
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
        check("Put the MUG, please, in the bowl!!!", "put the mug , please , in the bowl");
        check("Don\u{2019}t; where's it?", "do not . where is it ?");
        check("the left-most cup's handle", "the left most cup 's handle");
        check("0.2 m. Then go", "0.2 m . then go");
        check("I'd like 3 eggs & a pan...", "i would like 3 eggs and a pan");
        check("\u{1F600} \u{1F600}", "");
        check("?!.,", "");
        check("na\u{00ef}ve \u{676F}\u{5B50}", "na\u{00ef}ve \u{676F}\u{5B50}");
    }
}
