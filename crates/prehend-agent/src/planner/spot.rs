//! Parts of the table as places: sides, corners, so far from here, where another thing is.
//!
//! Map frame of the arm, metres; left is +y, back is +x. What part of the table the robot reaches is its workspace.

use super::describe::capital;
use super::describe::{carrier, describe, describe_apart};
use super::feasible::ungraspable;
use super::ground::Grounder;
use super::{Action, Spot};
use crate::language::{Destination, PlaceRelation, TableRegion, Toward};
use crate::world::Fault;
use prehend_scene::{Area, Object, ObjectKey, ObjectMap, Reason, Relation, spatial};

/// How much of the workspace is a side of it, as a share, and the middle.
const SIDE: f64 = 0.35;
const MIDDLE: f64 = 0.28;
/// How far a shift is when nobody says, metres.
const USUAL: f64 = 0.10;
/// How far from where it shall be a thing may end: a share of the shift, within these bounds, metres.
const OFF: (f64, f64, f64) = (0.2, 0.015, 0.03);
/// Least gap that a shift toward a thing leaves, metres: the fingers must get out.
const GAP: f64 = 0.03;
/// How far aside something is put for another, metres, and the least width of a strip of the table for it.
const ASIDE: f64 = 0.12;
const STRIP: f64 = 0.12;

impl Grounder<'_, '_, '_> {
    /// The part of the table that a destination means for an object; `None` for relations to things.
    ///
    /// A corner without a side is the one nearest to the object.
    ///
    /// Errors: infeasible when it is out of reach or taken, when the thing is in the hand and has no place to go by, or when the robot
    /// drives.
    pub(super) fn spot(
        &mut self,
        destination: &Destination,
        object: &ObjectKey,
        targets: &[ObjectKey],
    ) -> Result<Option<Spot>, Fault> {
        let spot = match destination.relation {
            PlaceRelation::TableRegion(TableRegion::Edge) => {
                let reach = self.reach();
                // What is in the hand is near no corner.
                let held = self.held().as_ref() == Some(object);
                let place = if held { reach.middle() } else { self.place_of(object)? };
                let nearest = |near: f64, low: f64, high: f64| near * 2.0 < low + high;
                let ahead = match nearest(place[0], reach.low[0], reach.high[0]) {
                    true => TableRegion::Front,
                    false => TableRegion::Back,
                };
                let aside = match nearest(place[1], reach.low[1], reach.high[1]) {
                    true => TableRegion::Right,
                    false => TableRegion::Left,
                };
                self.corner(ahead, aside)
            }
            PlaceRelation::TableRegion(region) => {
                let words = match region {
                    TableRegion::Center => "in the middle of the table".to_owned(),
                    TableRegion::Front | TableRegion::Back => format!("at the {region} of the table"),
                    _ => format!("on the {region} of the table"),
                };
                Spot { area: side_of(self.reach(), region), words }
            }
            PlaceRelation::Corner(ahead, aside) => self.corner(ahead, aside),
            PlaceRelation::Shift(toward, length) => self.shifted(object, toward, length, targets)?,
            PlaceRelation::PlaceOf => {
                let [target] = targets else {
                    let message = "I need one thing whose place is meant.";
                    return Err(Fault::new(Reason::Infeasible, message));
                };
                self.where_it_is(target)?
            }
            PlaceRelation::Known(_)
            | PlaceRelation::To
            | PlaceRelation::Stacked
            | PlaceRelation::Under
            | PlaceRelation::Above
            | PlaceRelation::Floor => return Ok(None),
        };
        if self.tools.rooms() {
            let message = "I aim at parts of a table only where my base stands still. I can put it in, on or next to something.";
            return Err(Fault::new(Reason::Infeasible, message));
        }
        if !self.reach().contains(spot.area.middle(), 0.0) {
            let map = self.map()?;
            let message = format!(
                "{} would be out of my reach there ({:.2} m ahead, {:.2} m to the left of me).",
                capital(&describe(object, &map)),
                spot.area.middle()[0],
                spot.area.middle()[1]
            );
            return Err(Fault::new(Reason::Infeasible, message));
        }
        Ok(Some(spot))
    }

    /// What the arm reaches of the table.
    fn reach(&self) -> Area {
        let workspace = &self.knowledge.settings.workspace;
        Area { low: [workspace.min[0], workspace.min[1]], high: [workspace.max[0], workspace.max[1]] }
    }

    fn corner(&self, ahead: TableRegion, aside: TableRegion) -> Spot {
        let (a, b) = (side_of(self.reach(), ahead), side_of(self.reach(), aside));
        let area = Area { low: [a.low[0], b.low[1]], high: [a.high[0], b.high[1]] };
        Spot { area, words: format!("in the {ahead} {aside} corner of the table") }
    }

    /// Where an object is.
    ///
    /// Errors: infeasible when it is in the hand.
    fn place_of(&mut self, object: &ObjectKey) -> Result<[f64; 2], Fault> {
        let map = self.map()?;
        if self.held().as_ref() == Some(object) {
            let message = format!(
                "I hold {}, so it has no place to go by. Say for example \"put it next to the plate\".",
                describe(object, &map)
            );
            return Err(Fault::new(Reason::Infeasible, message));
        }
        let place = map.get(object).map(spatial::centre);
        let gone = || Fault::new(Reason::NotFound, format!("I do not see where {object} is."));
        place.map(|place| [place.x, place.y]).ok_or_else(gone)
    }

    fn shifted(
        &mut self,
        object: &ObjectKey,
        toward: Toward,
        length: Option<u32>,
        targets: &[ObjectKey],
    ) -> Result<Spot, Fault> {
        let [x, y] = self.place_of(object)?;
        let length = length.map_or(USUAL, |length| f64::from(length) / 1e3);
        let cm = format!("{:.0} cm", length * 100.0);
        let (place, words) = match toward {
            Toward::Side(side) => {
                let (step, words) = match side {
                    TableRegion::Left => ([0.0, length], format!("{cm} further to the left")),
                    TableRegion::Right => ([0.0, -length], format!("{cm} further to the right")),
                    TableRegion::Front => ([-length, 0.0], format!("{cm} closer to me")),
                    TableRegion::Back => ([length, 0.0], format!("{cm} farther from me")),
                    TableRegion::Center | TableRegion::Edge => ([0.0, 0.0], "where it was".to_owned()),
                };
                ([x + step[0], y + step[1]], words)
            }
            Toward::Target => {
                let map = self.map()?;
                let pair = targets.first().and_then(|key| map.get(key)).zip(map.get(object));
                let Some((target, moved)) = pair else {
                    return Err(Fault::new(Reason::NotFound, "I do not see what it shall be closer to."));
                };
                let (centre, gap) = (spatial::centre(target), spatial::gap(moved, target));
                let name = describe(&target.key, &map);
                let length = length.min(gap - GAP);
                if length < OFF.1 {
                    let message = format!("{} is close to {name} already.", capital(&describe(object, &map)));
                    return Err(Fault::new(Reason::Infeasible, message));
                }
                let way = [centre.x - x, centre.y - y];
                let norm = way[0].hypot(way[1]).max(1e-6);
                let place = [x + way[0] / norm * length, y + way[1] / norm * length];
                (place, format!("{:.0} cm closer to {name}", length * 100.0))
            }
        };
        let spot = Spot { area: Area::around(place, (OFF.0 * length).clamp(OFF.1, OFF.2)), words };
        let map = self.map()?;
        if let Some(other) = stands_in_way(object, &spot.area, &map) {
            let message = format!(
                "{} has no room {}: {} is there.",
                capital(&describe(object, &map)),
                spot.words,
                describe(other, &map)
            );
            return Err(Fault::new(Reason::Infeasible, message));
        }
        Ok(spot)
    }

    /// The place where an object is now.
    fn where_it_is(&mut self, object: &ObjectKey) -> Result<Spot, Fault> {
        let place = self.place_of(object)?;
        let map = self.map()?;
        let words = format!("where {} was", describe_apart(object, &map));
        Ok(Spot { area: Area::around(place, OFF.1), words })
    }

    /// Takes what stands where something else shall go out of the way.
    pub(super) fn vacate(
        &mut self,
        object: &ObjectKey,
        places: &[[f64; 2]],
        actions: &mut Vec<Action>,
    ) -> Result<(), Fault> {
        let map = self.map()?;
        if let Some(fault) = map.get(object).and_then(|object| ungraspable(object, &map, self.knowledge)) {
            return Err(fault);
        }
        let Some(area) = free_strip(self.reach(), places) else {
            let message = format!("There is no room to put {} aside.", describe(object, &map));
            return Err(Fault::new(Reason::Infeasible, message));
        };
        let spot = Spot { area, words: "aside".to_owned() };
        actions.push(Action::put_on_table(object.clone(), Some(spot)));
        Ok(())
    }

    /// Frees the place of what something is to be put in the place of.
    pub(super) fn vacate_place_of(
        &mut self,
        destination: &Destination,
        object: &ObjectKey,
        targets: &[ObjectKey],
        actions: &mut Vec<Action>,
    ) -> Result<(), Fault> {
        match targets {
            [target] if destination.relation == PlaceRelation::PlaceOf && target != object => {
                let place = self.place_of(target)?;
                self.vacate(target, &[place], actions)
            }
            _ => Ok(()),
        }
    }

    /// Each of two things goes where the other is: one aside, the other to its place, and the first to that one's.
    pub(super) fn swap(
        &mut self,
        keys: Vec<ObjectKey>,
        held: &Option<ObjectKey>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Fault> {
        let map = self.map()?;
        if let Some(held) = held {
            let message = format!("I hold {}. Tell me first where to put it.", describe(held, &map));
            return Err(Fault::new(Reason::Infeasible, message));
        }
        let [first, second] = keys.as_slice() else {
            let all: Vec<String> = keys.iter().map(|key| describe_apart(key, &map)).collect();
            let message = format!("I can swap two things, not {}: {}.", keys.len(), super::listed(&all));
            return Err(Fault::new(Reason::Ambiguous, message));
        };
        if self.tools.rooms() {
            let message = "I swap things only where my base stands still.";
            return Err(Fault::new(Reason::Infeasible, message));
        }
        for (one, other) in [(first, second), (second, first)] {
            if let Some(fault) = map.get(one).and_then(|object| ungraspable(object, &map, self.knowledge)) {
                return Err(fault);
            }
            if self.carrier_of(one)?.is_some_and(|(_, carrier)| carrier == *other) {
                let message = format!(
                    "{} stands in or on {}; they cannot change places.",
                    capital(&describe(one, &map)),
                    describe(other, &map)
                );
                return Err(Fault::new(Reason::Infeasible, message));
            }
        }
        let places = [self.place_of(first)?, self.place_of(second)?];
        let (to_first, to_second) =
            (self.put_in_place_of(second, first)?, self.put_in_place_of(first, second)?);
        self.vacate(first, &places, actions)?;
        actions.extend([to_first, to_second]);
        self.objects = keys;
        Ok(())
    }

    /// The action that puts an object where another is now: in or on what carries that one, else on its place.
    fn put_in_place_of(&mut self, object: &ObjectKey, other: &ObjectKey) -> Result<Action, Fault> {
        Ok(match self.carrier_of(other)? {
            Some((relation, carrier)) => Action::place(object.clone(), relation, vec![carrier]),
            None => Action::put_on_table(object.clone(), Some(self.where_it_is(other)?)),
        })
    }

    /// What an object is in or on.
    pub(super) fn carrier_of(&mut self, object: &ObjectKey) -> Result<Option<(Relation, ObjectKey)>, Fault> {
        let map = self.map()?;
        let found = map.get(object).and_then(|object| carrier(object, &map));
        Ok(found.map(|(word, carrier)| {
            let relation = if word == "in" { Relation::In } else { Relation::On };
            (relation, carrier.key.clone())
        }))
    }
}

/// What stands wherever in the area the object would be put; what may leave room is for the search of places to find out.
fn stands_in_way<'m>(object: &ObjectKey, area: &Area, map: &'m ObjectMap) -> Option<&'m ObjectKey> {
    let half_width = spatial::width_of(map.get(object)?) / 2.0;
    let corners = [area.low, area.high, [area.low[0], area.high[1]], [area.high[0], area.low[1]]];
    let covers = |other: &Object, [x, y]: [f64; 2]| {
        other.cloud.points.iter().any(|p| (p.x - x).hypot(p.y - y) < half_width)
    };
    let is_there = |other: &&Object| corners.iter().all(|corner| covers(other, *corner));
    map.objects.iter().filter(|other| other.key != *object).find(is_there).map(|other| &other.key)
}

/// A side of what is reached, or its middle.
fn side_of(reach: Area, region: TableRegion) -> Area {
    let span = |axis: usize| reach.high[axis] - reach.low[axis];
    let mut area = reach;
    match region {
        TableRegion::Left => area.low[1] = reach.high[1] - SIDE * span(1),
        TableRegion::Right => area.high[1] = reach.low[1] + SIDE * span(1),
        TableRegion::Front => area.high[0] = reach.low[0] + SIDE * span(0),
        TableRegion::Back => area.low[0] = reach.high[0] - SIDE * span(0),
        TableRegion::Center | TableRegion::Edge => {
            for axis in 0..2 {
                let middle = reach.middle()[axis];
                area.low[axis] = middle - MIDDLE / 2.0 * span(axis);
                area.high[axis] = middle + MIDDLE / 2.0 * span(axis);
            }
        }
    }
    area
}

/// The widest strip of the table, across the robot's view, that is aside of these places; `None` when none is wide enough.
fn free_strip(reach: Area, places: &[[f64; 2]]) -> Option<Area> {
    let mut taken: Vec<f64> = places.iter().map(|place| place[1]).collect();
    taken.sort_by(f64::total_cmp);
    let mut free_from = reach.low[1];
    let mut strips = Vec::new();
    for place in taken {
        strips.push((free_from, (place - ASIDE).min(reach.high[1])));
        free_from = free_from.max(place + ASIDE);
    }
    strips.push((free_from, reach.high[1]));
    let (low, high) = strips.into_iter().max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))?;
    (high - low >= STRIP).then_some(Area { low: [reach.low[0], low], high: [reach.high[0], high] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_the_robots_and_a_strip_is_aside_of_the_places() {
        let reach = Area { low: [0.1, -0.5], high: [0.7, 0.5] };
        let middle = |region| side_of(reach, region).middle();
        assert!(middle(TableRegion::Left)[1] > 0.3 && middle(TableRegion::Right)[1] < -0.3);
        assert!(middle(TableRegion::Back)[0] > 0.55 && middle(TableRegion::Front)[0] < 0.25);
        assert!((middle(TableRegion::Center)[0] - 0.4).abs() < 1e-9);
        let strip = free_strip(reach, &[[0.4, 0.0], [0.4, 0.1]]).expect("room");
        assert!(strip.low[1] >= -0.5 && strip.high[1] <= -0.1, "{strip:?}");
        assert_eq!(free_strip(reach, &[[0.4, -0.4], [0.4, -0.2], [0.4, 0.0], [0.4, 0.2], [0.4, 0.4]]), None);
    }
}
