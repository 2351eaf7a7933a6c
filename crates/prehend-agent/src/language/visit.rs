//! Every noun phrase of a goal, one after the other.

use super::goal::{
    Condition, Destination, Goal, Head, NounPhrase, PlaceRelation, Quantity, Question, Selector, Step,
};
use prehend_scene::Relation;

/// What is called for a phrase.
type Visitor<'v> = &'v mut dyn FnMut(Role, &mut NounPhrase);

/// What a phrase is in its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// What something is done to, or asked about.
    Object,
    /// Where it shall go; `true` for into it.
    Target(bool),
    /// Within another phrase.
    Within,
}

/// The things that a goal is about, each with its own words; `None` when it is about all of a kind, or compares what may be anywhere,
/// so that all that there is must be known. What is closest to something is seen where that is.
pub(crate) fn things_of(goal: &Goal) -> Option<Vec<String>> {
    let mut things = Some(Vec::new());
    each_role(&mut goal.clone(), &mut |role, phrase| {
        if role == Role::Within || matches!(phrase.head, Head::It | Head::Them) {
            return;
        }
        let is_single = matches!(phrase.quantity, Quantity::One | Quantity::Any);
        let anchors: Option<Vec<String>> =
            phrase.selectors.iter().try_fold(Vec::new(), |mut anchors, selector| {
                let Selector::Closest(targets) = selector else { return None };
                anchors.extend(targets.iter().map(|target| target.text.clone()));
                Some(anchors)
            });
        match (&mut things, &phrase.head, anchors) {
            (Some(things), Head::Noun(_), Some(anchors)) if is_single => {
                things.push(phrase.text.clone());
                things.extend(anchors);
            }
            _ => things = None,
        }
    });
    things
}

/// Calls `with` for every noun phrase of a goal in the order in which they were said, those within a phrase after it.
pub(super) fn each_phrase(goal: &mut Goal, with: &mut dyn FnMut(&mut NounPhrase)) {
    each_role(goal, &mut |_, phrase| with(phrase));
}

/// As [`each_phrase`], with what the phrase is in its step.
pub(super) fn each_role(goal: &mut Goal, with: Visitor<'_>) {
    match goal {
        Goal::Steps(steps) => in_steps(steps, with),
        Goal::Question(question) => in_question(question, with),
        Goal::Lesson { .. } => {}
        Goal::Conditional { condition: Condition { question, .. }, then, otherwise } => {
            in_question(question, with);
            in_steps(then, with);
            in_steps(otherwise, with);
        }
    }
}

fn in_steps(steps: &mut [Step], with: Visitor<'_>) {
    for step in steps {
        match step {
            Step::Place { objects, destination, .. } => {
                list(objects, Role::Object, with);
                targets(destination, with);
            }
            Step::Unsupported { objects, destination, .. } => {
                list(objects, Role::Object, with);
                if let Some(destination) = destination {
                    targets(destination, with);
                }
            }
            Step::Pick { objects, .. } | Step::Act { objects, .. } | Step::Swap { objects } => {
                list(objects, Role::Object, with);
            }
            Step::Go { target } => phrase(target, Role::Target(false), with),
            Step::Home | Step::Look | Step::Stop => {}
        }
    }
}

fn in_question(question: &mut Question, with: Visitor<'_>) {
    match question {
        Question::Where(phrases) | Question::Compare { options: phrases, .. } => {
            list(phrases, Role::Object, with)
        }
        Question::Count(one)
        | Question::Exists(one)
        | Question::Which(one)
        | Question::Color(one)
        | Question::Measure(_, one) => phrase(one, Role::Object, with),
        Question::Is { subject: one, description: other } | Question::Distance(one, other) => {
            phrase(one, Role::Object, with);
            phrase(other, Role::Object, with);
        }
        Question::Holding | Question::Abilities => {}
    }
}

fn targets(destination: &mut Destination, with: Visitor<'_>) {
    let into = destination.relation == PlaceRelation::Known(Relation::In);
    list(&mut destination.targets, Role::Target(into), with);
}

fn list(phrases: &mut [NounPhrase], role: Role, with: Visitor<'_>) {
    phrases.iter_mut().for_each(|one| phrase(one, role, with));
}

fn phrase(one: &mut NounPhrase, role: Role, with: Visitor<'_>) {
    with(role, one);
    // One of the alternatives is what the phrase is.
    list(&mut one.alternatives, role, with);
    for selector in &mut one.selectors {
        match selector {
            Selector::Closest(targets)
            | Selector::Farthest(targets)
            | Selector::MoreThan(_, targets)
            | Selector::LessThan(_, targets) => list(targets, Role::Within, with),
            _ => {}
        }
    }
    for modifier in &mut one.modifiers {
        list(&mut modifier.targets, Role::Within, with);
    }
    list(&mut one.except, Role::Within, with);
}
