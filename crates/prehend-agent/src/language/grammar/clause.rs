//! One clause: polite words, a verb with what it takes, or a wish.

use super::modifier::is_plural;
use super::{Alt, Alts, Clause, Parser, keep};
use crate::language::goal::{
    Destination, Head, Modifier, NounPhrase, PlaceRelation, Quantity, Question, Spatial, Step,
};
use crate::language::lexicon::{Verb, VerbForm, VerbMeaning};
use prehend_scene::Relation;

/// Cost of a verb guessed from a misspelt word.
const SPELLING: u32 = 4;
/// Cost of a clause that lacks something.
const INCOMPLETE: u32 = 6;
/// Cost of words of an unsupported command that were not looked at.
const SWALLOWED: u32 = 2;

/// A verb with the position after it.
struct Found<'v> {
    verb: &'v Verb,
    next: usize,
    cost: u32,
}

impl Parser<'_> {
    /// Clauses that start here, with the words of politeness around them.
    pub(super) fn clause(&self, position: usize) -> Alts<Clause> {
        let mut out = Vec::new();
        for start in self.clause_starts(position) {
            self.fixed(start, &mut out);
            self.negated(start, &mut out);
            self.wish(start, &mut out);
            self.fronted(start, &mut out);
            for found in self.verbs(start) {
                self.frame(&found, &mut out);
            }
        }
        if out.is_empty() && self.verbless.get().is_none() {
            let last = self.clause_starts(position).into_iter().max();
            self.verbless.set(last.filter(|start| !self.word(*start).is_empty()));
        }
        let mut closed = Vec::new();
        let excepting: Vec<Alt<Clause>> = out.iter().flat_map(|alt| self.excepting(alt)).collect();
        for alt in out.into_iter().chain(excepting) {
            self.reach(alt.next);
            let mut next = alt.next;
            closed.push(alt.clone());
            for _ in 0..3 {
                let after_comma = next + usize::from(self.is_comma(next));
                let Some(end) = self.past("closers", after_comma) else { break };
                next = end;
                closed.push(Alt { next, ..alt.clone() });
            }
        }
        keep(closed, 6, 60)
    }

    /// "... in the pot, except the onion": the exception belongs to what is moved.
    fn excepting(&self, alt: &Alt<Clause>) -> Alts<Clause> {
        let Clause::Step(Step::Place { objects, .. } | Step::Pick { objects, .. }) = &alt.value else {
            return Vec::new();
        };
        if !objects.last().is_some_and(is_plural) {
            return Vec::new();
        }
        let start = alt.next + usize::from(self.is_comma(alt.next));
        let mut out = Vec::new();
        for after in self.pasts("exceptions", start) {
            for list in self.noun_list(after) {
                let mut value = alt.value.clone();
                if let Clause::Step(Step::Place { objects, .. } | Step::Pick { objects, .. }) = &mut value
                    && let Some(last) = objects.last_mut()
                {
                    last.except.extend(list.value);
                }
                out.push(Alt { value, next: list.next, cost: alt.cost + list.cost });
            }
        }
        out
    }

    /// Positions where the clause proper may begin, after openers and polite words.
    fn clause_starts(&self, position: usize) -> Vec<usize> {
        let mut starts = vec![position];
        let mut index = 0;
        while index < starts.len() && starts.len() < 24 {
            let start = starts[index];
            for key in ["openers", "polite_prefixes"] {
                for next in self.pasts(key, start) {
                    let next = next + usize::from(self.is_comma(next));
                    if !starts.contains(&next) {
                        starts.push(next);
                    }
                }
            }
            if self.is(start, &["after", "by"])
                && self.verbs(start + 1).iter().any(|v| v.verb.form == VerbForm::Gerund)
            {
                starts.push(start + 1);
            }
            index += 1;
        }
        starts
    }

    /// Verbs at this position: base forms and gerunds; a misspelt one when there is none.
    fn verbs(&self, start: usize) -> Vec<Found<'_>> {
        let mut found: Vec<Found<'_>> = self
            .lexicon
            .verbs
            .at(self.tokens, start)
            .filter(|(_, verb)| matches!(verb.form, VerbForm::Base | VerbForm::Gerund))
            .map(|(length, verb)| Found { verb, next: start + length, cost: 0 })
            .collect();
        if found.is_empty()
            && self.lexicon.nounable(self.word(start))
            && let Some(verb) = self.lexicon.nearest_verb(self.word(start))
        {
            found.push(Found { verb, next: start + 1, cost: SPELLING });
        }
        found
    }

    /// Whole sentences of the lexicon.
    fn fixed(&self, start: usize, out: &mut Alts<Clause>) {
        let it = || NounPhrase { head: Head::It, text: "it".to_owned(), ..NounPhrase::default() };
        for (key, step) in [
            ("home", Step::Home),
            ("look", Step::Look),
            ("stop", Step::Stop),
            (
                "release",
                Step::Place { objects: vec![it()], destination: table("down"), part: None, drop: true },
            ),
        ] {
            for next in self.pasts(key, start) {
                if self.boundary(next) || self.is(next, &["to"]) {
                    out.push(Alt { value: Clause::Step(step.clone()), next, cost: 0 });
                }
            }
        }
        for (key, question) in [("abilities", Question::Abilities), ("holding", Question::Holding)] {
            for next in self.pasts(key, start) {
                if self.boundary(next) {
                    out.push(Alt { value: Clause::Question(question.clone()), next, cost: 0 });
                }
            }
        }
    }

    /// "do not drop it" holds anyway; "do not pick it up" is a question back.
    fn negated(&self, start: usize, out: &mut Alts<Clause>) {
        let Some(after) = self.past_any(
            &[
                "do not",
                "without",
                "never",
                "not",
                "you must not",
                "you should not",
                "must not",
                "should not",
                "make sure not to",
                "make sure you do not",
                "make sure to not",
                "be careful not to",
                "take care not to",
                "try not to",
                "avoid",
                "but do not",
                "but not",
            ],
            start,
        ) else {
            return;
        };
        for found in self.verbs(after) {
            let end = self.swallow(found.next);
            // "do not put the apple in the bowl, put it on the plate": what is spoken of is known from here.
            let mut denied = Vec::new();
            if matches!(found.verb.meaning, VerbMeaning::Place | VerbMeaning::Pick | VerbMeaning::Collect) {
                self.frame(&found, &mut denied);
            }
            for alt in denied {
                let Clause::Step(Step::Place { objects, .. } | Step::Pick { objects, .. }) = alt.value else {
                    continue;
                };
                if let [np] = objects.as_slice() {
                    out.push(Alt { value: Clause::Denied(np.clone()), next: alt.next, cost: alt.cost + 2 });
                }
            }
            let harmless = found.verb.meaning == VerbMeaning::Drop;
            let value = if harmless {
                Clause::Nothing
            } else {
                Clause::Problem(format!(
                    "I understand what I shall not do (\"{}\"), but not what I shall do instead. What shall I do?",
                    self.text(start, end)
                ))
            };
            out.push(Alt { value, next: end, cost: if harmless { 1 } else { INCOMPLETE } });
        }
    }

    /// Position up to which the words of this clause go on.
    fn swallow(&self, from: usize) -> usize {
        let mut next = from;
        while next < self.tokens.len() && !self.word(next).is_empty() {
            if self.is(next, &["and", "then", "but"]) && !self.verbs(next + 1).is_empty() {
                break;
            }
            if self.is(next, &["then"]) {
                break;
            }
            next += 1;
        }
        next
    }

    /// "I want the apple in the bowl", "the mug goes on the tray", "make sure the egg is in the pan".
    fn wish(&self, start: usize, out: &mut Alts<Clause>) {
        let wants = [
            "i want",
            "we want",
            "i would like",
            "we would like",
            "i need",
            "we need",
            "i would love",
            "i wish for",
            "i would prefer",
            "i like",
            "i would like to have",
            "i want to have",
            "i would like to see",
            "i want to see",
            "let me have",
            "can i have",
            "could i have",
            "may i have",
            "can i get",
            "could i get",
        ];
        for wanted in wants.iter().filter_map(|phrase| self.past_words(phrase, start)) {
            for objects in self.noun_list(wanted) {
                self.wished(&objects, out);
                if self.boundary(objects.next) {
                    out.push(Alt {
                        value: Clause::Step(give("give", objects.value.clone())),
                        next: objects.next,
                        cost: objects.cost + 3,
                    });
                }
            }
        }
        let makes = [
            "make sure that",
            "make sure",
            "ensure that",
            "ensure",
            "see to it that",
            "have",
            "let",
            "see that",
            "check that",
            "i want that",
            "get",
        ];
        for made in makes.iter().filter_map(|phrase| self.past_words(phrase, start)) {
            for objects in self.noun_list(made) {
                let be =
                    self.past_any(&["is", "are", "ends up", "end up", "be", "gets", "to be"], objects.next);
                match be {
                    Some(next) => self.wished(&Alt { next, ..objects }, out),
                    None if self.past_tense(objects.next).is_some() => self.wished(&objects, out),
                    None => {}
                }
            }
        }
        for objects in self.noun_list(start) {
            let Some(mut next) = self.past_any(
                &[
                    "should be",
                    "must be",
                    "needs to be",
                    "need to be",
                    "has to be",
                    "have to be",
                    "is to be",
                    "are to be",
                    "ought to be",
                    "shall be",
                    "should go",
                    "must go",
                    "needs to go",
                    "need to go",
                    "has to go",
                    "have to go",
                    "goes",
                    "go",
                    "belongs",
                    "belong",
                    "needs to end up",
                    "should end up",
                    "shall go",
                    "is supposed to be",
                    "is supposed to go",
                    "are supposed to be",
                    "can go",
                    "can be",
                    "wants to be",
                    "will be",
                    "should get",
                    "should sit",
                    "should stand",
                    "should lie",
                    "is meant to be",
                    "should",
                    "must",
                    "needs to",
                    "has to",
                ],
                objects.next,
            ) else {
                continue;
            };
            if self.is(next, &["be"]) {
                next += 1;
            }
            self.wished(&Alt { next, cost: objects.cost + 1, value: objects.value }, out);
        }
    }

    /// Position after a participle of a verb that puts or picks, with its meaning.
    fn past_tense(&self, position: usize) -> Option<(usize, VerbMeaning)> {
        self.lexicon
            .verbs
            .at(self.tokens, position)
            .find(|(_, verb)| verb.form == VerbForm::Past)
            .map(|(length, verb)| (position + length, verb.meaning))
    }

    /// "... [to be] [placed] DESTINATION", after the wished objects.
    fn wished(&self, objects: &Alt<Vec<NounPhrase>>, out: &mut Alts<Clause>) {
        let mut next = self
            .past_any(
                &["to be", "to go", "to end up", "to get", "to sit", "to stand", "to lie"],
                objects.next,
            )
            .unwrap_or(objects.next);
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
                value: place(objects.value.clone(), destination.value, None, drop),
                next: destination.next,
                cost: objects.cost + destination.cost,
            });
        }
    }

    /// "in the bowl, put the apple".
    fn fronted(&self, start: usize, out: &mut Alts<Clause>) {
        for destination in self.destination(start) {
            let comma = destination.next + usize::from(self.is_comma(destination.next));
            for found in self.verbs(comma) {
                if found.verb.meaning != VerbMeaning::Place && found.verb.meaning != VerbMeaning::Drop {
                    continue;
                }
                for objects in self.noun_list(found.next) {
                    out.push(Alt {
                        value: place(objects.value, destination.value.clone(), None, false),
                        next: objects.next,
                        cost: found.cost + destination.cost + objects.cost + 1,
                    });
                }
            }
        }
    }

    fn frame(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let before = out.len();
        match found.verb.meaning {
            VerbMeaning::Pick | VerbMeaning::Collect => self.pick(found, out),
            VerbMeaning::Place => self.place(found, out),
            VerbMeaning::Stack => self.stack(found, out),
            VerbMeaning::Drop => self.drop(found, out),
            VerbMeaning::Remove => self.remove(found, out),
            VerbMeaning::Empty => self.empty(found, out),
            VerbMeaning::Clear => self.clear(found, out),
            VerbMeaning::Fill => self.fill(found, out),
            VerbMeaning::Give => self.give(found, out),
            VerbMeaning::Find => self.ask(found, Question::Where, out),
            VerbMeaning::Count => {
                self.ask(found, |nps| Question::Count(nps.into_iter().next().unwrap_or_default()), out);
            }
            VerbMeaning::List => {
                self.ask(found, |nps| Question::Which(nps.into_iter().next().unwrap_or_default()), out);
            }
            VerbMeaning::Push | VerbMeaning::Swap | VerbMeaning::Other => self.unsupported(found, out),
        }
        for alt in &mut out[before..] {
            alt.cost += found.cost;
        }
    }

    /// Positions after the verb and its particle, if any.
    fn after_particle(&self, found: &Found<'_>, position: usize) -> Vec<usize> {
        let mut starts = vec![position];
        if let Some(particles) = self.lexicon.particles.get(found.verb.particles) {
            starts.extend(particles.at(self.tokens, position).map(|(length, ())| position + length));
        }
        starts
    }

    /// "by the handle", "by its rim".
    fn by_part(&self, position: usize) -> Option<(String, usize)> {
        let after = self.past_any(&["by", "at", "from", "on", "using", "with"], position)?;
        let article = self.skip_articles(after);
        let next = self.past("parts", article)?;
        let bare = after == article && self.is(position, &["on", "from", "at"]);
        (!bare && !self.is(next, &["of"])).then(|| (self.text(article, next), next))
    }

    fn pick(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        // "get me the apple": handing over.
        if let Some(recipient) = self.past_any(&["me", "us", "him", "her", "them"], found.next) {
            for objects in self.noun_list(recipient) {
                out.push(Alt {
                    value: Clause::Step(give(&found.verb.lemma, objects.value)),
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

    fn picked(&self, found: &Found<'_>, objects: &Alt<Vec<NounPhrase>>, out: &mut Alts<Clause>) {
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
                || self.is(next, &["into", "onto", "to", "towards", "over", "back", "in", "on"])
                    && (self.is(next, &["into", "onto"])
                        || self.is(next + 1, &["to"]) && !self.is(next, &["in", "on"]));
            let extra = match (moving, found.verb.meaning) {
                (true, _) => 0,
                (false, VerbMeaning::Collect) => u32::from(!collecting),
                (false, _) => continue,
            };
            out.push(Alt {
                value: place(objects.value.clone(), destination.value, part.clone(), false),
                next: destination.next,
                cost: cost + destination.cost + extra,
            });
        }
    }

    /// "out of the box", "off the plate", "from the bowl" after an object: it ends on the table, or at a destination.
    fn removal(&self, objects: &[NounPhrase], position: usize, cost: u32, out: &mut Alts<Clause>) {
        for (length, relation) in self.lexicon.removals.at(self.tokens, position) {
            let after = position + length;
            let mut ends: Vec<(Vec<NounPhrase>, usize, u32)> = Vec::new();
            if let Some(next) = self.table(after) {
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
                out.push(Alt {
                    value: place(objects.clone(), table("on the table"), None, false),
                    next,
                    cost: cost + extra,
                });
                for destination in self.destination(next) {
                    out.push(Alt {
                        value: place(objects.clone(), destination.value, None, false),
                        next: destination.next,
                        cost: cost + extra + destination.cost,
                    });
                }
            }
        }
    }

    /// Splits "the handle of the mug" into the mug and the part.
    fn part_of(&self, objects: &[NounPhrase]) -> Option<(NounPhrase, String)> {
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

    fn place(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        if let Some(recipient) = self.past_any(&["me", "us"], found.next) {
            for objects in self.noun_list(recipient) {
                out.push(Alt {
                    value: Clause::Step(give(&found.verb.lemma, objects.value)),
                    next: objects.next,
                    cost: objects.cost,
                });
            }
        }
        for start in self.after_particle(found, found.next) {
            let down_first = self.is(start.saturating_sub(1), &["down"]) && start > found.next;
            for objects in self.noun_list(start) {
                self.placed(found, &objects, down_first, out);
            }
            // "put in the bowl the apple"
            for destination in self.destination(start) {
                for objects in self.noun_list(destination.next) {
                    out.push(Alt {
                        value: place(objects.value, destination.value.clone(), None, false),
                        next: objects.next,
                        cost: destination.cost + objects.cost + 2,
                    });
                }
            }
        }
    }

    fn placed(
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
        let here = self.past_any(&["to me", "to us", "here", "over here", "to my hand", "in my hand"], next);
        if let (Some(next), true) = (here, found.verb.meaning == VerbMeaning::Place) {
            out.push(Alt { value: Clause::Step(give(&found.verb.lemma, objects.value.clone())), next, cost });
        }
        let mut starts = vec![(next, 0), (objects.next, 0)];
        if self.is_comma(next) {
            starts.push((next + 1, 1));
        }
        for (start, extra) in starts {
            for destination in self.destination(start) {
                out.push(Alt {
                    value: place(
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
                value: place(objects.value.clone(), table("down"), None, false),
                next: objects.next,
                cost: cost + 1,
            });
        }
        let what = objects.value.iter().map(|np| np.text.as_str()).collect::<Vec<_>>().join(" and ");
        let question = format!(
            "Where shall I {} {what}? Say for example \"in the bowl\" or \"next to the plate\".",
            found.verb.lemma
        );
        out.push(Alt { value: Clause::Problem(question), next: objects.next, cost: cost + INCOMPLETE });
    }

    /// "put the apple and the pear together".
    fn together(&self, objects: &[NounPhrase]) -> Clause {
        match objects {
            [first, rest @ ..] if !rest.is_empty() && !objects.iter().any(is_plural) => {
                let destination = Destination {
                    relation: PlaceRelation::Known(Relation::NextTo),
                    targets: vec![first.clone()],
                    words: "together".to_owned(),
                };
                place(rest.to_vec(), destination, None, false)
            }
            _ => Clause::Problem("Which of them shall I put next to which?".to_owned()),
        }
    }

    fn stack(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for start in self.after_particle(found, found.next) {
            for objects in self.noun_list(start) {
                for next in self.after_particle(found, objects.next) {
                    for destination in self.destination(next) {
                        out.push(Alt {
                            value: place(objects.value.clone(), destination.value, None, false),
                            next: destination.next,
                            cost: objects.cost + destination.cost,
                        });
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

    fn drop(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let start = self.past_any(&["off"], found.next).unwrap_or(found.next);
        for objects in self.noun_list(start) {
            for next in self.after_particle(found, objects.next) {
                out.push(Alt {
                    value: place(objects.value.clone(), table("down"), None, true),
                    next,
                    cost: objects.cost + 1,
                });
                for destination in self.destination(next) {
                    out.push(Alt {
                        value: place(objects.value.clone(), destination.value, None, true),
                        next: destination.next,
                        cost: objects.cost + destination.cost,
                    });
                }
            }
        }
    }

    fn remove(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for objects in self.noun_list(found.next) {
            let cost = objects.cost;
            // "from the table" leaves nothing to put it on.
            out.push(Alt {
                value: place(objects.value.clone(), table("on the table"), None, false),
                next: objects.next,
                cost,
            });
            self.removal(&objects.value, objects.next, cost, out);
            for destination in self.destination(objects.next) {
                out.push(Alt {
                    value: place(objects.value.clone(), destination.value, None, false),
                    next: destination.next,
                    cost: cost + destination.cost,
                });
            }
        }
    }

    fn empty(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for source in self.noun_phrase(found.next) {
            let mut objects = Self::all_things();
            objects.text = format!("everything in {}", source.value.text);
            objects.modifiers.push(Modifier {
                relation: Spatial::In,
                targets: vec![source.value],
                negated: false,
            });
            out.push(Alt {
                value: place(vec![objects.clone()], table("on the table"), None, false),
                next: source.next,
                cost: source.cost,
            });
            for destination in self.destination(source.next) {
                out.push(Alt {
                    value: place(vec![objects.clone()], destination.value, None, false),
                    next: destination.next,
                    cost: source.cost + destination.cost,
                });
            }
        }
    }

    fn clear(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
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
                        value: place(vec![things.clone()], destination.value, None, false),
                        next: destination.next,
                        cost: destination.cost,
                    });
                }
            }
            for objects in self.noun_list(start) {
                for destination in self.destination(objects.next) {
                    out.push(Alt {
                        value: place(objects.value.clone(), destination.value, None, false),
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

    fn fill(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for container in self.noun_phrase(found.next) {
            if !self.is(container.next, &["with"]) {
                continue;
            }
            for objects in self.noun_list(container.next + 1) {
                let destination = Destination {
                    relation: PlaceRelation::Known(Relation::In),
                    targets: vec![container.value.clone()],
                    words: format!("in {}", container.value.text),
                };
                out.push(Alt {
                    value: place(objects.value, destination, None, false),
                    next: objects.next,
                    cost: container.cost + objects.cost,
                });
            }
        }
        self.unsupported(found, out);
    }

    fn give(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let recipient = self
            .past_any(&["over to me", "it to me", "to me", "me", "us", "him", "her"], found.next)
            .unwrap_or(found.next);
        for start in [recipient, found.next] {
            for start in self.after_particle(found, start) {
                for objects in self.noun_list(start) {
                    let step = give(&found.verb.lemma, objects.value);
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

    fn ask(&self, found: &Found<'_>, question: impl Fn(Vec<NounPhrase>) -> Question, out: &mut Alts<Clause>) {
        let start = self.past_any(&["me", "out", "all of", "for"], found.next).unwrap_or(found.next);
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

    fn unsupported(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let verb = &found.verb.lemma;
        let alternative = match found.verb.meaning {
            VerbMeaning::Push => "I can pick it up and put it where you say",
            VerbMeaning::Swap => "I can move one thing after the other if you say where each shall go",
            _ => {
                "I can pick things up, put them in, on or next to other things, drop them, and answer where things are and how many there are"
            }
        };
        let before = out.len();
        let step = |objects: Vec<NounPhrase>, destination: Option<Destination>| {
            Clause::Step(Step::Unsupported {
                verb: verb.clone(),
                objects,
                destination,
                alternative: alternative.to_owned(),
            })
        };
        let after = self.past_any(&["me", "us", "for me", "for us"], found.next).unwrap_or(found.next);
        for start in self.after_particle(found, after) {
            for objects in self.noun_list(start) {
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

/// Setting down on the table.
fn table(words: &str) -> Destination {
    Destination {
        relation: PlaceRelation::Known(Relation::Table),
        targets: Vec::new(),
        words: words.to_owned(),
    }
}

fn place(objects: Vec<NounPhrase>, destination: Destination, part: Option<String>, drop: bool) -> Clause {
    Clause::Step(Step::Place { objects, destination, part, drop })
}

fn give(verb: &str, objects: Vec<NounPhrase>) -> Step {
    let alternative = match objects.first() {
        Some(NounPhrase { quantity: Quantity::One, text, .. }) => {
            format!("I can pick up {text}, or put it next to or in front of something on the table")
        }
        _ => "I can put things next to or in front of something on the table".to_owned(),
    };
    Step::Unsupported { verb: verb.to_owned(), objects, destination: None, alternative }
}
