//! A plan that waits for a person's word, and the keys that give it.

use crate::{PanelLine, Tone};

/// Longest time between the two presses of a key, seconds.
const CONFIRM: f64 = 3.0;

/// What a person is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The verifier's id of it.
    pub id: String,
    /// What is planned, for a person.
    pub words: String,
    /// Why a person is asked.
    pub why: String,
    /// How many more plans wait.
    pub others: usize,
}

/// Takes the keys: an answer is one key twice, within three seconds, to the same question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirm {
    pressed: Option<(String, bool, f64)>,
    /// What came of the last answer.
    pub said: Option<PanelLine>,
}

impl Confirm {
    /// Takes the key for yes or no, at a time in seconds; whether that is the answer to `id` now.
    pub fn press(&mut self, id: Option<&str>, yes: bool, now: f64) -> bool {
        self.said = None;
        let Some(id) = id else {
            self.pressed = None;
            return false;
        };
        let before = self.pressed.take();
        let again = before.is_some_and(|(before, was, at)| {
            before == id && was == yes && (0.0..=CONFIRM).contains(&(now - at))
        });
        if !again {
            self.pressed = Some((id.to_owned(), yes, now));
        }
        again
    }

    /// Forgets a first press that was too long ago; whether that changed what is told.
    pub fn pass(&mut self, now: f64) -> bool {
        let is_over = self.pressed.as_ref().is_some_and(|(.., at)| now - at > CONFIRM);
        if is_over {
            self.pressed = None;
        }
        is_over
    }

    /// The question and what to press, for the panel.
    pub fn lines(&self, question: Option<&Question>) -> Vec<PanelLine> {
        let mut lines = Vec::new();
        if let Some(question) = question {
            lines.push(PanelLine::new(Tone::Bad, "A person's word is waited for"));
            lines.push(PanelLine::new(Tone::Plain, format!("{}?", question.words)));
            if !question.why.is_empty() {
                lines.push(PanelLine::new(Tone::Plain, &question.why));
            }
            let keys = match &self.pressed {
                Some((id, true, _)) if *id == question.id => "Y again: yes, it may move".to_owned(),
                Some((id, false, _)) if *id == question.id => "N again: no, it must not".to_owned(),
                _ => "Y twice: yes; N twice: no".to_owned(),
            };
            let others = match question.others {
                0 => String::new(),
                others => format!(" ({others} more wait)"),
            };
            lines.push(PanelLine::new(Tone::Title, keys + &others));
        }
        lines.extend(self.said.clone());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_same_key_twice_to_the_same_question_and_not_too_late() {
        for (second, expected) in [
            ((Some("a"), true, 1.0), true),
            ((Some("a"), false, 1.0), false),
            ((Some("b"), true, 1.0), false),
            ((None, true, 1.0), false),
            ((Some("a"), true, 3.5), false),
            ((Some("a"), true, -1.0), false),
            ((Some("a"), true, f64::NAN), false),
        ] {
            let mut confirm = Confirm::default();
            assert!(!confirm.press(Some("a"), true, 0.0));
            let (id, yes, now) = second;
            assert_eq!(confirm.press(id, yes, now), expected, "{second:?}");
        }
    }

    #[test]
    fn after_an_answer_one_press_is_none() {
        let mut confirm = Confirm::default();
        assert!(!confirm.press(Some("a"), true, 0.0) && confirm.press(Some("a"), true, 0.5));
        assert!(!confirm.press(Some("a"), true, 0.6));
    }

    #[test]
    fn the_panel_says_what_the_next_press_means() {
        let question =
            Question { id: "a".into(), words: "grasp cup_0".into(), why: "first".into(), others: 0 };
        let last = |confirm: &Confirm| confirm.lines(Some(&question)).pop().map(|line| line.text);
        let mut confirm = Confirm::default();
        assert_eq!(last(&confirm).as_deref(), Some("Y twice: yes; N twice: no"));
        confirm.press(Some("a"), false, 0.0);
        assert_eq!(last(&confirm).as_deref(), Some("N again: no, it must not"));
        assert!(!confirm.pass(2.9) && confirm.pass(3.1));
        assert_eq!(last(&confirm).as_deref(), Some("Y twice: yes; N twice: no"));
        assert!(confirm.lines(None).is_empty());
    }
}
