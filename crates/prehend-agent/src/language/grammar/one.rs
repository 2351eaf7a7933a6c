//! "the big one": the noun it stands for.

use crate::language::goal::{Goal, Head, NounPhrase, Question, Selector, Step};

/// Replaces "one" by the noun spoken of last, or by anything when there is none.
pub(in crate::language) fn resolve_ones(goal: &mut Goal) {
    let mut last = None;
    match goal {
        Goal::Steps(steps) => in_steps(steps, &mut last),
        Goal::Question(question) => in_question(question, &mut last),
        Goal::Lesson { .. } => {}
        Goal::Conditional { condition, then, otherwise } => {
            in_question(&mut condition.question, &mut last);
            in_steps(then, &mut last);
            in_steps(otherwise, &mut last);
        }
    }
}

fn in_steps(steps: &mut [Step], last: &mut Option<String>) {
    for step in steps {
        match step {
            Step::Pick { objects, .. } => list(objects, last),
            Step::Place { objects, destination, .. } => {
                list(objects, last);
                list(&mut destination.targets, last);
            }
            Step::Unsupported { objects, destination, .. } => {
                list(objects, last);
                if let Some(destination) = destination {
                    list(&mut destination.targets, last);
                }
            }
            Step::Act { objects, .. } | Step::Swap { objects } => list(objects, last),
            Step::Go { target } => phrase(target, last),
            Step::Home | Step::Look | Step::Stop => {}
        }
    }
}

fn in_question(question: &mut Question, last: &mut Option<String>) {
    match question {
        Question::Where(phrases) | Question::Compare { options: phrases, .. } => list(phrases, last),
        Question::Count(np)
        | Question::Exists(np)
        | Question::Which(np)
        | Question::Color(np)
        | Question::Measure(_, np) => phrase(np, last),
        Question::Is { subject, description } => {
            phrase(subject, last);
            phrase(description, last);
        }
        Question::Distance(a, b) => {
            phrase(a, last);
            phrase(b, last);
        }
        Question::Holding | Question::Abilities => {}
    }
}

fn list(phrases: &mut [NounPhrase], last: &mut Option<String>) {
    for np in phrases {
        phrase(np, last);
    }
}

fn phrase(np: &mut NounPhrase, last: &mut Option<String>) {
    match &np.head {
        Head::Noun(noun) if noun == "one" => {
            np.head = last.clone().map_or(Head::Anything, Head::Noun);
        }
        Head::Noun(noun) => *last = Some(noun.clone()),
        Head::Anything | Head::It | Head::Them => {}
    }
    for selector in &mut np.selectors {
        match selector {
            Selector::Closest(targets)
            | Selector::Farthest(targets)
            | Selector::MoreThan(_, targets)
            | Selector::LessThan(_, targets) => list(targets, last),
            _ => {}
        }
    }
    for modifier in &mut np.modifiers {
        list(&mut modifier.targets, last);
    }
    list(&mut np.except, last);
}

/// Puts a noun phrase where a step says "it".
pub(in crate::language) fn replace_pronoun(step: &mut Step, np: &NounPhrase) {
    let put = |phrases: &mut Vec<NounPhrase>| {
        for phrase in phrases {
            if matches!(phrase.head, Head::It | Head::Them) {
                *phrase = np.clone();
            }
        }
    };
    match step {
        Step::Pick { objects, .. } => put(objects),
        Step::Place { objects, destination, .. } => {
            put(objects);
            put(&mut destination.targets);
        }
        Step::Unsupported { objects, .. } | Step::Act { objects, .. } | Step::Swap { objects } => {
            put(objects)
        }
        Step::Go { target } => {
            if matches!(target.head, Head::It | Head::Them) {
                *target = np.clone();
            }
        }
        Step::Home | Step::Look | Step::Stop => {}
    }
}
