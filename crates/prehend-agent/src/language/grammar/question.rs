//! Questions.

use super::building::Post;
use super::{Alt, Alts, Parser};
use crate::language::goal::{
    Goal, Head, Modifier, NounPhrase, Quantity, Question, Selector, Spatial, TableRegion,
};

impl Parser<'_> {
    /// Complete readings of the whole sentence as a question, cheapest first.
    pub(in crate::language) fn question(&self) -> Vec<(Goal, u32)> {
        let mut starts = vec![0];
        let mut index = 0;
        while index < starts.len() && starts.len() < 12 {
            let start = starts[index];
            let next = self.past("openers", start).or_else(|| self.past("asking", start));
            if let Some(next) = next {
                let next = next + usize::from(self.is_comma(next));
                if !starts.contains(&next) {
                    starts.push(next);
                }
            }
            index += 1;
        }
        let mut out: Alts<Question> = Vec::new();
        for start in starts {
            self.where_question(start, &mut out);
            self.count_question(start, &mut out);
            self.exists_question(start, &mut out);
            self.property_question(start, &mut out);
            self.distance_question(start, &mut out);
            self.compare_question(start, &mut out);
            self.which_question(start, &mut out);
            self.is_question(start, &mut out);
        }
        let mut complete: Vec<(Goal, u32)> = out
            .into_iter()
            .filter(|alt| {
                self.reach(alt.next);
                let next = self.past("closers", alt.next).unwrap_or(alt.next);
                self.at_end(next) || self.at_end(alt.next)
            })
            .map(|alt| (Goal::Question(alt.value), alt.cost))
            .collect();
        complete.sort_by_key(|(_, cost)| *cost);
        complete
    }

    fn where_question(&self, start: usize, out: &mut Alts<Question>) {
        let after = self.past("where_is", start);
        if let Some(after) = after {
            for nps in self.noun_list(after) {
                let next = self.past("where_tails", nps.next).unwrap_or(nps.next);
                out.push(Alt { value: Question::Where(nps.value), next, cost: nps.cost });
            }
        }
        if self.is(start, &["where"]) {
            for nps in self.noun_list(start + 1) {
                if let Some(next) = self.past("where_ends", nps.next) {
                    out.push(Alt { value: Question::Where(nps.value), next, cost: nps.cost });
                }
            }
        }
    }

    /// A noun phrase with the predicate that follows "is/are" added to it.
    fn with_predicate(&self, np: &Alt<NounPhrase>, next: usize) -> Alts<NounPhrase> {
        self.predicates(next)
            .into_iter()
            .filter_map(|post| {
                let mut described = np.value.clone();
                add(&mut described, &post.value).then(|| Alt {
                    value: described,
                    next: post.next,
                    cost: np.cost + post.cost,
                })
            })
            .collect()
    }

    fn count_question(&self, start: usize, out: &mut Alts<Question>) {
        let Some(after) = self.past("how_many", start) else {
            return;
        };
        let mut nouns = self.noun_phrase(after);
        if let Some(is) = self.past_any(&["are", "is"], after) {
            // "how many are in the bowl?"
            nouns.push(Alt { value: everything(), next: is - 1, cost: 2 });
        }
        for np in nouns {
            let mut np = np;
            np.value.quantity = Quantity::All;
            let tail = self.past("counted", np.next).unwrap_or(np.next);
            out.push(Alt { value: Question::Count(np.value.clone()), next: tail, cost: np.cost });
            for alt in self.with_predicate(&np, tail) {
                if tail > np.next {
                    out.push(Alt { value: Question::Count(alt.value), next: alt.next, cost: alt.cost });
                }
            }
            if let Some(be) = self.past("count_be", np.next) {
                for alt in self.with_predicate(&np, be) {
                    out.push(Alt { value: Question::Count(alt.value), next: alt.next, cost: alt.cost });
                }
            }
            // "how many apples does the bowl contain"
            if let Some(does) = self.past_any(&["does", "do"], np.next) {
                for container in self.noun_phrase(does) {
                    if let Some(next) = self.past("contain", container.next) {
                        let mut np = np.value.clone();
                        np.modifiers.push(modifier(Spatial::In, container.value));
                        out.push(Alt { value: Question::Count(np), next, cost: container.cost });
                    }
                }
            }
        }
    }

    fn exists_question(&self, start: usize, out: &mut Alts<Question>) {
        let after = self.past("is_there", start);
        if let Some(after) = after {
            for np in self.noun_phrase(after) {
                let next = self.past("around_here", np.next).unwrap_or(np.next);
                let mut value = np.value;
                value.quantity = match value.quantity {
                    Quantity::All | Quantity::One => Quantity::Any,
                    other => other,
                };
                out.push(Alt { value: Question::Exists(value), next, cost: np.cost });
            }
        }
        // "does the bowl contain an apple?"
        if let Some(does) = self.past_any(&["does", "do"], start) {
            for container in self.noun_phrase(does) {
                let Some(next) = self.past("contain", container.next) else {
                    continue;
                };
                for mut np in self.noun_phrase(next) {
                    np.value.modifiers.push(modifier(Spatial::In, container.value.clone()));
                    np.value.quantity = Quantity::Any;
                    let next = self.past_any(&["in it", "on it", "inside"], np.next).unwrap_or(np.next);
                    out.push(Alt { value: Question::Exists(np.value), next, cost: np.cost + container.cost });
                }
            }
        }
    }

    fn which_question(&self, start: usize, out: &mut Alts<Question>) {
        let everything_visible = |next| Alt { value: Question::Which(everything()), next, cost: 0 };
        if self.is(start, &["what", "which"]) {
            let noun = start + 1;
            if let Some(next) = self.past("which_seen", noun) {
                out.push(everything_visible(next));
                let np = Alt { value: everything(), next, cost: 0 };
                for alt in self.with_predicate(&np, next) {
                    out.push(Alt { value: Question::Which(alt.value), next: alt.next, cost: alt.cost });
                }
            }
            if let Some(be) = self.past("what_is", noun) {
                let be = self.past("the_thing", be).map_or(vec![be], |more| vec![be, more]);
                for be in be {
                    let np = Alt { value: everything(), next: be, cost: 0 };
                    for mut alt in self.with_predicate(&np, be) {
                        if !alt.value.selectors.is_empty() {
                            alt.value.quantity = Quantity::One;
                        }
                        out.push(Alt { value: Question::Which(alt.value), next: alt.next, cost: alt.cost });
                    }
                }
                // "what is the largest object?", "what is the thing next to the bowl?"
                for np in self.noun_phrase(self.past_any(&["is", "are"], noun).unwrap_or(noun)) {
                    let located = !np.value.modifiers.is_empty() || !np.value.selectors.is_empty();
                    let open = matches!(np.value.head, Head::Anything) || !np.value.selectors.is_empty();
                    if located && open && self.is(noun, &["is", "are"]) {
                        out.push(Alt { value: Question::Which(np.value), next: np.next, cost: np.cost });
                    }
                }
            }
            // "which mugs are on the plate?", "which objects do you see?", "what fruits are there?"
            for mut np in self.noun_phrase(noun) {
                if np.value.head == Head::It || np.value.head == Head::Them {
                    continue;
                }
                np.value.quantity = Quantity::All;
                if let Some(next) = self.past("which_seen", np.next) {
                    out.push(Alt { value: Question::Which(np.value.clone()), next, cost: np.cost });
                    for alt in self.with_predicate(&np, next) {
                        out.push(Alt { value: Question::Which(alt.value), next: alt.next, cost: alt.cost });
                    }
                }
                if let Some(be) = self.past("lie", np.next) {
                    for mut alt in self.with_predicate(&np, be) {
                        if !alt.value.selectors.is_empty() {
                            alt.value.quantity = Quantity::One;
                        }
                        out.push(Alt { value: Question::Which(alt.value), next: alt.next, cost: alt.cost });
                    }
                }
            }
            // "what does the bowl contain?"
            if let Some(does) = self.past_any(&["does", "do"], noun) {
                for container in self.noun_phrase(does) {
                    if let Some(next) = self.past("what_contains", container.next) {
                        let mut np = everything();
                        np.modifiers.push(modifier(Spatial::In, container.value));
                        out.push(Alt { value: Question::Which(np), next, cost: container.cost });
                    }
                }
            }
        }
        if let Some(next) = self.past("whole_scene", start) {
            out.push(everything_visible(next));
        }
    }

    fn is_question(&self, start: usize, out: &mut Alts<Question>) {
        let Some(after) = self.past("whether", start) else { return };
        let indirect = self.is(start, &["whether", "if"]);
        for subject in self.noun_phrase(after) {
            if matches!(subject.value.head, Head::Them) {
                continue;
            }
            let next = match (indirect, self.past_any(&["is", "are"], subject.next)) {
                (true, Some(next)) => next,
                (true, None) => continue,
                (false, _) => subject.next,
            };
            let description = NounPhrase { quantity: Quantity::Any, ..NounPhrase::default() };
            for alt in self.with_predicate(&Alt { value: description, next, cost: subject.cost }, next) {
                let value = Question::Is { subject: subject.value.clone(), description: alt.value };
                out.push(Alt { value, next: alt.next, cost: alt.cost });
            }
        }
    }
}

fn everything() -> NounPhrase {
    NounPhrase { quantity: Quantity::All, text: "objects".to_owned(), ..NounPhrase::default() }
}

fn modifier(relation: Spatial, target: NounPhrase) -> Modifier {
    Modifier { relation, targets: vec![target], negated: false }
}

/// Adds a predicate to a noun phrase; whether it fits.
fn add(np: &mut NounPhrase, post: &Post) -> bool {
    match post {
        Post::Where(modifiers) => np.modifiers.extend(modifiers.iter().cloned()),
        Post::Select(selectors) => np.selectors.extend(selectors.iter().cloned()),
        Post::Attributes(attributes) => np.attributes.extend(attributes.iter().cloned()),
        Post::NotAttributes(attributes) => np.excluded_attributes.extend(attributes.iter().cloned()),
        Post::Several(posts) => return posts.iter().all(|post| add(np, post)),
        Post::From(
            TableRegion::Left
            | TableRegion::Right
            | TableRegion::Front
            | TableRegion::Back
            | TableRegion::Center
            | TableRegion::Edge,
        )
        | Post::FromLevel(_)
        | Post::To(_)
        | Post::Except(_)
        | Post::ExceptAll(_)
        | Post::Of(_) => return false,
    }
    let _: &Vec<Selector> = &np.selectors;
    true
}
