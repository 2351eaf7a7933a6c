//! What is looked at: one object, or one part of it.

use crate::memory::Appearance;
use prehend_geometry::plane::Plane;
use prehend_imagination::Hand;
use prehend_perception::evidence::{self, Knowledge, Look, part};
use prehend_perception::parts::WorkingPart;
use prehend_perception::segment::SegmentSettings;
use prehend_scene::{Crop, Evidence, Object};
use std::sync::Arc;

/// What every tool looks at.
#[derive(Debug)]
pub struct Subject {
    /// The object with its views.
    pub object: Object,
    /// What it stands on, map frame; `None` when the map knows no plane.
    pub plane: Option<Plane>,
    /// The part that is acted on, when the evidence shall be about it and not about the whole.
    pub part: Option<WorkingPart>,
    /// What is known of kinds of things.
    pub knowledge: Arc<Knowledge>,
    /// The hand that would act on the part; without one nothing is imagined.
    pub hand: Option<Hand>,
}

impl Subject {
    /// What it is recognised by when it is met again.
    pub fn appearance(&self) -> Appearance {
        let size = self.object.bounds.size;
        let mut sides = [size.x, size.y, size.z];
        sides.sort_by(|a, b| b.total_cmp(a));
        Appearance {
            class: self.object.class_name.clone(),
            part: self.part.as_ref().map(|part| part.kind.clone()).unwrap_or_default(),
            sides,
            colors: self.object.color_fractions.clone(),
        }
    }

    /// Height of what the object stands on.
    pub(crate) fn support(&self) -> f64 {
        evidence::support_under(&self.object, self.plane.as_ref())
    }

    /// What the shapes in a crop say of where it is.
    pub(crate) fn geometry(&self, crop: &Crop, look: Look) -> Option<Evidence> {
        evidence::geometry(&self.object, crop, self.plane, &SegmentSettings::default(), look)
    }

    /// What the shapes in a crop say of where its part is.
    pub(crate) fn part_geometry(&self, crop: &Crop, look: Look) -> Option<Evidence> {
        part::found(self.part.as_ref()?, &self.object, crop, self.support(), look)
    }

    /// What the colours in a crop say of where its part is.
    pub(crate) fn part_color(&self, crop: &Crop, look: Look) -> Option<Evidence> {
        part::colored(self.part.as_ref()?, &self.object, crop, look)
    }
}
