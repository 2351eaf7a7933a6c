//! Verbs that act on parts: which part of which thing, by which skill, with which effect (ASP IV-C).
//!
//! The table is data (`config/language/actions.yaml`), read once by the agent (which sentences are such actions) and by
//! the affordance node (which parts serve them).

use crate::{PartEffect, Skill};
use nalgebra::Vector3;
use prehend_config::{Findings, Map, Value, read, read_file};

/// The table that is built in.
pub const DEFAULT: &str = include_str!("../../../config/language/actions.yaml");

/// Which way a part moves, seen from the thing it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Away from the thing, along the part's normal.
    Out,
    /// Into the thing, against the part's normal.
    In,
    /// Up.
    Up,
    /// Down.
    Down,
}

impl Direction {
    /// The unit vector for a part with this outward unit normal, map frame.
    pub fn vector(self, normal: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Out => *normal,
            Self::In => -normal,
            Self::Up => Vector3::z(),
            Self::Down => -Vector3::z(),
        }
    }
}

/// The state an action leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// It is open.
    Open,
    /// It is closed.
    Closed,
    /// It is switched on.
    On,
    /// It is switched off.
    Off,
}

/// One way to do an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionWay {
    /// Kind of part.
    pub part: String,
    /// Skill that acts on it.
    pub skill: Skill,
    /// What becomes of the part; fits the skill.
    pub effect: PartEffect,
}

/// What some verbs mean on some things.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRule {
    /// Base forms, with their particle ("turn on"); not empty.
    pub verbs: Vec<String>,
    /// Kinds of things, singular; empty = anything.
    pub on: Vec<String>,
    /// Which way the part moves; `None` is what is usual for the effect.
    pub direction: Option<Direction>,
    /// The state that results, when it has a name.
    pub makes: Option<Makes>,
    /// Ways in order of preference; not empty.
    pub ways: Vec<ActionWay>,
}

/// A kind of part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartKind {
    /// Its name.
    pub name: String,
    /// Words for it, the name among them.
    pub words: Vec<String>,
}

/// Every action on parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionTable {
    /// Kinds of parts.
    pub parts: Vec<PartKind>,
    /// Parts of any thing that its shape shows (`prehend-perception`), by which it is taken or into which something is put.
    pub shape_parts: Vec<PartKind>,
    /// Rules, the first that fits is taken.
    pub rules: Vec<ActionRule>,
}

const DIRECTIONS: [(&str, Direction); 4] =
    [("out", Direction::Out), ("in", Direction::In), ("up", Direction::Up), ("down", Direction::Down)];
const MAKES: [(&str, Makes); 4] =
    [("open", Makes::Open), ("closed", Makes::Closed), ("on", Makes::On), ("off", Makes::Off)];

impl ActionTable {
    /// Reads a table; `file` names it in findings.
    ///
    /// Errors: every finding at once with its line: unknown keys, parts and skills, an effect that the skill cannot have,
    /// a rule without verbs or ways.
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, Findings> {
        read(file, text, |root| root.map(Self::from_map))
    }

    /// Reads the file at `path`. Errors: as [`ActionTable::from_yaml`], and when the file cannot be read.
    pub fn load(path: &std::path::Path) -> Result<Self, Findings> {
        read_file(path, |root| root.map(Self::from_map))
    }

    /// The built-in table; empty when the built-in file is broken, which a test rules out.
    pub fn built_in() -> Self {
        Self::from_yaml("actions.yaml", DEFAULT).unwrap_or_default()
    }

    fn from_map(map: &mut Map<'_>) -> Option<Self> {
        let parts = map.req("parts").and_then(|v| v.list(|v| v.map(read_part)));
        let rules = map.req("actions").and_then(|v| v.list(Some));
        let shape_parts = map.or("shape_parts", Vec::new(), |v| v.list(|v| v.map(read_part)));
        let (parts, shape_parts, rules) = (parts?, shape_parts?, rules?);
        let names: Vec<(&str, String)> =
            parts.iter().map(|part| (part.name.as_str(), part.name.clone())).collect();
        // Every rule is read, so that all findings come at once.
        let read: Vec<Option<ActionRule>> =
            rules.iter().map(|rule| rule.map(|map| read_rule(map, &names))).collect();
        let rules = read.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Self { parts, shape_parts, rules })
    }

    /// The rule for a verb (base form) on a thing of this class; the class's last words decide.
    pub fn rule(&self, verb: &str, class: &str) -> Option<&ActionRule> {
        self.rules.iter().find(|rule| rule.has_verb(verb) && rule.is_for(class))
    }

    /// Rules of a verb, whatever they are for.
    pub fn of_verb<'a>(&'a self, verb: &'a str) -> impl Iterator<Item = &'a ActionRule> + 'a {
        self.rules.iter().filter(move |rule| rule.has_verb(verb))
    }

    /// Every verb once, in the order of the file.
    pub fn verbs(&self) -> Vec<&str> {
        let mut verbs: Vec<&str> = Vec::new();
        for verb in self.rules.iter().flat_map(|rule| &rule.verbs) {
            if !verbs.contains(&verb.as_str()) {
                verbs.push(verb);
            }
        }
        verbs
    }

    /// Whether these words, and no more, name a part: "light switch", not "red switch".
    pub fn names_part(&self, name: &str) -> bool {
        self.parts.iter().any(|kind| kind.words.iter().any(|word| word == name))
    }

    /// The kind of part that a word of a person or a part detector's class means: the kind with the longest words that the
    /// name ends with.
    pub fn part_kind(&self, name: &str) -> Option<&str> {
        kind_of(&self.parts, name)
    }

    /// As [`Self::part_kind`], of the parts that a shape shows.
    pub fn shape_part(&self, name: &str) -> Option<&str> {
        kind_of(&self.shape_parts, name)
    }
}

/// Whether two names of a part are of the same words: "key 8" is the "8 key".
pub fn is_same_part(a: &str, b: &str) -> bool {
    let words = |name: &str| {
        let name = name.to_lowercase().replace(['_', '-'], " ");
        let mut words: Vec<String> = name.split_whitespace().map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    words(a) == words(b)
}

fn kind_of<'k>(kinds: &'k [PartKind], name: &str) -> Option<&'k str> {
    let name = name.to_lowercase().replace(['_', '-'], " ");
    kinds
        .iter()
        .flat_map(|kind| kind.words.iter().map(move |word| (word, kind)))
        .filter(|(word, _)| ends_with_words(&name, word))
        .max_by_key(|(word, _)| word.len())
        .map(|(_, kind)| kind.name.as_str())
}

impl ActionRule {
    fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }

    /// Whether it is for things of this class.
    pub fn is_for(&self, class: &str) -> bool {
        self.on.is_empty() || self.on.iter().any(|on| ends_with_words(class, on))
    }
}

/// Whether a name ends with whole words: "desk bell" ends with "bell", "barbell" does not. A number after them tells one of a kind
/// ("key 8").
fn ends_with_words(name: &str, words: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    name.strip_suffix(words).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

fn read_part(map: &mut Map<'_>) -> Option<PartKind> {
    let name = map.req("name")?.text()?;
    let mut words = map.or("words", Vec::new(), |v| v.list(|v| v.text()))?;
    if !words.contains(&name) {
        words.push(name.clone());
    }
    Some(PartKind { name, words })
}

fn read_rule(map: &mut Map<'_>, parts: &[(&str, String)]) -> Option<ActionRule> {
    let verbs_at = map.req("verbs")?;
    let verbs = verbs_at.list(|v| v.text())?;
    if verbs.is_empty() {
        verbs_at.report("expected at least one verb");
        return None;
    }
    let on = map.or("on", Vec::new(), |v| v.list(|v| v.text()))?;
    let effects: Vec<(&str, PartEffect)> =
        PartEffect::ALL.iter().map(|(effect, name)| (*name, *effect)).collect();
    let effect = map.req("effect")?.choice(&effects)?;
    let direction = optional(map, "direction", |v| v.choice(&DIRECTIONS))?;
    let makes = optional(map, "makes", |v| v.choice(&MAKES))?;
    let ways_at = map.req("ways")?;
    let ways = ways_at.list(|v| v.map(|m| read_way(m, parts, &effects, effect)))?;
    if ways.is_empty() {
        ways_at.report("expected at least one way");
        return None;
    }
    Some(ActionRule { verbs, on, direction, makes, ways })
}

/// A value that may be missing; `None` when it is there and wrong.
fn optional<'a, T>(
    map: &mut Map<'a>,
    key: &'static str,
    read: impl FnOnce(Value<'a>) -> Option<T>,
) -> Option<Option<T>> {
    match map.opt(key) {
        Some(value) => read(value).map(Some),
        None => Some(None),
    }
}

fn read_way(
    map: &mut Map<'_>,
    parts: &[(&str, String)],
    effects: &[(&str, PartEffect)],
    usual: PartEffect,
) -> Option<ActionWay> {
    let part = map.req("part")?.choice(parts)?;
    let skills: Vec<(&str, Skill)> = Skill::ALL
        .iter()
        .filter(|(skill, _)| skill.acts_on_part())
        .map(|(skill, name)| (*name, *skill))
        .collect();
    let skill_at = map.req("skill")?;
    let skill = skill_at.choice(&skills)?;
    let effect = optional(map, "effect", |v| v.choice(effects))?.unwrap_or(usual);
    if !effect.fits(skill) {
        skill_at.report(format!("`{}` cannot `{}` a part", skill.name(), effect.name()));
        return None;
    }
    Some(ActionWay { part, skill, effect })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_is_valid() {
        if let Err(findings) = ActionTable::from_yaml("actions.yaml", DEFAULT) {
            panic!("{findings}");
        }
    }

    #[test]
    fn rules_are_found_by_verb_and_kind() {
        let table = ActionTable::built_in();
        let check = |verb: &str, class: &str, effect: Option<PartEffect>| {
            let found = table.rule(verb, class).map(|rule| rule.ways[0].effect);
            assert_eq!(found, effect, "{verb} {class}");
        };
        check("open", "drawer", Some(PartEffect::Open));
        check("open", "microwave door", Some(PartEffect::Open));
        check("open", "cookie", None);
        check("pull out", "power plug", Some(PartEffect::TakeOut));
        check("push in", "drawer", Some(PartEffect::Close));
        check("ring", "desk bell", Some(PartEffect::Press));
        check("ring", "barbell", None);
        check("turn on", "anything at all", Some(PartEffect::Press));
        check("juggle", "drawer", None);
    }

    #[test]
    fn words_and_detector_classes_have_kinds() {
        let table = ActionTable::built_in();
        let check = |name: &str, kind: Option<&str>| assert_eq!(table.part_kind(name), kind, "{name}");
        check("handle", Some("handle"));
        check("Drawer_Handle", Some("handle"));
        check("space bar", Some("key"));
        check("red button", Some("button"));
        check("key 8", Some("key"));
        check("apple", None);
        assert!(is_same_part("key 8", "8_key") && !is_same_part("key 8", "key 9"));
        assert_eq!(table.shape_part("lip"), Some("rim"));
        assert_eq!(table.shape_part("knob"), None);
    }

    #[test]
    fn a_broken_table_names_every_place() {
        let text = "parts:\n  - {name: knob}\nactions:\n  - {verbs: [open], effect: open, ways: [{part: knb, skill: tip_push}]}\n  - {verbs: [], effect: press, ways: []}\n  - {verbs: [pull], effect: close, ways: [{part: knob, skill: hook_pull}]}\n";
        let error = ActionTable::from_yaml("a.yaml", text).expect_err("broken").to_string();
        for wanted in [
            "a.yaml:4:",
            "did you mean `knob`",
            "a.yaml:5:",
            "at least one verb",
            "a.yaml:6:",
            "cannot `close`",
        ] {
            assert!(error.contains(wanted), "{wanted}: {error}");
        }
    }
}
