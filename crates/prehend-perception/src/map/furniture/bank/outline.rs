//! Fronts as rectangles in their common plane, and what is known of one from the views of it.

use crate::map::furniture::settings::{BankSettings, OutlineSettings};
use nalgebra::{Point3, Vector3};
use prehend_scene::ObjectKey;
use std::collections::VecDeque;

/// A range across and one of height in the plane of the fronts, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outline {
    pub(super) across: (f64, f64),
    pub(super) up: (f64, f64),
}

impl Outline {
    pub(super) fn area(&self) -> f64 {
        (self.across.1 - self.across.0).max(0.0) * (self.up.1 - self.up.0).max(0.0)
    }

    /// Area in common with another.
    fn common(&self, other: &Self) -> f64 {
        let part = |a: (f64, f64), b: (f64, f64)| (a.1.min(b.1) - a.0.max(b.0)).max(0.0);
        part(self.across, other.across) * part(self.up, other.up)
    }

    pub(super) fn is_apart_from(&self, other: &Self, settings: &OutlineSettings) -> bool {
        self.common(other) <= settings.apart * self.area().min(other.area())
    }

    pub(super) fn is_same_as(&self, other: &Self, settings: &OutlineSettings) -> bool {
        let common = self.common(other);
        common >= settings.same * (self.area() + other.area() - common)
    }

    /// Whether it is at least so wide and so high, as shares of another.
    pub(super) fn reaches_over(&self, other: &Self, least: (f64, f64)) -> bool {
        let share = |part: (f64, f64), whole: (f64, f64)| (part.1 - part.0) / (whole.1 - whole.0).max(1e-6);
        share(self.across, other.across) >= least.0 && share(self.up, other.up) >= least.1
    }

    /// Whether two fronts stand in one column or one row, with little between them.
    pub(super) fn is_in_line_with(&self, other: &Self, settings: &OutlineSettings) -> bool {
        let share = |a: (f64, f64), b: (f64, f64)| {
            (a.1.min(b.1) - a.0.max(b.0)) / (a.1 - a.0).max(b.1 - b.0).max(1e-6)
        };
        let gap = |a: (f64, f64), b: (f64, f64)| a.0.max(b.0) - a.1.min(b.1);
        share(self.across, other.across) >= settings.same && gap(self.up, other.up) <= settings.gap
            || share(self.up, other.up) >= settings.same && gap(self.across, other.across) <= settings.gap
    }

    /// How far from the middle a place is: 1 at the border.
    pub(super) fn off_middle(&self, across: f64, up: f64) -> f64 {
        let off =
            |at: f64, range: (f64, f64)| (2.0 * at - range.0 - range.1).abs() / (range.1 - range.0).max(1e-6);
        off(across, self.across).max(off(up, self.up))
    }

    pub(super) fn contains(&self, across: f64, up: f64, margin: f64) -> bool {
        (self.across.0 - margin..=self.across.1 + margin).contains(&across)
            && (self.up.0 - margin..=self.up.1 + margin).contains(&up)
    }
}

/// The place of one drawer.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) key: ObjectKey,
    pub(super) outline: Outline,
    /// Where its front is along the way, metres, as it was seen last.
    pub(super) front: Option<f64>,
    /// Its front as single masks of the last frames showed it whole, and the same where the picture's border cut it.
    seen: [VecDeque<Outline>; 2],
}

impl Slot {
    pub(super) fn new(key: ObjectKey, outline: Outline, is_cut: bool, settings: &OutlineSettings) -> Self {
        let mut slot = Self { key, outline, front: None, seen: Default::default() };
        slot.show(outline, is_cut, settings);
        slot
    }

    /// Whether what is seen in its plane can be a front, and is no handle or strip beside what hides the rest: a good part of the slot.
    pub(super) fn is_front(&self, seen: &Outline, settings: &BankSettings) -> bool {
        seen.reaches_over(&self.outline, (settings.named, settings.two_least))
    }

    /// Takes one more view of its front. Each edge is where half of the fuller views have it: what hides some of a front makes it
    /// smaller, and what is taken together with it larger.
    pub(super) fn show(&mut self, outline: Outline, is_cut: bool, settings: &OutlineSettings) {
        let views = &mut self.seen[usize::from(is_cut)];
        views.push_back(outline);
        if views.len() > settings.sightings.max(1) {
            views.pop_front();
        }
        let views = &self.seen[usize::from(self.seen[0].is_empty())];
        let mut areas: Vec<f64> = views.iter().map(Outline::area).collect();
        areas.sort_by(f64::total_cmp);
        let full = areas.get(areas.len() * 9 / 10).copied().unwrap_or_default();
        let whole: Vec<&Outline> = views.iter().filter(|view| view.area() >= settings.full * full).collect();
        let middle = |edge: fn(&Outline) -> f64| {
            let mut places: Vec<f64> = whole.iter().map(|view| edge(view)).collect();
            places.sort_by(f64::total_cmp);
            places[places.len() / 2]
        };
        self.outline = Outline {
            across: (middle(|view| view.across.0), middle(|view| view.across.1)),
            up: (middle(|view| view.up.0), middle(|view| view.up.1)),
        };
    }
}

pub(super) fn side_of(way: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(-way.y, way.x, 0.0)
}

/// Ranges of points without the outermost 2 % on either side; `None` of too few.
pub(super) fn outline_of<'p>(
    points: impl Iterator<Item = &'p Point3<f64>>,
    side: &Vector3<f64>,
    settings: &OutlineSettings,
) -> Option<Outline> {
    let (mut across, mut up): (Vec<f64>, Vec<f64>) = points
        .map(|p| (p.coords.dot(side), p.z))
        .filter(|(across, up)| across.is_finite() && up.is_finite())
        .unzip();
    let range = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1).filter(|last| *last + 1 >= settings.least_points)?;
        let at = |share: f64| values[(share * last as f64).round() as usize];
        Some((at(0.02), at(0.98)))
    };
    Some(Outline { across: range(&mut across)?, up: range(&mut up)? })
}
