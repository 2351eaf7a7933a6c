//! "the big one": the noun it stands for.

use crate::language::goal::{Goal, Head, NounPhrase, Question, Selector, Step};

/// Replaces "one" by the noun spoken of last, or by anything when there is none.
pub(in crate::language) fn resolve_ones(goal: &mut Goal) {
    let mut last = None;
    match goal {
        Goal::Steps(steps) => {
            for step in steps {
                match step {
                    Step::Pick { objects, .. } => list(objects, &mut last),
                    Step::Place { objects, destination, .. } => {
                        list(objects, &mut last);
                        list(&mut destination.targets, &mut last);
                    }
                    Step::Unsupported { objects, destination, .. } => {
                        list(objects, &mut last);
                        if let Some(destination) = destination {
                            list(&mut destination.targets, &mut last);
                        }
                    }
                    Step::Act { objects, .. } => list(objects, &mut last),
                    Step::Go { target } => phrase(target, &mut last),
                    Step::Home | Step::Look | Step::Stop => {}
                }
            }
        }
        Goal::Question(question) => match question {
            Question::Where(phrases) | Question::Compare { options: phrases, .. } => list(phrases, &mut last),
            Question::Count(np)
            | Question::Exists(np)
            | Question::Which(np)
            | Question::Color(np)
            | Question::Measure(_, np) => {
                phrase(np, &mut last);
            }
            Question::Is { subject, description } => {
                phrase(subject, &mut last);
                phrase(description, &mut last);
            }
            Question::Distance(a, b) => {
                phrase(a, &mut last);
                phrase(b, &mut last);
            }
            Question::Holding | Question::Abilities => {}
        },
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
pub(super) fn replace_pronoun(step: &mut Step, np: &NounPhrase) {
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
        Step::Unsupported { objects, .. } | Step::Act { objects, .. } => put(objects),
        Step::Go { target } => {
            if matches!(target.head, Head::It | Head::Them) {
                *target = np.clone();
            }
        }
        Step::Home | Step::Look | Step::Stop => {}
    }
}
