//! An object of the map with what makes comparing and merging it fast.

use prehend_geometry::{AxisBox, BoxHash, PointCloud};
use prehend_scene::merge::{Averaging, Body, CloudIndex, MergeRule, merge_weighted};
use prehend_scene::{Object, ObjectKey};

/// What is kept of an object beside the map; in the order of its objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    index: CloudIndex,
    /// Place in the order in which keys were given: of two objects that become one the older key stays.
    pub(super) age: u64,
    /// Sum of the weights of its views.
    weight: f64,
    /// The update that last changed its points or its names.
    pub(super) changed: u64,
    /// The drawer of a bank that it is, by the key of that one.
    pub(super) slot: Option<ObjectKey>,
    /// Where the front of that drawer is along its way, metres, when enough of it was seen.
    pub(super) front: Option<f64>,
    /// Frames that show its surface as one of something else.
    pub(super) overlooked: u32,
    /// Frames after the first that show its surface as one thing, and those that show it as several.
    pub(super) as_one: u32,
    pub(super) as_several: u32,
    /// What it turned out to be a piece of.
    pub(super) piece_of: Option<ObjectKey>,
}

/// An object and its track.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) object: Object,
    pub(super) track: Track,
}

impl Known {
    /// What an update sees, whose view has this weight.
    pub(super) fn seen(object: Object, view_weight: f64, rule: &MergeRule, update: u64) -> Self {
        let weight = match rule.averaging {
            Averaging::Detections => f64::from(object.view_count.max(1)),
            Averaging::Views => view_weight,
        };
        Self { object, track: Track { weight, changed: update, ..Track::default() } }
    }

    pub(super) fn body(&self) -> Body<'_> {
        Body { object: &self.object, index: &self.track.index }
    }

    /// Share of another's points that lie on this one.
    pub(super) fn share_of(&self, other: &Self, rule: &MergeRule) -> f64 {
        // Most pairs that are asked about are apart.
        let apart = !self.reach(rule).touches(&AxisBox::around(&other.object.bounds));
        if apart { 0.0 } else { self.body().share_on(&other.object.cloud.points, rule.distance) }
    }

    /// The box in which everything lies that can lie on this object.
    pub(super) fn reach(&self, rule: &MergeRule) -> AxisBox {
        reach(&self.object, rule)
    }

    /// The points are others than before.
    pub(super) fn cloud_changed(&mut self, update: u64) {
        self.track.index = CloudIndex::default();
        self.track.changed = update;
    }

    /// Takes another sighting of this object into it; key and age stay.
    pub(super) fn merge(&mut self, other: Self, rule: &MergeRule, update: u64) {
        merge_weighted(&mut self.object, other.object, [self.track.weight, other.track.weight], rule);
        self.track.weight += other.track.weight;
        self.cloud_changed(update);
    }

    /// Takes it out of its place in a list, where something without points stays behind.
    pub(super) fn take(&mut self) -> Self {
        let nothing = Object::unnamed(ObjectKey::default(), PointCloud::default(), self.object.bounds);
        let object = std::mem::replace(&mut self.object, nothing);
        Self { object, track: std::mem::take(&mut self.track) }
    }

    /// Puts what is seen in the place of what was known; key and age stay.
    pub(super) fn replace(&mut self, seen: Self) {
        let (key, age) = (std::mem::take(&mut self.object.key), self.track.age);
        *self = seen;
        self.object.key = key;
        self.track.age = age;
    }
}

/// What box hashes are asked with: a box, grown by the distance over which points are the same place and by what rounding takes.
fn reach(object: &Object, rule: &MergeRule) -> AxisBox {
    AxisBox::around(&object.bounds).grown(rule.distance + 1e-6)
}

/// Boxes of objects by place.
pub(super) fn boxes<'a>(objects: impl IntoIterator<Item = &'a Object>) -> BoxHash {
    BoxHash::new(objects.into_iter().map(|object| AxisBox::around(&object.bounds)))
}

/// For each of `count` places whether it is among those.
pub(super) fn paired(count: usize, places: &[Option<usize>]) -> Vec<bool> {
    let mut found = vec![false; count];
    places.iter().flatten().for_each(|place| found[*place] = true);
    found
}
