//! One clause: polite words around a verb with what it takes.

use super::building::has_exceptions;
use super::verb::{Found, INCOMPLETE, table};
use super::{Alt, Alts, Clause, Parser, keep};
use crate::language::goal::{Head, Modifier, NounPhrase, PlaceRelation, Question, Spatial, Step};
use crate::language::lexicon::{VerbForm, VerbMeaning};

/// Cost of a verb guessed from a misspelt word.
const SPELLING: u32 = 4;
/// Cost of another reading of what is an action on a part.
const OTHERWISE: u32 = 3;
impl Parser<'_> {
    /// Clauses that start here, with the words of politeness around them.
    pub(super) fn clause(&self, position: usize) -> Alts<Clause> {
        let mut out = Vec::new();
        for start in self.clause_starts(position) {
            self.fixed(start, &mut out);
            self.negated(start, &mut out);
            self.wish(start, &mut out);
            self.go(start, &mut out);
            self.fronted(start, &mut out);
            self.look_into(start, &mut out);
            for found in self.verbs(start) {
                self.frame(&found, &mut out);
            }
            self.separated(start, &mut out);
            self.purpose(start, &mut out);
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
    pub(super) fn excepting(&self, alt: &Alt<Clause>) -> Alts<Clause> {
        let Clause::Step(Step::Place { objects, .. } | Step::Pick { objects, .. }) = &alt.value else {
            return Vec::new();
        };
        if !objects.last().is_some_and(has_exceptions) {
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
    pub(super) fn clause_starts(&self, position: usize) -> Vec<usize> {
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
    pub(super) fn verbs(&self, start: usize) -> Vec<Found<'_>> {
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
    pub(super) fn fixed(&self, start: usize, out: &mut Alts<Clause>) {
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

    /// "go to the fridge", "drive over to the red mug".
    fn go(&self, start: usize, out: &mut Alts<Clause>) {
        for after in self.pasts("drive", start) {
            for target in self.noun_phrase(after) {
                let step = Step::Go { target: target.value };
                out.push(Alt { value: Clause::Step(step), next: target.next, cost: target.cost + 1 });
            }
        }
    }

    /// "look into the drawer": what is in it.
    fn look_into(&self, start: usize, out: &mut Alts<Clause>) {
        let Some(after) = self.past("look_into", start) else {
            return;
        };
        for place in self.noun_phrase(after) {
            let mut things = Self::all_things();
            things.text = format!("everything in {}", place.value.text);
            things.modifiers =
                vec![Modifier { relation: Spatial::In, targets: vec![place.value], negated: false }];
            let question = Clause::Question(Question::Which(things));
            out.push(Alt { value: question, next: place.next, cost: place.cost });
        }
    }

    /// "do not drop it" holds anyway; "do not pick it up" is a question back.
    pub(super) fn negated(&self, start: usize, out: &mut Alts<Clause>) {
        let Some(after) = self.past("shall_not", start) else {
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
    pub(super) fn swallow(&self, from: usize) -> usize {
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

    pub(super) fn frame(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        let before = out.len();
        match found.verb.meaning {
            VerbMeaning::Pick | VerbMeaning::Collect => self.pick(found, out),
            VerbMeaning::Place => self.place(found, out),
            VerbMeaning::Stack => self.stack(found, out),
            VerbMeaning::Drop => self.drop(found, out),
            VerbMeaning::Remove => self.remove(found, out),
            VerbMeaning::Discard => self.discard(found, out),
            VerbMeaning::Empty => self.empty(found, out),
            VerbMeaning::Clear => self.clear(found, out),
            VerbMeaning::Sort => self.sort(found, out),
            VerbMeaning::Fill => self.fill(found, out),
            VerbMeaning::Give => self.give(found, out),
            VerbMeaning::Find => self.ask(found, Question::Where, out),
            VerbMeaning::Count => {
                self.ask(found, |nps| Question::Count(nps.into_iter().next().unwrap_or_default()), out);
            }
            VerbMeaning::List => {
                self.ask(found, |nps| Question::Which(nps.into_iter().next().unwrap_or_default()), out);
            }
            VerbMeaning::Swap => self.swap(found, out),
            VerbMeaning::Push | VerbMeaning::Other => self.unsupported(found, out),
            VerbMeaning::Act => self.act(found, out),
        }
        for alt in &mut out[before..] {
            alt.cost += found.cost;
            // "remove the thumbtack": what is an action on a part is not also a placement, unless it says to which side.
            let to_a_side = |clause: &Clause| {
                let Clause::Step(Step::Place { destination, .. }) = clause else { return false };
                matches!(destination.relation, PlaceRelation::Shift(..) | PlaceRelation::TableRegion(_))
            };
            if found.verb.meaning != VerbMeaning::Act
                && !to_a_side(&alt.value)
                && let Clause::Step(Step::Place { objects, .. } | Step::Unsupported { objects, .. }) =
                    &alt.value
                && !objects.is_empty()
                && self.serves(&found.verb.lemma, objects)
            {
                alt.cost += OTHERWISE;
            }
        }
    }

    /// Positions after the verb and its particle, if any, and without it; the former is the better reading of equal ones.
    pub(super) fn after_particle(&self, found: &Found<'_>, position: usize) -> Vec<usize> {
        // "get a hold of the stick": no hold is got.
        let particles = self.lexicon.particles.get(found.verb.particles);
        let ends = particles.into_iter().flat_map(|particles| particles.at(self.tokens, position));
        ends.map(|(length, ())| position + length).chain([position]).collect()
    }
}
