//! Every noun phrase of a goal, one after the other.

use super::goal::{Condition, Goal, NounPhrase, Question, Selector, Step};

/// Calls `with` for every noun phrase of a goal in the order in which they were said, those within a phrase after it.
pub(super) fn each_phrase(goal: &mut Goal, with: &mut dyn FnMut(&mut NounPhrase)) {
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

fn in_steps(steps: &mut [Step], with: &mut dyn FnMut(&mut NounPhrase)) {
    for step in steps {
        match step {
            Step::Place { objects, destination, .. } => {
                list(objects, with);
                list(&mut destination.targets, with);
            }
            Step::Unsupported { objects, destination, .. } => {
                list(objects, with);
                if let Some(destination) = destination {
                    list(&mut destination.targets, with);
                }
            }
            Step::Pick { objects, .. } | Step::Act { objects, .. } | Step::Swap { objects } => {
                list(objects, with);
            }
            Step::Go { target } => phrase(target, with),
            Step::Home | Step::Look | Step::Stop => {}
        }
    }
}

fn in_question(question: &mut Question, with: &mut dyn FnMut(&mut NounPhrase)) {
    match question {
        Question::Where(phrases) | Question::Compare { options: phrases, .. } => list(phrases, with),
        Question::Count(one)
        | Question::Exists(one)
        | Question::Which(one)
        | Question::Color(one)
        | Question::Measure(_, one) => phrase(one, with),
        Question::Is { subject: one, description: other } | Question::Distance(one, other) => {
            phrase(one, with);
            phrase(other, with);
        }
        Question::Holding | Question::Abilities => {}
    }
}

fn list(phrases: &mut [NounPhrase], with: &mut dyn FnMut(&mut NounPhrase)) {
    phrases.iter_mut().for_each(|one| phrase(one, with));
}

fn phrase(one: &mut NounPhrase, with: &mut dyn FnMut(&mut NounPhrase)) {
    with(one);
    list(&mut one.alternatives, with);
    for selector in &mut one.selectors {
        match selector {
            Selector::Closest(targets)
            | Selector::Farthest(targets)
            | Selector::MoreThan(_, targets)
            | Selector::LessThan(_, targets) => list(targets, with),
            _ => {}
        }
    }
    for modifier in &mut one.modifiers {
        list(&mut modifier.targets, with);
    }
    list(&mut one.except, with);
}
