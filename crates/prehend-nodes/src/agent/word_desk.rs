//! Words of the agent without a graph.

use super::mind::Settings;
use super::words::{WordSource, now};
use prehend_agent::language::{Lexicon as Grammar, singular};
use prehend_agent::words::{Book, Judgement, Lesson, Seen, Testimony, judge};
use prehend_llm::HttpModel;
use prehend_perception::lexicon::Lexicon;
use prehend_perception::query::{MATCH, noun_similarity};
use prehend_scene::ObjectKey;
use std::path::Path;

/// Tables of names that mean the same.
const SYNONYMS: &str = "config/language/synonyms.yaml";

/// What asking the witnesses of a word came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedWord {
    /// The word or words, singular.
    pub word: String,
    /// Who said what.
    pub heard: Vec<Testimony>,
    /// Who could not be asked, and why.
    pub faults: Vec<String>,
    /// What it would be taken for.
    pub means: Option<String>,
    /// Why it is taken for nothing; empty when it is taken for something.
    pub why: String,
}

/// Words without a graph: the file, the tables and the witnesses of the agent's settings.
#[derive(Clone, Debug)]
pub struct WordDesk {
    source: WordSource,
    grammar: Grammar,
}

impl WordDesk {
    /// Reads the agent's settings and the tables of words. Connects to nobody.
    ///
    /// Errors: in words, what is wrong with which file.
    pub fn open(settings: &Path) -> Result<Self, String> {
        let settings = Settings::load(settings).map_err(|findings| findings.to_string())?;
        let path = prehend_config::share::resolve(Path::new(SYNONYMS));
        let tables = Lexicon::load(&path).map_err(|findings| findings.to_string())?;
        let model = match settings.model {
            Some(model) => {
                let key = model.key()?;
                Some(HttpModel::new(model, key.as_deref()).map_err(|error| error.to_string())?)
            }
            None => None,
        };
        let source =
            WordSource::new(&settings.words, tables, model.as_ref()).map_err(|error| error.to_string())?;
        Ok(Self { source, grammar: Grammar::built_in() })
    }

    /// The file in which words last, when they do.
    pub fn book(&self) -> Option<&Book> {
        self.source.book.as_ref()
    }

    /// A word or words as they are kept: singular, lower case, without an article.
    pub fn singular(&self, word: &str) -> String {
        singular(word, &self.grammar)
    }

    /// The lesson that a person gives.
    ///
    /// Errors: in words, when the word is known already, or the meaning is not.
    pub fn taught(&self, word: &str, means: &str) -> Result<Lesson, String> {
        let (word, means) = (self.singular(word), self.singular(means));
        if self.source.tables.knows_noun(&word) {
            return Err(format!("\"{word}\" is known already (config/language/synonyms.yaml)"));
        }
        if !self.source.tables.knows_noun(&means) {
            return Err(format!(
                "\"{means}\" is no word that is known; say it in other words, such as \"white bottle\""
            ));
        }
        let mut lesson = Lesson::taught(&word, &means);
        lesson.since = now();
        Ok(lesson)
    }

    /// Asks the witnesses what a word means where things of these classes are seen.
    pub async fn ask(&self, word: &str, seen: &[String]) -> AskedWord {
        let word = self.singular(word);
        let things = seen.iter().enumerate().map(|(number, class)| Seen {
            key: ObjectKey(format!("thing_{number}")),
            class: class.trim().to_lowercase(),
            colors: Vec::new(),
            size_cm: [0.0; 3],
        });
        let things: Vec<Seen> = things.collect();
        let (heard, faults) = self.source.ask(&word, &things, None, &self.grammar).await;
        let tables = &self.source.tables;
        let judgement = judge(&word, &heard, &mut |label| {
            let noun: Vec<String> = label.split(' ').map(str::to_owned).collect();
            let fits = |thing: &&Seen| noun_similarity(&noun, &thing.class, tables) >= MATCH;
            things.iter().filter(fits).map(|thing| thing.key.clone()).collect()
        });
        let (means, why) = match judgement {
            Judgement::Agreed(lesson) => (Some(lesson.means), String::new()),
            Judgement::Undecided(why) => (None, why),
            Judgement::Silent => (None, "nobody says anything of it".to_owned()),
        };
        AskedWord { word, heard, faults, means, why }
    }
}
