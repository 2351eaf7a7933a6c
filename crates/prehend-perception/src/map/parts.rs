//! Parts that a part detector named, kept with the objects they are on (ASP IV-A: views of one part are associated by their
//! overlap).

use super::object::{Drawn, class_name};
use crate::segment::Scene;
use crate::{Keyframe, LabelImage};
use prehend_geometry::voxel::{VoxelGrid, downsample, overlap_ratio};
use prehend_geometry::{AxisBox, BoxHash, Mask, PointCloud};
use prehend_scene::merge::add_vote;
use prehend_scene::{Object, ObservedPart, PartView};
use serde::{Deserialize, Serialize};

/// What becomes of the parts that a part detector names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartSettings {
    /// Fewest pixels of a part.
    pub min_pixels: usize,
    /// Pixels over which a small mask grows where depth goes on, since detectors erode. What stands beside a key is a few pixels away.
    pub grow_small: usize,
    /// Pixels over which a large mask grows.
    pub grow_large: usize,
    /// Pixels from which a mask is large.
    pub large: usize,
    /// Step of depth over which it does not grow, metres.
    pub step: f64,
    /// Distance up to which two points are the same place, metres.
    pub same: f64,
    /// That distance as a share of the smaller of two parts, where it is less: keys stand closer together than a view of a handle repeats.
    pub same_share: f64,
    /// Least share of a part's points that lie on the object it belongs to.
    pub on_object: f64,
    /// Least overlap of two sightings of one part.
    pub overlap: f64,
    /// Share of a known part that a sighting covers when it is drawn over all of it.
    pub covered: f64,
    /// Least share that each of two sightings of one key covers of the other: what contains a key is a mask over several.
    pub mutual: f64,
    /// Voxel edge of part clouds, metres.
    pub leaf: f64,
    /// Most views kept of a part.
    pub views: usize,
}

impl Default for PartSettings {
    fn default() -> Self {
        Self {
            min_pixels: 8,
            grow_small: 1,
            grow_large: 2,
            large: 400,
            step: 0.006,
            same: 0.008,
            same_share: 0.2,
            on_object: 0.5,
            overlap: 0.3,
            covered: 0.7,
            mutual: 0.58,
            leaf: 0.002,
            views: 4,
        }
    }
}

/// Puts the parts of a frame on the objects seen in it; gives how many belong to none of them.
pub(crate) fn observe(
    frame: &Keyframe,
    scene: &Scene,
    objects: &mut [Object],
    settings: &PartSettings,
) -> usize {
    let Some(seen) = &frame.parts else { return 0 };
    let drawn = Drawn::new(&seen.labels);
    let owners = Owners::new(objects, frame.stamp, settings);
    let mut homeless = 0;
    for detection in &seen.detections {
        let pixels = grown(&seen.labels, drawn.pixels(detection.label), scene, settings);
        if pixels.len() < settings.min_pixels {
            continue;
        }
        let mut cloud = PointCloud::default();
        for index in &pixels {
            if let Some(point) = scene.grid.points[*index] {
                cloud.points.push(point);
                cloud.colors.push(frame.color.pixels[*index]);
            }
        }
        let owner = owners.owner_of(&cloud, settings);
        let Some(owner) = owner.filter(|_| !cloud.is_empty()) else {
            homeless += 1;
            continue;
        };
        let name = class_name(&detection.class_name);
        let score = if detection.score.is_finite() { detection.score.clamp(0.0, 1.0) } else { 0.0 };
        let part = ObservedPart {
            class_name: name.clone(),
            score,
            class_votes: vec![(name.clone(), score), (String::new(), 1.0 - score)],
            cloud: downsample(&cloud, settings.leaf),
            views: vec![PartView {
                view: frame.view.clone(),
                mask: Mask::from_indices(frame.intrinsics.width, frame.intrinsics.height, &pixels),
                label: name,
                score,
                stamp: frame.stamp,
            }],
        };
        take(&mut objects[owner].parts, part, settings);
    }
    for object in objects {
        object.parts.sort_by(|a, b| total(b).total_cmp(&total(a)));
    }
    homeless
}

fn total(part: &ObservedPart) -> f64 {
    part.class_votes.iter().filter(|(name, _)| !name.is_empty()).map(|(_, weight)| weight).sum()
}

/// Joins a sighting with the known part it overlaps most, or adds it.
pub(super) fn take(known: &mut Vec<ObservedPart>, part: ObservedPart, settings: &PartSettings) {
    let over = |a: &PointCloud, b: &PointCloud| {
        let same = settings.same.min(settings.same_share * extent(a).min(extent(b)));
        overlap_ratio(&a.points, &b.points, same)
    };
    // A mask that was drawn over two parts is a sighting of neither.
    let covered = known.iter().filter(|other| over(&other.cloud, &part.cloud) >= settings.covered).count();
    if covered > 1 {
        return;
    }
    // Whether a key's mask is one over the key that is known and what is beside it.
    let is_wider = |wide: &ObservedPart, key: &ObservedPart| {
        is_key(&wide.class_name)
            && is_key(&key.class_name)
            && over(&key.cloud, &wide.cloud) >= settings.covered
            && over(&wide.cloud, &key.cloud) < settings.mutual
    };
    if known.iter().any(|other| is_wider(&part, other)) {
        return;
    }
    known.retain(|other| !is_wider(other, &part) || other.class_name == part.class_name);
    let best = known
        .iter()
        .map(|other| over(&part.cloud, &other.cloud).max(over(&other.cloud, &part.cloud)))
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, overlap)| *overlap >= settings.overlap);
    let Some((place, _)) = best else {
        known.push(part);
        return;
    };
    let was_wider = is_wider(&known[place], &part);
    let mine = &mut known[place];
    if was_wider {
        mine.cloud.clone_from(&part.cloud);
    } else if turns(&part.class_name) && 2 * part.cloud.len() >= mine.cloud.len() {
        // What is known of what turns is where it is now.
        mine.cloud.clone_from(&part.cloud);
    } else {
        mine.cloud.extend(&part.cloud);
        mine.cloud = downsample(&mine.cloud, settings.leaf);
    }
    for (name, weight) in part.class_votes {
        add_vote(&mut mine.class_votes, &name, weight);
    }
    mine.class_votes.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let all: f64 = mine.class_votes.iter().map(|(_, weight)| weight).sum();
    if let Some((name, weight)) = mine.class_votes.iter().find(|(name, _)| !name.is_empty()) {
        mine.class_name = name.clone();
        mine.score = weight / all.max(1e-9);
    }
    mine.views.retain(|view| part.views.iter().all(|other| other.view != view.view));
    mine.views.splice(0..0, part.views);
    mine.views.truncate(settings.views);
}

/// Whether a part of this class is one of many of a size, which is seen whole: other parts may be seen in pieces.
fn is_key(class: &str) -> bool {
    class.rsplit(' ').next() == Some("key")
}

/// Greatest extent of a cloud along an axis, metres.
fn extent(cloud: &PointCloud) -> f64 {
    cloud.bounds().map_or(0.0, |(low, high)| (high - low).max())
}

/// Whether parts of this class turn in their place, by the last word of its name.
fn turns(class: &str) -> bool {
    matches!(class.rsplit(' ').next(), Some("knob" | "dial" | "lever" | "switch"))
}

/// The objects seen in a frame, by place.
struct Owners {
    /// Places in the list, the index of each cloud, and the volume of each box.
    seen: Vec<(usize, VoxelGrid, f64)>,
    near: BoxHash,
}

impl Owners {
    fn new(objects: &[Object], stamp: f64, settings: &PartSettings) -> Self {
        let is_seen = |object: &Object| (object.last_seen - stamp).abs() < 1e-9;
        let seen = || objects.iter().enumerate().filter(|(_, object)| is_seen(object));
        let boxes = seen().filter_map(|(_, object)| {
            let (low, high) = object.cloud.bounds()?;
            Some(AxisBox { low, high }.grown(settings.same))
        });
        let near = BoxHash::new(boxes);
        let grid = |object: &Object| VoxelGrid::new(&object.cloud.points, settings.same);
        let with_points = seen().filter(|(_, object)| !object.cloud.is_empty());
        let seen = with_points.map(|(place, object)| (place, grid(object), object.bounds.volume())).collect();
        Self { seen, near }
    }

    /// The object most of these points lie on; of about equals the smaller.
    fn owner_of(&self, cloud: &PointCloud, settings: &PartSettings) -> Option<usize> {
        let (low, high) = cloud.bounds()?;
        let around = self.near.touching(&AxisBox { low, high }).into_iter().map(|number| &self.seen[number]);
        around
            .map(|(place, grid, volume)| (*place, grid.share_within(&cloud.points, settings.same), *volume))
            .filter(|(_, share, _)| *share >= settings.on_object)
            .max_by(|a, b| {
                let coarse = |share: f64| (share * 10.0).round();
                coarse(a.1).total_cmp(&coarse(b.1)).then_with(|| b.2.total_cmp(&a.2))
            })
            .map(|(place, _, _)| place)
    }
}

/// Pixels of a label, grown to neighbours at about the same depth that have no label.
fn grown(labels: &LabelImage, drawn: &[usize], scene: &Scene, settings: &PartSettings) -> Vec<usize> {
    let (width, height) = (labels.width, labels.height);
    let mut pixels = drawn.to_vec();
    if pixels.len() < settings.min_pixels || scene.grid.points.len() != labels.labels.len() {
        return Vec::new();
    }
    let mut frontier = pixels.clone();
    let mut taken: std::collections::BTreeSet<usize> = pixels.iter().copied().collect();
    let grow = if pixels.len() < settings.large { settings.grow_small } else { settings.grow_large };
    for _ in 0..grow {
        let mut next = Vec::new();
        for index in &frontier {
            let (u, v) = (index % width, index / width);
            let around = [
                (u > 0).then(|| index - 1),
                (u + 1 < width).then_some(index + 1),
                (v > 0).then(|| index - width),
                (v + 1 < height).then_some(index + width),
            ];
            for other in around.into_iter().flatten() {
                let (Some(here), Some(there)) = (scene.grid.points[*index], scene.grid.points[other]) else {
                    continue;
                };
                if labels.labels[other] == 0 && (here - there).norm() < settings.step && taken.insert(other) {
                    next.push(other);
                }
            }
        }
        pixels.extend(&next);
        frontier = next;
    }
    pixels.retain(|index| scene.grid.points[*index].is_some());
    pixels.sort_unstable();
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;

    fn take(known: &mut Vec<ObservedPart>, part: ObservedPart) {
        super::take(known, part, &PartSettings::default());
    }

    /// The top of a key, 16 mm wide and seen every millimetre, its near corner at (`x`, 0).
    fn key(name: &str, x: f64, wide: u32) -> ObservedPart {
        let points = (0..wide * 16)
            .map(|i| Point3::new(x + 1e-3 * f64::from(i % wide), 1e-3 * f64::from(i / wide), 0.04));
        ObservedPart {
            class_name: name.to_owned(),
            score: 0.9,
            class_votes: vec![(name.to_owned(), 0.9)],
            cloud: PointCloud::from_points(points.collect()),
            views: Vec::new(),
        }
    }

    #[test]
    fn keys_side_by_side_stay_apart() {
        // Grown masks leave two millimetres between them.
        let mut known = vec![key("7 key", 0.0, 16)];
        take(&mut known, key("8 key", 0.018, 16));
        assert_eq!(known.len(), 2);
        take(&mut known, key("7 key", 0.001, 16));
        let names: Vec<&str> = known.iter().map(|part| part.class_name.as_str()).collect();
        assert_eq!(names, ["7 key", "8 key"]);
        // A mask over both is a sighting of neither.
        let before = known.clone();
        take(&mut known, key("8 key", 0.0, 34));
        assert_eq!(known, before);
        // Half a mask is one.
        take(&mut known, key("7 key", 0.0, 8));
        assert_eq!(known.len(), 2);
        assert!(known[0].class_votes[0].1 > 2.0, "{:?}", known[0].class_votes);
    }

    #[test]
    fn a_mask_over_two_keys_gives_way_to_theirs() {
        let names = |known: &[ObservedPart]| -> Vec<(String, usize)> {
            known
                .iter()
                .map(|part| (part.class_name.clone(), (extent(&part.cloud) * 1e3).round() as usize))
                .collect()
        };
        // Over both first: it is none of them.
        let mut known = vec![key("8 key", 0.0, 34)];
        take(&mut known, key("7 key", 0.0, 16));
        take(&mut known, key("8 key", 0.018, 16));
        assert_eq!(names(&known), [("7 key".to_owned(), 15), ("8 key".to_owned(), 15)]);
        // Its own name: the key is the smaller.
        let mut known = vec![key("7 key", 0.0, 34)];
        take(&mut known, key("7 key", 0.0, 16));
        assert_eq!(names(&known), [("7 key".to_owned(), 15)]);
        // And with one known, a mask over it and its neighbour says nothing.
        for name in ["7 key", "8 key"] {
            take(&mut known, key(name, 0.0, 34));
            assert_eq!(names(&known), [("7 key".to_owned(), 15)]);
        }
    }
}
