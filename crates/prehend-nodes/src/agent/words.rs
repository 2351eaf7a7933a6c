//! Words of the node `agent`: tables that know them, the file in which learned ones last, and the witnesses that are asked.

use prehend_agent::language::Lexicon as Grammar;
use prehend_agent::words::{
    Book, Lesson, MODEL, PAGE, Said, Seen, Testimony, Words, answer, ask_again, label, question,
};
use prehend_agent::{Agent, Fault};
use prehend_config::Map;
use prehend_llm::{HttpModel, SearchSettings, Searches};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_perception::lexicon::Lexicon;
use prehend_robots::shell::{NodeError, Trace};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Longest time that all witnesses have together.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a model is asked for an answer that can be used.
const ASKED: usize = 2;

/// The mapping `words` of `config/nodes/agent.yaml`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WordSettings {
    /// Whether learned words last.
    remember: bool,
    /// Where they are kept; `None` is the user's own place.
    file: Option<PathBuf>,
    /// Whether the language model is a witness.
    model: bool,
    search: SearchSettings,
}

impl Default for WordSettings {
    fn default() -> Self {
        Self { remember: true, file: None, model: true, search: SearchSettings::default() }
    }
}

impl WordSettings {
    pub(super) fn read(map: &mut Map<'_>) -> Option<Self> {
        let remember = map.or("remember", true, |value| value.bool());
        let file = map.or("file", None, |value| value.text().map(|text| Some(PathBuf::from(text))));
        let model = map.or("model", true, |value| value.bool());
        let search = SearchSettings::read(map);
        Some(Self { remember: remember?, file: file?, model: model?, search: search? })
    }
}

/// What every goal knows of words.
#[derive(Clone, Debug)]
pub(super) struct WordSource {
    pub(super) tables: Arc<Lexicon>,
    pub(super) book: Option<Book>,
    searches: Arc<Searches>,
    model: Option<HttpModel>,
}

impl WordSource {
    /// With the tables of names; asks nobody yet.
    pub(super) fn new(
        settings: &WordSettings,
        tables: Lexicon,
        model: Option<&HttpModel>,
    ) -> Result<Self, NodeError> {
        let file = settings.file.clone().or_else(Book::default_path);
        let searches = Searches::new(&settings.search)
            .map_err(|error| NodeError::Start { node: "agent", reason: format!("words.search: {error}") })?;
        Ok(Self {
            tables: Arc::new(tables),
            book: file.filter(|_| settings.remember).map(Book::new),
            searches: Arc::new(searches),
            model: model.filter(|_| settings.model).cloned(),
        })
    }

    /// The same without anybody who is asked over a network.
    pub(super) fn offline(mut self) -> Self {
        self.model = None;
        self.searches = Arc::default();
        self
    }

    pub(super) async fn ask(
        &self,
        word: &str,
        seen: &[Seen],
        picture: Option<&[u8]>,
        grammar: &Grammar,
    ) -> (Vec<Testimony>, Vec<String>) {
        let (mut heard, mut faults) = (Vec::new(), Vec::new());
        if let Some(model) = &self.model {
            match said_by(model, word, seen, picture).await {
                Ok(label) => heard.extend(label.map(|label| Testimony {
                    witness: match picture {
                        Some(_) => "the language model with the picture".to_owned(),
                        None => "the language model".to_owned(),
                    },
                    weight: MODEL,
                    label,
                })),
                Err(error) => faults.push(format!("the language model: {error}")),
            }
        }
        let (pages, failed) = self.searches.look_up(word).await;
        faults.extend(failed);
        let classes: BTreeSet<String> = seen.iter().map(|thing| thing.class.clone()).collect();
        for page in pages {
            let label = label(&page, word, grammar, &|noun| self.tables.knows(noun), &classes);
            heard.extend(label.map(|label| Testimony { witness: page.site(), weight: PAGE, label }));
        }
        (heard, faults)
    }
}

/// The class that a model takes a word for; `None` when it takes it for nothing that is seen. An answer that cannot be used is asked for
/// again.
async fn said_by(
    model: &HttpModel,
    word: &str,
    seen: &[Seen],
    picture: Option<&[u8]>,
) -> Result<Option<String>, String> {
    let mut session = model.session();
    let mut messages = question(word, seen, picture);
    for _ in 0..ASKED {
        let turn = session.turn(&messages, &[]).await.map_err(|error| error.to_string())?;
        match answer(&turn.text, seen) {
            Said::Class(class) => return Ok(Some(class)),
            Said::Nothing => return Ok(None),
            Said::Unusable => ask_again(&mut messages, &turn.text),
        }
    }
    Err(format!("{ASKED} answers in a row name no class of the list"))
}

/// Words within one goal, from a thread that may block.
pub(super) struct GoalWords {
    pub(super) source: WordSource,
    pub(super) agent: Arc<Agent>,
    pub(super) runtime: Handle,
    pub(super) trace: Trace,
    pub(super) goal_id: String,
    pub(super) interrupt: watch::Receiver<Option<Fault>>,
}

impl GoalWords {
    fn warn(&self, name: &str, message: &str) {
        self.trace.event(&self.goal_id, TraceEvent::KIND_WARNING, name, "words", message, json!({}));
    }
}

impl Words for GoalWords {
    fn is_known(&self, word: &str) -> bool {
        self.source.tables.knows_noun(word)
    }

    fn lesson(&mut self, word: &str) -> Option<Lesson> {
        match self.source.book.as_ref()?.find(word) {
            Ok(lesson) => lesson,
            Err(error) => {
                self.warn("file", &format!("words that were learned are not read: {error}"));
                None
            }
        }
    }

    fn ask(&mut self, word: &str, seen: &[Seen], picture: Option<&[u8]>) -> Result<Vec<Testimony>, Fault> {
        let (source, mut interrupt) = (self.source.clone(), self.interrupt.clone());
        let answer = self.runtime.block_on(async {
            tokio::select! {
                biased;
                fault = super::interrupt::interrupted(&mut interrupt) => Err(fault),
                answer = tokio::time::timeout(PATIENCE, source.ask(word, seen, picture, &self.agent.lexicon)) => Ok(answer),
            }
        })?;
        let Ok((heard, faults)) = answer else {
            self.warn("witnesses", "the witnesses of a word took too long");
            return Ok(Vec::new());
        };
        for fault in &faults {
            self.warn("witness", fault);
        }
        let said: Vec<_> = heard
            .iter()
            .map(|heard| json!({ "witness": heard.witness, "weight": heard.weight, "label": heard.label }))
            .collect();
        let message = format!("\"{word}\": {} witness(es) heard", heard.len());
        let data = json!({ "word": word, "heard": said });
        self.trace.event(&self.goal_id, TraceEvent::KIND_EVIDENCE, "words", "heard", &message, data);
        Ok(heard)
    }

    fn keep(&mut self, lesson: &Lesson) -> Result<(), String> {
        let Some(book) = &self.source.book else {
            return Err("words do not last (words.remember)".to_owned());
        };
        let mut lesson = lesson.clone();
        if lesson.since == 0 {
            lesson.since = now();
        }
        book.keep(&lesson).map_err(|error| error.to_string())
    }

    fn forget(&mut self, word: &str) -> Result<(), String> {
        let Some(book) = &self.source.book else { return Ok(()) };
        book.forget(word).map(drop).map_err(|error| error.to_string())
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
