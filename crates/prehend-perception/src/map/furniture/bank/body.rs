//! What drawers are in: between their fronts it shows in strips that do not touch, and is one thing all the same.

use super::Bank;
use super::outline::Slot;
use crate::color::unlikeness;
use crate::map::UpdateReport;
use crate::map::join::report_joined;
use crate::map::known::Known;
use nalgebra::Point3;
use prehend_scene::Object;
use prehend_scene::merge::MergeRule;

/// Where the body of what the drawers are in can be: behind the plane of the closed fronts, and no farther beside or above them than
/// a wall is thick.
struct Room {
    across: (f64, f64),
    top: f64,
}

impl Room {
    fn of(bank: &Bank) -> Option<Self> {
        let edge = |of: fn(&Slot) -> f64, pick: fn(f64, f64) -> f64| bank.slots.iter().map(of).reduce(pick);
        let low = edge(|slot| slot.outline.across.0, f64::min)?;
        let high = edge(|slot| slot.outline.across.1, f64::max)?;
        let top = edge(|slot| slot.outline.up.1, f64::max)?;
        let wall = bank.settings.wall;
        Some(Self { across: (low - wall, high + wall), top: top + wall })
    }

    fn contains(&self, point: &Point3<f64>, bank: &Bank) -> bool {
        let behind = bank.face - point.coords.dot(&bank.way);
        (-bank.settings.flush..bank.settings.deep).contains(&behind)
            && (self.across.0..=self.across.1).contains(&point.coords.dot(&bank.side()))
            && point.z <= self.top
    }
}

impl Bank {
    /// Makes one of what the drawers are in: the largest of what lies there, and what is called as it is, or not at all and has its
    /// colour. What has another name stands in it, as far as anybody knows.
    pub(super) fn join_body(
        &self,
        objects: &mut Vec<Known>,
        rule: &MergeRule,
        update: u64,
        report: &mut UpdateReport,
    ) {
        let Some(room) = Room::of(self) else { return };
        let is_piece = |known: &Known| {
            let points = &known.object.cloud.points;
            let inside = points.iter().filter(|point| room.contains(point, self)).count();
            known.track.slot.is_none() && inside as f64 >= self.settings.whole * points.len().max(1) as f64
        };
        let mut pieces: Vec<usize> = (0..objects.len()).filter(|place| is_piece(&objects[*place])).collect();
        let named = pieces.iter().copied().filter(|place| !objects[*place].object.class_name.is_empty());
        let Some(body) = named.max_by_key(|place| objects[*place].object.cloud.len()) else { return };
        let Object { class_name, color, .. } = &objects[body].object;
        let (class_name, color) = (class_name.clone(), *color);
        let is_alike = |place: &usize| {
            let object = &objects[*place].object;
            let is_colored_so = || unlikeness(object.color, color) <= self.settings.body_unlike;
            object.class_name == class_name || object.class_name.is_empty() && is_colored_so()
        };
        pieces.retain(|place| *place != body && is_alike(place));
        for place in pieces.iter().copied() {
            let piece = objects[place].take();
            let whole = &mut objects[body];
            report_joined(whole, &piece, report);
            // Pieces of it were seen together: names of it count as often as it was seen.
            let views = whole.object.view_count.max(piece.object.view_count);
            whole.merge(piece, rule, update);
            whole.object.view_count = views;
        }
        pieces.into_iter().rev().for_each(|place| drop(objects.remove(place)));
    }
}
