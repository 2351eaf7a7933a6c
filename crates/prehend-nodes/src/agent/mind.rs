//! Who plans: `config/nodes/agent.yaml`, and the language model behind it.

use super::remote::Caller;
use super::words::{WordSettings, WordSource};
use prehend_agent::talk::{Message, Model, ModelFault, Replay, Tool, Turn};
use prehend_agent::{Fault, Planner};
use prehend_config::{Findings, Value};
use prehend_llm::{HttpModel, ModelSettings, Session};
use prehend_perception::lexicon::Lexicon as Tables;
use prehend_robots::shell::NodeError;
use prehend_scene::Reason;
use serde_json::{Value as Json, json};
use std::path::Path;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Most turns that a recorded conversation may have.
const MOST_TURNS: usize = 1000;

/// What the file decides.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    planner: Planner,
    pub(super) model: Option<ModelSettings>,
    pub(super) words: WordSettings,
}

impl Settings {
    pub(super) fn load(path: &Path) -> Result<Self, Findings> {
        prehend_config::read_file(path, |root| Self::read(&root))
    }

    fn read(value: &Value<'_>) -> Option<Self> {
        value.map(|map| {
            let planner = map.or("planner", Planner::Hybrid, |value| value.choice(&Planner::ALL));
            let model = map.or("model", None, |value| ModelSettings::read(&value));
            let words = map.or("words", WordSettings::default(), |value| value.map(WordSettings::read));
            let (planner, model, words) = (planner?, model?, words?);
            if planner == Planner::Model && model.is_none() {
                map.report("`planner: model` needs `model.model`, the name of a model");
                return None;
            }
            Some(Self { planner, model, words })
        })
    }
}

/// The planner, and the model that is asked.
#[derive(Clone, Debug)]
pub(super) struct Minds {
    planner: Planner,
    model: Option<HttpModel>,
    words: WordSource,
}

/// The model of one goal.
pub(super) enum Mind {
    /// One that is asked.
    Asked(Box<Session>, Manner),
    /// A conversation that was recorded.
    Recorded(Replay),
    /// A program that calls the tools.
    Called(Caller),
}

/// How a model that is asked plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    /// It is sent what the camera sees.
    pub(super) sees: bool,
    writes_lists: bool,
}

impl Minds {
    /// The planner and model of a file, with the key from the environment, and the tables of words. Connects to nobody.
    pub(super) fn load(path: &Path, tables: Tables) -> Result<Self, NodeError> {
        let settings = Settings::load(path)?;
        let failed = |reason: String| NodeError::Start { node: "agent", reason };
        let model = match settings.model {
            Some(model) => {
                let key = model.key().map_err(&failed)?;
                Some(HttpModel::new(model, key.as_deref()).map_err(|error| failed(error.to_string()))?)
            }
            None => None,
        };
        let words = WordSource::new(&settings.words, tables, model.as_ref())?;
        Ok(Self { planner: settings.planner, model, words })
    }

    /// Whether a model is sent what the camera sees.
    pub(super) fn see(&self) -> bool {
        self.model.as_ref().is_some_and(HttpModel::sees)
    }

    /// Who knows words in a goal; what is recorded is played without a network.
    pub(super) fn words(&self, mind: Option<&Mind>) -> WordSource {
        match mind {
            Some(Mind::Recorded(_)) => self.words.clone().offline(),
            Some(Mind::Asked(..) | Mind::Called(_)) | None => self.words.clone(),
        }
    }

    /// Who plans a goal, and the model it may ask; `recorded` holds the turns of a conversation, one JSON a line, and is empty when
    /// there is none.
    ///
    /// Errors: infeasible when what is recorded cannot be read.
    pub(super) fn of_goal(&self, recorded: &str) -> Result<(Planner, Option<Mind>), Fault> {
        if recorded.trim().is_empty() {
            return Ok(match &self.model {
                Some(model) => (self.planner, Some(Mind::Asked(Box::new(model.session()), manner(model)))),
                None => (Planner::Builtin, None),
            });
        }
        let wrong = |number: usize| {
            let message = format!("Line {number} of the recorded conversation is no turn of a model.");
            Fault::new(Reason::Infeasible, message)
        };
        let lines = recorded.lines().filter(|line| !line.trim().is_empty()).take(MOST_TURNS);
        let turns = lines
            .enumerate()
            .map(|(index, line)| serde_json::from_str::<Turn>(line).map_err(|_| wrong(index + 1)))
            .collect::<Result<Vec<Turn>, Fault>>()?;
        Ok((Planner::Model, Some(Mind::Recorded(Replay::new(turns)))))
    }
}

/// The model of one goal as the agent asks it, from a thread that may block; what ends the goal ends the wait.
pub(super) struct GoalMind {
    pub(super) runtime: Handle,
    pub(super) mind: Mind,
    pub(super) interrupt: watch::Receiver<Option<Fault>>,
}

fn manner(model: &HttpModel) -> Manner {
    Manner { sees: model.sees(), writes_lists: model.writes_lists() }
}

impl Model for GoalMind {
    fn sees(&self) -> bool {
        matches!(&self.mind, Mind::Asked(_, Manner { sees: true, .. }))
    }

    fn writes_lists(&self) -> bool {
        match &self.mind {
            Mind::Recorded(replay) => replay.writes_lists(),
            Mind::Called(_) => false,
            Mind::Asked(_, manner) => manner.writes_lists,
        }
    }

    fn turn(&mut self, messages: &[Message], tools: &[Tool]) -> Result<Turn, ModelFault> {
        match &mut self.mind {
            Mind::Recorded(replay) => replay.turn(messages, tools),
            Mind::Called(caller) => self.runtime.block_on(caller.turn(messages, &mut self.interrupt)),
            Mind::Asked(session, _) => {
                let mut interrupt = self.interrupt.clone();
                self.runtime.block_on(async {
                    tokio::select! {
                        biased;
                        fault = super::interrupt::interrupted(&mut interrupt) => Err(ModelFault::Interrupted(fault)),
                        turn = session.turn(messages, tools) => turn.map_err(ModelFault::from),
                    }
                })
            }
        }
    }
}

/// Asks the language model of a settings file to call a tool that does nothing; what it is, and how fast it answered. `None` when
/// none is configured.
///
/// Errors: in words, with what to look at.
pub async fn try_model(path: &Path) -> Result<Option<String>, String> {
    let settings = Settings::load(path).map_err(|findings| findings.to_string())?;
    let Some(settings) = settings.model else { return Ok(None) };
    let key = settings.key()?;
    let name = format!("{} at {} ({})", settings.model, settings.base_url, settings.provider.name());
    let model = HttpModel::new(settings, key.as_deref()).map_err(|error| format!("{name}: {error}"))?;
    let text =
        "This is a test. Call the tool `ready` with `word` = \"yes\", and say nothing else.".to_owned();
    let tool = Tool {
        name: "ready".to_owned(),
        description: "Does nothing.".to_owned(),
        parameters: json!({
            "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"],
            "additionalProperties": false,
        }),
    };
    let mut session = model.session();
    let turn =
        session.turn(&[Message::User { text }], &[tool]).await.map_err(|error| format!("{name}: {error}"))?;
    let called = turn.calls.iter().find(|call| call.name == "ready");
    let arguments = called.and_then(|call| serde_json::from_str::<Json>(&call.arguments).ok());
    match (called, arguments) {
        (Some(_), Some(Json::Object(_))) => Ok(Some(format!(
            "{name}: called the tool after {:.2} s; {} tokens read, {} written",
            turn.usage.seconds, turn.usage.tokens_in, turn.usage.tokens_out
        ))),
        (Some(_), _) => Err(format!(
            "{name}: it calls the tool with arguments that are no JSON; use a model that is made for tools"
        )),
        (None, _) => Err(format!(
            "{name}: it answers, but does not call the tool; use a model that is made for tools, and a server that passes them on"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let read = prehend_config::read("agent.yaml", text, |root| Settings::read(&root));
        read.map_err(|findings| findings.to_string())
    }

    fn of(planner: Planner) -> Settings {
        Settings { planner, model: None, words: WordSettings::default() }
    }

    #[test]
    fn the_file_in_the_repository_asks_no_model() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/nodes/agent.yaml");
        assert_eq!(Settings::load(Path::new(file)), Ok(of(Planner::Hybrid)));
        let minds = Minds::load(Path::new(file), Tables::default()).expect("the file is valid");
        let (planner, mind) = minds.of_goal("").expect("nothing is recorded");
        assert_eq!((planner, mind.is_none()), (Planner::Builtin, true));
    }

    #[test]
    fn a_planner_that_needs_a_model_says_so() {
        assert_eq!(read("planner: builtin"), Ok(of(Planner::Builtin)));
        let on = read("planner: model\nmodel: {provider: ollama, model: qwen3}").expect("a model");
        assert_eq!(on.model.map(|model| model.base_url).as_deref(), Some("http://127.0.0.1:11434"));
        for (text, says) in [
            ("planner: model", "needs `model.model`"),
            ("planner: models", "did you mean `model`?"),
            ("planer: model", "did you mean `planner`?"),
        ] {
            let found = read(text).expect_err(text);
            assert!(found.contains(says), "{found}");
        }
    }

    #[test]
    fn a_recorded_conversation_is_played_or_refused() {
        let words =
            WordSource::new(&WordSettings::default(), Tables::default(), None).expect("nobody is asked");
        let minds = Minds { planner: Planner::Builtin, model: None, words };
        let turn =
            r#"{"text":"","calls":[],"end":"complete","usage":{"tokens_in":1,"tokens_out":2,"seconds":0.5}}"#;
        let (planner, mind) = minds.of_goal(&format!("{turn}\n\n{turn}\n")).expect("turns");
        assert_eq!(planner, Planner::Model);
        let Some(Mind::Recorded(mut replay)) = mind else { panic!("a recorded conversation") };
        assert!(
            replay.turn(&[], &[]).is_ok() && replay.turn(&[], &[]).is_ok() && replay.turn(&[], &[]).is_err()
        );
        let wrong = minds.of_goal(&format!("{turn}\n{{}}")).err().expect("no turn");
        assert!(wrong.reason == Reason::Infeasible && wrong.message.contains("Line 2"), "{wrong:?}");
    }
}
