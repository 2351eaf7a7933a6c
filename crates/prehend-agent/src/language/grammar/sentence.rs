//! Clauses joined to a goal.

use super::{Alt, Alts, Clause, Parser, keep};
use crate::language::goal::{Destination, Goal, Head, NounPhrase, PlaceRelation, Quantity, Question, Step};

/// Most clauses of one sentence.
const MAX_CLAUSES: usize = 12;

/// The clauses of one reading.
#[derive(Clone, Debug)]
pub(in crate::language) struct Reading {
    pub(in crate::language) clauses: Vec<Clause>,
    pub(in crate::language) cost: u32,
}

impl Parser<'_> {
    /// Complete readings of the whole sentence as clauses, cheapest first.
    pub(in crate::language) fn sentence(&self) -> Vec<Reading> {
        let mut frontier: Alts<Vec<Clause>> = vec![Alt { value: Vec::new(), next: 0, cost: 0 }];
        let mut complete = Vec::new();
        for _ in 0..MAX_CLAUSES {
            let mut longer: Alts<Vec<Clause>> = Vec::new();
            for alt in &frontier {
                let first = alt.value.is_empty();
                for (next, joined) in self.joints(alt.next, first) {
                    for clause in self.clause(next) {
                        longer.push(extended(
                            alt,
                            clause.value,
                            clause.next,
                            clause.cost + if joined { 0 } else { 3 },
                        ));
                    }
                    if joined {
                        self.shared(alt, next, &mut longer);
                        self.gap(alt, next, &mut longer);
                        self.mention(alt, next, &mut longer);
                    }
                }
                if first {
                    self.mention(alt, 0, &mut longer);
                }
            }
            let mut open = Vec::new();
            for alt in longer {
                if self.at_end(alt.next) {
                    complete.push(Reading { clauses: alt.value, cost: alt.cost });
                } else {
                    open.push(alt);
                }
            }
            frontier = keep(open, 5, 40);
            if frontier.is_empty() {
                break;
            }
        }
        complete.sort_by_key(|reading| reading.cost);
        complete
    }

    /// Positions where the next clause can begin, and whether something joins it to the one before.
    fn joints(&self, position: usize, first: bool) -> Vec<(usize, bool)> {
        if first {
            return vec![(position, true)];
        }
        let mut next = position;
        loop {
            let marks = self.tokens.get(next).is_some_and(|token| token.word().is_empty());
            if marks {
                next += 1;
            } else if let Some(after) = self.past("clause_joints", next) {
                next = after;
            } else {
                break;
            }
        }
        vec![(next, next > position)]
    }

    /// "... and the pear on the plate", "... then the pear": the verb of the clause before goes on.
    fn gap(&self, alt: &Alt<Vec<Clause>>, next: usize, out: &mut Alts<Vec<Clause>>) {
        let Some(Clause::Step(step)) = alt.value.last() else { return };
        let next = self.past("likewise", next).unwrap_or(next);
        for objects in self.noun_list(next) {
            match step {
                Step::Place { destination, drop, .. } => {
                    for to in self.destination(objects.next) {
                        let step = Step::Place {
                            objects: objects.value.clone(),
                            destination: to.value,
                            part: None,
                            drop: *drop,
                        };
                        out.push(extended(alt, Clause::Step(step), to.next, objects.cost + to.cost));
                    }
                    let step = Step::Place {
                        objects: objects.value.clone(),
                        destination: destination.clone(),
                        part: None,
                        drop: *drop,
                    };
                    let end = self.past("as_well", objects.next).unwrap_or(objects.next);
                    out.push(extended(alt, Clause::Step(step), end, objects.cost + 3));
                }
                Step::Pick { .. } => {
                    let step = Step::Pick { objects: objects.value.clone(), part: None };
                    out.push(extended(alt, Clause::Step(step), objects.next, objects.cost + 2));
                }
                Step::Act { action, .. } if self.serves(action, &objects.value) => {
                    let step =
                        Step::Act { action: action.clone(), objects: objects.value.clone(), part: None };
                    out.push(extended(alt, Clause::Step(step), objects.next, objects.cost + 2));
                }
                Step::Act { .. }
                | Step::Unsupported { .. }
                | Step::Swap { .. }
                | Step::Go { .. }
                | Step::Home
                | Step::Look
                | Step::Stop => {}
            }
        }
    }

    /// "There is a mug on the table." says what "it" will be: later pronouns stand for it.
    fn mention(&self, alt: &Alt<Vec<Clause>>, position: usize, out: &mut Alts<Vec<Clause>>) {
        let Some(start) = self.past("mentioning", position) else {
            return;
        };
        for np in self.noun_phrase(start) {
            if self.tokens.get(np.next).is_some_and(|token| token.word().is_empty()) {
                out.push(extended(alt, Clause::Mention(definite(np.value)), np.next, np.cost + 1));
            }
        }
    }

    /// "Grasp the stick and pull it out": what no action is for is lifted out and put on the table.
    fn lifted(&self, step: &Step, before: &Step) -> Option<Step> {
        let Step::Act { action, objects, part: None } = step else { return None };
        let ([NounPhrase { head: Head::It, .. }], Step::Pick { objects: spoken, .. }) =
            (objects.as_slice(), before)
        else {
            return None;
        };
        (self.lifts(action) && !self.serves(action, spoken)).then(|| Step::Place {
            objects: objects.clone(),
            destination: super::verb::table("on the table"),
            part: None,
            drop: false,
        })
    }

    /// The goal of a reading, or the question to ask back.
    pub(in crate::language) fn goal(&self, reading: &Reading) -> Result<Goal, String> {
        let mut steps: Vec<Step> = Vec::new();
        let mut question = None;
        let mut mentioned: Option<NounPhrase> = None;
        let mut denied: Vec<NounPhrase> = Vec::new();
        for clause in &reading.clauses {
            match clause {
                Clause::Step(step) => {
                    let mut step = step.clone();
                    if let (Some(np), true) = (&mentioned, steps.is_empty()) {
                        super::one::replace_pronoun(&mut step, np);
                    }
                    if let Some(lifted) = steps.last().and_then(|before| self.lifted(&step, before)) {
                        step = lifted;
                    }
                    steps.push(step);
                }
                Clause::Problem(text) => return Err(text.clone()),
                // "Go to the drawer and place the object."
                Clause::Placeless(objects, text) => {
                    let Some(Step::Go { target }) = steps.last() else { return Err(text.clone()) };
                    let words = format!("to {}", target.text);
                    let destination = Destination::new(PlaceRelation::To, vec![target.clone()], words);
                    steps.push(Step::Place {
                        objects: objects.clone(),
                        destination,
                        part: None,
                        drop: false,
                    });
                }
                Clause::Question(asked) => question = Some(asked.clone()),
                Clause::Mention(np) => mentioned = Some(np.clone()),
                Clause::Denied(np) => {
                    mentioned = Some(np.clone());
                    denied.push(np.clone());
                }
                Clause::Nothing => {}
            }
        }
        // "put everything in the box, but do not put the knife in it"
        for step in &mut steps {
            let (Step::Pick { objects, .. } | Step::Place { objects, .. }) = step else { continue };
            for np in objects.iter_mut().filter(|np| super::building::is_plural(np)) {
                np.except.extend(denied.iter().filter(|no| no.head != Head::It).cloned());
            }
        }
        // "locate the mug and pick it up": looking for it is part of picking it up.
        if let (Some(Question::Where(sought)), Some(first)) = (&question, steps.first_mut())
            && let [np] = sought.as_slice()
        {
            super::one::replace_pronoun(first, np);
            question = None;
        }
        match (steps.is_empty(), question) {
            (false, None) => Ok(Goal::Steps(steps)),
            (true, Some(question)) => Ok(Goal::Question(question)),
            (false, Some(_)) => {
                Err("I can either answer a question or do something, one at a time. Which first?".to_owned())
            }
            (true, None) => Err("I understand nothing that I shall do. What shall I do?".to_owned()),
        }
    }
}

pub(super) fn extended(alt: &Alt<Vec<Clause>>, clause: Clause, next: usize, cost: u32) -> Alt<Vec<Clause>> {
    let mut value = alt.value.clone();
    value.push(clause);
    Alt { value, next, cost: alt.cost + cost }
}

fn definite(mut np: NounPhrase) -> NounPhrase {
    if np.quantity == Quantity::Any {
        np.quantity = Quantity::One;
    }
    np
}
