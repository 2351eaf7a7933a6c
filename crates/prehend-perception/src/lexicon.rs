//! What words mean the same and what is a kind of what, as data (`config/language/synonyms.yaml`).

use prehend_config::{Findings, Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a size word measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Volume of the box.
    Volume,
    /// Height of the box.
    Height,
    /// Longest horizontal side.
    Length,
}

/// What a size word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeWord {
    /// What is measured.
    pub dimension: Dimension,
    /// Whether the word wants much of it.
    pub most: bool,
}

/// The table of words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lexicon {
    /// Group number of each word or phrase.
    pub(crate) synonyms: BTreeMap<String, Vec<usize>>,
    /// Direct members of each kind.
    pub(crate) kinds: BTreeMap<String, BTreeSet<String>>,
    pub(crate) packages: BTreeSet<String>,
    pub(crate) packaged: BTreeSet<String>,
    pub(crate) colors: BTreeMap<String, Vec<String>>,
    /// Shade word to whether it means light.
    pub(crate) shades: BTreeMap<String, bool>,
    pub(crate) sizes: BTreeMap<String, SizeWord>,
    pub(crate) generic: BTreeSet<String>,
    pub(crate) unmeasured: BTreeSet<String>,
    pub(crate) dropped: BTreeSet<String>,
    pub(crate) plurals: BTreeMap<String, String>,
}

fn words(m: &mut Map<'_>, key: &'static str) -> Option<BTreeSet<String>> {
    m.req(key)?.list(|v| v.text()).map(|list| list.into_iter().collect())
}

impl Lexicon {
    /// Reads the table.
    ///
    /// Errors: every finding with its line, as [`prehend_config::read`].
    pub fn parse(file: &str, text: &str) -> Result<Self, Findings> {
        prehend_config::read(file, text, |root| Self::read(&root))
    }

    /// Reads the table from a file.
    pub fn load(path: &Path) -> Result<Self, Findings> {
        prehend_config::read_file(path, |root| Self::read(&root))
    }

    fn read(root: &Value<'_>) -> Option<Self> {
        root.map(|m| {
            let groups = m.req("synonyms").and_then(|v| v.list(|group| group.list(|word| word.text())));
            let kinds = m.req("kinds").and_then(|v| read_lists(&v));
            let packages = words(m, "packages");
            let packaged = words(m, "packaged");
            let colors = m.req("colors").and_then(|v| read_lists(&v));
            let shades = m.req("shades").and_then(|v| {
                v.map(|m| {
                    m.entries()
                        .into_iter()
                        .map(|(word, v)| Some((word, v.choice(&[("dark", false), ("light", true)])?)))
                        .collect()
                })
            });
            let sizes = m.req("sizes").and_then(|v| v.list(|v| read_size(&v)));
            let generic = words(m, "generic");
            let unmeasured = words(m, "unmeasured");
            let dropped = words(m, "dropped");
            let plurals = m.req("plurals").and_then(|v| {
                v.map(|m| m.entries().into_iter().map(|(many, one)| Some((many, one.text()?))).collect())
            });
            let mut synonyms: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (number, group) in groups?.into_iter().enumerate() {
                for word in group {
                    synonyms.entry(word).or_default().push(number);
                }
            }
            for word in colors.iter().flat_map(|c: &BTreeMap<String, Vec<String>>| c.values().flatten()) {
                if !crate::color::WORDS.contains(&word.as_str()) {
                    m.report(format!("colors: `{word}` is no colour that is measured"));
                }
            }
            Some(Self {
                synonyms,
                kinds: kinds?
                    .into_iter()
                    .map(|(kind, members)| (kind, members.into_iter().collect()))
                    .collect(),
                packages: packages?,
                packaged: packaged?,
                colors: colors?,
                shades: shades?,
                sizes: sizes?.into_iter().flatten().collect(),
                generic: generic?,
                unmeasured: unmeasured?,
                dropped: dropped?,
                plurals: plurals?,
            })
        })
    }

    /// The singular of a word.
    pub fn singular(&self, word: &str) -> String {
        if let Some(one) = self.plurals.get(word) {
            return one.clone();
        }
        let stem = |cut: usize, tail: &str| format!("{}{tail}", &word[..word.len() - cut]);
        let long = |least: usize| word.len() >= least && word.is_char_boundary(word.len() - 1);
        if long(5) && word.ends_with("ies") {
            return stem(3, "y");
        }
        if long(5) && ["ches", "shes", "sses", "xes", "zes"].iter().any(|end| word.ends_with(end)) {
            return stem(2, "");
        }
        let kept = ["ss", "us", "is", "as"].iter().any(|end| word.ends_with(end));
        if long(4) && word.ends_with('s') && !kept { stem(1, "") } else { word.to_owned() }
    }

    /// The measured colours that a colour word can mean, the nearest first; empty when it is no colour word.
    pub fn measured(&self, color: &str) -> &[String] {
        self.colors.get(color).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether two words or phrases stand in one synonym group.
    pub fn same(&self, a: &str, b: &str) -> bool {
        match (self.synonyms.get(a), self.synonyms.get(b)) {
            (Some(a), Some(b)) => a.iter().any(|group| b.contains(group)),
            _ => false,
        }
    }

    /// Whether `member` (or a synonym of it) is of the kind, over any number of steps.
    pub fn is_kind(&self, kind: &str, member: &str) -> bool {
        let mut open = vec![kind.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(kind) = open.pop() {
            if !seen.insert(kind.clone()) {
                continue;
            }
            for candidate in self.kinds.get(&kind).into_iter().flatten() {
                if candidate == member || self.same(candidate, member) {
                    return true;
                }
                open.push(candidate.clone());
            }
        }
        false
    }

    /// One word for all that mean the same: words of one synonym group have the same, a word that stands in none is its own.
    pub fn concept(&self, phrase: &str) -> String {
        let Some(group) = self.synonyms.get(phrase).and_then(|groups| groups.first()) else {
            return phrase.to_owned();
        };
        let is_of = |groups: &Vec<usize>| groups.first() == Some(group);
        let first = self.synonyms.iter().find(|(_, groups)| is_of(groups));
        first.map_or(phrase, |(word, _)| word).to_owned()
    }

    /// Every kind that a word is of, over any number of steps.
    pub fn kinds_of(&self, word: &str) -> Vec<&str> {
        self.kinds.keys().map(String::as_str).filter(|kind| self.is_kind(kind, word)).collect()
    }

    /// Whether two words are of one kind.
    pub fn are_siblings(&self, a: &str, b: &str) -> bool {
        self.kinds.keys().any(|kind| self.is_kind(kind, a) && self.is_kind(kind, b))
    }

    /// Whether a noun of one or more words is known, by all of them or by the last: "porcelain bowl" is a bowl, and a "thing" anything.
    pub fn knows_noun(&self, noun: &str) -> bool {
        let head = noun.rsplit(' ').next().unwrap_or(noun);
        self.generic.contains(head) || [noun, head].iter().any(|word| self.knows(&self.singular(word)))
    }

    /// Whether the word stands anywhere in the table as a noun.
    pub fn knows(&self, word: &str) -> bool {
        self.synonyms.contains_key(word)
            || self.kinds.contains_key(word)
            || self.kinds.values().any(|members| members.contains(word))
    }
}

fn read_lists(value: &Value<'_>) -> Option<BTreeMap<String, Vec<String>>> {
    value.map(|m| m.entries().into_iter().map(|(key, v)| Some((key, v.list(|word| word.text())?))).collect())
}

fn read_size(value: &Value<'_>) -> Option<Vec<(String, SizeWord)>> {
    value.map(|m| {
        let dimension = m.req("dimension").and_then(|v| {
            v.choice(&[
                ("volume", Dimension::Volume),
                ("height", Dimension::Height),
                ("length", Dimension::Length),
            ])
        });
        let most = m.req("most").and_then(|v| v.bool());
        let list = m.req("words").and_then(|v| v.list(|word| word.text()));
        let word = SizeWord { dimension: dimension?, most: most? };
        Some(list?.into_iter().map(|text| (text, word)).collect())
    })
}
