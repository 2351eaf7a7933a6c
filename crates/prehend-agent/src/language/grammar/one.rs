//! "the big one": the noun it stands for.

use crate::language::goal::{Goal, Head, NounPhrase, Step};
use crate::language::lexicon::Lexicon;
use crate::language::visit::{Role, each_role};

/// Replaces "one" by the noun it stands for, or by anything when there is none: in "put the red block in the bowl and the blue one on the
/// plate" that of what was moved before, in "put the pear in the other one" that of where something went, or of what can hold something;
/// else the noun spoken of last.
pub(in crate::language) fn resolve_ones(goal: &mut Goal, lexicon: &Lexicon) {
    let mut spoken: Vec<(Role, String)> = Vec::new();
    each_role(goal, &mut |role, np| {
        if np.head == Head::Noun("one".to_owned()) {
            let holds = |noun: &str| lexicon.list("containers").has_word(noun);
            let mut latest = spoken.iter().rev();
            let found = match role {
                Role::Object => latest.find(|(other, _)| *other == Role::Object),
                Role::Target(into) => latest
                    .find(|(other, _)| matches!(other, Role::Target(_)))
                    .or_else(|| spoken.iter().rev().find(|(_, noun)| into && holds(noun))),
                Role::Within => None,
            };
            let noun = found.or(spoken.last()).map(|(_, noun)| noun.clone());
            np.head = noun.map_or(Head::Anything, Head::Noun);
        }
        if let Head::Noun(noun) = &np.head {
            spoken.push((role, noun.clone()));
        }
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
