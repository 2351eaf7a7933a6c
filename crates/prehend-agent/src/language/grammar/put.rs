//! Verbs of taking and putting, and what they take.

use super::building::is_plural;
use super::verb::{Found, INCOMPLETE, handed, put, table};
use super::{Alt, Alts, Clause, Parser};
use crate::language::goal::{Destination, Head, Modifier, NounPhrase, PlaceRelation, Spatial, Step};
use crate::language::lexicon::VerbMeaning;
use prehend_scene::Relation;
use std::collections::BTreeMap;

impl Parser<'_> {
    /// "by the handle", "by its rim".
    pub(super) fn by_part(&self, position: usize) -> Option<(String, usize)> {
        let after = self.past("by_part", position)?;
        let article = self.skip_articles(after);
        let next = self.past("parts", article)?;
        let bare = after == article && self.is(position, &["on", "from", "at"]);
        (!bare && !self.is(next, &["of"])).then(|| (self.text(article, next), next))
    }

    pub(super) fn pick(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        // "get me the apple": handing over.
        if let Some(recipient) = self.past("receiver", found.next) {
            for objects in self.noun_list(recipient) {
                out.push(Alt {
                    value: Clause::Step(handed(&found.verb.lemma, objects.value)),
                    next: objects.next,
                    cost: objects.cost,
                });
            }
        }
        for start in self.after_particle(found, found.next) {
            for objects in self.noun_list(start) {
                for next in self.after_particle(found, objects.next) {
                    self.picked(found, &Alt { next, ..objects.clone() }, out);
                }
            }
        }
    }

    pub(super) fn picked(&self, found: &Found<'_>, objects: &Alt<Vec<NounPhrase>>, out: &mut Alts<Clause>) {
        let cost = objects.cost;
        // "the handle of the mug", "the mug's handle"
        if let Some((whole, part)) = self.part_of(&objects.value) {
            let step = Step::Pick { objects: vec![whole], part: Some(part) };
            out.push(Alt { value: Clause::Step(step), next: objects.next, cost });
        }
        let several = objects.value.len() > 1 || objects.value.iter().any(is_plural);
        let collecting = found.verb.meaning == VerbMeaning::Collect && several;
        let dearer = u32::from(self.part_of(&objects.value).is_some() || collecting);
        let step = Step::Pick { objects: objects.value.clone(), part: None };
        out.push(Alt { value: Clause::Step(step), next: objects.next, cost: cost + dearer });
        let mut part = None;
        let mut next = objects.next;
        if let Some((named, after)) = self.by_part(next) {
            let step = Step::Pick { objects: objects.value.clone(), part: Some(named.clone()) };
            out.push(Alt { value: Clause::Step(step), next: after, cost });
            part = Some(named);
            next = after;
        }
        self.removal(&objects.value, next, cost, out);
        for destination in self.destination(next) {
            let moving = matches!(destination.value.relation, PlaceRelation::To)
                || self.is_in("moving", next)
                    && (self.is(next, &["into", "onto"])
                        || self.is(next + 1, &["to"]) && !self.is(next, &["in", "on"]));
            let extra = match (moving, found.verb.meaning) {
                (true, _) => 0,
                (false, VerbMeaning::Collect) => u32::from(!collecting),
                (false, _) => continue,
            };
            out.push(Alt {
                value: put(objects.value.clone(), destination.value, part.clone(), false),
                next: destination.next,
                cost: cost + destination.cost + extra,
            });
        }
    }

    /// "out of the box", "off the plate", "from the bowl" after an object: it ends on the table, or at a destination.
    pub(super) fn removal(&self, objects: &[NounPhrase], position: usize, cost: u32, out: &mut Alts<Clause>) {
        for (length, relation) in self.lexicon.removals.at(self.tokens, position) {
            let after = position + length;
            let mut ends: Vec<(Vec<NounPhrase>, usize, u32)> = Vec::new();
            if let Some(next) = self.the_table(after) {
                // "take the mug off the table" is picking it up.
                let step = Step::Pick { objects: objects.to_vec(), part: None };
                out.push(Alt { value: Clause::Step(step), next, cost });
                continue;
            }
            for source in self.noun_list(after) {
                if source.value.len() == 1 {
                    ends.push((source.value, source.next, source.cost));
                }
            }
            for (source, next, extra) in ends {
                let objects: Vec<NounPhrase> = objects
                    .iter()
                    .cloned()
                    .map(|mut np| {
                        np.modifiers.push(Modifier {
                            relation: *relation,
                            targets: source.clone(),
                            negated: false,
                        });
                        np
                    })
                    .collect();
                let is_table = matches!(source.as_slice(), [NounPhrase { head: Head::Noun(noun), .. }] if self.list("table").has_word(noun));
                let value = match is_table {
                    true => Clause::Step(Step::Pick { objects: objects.clone(), part: None }),
                    false => put(objects.clone(), table("on the table"), None, false),
                };
                out.push(Alt { value, next, cost: cost + extra });
                for destination in self.destination(next) {
                    out.push(Alt {
                        value: put(objects.clone(), destination.value, None, false),
                        next: destination.next,
                        cost: cost + extra + destination.cost,
                    });
                }
            }
        }
    }

    /// Splits "the handle of the mug" into the mug and the part.
    pub(super) fn part_of(&self, objects: &[NounPhrase]) -> Option<(NounPhrase, String)> {
        let [np] = objects else { return None };
        let Head::Noun(noun) = &np.head else { return None };
        if !self.list("parts").has_word(noun) || !np.attributes.is_empty() {
            return None;
        }
        let [Modifier { relation: Spatial::PartOf | Spatial::On, targets, negated: false }] =
            np.modifiers.as_slice()
        else {
            return None;
        };
        let [whole] = targets.as_slice() else { return None };
        Some((whole.clone(), noun.clone()))
    }

    pub(super) fn place(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        if let Some(recipient) = self.past_any(&["me", "us"], found.next) {
            for objects in self.noun_list(recipient) {
                out.push(Alt {
                    value: Clause::Step(handed(&found.verb.lemma, objects.value)),
                    next: objects.next,
                    cost: objects.cost,
                });
            }
        }
        for start in self.after_particle(found, found.next) {
            let down_first = self.is(start.saturating_sub(1), &["down"]) && start > found.next;
            let mut by_end: BTreeMap<usize, Alts<Clause>> = BTreeMap::new();
            for objects in self.noun_list(start) {
                self.placed(found, &objects, down_first, by_end.entry(objects.next).or_default());
            }
            out.extend(by_turns(by_end.into_values()));
            // "put in the bowl the apple"
            for destination in self.destination(start) {
                for objects in self.noun_list(destination.next) {
                    out.push(Alt {
                        value: put(objects.value, destination.value.clone(), None, false),
                        next: objects.next,
                        cost: destination.cost + objects.cost + 2,
                    });
                }
            }
        }
    }

    pub(super) fn placed(
        &self,
        found: &Found<'_>,
        objects: &Alt<Vec<NounPhrase>>,
        down_first: bool,
        out: &mut Alts<Clause>,
    ) {
        let cost = objects.cost;
        let mut part = None;
        let mut next = objects.next;
        if let Some((named, after)) = self.by_part(next) {
            part = Some(named);
            next = after;
        }
        let here = self.past("to_me", next);
        if let (Some(next), true) = (here, found.verb.meaning == VerbMeaning::Place) {
            out.push(Alt {
                value: Clause::Step(handed(&found.verb.lemma, objects.value.clone())),
                next,
                cost,
            });
        }
        let mut starts = vec![(next, 0), (objects.next, 0)];
        // "put the block away in the drawer"
        starts.extend(self.past_words("away", next).map(|start| (start, 0)));
        if self.is_comma(next) {
            starts.push((next + 1, 1));
        }
        for (start, extra) in starts {
            for destination in self.destination(start) {
                out.push(Alt {
                    value: put(
                        objects.value.clone(),
                        destination.value,
                        part.clone().filter(|_| start >= next),
                        false,
                    ),
                    next: destination.next,
                    cost: cost + destination.cost + extra,
                });
            }
        }
        self.removal(&objects.value, objects.next, cost, out);
        for together in self.pasts("together", objects.next) {
            out.push(Alt { value: self.together(&objects.value), next: together, cost });
        }
        if down_first {
            out.push(Alt {
                value: put(objects.value.clone(), table("down"), None, false),
                next: objects.next,
                cost: cost + 1,
            });
        }
        let what = objects.value.iter().map(|np| np.text.as_str()).collect::<Vec<_>>().join(" and ");
        let question = format!(
            "Where shall I {} {what}? Say for example \"in the bowl\" or \"next to the plate\".",
            found.verb.lemma
        );
        out.push(Alt {
            value: Clause::Placeless(objects.value.clone(), question),
            next: objects.next,
            cost: cost + INCOMPLETE,
        });
    }

    /// "put the apple and the pear together".
    pub(super) fn together(&self, objects: &[NounPhrase]) -> Clause {
        match objects {
            [first, rest @ ..] if !rest.is_empty() && !objects.iter().any(is_plural) => {
                let beside = PlaceRelation::Known(Relation::NextTo);
                let destination = Destination::new(beside, vec![first.clone()], "together");
                put(rest.to_vec(), destination, None, false)
            }
            _ => Clause::Problem("Which of them shall I put next to which?".to_owned()),
        }
    }

    pub(super) fn stack(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for start in self.after_particle(found, found.next) {
            for objects in self.noun_list(start) {
                for next in self.after_particle(found, objects.next) {
                    self.put_at(&objects.value, next, objects.cost, false, out);
                    // "stack the blocks"
                    if objects.value.len() > 1 || objects.value.iter().any(is_plural) {
                        let destination =
                            Destination::new(PlaceRelation::Stacked, Vec::new(), "on top of each other");
                        out.push(Alt {
                            value: put(objects.value.clone(), destination, None, false),
                            next,
                            cost: objects.cost + 1,
                        });
                        continue;
                    }
                    let question = "Which one shall I stack on which? Say for example \"stack the red block on the blue block\".";
                    out.push(Alt {
                        value: Clause::Problem(question.to_owned()),
                        next,
                        cost: objects.cost + INCOMPLETE,
                    });
                }
            }
        }
    }

    pub(super) fn drop(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let start = self.past_any(&["off"], found.next).unwrap_or(found.next);
        for objects in self.noun_list(start) {
            for next in self.after_particle(found, objects.next) {
                out.push(Alt {
                    value: put(objects.value.clone(), table("down"), None, true),
                    next,
                    cost: objects.cost + 1,
                });
                self.put_at(&objects.value, next, objects.cost, true, out);
            }
        }
    }

    pub(super) fn remove(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for objects in self.noun_list(found.next) {
            let cost = objects.cost;
            // "from the table" leaves nothing to put it on.
            out.push(Alt {
                value: put(objects.value.clone(), table("on the table"), None, false),
                next: objects.next,
                cost,
            });
            self.removal(&objects.value, objects.next, cost, out);
            self.put_at(&objects.value, objects.next, cost, false, out);
        }
    }

    /// Objects at every destination that is said from here.
    pub(super) fn put_at(
        &self,
        objects: &[NounPhrase],
        position: usize,
        cost: u32,
        drop: bool,
        out: &mut Alts<Clause>,
    ) {
        for destination in self.destination(position) {
            out.push(Alt {
                value: put(objects.to_vec(), destination.value, None, drop),
                next: destination.next,
                cost: cost + destination.cost,
            });
        }
    }
}

/// Readings of several lists by turns: where only some are kept, each place where the destination can begin keeps one, and not the
/// first place all.
fn by_turns(lists: impl Iterator<Item = Alts<Clause>>) -> Alts<Clause> {
    let mut ranked: Vec<(usize, Alt<Clause>)> = lists.flat_map(|list| list.into_iter().enumerate()).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, alt)| alt).collect()
}
