//! Where something shall go.

use super::building::is_plural;
use super::{Alt, Alts, Parser};
use crate::language::goal::{Destination, Head, NounPhrase, PlaceRelation, Quantity, TableRegion};
use crate::language::lexicon::{Determiner, PlaceWord};
use prehend_scene::Relation;

impl Parser<'_> {
    /// Destinations that start here.
    pub(super) fn destination(&self, position: usize) -> Alts<Destination> {
        let mut out = Vec::new();
        let mut starts = vec![position];
        for round in 0..4 {
            let Some(last) = starts.get(round).copied() else { break };
            match self.past("verb_noise", last).or_else(|| self.past("preposition_noise", last)) {
                Some(next) => starts.push(next),
                None => break,
            }
        }
        for start in starts {
            self.destination_at(start, &mut out);
        }
        // "Slightly to the right" says how far, though such words mean nothing before other places.
        let is_shift = |alt: &Alt<Destination>, told: bool| matches!(alt.value.relation, PlaceRelation::Shift(_, length) if length.is_some() == told);
        let told: Vec<usize> = out.iter().filter(|alt| is_shift(alt, true)).map(|alt| alt.next).collect();
        out.retain(|alt| !is_shift(alt, false) || !told.contains(&alt.next));
        for alt in &mut out {
            self.reach(alt.next);
            alt.value.words = self.text(position, alt.next);
        }
        super::keep(out, 5, 40)
    }

    fn destination_at(&self, start: usize, out: &mut Alts<Destination>) {
        let mut push = |relation, targets, next, cost| {
            out.push(Alt { value: Destination::new(relation, targets, ""), next, cost });
        };
        let known = PlaceRelation::Known;
        let mut spots = Vec::new();
        self.spots(start, &mut spots);
        for Alt { value: (relation, targets), next, cost } in spots {
            push(relation, targets, next, cost);
        }
        for next in self.pasts("away", start) {
            // "away from the plate" is a preposition.
            if !self.is(next, &["from"]) {
                push(known(Relation::Away), Vec::new(), next, 1);
            }
        }
        for next in self.pasts("stacked", start) {
            push(PlaceRelation::Stacked, Vec::new(), next, 0);
        }
        for next in self.pasts("anywhere", start) {
            push(known(Relation::Table), Vec::new(), next, 1);
            for preposition in ["on", "onto"] {
                if self.is(next, &[preposition])
                    && let Some(end) = self.table(next + 1)
                {
                    push(known(Relation::Table), Vec::new(), end, 0);
                }
            }
        }
        let it = || vec![NounPhrase { head: Head::It, text: "it".to_owned(), ..NounPhrase::default() }];
        for next in self.pasts("inside", start) {
            if !self.is(next, &["of"]) {
                push(known(Relation::In), it(), next, 1);
            }
        }
        for next in self.pasts("on_top", start) {
            if !self.is(next, &["of"]) {
                push(known(Relation::On), it(), next, 1);
            }
        }
        if let Some(region) = self.past("to_region", start) {
            if let Some((region, next)) = self.table_region(region) {
                let dearer = if region == TableRegion::Edge { 2 } else { 0 };
                push(PlaceRelation::TableRegion(region), Vec::new(), next, dearer);
            }
            let is_direction = self.is_in("toward_region", start);
            if let Some((side, next)) = self.side(region)
                && !self.is(next, &["of", "from"])
                && !(is_direction && self.is_bare_side(side, next))
            {
                // Two sides are a corner of their own.
                let dearer = if side == TableRegion::Edge { 2 } else { 0 };
                push(PlaceRelation::TableRegion(side), Vec::new(), next, dearer);
            }
            let edge = self.skip_articles(region);
            if let Some(next) = self.past("corners", edge).or_else(|| self.past_words("end", edge)) {
                let next = match self.is(next, &["of"]) {
                    true => self.table(next + 1),
                    false => Some(next),
                };
                if let Some(next) = next {
                    push(PlaceRelation::TableRegion(TableRegion::Edge), Vec::new(), next, 0);
                }
            }
        }
        // "to its left"
        for owned in self.pasts("at_its", start) {
            let Some(relation) = self.lexicon.its_sides.word(self.word(owned)) else { continue };
            // "on its side" lays it down: no skill does that.
            if *relation == Relation::NextTo && self.is(start, &["on"]) {
                continue;
            }
            let next = self.past_any(&["side", "hand side"], owned + 1).unwrap_or(owned + 1);
            push(known(*relation), it(), next, 0);
        }
        for (length, word) in self.lexicon.place_words.at(self.tokens, start) {
            self.preposition(start + length, *word, out);
        }
    }

    fn preposition(&self, after: usize, word: PlaceWord, out: &mut Alts<Destination>) {
        let mut push = |relation, targets, next, cost| {
            out.push(Alt { value: Destination::new(relation, targets, ""), next, cost });
        };
        let relation = match word {
            PlaceWord::Known(relation) => PlaceRelation::Known(relation),
            PlaceWord::To => PlaceRelation::To,
            PlaceWord::Under => PlaceRelation::Under,
            PlaceWord::Above => PlaceRelation::Above,
        };
        let onto = matches!(word, PlaceWord::Known(Relation::On) | PlaceWord::To);
        if onto && let Some(next) = self.the_table(after) {
            push(PlaceRelation::Known(Relation::Table), Vec::new(), next, 0);
            return;
        }
        if onto || matches!(word, PlaceWord::Known(Relation::In | Relation::NextTo)) {
            let article = self.skip_articles(after);
            if let Some(next) = self.past("floor", article)
                && self.boundary(next)
            {
                push(PlaceRelation::Floor, Vec::new(), next, 0);
                return;
            }
        }
        // "a free spot on the table", "an empty place"
        if matches!(word, PlaceWord::To | PlaceWord::Known(Relation::On | Relation::In)) {
            let article = match self.lexicon.determiners.at(self.tokens, after).next() {
                Some((length, Determiner::Any | Determiner::One)) => after + length,
                _ => after,
            };
            if self.is_in("free_place", article) && self.is_in("place_words", article + 1) {
                let mut next = article + 2;
                if self.is(next, &["on", "of", "at"]) {
                    next = self.table(next + 1).unwrap_or(next);
                }
                push(PlaceRelation::Known(Relation::Table), Vec::new(), next, 0);
            }
        }
        if self.past_any(&["each other", "one another"], after).is_some() {
            return;
        }
        for targets in self.noun_list(after) {
            let number = targets.value.len();
            let plural = targets.value.iter().any(is_plural);
            let cost = match word {
                PlaceWord::Known(Relation::Between) => match (number, plural) {
                    (2, _) | (1, true) => Some(0),
                    _ => None,
                },
                PlaceWord::Known(Relation::Away) => Some(0),
                _ if number == 1 => Some(0),
                PlaceWord::Known(Relation::NextTo) if number == 2 => Some(2),
                _ => None,
            };
            let is_table =
                |np: &NounPhrase| matches!(&np.head, Head::Noun(noun) if self.list("table").has_word(noun));
            let about_table = !self.lexicon.tables_are_things && targets.value.iter().any(is_table);
            if let Some(cost) = cost.map(|cost| cost + if about_table { 2 } else { 0 }) {
                push(relation, targets.value, targets.next, targets.cost + cost);
            }
        }
    }

    /// Whether a clause can end here.
    pub(super) fn boundary(&self, position: usize) -> bool {
        position >= self.tokens.len()
            || self.word(position).is_empty()
            || self.is_in("next_clause", position)
            || self.past("closers", position).is_some()
    }

    /// A phrase for everything, for "empty the basket".
    pub(super) fn all_things() -> NounPhrase {
        NounPhrase { quantity: Quantity::All, text: "everything".to_owned(), ..NounPhrase::default() }
    }
}
