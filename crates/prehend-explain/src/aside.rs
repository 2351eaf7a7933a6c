//! What was said beside the work: a question about what is there, "stop", a goal for which there was no time. None of them is the goal that
//! people ask about.

use super::Event;
use prehend_scene::Reason;
use std::collections::HashSet;

/// The notation of the goal that ends others.
const STOP: &str = "stop";

/// Takes out of a trace what was only said beside its goals, and says so; a trace that has nothing else stays as it is.
pub(super) fn without(events: Vec<Event>) -> (Vec<Event>, Option<String>) {
    let ids = |fits: &dyn Fn(&Event) -> bool| -> HashSet<String> {
        let of_goals = events.iter().filter(|event| event.kind == "goal" && !event.goal_id.is_empty());
        of_goals.filter(|event| fits(event)).map(|event| event.goal_id.clone()).collect()
    };
    let all = ids(&|event| event.name == "started");
    let asides = ids(&|event| match event.name.as_str() {
        "understood" => event.data["question"] == true || event.texts("readings") == [STOP],
        "finished" => event.text("reason") == Reason::Busy.code(),
        _ => false,
    });
    if all.is_subset(&asides) {
        return (events, None);
    }
    let said: Vec<String> = events
        .iter()
        .filter(|event| event.kind == "goal" && event.name == "started" && asides.contains(&event.goal_id))
        .map(|event| format!("\"{}\"", event.message))
        .collect();
    let note = (!said.is_empty()).then(|| {
        format!("Said beside the goals of this trace, and not explained here: {}.", said.join(", "))
    });
    let kept = events.into_iter().filter(|event| !asides.contains(&event.goal_id)).collect();
    (kept, note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn event(goal_id: &str, name: &str, message: &str, data: Value) -> Event {
        let (goal_id, name, message) = (goal_id.to_owned(), name.to_owned(), message.to_owned());
        Event { goal_id, name, message, kind: "goal".to_owned(), data, ..Event::default() }
    }

    fn goal(id: &str, text: &str, understood: Value, finished: Value) -> [Event; 3] {
        [
            event(id, "started", text, json!({})),
            event(id, "understood", text, understood),
            event(id, "finished", "", finished),
        ]
    }

    #[test]
    fn what_was_said_beside_a_goal_is_not_the_goal() {
        let work = goal("1", "pick it up", json!({"readings": ["pick(it)"]}), json!({"reason": "canceled"}));
        for aside in [
            goal("2", "stop", json!({"readings": ["stop"]}), json!({})),
            goal("2", "what is there?", json!({"question": true}), json!({})),
            goal("2", "put it down", json!({}), json!({"reason": "busy"})),
        ] {
            let both = [work.as_slice(), &aside].concat();
            let (kept, note) = without(both);
            assert!(kept.iter().all(|event| event.goal_id == "1") && kept.len() == 3, "{kept:?}");
            assert!(note.unwrap().contains(&aside[0].message));
            let (alone, note) = without(aside.to_vec());
            assert_eq!((alone.len(), note), (3, None), "the only goal is the goal");
        }
    }
}
