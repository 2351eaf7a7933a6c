//! Questions about properties, sizes and distances.

use super::list::any_of;
use super::{Alt, Alts, Parser};
use crate::language::goal::{Dimension, NounPhrase, Quantity, Question, Selector};
use crate::language::lexicon::Describing;

impl Parser<'_> {
    pub(super) fn distance_question(&self, start: usize, out: &mut Alts<Question>) {
        if let Some(after) = self.past("how_far", start) {
            for first in self.noun_list(after) {
                let pair = |a: &NounPhrase, b: &NounPhrase| Question::Distance(a.clone(), b.clone());
                if let Some(next) = self.past("apart", first.next) {
                    self.push_pair(&first.value, next, first.cost, out);
                }
                if let (Some(next), [a]) =
                    (self.past_any(&["away from", "from", "to"], first.next), first.value.as_slice())
                {
                    for second in self.noun_phrase(next) {
                        out.push(Alt {
                            value: pair(a, &second.value),
                            next: second.next,
                            cost: first.cost + second.cost,
                        });
                    }
                }
            }
        }
        if let Some(next) = self.past_any(&["how far apart are", "how close together are"], start) {
            for list in self.noun_list(next) {
                self.push_pair(&list.value, list.next, list.cost, out);
            }
        }
        if let Some(after) = self.past("distance_between", start) {
            for list in self.noun_list(after) {
                self.push_pair(&list.value, list.next, list.cost, out);
            }
        }
        if let Some(after) = self.past("distance_from", start) {
            for first in self.noun_phrase(after) {
                if let Some(next) = self.past_any(&["to", "from"], first.next) {
                    for second in self.noun_phrase(next) {
                        out.push(Alt {
                            value: Question::Distance(first.value.clone(), second.value),
                            next: second.next,
                            cost: first.cost + second.cost,
                        });
                    }
                }
            }
        }
    }

    /// Two phrases, or one that means two objects (then both are the same phrase).
    pub(super) fn push_pair(&self, list: &[NounPhrase], next: usize, cost: u32, out: &mut Alts<Question>) {
        let pair = match list {
            [a, b] => (a.clone(), b.clone()),
            [both] if super::building::is_plural(both) => (both.clone(), both.clone()),
            _ => return,
        };
        out.push(Alt { value: Question::Distance(pair.0, pair.1), next, cost });
    }

    /// The dimension a question's size word asks for.
    fn measured(&self, word: &str) -> Option<Dimension> {
        self.lexicon.measures.word(word).copied()
    }

    /// A size word, comparative or superlative; its meaning and end.
    pub(super) fn size_word(&self, position: usize) -> Option<(Dimension, bool, usize)> {
        let start = self.skip_articles(position);
        let start = self.past("intensifiers", start).unwrap_or(start);
        self.lexicon.describing.at(self.tokens, start).find_map(|(length, describing)| match describing {
            Describing::Size(dimension, most) => Some((*dimension, *most, start + length)),
            _ => None,
        })
    }

    pub(super) fn options(&self, position: usize) -> Alts<Vec<NounPhrase>> {
        let position = position + usize::from(self.is_comma(position));
        let mut out = Vec::new();
        let mut frontier: Alts<Vec<NounPhrase>> = self
            .noun_phrase(position)
            .into_iter()
            .map(|a| Alt { value: vec![a.value], next: a.next, cost: a.cost })
            .collect();
        for _ in 0..4 {
            let mut longer = Vec::new();
            for alt in &frontier {
                let comma = alt.next + usize::from(self.is_comma(alt.next));
                let next = if self.is(comma, &["or", "and"]) { comma + 1 } else { comma };
                if next == alt.next {
                    continue;
                }
                for more in self.noun_phrase(next) {
                    let mut list = alt.value.clone();
                    list.push(more.value);
                    longer.push(Alt { value: list, next: more.next, cost: alt.cost + more.cost });
                }
            }
            out.extend(longer.iter().cloned());
            frontier = super::keep(longer, 4, 20);
        }
        out
    }

    pub(super) fn compare_question(&self, start: usize, out: &mut Alts<Question>) {
        // "which is larger, the mug or the bowl?", "which one of the mug and the bowl is larger?"
        if self.is(start, &["which", "what", "who"]) {
            let mut next = start + 1;
            next = self.past_any(&["one", "object", "thing"], next).unwrap_or(next);
            let before = self.past_any(&["of"], next);
            if let Some(is) = self.past_any(&["is", "are"], next)
                && let Some((dimension, more, end)) = self.size_word(is)
            {
                let end = self.past("things", end).unwrap_or(end);
                let end = self.past_any(&["of", "between", "among"], end).unwrap_or(end);
                for options in self.options(end) {
                    let value = Question::Compare { dimension, more, options: options.value };
                    out.push(Alt { value, next: options.next, cost: options.cost });
                }
            }
            // "which is closer to the bowl, the plate or the pan?"
            if let Some(is) = self.past_any(&["is", "are"], next) {
                self.nearer(is, out);
            }
            // "which of the two boxes is bigger?"
            for np in before.map_or_else(Vec::new, |of| self.noun_phrase(of)) {
                if !super::building::is_plural(&np.value) {
                    continue;
                }
                let Some(is) = self.past_any(&["is", "are"], np.next) else { continue };
                if let Some((dimension, more, end)) = self.size_word(is) {
                    let selector = if more { Selector::Most(dimension) } else { Selector::Least(dimension) };
                    let mut value = np.value;
                    value.selectors.push(selector);
                    value.quantity = Quantity::One;
                    out.push(Alt { value: Question::Which(value), next: end, cost: np.cost });
                }
            }
            if let Some(of) = before {
                for options in self.options(of) {
                    if let Some(is) = self.past_any(&["is", "are"], options.next)
                        && let Some((dimension, more, end)) = self.size_word(is)
                    {
                        let value = Question::Compare { dimension, more, options: options.value };
                        out.push(Alt { value, next: end, cost: options.cost });
                    }
                }
            }
        }
        // "is the mug or the bowl larger?"
        if let Some(is) = self.past_any(&["is", "are"], start) {
            for options in self.options(is) {
                if let Some((dimension, more, end)) = self.size_word(options.next) {
                    let value = Question::Compare { dimension, more, options: options.value };
                    out.push(Alt { value, next: end, cost: options.cost + 1 });
                }
            }
        }
    }

    /// "closer to the bowl, the plate or the pan"
    fn nearer(&self, position: usize, out: &mut Alts<Question>) {
        let (after, is_near) = match (self.past("closer_to", position), self.past("farther_from", position)) {
            (Some(after), _) => (after, true),
            (None, Some(after)) => (after, false),
            (None, None) => return,
        };
        for target in self.noun_phrase(after) {
            // Without the comma it is one of several targets.
            if !self.is_comma(target.next) {
                continue;
            }
            for options in self.options(target.next) {
                let mut one = any_of(options.value, Quantity::One);
                let targets = vec![target.value.clone()];
                one.selectors =
                    vec![if is_near { Selector::Closest(targets) } else { Selector::Farthest(targets) }];
                // What stands before the comma is what is gone by, and not one of the options.
                let cost = (target.cost + options.cost).saturating_sub(1);
                out.push(Alt { value: Question::Which(one), next: options.next, cost });
            }
        }
    }

    pub(super) fn property_question(&self, start: usize, out: &mut Alts<Question>) {
        let color = self.past("what_color", start);
        if let Some(after) = color {
            for np in self.noun_phrase(after) {
                let next = self.past_any(&["have", "in color"], np.next).unwrap_or(np.next);
                out.push(Alt { value: Question::Color(np.value), next, cost: np.cost });
            }
        }
        if self.is(start, &["how"])
            && let Some(dimension) = self.measured(self.word(start + 1))
            && self.is(start + 2, &["is", "are"])
        {
            for np in self.noun_phrase(start + 3) {
                out.push(Alt { value: Question::Measure(dimension, np.value), next: np.next, cost: np.cost });
            }
        }
        if let Some(after) = self.past_any(&["what is the", "what are the", "what"], start)
            && let Some(dimension) = self.measured(self.word(after))
            && let Some(of) = self.past("measured_of", after + 1)
        {
            for np in self.noun_phrase(of) {
                out.push(Alt { value: Question::Measure(dimension, np.value), next: np.next, cost: np.cost });
            }
        }
    }
}
