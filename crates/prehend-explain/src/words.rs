//! The words that questions about a run are read with.

use crate::question::Questions;
use prehend_agent::language::Lexicon;
use prehend_config::Findings;
use prehend_perception::lexicon::Lexicon as Names;

/// The built-in names that mean the same.
const SYNONYMS: &str = include_str!("../../../config/language/synonyms.yaml");

/// The words that questions about a run are read with.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// Grammar words.
    pub lexicon: Lexicon,
    /// Which nouns mean the same.
    pub names: Names,
    /// What makes a question.
    pub questions: Questions,
}

impl Words {
    /// The built-in words.
    ///
    /// Errors: findings when a built-in file is broken, which a test rules out.
    pub fn built_in() -> Result<Self, Findings> {
        let names = Names::parse("synonyms.yaml", SYNONYMS)?;
        Ok(Self { lexicon: Lexicon::built_in(), names, questions: Questions::built_in() })
    }
}
