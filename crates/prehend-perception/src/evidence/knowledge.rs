//! What is known of classes (`config/language/knowledge.yaml`): a check of a name against what was measured.

use crate::lexicon::Lexicon;
use crate::parts::find_parts;
use crate::query::noun_similarity;
use prehend_config::{Findings, Value};
use prehend_scene::Object;
use std::path::Path;

/// What is known of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct Trait {
    /// Class names it holds for.
    pub names: Vec<String>,
    /// Least and greatest longest side, metres.
    pub longest: [f64; 2],
    /// Least and greatest height, metres.
    pub height: [f64; 2],
    /// Whether it is hollow; `None` when some are.
    pub hollow: Option<bool>,
    /// Usual colours; empty for any.
    pub colors: Vec<String>,
}

/// Everything known of classes, with the words that lead to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    traits: Vec<Trait>,
    lexicon: Lexicon,
}

impl Knowledge {
    /// Reads the table from a text.
    ///
    /// Errors: every finding with its line.
    pub fn parse(file: &str, text: &str, lexicon: Lexicon) -> Result<Self, Findings> {
        let traits = prehend_config::read(file, text, |root| root.list(|v| read(&v)))?;
        Ok(Self { traits, lexicon })
    }

    /// Reads the table from a file.
    pub fn load(path: &Path, lexicon: Lexicon) -> Result<Self, Findings> {
        let traits = prehend_config::read_file(path, |root| root.list(|v| read(&v)))?;
        Ok(Self { traits, lexicon })
    }

    /// Share of what is known of the object's class that was measured on it, [0, 1]; `None` when nothing is known.
    pub fn agreement(&self, object: &Object, support_z: f64) -> Option<f64> {
        if object.class_name.is_empty() {
            return None;
        }
        let noun: Vec<String> = object.class_name.split(' ').map(|w| self.lexicon.singular(w)).collect();
        let fits = |t: &Trait| {
            t.names.iter().map(|name| noun_similarity(&noun, name, &self.lexicon)).fold(0.0, f64::max)
        };
        let (similarity, known) =
            self.traits.iter().map(|t| (fits(t), t)).max_by(|a, b| a.0.total_cmp(&b.0))?;
        if similarity < 0.85 {
            return None;
        }
        let size = object.bounds.size;
        let height = object.bounds.top() - support_z;
        let within = |value: f64, [low, high]: [f64; 2]| {
            // A tenth beyond the range is half wrong, a third is wrong.
            let beyond = (low / value.max(1e-6)).max(value / high.max(1e-6)).max(1.0) - 1.0;
            (1.0 - beyond * 3.0).clamp(0.0, 1.0)
        };
        let mut checks = vec![within(size.max(), known.longest), within(height, known.height)];
        if let Some(hollow) = known.hollow {
            let found = find_parts(object, support_z).iter().any(|part| part.name == "opening");
            checks.push(if found == hollow { 1.0 } else { 0.0 });
        }
        if !known.colors.is_empty() {
            let share: f64 = object
                .color_fractions
                .iter()
                .filter(|(word, _)| known.colors.contains(word))
                .map(|(_, share)| share)
                .sum();
            checks.push((share * 1.5).min(1.0));
        }
        // One thing that cannot be makes the name doubtful, however much of the rest fits.
        let mean = checks.iter().sum::<f64>() / checks.len() as f64;
        let worst = checks.iter().copied().fold(1.0, f64::min);
        Some((mean * (0.4 + 0.6 * worst)).clamp(0.0, 1.0))
    }
}

fn read(value: &Value<'_>) -> Option<Trait> {
    value.map(|m| {
        let names = m.req("names").and_then(|v| v.list(|name| name.text()));
        let longest = m.req("longest").and_then(|v| v.numbers::<2>());
        let height = m.req("height").and_then(|v| v.numbers::<2>());
        let hollow = match m.opt("hollow") {
            None => Some(None),
            Some(v) => v.bool().map(Some),
        };
        let colors = m.or("colors", Vec::new(), |v| v.list(|word| word.text()));
        Some(Trait { names: names?, longest: longest?, height: height?, hollow: hollow?, colors: colors? })
    })
}
