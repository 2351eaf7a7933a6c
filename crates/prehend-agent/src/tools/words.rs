//! What unknown words are taken for, within one goal (VLA2 III-B).

use super::FRAMES;
use super::{ToolOutput, Toolbox};
use crate::language::plural;
use crate::report::Outcome;
use crate::words::{Judgement, Lesson, Origin, Seen, judge, speaks_against_words, split_query};
use crate::world::{Fault, Retrieval};
use prehend_scene::{ObjectKey, Reason};
use std::collections::HashMap;

/// Share of a thing that a colour must cover to be named to a witness.
const SHARE: f64 = 0.15;

/// The unknown words of a goal.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    /// What each is taken for; `None` when nothing is known of it.
    lessons: HashMap<String, Option<Lesson>>,
    /// How often each was left open, because something that was seen had no sure name.
    left_open: HashMap<String, usize>,
    /// What is said of words that are taken for nothing.
    notes: HashMap<String, String>,
    /// Lessons by which something was found.
    used: Vec<Lesson>,
}

/// A query whose unknown word was replaced.
pub(super) struct TakenFor {
    pub(super) query: String,
    /// In words, with where it comes from.
    pub(super) why: String,
}

impl Toolbox<'_> {
    /// Asks again for a query that found nothing, with its unknown word replaced; as it was when that is known, or taken for nothing.
    pub(super) fn retrieve_taken_for(
        &mut self,
        query: &str,
        k: u32,
        found: Retrieval,
    ) -> Result<(Retrieval, Option<TakenFor>), Fault> {
        let (before, word) = split_query(query, self.lexicon);
        // What bears the word as its name may have been missed in this frame: others are looked at first.
        if !found.doubtful.is_empty() {
            let times = self.words.left_open.entry(word.clone()).or_default();
            *times += 1;
            if *times <= FRAMES {
                return Ok((found, None));
            }
        }
        let Some(lesson) = self.lesson(&word, &before)? else { return Ok((found, None)) };
        let is_plural =
            query.to_lowercase().split_whitespace().last().is_some_and(|last| !word.ends_with(last));
        let means = if is_plural { plural(&lesson.means) } else { lesson.means.clone() };
        let replaced = format!("{before} {means}").trim().to_owned();
        let again = self.world.retrieve(&replaced, k, self.scope)?;
        if again.keys.is_empty() {
            let note = format!("I take \"{word}\" for \"{}\" ({}).", lesson.means, source(&lesson));
            self.words.notes.insert(word, note);
            return Ok((again, None));
        }
        let why = format!("\"{word}\" is taken for \"{}\": {}", lesson.means, source(&lesson));
        if !self.words.used.contains(&lesson) {
            self.words.used.push(lesson);
        }
        Ok((again, Some(TakenFor { query: replaced, why })))
    }

    /// What a word that nothing seen bears is taken for: what was learned before, else what witnesses agree on now. A word by which a thing
    /// that is seen is called is known, though this one may be of another colour.
    fn lesson(&mut self, word: &str, before: &str) -> Result<Option<Lesson>, Fault> {
        if let Some(known) = self.words.lessons.get(word) {
            return Ok(known.clone());
        }
        let Some(words) = self.world.words() else { return Ok(None) };
        let is_called =
            |class: &str| class.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with(' '));
        let is_seen = self
            .map
            .as_ref()
            .is_some_and(|map| map.objects.iter().any(|object| is_called(&object.class_name)));
        if word.is_empty() || is_seen || words.is_known(word) {
            return Ok(None);
        }
        let lesson = match words.lesson(word) {
            Some(lesson) => Some(lesson),
            None => self.learn(word, before)?,
        };
        self.words.lessons.insert(word.to_owned(), lesson.clone());
        Ok(lesson)
    }

    /// Hears the witnesses.
    fn learn(&mut self, word: &str, before: &str) -> Result<Option<Lesson>, Fault> {
        let seen = self.seen()?;
        self.begin_free("look_up", &format!("word=\"{word}\""))?;
        let picture = self.world.picture();
        let heard = match self.world.words() {
            Some(words) => words.ask(word, &seen, picture.as_deref())?,
            None => Vec::new(),
        };
        let mut fault = None;
        let scope = self.scope;
        let world = &mut *self.world;
        let mut find = |label: &str| -> Vec<ObjectKey> {
            let query = format!("{before} {label}");
            match world.retrieve(query.trim(), 0, scope) {
                Ok(found) => found.keys,
                Err(error) => {
                    fault.get_or_insert(error);
                    Vec::new()
                }
            }
        };
        let judgement = judge(word, &heard, &mut find);
        if let Some(fault) = fault {
            return Err(fault);
        }
        let (feedback, note, lesson) = match judgement {
            Judgement::Agreed(lesson) => (
                format!("\"{word}\" is taken for \"{}\": {}", lesson.means, source(&lesson)),
                None,
                Some(lesson),
            ),
            Judgement::Undecided(why) => {
                let note = format!("I do not know the word \"{word}\": {why}. {}", how_to_teach(word));
                (note.clone(), Some(note), None)
            }
            Judgement::Silent => {
                let note = format!("I do not know the word \"{word}\". {}", how_to_teach(word));
                (note.clone(), Some(note), None)
            }
        };
        let output = ToolOutput { success: lesson.is_some(), feedback_msg: feedback, output: None };
        self.world.tool_answered("look_up", &output);
        self.words.notes.extend(note.map(|note| (word.to_owned(), note)));
        Ok(lesson)
    }

    fn seen(&mut self) -> Result<Vec<Seen>, Fault> {
        let map = self.map()?;
        let named = map.objects.iter().filter(|object| !object.class_name.is_empty());
        Ok(named
            .map(|object| Seen {
                key: object.key.clone(),
                class: object.class_name.clone(),
                colors: object
                    .color_fractions
                    .iter()
                    .filter(|(_, share)| *share >= SHARE)
                    .map(|(color, _)| color.clone())
                    .collect(),
                size_cm: [object.bounds.size.x, object.bounds.size.y, object.bounds.size.z]
                    .map(|side| (side * 1000.0).round() / 10.0),
            })
            .collect())
    }

    /// What there is to say of a phrase whose word is not known; nothing when it is.
    pub(crate) fn note_on(&self, query: &str) -> Option<&str> {
        let (_, word) = split_query(query, self.lexicon);
        self.words.notes.get(&word).map(String::as_str)
    }

    /// A person says what a word means; what is answered.
    ///
    /// Errors: infeasible, when the word is known already, the meaning is not, or it cannot be kept.
    pub(crate) fn teach(&mut self, word: &str, means: &str) -> Result<String, Fault> {
        let refuse = |message: String| Err(Fault::new(Reason::Infeasible, message));
        let (_, noun) = split_query(means, self.lexicon);
        let found = self.map().and_then(|_| self.world.retrieve(means, 0, self.scope));
        let is_seen = found.is_ok_and(|found| !found.keys.is_empty());
        let Some(words) = self.world.words() else {
            return refuse("I have nowhere to keep words.".to_owned());
        };
        if words.is_known(word) {
            return refuse(format!("I know \"{word}\" already, and go on with what it means."));
        }
        if !is_seen && !words.is_known(&noun) {
            return refuse(format!(
                "I know neither \"{word}\" nor \"{noun}\". Tell me in words that I know, such as \"{word} means bottle\"."
            ));
        }
        let lesson = Lesson::taught(word, means);
        match words.keep(&lesson) {
            Ok(()) => {
                self.words.lessons.insert(word.to_owned(), Some(lesson));
                Ok(format!("I take \"{word}\" for \"{means}\" from now on."))
            }
            Err(why) => refuse(format!("I cannot keep that: {why}.")),
        }
    }

    /// The end of a goal: what it was understood by is kept when it was done, and unlearned when it failed. In words, for the person.
    pub(crate) fn settle_words(&mut self, outcome: Outcome, reason: Option<Reason>) -> Option<String> {
        let failed = outcome == Outcome::Failed && reason.is_some_and(speaks_against_words);
        let used = std::mem::take(&mut self.words.used);
        if used.is_empty() || !(failed || outcome == Outcome::Done) {
            return None;
        }
        let mut told = Vec::new();
        for mut lesson in used {
            let named = format!("I took \"{}\" for \"{}\" ({})", lesson.word, lesson.means, source(&lesson));
            let Some(words) = self.world.words() else { continue };
            let kept = match (failed, lesson.origin) {
                (true, Origin::Learned) => words.forget(&lesson.word).map(|()| "; I unlearn that"),
                (true, Origin::Taught) => Ok(""),
                // A question is answered without anything that could confirm it.
                (false, _) if !self.moved => Ok(""),
                (false, _) => {
                    lesson.confirmed += 1;
                    words.keep(&lesson).map(|()| "")
                }
            };
            match kept {
                Ok(more) => told.push(format!("{named}{more}.")),
                Err(why) => told.push(format!("{named}; that cannot be kept: {why}.")),
            }
        }
        Some(told.join(" "))
    }
}

fn how_to_teach(word: &str) -> String {
    format!("Tell me what it is: \"{word} means bottle\".")
}

/// Where a lesson comes from, in words.
fn source(lesson: &Lesson) -> String {
    match lesson.origin {
        Origin::Taught => "a person taught it".to_owned(),
        Origin::Learned => lesson.witnesses.join(" and "),
    }
}
