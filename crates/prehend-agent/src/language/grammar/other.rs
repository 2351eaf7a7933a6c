//! Verbs of emptying, clearing and filling, of asking, and those that no skill does.

use super::verb::{Found, INCOMPLETE, handed, put, table};
use super::{Alt, Alts, Clause, Parser};
use crate::language::goal::{
    Destination, Head, Modifier, NounPhrase, PlaceRelation, Question, Spatial, Step,
};
use crate::language::lexicon::VerbMeaning;
use prehend_scene::Relation;

/// Cost of words of an unsupported command that were not looked at.
const SWALLOWED: u32 = 2;

impl Parser<'_> {
    pub(super) fn empty(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for source in self.noun_phrase(found.next) {
            let mut objects = Self::all_things();
            objects.text = format!("everything in {}", source.value.text);
            objects.modifiers.push(Modifier {
                relation: Spatial::In,
                targets: vec![source.value],
                negated: false,
            });
            out.push(Alt {
                value: put(vec![objects.clone()], table("on the table"), None, false),
                next: source.next,
                cost: source.cost,
            });
            for destination in self.destination(source.next) {
                out.push(Alt {
                    value: put(vec![objects.clone()], destination.value, None, false),
                    next: destination.next,
                    cost: source.cost + destination.cost,
                });
            }
        }
    }

    /// "get rid of the can": without a destination it is asked for, since somewhere else on the table is not away.
    pub(super) fn discard(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for objects in self.noun_list(found.next) {
            let question = "Where shall it go? Say for example \"put it in the basket\".";
            // "the can in the bin" is rather a can that goes there than one that is there.
            let cost = objects.cost + 2;
            out.push(Alt { value: Clause::Problem(question.to_owned()), next: objects.next, cost });
            self.put_at(&objects.value, objects.next, objects.cost, false, out);
        }
    }

    /// "Sort the red blocks into the bowl", "sort the blocks by colour: the red ones in the bowl, ..."; where nothing is said of where, it is
    /// asked, and done when it is answered.
    pub(super) fn sort(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for start in self.after_particle(found, found.next) {
            let objects = self.noun_list(start);
            // "By colour" is no place.
            for list in objects.iter().filter(|list| !self.is(list.next, &["by"])) {
                self.put_at(&list.value, list.next, list.cost, false, out);
            }
            let nouns = objects.iter().map(|list| (list.next, list.value.as_slice()));
            for (end, sorted) in nouns.chain([(start, [].as_slice())]) {
                let by = self.past_any(&["by", "according to", "into groups by"], end);
                let by = by.and_then(|next| (!self.word(next).is_empty()).then_some(next + 1));
                let Some(next) = by.or_else(|| self.boundary(end).then_some(end)) else { continue };
                let question = "Which of them shall go where? Say for example \"the red ones on the left side, the blue ones in the bowl\".";
                out.push(Alt { value: Clause::Problem(question.to_owned()), next, cost: INCOMPLETE });
                if self.tokens.get(next).is_none_or(|token| !token.word().is_empty()) {
                    continue;
                }
                // What is sorted is named in few words; more of them belong to what goes where.
                let words = sorted.iter().map(|np| 1 + np.modifiers.len()).sum::<usize>() as u32;
                for mut list in self.noun_list(next + 1) {
                    for np in list.value.iter_mut().filter(|np| np.head == Head::Noun("one".to_owned())) {
                        np.head = sorted.last().map(|np| np.head.clone()).unwrap_or_default();
                    }
                    self.put_at(&list.value, list.next, list.cost + words, false, out);
                }
            }
        }
    }

    pub(super) fn clear(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for start in self.after_particle(found, found.next) {
            let table_end = self.table(start);
            if let Some(next) =
                table_end.or_else(|| (start > found.next && self.boundary(start)).then_some(start))
            {
                let question = "Where shall everything go? Say for example \"put everything in the basket\".";
                out.push(Alt { value: Clause::Problem(question.to_owned()), next, cost: 0 });
                let mut things = Self::all_things();
                things.modifiers.push(Modifier {
                    relation: Spatial::OnTable,
                    targets: Vec::new(),
                    negated: false,
                });
                for destination in self.destination(next) {
                    out.push(Alt {
                        value: put(vec![things.clone()], destination.value, None, false),
                        next: destination.next,
                        cost: destination.cost,
                    });
                }
            }
            for objects in self.noun_list(start) {
                for destination in self.destination(objects.next) {
                    out.push(Alt {
                        value: put(objects.value.clone(), destination.value, None, false),
                        next: destination.next,
                        cost: objects.cost + destination.cost + 1,
                    });
                }
            }
            if table_end.is_none() {
                self.unsupported(found, out);
            }
        }
    }

    pub(super) fn fill(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for container in self.noun_phrase(found.next) {
            if !self.is(container.next, &["with"]) {
                continue;
            }
            for objects in self.noun_list(container.next + 1) {
                let inside = PlaceRelation::Known(Relation::In);
                let words = format!("in {}", container.value.text);
                let destination = Destination::new(inside, vec![container.value.clone()], words);
                out.push(Alt {
                    value: put(objects.value, destination, None, false),
                    next: objects.next,
                    cost: container.cost + objects.cost,
                });
            }
        }
        self.unsupported(found, out);
    }

    /// "swap the apple and the banana".
    pub(super) fn swap(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let steps = self.swapped(found.next);
        if steps.is_empty() {
            let question =
                "Which two shall change places? Say for example \"swap the apple and the banana\".";
            let next = self.swallow(found.next);
            out.push(Alt { value: Clause::Problem(question.to_owned()), next, cost: SWALLOWED });
        }
        out.extend(steps.into_iter().map(|step| Alt {
            value: Clause::Step(step.value),
            next: step.next,
            cost: step.cost,
        }));
    }

    pub(super) fn give(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let recipient = self.past("to_receiver", found.next).unwrap_or(found.next);
        for start in [recipient, found.next] {
            for start in self.after_particle(found, start) {
                for objects in self.noun_list(start) {
                    let step = handed(&found.verb.lemma, objects.value);
                    let end = self.swallow(objects.next);
                    let cost = objects.cost + if end > objects.next { SWALLOWED } else { 0 };
                    out.push(Alt {
                        value: Clause::Step(step.clone()),
                        next: objects.next,
                        cost: objects.cost,
                    });
                    if end > objects.next {
                        out.push(Alt { value: Clause::Step(step), next: end, cost });
                    }
                }
            }
        }
    }

    pub(super) fn ask(
        &self,
        found: &Found<'_>,
        question: impl Fn(Vec<NounPhrase>) -> Question,
        out: &mut Alts<Clause>,
    ) {
        let start = self.past("ask_noise", found.next).unwrap_or(found.next);
        for start in [start, found.next] {
            for objects in self.noun_list(start) {
                out.push(Alt {
                    value: Clause::Question(question(objects.value)),
                    next: objects.next,
                    cost: objects.cost,
                });
            }
        }
    }

    pub(super) fn unsupported(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let verb = &found.verb.lemma;
        let kinds: Vec<&str> = self
            .lexicon
            .actions
            .of_verb(verb)
            .flat_map(|rule| rule.on.iter().map(String::as_str))
            .take(4)
            .collect();
        let of_verb;
        let alternative = match found.verb.meaning {
            VerbMeaning::Push if !kinds.is_empty() => {
                of_verb = format!(
                    "I can pick it up and put it where you say; I can {verb} such things as a {}",
                    kinds.join(", a ")
                );
                of_verb.as_str()
            }
            _ if !kinds.is_empty() => {
                of_verb = format!("I can {verb} such things as a {}", kinds.join(", a "));
                of_verb.as_str()
            }
            VerbMeaning::Push => "I can pick it up and put it where you say",
            _ => {
                "I can pick things up, put them in, on or next to other things, drop them, and answer where things are and how many there are"
            }
        };
        let before = out.len();
        // Who says where a thing shall be pushed to wants it there; lifting it there disturbs less on the way.
        let is_move = |destination: &Destination| {
            found.verb.meaning == VerbMeaning::Push
                && match destination.relation {
                    PlaceRelation::Known(_) => !destination.targets.is_empty(),
                    PlaceRelation::To => !destination.targets.iter().any(|np| self.means_robot(np)),
                    PlaceRelation::Shift(..) | PlaceRelation::Corner(..) | PlaceRelation::TableRegion(_) => {
                        true
                    }
                    _ => false,
                }
        };
        let step = |objects: Vec<NounPhrase>, destination: Option<Destination>| {
            if let Some(destination) = destination.clone().filter(is_move) {
                return Clause::Step(Step::Place { objects, destination, part: None, drop: false });
            }
            Clause::Step(Step::Unsupported {
                verb: verb.clone(),
                objects,
                destination,
                alternative: alternative.to_owned(),
            })
        };
        let after = self.past("for_whom", found.next).unwrap_or(found.next);
        for start in self.after_particle(found, after) {
            // "push right the red block"
            for destination in self.destination(start) {
                for objects in self.noun_list(destination.next) {
                    out.push(Alt {
                        value: step(objects.value, Some(destination.value.clone())),
                        next: objects.next,
                        cost: destination.cost + objects.cost,
                    });
                }
            }
            for objects in self.noun_list(start) {
                // "slide the knife out of the block"
                if found.verb.meaning == VerbMeaning::Push {
                    self.removal(&objects.value, objects.next, objects.cost, out);
                }
                for next in self.after_particle(found, objects.next) {
                    let with = if self.is(next, &["with"]) { 3 } else { 0 };
                    out.push(Alt { value: step(objects.value.clone(), None), next, cost: objects.cost });
                    for destination in self.destination(next) {
                        out.push(Alt {
                            value: step(objects.value.clone(), Some(destination.value)),
                            next: destination.next,
                            cost: objects.cost + destination.cost + with,
                        });
                    }
                    let end = self.swallow(next);
                    if end > next {
                        out.push(Alt {
                            value: step(objects.value.clone(), None),
                            next: end,
                            cost: objects.cost + SWALLOWED,
                        });
                    }
                }
            }
        }
        let end = self.swallow(found.next);
        out.push(Alt { value: step(Vec::new(), None), next: end, cost: SWALLOWED + 1 });
        for alt in &mut out[before..] {
            alt.cost += 1;
        }
    }
}
