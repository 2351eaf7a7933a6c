//! How one of several things that words fit was chosen: "the largest", "the second from the left".

use super::seen::Things;
use super::{Came, Decision, Event, Kind, Number};

/// The rule of choices.
const RULE: &str = "a choice among those that the other words fit, by";
/// Most things that are told.
const MOST: usize = 60;

/// The decision of a comparison. Its numbers are those that were compared, by the key of the thing, the one that comes first first.
pub(super) fn decision(event: &Event, things: &Things) -> Decision {
    let by = event.text("by");
    let taken = event.texts("taken");
    let names: Vec<String> = taken.iter().map(|key| things.name(key)).collect();
    let what = match names.as_slice() {
        [] => format!("could not choose by {}", words(by)),
        some => format!("chose {} by {}", some.join(", "), words(by)),
    };
    let mut decision = Decision::new(event.t, Kind::Measure, what);
    let measured = event.data["measured"].as_array().into_iter().flatten().take(MOST);
    decision.numbers = measured
        .filter_map(|one| Some(Number::plain(one["key"].as_str()?, one["value"].as_f64()?)))
        .collect();
    decision.numbers.sort_by(|a, b| b.value.total_cmp(&a.value));
    if is_least(by) {
        decision.numbers.reverse();
    }
    decision.rule = Some(format!("{RULE} {}", words(by)));
    decision.came = if taken.is_empty() { Came::Badly } else { Came::Well };
    if taken.is_empty() {
        decision.because.push(event.message.clone());
    }
    decision.objects = taken;
    decision
}

/// What a comparison went by, as words; `None` when the decision is none.
pub(super) fn went_by(decision: &Decision) -> Option<&str> {
    decision.rule.as_ref()?.strip_prefix(RULE).map(str::trim)
}

/// Whether the least comes first.
fn is_least(by: &str) -> bool {
    ["least", "less", "closest", "side bottom"].iter().any(|word| by.starts_with(word))
        || by.ends_with("bottom")
}

/// The notation of a choice as words.
fn words(by: &str) -> String {
    let (first, rest) = by.split_once(' ').unwrap_or((by, ""));
    match first {
        "most" => format!("the greatest {rest}"),
        "least" => format!("the least {rest}"),
        "side" if ["top", "bottom"].contains(&rest) => format!("which is at the {rest}"),
        "side" => format!("which is farthest to the {rest}"),
        "nth" => match rest.split_once(' ') {
            Some((number, from)) => format!("which is number {number} from the {from}"),
            None => by.to_owned(),
        },
        "closest" => format!("the least distance to {rest}"),
        "farthest" => format!("the greatest distance to {rest}"),
        "more" => format!("more {rest}"),
        "less" => format!("less {rest}"),
        "sight" => "which is in sight, while the others are shut away".to_owned(),
        _ => by.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(by: &str, taken: &[&str]) -> Decision {
        let measured = json!([{"key": "mug_0", "value": 0.08}, {"key": "mug_1", "value": 0.12}, {"key": 7}]);
        let data = json!({"by": by, "measured": measured, "taken": taken});
        decision(&Event { message: "alike".into(), data, ..Event::default() }, &Things::default())
    }

    #[test]
    fn what_was_compared_is_told_in_its_order_with_its_numbers() {
        let largest = told("most size", &["mug_1"]);
        assert_eq!(largest.what, "chose mug_1 by the greatest size");
        assert_eq!(went_by(&largest), Some("the greatest size"));
        let order = |decision: &Decision| -> Vec<String> {
            decision.numbers.iter().map(|number| number.name.clone()).collect()
        };
        assert_eq!(order(&largest), ["mug_1", "mug_0"]);
        assert_eq!(order(&told("closest (the plate)", &["mug_0"])), ["mug_0", "mug_1"]);
        assert_eq!(told("nth 2 left", &["mug_0"]).what, "chose mug_0 by which is number 2 from the left");
        let seen = "chose mug_0 by which is in sight, while the others are shut away";
        assert_eq!(told("sight", &["mug_0"]).what, seen);
        let alike = told("side left", &[]);
        assert_eq!((alike.came, alike.because.as_slice()), (Came::Badly, ["alike".to_owned()].as_slice()));
    }
}
