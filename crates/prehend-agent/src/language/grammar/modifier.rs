//! What follows a noun: spatial phrases, relative clauses, choices, exceptions.

use super::building::{Core, Post, in_state, is_plural};
use super::{Alt, Alts, Parser};
use crate::language::goal::{
    Attribute, AttributeKind, Head, Modifier, NounPhrase, Selector, Spatial, TableRegion,
};
use crate::language::lexicon::Describing;

impl Parser<'_> {
    /// Everything that can follow a noun here.
    pub(super) fn post(&self, position: usize, core: &Core) -> Alts<Post> {
        let mut out = Vec::new();
        if core.ordinal.is_some() {
            if let Some(after) = self.past("counted_from", position)
                && let Some((region, next)) = self.side(after)
            {
                out.push(Alt { value: Post::From(region), next, cost: 0 });
            }
            if let Some(after) = self.past("counted_from", position).filter(|_| !self.is(position, &["on"])) {
                let after = self.skip_articles(after);
                for (length, describing) in self.lexicon.describing.at(self.tokens, after) {
                    if let Describing::Level(top) = describing {
                        out.push(Alt { value: Post::FromLevel(*top), next: after + length, cost: 0 });
                    }
                }
            }
            let owner = self.lexicon.determiners.at(self.tokens, position + 1).next().is_some();
            if self.is(position, &["of"]) && owner {
                for alt in self.noun_phrase(position + 1) {
                    out.push(Alt { value: Post::Of(alt.value), next: alt.next, cost: alt.cost });
                }
            }
            return out;
        }
        if core.distance.is_some() && self.is(position, &["to", "from"]) {
            for targets in self.noun_list(position + 1) {
                if !targets.value.iter().any(|np| self.means_robot(np)) {
                    out.push(Alt { value: Post::To(targets.value), next: targets.next, cost: targets.cost });
                }
            }
            for next in self.pasts("robot", position + 1) {
                let selector = if core.distance == Some(true) {
                    Selector::ClosestToRobot
                } else {
                    Selector::FarthestFromRobot
                };
                let _ = selector;
                out.push(Alt { value: Post::Where(Vec::new()), next, cost: 0 });
            }
        }
        let owner = self.lexicon.determiners.at(self.tokens, position + 1).next().is_some()
            || self.is(position + 1, &["it", "them"]);
        if self.is(position, &["of"]) && owner {
            for alt in self.noun_phrase(position + 1) {
                out.push(Alt { value: Post::Of(alt.value), next: alt.next, cost: alt.cost });
            }
        }
        for next in self.pasts("seen", position) {
            out.push(Alt { value: Post::Where(Vec::new()), next, cost: 0 });
        }
        let comma = usize::from(self.is_comma(position));
        self.exceptions(position, &mut out);
        // Relative clause, perhaps between commas.
        for (next, cost) in self.relative_starts(position + comma) {
            for alt in self.predicates(next) {
                out.push(Alt { value: alt.value.clone(), next: alt.next, cost: alt.cost + cost });
                if comma == 1 && self.is_comma(alt.next) {
                    out.push(Alt { value: alt.value, next: alt.next + 1, cost: alt.cost + cost });
                }
            }
        }
        if comma == 0 {
            let negated = self.is(position, &["not"]);
            out.extend(self.phrase(position + usize::from(negated), negated));
        }
        out
    }

    /// Positions after "that is", "which are", "that you see" and the like, with a cost.
    fn relative_starts(&self, position: usize) -> Vec<(usize, u32)> {
        let mut starts = Vec::new();
        if let Some(relative) = self.past("relative", position) {
            for be in self.pasts("be", relative) {
                starts.push((be, 0));
            }
            // "that has the apple", "which contains": the phrase itself begins with the relative.
        }
        starts
    }

    /// Predicates joined by "and": "near the plate and left of the mug".
    pub(super) fn predicates(&self, position: usize) -> Alts<Post> {
        let mut frontier: Alts<Vec<Post>> = self
            .predicate(position)
            .into_iter()
            .map(|alt| Alt { value: vec![alt.value], next: alt.next, cost: alt.cost })
            .collect();
        let mut done = Vec::new();
        for _ in 0..3 {
            let mut longer = Vec::new();
            for alt in &frontier {
                let Some(mut next) = self.past_any(&["and", "but"], alt.next) else { continue };
                if let Some((be, _)) = self.relative_starts(next).first() {
                    next = *be;
                }
                for more in self.predicate(next) {
                    let mut posts = alt.value.clone();
                    posts.push(more.value);
                    longer.push(Alt { value: posts, next: more.next, cost: alt.cost + more.cost });
                }
            }
            done.extend(frontier);
            frontier = longer;
        }
        done.into_iter()
            .map(|mut alt| Alt {
                value: match alt.value.len() {
                    1 => alt.value.remove(0),
                    _ => Post::Several(alt.value),
                },
                next: alt.next,
                cost: alt.cost,
            })
            .collect()
    }

    /// What can follow "is": a spatial phrase, an adjective, a superlative.
    fn predicate(&self, position: usize) -> Alts<Post> {
        let negated = self.is(position, &["not"]);
        let start = position + usize::from(negated);
        let mut out = self.phrase(start, negated);
        // "farther away", "closer": of several the one that is so.
        for (key, selector) in
            [("farther_away", Selector::FarthestFromRobot), ("closer_here", Selector::ClosestToRobot)]
        {
            if let Some(next) = self.past(key, start).filter(|next| !negated && self.boundary(*next)) {
                out.push(Alt { value: Post::Select(vec![selector]), next, cost: 0 });
            }
        }
        for (key, closest) in [("closer_by", true), ("farther_by", false)] {
            let after = self.past(key, start).filter(|_| !negated);
            for targets in after.into_iter().flat_map(|after| self.noun_list(after)) {
                if targets.value.iter().any(|np| self.means_robot(np)) {
                    continue;
                }
                let selector = match closest {
                    true => Selector::Closest(targets.value),
                    false => Selector::Farthest(targets.value),
                };
                out.push(Alt { value: Post::Select(vec![selector]), next: targets.next, cost: targets.cost });
            }
        }
        // "the largest", "red", "very big"
        let article = self.skip_articles(start);
        let after = self.past("intensifiers", article).unwrap_or(article);
        for (length, describing) in self.lexicon.describing.at(self.tokens, after) {
            let mut next = after + length;
            if let Some(one) = self.past("things", next) {
                next = one;
            }
            let kind = match describing {
                Describing::Color => AttributeKind::Color,
                Describing::Material => AttributeKind::Material,
                Describing::Shape => AttributeKind::Shape,
                Describing::Other => AttributeKind::Other,
                Describing::Size(dimension, most) if !negated => {
                    if self.is(next, &["than"]) {
                        continue;
                    }
                    let selector =
                        if *most { Selector::Most(*dimension) } else { Selector::Least(*dimension) };
                    out.push(Alt { value: Post::Select(vec![selector]), next, cost: 0 });
                    continue;
                }
                Describing::Side(region) if !negated && *region != TableRegion::Edge => {
                    if !self.is(next, &["of", "from"]) {
                        out.push(Alt { value: Post::Select(vec![Selector::Side(*region)]), next, cost: 0 });
                    }
                    continue;
                }
                Describing::Level(top) if !negated => {
                    if !self.is(next, &["of"]) {
                        out.push(Alt { value: Post::Select(vec![Selector::Level(*top)]), next, cost: 0 });
                    }
                    continue;
                }
                Describing::Distance(closest) if !negated && self.boundary(next) => {
                    let selector =
                        if *closest { Selector::ClosestToRobot } else { Selector::FarthestFromRobot };
                    out.push(Alt { value: Post::Select(vec![selector]), next, cost: 0 });
                    continue;
                }
                Describing::State(relation, not) => {
                    let state = in_state(*relation, *not != negated);
                    out.push(Alt { value: Post::Where(vec![state]), next, cost: 0 });
                    continue;
                }
                Describing::Size(..)
                | Describing::Side(_)
                | Describing::Level(_)
                | Describing::Distance(_) => continue,
            };
            let word = self.text(after, after + length);
            let attributes = vec![Attribute { kind, word }];
            let value = if negated { Post::NotAttributes(attributes) } else { Post::Attributes(attributes) };
            out.push(Alt { value, next, cost: 0 });
        }
        out
    }

    /// A spatial phrase or a choice: "on the plate", "closest to the mug", "larger than the cup", "on the left".
    pub(super) fn phrase(&self, position: usize, negated: bool) -> Alts<Post> {
        let mut out = Vec::new();
        let mut starts = vec![position];
        // Noise words may pile up: "sitting right next to".
        for round in 0..3 {
            let Some(last) = starts.get(round).copied() else { break };
            match self.past("preposition_noise", last) {
                Some(next) => starts.push(next),
                None => break,
            }
        }
        for start in starts {
            if !negated {
                self.choices(start, &mut out);
            }
            self.region_phrase(start, negated, &mut out);
            self.spatial_phrase(start, negated, &mut out);
        }
        out
    }

    fn choices(&self, start: usize, out: &mut Alts<Post>) {
        let article = self.skip_articles(start);
        for (key, closest) in [("closest", true), ("farthest", false)] {
            for after in self.pasts(key, article) {
                // "closest to", "closest", then the target or the robot.
                let after = if self.is(after, &["to", "from"]) { after + 1 } else { after };
                for next in self.pasts("robot", self.skip_articles(after)) {
                    let selector =
                        if closest { Selector::ClosestToRobot } else { Selector::FarthestFromRobot };
                    out.push(Alt { value: Post::Select(vec![selector]), next, cost: 0 });
                }
                for targets in self.noun_list(after) {
                    if targets.value.iter().any(|np| self.means_robot(np)) {
                        continue;
                    }
                    let selector = if closest {
                        Selector::Closest(targets.value)
                    } else {
                        Selector::Farthest(targets.value)
                    };
                    out.push(Alt {
                        value: Post::Select(vec![selector]),
                        next: targets.next,
                        cost: targets.cost,
                    });
                }
                if after == article + 1 {
                    let selector =
                        if closest { Selector::ClosestToRobot } else { Selector::FarthestFromRobot };
                    out.push(Alt { value: Post::Select(vec![selector]), next: after, cost: 1 });
                }
            }
        }
        let after = self.past("intensifiers", start).unwrap_or(start);
        for (length, describing) in self.lexicon.describing.at(self.tokens, after) {
            let Describing::Size(dimension, most) = describing else { continue };
            if !self.is(after + length, &["than"]) {
                continue;
            }
            for targets in self.noun_list(after + length + 1) {
                let selector = if *most {
                    Selector::MoreThan(*dimension, targets.value)
                } else {
                    Selector::LessThan(*dimension, targets.value)
                };
                out.push(Alt { value: Post::Select(vec![selector]), next: targets.next, cost: targets.cost });
            }
        }
    }

    fn spatial_phrase(&self, start: usize, negated: bool, out: &mut Alts<Post>) {
        for (length, relation) in self.lexicon.spatial_words.at(self.tokens, start) {
            let after = start + length;
            let mut push = |relation, targets, next, cost| {
                let modifier = Modifier { relation, targets, negated };
                out.push(Alt { value: Post::Where(vec![modifier]), next, cost });
            };
            if matches!(relation, Spatial::On | Spatial::At)
                && let Some(next) = self.the_table(after)
            {
                push(Spatial::OnTable, Vec::new(), next, 0);
                continue;
            }
            if matches!(relation, Spatial::In | Spatial::At) {
                let article = self.skip_articles(after);
                if let Some(next) = self.past("hand", article)
                    && !self.lexicon.nounable(self.word(next))
                {
                    push(Spatial::Held, Vec::new(), next, 0);
                    continue;
                }
            }
            match relation {
                Spatial::Between => {
                    for targets in self.noun_list(after) {
                        if targets.value.len() == 2
                            || targets.value.len() == 1 && is_plural(&targets.value[0])
                        {
                            push(*relation, targets.value, targets.next, targets.cost);
                        }
                    }
                }
                Spatial::With => {
                    for targets in self.noun_list(after) {
                        let extra = u32::try_from(targets.value.len() - 1).unwrap_or(9);
                        let next = self.past("in_it", targets.next).unwrap_or(targets.next);
                        push(*relation, targets.value, next, targets.cost + extra);
                    }
                }
                _ => {
                    for target in self.noun_list(after) {
                        if target.value.len() <= 2 {
                            let part = matches!(&target.value[0].head, Head::Noun(noun) if self.list("parts").has_word(noun));
                            let by_part =
                                part && target.value[0].modifiers.is_empty() && self.is(start, &["by"]);
                            let extra = if target.value.len() == 2 { 2 } else { u32::from(by_part) };
                            push(*relation, target.value, target.next, target.cost + extra);
                        }
                    }
                }
            }
        }
    }

    fn exceptions(&self, position: usize, out: &mut Alts<Post>) {
        let start = position + usize::from(self.is_comma(position));
        for after in self.pasts("exceptions", start) {
            for list in self.noun_list(after) {
                out.push(Alt { value: Post::ExceptAll(list.value), next: list.next, cost: list.cost });
            }
        }
        let not = self.past_any(&["but not", "not"], start);
        if let Some(after) = not
            && (start > position || self.is(start, &["but"]))
        {
            for np in self.noun_phrase(after) {
                out.push(Alt { value: Post::Except(vec![np.value]), next: np.next, cost: np.cost + 1 });
            }
        }
    }

    /// Whether a noun phrase is a word for the robot itself.
    pub(super) fn means_robot(&self, np: &NounPhrase) -> bool {
        self.list("robot").iter().any(|(words, ())| words.join(" ") == np.text)
    }
}
