//! A mapping whose known keys are the ones it was asked for.

use crate::{Value, nearest};
use saphyr::{ScalarOwned, YamlDataOwned};

/// A mapping under reading; see [`Value::map`].
#[derive(Debug)]
pub struct Map<'a> {
    value: Value<'a>,
    entries: Vec<(String, Value<'a>, Value<'a>)>,
    asked: Vec<&'static str>,
    /// Whether a key that must be there is not.
    lacks: bool,
}

impl<'a> Value<'a> {
    /// Reads a mapping; keys that `read` did not ask for are reported when it returns. If it ended for want of a key, it may have
    /// wanted to ask for more: then only those that are like an absent key are.
    pub fn map<T>(&self, read: impl FnOnce(&mut Map<'a>) -> Option<T>) -> Option<T> {
        let YamlDataOwned::Mapping(mapping) = &self.node.data else {
            return self.wrong("a mapping");
        };
        let mut entries = Vec::new();
        for (key, value) in mapping {
            let name = match &key.data {
                YamlDataOwned::Value(ScalarOwned::String(name)) => name.clone(),
                YamlDataOwned::Value(ScalarOwned::Integer(number)) => number.to_string(),
                _ => {
                    self.child(key, "?").report("expected a text as key");
                    continue;
                }
            };
            let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            entries.push((
                name,
                Value { node: key, path: self.path.clone(), report: self.report },
                Value { node: value, path, report: self.report },
            ));
        }
        let mut map = Map { value: self.clone(), entries, asked: Vec::new(), lacks: false };
        let result = read(&mut map);
        let is_whole = result.is_some() || !map.lacks;
        map.finish(is_whole);
        result
    }
}

impl<'a> Map<'a> {
    /// The value of `key`, or `None` when the key is absent or its value is null.
    pub fn opt(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.asked.push(key);
        self.entries
            .iter()
            .find(|(name, _, _)| name == key)
            .map(|(_, _, value)| value.clone())
            .filter(|value| !value.is_null())
    }

    /// The value of `key`; an absent key is reported.
    pub fn req(&mut self, key: &'static str) -> Option<Value<'a>> {
        let found = self.opt(key);
        if found.is_none() {
            self.lacks = true;
            self.value.report(format!("missing key `{key}`"));
        }
        found
    }

    /// The value of `key` read by `read`, or `default` when the key is absent; `None` when reading failed.
    pub fn or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Option<T> {
        match self.opt(key) {
            Some(value) => read(value),
            None => Some(default),
        }
    }

    /// Whether `key` stands in the mapping; does not declare the key.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _, _)| name == key)
    }

    /// Every entry with its name, for mappings whose keys are data; declares all of them.
    pub fn entries(&mut self) -> Vec<(String, Value<'a>)> {
        std::mem::take(&mut self.entries).into_iter().map(|(name, _, value)| (name, value)).collect()
    }

    /// Reports `message` at the mapping itself.
    pub fn report(&self, message: impl Into<String>) {
        self.value.report(message.into());
    }

    fn finish(self, is_whole: bool) {
        let is_there = |key: &str| self.entries.iter().any(|(name, _, _)| name == key);
        for (name, key, _) in &self.entries {
            if self.asked.contains(&name.as_str()) {
                continue;
            }
            let meant = self.asked.iter().copied().filter(|asked| is_whole || !is_there(asked));
            match nearest(name, meant) {
                Some(near) => key.report(format!("unknown key `{name}`; did you mean `{near}`?")),
                None if is_whole => {
                    key.report(format!("unknown key `{name}`; known keys: {}", self.asked.join(", ")));
                }
                None => {}
            }
        }
    }
}
