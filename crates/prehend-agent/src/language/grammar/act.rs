//! Verbs that act on parts: "open the top drawer", "turn the stove on", "pull the handle of the door".

use super::verb::Found;
use super::{Alt, Alts, Clause, Parser};
use crate::language::goal::{Head, Modifier, NounPhrase, Spatial, Step};
use crate::language::lexicon::VerbMeaning;

impl Parser<'_> {
    /// A verb with its particle before the object.
    pub(super) fn act(&self, found: &Found<'_>, out: &mut Alts<Clause>) {
        for objects in self.noun_list(found.next) {
            self.acted(&found.verb.lemma, &objects, objects.next, out);
        }
        // "type the letter a": a key with that on it.
        if let Some(at) = self.past("the_key", found.next)
            && !self.word(at).is_empty()
        {
            let noun = format!("{} key", self.word(at));
            let np =
                NounPhrase { text: format!("the {noun}"), head: Head::Noun(noun), ..NounPhrase::default() };
            self.acted(&found.verb.lemma, &Alt { value: vec![np], next: at + 1, cost: 0 }, at + 1, out);
        }
    }

    /// A verb whose particle follows the object: "turn the stove on", "pull the drawer open".
    pub(super) fn separated(&self, start: usize, out: &mut Alts<Clause>) {
        for (length, verb) in self.lexicon.separable.at(self.tokens, start) {
            for objects in self.noun_list(start + length) {
                let Some(next) = self.past_words(&verb.particle, objects.next) else { continue };
                self.acted(&verb.lemma, &objects, next, out);
                // "pull the plug out of the power strip": where it is.
                let Some(source) = self.past_any(&["of", "from"], next) else { continue };
                for whole in self.noun_list(source) {
                    let mut value = objects.value.clone();
                    let Some(last) = value.last_mut() else { continue };
                    last.modifiers.push(Modifier {
                        relation: Spatial::At,
                        targets: whole.value,
                        negated: false,
                    });
                    let cost = objects.cost + whole.cost;
                    self.acted(&verb.lemma, &Alt { value, next: whole.next, cost }, whole.next, out);
                }
            }
        }
    }

    /// The action, when the table has a rule for the things, with the part it names, if any.
    fn acted(&self, lemma: &str, objects: &Alt<Vec<NounPhrase>>, next: usize, out: &mut Alts<Clause>) {
        let (value, part) = match self.part_of(&objects.value) {
            Some((whole, part)) if !self.serves(lemma, &objects.value) => (vec![whole], Some(part)),
            _ => (objects.value.clone(), None),
        };
        if !self.serves(lemma, &value) {
            return;
        }
        let step = |part| Clause::Step(Step::Act { action: lemma.to_owned(), objects: value.clone(), part });
        out.push(Alt { value: step(part.clone()), next, cost: objects.cost });
        if let (None, true, Some((named, after))) = (part, self.is_in("act_by", next), self.by_part(next)) {
            out.push(Alt { value: step(Some(named)), next: after, cost: objects.cost });
        }
    }

    /// Whether a verb is also one of taking things from where they are.
    pub(super) fn lifts(&self, lemma: &str) -> bool {
        let moves = |meaning| matches!(meaning, VerbMeaning::Remove | VerbMeaning::Place | VerbMeaning::Pick);
        lemma.ends_with(" out")
            || self.lexicon.verbs.iter().any(|(_, verb)| verb.lemma == lemma && moves(verb.meaning))
    }

    /// Whether the table of actions has a rule for this verb on each of these things; a pronoun may mean any.
    pub(super) fn serves(&self, lemma: &str, objects: &[NounPhrase]) -> bool {
        let actions = &self.lexicon.actions;
        !objects.is_empty()
            && objects.iter().all(|np| match &np.head {
                Head::Noun(noun) if noun != "one" => {
                    let word = noun.split(" of ").next().unwrap_or(noun);
                    // The gripper is opened by words of its own.
                    !self.list("hand").has_word(noun) && noun == word && actions.rule(lemma, word).is_some()
                }
                // "Take the item out of the drawer" is no plug that is pulled.
                Head::Anything => actions.of_verb(lemma).next().is_some() && !self.lifts(lemma),
                Head::Noun(_) | Head::It | Head::Them => actions.of_verb(lemma).next().is_some(),
            })
    }
}
