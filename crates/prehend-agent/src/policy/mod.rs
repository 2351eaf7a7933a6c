//! What is refused whatever the scene: an operator's rules, from `config/language/policy.yaml`.
//!
//! Checked on the sentence before anything is planned, and on the finished plan before anything moves.
//! Read [`Policy`] first.

mod pattern;
mod plan;
mod sentence;
mod usage;

pub use plan::Workspace;

use crate::language::Phrases;
use pattern::Pattern;
use prehend_config::{Findings, Map, read};
use usage::{Irregular, Usage};

/// The policy that is built in.
pub const DEFAULT: &str = include_str!("../../../../config/language/policy.yaml");

/// The operator's rules.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    people: Phrases<()>,
    body: Phrases<()>,
    owners: Phrases<()>,
    usage: Usage,
    /// Highest a `drop` may let something fall, metres.
    pub max_drop_height: f64,
    /// By how much the workspace is shrunk for targets, metres.
    pub workspace_margin: f64,
}

/// One rule.
#[derive(Clone, Debug)]
struct Rule {
    name: String,
    why: String,
    verbs: Phrases<pattern::Form>,
    patterns: Vec<Pattern>,
    near_person: Phrases<()>,
    things: Phrases<()>,
}

/// A rule that a sentence or a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the rule.
    pub rule: String,
    /// Why the rule is there.
    pub why: String,
    /// The words, or the step of the plan, that break it.
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\" breaks the safety rule {}: {}.", self.what, self.rule, self.why)
    }
}

impl Policy {
    /// Reads a policy; `file` names it in findings. The plan's limits have no defaults.
    ///
    /// Errors: every finding at once, as [`prehend_config::read`].
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, Findings> {
        read(file, text, |root| root.map(Self::from_map))
    }

    /// The built-in policy.
    ///
    /// Errors: findings when the built-in file is broken, which a test rules out.
    pub fn built_in() -> Result<Self, Findings> {
        Self::from_yaml("policy.yaml", DEFAULT)
    }

    fn from_map(map: &mut Map<'_>) -> Option<Self> {
        let usage = map.req("usage")?.map(Usage::from_map)?;
        let irregular = Irregular::from_map(map)?;
        let rules = map.req("rules")?.list(|value| value.map(|m| Rule::from_map(m, &irregular)))?;
        let mut policy = Self { usage, rules, ..Self::default() };
        for (key, words) in
            [("people", &mut policy.people), ("body", &mut policy.body), ("owners", &mut policy.owners)]
        {
            for phrase in map.req(key)?.list(|v| v.text())? {
                words.add(&phrase.replace("'s", " 's"), ());
            }
        }
        let (height, margin) = map.req("plan")?.map(|m| {
            Some((m.req("max_drop_height")?.f64_in(0.0, 1.0)?, m.req("workspace_margin")?.f64_in(0.0, 0.5)?))
        })?;
        policy.max_drop_height = height;
        policy.workspace_margin = margin;
        Some(policy)
    }
}

impl Rule {
    fn from_map(map: &mut Map<'_>, irregular: &Irregular) -> Option<Self> {
        let mut rule = Self {
            name: map.req("name")?.text()?,
            why: map.req("why")?.text()?,
            verbs: Phrases::default(),
            patterns: Vec::new(),
            near_person: Phrases::default(),
            things: Phrases::default(),
        };
        for verb in map.or("verbs", Vec::new(), |v| v.list(|v| v.text()))? {
            for (form, kind) in pattern::forms(&verb, irregular) {
                rule.verbs.add(&form, kind);
            }
        }
        for text in map.or("patterns", Vec::new(), |v| v.list(|v| v.text()))? {
            rule.patterns.push(Pattern::new(&text, irregular));
        }
        for phrase in map.or("near_person", Vec::new(), |v| v.list(|v| v.text()))? {
            rule.near_person.add(&phrase, ());
        }
        for phrase in map.or("things", Vec::new(), |v| v.list(|v| v.text()))? {
            rule.things.add(&phrase, ());
        }
        Some(rule)
    }
}

/// The phrases of a list of the file.
fn words_of(map: &mut Map<'_>, key: &'static str) -> Option<Phrases<()>> {
    let mut words = Phrases::default();
    for phrase in map.req(key)?.list(|v| v.text())? {
        words.add(&phrase, ());
    }
    Some(words)
}
