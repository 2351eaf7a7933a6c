//! The hands that a skill could have taken, as its plan tells them.

use super::seen::Things;
use super::{Came, Decision, Event, Kind};
use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion};
use serde::Serialize;
use serde_json::Value;

/// The rule by which one of the candidates is taken.
const RULE: &str =
    "the first of the candidates, best first, that the arm reaches without a collision (ASP IV-C)";
/// How far back from the point between its pads a hand is drawn, metres.
const PALM: f64 = 0.06;
/// Most hands that are kept of a plan.
const MOST: usize = 200;

/// A hand where it could hold something, or let go of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hand {
    /// The point between its pads, map frame, metres.
    pub position: [f64; 3],
    /// Its rotation as the quaternion x, y, z, w: the pads are along y, z points at the thing.
    pub rotation: [f64; 4],
    /// Distance between its pads, metres.
    pub opening: f64,
    /// Whether it was chosen.
    pub is_chosen: bool,
    /// Why it was passed over; `None` when the trace does not tell, or it was not tried.
    pub missed: Option<String>,
}

impl Hand {
    fn read(told: &Value, is_chosen: bool) -> Option<Self> {
        let numbers =
            |key: &str| -> Option<Vec<f64>> { told[key].as_array()?.iter().map(Value::as_f64).collect() };
        let position = <[f64; 3]>::try_from(numbers("position")?).ok()?;
        let rotation = <[f64; 4]>::try_from(numbers("rotation")?).ok()?;
        let opening = told["opening"].as_f64()?;
        let all = position.iter().chain(&rotation).chain([&opening]);
        let is_sane = all.clone().all(|value| value.is_finite() && value.abs() < 100.0);
        let is_turn = rotation.iter().map(|part| part * part).sum::<f64>() > 1e-6;
        let missed = told["missed"].as_str().map(str::to_owned);
        (is_sane && is_turn).then_some(Self { position, rotation, opening, is_chosen, missed })
    }

    /// The hand as lines in the map's frame: two fingers along z, the palm behind them, the pads `opening` apart along y.
    pub fn lines(&self) -> [[Point3<f64>; 2]; 4] {
        let [x, y, z, w] = self.rotation;
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let map_from_tool = Isometry3::from_parts(Translation3::from(Point3::from(self.position)), turn);
        let at = |y: f64, z: f64| map_from_tool * Point3::new(0.0, y, z);
        let half = self.opening / 2.0;
        [
            [at(-half, 0.0), at(-half, -PALM / 2.0)],
            [at(half, 0.0), at(half, -PALM / 2.0)],
            [at(-half, -PALM / 2.0), at(half, -PALM / 2.0)],
            [at(0.0, -PALM / 2.0), at(0.0, -PALM)],
        ]
    }
}

/// Which of the candidates was chosen, and why those before it were not.
pub(super) fn decision(event: &Event, things: &Things) -> Decision {
    let object = event.text("object");
    let (hands, count) = of_plan(event);
    let missed = missed(&hands);
    let passed_over: usize = missed.iter().map(|(_, count)| count).sum();
    let is_found = event.data["chosen"].is_object();
    let name = things.name(object);
    let what = match (is_found, passed_over) {
        (true, 0) => format!("took the best of {count} candidates for {name}"),
        (true, _) => format!("took one of {count} candidates for {name}; {passed_over} were passed over"),
        (false, _) => format!("none of {count} candidates for {name} can be taken"),
    };
    let mut decision = Decision::new(event.t, Kind::Candidates, what);
    decision.came = if is_found { Came::Well } else { Came::Badly };
    decision.objects = vec![object.to_owned()];
    decision.rule = Some(RULE.to_owned());
    decision.because = missed.into_iter().map(|(why, count)| format!("{count} x {why}")).collect();
    decision.hands = hands;
    decision
}

/// The hands of a plan, the chosen one last, and how many candidates there were.
fn of_plan(event: &Event) -> (Vec<Hand>, usize) {
    let candidates = event.data["candidates"].as_array();
    let count = candidates.map_or(0, Vec::len);
    let chosen = Hand::read(&event.data["chosen"], true);
    let is_chosen = |hand: &Hand| {
        chosen.as_ref().is_some_and(|chosen| {
            (hand.position, hand.rotation, hand.opening) == (chosen.position, chosen.rotation, chosen.opening)
        })
    };
    let others = candidates.into_iter().flatten().filter_map(|told| Hand::read(told, false));
    let hands: Vec<Hand> = others.filter(|hand| !is_chosen(hand)).take(MOST).collect();
    (hands.into_iter().chain(chosen.clone()).collect(), count)
}

/// Why hands were passed over, counted, the commonest first.
fn missed(hands: &[Hand]) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for why in hands.iter().filter_map(|hand| hand.missed.as_ref()) {
        match counts.iter_mut().find(|(known, _)| known == why) {
            Some((_, count)) => *count += 1,
            None => counts.push((why.clone(), 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(x: f64) -> Value {
        json!({"position": [x, 0.0, 0.1], "rotation": [0.0, 0.0, 0.0, 1.0], "opening": 0.06})
    }

    #[test]
    fn a_hand_is_as_wide_as_its_pads_are_apart_and_garbage_is_none() {
        let mut missed_one = told(0.4);
        missed_one["missed"] = json!("outside the workspace");
        let wrong = [
            json!({"position": [0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "opening": 0.1}),
            json!({"position": [1e300, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "opening": 0.1}),
            json!({"position": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 0.0], "opening": 0.1}),
            json!("no hand"),
        ];
        let candidates: Vec<Value> = [told(0.3), missed_one].into_iter().chain(wrong).collect();
        let event =
            Event { data: json!({"candidates": candidates, "chosen": told(0.3)}), ..Event::default() };
        let (hands, count) = of_plan(&event);
        assert_eq!((hands.len(), count), (2, 6), "the chosen one is there once: {hands:?}");
        assert!(hands[1].is_chosen && !hands[0].is_chosen);
        assert_eq!(missed(&hands), [("outside the workspace".to_owned(), 1)]);
        let [left, right, ..] = hands[1].lines();
        assert!(((left[0] - right[0]).norm() - 0.06).abs() < 1e-9);
        assert!((left[0].x - 0.3).abs() < 1e-9);
    }
}
