//! Parameters of a node, from files in the layout of ROS parameter files.
//!
//! ```yaml
//! /**:                     # every node
//!   ros__parameters:
//!     use_sim_time: true
//! verifier:                # the node of this name in any namespace; /prehend/verifier: this one
//!   ros__parameters:
//!     gate:
//!       threshold: 0.6     # parameter gate.threshold
//! ```

mod declared;
mod live;
pub(crate) mod services;
mod value;

pub use live::Live;
pub use value::ParameterValue;

use crate::sync::lock;
use declared::Declarations;
use prehend_config::{Value, nearest, read, read_file};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Why a parameter cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// A parameter file cannot be read or is no parameter file; every finding, one a line.
    #[error("{findings}")]
    File {
        /// What is wrong, with file, line and column.
        findings: String,
    },
    /// An override is not `name:=value`.
    #[error("`{text}` is no override of the form name:=value")]
    Override {
        /// The override as given.
        text: String,
    },
    /// The parameter is required and not set.
    #[error("missing parameter `{name}` of {node}")]
    Missing {
        /// Node that needs it.
        node: String,
        /// Its name.
        name: String,
    },
    /// The parameter is set to something of another type.
    #[error("{place}: parameter `{name}`: expected {expected}, found `{found}`")]
    Wrong {
        /// File and line, or the override.
        place: String,
        /// Its name.
        name: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A value is set that is only shown.
    #[error("{place}: `{name}` cannot be set: {reason}")]
    Fixed {
        /// File and line, or the override.
        place: String,
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// Parameters are set that the node does not know.
    #[error("{}", lines(.unknown))]
    Unknown {
        /// All of them, by name.
        unknown: Vec<UnknownParameter>,
    },
}

/// A parameter the node does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownParameter {
    /// File and line, or the override.
    pub place: String,
    /// Its name.
    pub name: String,
    /// The known parameter that is spelt most like it.
    pub nearest: Option<String>,
}

impl fmt::Display for UnknownParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: unknown parameter `{}`", self.place, self.name)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

fn lines(items: &[UnknownParameter]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[derive(Clone, Debug)]
struct Setting {
    place: String,
    /// Set for every node: a node need not know it.
    shared: bool,
    value: Raw,
}

#[derive(Clone, Debug)]
enum Raw {
    Scalar(String),
    List(Vec<String>),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(text) => f.write_str(text),
            Self::List(items) => write!(f, "[{}]", items.join(", ")),
        }
    }
}

/// Parameters of a node; a parameter is known by being asked for. Clones are the same parameters.
#[derive(Clone, Debug)]
pub struct Parameters {
    node: String,
    settings: Arc<BTreeMap<String, Setting>>,
    asked: Arc<Mutex<BTreeSet<String>>>,
    declared: Arc<Mutex<Declarations>>,
    /// Something was declared.
    news: Arc<Notify>,
}

/// Whether the node path of a parameter file means node `full_name`.
fn means(path: &[String], full_name: &str) -> bool {
    fn tokens<'a>(pattern: &[&'a str], name: &[&'a str]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((&"**", rest)), _) => {
                (rest.is_empty() && !name.is_empty())
                    || (0..=name.len()).any(|skip| tokens(rest, &name[skip..]))
            }
            (Some((first, rest)), Some((token, left))) => {
                (*first == "*" || first == token) && tokens(rest, left)
            }
            _ => false,
        }
    }
    let joined = path.join("/");
    let name: Vec<&str> = full_name.split('/').filter(|token| !token.is_empty()).collect();
    let pattern: Vec<&str> = joined.split('/').filter(|token| !token.is_empty()).collect();
    let bare = pattern.len() == 1 && !joined.starts_with('/');
    if bare { name.last() == pattern.first() || pattern[0] == "*" } else { tokens(&pattern, &name) }
}

struct Loader<'a> {
    full_name: &'a str,
    settings: BTreeMap<String, Setting>,
}

impl Loader<'_> {
    /// Reads a level of node names.
    fn nodes(&mut self, file: &str, value: &Value<'_>, path: &mut Vec<String>) -> Option<()> {
        let entries = value.map(|map| Some(map.entries()))?;
        let mut valid = Some(());
        for (key, value) in entries {
            let read = if key == "ros__parameters" && !path.is_empty() {
                let shared = path.iter().any(|name| name.contains('*'));
                let means = means(path, self.full_name);
                if value.is_null() { Some(()) } else { self.values(file, &value, "", (means, shared)) }
            } else {
                path.push(key);
                let read = self.nodes(file, &value, path);
                path.pop();
                read
            };
            valid = valid.and(read);
        }
        valid
    }

    /// Reads parameters; those of other nodes are only checked.
    fn values(
        &mut self,
        file: &str,
        value: &Value<'_>,
        prefix: &str,
        (ours, shared): (bool, bool),
    ) -> Option<()> {
        if value.is_map() {
            let entries = value.map(|map| Some(map.entries()))?;
            let mut valid = Some(());
            for (key, value) in entries {
                let name = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                valid = valid.and(self.values(file, &value, &name, (ours, shared)));
            }
            return valid;
        }
        if prefix.is_empty() {
            value.report("expected a mapping of parameters");
            return None;
        }
        let raw = raw(value)?;
        if ours {
            let place = format!("{file}:{}", value.line());
            self.settings.insert(prefix.to_owned(), Setting { place, shared, value: raw });
        }
        Some(())
    }
}

fn raw(value: &Value<'_>) -> Option<Raw> {
    if value.is_list() {
        value.list(|item| item.text()).map(Raw::List)
    } else {
        value.text().map(Raw::Scalar)
    }
}

impl Parameters {
    /// The parameters of node `full_name` from `files`, later ones winning, and `overrides` (`name:=value`), which win
    /// over files.
    ///
    /// Errors: [`ParameterError::File`], [`ParameterError::Override`].
    pub fn load(full_name: &str, files: &[PathBuf], overrides: &[String]) -> Result<Self, ParameterError> {
        let mut loader = Loader { full_name, settings: BTreeMap::new() };
        let mut findings = Vec::new();
        for path in files {
            let file = path.display().to_string();
            if let Err(wrong) = read_file(path, |root| loader.nodes(&file, &root, &mut Vec::new())) {
                findings.push(wrong.to_string());
            }
        }
        if !findings.is_empty() {
            return Err(ParameterError::File { findings: findings.join("\n") });
        }
        for text in overrides {
            let wrong = || ParameterError::Override { text: text.clone() };
            let (name, value) = text.split_once(":=").ok_or_else(wrong)?;
            let name = name.trim();
            if name.is_empty() {
                return Err(wrong());
            }
            let value = read(text, value, |root| raw(&root)).map_err(|_| wrong())?;
            let place = format!("`{text}`");
            loader.settings.insert(name.to_owned(), Setting { place, shared: false, value });
        }
        Ok(Self {
            node: full_name.to_owned(),
            settings: Arc::new(loader.settings),
            asked: Arc::default(),
            declared: Arc::default(),
            news: Arc::default(),
        })
    }

    fn ask(&self, name: &str) -> Option<&Setting> {
        lock(&self.asked).insert(name.to_owned());
        self.settings.get(name)
    }

    fn get<T>(
        &self,
        name: &str,
        expected: &'static str,
        convert: impl FnOnce(&Raw) -> Option<T>,
    ) -> Result<Option<T>, ParameterError> {
        let Some(setting) = self.ask(name) else { return Ok(None) };
        match convert(&setting.value) {
            Some(value) => Ok(Some(value)),
            None => Err(ParameterError::Wrong {
                place: setting.place.clone(),
                name: name.to_owned(),
                expected,
                found: setting.value.to_string(),
            }),
        }
    }

    /// Notes the value that the node takes.
    fn taken<T: Clone + Into<ParameterValue>>(&self, name: &str, value: T) -> T {
        lock(&self.declared).read_at_start(name, value.clone().into());
        self.news.notify_one();
        value
    }

    fn out_of_bounds(&self, name: &str, expected: &'static str) -> ParameterError {
        let (place, found) = match self.settings.get(name) {
            Some(setting) => (setting.place.clone(), setting.value.to_string()),
            None => (self.node.clone(), "the default".to_owned()),
        };
        ParameterError::Wrong { place, name: name.to_owned(), expected, found }
    }

    fn require<T>(&self, name: &str, found: Result<Option<T>, ParameterError>) -> Result<T, ParameterError> {
        found?.ok_or_else(|| ParameterError::Missing { node: self.node.clone(), name: name.to_owned() })
    }

    fn get_f64(&self, name: &str) -> Result<Option<f64>, ParameterError> {
        self.get(name, "a finite number", |raw| scalar(raw).and_then(number))
    }

    fn get_i64(&self, name: &str) -> Result<Option<i64>, ParameterError> {
        self.get(name, "a whole number", |raw| scalar(raw)?.parse().ok())
    }

    fn get_bool(&self, name: &str) -> Result<Option<bool>, ParameterError> {
        self.get(name, "true or false", |raw| scalar(raw)?.parse().ok())
    }

    fn get_string(&self, name: &str) -> Result<Option<String>, ParameterError> {
        self.get(name, "a text", |raw| scalar(raw).map(str::to_owned))
    }

    /// A finite number.
    ///
    /// Errors, here and below: [`ParameterError::Missing`], [`ParameterError::Wrong`].
    pub fn f64(&self, name: &str) -> Result<f64, ParameterError> {
        Ok(self.taken(name, self.require(name, self.get_f64(name))?))
    }

    /// A finite number, `default` when not set.
    pub fn f64_or(&self, name: &str, default: f64) -> Result<f64, ParameterError> {
        Ok(self.taken(name, self.get_f64(name)?.unwrap_or(default)))
    }

    /// A whole number.
    pub fn i64(&self, name: &str) -> Result<i64, ParameterError> {
        Ok(self.taken(name, self.require(name, self.get_i64(name))?))
    }

    /// A whole number, `default` when not set.
    pub fn i64_or(&self, name: &str, default: i64) -> Result<i64, ParameterError> {
        Ok(self.taken(name, self.get_i64(name)?.unwrap_or(default)))
    }

    /// A truth value.
    pub fn bool(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.taken(name, self.require(name, self.get_bool(name))?))
    }

    /// A truth value, `default` when not set.
    pub fn bool_or(&self, name: &str, default: bool) -> Result<bool, ParameterError> {
        Ok(self.taken(name, self.get_bool(name)?.unwrap_or(default)))
    }

    /// A text.
    pub fn string(&self, name: &str) -> Result<String, ParameterError> {
        Ok(self.taken(name, self.require(name, self.get_string(name))?))
    }

    /// A text, `default` when not set.
    pub fn string_or(&self, name: &str, default: &str) -> Result<String, ParameterError> {
        Ok(self.taken(name, self.get_string(name)?.unwrap_or_else(|| default.to_owned())))
    }

    /// A list of finite numbers.
    pub fn f64_list(&self, name: &str) -> Result<Vec<f64>, ParameterError> {
        let found = self.get(name, "a list of finite numbers", |raw| {
            list(raw)?.iter().map(|item| number(item)).collect::<Option<Vec<f64>>>()
        });
        Ok(self.taken(name, self.require(name, found)?))
    }

    /// A list of texts.
    pub fn string_list(&self, name: &str) -> Result<Vec<String>, ParameterError> {
        let found = self.get(name, "a list of texts", |raw| list(raw).map(<[String]>::to_vec));
        Ok(self.taken(name, self.require(name, found)?))
    }

    /// Whether the parameter is set; asking makes it known.
    pub fn has(&self, name: &str) -> bool {
        self.ask(name).is_some()
    }

    /// Fails when parameters are set that nobody has asked for; call it after the last getter. Parameters set for every node
    /// (`/**`) are exempt.
    ///
    /// Errors: [`ParameterError::Unknown`].
    pub fn finish(&self) -> Result<(), ParameterError> {
        let asked = lock(&self.asked);
        let unknown: Vec<UnknownParameter> = self
            .settings
            .iter()
            .filter(|(name, setting)| !setting.shared && !asked.contains(*name))
            .map(|(name, setting)| UnknownParameter {
                place: setting.place.clone(),
                name: name.clone(),
                nearest: nearest(name, asked.iter().map(String::as_str)).map(str::to_owned),
            })
            .collect();
        if unknown.is_empty() { Ok(()) } else { Err(ParameterError::Unknown { unknown }) }
    }
}

fn scalar(raw: &Raw) -> Option<&str> {
    match raw {
        Raw::Scalar(text) => Some(text),
        Raw::List(_) => None,
    }
}

fn list(raw: &Raw) -> Option<&[String]> {
    match raw {
        Raw::Scalar(_) => None,
        Raw::List(items) => Some(items),
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests;
