//! Choices among objects that fit: "the largest", "the second from the left", "closest to the plate".

use super::describe::{describe, listed};
use super::ground::{Grounder, head_word};
use crate::language::{Dimension, NounPhrase, Quantity, Selector, TableRegion};
use crate::tools::Measure;
use crate::world::{Comparison, Fault};
use prehend_scene::{Object, ObjectKey, Reason, spatial};

/// Least difference of places along a direction that tells two objects apart, metres.
const PLACE_MARGIN: f64 = 0.02;
/// Least difference of distances that tells the closest from the second, metres.
const DISTANCE_MARGIN: f64 = 0.015;

/// A value by which objects are ordered, greatest first, and what makes two of them different.
enum Margin {
    /// The first is at least so many times the second.
    Ratio(f64),
    /// The first is at least so much more than the second.
    Step(f64),
}

impl Margin {
    fn tells(&self, first: f64, second: f64) -> bool {
        match self {
            Self::Ratio(ratio) => first.max(second) >= ratio * first.min(second),
            Self::Step(step) => first - second >= *step,
        }
    }
}

impl Grounder<'_, '_, '_> {
    /// Applies one choice, and tells what was compared; not empty.
    pub(super) fn chosen(
        &mut self,
        np: &NounPhrase,
        selector: &Selector,
        keys: Vec<ObjectKey>,
    ) -> Result<Vec<ObjectKey>, Fault> {
        // Choosing what it is compared with may be a choice of its own.
        let outer = std::mem::take(&mut self.measured);
        let among = keys.clone();
        let chosen = self.choose(np, selector, keys);
        let measured = std::mem::replace(&mut self.measured, outer);
        if chosen.is_err() {
            self.tools.not_chosen(&among);
        }
        if among.len() > 1 {
            let (taken, why_none) = match &chosen {
                Ok(taken) => (taken.clone(), String::new()),
                Err(fault) => (Vec::new(), fault.message.clone()),
            };
            self.tools.compared(&Comparison { by: selector.to_string(), measured, taken, why_none });
        }
        chosen
    }

    /// Remembers what was measured of things.
    pub(super) fn measure(&mut self, keys: &[ObjectKey], values: &[f64]) {
        self.measured = keys.iter().cloned().zip(values.iter().copied()).collect();
    }

    fn choose(
        &mut self,
        np: &NounPhrase,
        selector: &Selector,
        keys: Vec<ObjectKey>,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let ratio = self.knowledge.settings.size_ratio;
        match selector {
            Selector::Most(dimension) => {
                let values = self.sizes(*dimension, &keys)?;
                self.first(np, keys, values, &Margin::Ratio(ratio), "are nearly of the same size")
            }
            Selector::Least(dimension) => {
                let values = self.sizes(*dimension, &keys)?.into_iter().map(|value| -value).collect();
                self.first(np, keys, values, &Margin::Ratio(1.0 / ratio), "are nearly of the same size")
            }
            Selector::Level(top) => self.level(np, *top, keys),
            Selector::NthLevel(number, top) => self.nth_level(np, *number, *top, keys),
            Selector::Number(number) => self.number(np, *number, keys),
            Selector::Side(TableRegion::Center) => self.middle(np, keys),
            Selector::Side(region) => {
                self.check_alone(np, *region, &keys)?;
                let values = self.along(*region, &keys)?;
                if matches!(np.quantity, Quantity::All | Quantity::Others) && keys.len() > 2 {
                    return Ok(upper_half(keys, &values));
                }
                // "the top left drawer": a column, of which the level picks one.
                if np.selectors.iter().any(|other| matches!(other, Selector::Level(_))) {
                    return Ok(outermost(keys, &values));
                }
                self.first(np, keys, values, &Margin::Step(PLACE_MARGIN), "stand nearly side by side")
            }
            Selector::Nth(number, region) => {
                let values = self.along(*region, &keys)?;
                let mut order: Vec<usize> = (0..keys.len()).collect();
                order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
                match order.get((*number as usize).saturating_sub(1)) {
                    Some(index) if *number > 0 => Ok(vec![keys[*index].clone()]),
                    _ => Err(Fault::new(
                        Reason::NotFound,
                        format!(
                            "I see only {}, no number {number}.",
                            super::describe::counted(keys.len(), &head_word(np))
                        ),
                    )),
                }
            }
            Selector::Closest(targets) => {
                let values = self.gaps(targets, &keys)?.into_iter().map(|gap| -gap).collect();
                let keys = self.without_targets(targets, keys, values)?;
                self.first(np, keys.0, keys.1, &Margin::Step(DISTANCE_MARGIN), "are nearly as close")
            }
            Selector::Farthest(targets) => {
                let values = self.gaps(targets, &keys)?;
                let keys = self.without_targets(targets, keys, values)?;
                self.first(np, keys.0, keys.1, &Margin::Step(DISTANCE_MARGIN), "are nearly as far")
            }
            Selector::ClosestToRobot | Selector::FarthestFromRobot => {
                let sign = if *selector == Selector::ClosestToRobot { -1.0 } else { 1.0 };
                let mut values = Vec::new();
                for key in &keys {
                    values.push(sign * self.tools.number(Measure::DistanceTo, std::slice::from_ref(key))?);
                }
                let distances: Vec<f64> = values.iter().map(|value| value * sign).collect();
                self.measure(&keys, &distances);
                self.first(np, keys, values, &Margin::Step(PLACE_MARGIN), "are nearly as far from me")
            }
            Selector::MoreThan(dimension, targets) => self.compared(np, *dimension, targets, keys, true),
            Selector::LessThan(dimension, targets) => self.compared(np, *dimension, targets, keys, false),
        }
    }

    /// The best by value, or as many as the phrase wants; ambiguous when the next is too close.
    fn first(
        &mut self,
        np: &NounPhrase,
        keys: Vec<ObjectKey>,
        values: Vec<f64>,
        margin: &Margin,
        alike: &str,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let mut order: Vec<(f64, ObjectKey)> = values.into_iter().zip(keys).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let wanted = match np.quantity {
            Quantity::Exactly(number) | Quantity::Some(number) => number as usize,
            Quantity::All | Quantity::Others => {
                // "the big mugs": those nearer to the greatest than to the least.
                let (values, keys): (Vec<f64>, Vec<ObjectKey>) = order.into_iter().unzip();
                return Ok(upper_half(keys, &values));
            }
            Quantity::One | Quantity::Any | Quantity::Other => 1,
        };
        if let (Some(last), Some(next)) = (order.get(wanted.saturating_sub(1)), order.get(wanted)) {
            let tells = match margin {
                // Least: values are negative, the ratio is of their amounts.
                Margin::Ratio(ratio) if *ratio < 1.0 => next.0.abs() >= last.0.abs() / ratio,
                other => other.tells(last.0, next.0),
            };
            if !tells && np.quantity != Quantity::Any {
                let map = self.map()?;
                let pair: Vec<ObjectKey> = vec![last.1.clone(), next.1.clone()];
                let differ = super::describe::differences(&pair, &map);
                let message = format!(
                    "Two of the {} {alike}: {}. Which one?",
                    crate::language::plural(&head_word(np)),
                    listed(&differ)
                );
                return Err(Fault::new(Reason::Ambiguous, message));
            }
        }
        order.truncate(wanted.max(1));
        Ok(order.into_iter().map(|(_, key)| key).collect())
    }

    /// The middle one of a row of an odd number.
    fn middle(&mut self, np: &NounPhrase, keys: Vec<ObjectKey>) -> Result<Vec<ObjectKey>, Fault> {
        if let Some(found) = self.middle_row(np, &keys)? {
            return Ok(found);
        }
        if keys.len() == 1 {
            return Ok(keys);
        }
        let left = self.along(TableRegion::Left, &keys)?;
        let back = self.along(TableRegion::Back, &keys)?;
        let spread = |values: &[f64]| {
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                - values.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let up = self.heights(&keys)?;
        let values = if spread(&up) > spread(&left).max(spread(&back)) {
            up
        } else if spread(&left) >= spread(&back) {
            left
        } else {
            back
        };
        self.measure(&keys, &values);
        if keys.len().is_multiple_of(2) {
            return Err(self.ambiguous(np, &keys)?);
        }
        let mut order: Vec<(f64, ObjectKey)> = values.into_iter().zip(keys).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = order.len() / 2;
        Ok(vec![order.swap_remove(middle).1])
    }

    /// Sizes of objects in one dimension, metres.
    pub(super) fn sizes(&mut self, dimension: Dimension, keys: &[ObjectKey]) -> Result<Vec<f64>, Fault> {
        let mut values = Vec::new();
        for key in keys {
            let value = self.tools.number(Measure::SizeOf, std::slice::from_ref(key))?;
            let map = self.map()?;
            let of = |measure: fn(&Object) -> f64| map.get(key).map_or(0.0, measure);
            values.push(match dimension {
                Dimension::Size => value,
                Dimension::Height => of(spatial::height_of),
                Dimension::Length => of(spatial::length_of),
                Dimension::Thickness => of(spatial::thickness_of),
            });
        }
        self.measure(keys, &values);
        Ok(values)
    }

    /// Places of objects along a direction, greater = farther to that side, metres from the first of them.
    fn along(&mut self, region: TableRegion, keys: &[ObjectKey]) -> Result<Vec<f64>, Fault> {
        let map = self.map()?;
        let objects: Vec<&Object> = keys.iter().filter_map(|key| map.get(key)).collect();
        let sight = self.tools.sight(&objects);
        let Some(first) = objects.first().map(|object| spatial::centre(object)) else {
            return Ok(vec![0.0; keys.len()]);
        };
        let place = |object: &Object| {
            let [ahead, left] = sight.offset(&first, &spatial::centre(object));
            match region {
                TableRegion::Left => left,
                TableRegion::Right => -left,
                TableRegion::Front => -ahead,
                TableRegion::Back => ahead,
                TableRegion::Center | TableRegion::Edge => 0.0,
            }
        };
        let values: Vec<f64> = keys.iter().map(|key| map.get(key).map_or(0.0, place)).collect();
        self.measure(keys, &values);
        Ok(values)
    }

    /// Least gap of each object to the targets, metres; infinite when there is no other.
    fn gaps(&mut self, targets: &[NounPhrase], keys: &[ObjectKey]) -> Result<Vec<f64>, Fault> {
        let anchors = self.anchor_keys(targets)?;
        let mut values = Vec::new();
        for key in keys {
            let mut least = f64::INFINITY;
            for anchor in anchors.iter().filter(|anchor| *anchor != key) {
                least = least.min(self.tools.number(Measure::GapBetween, &[key.clone(), anchor.clone()])?);
            }
            values.push(least);
        }
        self.measure(keys, &values);
        Ok(values)
    }

    fn anchor_keys(&mut self, targets: &[NounPhrase]) -> Result<Vec<ObjectKey>, Fault> {
        let mut anchors = Vec::new();
        for target in targets {
            anchors.extend(self.candidates(target)?);
        }
        Ok(anchors)
    }

    /// "the thing closest to the plate" is not the plate.
    fn without_targets(
        &mut self,
        targets: &[NounPhrase],
        keys: Vec<ObjectKey>,
        values: Vec<f64>,
    ) -> Result<(Vec<ObjectKey>, Vec<f64>), Fault> {
        let anchors = self.anchor_keys(targets)?;
        let others: Vec<(ObjectKey, f64)> = keys
            .iter()
            .cloned()
            .zip(values.iter().copied())
            .filter(|(key, _)| !anchors.contains(key))
            .collect();
        Ok(if others.is_empty() { (keys, values) } else { others.into_iter().unzip() })
    }

    /// "larger than the mug".
    fn compared(
        &mut self,
        np: &NounPhrase,
        dimension: Dimension,
        targets: &[NounPhrase],
        keys: Vec<ObjectKey>,
        more: bool,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let anchors = self.anchor_keys(targets)?;
        let limits = self.sizes(dimension, &anchors)?;
        let limit = if more {
            limits.iter().copied().fold(0.0, f64::max)
        } else {
            limits.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let sizes = self.sizes(dimension, &keys)?;
        let kept: Vec<ObjectKey> = keys
            .iter()
            .zip(&sizes)
            .filter(|(key, size)| {
                !anchors.contains(key) && if more { **size > limit } else { **size < limit }
            })
            .map(|(key, _)| key.clone())
            .collect();
        if kept.is_empty() {
            let map = self.map()?;
            let than: Vec<String> = anchors.iter().map(|key| describe(key, &map)).collect();
            let word = if more { "larger" } else { "smaller" };
            let message = format!("I see no {} {word} than {}.", head_word(np), listed(&than));
            return Err(Fault::new(Reason::NotFound, message));
        }
        Ok(kept)
    }
}

/// Those at the greatest value, or hardly less.
pub(super) fn outermost(keys: Vec<ObjectKey>, values: &[f64]) -> Vec<ObjectKey> {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    keys.into_iter()
        .zip(values)
        .filter(|(_, value)| **value > most - PLACE_MARGIN)
        .map(|(key, _)| key)
        .collect()
}

/// Those whose value is nearer to the greatest than to the least; all when they are alike.
fn upper_half(keys: Vec<ObjectKey>, values: &[f64]) -> Vec<ObjectKey> {
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = (high + low) / 2.0;
    keys.into_iter().zip(values).filter(|(_, value)| **value >= middle).map(|(key, _)| key).collect()
}
