//! The last goals of a robot at work: what it told of them, kept within bounds, and questions answered from it.

use super::question;
use super::{Answer, Event, Words, answer, aside, last};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// What a robot says before it was given a goal.
const NOTHING: &str = "Nothing was asked of me yet.";
/// What an event weighs besides its texts, bytes.
const OVERHEAD: usize = 200;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Goals.
    pub goals: usize,
    /// Events.
    pub events: usize,
    /// Bytes, about.
    pub bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { goals: 12, events: 20_000, bytes: 16 << 20 }
    }
}

/// An event as it is told, with its data unread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// The event; its `data` is null.
    pub event: Event,
    /// Its data: JSON, when nothing went wrong.
    pub data: String,
}

impl Heard {
    fn weight(&self) -> usize {
        let Event { goal_id, node, kind, name, status, message, .. } = &self.event;
        let texts = [goal_id, node, kind, name, status, message, &self.data];
        OVERHEAD + texts.into_iter().map(String::len).sum::<usize>()
    }

    fn is(&self, kind: &str, name: &str) -> bool {
        self.event.kind == kind && self.event.name == name
    }

    fn read(&self) -> Event {
        Event { data: serde_json::from_str(&self.data).unwrap_or(Value::Null), ..self.event.clone() }
    }
}

/// The events of the last goals.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    bounds: Bounds,
    heard: VecDeque<Heard>,
    weight: usize,
    /// The newest look of those that are forgotten, of each map: what was seen stays seen.
    looks: BTreeMap<String, Heard>,
    /// Whether goals were told that are forgotten.
    has_forgotten: bool,
    /// Whether data of an event was too large to be kept.
    has_cut: bool,
}

impl Recent {
    /// Nothing yet.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, ..Self::default() }
    }

    /// Takes in the next event, and forgets the oldest ones where there are too many.
    pub fn take(&mut self, mut heard: Heard) {
        if heard.data.len() > self.bounds.bytes / 4 {
            heard.data.clear();
            self.has_cut = true;
        }
        heard.event.message = shortened(heard.event.message);
        self.weight += heard.weight();
        self.heard.push_back(heard);
        while self.heard.len() > self.bounds.events || self.weight > self.bounds.bytes || self.has_too_many()
        {
            self.forget();
        }
    }

    /// Whether there are more goals than are to be kept; the oldest one begins the row then, or comes after what is of none.
    fn has_too_many(&self) -> bool {
        let is_newest = self.heard.back().is_some_and(|newest| newest.is("goal", "started"));
        is_newest && self.goals() > self.bounds.goals
    }

    fn goals(&self) -> usize {
        self.heard.iter().filter(|heard| heard.is("goal", "started")).count()
    }

    fn forget(&mut self) {
        let Some(oldest) = self.heard.pop_front() else { return };
        self.weight = self.weight.saturating_sub(oldest.weight());
        self.has_forgotten |= oldest.is("goal", "started");
        if oldest.is("perception", "update") {
            self.looks.insert(oldest.read().text("scope").to_owned(), oldest);
        }
    }

    /// Whether an event of this name was told of a goal.
    pub fn has(&self, goal_id: &str, name: &str) -> bool {
        self.heard.iter().rev().any(|heard| heard.is("goal", name) && heard.event.goal_id == goal_id)
    }

    /// What was told, in the order of its times.
    fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.looks.values().chain(&self.heard).map(Heard::read).collect();
        events.retain(|event| event.t.is_finite());
        events.sort_by(|a, b| a.t.total_cmp(&b.t));
        aside::without(events).0
    }

    /// Answers a question about the last goal, as [`answer`] does. `is_at_work`: it has not ended yet.
    pub fn answer(&self, question: &str, words: &Words, is_at_work: bool) -> Answer {
        let asked = question::read(question, words);
        if self.goals() == 0 && !self.has_forgotten {
            let said = vec![NOTHING.to_owned()];
            let question = question.to_owned();
            return Answer { question, asked, said, objects: Vec::new(), decisions: Vec::new() };
        }
        let (explained, earlier) = last::goal_of(self.events(), asked.as_ref(), words, is_at_work);
        let mut answer = answer(&explained, question, words);
        answer.of_earlier(earlier);
        if self.has_cut {
            let note = "The data of some events was too large to be kept: what it told is missing here.";
            answer.said.push(note.to_owned());
        }
        answer
    }
}

/// A message of a bearable length.
fn shortened(mut message: String) -> String {
    const MOST: usize = 4096;
    if message.len() > MOST {
        let end = (0..=MOST).rev().find(|at| message.is_char_boundary(*at)).unwrap_or_default();
        message.truncate(end);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ask, explain};
    use serde_json::json;

    fn run(name: &str) -> String {
        let path = format!("{}/tests/runs/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    }

    fn heard(line: &str) -> Heard {
        let event: Event = serde_json::from_str(line).unwrap();
        let data = event.data.to_string();
        Heard { event: Event { data: Value::Null, ..event }, data }
    }

    fn after(runs: &[&str], bounds: Bounds) -> Recent {
        let mut recent = Recent::new(bounds);
        for (run_number, name) in runs.iter().enumerate() {
            for line in run(name).lines() {
                let mut line = heard(line);
                // Each run begins its clock anew.
                line.event.t += 1000.0 * run_number as f64;
                recent.take(line);
            }
        }
        recent
    }

    #[test]
    fn the_answer_is_that_of_the_folder() {
        let words = Words::built_in().unwrap();
        for name in ["pushed", "refused", "ambiguous", "biggest", "drawer", "unsafe", "unknown_word"] {
            let recent = after(&[name], Bounds::default());
            let explained = explain(&run(name), &Value::Null, &words);
            for question in ["why did you not take the blue one?", "why did you stop?", "what did you see?"] {
                let told = recent.answer(question, &words, false);
                assert_eq!(told, answer(&explained, question, &words), "{name}: {question}");
            }
        }
    }

    #[test]
    fn a_question_about_things_is_about_the_last_goal_that_chose_some() {
        let words = Words::built_in().unwrap();
        let recent = after(&["pushed", "unsafe"], Bounds::default());
        let said = recent.answer("why did you not take the blue one?", &words, false).said;
        assert!(said[0].contains("put the red mug in the bowl"), "{said:?}");
        assert!(said.join(" ").contains("it is blue, not red"), "{said:?}");
        let said = recent.answer("why did you refuse?", &words, false).said.join(" ");
        assert!(said.contains("hitting"), "{said}");
        let (pushed, later) = (run("pushed"), run("unsafe").replace("\"t\":", "\"t\":1000"));
        let of_folder =
            ask(&format!("{pushed}\n{later}"), &Value::Null, "why did you not take the blue one?", &words);
        assert!(of_folder.1.said[0].contains("put the red mug in the bowl"), "{:?}", of_folder.1.said);
        assert_eq!(of_folder.0.goal.as_deref(), Some("put the red mug in the bowl"));
    }

    #[test]
    fn nothing_was_asked_before_the_first_goal() {
        let words = Words::built_in().unwrap();
        let mut recent = Recent::default();
        let said = |recent: &Recent| recent.answer("why did you stop?", &words, false).said;
        assert_eq!(said(&recent), [NOTHING]);
        // Looks at the start are no goal.
        recent.take(heard(&json!({"t": 1.0, "kind": "perception", "name": "update"}).to_string()));
        assert_eq!(said(&recent), [NOTHING]);
        recent
            .take(heard(&json!({"t": 2.0, "kind": "goal", "name": "started", "message": "go"}).to_string()));
        assert!(said(&recent)[0].contains("not recorded"), "{:?}", said(&recent));
        assert!(recent.answer("why did you stop?", &words, true).said[0].contains("at work"));
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_last_goal_stays_whole() {
        let words = Words::built_in().unwrap();
        let bounds = Bounds { goals: 2, events: 300, bytes: 200_000 };
        let mut recent = after(&["pushed", "ambiguous", "refused"], bounds);
        assert!(recent.goals() <= 2 && recent.has_forgotten);
        let alone = explain(&run("refused"), &Value::Null, &words);
        let question = "why did you not take the blue mug?";
        assert_eq!(recent.answer(question, &words, false).said, answer(&alone, question, &words).said);
        for number in 0..20_000 {
            let data = if number % 1000 == 0 { "x".repeat(100_000) } else { "{\"half\": ".to_owned() };
            let event = Event { t: f64::from(number), kind: "tool".to_owned(), ..Event::default() };
            recent.take(Heard { event, data });
            assert!(recent.heard.len() <= bounds.events && recent.weight <= bounds.bytes, "{number}");
        }
        let said = recent.answer("why did you not take the blue one?", &words, false).said;
        assert!(!said.is_empty() && said[0] != NOTHING, "goals were told, and are forgotten: {said:?}");
        assert!(recent.has_cut);
        let garbage = Event { t: f64::NAN, kind: "goal".into(), name: "started".into(), ..Event::default() };
        recent.take(Heard { event: garbage, data: "\u{0}".into() });
        recent.answer("what did you see?", &words, false);
    }

    #[test]
    fn what_was_seen_before_the_goals_that_are_kept_stays_seen() {
        let words = Words::built_in().unwrap();
        let recent = after(&["pushed", "unsafe"], Bounds { goals: 1, ..Bounds::default() });
        assert_eq!(recent.goals(), 1);
        let seen = recent.answer("what did you see?", &words, false).said.join(" ");
        assert!(seen.contains("bowl_0"), "{seen}");
    }
}
