//! Several noun phrases: joined by commas and "and", or of which one will do.

use super::{Alt, Alts, Parser, keep};
use crate::language::goal::{AttributeKind, Head, NounPhrase, Quantity};

impl Parser<'_> {
    /// Two or more noun phrases of which one will do: "the apple or the pear", "either the red or the blue mug".
    fn alternatives(&self, position: usize) -> Alts<Vec<NounPhrase>> {
        let start = self.past_words("either", position).unwrap_or(position);
        let is_one = |np: &NounPhrase| matches!(np.quantity, Quantity::One | Quantity::Any);
        let mut out = Vec::new();
        let begun = self.noun_phrase(start).into_iter().filter(|alt| is_one(&alt.value));
        let mut frontier: Alts<Vec<NounPhrase>> =
            begun.map(|alt| Alt { value: vec![alt.value], next: alt.next, cost: alt.cost }).collect();
        for _ in 0..4 {
            let mut longer = Vec::new();
            let mut listed = Vec::new();
            for alt in &frontier {
                let comma = alt.next + usize::from(self.is_comma(alt.next));
                // "the apple, the pear or the lemon": "or" comes with the last one.
                let or = self.past_words("or", comma);
                let Some(next) = or.or_else(|| (comma > alt.next).then_some(comma)) else { continue };
                for item in self.noun_phrase(next).into_iter().filter(|item| is_one(&item.value)) {
                    let mut list = alt.value.clone();
                    let inherited = inherit_head(&mut list, &item.value);
                    list.push(item.value);
                    let cost = (alt.cost + item.cost).saturating_sub(if inherited { 2 } else { 0 });
                    let alt = Alt { value: list, next: item.next, cost };
                    if or.is_some() {
                        listed.push(alt.clone());
                    }
                    longer.push(alt);
                }
            }
            for alt in &listed {
                let one = any_of(alt.value.clone(), Quantity::Any);
                out.push(Alt { value: vec![one], next: alt.next, cost: alt.cost });
            }
            frontier = keep(longer, 4, 20);
        }
        out
    }

    /// One or more noun phrases joined by commas and "and", or alternatives.
    pub(super) fn noun_list(&self, position: usize) -> Alts<Vec<NounPhrase>> {
        if let Some(known) = self.lists.borrow().get(&position) {
            return known.clone();
        }
        let mut frontier: Alts<Vec<NounPhrase>> = self
            .noun_phrase(position)
            .into_iter()
            .map(|alt| Alt { value: vec![alt.value], next: alt.next, cost: alt.cost })
            .collect();
        let mut done = self.alternatives(position);
        while !frontier.is_empty() && done.len() < 200 {
            let mut longer = Vec::new();
            for alt in &frontier {
                let Some((next, comma_only)) = self.past_join(alt.next) else { continue };
                for item in self.noun_phrase(next) {
                    let mut list = alt.value.clone();
                    let before = alt.cost;
                    let named = self.lexicon.determiners.at(self.tokens, next).next().is_some();
                    let two_coloured = !named && is_two_coloured(&list, &item.value);
                    let inherited = inherit_head(&mut list, &item.value) && !two_coloured;
                    list.push(item.value.clone());
                    // "the apple in the bowl and the pear": more likely two destinations.
                    let placed = alt.value.last().is_some_and(|np| !np.modifiers.is_empty());
                    let cost = (before + item.cost).saturating_sub(if inherited { 2 } else { 0 })
                        + u32::from(placed);
                    longer.push(Alt { value: list, next: item.next, cost: cost + u32::from(comma_only) });
                }
            }
            done.extend(frontier);
            frontier = keep(longer, 4, 30);
        }
        let done = keep(done, 6, 80);
        self.lists.borrow_mut().insert(position, done.clone());
        done
    }

    /// Position after what joins two noun phrases, and whether it was only a comma.
    fn past_join(&self, position: usize) -> Option<(usize, bool)> {
        let comma = self.is_comma(position);
        let next = position + usize::from(comma);
        if let Some(after) = self.past("list_joints", next) {
            return Some((after, false));
        }
        comma.then_some((next, true))
    }
}

/// One of several.
pub(super) fn any_of(alternatives: Vec<NounPhrase>, quantity: Quantity) -> NounPhrase {
    let texts: Vec<&str> = alternatives.iter().map(|np| np.text.as_str()).collect();
    NounPhrase { text: texts.join(" or "), quantity, alternatives, ..NounPhrase::default() }
}

/// Whether "the red" and "blue mug" are more likely one thing of two colours: "the red and blue mug", other than "the red and the
/// blue mug" or "the red and blue mugs".
fn is_two_coloured(list: &[NounPhrase], item: &NounPhrase) -> bool {
    let only_colors = |np: &NounPhrase| {
        np.quantity == Quantity::One
            && np.selectors.is_empty()
            && !np.attributes.is_empty()
            && np.attributes.iter().all(|attribute| attribute.kind == AttributeKind::Color)
    };
    let is_color = |np: &NounPhrase| np.head == Head::Noun("one".to_owned()) && only_colors(np);
    matches!(list, [first] if is_color(first)) && only_colors(item)
}

/// "the red and the blue mug": the first takes the noun of the second. Whether it did.
fn inherit_head(list: &mut [NounPhrase], item: &NounPhrase) -> bool {
    let one = Head::Noun("one".to_owned());
    if item.head == one || !matches!(item.head, Head::Noun(_) | Head::Anything) {
        return false;
    }
    let mut inherited = false;
    for earlier in list.iter_mut().rev() {
        if earlier.head != one || earlier.attributes.is_empty() && earlier.selectors.is_empty() {
            break;
        }
        earlier.head = item.head.clone();
        if item.quantity == Quantity::All {
            earlier.quantity = Quantity::All;
        }
        inherited = true;
    }
    inherited
}
