//! Views for the memory, from the objects of a map and the pictures it keeps of each.

use crate::pictures::png;
use prehend_geometry::ColorImage;
use prehend_memory::Look;
use prehend_memory::record::{Place, Seen};
use prehend_scene::{Crop, Object, ObjectKey};
use std::collections::{BTreeMap, BTreeSet};

/// Colour of what no crop shows.
const UNSEEN: [u8; 3] = [60, 60, 60];
/// Largest picture that is put together, pixels.
const LARGEST: usize = 4096 * 4096;

/// Which views were kept in this session.
#[derive(Clone, Debug)]
pub(super) struct Looks {
    /// Tells the keys of this session from those of another one.
    session: u64,
    /// By name and second.
    kept: BTreeSet<(String, i64)>,
    /// Those that were given out last, in their order.
    last: Vec<(String, i64)>,
}

impl Looks {
    /// A session that began at this time, seconds since 1970.
    pub(super) fn new(began: f64) -> Self {
        Self { session: began as u64, kept: BTreeSet::new(), last: Vec::new() }
    }

    /// What remembered keys of this session begin with.
    pub(super) fn session(&self) -> String {
        format!("{}/", self.session)
    }

    /// A key as it is remembered: unique over all sessions.
    pub(super) fn key(&self, key: &ObjectKey) -> String {
        format!("{}/{key}", self.session)
    }

    /// Takes back all but the first views of those that were given out last: they are given out again.
    pub(super) fn take_back(&mut self, kept: usize) {
        for view in self.last.drain(..).skip(kept) {
            self.kept.remove(&view);
        }
    }

    /// The views of these objects that were not given out yet, with everything that each shows. Building, robot and time are left
    /// empty.
    pub(super) fn new_ones(&mut self, objects: &[Object]) -> Vec<Look> {
        let mut views: BTreeMap<(String, i64), Vec<(&Object, &Crop)>> = BTreeMap::new();
        for object in objects {
            for crop in &object.crops {
                // The same name again is another look from there.
                let view = (crop.view.clone(), crop.stamp.round() as i64);
                if !self.kept.contains(&view) {
                    views.entry(view).or_default().push((object, crop));
                }
            }
        }
        self.last = views.keys().cloned().collect();
        self.kept.extend(self.last.iter().cloned());
        views.into_values().filter_map(|shown| self.look(&shown)).collect()
    }

    fn look(&self, shown: &[(&Object, &Crop)]) -> Option<Look> {
        let (_, first) = shown.first()?;
        let intrinsics = first.intrinsics;
        let pixels = (intrinsics.width * intrinsics.height).max(1) as f64;
        let seen = shown.iter().map(|(object, crop)| Seen {
            name: if crop.label.is_empty() { object.class_name.clone() } else { crop.label.clone() },
            score: crop.score.clamp(0.0, 1.0),
            colors: object.color_fractions.clone(),
            place: Place {
                center: object.bounds.pose.translation.vector.into(),
                size: object.bounds.size.into(),
                yaw: object.bounds.pose.rotation.euler_angles().2,
            },
            share: (crop.mask.area() as f64 / pixels).clamp(0.0, 1.0),
            parts: object.parts.iter().map(|part| part.class_name.clone()).collect(),
            actions: Vec::new(),
            key: Some(self.key(&object.key)),
            description: String::new(),
        });
        Some(Look {
            building: String::new(),
            robot: String::new(),
            taken: 0.0,
            building_from_camera: first.map_from_camera,
            half_field: (intrinsics.width as f64 / 2.0 / intrinsics.fx).atan().abs(),
            picture: picture(shown),
            caption: String::new(),
            seen: seen.collect(),
        })
    }
}

/// The picture of a view as far as its objects' crops show it, as PNG.
fn picture(shown: &[(&Object, &Crop)]) -> Option<Vec<u8>> {
    let (_, first) = shown.first()?;
    let (width, height) = (first.intrinsics.width, first.intrinsics.height);
    if width * height == 0 || width * height > LARGEST {
        return None;
    }
    let mut whole = ColorImage { width, height, pixels: vec![UNSEEN; width * height] };
    for (_, crop) in shown {
        let color = &crop.color;
        for row in 0..color.height.min(height.saturating_sub(crop.y)) {
            let count = color.width.min(width.saturating_sub(crop.x));
            let from = color.pixels.get(row * color.width..row * color.width + count);
            let start = (crop.y + row) * width + crop.x;
            if let (Some(from), Some(to)) = (from, whole.pixels.get_mut(start..start + count)) {
                to.copy_from_slice(from);
            }
        }
    }
    png(&whole).ok()
}
