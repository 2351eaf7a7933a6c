//! A question in words to the memory: read, decided among its readings, and looked for.

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::recall::{Answer, Settings};
use crate::record::Action;
use crate::request::{Described, Request, Wishes, readings};
use prehend_agent::language::Lexicon;
use prehend_agent::language::rooms::RoomNames;

/// Who asks, and what about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asker {
    /// The building; `None` for all.
    pub building: Option<String>,
    /// Who asks.
    pub robot: String,
    /// The time of asking, seconds since 1970.
    pub now: f64,
    /// What shall be done with the thing; `None` as the sentence says.
    pub action: Option<Action>,
    /// Most things of each answer.
    pub k: usize,
}

/// One thing that a sentence looks for, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What is looked for.
    pub what: Described,
    /// What shall be done with it.
    pub action: Option<Action>,
    /// Whether it is where something shall go.
    pub is_receptacle: bool,
    /// What was found.
    pub answer: Answer,
}

/// What a text looks for: a sentence ("bring the mug on the desk to the kitchen table"), or only a thing ("the towel near the sink"),
/// in all its readings. A text that the grammar does not read is looked for word by word.
pub fn wishes_of(text: &str, lexicon: &Lexicon, rooms: &RoomNames) -> Vec<Wishes> {
    let names_something = |wishes: &Wishes| !wishes.targets.is_empty() || wishes.receptacle.is_some();
    for said in [text.to_owned(), format!("where is {text}")] {
        let mut found = readings(&said, lexicon, rooms).unwrap_or_default();
        found.retain(names_something);
        if !found.is_empty() {
            return found;
        }
    }
    let what = Described { words: text.to_owned(), ..Described::default() };
    vec![Wishes { targets: vec![(None, what)], receptacle: None }]
}

impl Memory {
    /// Answers a question in words.
    ///
    /// Errors: [`MemoryError::Bad`] for an empty text; those of the encoder and the store.
    pub fn ask(
        &mut self,
        text: &str,
        lexicon: &Lexicon,
        asker: &Asker,
        settings: &Settings,
    ) -> Result<Vec<Asked>, MemoryError> {
        if text.trim().is_empty() {
            return Err(MemoryError::Bad { what: "question", why: "it has no words".to_owned() });
        }
        let wishes = wishes_of(text, lexicon, self.rooms());
        let wishes = self.understand(wishes, asker.building.as_deref(), asker.now)?.unwrap_or_default();
        let targets = wishes.targets.into_iter().map(|(action, what)| (what, asker.action.or(action), false));
        let receptacle = wishes.receptacle.into_iter().map(|what| (what, Some(Action::Place), true));
        let mut found = Vec::new();
        for (what, action, is_receptacle) in targets.chain(receptacle) {
            let request = Request {
                what: what.clone(),
                action,
                building: asker.building.clone(),
                robot: asker.robot.clone(),
                now: asker.now,
                k: asker.k,
            };
            let answer = self.recall(&request, settings)?;
            found.push(Asked { what, action, is_receptacle, answer });
        }
        Ok(found)
    }
}
