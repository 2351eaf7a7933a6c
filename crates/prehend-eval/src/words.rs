//! What unknown words are taken for, without a robot: the agent's own tools over a map of named things, with the witnesses of a file.
//!
//! The five replacements of VLA2's LIBERO_ZERO (moutai, saucer, blue white porcelain bowl, white cabinet, butter) are the group `gold`; in
//! the group `poisoned` one page lies.

use crate::ground::Vocabulary;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_agent::tools::{ToolOutput, Toolbox};
use prehend_agent::words::{Lesson, MODEL, PAGE, Page, Seen, Testimony, Words, label};
use prehend_agent::world::{ActionablePart, Rejected, Retrieval, SkillOutcome, SkillRequest};
use prehend_agent::{Fault, World};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_perception::retrieve;
use prehend_scene::{Intent, Object, ObjectKey, ObjectMap, Reason, Scope};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Tool calls of one line, at most.
const CALLS: u32 = 10;

/// One thing that is seen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenThing {
    /// What the detector calls it.
    pub class: String,
    /// Its colours, each on as much of it as any other.
    pub colors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPage {
    host: String,
    #[serde(default)]
    title: String,
    text: String,
}

/// One line of a file of words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordLine {
    query: String,
    seen: Vec<SeenThing>,
    #[serde(default)]
    pages: Vec<WrittenPage>,
    /// What a language model says.
    #[serde(default)]
    model: Option<String>,
    /// The class of what is meant; `None`: nothing that is seen.
    want: Option<String>,
    group: String,
}

/// How often what was meant was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WordTally {
    /// Lines.
    pub n: u32,
    /// What was meant was found, or rightly nothing.
    pub right: u32,
    /// Nothing was found where something was meant.
    pub refused: u32,
    /// Something else was found.
    pub wrong: u32,
}

/// What became of one line: the classes that were found.
pub fn run_line(line: &WordLine, words: &Vocabulary, with_witnesses: bool) -> Result<Vec<String>, Fault> {
    let objects = line.seen.iter().enumerate().map(|(number, thing)| {
        let at = Isometry3::translation(0.3 + 0.1 * number as f64, 0.0, 0.05);
        let share = 1.0 / thing.colors.len().max(1) as f64;
        let cloud = [-0.5, 0.5].map(|s| at * Point3::new(s * 0.08, 0.0, 0.0));
        Object {
            class_name: thing.class.clone(),
            confidence: 1.0,
            class_votes: vec![(thing.class.clone(), 1.0)],
            color_fractions: thing.colors.iter().map(|color| (color.clone(), share)).collect(),
            view_count: 1,
            ..Object::unnamed(
                ObjectKey(format!("thing_{number}")),
                PointCloud::from_points(cloud.to_vec()),
                OrientedBox { pose: at, size: Vector3::repeat(0.08) },
            )
        }
    });
    let map = Arc::new(ObjectMap { objects: objects.collect(), version: 1, ..ObjectMap::default() });
    let witnesses = Witnesses { line: with_witnesses.then_some(line), words };
    let mut world = Table { map: Arc::clone(&map), words, witnesses };
    let mut tools = Toolbox::new(&mut world, &words.lexicon, None, CALLS);
    let (found, _) = tools.object_retrieval(&line.query, 0)?;
    Ok(found.keys.iter().filter_map(|key| map.get(key)).map(|object| object.class_name.clone()).collect())
}

/// Runs all lines; the tally of each group, and what went otherwise than meant, in words.
pub fn run_words(
    lines: &[WordLine],
    words: &Vocabulary,
    with_witnesses: bool,
) -> (BTreeMap<String, WordTally>, Vec<String>) {
    let mut groups: BTreeMap<String, WordTally> = BTreeMap::new();
    let mut misses = Vec::new();
    for line in lines {
        let found = run_line(line, words, with_witnesses).unwrap_or_default();
        let tally = groups.entry(line.group.clone()).or_default();
        tally.n += 1;
        let counted = match (&line.want, found.as_slice()) {
            (Some(want), [one]) if one == want => &mut tally.right,
            (None, []) => &mut tally.right,
            (Some(_), []) => &mut tally.refused,
            (_, _) => &mut tally.wrong,
        };
        *counted += 1;
        let wanted: Vec<String> = line.want.iter().cloned().collect();
        if found != wanted {
            let words = |classes: &[String]| {
                if classes.is_empty() { "nothing".to_owned() } else { classes.join(", ") }
            };
            misses.push(format!(
                "{} ({}): found {}, meant {}",
                line.query,
                line.group,
                words(&found),
                words(&wanted)
            ));
        }
    }
    (groups, misses)
}

/// What the witnesses of a line say.
struct Witnesses<'l> {
    line: Option<&'l WordLine>,
    words: &'l Vocabulary,
}

impl Words for Witnesses<'_> {
    fn is_known(&self, word: &str) -> bool {
        self.words.synonyms.knows_noun(word)
    }

    fn lesson(&mut self, _word: &str) -> Option<Lesson> {
        None
    }

    fn ask(&mut self, word: &str, seen: &[Seen], _: Option<&[u8]>) -> Result<Vec<Testimony>, Fault> {
        let Some(line) = self.line else { return Ok(Vec::new()) };
        let classes: BTreeSet<String> = seen.iter().map(|thing| thing.class.clone()).collect();
        let model = line.model.iter().map(|label| Testimony {
            witness: "model".to_owned(),
            weight: MODEL,
            label: label.clone(),
        });
        let pages = line.pages.iter().filter_map(|page| {
            let page = Page { host: page.host.clone(), title: page.title.clone(), text: page.text.clone() };
            let label =
                label(&page, word, &self.words.lexicon, &|noun| self.words.synonyms.knows(noun), &classes)?;
            Some(Testimony { witness: page.site(), weight: PAGE, label })
        });
        Ok(model.chain(pages).collect())
    }

    fn keep(&mut self, _lesson: &Lesson) -> Result<(), String> {
        Ok(())
    }

    fn forget(&mut self, _word: &str) -> Result<(), String> {
        Ok(())
    }
}

/// A table that is only looked at.
struct Table<'l> {
    map: Arc<ObjectMap>,
    words: &'l Vocabulary,
    witnesses: Witnesses<'l>,
}

fn moves_nothing<T>() -> Result<T, Fault> {
    Err(Fault::new(Reason::Infeasible, "nothing moves here"))
}

impl World for Table<'_> {
    fn settle(&mut self) -> Result<SkillOutcome, Fault> {
        moves_nothing()
    }

    fn update_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Ok(Arc::clone(&self.map))
    }

    fn newest_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Ok(Arc::clone(&self.map))
    }

    fn retrieve(&mut self, query: &str, k: u32, _scope: Scope) -> Result<Retrieval, Fault> {
        let found = retrieve(&self.map, query, k as usize, &self.words.synonyms);
        Ok(Retrieval {
            keys: found.matches.into_iter().map(|matched| matched.key).collect(),
            rejected: found
                .rejected
                .into_iter()
                .map(|rejected| Rejected { key: rejected.key, reason: rejected.reason })
                .collect(),
            doubtful: found.doubtful,
        })
    }

    fn detect_affordance(
        &mut self,
        _object: &ObjectKey,
        _intent: &Intent,
    ) -> Result<Vec<ActionablePart>, Fault> {
        moves_nothing()
    }

    fn execute(&mut self, _request: &SkillRequest) -> Result<SkillOutcome, Fault> {
        moves_nothing()
    }

    fn interrupted(&self) -> Option<Fault> {
        None
    }

    fn tool_called(&mut self, _name: &str, _arguments: &str) {}

    fn tool_answered(&mut self, _name: &str, _output: &ToolOutput) {}

    fn words(&mut self) -> Option<&mut dyn Words> {
        Some(&mut self.witnesses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_lines;

    fn tree(name: &str) -> Vec<WordLine> {
        let path = format!("{}/../../tests/language/{name}", env!("CARGO_MANIFEST_DIR"));
        json_lines(&std::fs::read_to_string(path).expect("the file")).expect("lines")
    }

    #[test]
    fn no_page_of_the_sets_leads_to_a_thing_that_was_not_meant() {
        let words = Vocabulary::built_in().expect("words");
        for (file, least) in [("words_seen.jsonl", 29), ("words_kept_back.jsonl", 25)] {
            let lines = tree(file);
            let (groups, misses) = run_words(&lines, &words, true);
            let sum = |of: fn(&WordTally) -> u32| groups.values().map(of).sum::<u32>();
            assert_eq!(sum(|tally| tally.wrong), 0, "{file}: {misses:?}");
            assert!(sum(|tally| tally.right) >= least, "{file}: {misses:?}");
            // Without witnesses only what needs none is found.
            let (alone, _) = run_words(&lines, &words, false);
            assert!(alone["defined"].right == 0 && alone["poisoned"].wrong == 0, "{alone:?}");
        }
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let error = json_lines::<WordLine>("\n{\"query\": 1}").expect_err("no line");
        assert!(error.starts_with("line 2:"), "{error}");
    }
}
