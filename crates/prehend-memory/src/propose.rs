//! The Affordance Proposer without a model (Affordance RAG IV-A.1): what can be done with a thing here, by this robot, and how
//! well, from its measures and what is around it; and what the word of a model changes in that.
//!
//! The scores are estimates of how likely the action is to go well: products of margins, each from 0 (cannot be) to 1 (with ease).

use crate::nouns::Nouns;
use crate::record::{Action, Place, Seen};
use prehend_scene::ActionTable;

/// What the robot can reach and take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Widest thing between its fingers, metres.
    pub opening: f64,
    /// Lowest and highest place that its hand reaches, metres above the floor.
    pub heights: [f64; 2],
    /// How far beyond the edge of furniture it reaches, metres.
    pub reach: f64,
}

impl Default for Body {
    /// An xArm6 with its gripper on a low base.
    fn default() -> Self {
        Self { opening: 0.084, heights: [0.15, 1.2], reach: 0.75 }
    }
}

/// Longest side of what one takes in one hand, metres.
const HANDY: f64 = 0.45;
/// Least side of a top on which something can be put, metres.
const TOP: f64 = 0.06;
/// Room around a thing that fingers need, metres.
const FINGERS: f64 = 0.04;
/// Distance that counts as the edge of reach, as a margin in metres.
const MARGIN: f64 = 0.1;
/// Kinds of things that hold or carry others, whatever their size.
const HOLDERS: [&str; 2] = ["container", "dish"];
/// Least sides, metres, of what carries things by its size alone.
const CARRIER: [f64; 2] = [0.15, 0.3];
/// Actions of the table of actions, by the verb that asks for each.
const ON_PARTS: [(Action, &str); 3] =
    [(Action::Open, "open"), (Action::Close, "close"), (Action::Press, "press")];
/// Score of an action that a part makes possible, and of one that the name alone does.
const BY_PART: f64 = 0.8;
const BY_NAME: f64 = 0.5;

/// `f_k` when a model has its say: the geometric mean of the rule's score and the model's.
///
/// The rule knows the opening of the gripper, its reach and what is measured around the thing; the model knows what the thing is, and
/// sees what no box tells (that a mug is full, that a door has no handle). Each can say that it cannot be: 0 of either is 0. Between,
/// neither overrules the other, and two that agree are believed. A score that is none leaves the rule's.
pub fn combined(by_rule: f64, by_model: f64) -> f64 {
    if !(0.0..=1.0).contains(&by_model) {
        return by_rule;
    }
    (by_rule.clamp(0.0, 1.0) * by_model).sqrt()
}

/// Proposes for one robot.
#[derive(Clone, Debug)]
pub struct Proposer {
    body: Body,
    actions: ActionTable,
}

impl Proposer {
    /// For a robot with this body and these actions on parts.
    pub fn new(body: Body, actions: ActionTable) -> Self {
        Self { body, actions }
    }

    /// Fills in the actions of everything in a view, from what is in the view.
    pub fn propose(&self, seen: &mut [Seen], nouns: &Nouns) {
        let places: Vec<Place> = seen.iter().map(|seen| seen.place).collect();
        for (index, one) in seen.iter_mut().enumerate() {
            let others =
                places.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, place)| place);
            one.actions = self.actions(one, &others.copied().collect::<Vec<_>>(), nouns);
        }
    }

    fn actions(&self, seen: &Seen, others: &[Place], nouns: &Nouns) -> Vec<(Action, f64)> {
        let mut found = Vec::new();
        if seen.place.longest() <= HANDY {
            found.push((Action::Pick, pick(seen, others, &self.body)));
        }
        let (narrow, long) = sides(&seen.place);
        let holds = HOLDERS.iter().any(|kind| nouns.names(kind, &seen.name));
        if holds || (narrow >= CARRIER[0] && long >= CARRIER[1]) {
            found.push((Action::Place, place(seen, others, &self.body)));
        }
        for (action, verb) in ON_PARTS {
            let Some(rule) = self.actions.rule(verb, &seen.name) else { continue };
            let serves = |part: &String| {
                let kind = self.actions.part_kind(part);
                rule.ways.iter().any(|way| kind == Some(way.part.as_str()))
            };
            if seen.parts.iter().any(serves) {
                found.push((action, BY_PART));
            } else if !rule.on.is_empty() {
                found.push((action, BY_NAME));
            }
        }
        found
    }
}

/// The shorter and the longer horizontal side.
fn sides(place: &Place) -> (f64, f64) {
    (place.size[0].min(place.size[1]), place.size[0].max(place.size[1]))
}

/// A margin as a factor: 0 where there is none, 1 from `enough` on.
fn margin(left: f64, enough: f64) -> f64 {
    (left / enough).clamp(0.0, 1.0)
}

/// Taking it between two fingers: it must fit, be in reach, upright rather than deep in a pile.
fn pick(seen: &Seen, others: &[Place], body: &Body) -> f64 {
    let place = &seen.place;
    // The narrower horizontal side, or a rim: what is wide and hollow is taken by its wall.
    let narrow = place.size[0].min(place.size[1]);
    let fits = if narrow < body.opening { 0.5 + 0.5 * margin(body.opening - narrow, 0.02) } else { 0.3 };
    let high = margin(body.heights[1] - place.top(), MARGIN) * margin(place.top() - body.heights[0], MARGIN);
    let near = others.iter().filter(|other| other.longest() <= HANDY);
    let crowd = near.filter(|other| place.gap(other) < FINGERS).count();
    let free = 1.0 / (1.0 + 0.35 * crowd as f64);
    // What stands deep on something that can be come to from one side only is far from the edge.
    let depth = others
        .iter()
        .filter(|other| is_on(place, other))
        .map(|other| from_edge(place, other))
        .fold(0.0, f64::max);
    let reached = margin(body.reach + MARGIN - depth, MARGIN * 2.0);
    fits * high * free * reached
}

/// Putting something on it or in it: a top of some size in reach, with room left.
fn place(seen: &Seen, others: &[Place], body: &Body) -> f64 {
    let own = &seen.place;
    let area = (own.size[0] * own.size[1]).max(1e-6);
    if own.size[0].min(own.size[1]) < TOP {
        return 0.0;
    }
    let high = margin(body.heights[1] - own.top(), MARGIN) * margin(own.top() - body.heights[0], MARGIN);
    let taken: f64 = others
        .iter()
        .filter(|other| is_on(other, own))
        .map(|other| (other.size[0] + FINGERS) * (other.size[1] + FINGERS))
        .sum();
    let free = (1.0 - taken / area).clamp(0.0, 1.0);
    high * (0.2 + 0.8 * free)
}

/// Whether one thing stands on or in another.
pub fn is_on(above: &Place, below: &Place) -> bool {
    below.size[0] * below.size[1] > above.size[0] * above.size[1]
        && below.beside(above.center[0], above.center[1]) < 0.05
        && above.bottom() > below.bottom() - 0.02
        && above.center[2] > below.center[2]
        && above.bottom() < below.top() + 0.12
}

/// How far a place is from the nearest edge of what it stands on.
fn from_edge(above: &Place, below: &Place) -> f64 {
    let (dx, dy) = (above.center[0] - below.center[0], above.center[1] - below.center[1]);
    let (sin, cos) = below.yaw.sin_cos();
    let along = below.size[0] / 2.0 - (dx * cos + dy * sin).abs();
    let across = below.size[1] / 2.0 - (dy * cos - dx * sin).abs();
    along.min(across).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::tests::encoder;

    fn seen(name: &str, center: [f64; 3], size: [f64; 3]) -> Seen {
        Seen {
            name: name.to_owned(),
            score: 0.9,
            colors: vec![("red".to_owned(), 1.0)],
            place: Place { center, size, yaw: 0.0 },
            share: 0.02,
            parts: Vec::new(),
            actions: Vec::new(),
            key: None,
            description: String::new(),
        }
    }

    fn propose(view: &mut [Seen], words: &Nouns) {
        Proposer::new(Body::default(), ActionTable::built_in()).propose(view, words);
    }

    fn score(seen: &Seen, action: Action) -> Option<f64> {
        seen.actions.iter().find(|(known, _)| *known == action).map(|(_, score)| *score)
    }

    #[test]
    fn of_two_scores_each_can_say_no_and_neither_overrules() {
        for (by_rule, by_model, expected) in
            [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.9, 0.4, 0.6), (0.4, 0.9, 0.6), (0.7, 0.7, 0.7)]
        {
            assert!((combined(by_rule, by_model) - expected).abs() < 1e-9, "{by_rule} and {by_model}");
        }
        for none in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
            assert_eq!(combined(0.7, none).to_bits(), 0.7_f64.to_bits(), "{none}");
        }
    }

    #[test]
    fn a_mug_on_a_table_is_taken_and_the_table_takes_more_while_it_is_free() {
        let table = seen("table", [0.0, 0.0, 0.35], [1.2, 0.7, 0.7]);
        let mug = seen("mug", [0.4, 0.2, 0.75], [0.08, 0.08, 0.1]);
        let mut view = vec![table.clone(), mug.clone()];
        let words = Nouns::new(encoder().lexicon().clone());
        propose(&mut view, &words);
        let free = score(&view[0], Action::Place).expect("a table carries");
        assert!(free > 0.8 && score(&view[0], Action::Pick).is_none());
        assert!(score(&view[1], Action::Pick).expect("a mug is taken") > 0.4);
        let crowd = (0..10).map(|i| seen("box", [-0.5 + 0.1 * f64::from(i), 0.1, 0.8], [0.09, 0.3, 0.2]));
        let mut crowded: Vec<Seen> = [table, mug].into_iter().chain(crowd).collect();
        propose(&mut crowded, &words);
        assert!(score(&crowded[0], Action::Place).expect("a table") < free - 0.2);
    }

    #[test]
    fn what_is_out_of_reach_or_too_large_scores_little() {
        let words = Nouns::new(encoder().lexicon().clone());
        let mut view = vec![
            seen("mug", [0.0, 0.0, 1.75], [0.08, 0.08, 0.1]),
            seen("box", [1.0, 0.0, 0.8], [0.3, 0.3, 0.3]),
            seen("sofa", [3.0, 0.0, 0.4], [1.8, 0.8, 0.8]),
            seen("fridge", [5.0, 0.0, 0.9], [0.6, 0.6, 1.8]),
        ];
        propose(&mut view, &words);
        assert_eq!(score(&view[0], Action::Pick), Some(0.0));
        assert!(score(&view[1], Action::Pick).is_some_and(|score| score < 0.35));
        assert_eq!(score(&view[2], Action::Pick), None);
        assert_eq!(score(&view[3], Action::Place), Some(0.0), "its top is out of reach");
        assert!(score(&view[3], Action::Open).is_some());
        view[3].parts = vec!["bar handle".to_owned()];
        let by_name = score(&view[3], Action::Open);
        propose(&mut view, &words);
        assert!(score(&view[3], Action::Open) > by_name, "a handle was seen");
    }
}
