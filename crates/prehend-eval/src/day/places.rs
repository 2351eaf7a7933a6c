//! Goals that name a place on the table itself: a side of it, so far from here, where another thing stands.

use super::{Draft, Maker, Meant, ROOM, center, is_reachable, one, reach};
use crate::goal::Predicate;
use crate::ground::{SAME_PLACE, SHIFTED, area, near};
use crate::place;
use crate::scenario::Kind;
use crate::scenario::layout::is_in_view;
use crate::scenario::sentence::{pick, polite};
use nalgebra::Point2;
use prehend_agent::language::TableRegion;
use prehend_sim::world::ObjectTruth;
use rand::{Rng, RngExt};

/// Distance between the places that are tried for room on a side of the table, metres.
const STEP: f64 = 0.02;
/// Least number of them that are free.
const LEAST_PLACES: usize = 12;

impl Maker<'_> {
    /// A goal about a place; `None` when what was drawn cannot be done.
    pub(super) fn place_goal(&self, rng: &mut impl Rng) -> Option<Draft> {
        let (command, wanted) = match rng.random_range(0..4) {
            0 | 1 => self.shift(rng)?,
            2 => self.side(rng)?,
            _ => self.swap(rng)?,
        };
        Some(Draft { sentence: polite(rng, &command), kind: Kind::Place, meant: Meant::World(wanted) })
    }

    /// What stands on the table itself and can be taken.
    fn on_table(&self) -> Vec<&ObjectTruth> {
        let stands = |object: &&ObjectTruth| !object.held && !self.is_carried(object);
        self.movable().into_iter().filter(stands).collect()
    }

    fn shift(&self, rng: &mut impl Rng) -> Option<(String, Vec<Predicate>)> {
        let object = one(rng, &self.on_table())?;
        let (way, words): ([f64; 2], &[&str]) = match rng.random_range(0..4) {
            0 => ([0.0, 1.0], &["to the left", "further left"]),
            1 => ([0.0, -1.0], &["to the right", "further to the right"]),
            2 => ([1.0, 0.0], &["forward", "away from me"]),
            _ => ([-1.0, 0.0], &["closer to me", "toward me", "backward"]),
        };
        let centimetres = rng.random_range(4..=18_u32);
        let metres = f64::from(10 * centimetres) / 1e3;
        let [x, y, _] = object.position;
        let to = [x + metres * way[0], y + metres * way[1]];
        if !self.is_free(object, &Point2::from(to), ROOM) {
            return None;
        }
        let said = self.phrase(rng, object)?;
        let unit = pick(rng, &[" cm", "cm", " centimetres"]);
        let (verb, words) = (pick(rng, &["move", "shift", "nudge", "push"]), pick(rng, words));
        let command = match rng.random_range(0..3) {
            0 if !words.contains("me") => format!("{verb} {said} {words} by {centimetres}{unit}"),
            _ => format!("{verb} {said} {centimetres}{unit} {words}"),
        };
        Some((command, vec![near(object.name.clone(), to, SHIFTED)]))
    }

    fn side(&self, rng: &mut impl Rng) -> Option<(String, Vec<Predicate>)> {
        let object = one(rng, &self.movable())?;
        let (region, words): (TableRegion, &[&str]) = match rng.random_range(0..5) {
            0 => (TableRegion::Left, &["on the left side of the table", "on the left of the table"]),
            1 => (TableRegion::Right, &["on the right side of the table", "on the right half of the table"]),
            2 => (TableRegion::Front, &["at the front of the table"]),
            3 => (TableRegion::Back, &["at the back of the table"]),
            _ => (TableRegion::Center, &["in the middle of the table", "in the center of the table"]),
        };
        let wanted = area(object.name.clone(), region);
        let Predicate::InArea { x, y, .. } = &wanted else { return None };
        let (x, y) = (*x, *y);
        let inside = |at: &Point2<f64>| (x[0]..=x[1]).contains(&at.x) && (y[0]..=y[1]).contains(&at.y);
        let places =
            (0..40).flat_map(|i| (0..60).map(move |j| (f64::from(i) * STEP, f64::from(j) * STEP - 0.6)));
        let free = places
            .map(|(x, y)| Point2::new(x, y))
            .filter(|at| inside(at) && self.is_free(object, at, ROOM))
            .take(LEAST_PLACES);
        if free.count() < LEAST_PLACES {
            return None;
        }
        let said = self.phrase(rng, object)?;
        let verb = pick(rng, &["put", "place", "set"]);
        Some((format!("{verb} {said} {}", pick(rng, words)), vec![wanted]))
    }

    fn swap(&self, rng: &mut impl Rng) -> Option<(String, Vec<Predicate>)> {
        let things = self.on_table();
        let (first, second) = (one(rng, &things)?, one(rng, &things)?);
        let far = (center(first) - center(second)).norm() > reach(first) + reach(second) + 2.0 * ROOM;
        if first.name == second.name || !far {
            return None;
        }
        let fits = |object: &ObjectTruth, other: &ObjectTruth| {
            let (at, around) = (center(other), reach(object));
            is_reachable(at.x, at.y)
                && is_in_view(at.x, at.y, around, 2.0 * place::half_height(object))
                && self
                    .objects()
                    .filter(|third| ![&first.name, &second.name].contains(&&third.name))
                    .filter(|third| !third.held && !third.fallen)
                    .all(|third| (center(third) - at).norm() > reach(third) + around + ROOM)
        };
        if !fits(first, second) || !fits(second, first) {
            return None;
        }
        let (one, other) = (self.phrase(rng, first)?, self.phrase(rng, second)?);
        let command = match rng.random_range(0..3) {
            0 => format!("swap {one} and {other}"),
            1 => format!("swap {one} with {other}"),
            _ => format!("exchange {one} and {other}"),
        };
        let place = |object: &ObjectTruth, at: &ObjectTruth| {
            near(object.name.clone(), [at.position[0], at.position[1]], SAME_PLACE)
        };
        Some((command, vec![place(first, second), place(second, first)]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Day, tests::truth};
    use crate::goal::Expected;
    use crate::judge::holds;
    use crate::scenario::Kind;

    #[test]
    fn places_that_are_asked_for_are_free_and_not_so_already() {
        let mut said = Vec::new();
        for seed in 0..12 {
            let truth = truth(seed);
            let mut day = Day::new(seed).unwrap().with_places(1.0);
            for _ in 0..8 {
                let Some(goal) = day.next_goal(&truth) else { continue };
                assert_eq!(goal.kind, Kind::Place, "{}", goal.sentence);
                let Expected::World(wanted) = &goal.spec.expected else { panic!("{goal:?}") };
                assert!(wanted.iter().all(|wanted| holds(wanted, &truth, &truth) == Ok(false)), "{goal:?}");
                said.push(goal.sentence.to_lowercase());
            }
        }
        for word in ["swap", " cm", "table", "closer to me"] {
            assert!(said.iter().any(|sentence| sentence.contains(word)), "{word} in {said:?}");
        }
    }
}
