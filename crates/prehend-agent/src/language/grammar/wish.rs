//! Wishes and statements: "I want the apple in the bowl", "in the bowl, put the apple".

use super::building::Post;

use super::verb::{handed, put};
use super::{Alt, Alts, Clause, Parser};
use crate::language::goal::{NounPhrase, Step};
use crate::language::lexicon::{VerbForm, VerbMeaning};

impl Parser<'_> {
    /// "I want the apple in the bowl", "the mug goes on the tray", "make sure the egg is in the pan".
    pub(super) fn wish(&self, start: usize, out: &mut Alts<Clause>) {
        for wanted in self.pasts("wishing", start) {
            for objects in self.noun_list(wanted) {
                self.wished(&objects, out);
                if self.boundary(objects.next) {
                    out.push(Alt {
                        value: Clause::Step(handed("give", objects.value.clone())),
                        next: objects.next,
                        cost: objects.cost + 3,
                    });
                }
            }
        }
        for made in self.pasts("ensuring", start) {
            for objects in self.noun_list(made) {
                let be = self.past("ends_up", objects.next);
                match be {
                    Some(next) => self.wished(&Alt { next, ..objects }, out),
                    None if self.past_tense(objects.next).is_some() => self.wished(&objects, out),
                    None => {}
                }
            }
        }
        for objects in self.noun_list(start) {
            let Some(mut next) = self.past("shall_be", objects.next) else {
                continue;
            };
            if self.is(next, &["be"]) {
                next += 1;
            }
            self.wished(&Alt { next, cost: objects.cost + 1, value: objects.value }, out);
        }
    }

    /// Position after a participle of a verb that puts or picks, with its meaning.
    pub(super) fn past_tense(&self, position: usize) -> Option<(usize, VerbMeaning)> {
        self.lexicon
            .verbs
            .at(self.tokens, position)
            .find(|(_, verb)| verb.form == VerbForm::Past)
            .map(|(length, verb)| (position + length, verb.meaning))
    }

    /// "... [to be] [placed] DESTINATION", after the wished objects.
    pub(super) fn wished(&self, objects: &Alt<Vec<NounPhrase>>, out: &mut Alts<Clause>) {
        let mut next = self.past("to_be", objects.next).unwrap_or(objects.next);
        // "I want the drawer open", "the door should be closed"
        for (key, verb) in [("open_state", "open"), ("closed_state", "close")] {
            if self.is_in(key, next) && self.boundary(next + 1) && self.serves(verb, &objects.value) {
                let step = Step::Act { action: verb.to_owned(), objects: objects.value.clone(), part: None };
                out.push(Alt { value: Clause::Step(step), next: next + 1, cost: objects.cost });
            }
        }
        let participle = self.past_tense(next);
        if let Some((after, meaning)) = participle {
            let after = self.past_any(&["up"], after).unwrap_or(after);
            next = after;
            if matches!(meaning, VerbMeaning::Pick | VerbMeaning::Collect) && self.boundary(next) {
                let step = Step::Pick { objects: objects.value.clone(), part: None };
                out.push(Alt { value: Clause::Step(step), next, cost: objects.cost });
            }
        }
        for destination in self.destination(next) {
            let drop = participle.is_some_and(|(_, meaning)| meaning == VerbMeaning::Drop);
            out.push(Alt {
                value: put(objects.value.clone(), destination.value, None, drop),
                next: destination.next,
                cost: objects.cost + destination.cost,
            });
        }
    }

    /// "In the bowl, put the apple"; "in the cabinet pick up the block".
    pub(super) fn fronted(&self, start: usize, out: &mut Alts<Clause>) {
        for destination in self.destination(start) {
            for found in self.verbs(destination.next + usize::from(self.is_comma(destination.next))) {
                if !matches!(found.verb.meaning, VerbMeaning::Place | VerbMeaning::Drop) {
                    continue;
                }
                for objects in self.noun_list(found.next) {
                    out.push(Alt {
                        value: put(objects.value, destination.value.clone(), None, false),
                        next: objects.next,
                        cost: found.cost + destination.cost + objects.cost + 1,
                    });
                }
            }
        }
        for place in self.phrase(start, false) {
            let Post::Where(modifiers) = &place.value else { continue };
            for found in self.verbs(place.next + usize::from(self.is_comma(place.next))) {
                if !matches!(found.verb.meaning, VerbMeaning::Pick | VerbMeaning::Collect) {
                    continue;
                }
                let mut picked = Vec::new();
                self.pick(&found, &mut picked);
                for mut alt in picked {
                    let Clause::Step(Step::Pick { objects, .. } | Step::Place { objects, .. }) =
                        &mut alt.value
                    else {
                        continue;
                    };
                    objects.iter_mut().for_each(|np| np.modifiers.extend(modifiers.iter().cloned()));
                    out.push(Alt { cost: alt.cost + found.cost + place.cost + 1, ..alt });
                }
            }
        }
    }
}
