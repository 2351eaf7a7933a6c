//! Which goal of a trace a question is about: the last one, unless it asks about things and nothing was chosen for that.

use super::question::Asked;
use super::{Event, Explanation, Kind, Words, story};

/// Most goals before the last one that are looked at.
const MOST: usize = 12;

/// The goal that a question is about, explained, and its sentence when it is not the last one. `is_at_work`: the last one has not ended yet.
pub(super) fn goal_of(
    mut events: Vec<Event>,
    asked: Option<&Asked>,
    words: &Words,
    is_at_work: bool,
) -> (Explanation, Option<String>) {
    let last = story::tell(&events, &words.names, is_at_work);
    let chose = |told: &Explanation| told.decisions.iter().any(|decision| decision.kind == Kind::Choice);
    if !asked.is_some_and(is_about_things) || chose(&last) {
        return (last, None);
    }
    for _ in 0..=MOST {
        let begins = |event: &Event| event.kind == "goal" && event.name == "started";
        let Some(start) = events.iter().rposition(begins) else { break };
        events.truncate(start);
        let earlier = story::tell(&events, &words.names, false);
        if let Some(goal) = earlier.goal.clone().filter(|_| chose(&earlier)) {
            return (earlier, Some(goal));
        }
    }
    (last, None)
}

fn is_about_things(asked: &Asked) -> bool {
    matches!(asked, Asked::Why(_) | Asked::WhyNot(_) | Asked::Instead { .. } | Asked::Sure(Some(_)))
}
