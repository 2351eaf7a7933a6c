//! Whether a person asked to hold what is in the gripper, from one goal to the next.

use prehend_agent::Outcome;
use prehend_scene::ObjectKey;

/// What a person asked to hold, and what was held when the goal at work began.
#[derive(Debug, Default)]
pub(super) struct AskedToHold {
    asked: Option<ObjectKey>,
    before: Option<ObjectKey>,
}

impl AskedToHold {
    /// A goal begins with this in the gripper; whether a person asked to hold it. Who was started anew does not know: then nobody did.
    pub(super) fn begin(&mut self, held: Option<&ObjectKey>) -> bool {
        self.before = held.cloned();
        held.is_some() && self.asked.as_ref() == held
    }

    /// A goal ends with this in the gripper. What came there in a goal that was done was asked for; what a goal that failed left there
    /// was not, and what was there before is what it was.
    pub(super) fn end(&mut self, outcome: Outcome, held: Option<&ObjectKey>) {
        if held.is_none() || held != self.before.as_ref() {
            self.asked = held.filter(|_| outcome == Outcome::Done).cloned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_goal_leaves_was_not_asked_for() {
        let (pear, apple) = (ObjectKey::from("pear_0"), ObjectKey::from("apple_0"));
        let mut hold = AskedToHold::default();
        assert!(!hold.begin(None));
        hold.end(Outcome::Done, Some(&pear));
        assert!(hold.begin(Some(&pear)), "picked up as asked");
        // A question, and a goal that cannot be done with a full hand.
        for outcome in [Outcome::Done, Outcome::Refused] {
            hold.end(outcome, Some(&pear));
            assert!(hold.begin(Some(&pear)), "{outcome:?}");
        }
        hold.end(Outcome::Done, None);
        assert!(!hold.begin(None));
        hold.end(Outcome::Failed, Some(&apple));
        assert!(!hold.begin(Some(&apple)), "left over");
        // It does not become asked for by a question.
        hold.end(Outcome::Done, Some(&apple));
        assert!(!hold.begin(Some(&apple)));
        assert!(!AskedToHold::default().begin(Some(&pear)), "started anew");
    }
}
