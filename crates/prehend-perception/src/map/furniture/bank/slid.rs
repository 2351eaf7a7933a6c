//! What goes along when a drawer of a bank slides: the drawer as it was seen before, for it is rigid, and what lies in it.

use super::{Bank, Banks, is_drawer, outline_of};
use crate::map::known::Known;
use nalgebra::{Isometry3, Point3};
use prehend_geometry::OrientedBox;
use prehend_geometry::voxel::downsample;
use prehend_scene::{Object, ObjectKey};

/// How a drawer slid.
#[derive(Clone, Debug)]
pub(in crate::map) struct Slid {
    drawer: ObjectKey,
    /// Where its front was along the way, metres; `None` when no view had shown it.
    from: Option<f64>,
    /// Where it is now, metres.
    to: f64,
}

impl Banks {
    /// How a drawer slid from where it was known to where it is seen; `None` when it did not. A closed front lies on what was seen of the
    /// hollow behind the open one, so the fronts tell, and not what lies on what.
    pub(in crate::map) fn slid(&self, known: &Known, seen: &Known) -> Option<Slid> {
        let (from, to) = (known.track.front, seen.track.front?);
        let has_moved = from.is_none_or(|from| (to - from).abs() > self.settings.moved);
        has_moved.then(|| Slid { drawer: known.object.key.clone(), from, to })
    }

    /// Adds to the view of a drawer that slid what was known of it, but for what is in the cabinet now: one look from above shows a strip
    /// of a closed front.
    pub(in crate::map) fn bring(&self, slid: &Slid, known: &Known, seen: &mut Known, leaf: f64, update: u64) {
        let Some(((bank, slot), from)) = self.slot_of(&slid.drawer).zip(slid.from) else { return };
        let by = bank.way * (slid.to - from);
        let mut cloud = known.object.cloud.transformed(&Isometry3::translation(by.x, by.y, by.z));
        let first = bank.face - bank.settings.thick;
        // What was taken of its neighbours by mistake stays behind.
        let outline = &bank.slots[slot].outline;
        let goes_along = |index: &usize| {
            let point = &cloud.points[*index];
            point.coords.dot(&bank.way) >= first
                && outline.contains(point.coords.dot(&bank.side()), point.z, 0.0)
        };
        let along: Vec<usize> = (0..cloud.len()).filter(goes_along).collect();
        cloud = cloud.select(&along);
        cloud.extend(&seen.object.cloud);
        if let Some(bounds) = OrientedBox::upright_around(&cloud.points) {
            seen.object.bounds = bounds;
        }
        seen.object.cloud = downsample(&cloud, leaf);
        seen.cloud_changed(update);
    }

    /// Moves what lies in drawers along with them.
    pub(in crate::map) fn carry(&self, slid: &[Slid], objects: &mut [Known], update: u64) {
        for one in slid {
            let Some(((bank, slot), from)) = self.slot_of(&one.drawer).zip(one.from) else { continue };
            for known in objects.iter_mut().filter(|known| bank.holds(slot, from, &known.object)) {
                known.object.shift(&(bank.way * (one.to - from)));
                known.cloud_changed(update);
            }
        }
    }

    /// The bank of a drawer, and its slot there.
    fn slot_of(&self, drawer: &ObjectKey) -> Option<(&Bank, usize)> {
        self.all.iter().find_map(|bank| Some((bank, bank.slots.iter().position(|slot| slot.key == *drawer)?)))
    }
}

impl Bank {
    /// Whether something lies in the drawer of a slot whose front is at this place: it has a name, is not so wide as the drawer, and is for
    /// the most part behind the front, in its height and breadth.
    fn holds(&self, slot: usize, front: f64, object: &Object) -> bool {
        let settings = &self.settings;
        let outline = &self.slots[slot].outline;
        let points = &object.cloud.points;
        let is_in = |point: &&Point3<f64>| {
            (self.face - settings.deep..front).contains(&point.coords.dot(&self.way))
                && outline.contains(point.coords.dot(&self.side()), point.z, 0.0)
        };
        !object.class_name.is_empty()
            && !is_drawer(object)
            && points.iter().filter(is_in).count() as f64 >= settings.mostly * points.len().max(1) as f64
            && outline_of(points.iter(), &self.side(), &settings.outline)
                .is_some_and(|seen| !seen.reaches_over(outline, (settings.wide, 0.0)))
    }
}
