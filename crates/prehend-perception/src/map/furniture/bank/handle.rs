//! Handles, and strips of a front, that a frame shows as things of their own: from above and afar little else shows of a closed drawer.

use super::Bank;
use crate::map::known::Known;
use nalgebra::Point3;
use prehend_geometry::AxisBox;
use prehend_scene::Object;

/// What things of a frame may stand on.
pub(super) struct Ground(Vec<AxisBox>);

impl Ground {
    /// What is not of the drawers themselves.
    pub(super) fn of(bank: &Bank, seen: &[Known]) -> Self {
        let is_ours = |thing: &&Known| {
            let points = bank.split(&thing.object);
            (0..points.len()).any(|slot| bank.is_of_drawer(&thing.object, slot, &points[slot]))
        };
        let others = seen.iter().filter(|thing| !is_ours(thing));
        Self(others.map(|thing| AxisBox::around(&thing.object.bounds)).collect())
    }

    /// Whether one of them is right below.
    fn carries(&self, thing: &Object, bottom: f64, lift: f64) -> bool {
        let thing = AxisBox::around(&thing.bounds);
        let is_below = |other: &AxisBox| {
            let is_over = |axis| thing.low[axis] <= other.high[axis] && other.low[axis] <= thing.high[axis];
            *other != thing && (0..2).all(is_over) && (bottom - other.high.z).abs() < lift
        };
        self.0.iter().any(is_below)
    }
}

impl Bank {
    /// The slot whose front something hangs at or is a strip of, and its points there: nearly all of it is within the outline and just
    /// before the front as that was seen last, and above the lower edge, and it stands on nothing. A thing in an open drawer is behind
    /// the front of that one.
    pub(super) fn hangs_at(&self, thing: &Object, ground: &Ground) -> Option<(usize, Vec<usize>)> {
        // Boxes reach down to what a thing seems to stand on; points do not.
        let points = &thing.cloud.points;
        let bottom = points.iter().map(|point| point.z).min_by(f64::total_cmp)?;
        if ground.carries(thing, bottom, self.settings.lift) {
            return None;
        }
        let least = self.settings.whole * points.len() as f64;
        let at_fronts = (0..self.slots.len()).map(|slot| (slot, self.at_front(slot, points)));
        at_fronts.into_iter().find(|(_, found)| !found.is_empty() && found.len() as f64 >= least)
    }

    /// Points just before the front of a slot.
    fn at_front(&self, slot: usize, points: &[Point3<f64>]) -> Vec<usize> {
        let (settings, slot) = (&self.settings, &self.slots[slot]);
        let Some(front) = slot.front else { return Vec::new() };
        let is_at = |point: &Point3<f64>| {
            let before = point.coords.dot(&self.way) - front;
            (-settings.thick..settings.handle).contains(&before)
                && point.z >= slot.outline.up.0 + settings.lift
                && slot.outline.contains(point.coords.dot(&self.side()), point.z, 0.0)
        };
        (0..points.len()).filter(|index| is_at(&points[*index])).collect()
    }

    /// The slot at whose front a known object hangs that is none of the drawers, and of which the views do not agree that it is
    /// something else.
    pub(super) fn handle_of(&self, known: &Known, ground: &Ground) -> Option<usize> {
        let object = &known.object;
        let is_named = !object.class_name.is_empty() && object.confidence >= self.settings.mostly;
        if known.track.slot.is_some() || is_named && object.view_count >= self.settings.views {
            return None;
        }
        self.hangs_at(object, ground).map(|(slot, _)| slot)
    }

    /// Keeps where the fronts of its drawers are.
    pub(super) fn note_fronts(&mut self, objects: &[Known]) {
        for slot in &mut self.slots {
            let drawer = objects.iter().find(|known| known.object.key == slot.key);
            slot.front = drawer.and_then(|drawer| drawer.track.front).or(slot.front);
        }
    }
}
