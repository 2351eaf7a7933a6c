//! How sentences are read, without a robot: the reading of the grammar beside those that are right.

use prehend_agent::language::{Goal, Lexicon, Step, parse};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One sentence and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadingLine {
    goal: String,
    /// Readings that are right, in the notation of goals; none: what is said is nothing the robot can do.
    means: Vec<String>,
    /// What the line is counted under.
    #[serde(default)]
    group: String,
}

/// How sentences were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadingTally {
    /// Sentences.
    pub n: u32,
    /// Read as meant, or rightly not at all.
    pub as_meant: u32,
    /// Not understood, or refused, though the robot could do what is meant.
    pub refused: u32,
    /// Read as something to do that was not meant.
    pub otherwise: u32,
}

/// Whether a reading has something in it that no skill does: nothing moves then.
fn is_refused(goal: &Goal) -> bool {
    let refused = |steps: &[Step]| steps.iter().any(|step| matches!(step, Step::Unsupported { .. }));
    match goal {
        Goal::Steps(steps) => refused(steps),
        Goal::Conditional { then, otherwise, .. } => refused(then) || refused(otherwise),
        Goal::Question(_) | Goal::Lesson { .. } => false,
    }
}

/// Reads every sentence; the tally of each group, and a line of text for each that was not read as meant.
pub fn run_readings(
    lines: &[ReadingLine],
    lexicon: &Lexicon,
) -> (BTreeMap<String, ReadingTally>, Vec<String>) {
    let mut groups: BTreeMap<String, ReadingTally> = BTreeMap::new();
    let mut misses = Vec::new();
    for line in lines {
        let first = parse(&line.goal, lexicon).ok().and_then(|readings| readings.into_iter().next());
        let text = first.as_ref().map_or_else(|| "not understood".to_owned(), ToString::to_string);
        let refused = first.as_ref().is_none_or(is_refused);
        let tally = groups.entry(line.group.clone()).or_default();
        tally.n += 1;
        if line.means.contains(&text) || line.means.is_empty() && refused {
            tally.as_meant += 1;
            continue;
        }
        *(if refused { &mut tally.refused } else { &mut tally.otherwise }) += 1;
        let meant = line.means.first().map_or("nothing that can be done", String::as_str);
        misses.push(format!("{}\n     read {text}\n    meant {meant}", line.goal));
    }
    (groups, misses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_counted() {
        let line = |goal: &str, means: &[&str]| ReadingLine {
            goal: goal.to_owned(),
            means: means.iter().map(|m| (*m).to_owned()).collect(),
            group: String::new(),
        };
        let lines = [
            line("pick up the mug", &["pick(the mug)"]),
            line("pick up the cup", &["pick(the mug)"]),
            line("throw the mug", &[]),
            line("stir the soup", &["pick(the soup)"]),
            line("pick up the mug", &[]),
        ];
        let (groups, misses) = run_readings(&lines, &Lexicon::built_in());
        assert_eq!(groups[""], ReadingTally { n: 5, as_meant: 2, refused: 1, otherwise: 2 });
        assert_eq!(misses.len(), 3, "{misses:?}");
    }

    #[test]
    fn what_calvin_says_is_read_as_it_is_meant() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/language/calvin.jsonl");
        let lines = crate::json_lines(&std::fs::read_to_string(file).expect("the file")).expect("lines");
        let (groups, misses) = run_readings(&lines, &Lexicon::built_in());
        let right: u32 = groups.values().map(|tally| tally.as_meant).sum();
        let otherwise: u32 = groups.values().map(|tally| tally.otherwise).sum();
        assert!(right >= 240 && otherwise <= 2, "{right} of {}:\n{}", lines.len(), misses.join("\n"));
    }
}
