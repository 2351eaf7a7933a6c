//! Sentences that say by what means something is done: "push the button to turn on the lamp", and two verbs with one object:
//! "grasp and lift the block".

use super::sentence::extended;
use super::{Alt, Alts, Clause, Parser};
use crate::language::goal::{Head, NounPhrase, Quantity, Step};
use crate::language::lexicon::VerbMeaning;

impl Parser<'_> {
    /// "Use the switch to turn on the light": the purpose is what shall be done, and the part that is spoken of is where. "Pull the
    /// drawer to open it": what the purpose is about was named before.
    pub(super) fn purpose(&self, start: usize, out: &mut Alts<Clause>) {
        let used = self.past_any(&["use", "using"], start);
        let verbs = self.verbs(start);
        let after: Vec<usize> =
            verbs.iter().flat_map(|found| self.after_particle(found, found.next)).chain(used).collect();
        for after in after {
            for instrument in self.noun_list(after) {
                let [np] = instrument.value.as_slice() else { continue };
                let Some(to) = self.past_any(&["to", "in order to", "so as to"], instrument.next) else {
                    continue;
                };
                for purpose in self.purposes(to) {
                    let Clause::Step(Step::Act { action, objects, part: None }) = purpose.value else {
                        continue;
                    };
                    let Some((objects, part)) = self.by_means(&action, np, objects) else { continue };
                    out.push(Alt {
                        value: Clause::Step(Step::Act { action, objects, part }),
                        next: purpose.next,
                        cost: instrument.cost + purpose.cost,
                    });
                }
            }
        }
    }

    /// Actions on parts that start here.
    fn purposes(&self, start: usize) -> Alts<Clause> {
        let mut out = Vec::new();
        for found in self.verbs(start).iter().filter(|found| found.verb.meaning == VerbMeaning::Act) {
            self.act(found, &mut out);
        }
        self.separated(start, &mut out);
        out
    }

    /// What an action is done to and by which part, when an instrument is named for it; `None` when the two do not go together.
    fn by_means(
        &self,
        action: &str,
        instrument: &NounPhrase,
        objects: Vec<NounPhrase>,
    ) -> Option<(Vec<NounPhrase>, Option<String>)> {
        if matches!(objects.as_slice(), [NounPhrase { head: Head::It, .. }]) {
            let whole = vec![instrument.clone()];
            return self.serves(action, &whole).then_some((whole, None));
        }
        // Which of several buttons is for the purpose no part can say.
        let plain = instrument.attributes.is_empty()
            && instrument.modifiers.is_empty()
            && instrument.selectors.is_empty();
        let Head::Noun(noun) = &instrument.head else { return None };
        let is_part = self.lexicon.actions.names_part(noun) || self.list("parts").has_word(noun);
        let one = matches!(instrument.quantity, Quantity::One | Quantity::Any);
        (plain && is_part && one).then(|| (objects, Some(noun.clone())))
    }

    /// "Grasp and lift the block", "open and close the drawer": the object is named once. Taking is a part of what follows it.
    pub(super) fn shared(&self, alt: &Alt<Vec<Clause>>, position: usize, out: &mut Alts<Vec<Clause>>) {
        for start in self.clause_starts(position) {
            for first in self.verbs(start) {
                let ends = self.after_particle(&first, first.next).into_iter();
                let joint = ends.filter_map(|end| self.past_any(&["and then", "and", "then"], end)).next();
                let Some(joint) = joint else { continue };
                for second in self.verbs(joint) {
                    let mut clauses = Vec::new();
                    self.frame(&second, &mut clauses);
                    for clause in clauses {
                        let Clause::Step(step) = &clause.value else { continue };
                        let Some(objects) = objects_of(step) else { continue };
                        let before = match first.verb.meaning {
                            VerbMeaning::Pick | VerbMeaning::Collect => None,
                            VerbMeaning::Act if self.serves(&first.verb.lemma, objects) => Some(Step::Act {
                                action: first.verb.lemma.clone(),
                                objects: objects.to_vec(),
                                part: None,
                            }),
                            _ => continue,
                        };
                        let mut begun = alt.clone();
                        begun.value.extend(before.map(Clause::Step));
                        out.push(extended(&begun, clause.value, clause.next, clause.cost + first.cost));
                    }
                }
            }
        }
    }
}

/// What a step is done to, when it names something.
fn objects_of(step: &Step) -> Option<&[NounPhrase]> {
    match step {
        Step::Pick { objects, .. }
        | Step::Place { objects, .. }
        | Step::Act { objects, .. }
        | Step::Unsupported { objects, .. } => Some(objects.as_slice()).filter(|objects| !objects.is_empty()),
        Step::Swap { .. } | Step::Go { .. } | Step::Home | Step::Look | Step::Stop => None,
    }
}
