//! A place in a document that can be read as one type.

use crate::finding::Report;
use crate::nearest;
use saphyr::{MarkedYamlOwned, ScalarOwned, YamlDataOwned};

/// A value of a document with its path; reading it as the wrong type reports a finding and gives `None`.
#[derive(Clone, Debug)]
pub struct Value<'a> {
    pub(crate) node: &'a MarkedYamlOwned,
    pub(crate) path: String,
    pub(crate) report: &'a Report,
}

impl<'a> Value<'a> {
    pub(crate) fn root(node: &'a MarkedYamlOwned, report: &'a Report) -> Self {
        Self { node, path: String::new(), report }
    }

    pub(crate) fn new(node: &'a MarkedYamlOwned, path: String, report: &'a Report) -> Self {
        Self { node, path, report }
    }

    /// Path of the value, such as `objects[2].mass`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Line of the value, from 1.
    pub fn line(&self) -> usize {
        self.node.span.start.line()
    }

    /// Reports `message` at this value.
    pub fn report(&self, message: impl Into<String>) {
        let start = self.node.span.start;
        self.report.add(start.line(), start.col() + 1, &self.path, message.into());
    }

    pub(crate) fn wrong<T>(&self, expected: &str) -> Option<T> {
        self.report(format!("expected {expected}, found {}", self.describe()));
        None
    }

    fn describe(&self) -> String {
        match &self.node.data {
            YamlDataOwned::Value(ScalarOwned::Null) => "nothing".to_owned(),
            YamlDataOwned::Value(ScalarOwned::Boolean(value)) => format!("`{value}`"),
            YamlDataOwned::Value(ScalarOwned::Integer(value)) => format!("`{value}`"),
            YamlDataOwned::Value(ScalarOwned::FloatingPoint(value)) => format!("`{value}`"),
            YamlDataOwned::Value(ScalarOwned::String(value)) => format!("`{value}`"),
            YamlDataOwned::Sequence(items) => format!("a list of {}", items.len()),
            YamlDataOwned::Mapping(_) => "a mapping".to_owned(),
            _ => "something else".to_owned(),
        }
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self.node.data, YamlDataOwned::Value(ScalarOwned::Null))
    }

    /// Whether the value is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.node.data, YamlDataOwned::Sequence(_))
    }

    /// Whether the value is a mapping.
    pub fn is_map(&self) -> bool {
        matches!(self.node.data, YamlDataOwned::Mapping(_))
    }

    pub(crate) fn child(&self, node: &'a MarkedYamlOwned, name: &str) -> Value<'a> {
        Value { node, path: format!("{}{name}", self.path), report: self.report }
    }

    /// Reads a list; `None` when any element failed, after all of them were read.
    pub fn list<T>(&self, mut read: impl FnMut(Value<'a>) -> Option<T>) -> Option<Vec<T>> {
        let YamlDataOwned::Sequence(items) = &self.node.data else {
            return self.wrong("a list");
        };
        let read_items: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(index, node)| read(self.child(node, &format!("[{index}]"))))
            .collect();
        read_items.into_iter().collect()
    }

    /// Reads a list of exactly `N` finite numbers.
    pub fn numbers<const N: usize>(&self) -> Option<[f64; N]> {
        let values = self.list(|value| value.f64())?;
        match <[f64; N]>::try_from(values) {
            Ok(array) => Some(array),
            Err(values) => {
                self.report(format!("expected {N} numbers, found {}", values.len()));
                None
            }
        }
    }

    /// Reads a finite number; in a [`Document`](crate::Document) with variables also an expression over them, such as `width / 2`.
    pub fn f64(&self) -> Option<f64> {
        let number = match &self.node.data {
            YamlDataOwned::Value(ScalarOwned::FloatingPoint(value)) => value.into_inner(),
            YamlDataOwned::Value(ScalarOwned::Integer(value)) => *value as f64,
            YamlDataOwned::Value(ScalarOwned::String(text))
                if !self.report.variables().entries().is_empty() =>
            {
                match self.report.variables().evaluate(text) {
                    Ok(value) => value,
                    Err(message) => {
                        self.report(message);
                        return None;
                    }
                }
            }
            _ => return self.wrong("a number"),
        };
        if number.is_finite() { Some(number) } else { self.wrong("a finite number") }
    }

    /// Reads a number in the closed range `[low, high]`.
    pub fn f64_in(&self, low: f64, high: f64) -> Option<f64> {
        let number = self.f64()?;
        if (low..=high).contains(&number) {
            Some(number)
        } else {
            self.report(format!("`{number}` is outside {low} to {high}"));
            None
        }
    }

    /// Reads a whole number that is not negative.
    pub fn u64(&self) -> Option<u64> {
        match &self.node.data {
            YamlDataOwned::Value(ScalarOwned::Integer(value)) => match u64::try_from(*value) {
                Ok(number) => Some(number),
                Err(_) => self.wrong("a whole number from 0 up"),
            },
            _ => self.wrong("a whole number from 0 up"),
        }
    }

    /// Reads a truth value.
    pub fn bool(&self) -> Option<bool> {
        match &self.node.data {
            YamlDataOwned::Value(ScalarOwned::Boolean(value)) => Some(*value),
            _ => self.wrong("true or false"),
        }
    }

    /// Reads a text; numbers and truth values count as the text they are written as.
    pub fn text(&self) -> Option<String> {
        match &self.node.data {
            YamlDataOwned::Value(ScalarOwned::String(value)) => Some(value.clone()),
            YamlDataOwned::Value(ScalarOwned::Integer(value)) => Some(value.to_string()),
            YamlDataOwned::Value(ScalarOwned::FloatingPoint(value)) => Some(value.to_string()),
            YamlDataOwned::Value(ScalarOwned::Boolean(value)) => Some(value.to_string()),
            _ => self.wrong("a text"),
        }
    }

    /// Reads one of the named choices.
    pub fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Option<T> {
        let word = self.text()?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == word) {
            return Some(choice.clone());
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        match nearest(&word, names.iter().copied()) {
            Some(near) => self.report(format!("unknown value `{word}`; did you mean `{near}`?")),
            None => self.report(format!("unknown value `{word}`; one of: {}", names.join(", "))),
        }
        None
    }
}
