//! Arithmetic over named numbers, such as `height / 2 - 0.01`.

use crate::nearest;

/// Named numbers that a document's numbers may be computed from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables(Vec<(String, f64)>);

impl Variables {
    /// These names with these values; of two with one name the first counts.
    pub fn new(values: Vec<(String, f64)>) -> Self {
        Self(values)
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The names with their values.
    pub fn entries(&self) -> &[(String, f64)] {
        &self.0
    }

    /// The value of an expression of numbers, names, `+ - * /` and parentheses.
    ///
    /// Errors: what is wrong, as a sentence for a finding.
    pub(crate) fn evaluate(&self, text: &str) -> Result<f64, String> {
        let mut parser = Parser { text, rest: text, variables: self, depth: 0 };
        let value = parser.sum()?;
        parser.skip();
        match parser.rest.chars().next() {
            Some(stray) => Err(format!("`{stray}` is not expected in `{text}`")),
            None if value.is_finite() => Ok(value),
            None => Err(format!("`{text}` is not finite")),
        }
    }
}

/// Parentheses and signs that may stand in each other.
const DEEPEST: usize = 32;

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    variables: &'a Variables,
    depth: usize,
}

impl Parser<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip();
        let found = self.rest.starts_with(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.factor()?;
        loop {
            if self.take('*') {
                value *= self.factor()?;
            } else if self.take('/') {
                value /= self.factor()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("`{}` is nested too deeply", self.text));
        }
        let value = if self.take('-') {
            -self.factor()?
        } else if self.take('(') {
            let inner = self.sum()?;
            if !self.take(')') {
                return Err(format!("a `)` is missing in `{}`", self.text));
            }
            inner
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<f64, String> {
        self.skip();
        let length = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        if word.is_empty() {
            return Err(format!("expected a number or a parameter in `{}`", self.text));
        }
        self.rest = rest;
        if let Some(value) = self.variables.get(word) {
            return Ok(value);
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return word.parse().map_err(|_| format!("`{word}` is not a number in `{}`", self.text));
        }
        let names: Vec<&str> = self.variables.0.iter().map(|(name, _)| name.as_str()).collect();
        Err(match nearest(word, names.iter().copied()) {
            Some(near) => format!("unknown parameter `{word}`; did you mean `{near}`?"),
            None if names.is_empty() => format!("expected a number, found `{word}`"),
            None => format!("unknown parameter `{word}`; known parameters: {}", names.join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<f64, &str>) {
        let variables = Variables::new(vec![("width".into(), 0.4), ("height".into(), 0.3)]);
        let found = variables.evaluate(text);
        match (&found, &expected) {
            (Ok(found), Ok(expected)) => assert!((found - expected).abs() < 1e-12, "{text}: {found}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
            _ => panic!("{text}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn expressions_are_computed_or_refused_with_a_reason() {
        check("0.25", Ok(0.25));
        check("width / 2 - 0.01", Ok(0.19));
        check("-(width+height) * 2", Ok(-1.4));
        check("2 - -height", Ok(2.3));
        check("widht", Err("did you mean `width`?"));
        check("zzz", Err("known parameters: width, height"));
        check("width +", Err("expected a number"));
        check("(width", Err("`)` is missing"));
        check("width height", Err("`h` is not expected"));
        check("1 / 0", Err("not finite"));
        check("1.2.3", Err("not a number"));
        check(&"(".repeat(100), Err("nested too deeply"));
    }
}
