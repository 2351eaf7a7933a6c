//! Noun phrases: determiner, number, describing words, an open vocabulary of nouns, then modifiers.

use super::building::{Core, Start, attach, describe, quantity};
use super::{Alt, Alts, Parser, keep};
use crate::language::goal::{Head, Modifier, NounPhrase, Quantity, Selector, Spatial};
use crate::language::lexicon::{Describing, Determiner};

/// Longest compound noun, words.
const MAX_NOUN: usize = 6;
/// Most modifiers of one noun phrase.
const MAX_POST: usize = 4;

impl Parser<'_> {
    /// Noun phrases that start here.
    pub(super) fn noun_phrase(&self, position: usize) -> Alts<NounPhrase> {
        if let Some(known) = self.nouns.borrow().get(&position) {
            return known.clone();
        }
        let mut frontier = self.core(position);
        let mut done: Alts<NounPhrase> = Vec::new();
        for round in 0..=MAX_POST {
            done.extend(frontier.iter().filter_map(|alt| self.finished(position, alt)));
            if round == MAX_POST || frontier.is_empty() {
                break;
            }
            let mut longer: Alts<Core> = Vec::new();
            for alt in &frontier {
                for post in self.post(alt.next, &alt.value) {
                    if let Some(core) = attach(&alt.value, &post.value) {
                        longer.push(Alt { value: core, next: post.next, cost: alt.cost + post.cost });
                    }
                }
            }
            frontier = keep(longer, 6, 40);
        }
        let mut done = keep(done, 5, 60);
        for alt in &mut done {
            self.reach(alt.next);
            alt.value.text = self.text(position, alt.next);
        }
        self.nouns.borrow_mut().insert(position, done.clone());
        done
    }

    /// Closes what waited for a modifier that did not come.
    fn finished(&self, _position: usize, alt: &Alt<Core>) -> Option<Alt<NounPhrase>> {
        let mut np = alt.value.np.clone();
        if let Some(number) = alt.value.ordinal {
            // "the second drawer": from where is for the scene to say.
            np.selectors.push(Selector::Number(number));
        }
        match alt.value.distance {
            Some(true) => np.selectors.push(Selector::ClosestToRobot),
            Some(false) => np.selectors.push(Selector::FarthestFromRobot),
            None => {}
        }
        Some(Alt { value: np, next: alt.next, cost: alt.cost })
    }

    /// Noun phrases without what follows the noun.
    fn core(&self, position: usize) -> Alts<Core> {
        let mut out: Alts<Core> = Vec::new();
        let mut whole = |next: usize, quantity, head, cost| {
            let np = NounPhrase { quantity, head, ..NounPhrase::default() };
            out.push(Alt { value: Core { np, ..Core::default() }, next, cost });
        };
        for next in self.pasts("it", position) {
            let bare = next == position + 1 && self.is(position, &["that", "this"]);
            whole(next, Quantity::One, Head::It, if bare { 2 } else { 0 });
        }
        for next in self.pasts("them", position) {
            let bare = next == position + 1 && self.is(position, &["these", "those"]);
            whole(next, Quantity::All, Head::Them, if bare { 2 } else { 0 });
        }
        for next in self.pasts("everything", position) {
            whole(next, Quantity::All, Head::Anything, 0);
        }
        for next in self.pasts("anything", position) {
            whole(next, Quantity::Any, Head::Anything, 0);
        }
        // "something red"
        for (key, quantity) in [("everything", Quantity::All), ("anything", Quantity::Any)] {
            for next in self.pasts(key, position) {
                for (length, describing) in self.lexicon.describing.at(self.tokens, next) {
                    let word = self.text(next, next + length);
                    let np = NounPhrase { quantity, ..NounPhrase::default() };
                    let core = Core { np, ..Core::default() };
                    if let Some(value) = describe(&core, *describing, word, false) {
                        out.push(Alt { value, next: next + length, cost: 0 });
                    }
                }
            }
        }
        let mut whole = |next: usize, quantity, head, cost| {
            let np = NounPhrase { quantity, head, ..NounPhrase::default() };
            out.push(Alt { value: Core { np, ..Core::default() }, next, cost });
        };
        for next in self.pasts("others", position) {
            whole(next, Quantity::Others, Head::Anything, 0);
        }
        if self.is(position, &["both"]) {
            whole(position + 1, Quantity::All, Head::Them, 3);
        }
        if self.is(position, &["all"]) {
            whole(position + 1, Quantity::All, Head::Anything, 3);
        }
        let mut starts = vec![(position, None, 0)];
        let longest = self.lexicon.determiners.longest(self.tokens, position).unwrap_or(0);
        for (length, determiner) in self.lexicon.determiners.at(self.tokens, position) {
            starts.push((position + length, Some(*determiner), u32::from(length < longest)));
            // "all of these", "both the".
            if let Some((more, _)) = self.lexicon.determiners.at(self.tokens, position + length).next()
                && matches!(determiner, Determiner::All | Determiner::Both | Determiner::Any)
            {
                starts.push((position + length + more, Some(*determiner), 0));
            }
        }
        for (next, determiner, cost) in starts {
            let start = Start { determiner, number: None, name: None };
            self.described(next, start, Core::default(), cost, &mut out);
            for (length, number) in self.numbers(next) {
                let after = next + length;
                // "the one mug" is counted, "the 1 key" named; "a pair of" is no name.
                let names = length == 1 && self.word(next) != "one";
                let is_one = matches!(determiner, Some(Determiner::One | Determiner::Any));
                let name = (names && is_one).then_some((after, number));
                let start = Start { determiner, number: Some(number), name };
                // "two of the mugs"
                let of = self.past("of_the", after);
                for after in [Some(after), of].into_iter().flatten() {
                    self.described(after, start, Core::default(), cost, &mut out);
                }
            }
        }
        keep(out, 6, 60)
    }

    /// Numbers in words or digits, with their length.
    pub(super) fn numbers(&self, position: usize) -> Vec<(usize, u32)> {
        let mut found: Vec<(usize, u32)> = self
            .lexicon
            .numbers
            .at(self.tokens, position)
            .map(|(length, number)| (length, *number))
            .collect();
        if let Ok(number) = self.word(position).parse::<u32>() {
            found.push((1, number));
        }
        found
    }

    /// Reads describing words and then the noun.
    fn described(&self, position: usize, start: Start, core: Core, cost: u32, out: &mut Alts<Core>) {
        self.nouns_from(position, start, &core, cost, out);
        let described = core != Core::default();
        let mut next = position;
        if described && (self.is_comma(next) || self.is(next, &["and", "but"])) {
            next += 1;
        }
        let joined = next > position;
        if let Some(after) = self.past("intensifiers", next)
            && self.lexicon.describing.at(self.tokens, after).next().is_some()
        {
            next = after;
        }
        let excluded = self.is(next, &["non"]);
        if excluded {
            next += 1;
        }
        for (length, number) in self.lexicon.ordinals.at(self.tokens, next) {
            if core.ordinal.is_none() && !joined {
                let core = Core { ordinal: Some(*number), ..core.clone() };
                self.described(next + length, start, core, cost, out);
            }
        }
        for (length, describing) in self.lexicon.describing.at(self.tokens, next) {
            let word = self.text(next, next + length);
            let Some(described) = describe(&core, *describing, word, excluded) else { continue };
            let mut after = next + length;
            if let Some(noise) = self.past("attribute_noise", after) {
                after = noise;
            }
            self.described(after, start, described, cost + u32::from(joined), out);
        }
    }

    /// Emits every noun that starts here.
    fn nouns_from(&self, position: usize, start: Start, core: &Core, cost: u32, out: &mut Alts<Core>) {
        let described = *core != Core::default();
        if described {
            // "the red", "the largest": the noun is understood.
            let cheap = !core.np.selectors.is_empty() || core.distance.is_some() || core.ordinal.is_some();
            let mut core = core.clone();
            core.np.head = Head::Noun("one".to_owned());
            core.np.quantity = quantity(start, false, false);
            let noun_like = self.list("attribute_nouns").has_word(self.word(position.saturating_sub(1)));
            let extra = match (noun_like, cheap) {
                (true, _) => 4,
                (false, true) => 1,
                (false, false) => 2,
            };
            out.push(Alt { value: core, next: position, cost: cost + extra });
        }
        let mut run_cost = cost;
        for length in 1..=MAX_NOUN {
            let last = position + length - 1;
            let word = self.word(last);
            if !self.lexicon.nounable(word) {
                break;
            }
            let describing = self.lexicon.describing.word(word);
            let is_verb = self.lexicon.verbs.has_word(word);
            if length == 1 {
                run_cost += match describing {
                    Some(_) if self.list("attribute_nouns").has_word(word) => 1,
                    Some(_) => 2,
                    None if self.is_in("bare_places", position)
                        && !self.lexicon.nounable(self.word(position + 1)) =>
                    {
                        2
                    }
                    None if is_verb && start.determiner.is_none() && !described => 3,
                    None => 0,
                };
            } else {
                // "another block" is a block, and no kind of it.
                run_cost +=
                    if length == 2 && self.lexicon.determiners.has_word(self.word(position)) { 4 } else { 0 };
                run_cost += if self.phrase_starts(last) { 3 } else { 0 };
                let side = matches!(describing, Some(Describing::Side(_))) || self.is(last, &["back", "top"]);
                run_cost += if side || self.lexicon.numbers.has_word(word) { 2 } else { u32::from(is_verb) };
            }
            // "block 3" ends with its number.
            if length > 2 && self.word(last - 1).chars().all(|c| c.is_ascii_digit()) {
                break;
            }
            if length == 1 && self.phrase_starts(last) {
                run_cost += 3;
            }
            let number = self.lexicon.numbers.has_word(word) || self.lexicon.ordinals.has_word(word);
            if length == 1 && number && word != "one" {
                break;
            }
            let noun_of_attribute = self.list("attribute_nouns").has_word(word);
            if length == 1 && describing.is_some() && !noun_of_attribute {
                continue;
            }
            if word.chars().all(|c| c.is_ascii_digit()) && length == 1 {
                // "2 cups" are two; "2 numbered block" is a name.
                run_cost += 1;
                continue;
            }
            // "Get the oven hot", "pull the door open": what follows the noun says what shall become of it.
            let names_state =
                matches!(describing, Some(Describing::Other | Describing::State(..) | Describing::Size(..)));
            if length > 1 && names_state && !noun_of_attribute {
                continue;
            }
            let (singular, plural) = self.lexicon.singular(word);
            let mut words = self.text(position, last);
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(&singular);
            let head = if length == 1 && singular == "one" {
                Head::Noun("one".to_owned())
            } else if length == 1 && self.list("things").has_word(&singular) {
                Head::Anything
            } else {
                Head::Noun(words)
            };
            let plural_only = self.list("plural_only").has_word(word);
            let has_plural = !plural_only && !word.ends_with('s') && !self.list("no_plural").has_word(word);
            let (start, head) = match (start.name, head) {
                // "the 8 keys" are eight, "the 8 key" is one with that name.
                (Some((at, number)), Head::Noun(noun)) if at == position && !plural && has_plural => {
                    (Start { number: None, ..start }, Head::Noun(format!("{number} {noun}")))
                }
                (_, head) => (start, head),
            };
            let mut core = core.clone();
            core.np.head = head;
            core.np.quantity = quantity(start, plural, plural_only);
            self.owned(last + 1, core, run_cost, out);
        }
    }

    /// Whether a preposition or adverb of several words starts here ("next to", "closer to", "out of").
    fn phrase_starts(&self, position: usize) -> bool {
        let long = |length: usize| length > 1;
        self.lexicon.spatial_words.at(self.tokens, position).any(|(length, _)| long(length))
            || self.lexicon.place_words.at(self.tokens, position).any(|(length, _)| long(length))
            || self.lexicon.removals.at(self.tokens, position).any(|(length, _)| long(length))
            || ["closest", "farthest", "away", "anywhere", "together", "on_top", "inside"]
                .iter()
                .any(|key| self.past(key, position).is_some())
    }

    /// After the noun: as it is, "of tuna", or "'s handle".
    fn owned(&self, next: usize, core: Core, cost: u32, out: &mut Alts<Core>) {
        if self.is(next, &["of"])
            && let Head::Noun(noun) = &core.np.head
        {
            for length in 1..=3 {
                let last = next + length;
                if !self.lexicon.nounable(self.word(last)) || self.phrase_starts(last) {
                    break;
                }
                let mut longer = core.clone();
                longer.np.head = Head::Noun(format!("{noun} of {}", self.text(next + 1, last + 1)));
                out.push(Alt { value: longer, next: last + 1, cost });
            }
        }
        if self.is(next, &["'s"]) {
            let mut owner = core.np.clone();
            owner.text = self.text(next.saturating_sub(3), next);
            let mut parts = Vec::new();
            let part = Start { determiner: Some(Determiner::One), number: None, name: None };
            self.described(next + 1, part, Core::default(), cost, &mut parts);
            for mut part in parts {
                part.value.np.modifiers.push(Modifier {
                    relation: Spatial::PartOf,
                    targets: vec![owner.clone()],
                    negated: false,
                });
                out.push(part);
            }
        }
        out.push(Alt { value: core, next, cost });
    }
}
