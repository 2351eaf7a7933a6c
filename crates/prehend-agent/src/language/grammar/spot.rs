//! Parts of the table, distances and places of other things: "in the back left corner", "10 cm to the right", "a bit closer to me",
//! "where the blue mug is now".

use super::{Alt, Alts, Parser};
use crate::language::goal::{NounPhrase, PlaceRelation, Step, TableRegion, Toward};
use crate::language::lexicon::Describing;

/// What "a bit" and "a few centimetres" are, millimetres.
const A_BIT: u32 = 50;
const A_FEW: u32 = 30;
/// Farthest that is a shift on a table, millimetres: what is more was misheard, or is meant otherwise.
const FARTHEST: f64 = 2000.0;
/// A relation with its targets.
type Spot = (PlaceRelation, Vec<NounPhrase>);

impl Parser<'_> {
    /// Destinations that a place on the table says by itself, and not by a relation to what stands there.
    pub(super) fn spots(&self, start: usize, out: &mut Alts<Spot>) {
        self.corner_spot(start, out);
        self.place_of(start, out);
        if let Some((length, after)) = self.length(start) {
            self.directions(after, Some(length), 0, out);
        }
        let mut bare = Vec::new();
        self.directions(start, None, 0, &mut bare);
        for alt in bare {
            let PlaceRelation::Shift(toward, None) = alt.value.0 else { continue };
            let by = self.past_any(&["by", "about", "by about"], alt.next).unwrap_or(alt.next);
            if let Some((length, next)) = self.length(by) {
                let value = (PlaceRelation::Shift(toward, Some(length)), alt.value.1.clone());
                out.push(Alt { value, next, cost: alt.cost });
            }
            out.push(alt);
        }
    }

    /// Whether a side that ends here is a direction, and no part of the table: "to the left", not "to the left side".
    pub(super) fn is_bare_side(&self, side: TableRegion, next: usize) -> bool {
        !matches!(side, TableRegion::Edge | TableRegion::Center)
            && !self.is_table_part(next.saturating_sub(1))
    }

    /// Whether the word here names a part of the table rather than a direction.
    fn is_table_part(&self, position: usize) -> bool {
        self.is_in("table_parts", position) || self.is_in("corners", position)
    }

    /// A length in millimetres: "10 cm", "2.5 centimetres", "a bit".
    fn length(&self, position: usize) -> Option<(u32, usize)> {
        let position = self.past_any(&["by", "about", "by about", "another"], position).unwrap_or(position);
        if let Some(next) = self.past("a_few", position) {
            return Some((A_FEW, next));
        }
        if let Some(next) = self.past("a_bit", position) {
            return Some((A_BIT, next));
        }
        let unit = |word: &str| self.lexicon.units.word(word).copied();
        let word = self.word(position);
        // "10cm" is one word.
        let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        let (number, rest) = word.split_at(digits);
        let (number, factor, next) = match (number.parse::<f64>().ok(), rest) {
            (Some(number), "") => (number, unit(self.word(position + 1))?, position + 2),
            (Some(number), rest) => (number, unit(rest)?, position + 1),
            (None, _) => {
                let (length, number) = self.numbers(position).into_iter().next()?;
                (f64::from(number), unit(self.word(position + length))?, position + length + 1)
            }
        };
        let millimetres = number * factor;
        (1.0..=FARTHEST).contains(&millimetres).then_some((millimetres.round() as u32, next))
    }

    /// "to the right", "forward", "closer to me", "toward the bowl".
    fn directions(&self, start: usize, length: Option<u32>, cost: u32, out: &mut Alts<Spot>) {
        let mut push = |toward: Toward, targets: Vec<NounPhrase>, next: usize, extra: u32| {
            let value = (PlaceRelation::Shift(toward, length), targets);
            out.push(Alt { value, next, cost: cost + extra });
        };
        let start = self.past_any(&["further", "farther", "more"], start).unwrap_or(start);
        if let Some(region) = self.lexicon.directions.word(self.word(start))
            && !self.is(start + 1, &["of"])
        {
            push(Toward::Side(*region), Vec::new(), start + 1, 0);
        }
        if let Some(after) = self.past("to_side", start)
            && let Some((region, next)) = self.side(after)
            && self.is_bare_side(region, next)
            && !self.is(next, &["of", "from"])
        {
            push(Toward::Side(region), Vec::new(), next, 0);
        }
        let is_away = self.past_any(&["away from", "from"], start).filter(|_| length.is_some());
        for next in is_away.into_iter().flat_map(|after| self.pasts("robot", after)) {
            push(Toward::Side(TableRegion::Back), Vec::new(), next, 0);
        }
        if length.is_some() && self.is(start, &["away"]) && self.boundary(start + 1) {
            push(Toward::Side(TableRegion::Back), Vec::new(), start + 1, 0);
        }
        let nearer = self.past_any(&["closer", "nearer"], start);
        if let Some(next) = nearer.filter(|next| self.boundary(*next)) {
            push(Toward::Side(TableRegion::Front), Vec::new(), next, 0);
        }
        let to = nearer.and_then(|after| self.past_any(&["to", "towards", "toward"], after));
        let toward = self.past_any(&["towards", "toward", "in the direction of"], start);
        for after in to.into_iter().chain(toward) {
            for next in self.pasts("robot", after) {
                push(Toward::Side(TableRegion::Front), Vec::new(), next, 0);
            }
            for target in self.noun_phrase(after) {
                if !self.means_robot(&target.value) {
                    push(Toward::Target, vec![target.value], target.next, target.cost + 1);
                }
            }
        }
    }

    /// "in the back left corner of the table".
    fn corner_spot(&self, start: usize, out: &mut Alts<Spot>) {
        let Some(after) = self.past("to_corner", start) else {
            return;
        };
        let side = |position: usize| {
            let mut words = self.lexicon.describing.at(self.tokens, position);
            words.find_map(|(length, describing)| match describing {
                Describing::Side(region) if !matches!(region, TableRegion::Edge | TableRegion::Center) => {
                    Some((*region, position + length))
                }
                _ => None,
            })
        };
        let Some((first, next)) = side(self.skip_articles(after)) else { return };
        let Some((second, next)) = side(next) else { return };
        let is_ahead = |region: TableRegion| matches!(region, TableRegion::Front | TableRegion::Back);
        let (ahead, aside) = match (is_ahead(first), is_ahead(second)) {
            (true, false) => (first, second),
            (false, true) => (second, first),
            _ => return,
        };
        let next = if self.is_table_part(next) { next + 1 } else { next };
        let next = match self.is(next, &["of"]) {
            true => self.table(next + 1),
            false => Some(next),
        };
        if let Some(next) = next {
            out.push(Alt { value: (PlaceRelation::Corner(ahead, aside), Vec::new()), next, cost: 0 });
        }
    }

    /// "where the blue mug is now", "in the place of the blue mug".
    fn place_of(&self, start: usize, out: &mut Alts<Spot>) {
        for target in self.past("place_of", start).into_iter().flat_map(|after| self.noun_phrase(after)) {
            let value = (PlaceRelation::PlaceOf, vec![target.value]);
            out.push(Alt { value, next: target.next, cost: target.cost });
        }
        let Some(after) = self.past_any(&["where", "to where", "exactly where"], start) else { return };
        for target in self.noun_phrase(after) {
            for be in self.pasts("be", target.next) {
                let next = self.past("where_now", be).unwrap_or(be);
                let value = (PlaceRelation::PlaceOf, vec![target.value.clone()]);
                out.push(Alt { value, next, cost: target.cost });
            }
        }
    }

    /// Two things that shall change places: "the apple and the banana", "the apple with the banana", "the two mugs".
    pub(super) fn swapped(&self, position: usize) -> Alts<Step> {
        let position =
            self.past_any(&["the places of", "the positions of", "places of"], position).unwrap_or(position);
        let mut out = Vec::new();
        let mut push = |objects: Vec<NounPhrase>, next: usize, cost: u32| {
            let next = self.past_any(&["around", "with each other"], next).unwrap_or(next);
            out.push(Alt { value: Step::Swap { objects }, next, cost });
        };
        for objects in self.noun_list(position) {
            let several = objects.value.iter().any(super::building::is_plural);
            match objects.value.as_slice() {
                [_, _] if !several => push(objects.value, objects.next, objects.cost),
                [_] if several => push(objects.value, objects.next, objects.cost),
                [_] => {
                    let Some(after) = self.past_any(&["with", "for"], objects.next) else { continue };
                    for other in self.noun_phrase(after) {
                        let both = vec![objects.value[0].clone(), other.value];
                        push(both, other.next, objects.cost + other.cost);
                    }
                }
                _ => {}
            }
        }
        out
    }
}
