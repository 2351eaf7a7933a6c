//! Which things words were taken for, and which were not.

use super::reason::contrasts;
use super::seen::{Seen, Things, meant};
use super::{Came, Decision, Event, Kind, Number, Rejected};
use prehend_perception::lexicon::Lexicon;

/// The rule of retrieval.
const RULE: &str = "retrieval by words: the best by similarity, then each is confirmed (ASP IV-C)";

/// The words that would have meant a thing: those that were said, with what it is in the place of what it is not.
fn would_be(query: &str, reason: &str) -> Option<String> {
    let contrasts = contrasts(reason);
    if contrasts.is_empty() || contrasts.iter().any(|(is, asked)| is == asked) {
        return None;
    }
    let mut words: Vec<String> = query.split_whitespace().map(str::to_owned).collect();
    for (is, asked) in contrasts {
        *words.iter_mut().find(|word| **word == asked)? = is;
    }
    Some(words.join(" "))
}

/// The decision of a retrieval.
pub(super) fn decision(event: &Event, things: &Things) -> Decision {
    let query = event.text("query").trim().to_owned();
    let keys = event.texts("keys");
    let names: Vec<String> = keys.iter().map(|key| things.name(key)).collect();
    let what = match names.as_slice() {
        [] => format!("nothing seen is \"{query}\""),
        [one] => format!("took \"{query}\" for {one}"),
        several => format!("\"{query}\" can mean {}", several.join(", ")),
    };
    let mut decision = Decision::new(event.t, Kind::Choice, what);
    decision.came = if keys.is_empty() { Came::Badly } else { Came::Well };
    decision.rule = Some(RULE.to_owned());
    let scores = event.data["scores"].as_array().into_iter().flatten();
    decision.numbers = keys
        .iter()
        .zip(scores.filter_map(serde_json::Value::as_f64))
        .map(|(key, score)| Number::plain(format!("similarity of {key}"), score))
        .collect();
    decision.rejected = event
        .texts("rejected")
        .into_iter()
        .zip(event.texts("reasons"))
        .map(|(key, reason)| Rejected { would_be: would_be(&query, &reason), key, reason })
        .collect();
    if keys.is_empty() && decision.rejected.is_empty() {
        decision.because.push(event.message.clone());
    }
    decision.objects = keys;
    decision
}

/// Keeps of the words that would have meant other things those that do, by the robot's own retrieval over what it has seen, and says
/// so.
pub(super) fn confirm(decision: &mut Decision, things: &Things, seen: &[Seen], words: &Lexicon) {
    const MOST: usize = 3;
    for one in &mut decision.rejected {
        one.would_be = one.would_be.take().filter(|said| meant(seen, said, words) == [one.key.as_str()]);
    }
    let told = decision.rejected.iter().filter_map(|one| {
        let said = one.would_be.as_ref()?;
        Some(format!("\"{said}\" would have meant {}", things.name(&one.key)))
    });
    decision.otherwise = told.take(MOST).collect();
}

/// How to say which one is meant, where words fit several things.
pub(super) fn telling_apart(keys: &[String], things: &Things) -> Vec<String> {
    let names: Vec<Option<String>> =
        keys.iter().map(|key| things.get(key).map(|thing| thing.name())).collect();
    let is_unique = |name: &str| names.iter().flatten().filter(|other| *other == name).count() == 1;
    let ways: Vec<String> = keys
        .iter()
        .zip(&names)
        .filter_map(|(key, name)| {
            let name = name.as_ref().filter(|name| is_unique(name))?;
            Some(format!("\"the {name}\" would have meant {key}"))
        })
        .collect();
    if ways.is_empty() {
        vec!["words that fit only one of them, such as \"the left one\"".to_owned()]
    } else {
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_would_have_meant_it_have_what_it_is() {
        for (query, reason, expected) in [
            ("red mug", "it is blue, not red (similarity 0.50)", Some("blue mug")),
            (
                "red mug",
                "it is bottle, not mug; it is green, not red (similarity 0.20)",
                Some("green bottle"),
            ),
            ("white bowl", "it is bottle, not bowl (similarity 0.37)", Some("white bottle")),
            ("mug", "it is smaller than mug_0 (similarity 1.00)", None),
            ("jug", "it is jug, not jug (similarity 0.23)", None),
            ("cup", "it is blue, not red", None),
            ("red mug", "", None),
        ] {
            assert_eq!(would_be(query, reason).as_deref(), expected, "{reason}");
        }
    }
}
