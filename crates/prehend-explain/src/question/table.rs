//! The table that questions are read by.

use prehend_agent::language::{Lexicon, Phrases, Token};
use prehend_config::{Findings, Map, Value, nearest, read};
use std::collections::HashMap;

/// The built-in table.
const DEFAULT: &str = include_str!("../../../../config/language/questions.yaml");

/// What a rule says is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Why,
    WhyNot,
    Instead { reversed: bool },
    About,
    Stop,
    Refuse,
    Otherwise,
    Sure,
    Seen,
    Understood,
    Did,
    Time,
}

const KINDS: [(&str, Kind); 12] = [
    ("why", Kind::Why),
    ("why_not", Kind::WhyNot),
    ("instead", Kind::Instead { reversed: false }),
    ("about", Kind::About),
    ("stop", Kind::Stop),
    ("refuse", Kind::Refuse),
    ("otherwise", Kind::Otherwise),
    ("sure", Kind::Sure),
    ("seen", Kind::Seen),
    ("understood", Kind::Understood),
    ("did", Kind::Did),
    ("time", Kind::Time),
];

/// One rule of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    kind: Kind,
    has: Vec<String>,
    lacks: Vec<String>,
    begins: Option<String>,
    things: usize,
    known: bool,
}

/// How questions about a run are read.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    begins: Phrases<()>,
    never: Phrases<()>,
    past: Phrases<()>,
    lists: HashMap<String, Phrases<()>>,
    rules: Vec<Rule>,
    pub(super) no_things: Phrases<()>,
    pub(super) ends: Phrases<()>,
}

impl Questions {
    /// Reads a table; `file` names it in findings.
    ///
    /// Errors: every finding at once, as [`prehend_config::read`]: besides keys and kinds that are unknown, lists that no rule names and
    /// rules that name no list.
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, Findings> {
        read(file, text, |root| root.map(Self::from_map))
    }

    fn from_map(map: &mut Map<'_>) -> Option<Self> {
        let begins = map.req("begins").and_then(phrases);
        let never = map.or("never", Phrases::default(), phrases);
        let past = map.or("past", Phrases::default(), phrases);
        let no_things = map.or("no_things", Phrases::default(), phrases);
        let ends = map.or("ends", Phrases::default(), phrases);
        let lists: Option<HashMap<String, Phrases<()>>> = map.req("words").and_then(|words| {
            words.map(|words| {
                let lists = words.entries().into_iter().map(|(name, list)| Some((name, phrases(list)?)));
                lists.collect::<Vec<_>>().into_iter().collect()
            })
        });
        let lists = lists?;
        let rules = map.req("rules").and_then(|rules| rules.list(|one| one.map(|one| rule(one, &lists))))?;
        for name in lists.keys() {
            let is_named = |rule: &Rule| {
                rule.has.iter().chain(&rule.lacks).chain(&rule.begins).any(|other| other == name)
            };
            if !rules.iter().any(is_named) {
                map.report(format!("no rule names the list `{name}` of words"));
            }
        }
        Some(Self {
            begins: begins?,
            never: never?,
            past: past?,
            lists,
            rules,
            no_things: no_things?,
            ends: ends?,
        })
    }

    /// The built-in table; empty when the built-in file is broken, which tests rule out.
    pub fn built_in() -> Self {
        Self::from_yaml("questions.yaml", DEFAULT).unwrap_or_default()
    }

    /// What the first rule that fits says is asked.
    pub(super) fn rule(&self, tokens: &[Token], things: usize, known: usize) -> Option<Kind> {
        let occurs = |name: &String| self.lists.get(name).is_some_and(|list| occurs(list, tokens));
        let at_start =
            |name: &String| self.lists.get(name).is_some_and(|list| list.longest(tokens, 0).is_some());
        let fits = |rule: &&Rule| {
            let of_things = if rule.known { known } else { things };
            of_things >= rule.things
                && rule.has.iter().all(occurs)
                && !rule.lacks.iter().any(occurs)
                && rule.begins.as_ref().is_none_or(at_start)
        };
        self.rules.iter().find(fits).map(|rule| rule.kind)
    }

    /// Whether a sentence that is no goal may be a question about the last one; `of_past` demands that it speaks of what was.
    pub(super) fn may_be(&self, lexicon: &Lexicon, tokens: &[Token], of_past: bool) -> bool {
        let mut starts = vec![0];
        for (at, token) in tokens.iter().enumerate() {
            let ends_part = token.word().is_empty();
            if ends_part || (starts.contains(&at) && lexicon.list("fillers").longest(tokens, at) == Some(1)) {
                starts.push(at + 1);
            }
            if let Some(length) = lexicon.list("openers").longest(tokens, at).filter(|_| starts.contains(&at))
            {
                starts.push(at + length);
            }
        }
        let begins = |list: &Phrases<()>| starts.iter().any(|at| list.longest(tokens, *at).is_some());
        begins(&self.begins) && !begins(&self.never) && (!of_past || occurs(&self.past, tokens))
    }

    /// Where the first phrase of the list `why` stands; 0 when there is none.
    pub(super) fn why(&self, tokens: &[Token]) -> usize {
        let why = self.lists.get("why");
        let found = why.and_then(|why| (0..tokens.len()).find(|at| why.longest(tokens, *at).is_some()));
        found.unwrap_or_default()
    }

    /// Whether a word is one of a list: then it begins no description.
    pub(super) fn is_listed(&self, word: &str) -> bool {
        self.lists.values().any(|list| list.has_word(word))
    }

    /// Whether a word says that something was not done.
    pub(super) fn is_negative(&self, word: &str) -> bool {
        self.lists.get("not").is_some_and(|list| list.has_word(word))
    }
}

fn phrases(list: Value<'_>) -> Option<Phrases<()>> {
    let mut all = Phrases::default();
    for phrase in list.list(|phrase| phrase.text())? {
        all.add(&phrase.to_lowercase(), ());
    }
    Some(all)
}

fn rule(map: &mut Map<'_>, lists: &HashMap<String, Phrases<()>>) -> Option<Rule> {
    let named = |value: Value<'_>| {
        let name = value.text()?;
        if !lists.contains_key(&name) {
            match nearest(&name, lists.keys().map(String::as_str)) {
                Some(near) => value.report(format!("no list `{name}` in `words`; did you mean `{near}`?")),
                None => value.report(format!("no list `{name}` in `words`")),
            }
            return None;
        }
        Some(name)
    };
    let kind = map.req("asks").and_then(|kind| kind.choice(&KINDS));
    let has = map.or("has", Vec::new(), |list| list.list(named));
    let lacks = map.or("lacks", Vec::new(), |list| list.list(named));
    let begins = map.or("begins", None, |name| Some(Some(named(name)?)));
    let things = map.or("things", 0, |number| usize::try_from(number.u64()?).ok());
    let known = map.or("known", false, |known| known.bool());
    let reversed = map.or("reversed", false, |reversed| reversed.bool())?;
    let (kind, things) = (kind?, things?);
    let needs = match kind {
        Kind::Instead { .. } => 2,
        Kind::Why | Kind::WhyNot | Kind::About => 1,
        _ => 0,
    };
    if things < needs {
        map.report(format!("what this asks is about things: `things` must be {needs} or more"));
    }
    let kind = if let Kind::Instead { .. } = kind { Kind::Instead { reversed } } else { kind };
    let rule = Rule { kind, has: has?, lacks: lacks?, begins: begins?, things, known: known? };
    if rule.has.is_empty() && rule.begins.is_none() {
        map.report("a rule without `has` and `begins` fits everything");
    }
    Some(rule)
}

/// Whether a phrase of the list stands anywhere.
fn occurs(list: &Phrases<()>, tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| list.longest(tokens, at).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "begins: [warum]\nwords: {why: [warum], not: [nicht]}\nrules:\n  - {asks: why_not, has: [why, not], things: 1}\n  - {asks: stop, has: [why]}\n";

    fn found(text: &str) -> String {
        Questions::from_yaml("q.yaml", text).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn the_built_in_table_is_whole() {
        Questions::from_yaml("questions.yaml", DEFAULT).unwrap();
    }

    #[test]
    fn each_fault_of_a_table_is_found_with_its_line() {
        assert!(Questions::from_yaml("q.yaml", SMALL).is_ok());
        for (wrong, right, finding) in [
            ("has: [why, not]", "has: [why, nit]", "q.yaml:4:32: rules[0].has[1]: no list `nit` in `words`"),
            ("asks: stop", "asks: stp", "did you mean `stop`?"),
            ("things: 1", "things: 0", "must be 1 or more"),
            ("has: [why]}", "things: 1}", "fits everything"),
            ("not: [nicht]", "not: [nicht], spare: [x]", "no rule names the list `spare`"),
            ("begins: [warum]", "begin: [warum]", "missing key `begins`"),
        ] {
            assert!(SMALL.contains(wrong), "{wrong}");
            let findings = found(&SMALL.replace(wrong, right));
            assert!(findings.contains(finding), "{right}: {findings}");
        }
    }
}
