//! Sides and regions of the table: "on the left", "the middle of the table".

use super::building::Post;
use super::{Alt, Alts, Parser};
use crate::language::goal::{Modifier, Selector, Spatial, TableRegion};
use crate::language::lexicon::{Describing, Determiner};

impl Parser<'_> {
    /// A side with what may stand around it: "the far left side", "left"; its end.
    pub(super) fn side(&self, position: usize) -> Option<(TableRegion, usize)> {
        if self.is(position, &["its"]) {
            return None;
        }
        let mut start = self.skip_articles(position);
        if self.is(start, &["very", "far"]) {
            start += 1;
        }
        let (length, describing) =
            self.lexicon.describing.at(self.tokens, start).find(|(_, d)| matches!(d, Describing::Side(_)))?;
        let Describing::Side(region) = describing else { return None };
        let mut next = start + length;
        // "left hand side", "back left corner" names no single side.
        if self.is(next, &["hand"]) {
            next += 1;
        }
        let mut region = *region;
        if self.is_in("table_parts", next) {
            next += 1;
        } else if self.is_in("corners", next) {
            region = TableRegion::Edge;
            next += 1;
        } else if let Some((more, Describing::Side(_))) = self.lexicon.describing.at(self.tokens, next).next()
        {
            region = TableRegion::Edge;
            next += more;
            if self.is_in("corner_parts", next) {
                next += 1;
            }
        }
        Some((region, next))
    }

    /// Position after "the table", "my desk" and the like, when no longer noun goes on.
    pub(super) fn table(&self, position: usize) -> Option<usize> {
        let start = match self.lexicon.determiners.at(self.tokens, position).next() {
            Some((length, Determiner::One)) => position + length,
            _ => position,
        };
        let start = self.past_any(&["surface of the", "top of the"], start).unwrap_or(start);
        let next = self.past("table", start)?;
        let next = self.past_any(&["'s surface", "'s top"], next).unwrap_or(next);
        let longer = self.lexicon.nounable(self.word(next)) && !self.lexicon.verbs.has_word(self.word(next))
            || self.is(next, &["'s"]);
        (!longer).then_some(next)
    }

    /// As [`table`](Self::table), where that is the one place for everything and not a thing of its own.
    pub(super) fn the_table(&self, position: usize) -> Option<usize> {
        if self.lexicon.tables_are_things { None } else { self.table(position) }
    }

    /// A region of the table: "the middle of the table", "table center", "the table's left side"; its end.
    pub(super) fn table_region(&self, position: usize) -> Option<(TableRegion, usize)> {
        if let Some((region, next)) = self.side(position)
            && self.is(next, &["of"])
        {
            return self.table(next + 1).map(|end| (region, end));
        }
        let start = self.skip_articles(position);
        let table = self.past("table", start)?;
        let after = if self.is(table, &["'s"]) { table + 1 } else { table };
        self.side(after)
    }

    pub(super) fn region_phrase(&self, start: usize, negated: bool, out: &mut Alts<Post>) {
        let Some(after) = self.past("at_region", start) else {
            return;
        };
        if let Some((region, next)) = self.table_region(after) {
            let modifier = Modifier { relation: Spatial::InRegion(region), targets: Vec::new(), negated };
            out.push(Alt { value: Post::Where(vec![modifier]), next, cost: 0 });
        }
        if let Some((region, next)) = self.side(after)
            && !self.is(next, &["of", "from"])
            && !negated
            && region != TableRegion::Edge
            && !self.is(start, &["to", "near", "by"])
        {
            out.push(Alt { value: Post::Select(vec![Selector::Side(region)]), next, cost: 0 });
        }
    }
}
