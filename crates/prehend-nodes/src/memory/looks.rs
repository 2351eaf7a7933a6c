//! Views for the memory, from the objects of a map and the pictures it keeps of each.

use crate::pictures::png;
use prehend_convert as convert;
use prehend_geometry::{ColorImage, Mask};
use prehend_memory::Look;
use prehend_memory::record::{Place, Seen};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::prehend_interfaces::msg::ObjectMap;
use prehend_scene::{Crop, Object, ObjectKey};
use std::collections::{BTreeMap, BTreeSet};

/// Colour of what no crop shows.
const UNSEEN: [u8; 3] = [60, 60, 60];
/// Largest picture that is put together, pixels.
const LARGEST: usize = 4096 * 4096;

/// Times that differ by less are the same, seconds.
const SAME_TIME: f64 = 1e-3;

/// A view that is not kept yet.
pub(super) struct NewView {
    pub(super) look: Look,
    /// Its picture, as far as it is known.
    pub(super) picture: Option<ColorImage>,
    /// Where each thing of the look is in the picture.
    pub(super) masks: Vec<Mask>,
}

/// Which views were kept in this session.
#[derive(Clone, Debug)]
pub(super) struct Looks {
    /// Tells the keys of this session from those of another one.
    session: u64,
    /// By name and second.
    kept: BTreeSet<(String, i64)>,
    /// Those that were given out last, in their order.
    last: Vec<(String, i64)>,
    /// When each object of the map had been seen last when its views were kept.
    taken: BTreeMap<String, Time>,
}

impl Looks {
    /// A session that began at this time, seconds since 1970.
    pub(super) fn new(began: f64) -> Self {
        Self { session: began as u64, kept: BTreeSet::new(), last: Vec::new(), taken: BTreeMap::new() }
    }

    /// What remembered keys of this session begin with.
    pub(super) fn session(&self) -> String {
        format!("{}/", self.session)
    }

    /// A key as it is remembered: unique over all sessions.
    pub(super) fn key(&self, key: &ObjectKey) -> String {
        format!("{}/{key}", self.session)
    }

    /// The objects of a map that were seen again since their views were kept, and when.
    pub(super) fn newly_seen(&self, map: &ObjectMap) -> Vec<(String, Time)> {
        let all = map.objects.iter().map(|object| (object.key.clone(), object.last_seen.clone()));
        all.filter(|(key, seen)| self.taken.get(key) != Some(seen)).collect()
    }

    /// The views of these objects are kept, as far as they had been seen then.
    pub(super) fn taken(&mut self, objects: Vec<(String, Time)>) {
        self.taken.extend(objects);
    }

    /// Takes back all but the first views of those that were given out last: they are given out again.
    pub(super) fn take_back(&mut self, kept: usize) {
        for view in self.last.drain(..).skip(kept) {
            self.kept.remove(&view);
        }
    }

    /// The views of these objects that were not given out yet, with everything that each shows. Those that are newer
    /// than the map are for the next one: it may show more in them. Building, robot and time are left empty.
    pub(super) fn new_ones(&mut self, objects: &[Object], map: &ObjectMap) -> Vec<NewView> {
        let until = convert::seconds(&map.header.stamp);
        let mut views: BTreeMap<(String, i64), Vec<(&Object, &Crop)>> = BTreeMap::new();
        for object in objects {
            for crop in &object.crops {
                // The same name again is another look from there.
                let view = (crop.view.clone(), crop.stamp.round() as i64);
                if crop.stamp <= until + SAME_TIME && !self.kept.contains(&view) {
                    views.entry(view).or_default().push((object, crop));
                }
            }
        }
        self.last = views.keys().cloned().collect();
        self.kept.extend(self.last.iter().cloned());
        let keys = map.objects.iter().map(|object| self.key(&ObjectKey(object.key.clone())));
        let present: BTreeSet<String> = keys.collect();
        views.into_values().filter_map(|shown| self.look(&shown, &present)).collect()
    }

    fn look(&self, shown: &[(&Object, &Crop)], present: &BTreeSet<String>) -> Option<NewView> {
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
        let picture = picture(shown);
        let look = Look {
            building: String::new(),
            robot: String::new(),
            taken: 0.0,
            building_from_camera: first.map_from_camera,
            half_field: (intrinsics.width as f64 / 2.0 / intrinsics.fx).atan().abs(),
            picture: picture.as_ref().and_then(|picture| png(picture).ok()),
            caption: String::new(),
            present: present.clone(),
            seen: seen.collect(),
        };
        Some(NewView { look, picture, masks: shown.iter().map(|(_, crop)| crop.mask.clone()).collect() })
    }
}

/// The picture of a view as far as its objects' crops show it.
fn picture(shown: &[(&Object, &Crop)]) -> Option<ColorImage> {
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
    Some(whole)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use nalgebra::{Isometry3, Vector3};
    use prehend_geometry::{DepthImage, Intrinsics, OrientedBox, PointCloud};
    use prehend_msgs::prehend_interfaces::msg::ObjectInstance;
    use prehend_msgs::std_msgs::msg::Header;

    fn object(key: &str, seen_at: &[f64]) -> Object {
        let crop = |stamp: f64| Crop {
            view: "head".to_owned(),
            color: ColorImage { width: 1, height: 1, pixels: vec![[200, 0, 0]] },
            depth: DepthImage { width: 1, height: 1, millimetres: vec![900] },
            mask: Mask::from_indices(4, 3, &[5]),
            x: 1,
            y: 1,
            intrinsics: Intrinsics { fx: 4.0, fy: 4.0, cx: 1.5, cy: 1.0, width: 4, height: 3 },
            map_from_camera: Isometry3::identity(),
            producer: "labels".to_owned(),
            label: key.to_owned(),
            score: 0.9,
            stamp,
            rank: 1.0,
        };
        let bounds = OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(0.1) };
        Object {
            crops: seen_at.iter().map(|stamp| crop(*stamp)).collect(),
            ..Object::unnamed(ObjectKey(key.to_owned()), PointCloud::default(), bounds)
        }
    }

    fn names(views: &[NewView]) -> Vec<Vec<&str>> {
        views.iter().map(|view| view.look.seen.iter().map(|seen| seen.name.as_str()).collect()).collect()
    }

    /// A view of things side by side on one table's height, by name and share of the picture.
    pub(in crate::memory) fn new_view(things: &[(&str, f64)]) -> NewView {
        let seen = things.iter().enumerate().map(|(index, (name, share))| Seen {
            name: (*name).to_owned(),
            score: 0.9,
            colors: vec![("red".to_owned(), 1.0)],
            place: Place { center: [0.4, 0.3 * index as f64, 0.4], size: [0.07, 0.07, 0.1], yaw: 0.0 },
            share: *share,
            parts: Vec::new(),
            actions: Vec::new(),
            key: None,
            description: String::new(),
        });
        let masks = (0..things.len()).map(|index| Mask::filled_box(64, 48, 2 + 16 * index, 20, 10, 10));
        NewView {
            look: Look {
                building: String::new(),
                robot: String::new(),
                taken: 0.0,
                building_from_camera: Isometry3::identity(),
                half_field: 0.5,
                picture: None,
                caption: String::new(),
                seen: seen.collect(),
                present: BTreeSet::new(),
            },
            picture: Some(ColorImage::filled(64, 48, [90, 90, 90])),
            masks: masks.collect(),
        }
    }

    #[test]
    fn a_view_is_given_out_once_and_whole() {
        let mut looks = Looks::new(1.0);
        let at = |sec: i32| ObjectMap {
            header: Header { stamp: Time { sec, nanosec: 0 }, ..Default::default() },
            objects: vec![ObjectInstance { key: "shelf".to_owned(), ..Default::default() }],
            ..Default::default()
        };
        // The mug was fetched after the next frame had come, which also shows a bowl that this map does not have.
        let early = [object("mug", &[10.0, 12.0])];
        let first = looks.new_ones(&early, &at(10));
        assert_eq!(names(&first), [["mug"]]);
        assert_eq!(first[0].look.present, BTreeSet::from(["1/shelf".to_owned()]));
        let later = [object("mug", &[10.0, 12.0]), object("bowl", &[12.0])];
        assert_eq!(names(&looks.new_ones(&later, &at(12))), [["mug", "bowl"]]);
        assert!(looks.new_ones(&later, &at(12)).is_empty());
        // What could not be kept comes again.
        looks.take_back(0);
        assert!(looks.new_ones(&later, &at(12)).is_empty(), "nothing was given out last");
        let more = [object("can", &[14.0])];
        assert_eq!(looks.new_ones(&more, &at(14)).len(), 1);
        looks.take_back(0);
        assert_eq!(names(&looks.new_ones(&more, &at(14))), [["can"]]);
    }

    #[test]
    fn only_what_was_seen_again_is_fetched() {
        let mut looks = Looks::new(1.0);
        let known = |key: &str, sec: i32| ObjectInstance {
            key: key.to_owned(),
            last_seen: Time { sec, nanosec: 5 },
            ..Default::default()
        };
        let map = |objects: Vec<ObjectInstance>| ObjectMap { objects, ..Default::default() };
        let keys = |seen: Vec<(String, Time)>| seen.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        let first = looks.newly_seen(&map(vec![known("mug_0", 1), known("can_0", 1)]));
        assert_eq!(keys(first.clone()), ["mug_0", "can_0"]);
        looks.taken(first);
        let second = looks.newly_seen(&map(vec![known("mug_0", 1), known("can_0", 2), known("egg_0", 2)]));
        assert_eq!(keys(second), ["can_0", "egg_0"]);
    }
}
