//! "the big one": the noun it stands for.

use crate::language::goal::{Goal, Head, NounPhrase, Step};
use crate::language::visit::each_phrase;

/// Replaces "one" by the noun spoken of last, or by anything when there is none.
pub(in crate::language) fn resolve_ones(goal: &mut Goal) {
    let mut last: Option<String> = None;
    each_phrase(goal, &mut |np| match &np.head {
        Head::Noun(noun) if noun == "one" => np.head = last.clone().map_or(Head::Anything, Head::Noun),
        Head::Noun(noun) => last = Some(noun.clone()),
        Head::Anything | Head::It | Head::Them => {}
    });
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
