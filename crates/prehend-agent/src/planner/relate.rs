//! Objects that stand in a relation to others ("the egg that is near the tomato").

use super::describe::{class_of, describe, listed};
use super::furniture::{carried, support};
use super::ground::{Fact, Grounder, head_word};
use crate::language::{Modifier, NounPhrase, Spatial, TableRegion};
use crate::tools::Measure;
use crate::world::Fault;
use prehend_scene::{ObjectKey, Reason, Relation, furniture, spatial};

/// An offset this large, metres, is a direction beyond doubt.
const CLEAR_OFFSET: f64 = 0.05;
/// How much nearer the nearest must be to be the one that is near.
const NEARER: f64 = 0.6;
/// Greatest gap at which something is still meant by "near" when nothing else is nearer, metres.
const STILL_NEAR: f64 = 0.25;
/// Least gap of things that are far from each other, metres.
const FAR: f64 = 0.2;
/// A thing whose middle is this far above a drawer is not in it, metres.
const ABOVE: f64 = 0.01;
/// Half width of the middle of the table, metres.
const MIDDLE: f64 = 0.12;

/// How well an object fits a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    Marginal,
    Clear,
}

impl Grounder<'_, '_, '_> {
    /// Keeps the objects that stand in a relation; not empty.
    pub(super) fn related(
        &mut self,
        np: &NounPhrase,
        modifier: &Modifier,
        keys: Vec<ObjectKey>,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let anchors = self.anchors(modifier, &keys)?;
        let mut fits = Vec::new();
        for key in &keys {
            fits.push(self.fit(key, modifier, &anchors)?);
        }
        if modifier.negated {
            fits.iter_mut().for_each(|fit| *fit = if *fit == Fit::No { Fit::Clear } else { Fit::No });
        }
        // One that fits clearly is meant rather than those that barely do.
        let clear = fits.iter().filter(|fit| **fit == Fit::Clear).count();
        let least = if clear > 0 { Fit::Clear } else { Fit::Marginal };
        let mut kept: Vec<ObjectKey> =
            keys.iter().zip(&fits).filter(|(_, fit)| **fit >= least).map(|(key, _)| key.clone()).collect();
        if modifier.relation == Spatial::Near && !modifier.negated {
            kept = self.nearest(&keys, kept, &anchors)?;
        }
        if kept.is_empty() { Err(self.none_related(np, modifier, &keys, &anchors)?) } else { Ok(kept) }
    }

    /// Objects a relation refers to. A target that is not there is a refusal; several are all tried.
    fn anchors(&mut self, modifier: &Modifier, keys: &[ObjectKey]) -> Result<Vec<Vec<ObjectKey>>, Fault> {
        let mut anchors = Vec::new();
        for target in &modifier.targets {
            let mut found = match self.candidates(target) {
                Ok(found) => found,
                // "the bowl with nothing in it": nothing to be found is no contradiction.
                Err(fault) if fault.reason == Reason::NotFound && modifier.negated => Vec::new(),
                // "the bowl in the kitchen": a room is where its furniture stands.
                Err(fault) if fault.reason == Reason::NotFound && modifier.relation == Spatial::In => {
                    match self.furniture_of(target)? {
                        furniture if furniture.is_empty() => return Err(fault),
                        furniture => furniture,
                    }
                }
                Err(fault) => return Err(fault),
            };
            // "the block next to the block" is not next to itself.
            if keys.len() == 1 && found.len() > 1 {
                found.retain(|key| !keys.contains(key));
            }
            anchors.push(found);
        }
        Ok(anchors)
    }

    fn fit(
        &mut self,
        key: &ObjectKey,
        modifier: &Modifier,
        anchors: &[Vec<ObjectKey>],
    ) -> Result<Fit, Fault> {
        let sure = |holds: bool| if holds { Fit::Clear } else { Fit::No };
        let first: Vec<ObjectKey> = anchors.first().cloned().unwrap_or_default();
        if let Some(fact) = self.facts.iter().rev().find(|fact| fact.object == *key).cloned()
            && let Some(known) = fact_fit(&fact, modifier.relation, &first)
        {
            return Ok(sure(known));
        }
        match modifier.relation {
            Spatial::OnTable => {
                let map = self.map()?;
                let carried = map.get(key).is_some_and(|object| carried(object, &map));
                Ok(sure(!carried && self.held().as_ref() != Some(key)))
            }
            Spatial::Held => Ok(sure(self.held().as_ref() == Some(key))),
            Spatial::InRegion(region) => self.in_region(key, region),
            Spatial::Between => self.between(key, anchors).map(sure),
            relation => {
                // "the top layer of the drawer": the layers are the drawers.
                if relation == Spatial::PartOf && first.contains(key) {
                    return Ok(Fit::Clear);
                }
                let mut best = Fit::No;
                for anchor in first.iter().filter(|anchor| *anchor != key) {
                    best = best.max(self.fit_one(key, anchor, relation)?);
                }
                Ok(best)
            }
        }
    }

    fn fit_one(&mut self, key: &ObjectKey, anchor: &ObjectKey, relation: Spatial) -> Result<Fit, Fault> {
        let pair = [key.clone(), anchor.clone()];
        let back = [anchor.clone(), key.clone()];
        let sure = |holds: bool| if holds { Fit::Clear } else { Fit::No };
        let directed = match relation {
            Spatial::LeftOf => Some(Measure::LeftOf),
            Spatial::RightOf => Some(Measure::RightOf),
            Spatial::InFrontOf => Some(Measure::InFrontOf),
            Spatial::Behind => Some(Measure::Behind),
            _ => None,
        };
        if let Some(measure) = directed {
            if !self.tools.holds(measure, &pair)? {
                return Ok(Fit::No);
            }
            let map = self.map()?;
            let (Some(a), Some(b)) = (map.get(key), map.get(anchor)) else { return Ok(Fit::No) };
            let [ahead, left] =
                self.tools.sight(&[a, b]).offset(&spatial::centre(b), &spatial::centre(a)).map(f64::abs);
            let (along, across) = match relation {
                Spatial::LeftOf | Spatial::RightOf => (left, ahead),
                _ => (ahead, left),
            };
            return Ok(if along > CLEAR_OFFSET && along > 0.4 * across { Fit::Clear } else { Fit::Marginal });
        }
        Ok(match relation {
            Spatial::In if self.is_above_panel(key, anchor)? => Fit::No,
            Spatial::On | Spatial::In | Spatial::Above => {
                sure(self.tools.holds(Measure::On, &pair)? || self.tools.holds(Measure::Inside, &pair)?)
            }
            Spatial::PartOf if self.is_part(key, anchor)? => Fit::Clear,
            Spatial::At | Spatial::PartOf => {
                let carried =
                    self.tools.holds(Measure::On, &pair)? || self.tools.holds(Measure::Inside, &pair)?;
                if carried {
                    Fit::Clear
                } else if self.tools.number(Measure::GapBetween, &pair)? < 0.06 {
                    Fit::Marginal
                } else {
                    Fit::No
                }
            }
            Spatial::With | Spatial::Under => {
                sure(self.tools.holds(Measure::On, &back)? || self.tools.holds(Measure::Inside, &back)?)
            }
            Spatial::FarFrom => sure(self.tools.number(Measure::GapBetween, &pair)? > FAR),
            Spatial::Near => sure(self.tools.holds(Measure::Near, &pair)?),
            Spatial::LeftOf
            | Spatial::RightOf
            | Spatial::InFrontOf
            | Spatial::Behind
            | Spatial::Between
            | Spatial::OnTable
            | Spatial::InRegion(_)
            | Spatial::Held => Fit::No,
        })
    }

    /// Whether a thing stands higher than a drawer: what stands on the cabinet is over its top drawer, but not in it.
    fn is_above_panel(&mut self, key: &ObjectKey, anchor: &ObjectKey) -> Result<bool, Fault> {
        let map = self.map()?;
        let (Some(object), Some(panel)) = (map.get(key), map.get(anchor)) else { return Ok(false) };
        Ok(furniture::is_panel(class_of(panel)) && spatial::centre(object).z > panel.bounds.top() + ABOVE)
    }

    fn between(&mut self, key: &ObjectKey, anchors: &[Vec<ObjectKey>]) -> Result<bool, Fault> {
        let pairs: Vec<(ObjectKey, ObjectKey)> = match anchors {
            [a, b] => a.iter().flat_map(|x| b.iter().map(move |y| (x.clone(), y.clone()))).collect(),
            [both] => both
                .iter()
                .enumerate()
                .flat_map(|(i, x)| both[i + 1..].iter().map(move |y| (x.clone(), y.clone())))
                .collect(),
            _ => Vec::new(),
        };
        for (a, b) in pairs {
            if a != b && a != *key && b != *key && self.tools.holds(Measure::Between, &[key.clone(), a, b])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Of several near ones the one that is clearly nearest; of none the nearest, when it is not far.
    fn nearest(
        &mut self,
        all: &[ObjectKey],
        near: Vec<ObjectKey>,
        anchors: &[Vec<ObjectKey>],
    ) -> Result<Vec<ObjectKey>, Fault> {
        if near.len() == 1 || all.len() < 2 && !near.is_empty() {
            return Ok(near);
        }
        let pool = if near.is_empty() { all.to_vec() } else { near.clone() };
        let mut gaps: Vec<(f64, ObjectKey)> = Vec::new();
        for key in pool {
            let mut least = f64::INFINITY;
            for anchor in anchors.iter().flatten().filter(|anchor| **anchor != key) {
                least = least.min(self.tools.number(Measure::GapBetween, &[key.clone(), anchor.clone()])?);
            }
            gaps.push((least, key));
        }
        gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
        match gaps.as_slice() {
            [(gap, key)] if *gap <= STILL_NEAR && !near.is_empty() => Ok(vec![key.clone()]),
            [(first, key), (second, _), ..] if *first <= STILL_NEAR && *first < NEARER * second => {
                Ok(vec![key.clone()])
            }
            _ => Ok(near),
        }
    }

    /// "The bowl on the left" speaks of several: when only one is seen, it must be on that side, else another is meant that is
    /// not seen or not known as one.
    pub(super) fn check_alone(
        &mut self,
        np: &NounPhrase,
        region: TableRegion,
        keys: &[ObjectKey],
    ) -> Result<(), Fault> {
        let ([key], [_], [], false) =
            (keys, np.selectors.as_slice(), np.modifiers.as_slice(), self.tools.rooms())
        else {
            return Ok(());
        };
        if self.in_region(key, region)? != Fit::No {
            return Ok(());
        }
        let map = self.map()?;
        let message = format!(
            "I see only one {}, and it is not where you say: {}.",
            head_word(np),
            map.get(key).map_or_else(String::new, |object| super::describe::place_words(object, &map))
        );
        Err(Fault::new(Reason::NotFound, message))
    }

    fn in_region(&mut self, key: &ObjectKey, region: TableRegion) -> Result<Fit, Fault> {
        let map = self.map()?;
        let Some(object) = map.get(key) else { return Ok(Fit::No) };
        let centre = spatial::centre(object);
        let (ahead, left) = if self.tools.rooms() {
            // Of the table it stands on.
            let Some(table) = support(object, &map) else { return Ok(Fit::No) };
            self.tools.sight(&[table]).offset(&spatial::centre(table), &centre).into()
        } else {
            let workspace = self.knowledge.settings.workspace;
            let middle = [0, 1].map(|axis| (workspace.min[axis] + workspace.max[axis]) / 2.0);
            (centre.x - middle[0], centre.y - middle[1])
        };
        let graded = |amount: f64| match amount {
            a if a > 0.08 => Fit::Clear,
            a if a > 0.0 => Fit::Marginal,
            _ => Fit::No,
        };
        Ok(match region {
            TableRegion::Left => graded(left),
            TableRegion::Right => graded(-left),
            TableRegion::Back => graded(ahead),
            TableRegion::Front => graded(-ahead),
            TableRegion::Center => match ahead.hypot(left) {
                d if d < MIDDLE => Fit::Clear,
                d if d < 2.0 * MIDDLE => Fit::Marginal,
                _ => Fit::No,
            },
            TableRegion::Edge => Fit::No,
        })
    }

    /// The refusal when nothing stands in the relation: names what there is and where it is.
    fn none_related(
        &mut self,
        np: &NounPhrase,
        modifier: &Modifier,
        keys: &[ObjectKey],
        anchors: &[Vec<ObjectKey>],
    ) -> Result<Fault, Fault> {
        let map = self.map()?;
        let not = if modifier.negated { "not " } else { "" };
        let targets: Vec<String> =
            anchors.iter().filter_map(|found| found.first()).map(|key| describe(key, &map)).collect();
        let wanted = match targets.is_empty() {
            true => format!("{not}{}", modifier.relation.words()),
            false => format!("{not}{} {}", modifier.relation.words(), listed(&targets)),
        };
        let seen: Vec<String> = keys
            .iter()
            .take(3)
            .filter_map(|key| map.get(key))
            .map(|object| {
                format!("{} is {}", describe(&object.key, &map), super::describe::place_words(object, &map))
            })
            .collect();
        let message = format!("I see no {} {wanted}; {}.", head_word(np), listed(&seen));
        Ok(Fault::new(Reason::NotFound, message))
    }
}

/// What an earlier step makes of a relation; `None` when it says nothing about it.
fn fact_fit(fact: &Fact, relation: Spatial, anchors: &[ObjectKey]) -> Option<bool> {
    let at_target = fact.targets.iter().any(|target| anchors.contains(target));
    match relation {
        Spatial::On | Spatial::In | Spatial::At | Spatial::Above => {
            Some(matches!(fact.relation, Relation::On | Relation::In) && at_target)
        }
        Spatial::OnTable => Some(!matches!(fact.relation, Relation::On | Relation::In)),
        Spatial::Near if at_target => Some(true),
        Spatial::LeftOf if at_target => Some(fact.relation == Relation::LeftOf),
        Spatial::RightOf if at_target => Some(fact.relation == Relation::RightOf),
        _ => None,
    }
}
