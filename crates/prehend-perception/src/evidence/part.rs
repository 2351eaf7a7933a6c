//! Evidence about a part of an object: what the part detector drew, what geometry finds in one view, and where its colour ends. The
//! three work on different grounds, as those for whole objects do.

use super::{Look, color, record};
use crate::parts::WorkingPart;
use crate::parts::mechanism::{self, Mechanism};
use nalgebra::Point3;
use prehend_geometry::backproject::point_grid;
use prehend_geometry::{Mask, PointCloud};
use prehend_scene::{Crop, Evidence, EvidenceType, Object, PartView, Region, furniture};
use std::collections::HashSet;

/// Name of the part detector in evidence records.
pub const PART_DETECTOR: &str = "part_detector";
/// Name of the tool that finds parts by geometry.
pub const PART_GEOMETRY: &str = "part_geometry";
/// Margin around an object in which pixels of a view count as its own, metres.
const MARGIN: f64 = 0.02;
/// Farthest a part that a view shows may be from where the map has it, metres.
const SAME_PLACE: f64 = 0.03;
/// Fewest pixels that a part spans in a view when the first look at it may leave out every second one.
const SPAN: f64 = 40.0;
/// How far a door reaches behind its face, and its handle before it, metres.
const LEAF: (f64, f64) = (0.03, 0.06);
/// How exactly two stamps are of one image, seconds: the wire has whole nanoseconds, the core has `f64`.
const SAME_STAMP: f64 = 1e-4;
/// Least height of what stands on the support over it, metres.
const ABOVE: f64 = 0.006;
/// Farthest that points of neighbouring pixels are apart when there is something between them, metres.
const GOES_ON: f64 = 0.003;

/// What the part detector said of a part in the image of a crop. Empty when it did not see it there: what it drew in an earlier
/// image of the same view says nothing of this one, since part and camera may have moved.
pub fn detected(part: &WorkingPart, object: &Object, crop: &Crop) -> Vec<Evidence> {
    let seen = part.observed.and_then(|place| object.parts.get(place));
    let of_crop = |view: &&PartView| view.view == crop.view && (view.stamp - crop.stamp).abs() <= SAME_STAMP;
    let Some(view) = seen.and_then(|seen| seen.views.iter().find(of_crop)) else {
        return if is_leaf(part, object) { leaf(part, crop) } else { Vec::new() };
    };
    if view.mask.area() == 0 {
        return Vec::new();
    }
    [
        (EvidenceType::Det, Region::Box(view.mask.bounding_box())),
        (EvidenceType::Seg, Region::Mask(view.mask.clone())),
    ]
    .into_iter()
    .map(|(kind, region)| {
        let mut evidence = record(crop, kind, PART_DETECTOR, Look::First, view.score, region);
        evidence.label.clone_from(&part.kind);
        evidence
    })
    .collect()
}

/// Whether a part is the whole leaf of a door: what the detector of things calls a door.
fn is_leaf(part: &WorkingPart, object: &Object) -> bool {
    part.kind == "front" && furniture::is_door(&object.class_name)
}

/// What the detector of things said of a door, as evidence about its leaf.
fn leaf(part: &WorkingPart, crop: &Crop) -> Vec<Evidence> {
    let mut found = super::detector(crop);
    for evidence in &mut found {
        evidence.label.clone_from(&part.kind);
    }
    found
}

/// Looks for the part by geometry, in one view alone. The first look uses every second pixel, and the zoomed look every pixel. If the part
/// is small in the view, such as a key, the first look uses every pixel, and the zoomed look also points between pixels. `None` if the
/// view shows no such part at its place.
pub fn found(
    part: &WorkingPart,
    object: &Object,
    crop: &Crop,
    support_z: f64,
    look: Look,
) -> Option<Evidence> {
    let sampling = match (look, is_small(part, crop)) {
        (Look::First, false) => Sampling::EverySecond,
        (Look::First, true) | (Look::Zoomed, false) => Sampling::Each,
        (Look::Zoomed, true) => Sampling::Between,
    };
    let (points, places) = points_of(object, crop, sampling);
    let viewer = Point3::from(crop.map_from_camera.translation.vector);
    let bounds = part.cloud.bounds();
    // One key of many is no single thing on a top.
    let cap = bounds
        .filter(|_| matches!(part.kind.as_str(), "button" | "key" | "switch"))
        .and_then(|(low, high)| mechanism::cap(&points, &low, &high));
    // Nor is a knob beside the burners of a stove.
    let knob = bounds
        .filter(|_| part.kind == "knob" && part.normal.z > 0.7)
        .and_then(|(low, high)| crate::parts::raised(&points, &low, &high));
    let mechanisms = mechanism::find(&points, &viewer, support_z)
        .into_iter()
        .filter(|mechanism| is_alike(mechanism.kind, &part.kind))
        .chain(cap)
        .chain(knob)
        .map(|mechanism| {
            let leaf = is_leaf(part, object).then(|| slab(&points, &mechanism));
            (mechanism.centroid, leaf.unwrap_or(mechanism.indices), mechanism.score)
        });
    // The handle of a mug or a pan stands out from what is round, and is no mechanism.
    let outline = outline(&points, object, &part.kind, support_z);
    let (distance, indices, score) = mechanisms
        .chain(outline)
        .map(|(centroid, indices, score)| ((centroid - part.centroid).norm(), indices, score))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let extent = part.cloud.bounds().map_or(0.0, |(low, high)| (high - low).norm() / 4.0);
    if distance > SAME_PLACE.max(extent) {
        return None;
    }
    let (width, height) = (crop.intrinsics.width, crop.intrinsics.height);
    let mut pixels: Vec<usize> = Vec::new();
    for index in &indices {
        let (u, v) = places[*index];
        // A pixel of the coarse look stands for its block.
        let block = if sampling == Sampling::EverySecond { 2 } else { 1 };
        for dv in 0..block {
            for du in 0..block {
                if u + du < width && v + dv < height {
                    pixels.push((v + dv) * width + u + du);
                }
            }
        }
    }
    pixels.sort_unstable();
    pixels.dedup();
    let region = Region::Mask(Mask::from_indices(width, height, &pixels));
    let mut evidence = record(crop, EvidenceType::Seg, PART_GEOMETRY, look, score, region);
    evidence.label.clone_from(&part.kind);
    Some(evidence)
}

/// A part of a whole thing, by its outline as one view shows it: its middle, the indices of its points, and how well it fits.
fn outline(
    points: &[Point3<f64>],
    object: &Object,
    kind: &str,
    support_z: f64,
) -> Option<(Point3<f64>, Vec<usize>, f64)> {
    // What lies around it on the support is no handle.
    let above = points.iter().filter(|point| point.z > support_z + ABOVE).copied().collect();
    let seen = Object { cloud: PointCloud::from_points(above), ..object.clone() };
    let part = crate::parts::find_parts(&seen, support_z).into_iter().find(|part| part.name == kind)?;
    let bits = |p: &Point3<f64>| [p.x, p.y, p.z].map(f64::to_bits);
    let own: HashSet<[u64; 3]> = part.cloud.points.iter().map(bits).collect();
    let indices = (0..points.len()).filter(|index| own.contains(&bits(&points[*index]))).collect();
    Some((part.cloud.centroid()?, indices, part.score))
}

/// The leaf of a door around its face: an open door shows its edges and its handle as well.
fn slab(points: &[Point3<f64>], face: &Mechanism) -> Vec<usize> {
    let offset = |p: &Point3<f64>| (p - face.centroid).dot(&face.normal);
    let is_of_leaf = |i: &usize| (-LEAF.0..LEAF.1).contains(&offset(&points[*i]));
    (0..points.len()).filter(is_of_leaf).collect()
}

/// The part's region by its colour; see [`color`](super::color()).
pub fn colored(part: &WorkingPart, object: &Object, crop: &Crop, look: Look) -> Option<Evidence> {
    let alone = Object { cloud: part.cloud.clone(), ..object.clone() };
    color(&alone, crop, look)
}

/// Which points of a view are used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sampling {
    EverySecond,
    Each,
    /// Each, and between neighbours on one surface those in the middle.
    Between,
}

/// Whether a part spans few pixels in a view.
fn is_small(part: &WorkingPart, crop: &Crop) -> bool {
    let Some((low, high)) = part.cloud.bounds() else { return false };
    let depth = (crop.map_from_camera.inverse() * part.centroid).z;
    depth > 0.0 && (high - low).norm() * crop.intrinsics.fx / depth < SPAN
}

/// Points of a crop near the object's box, map frame, with their columns and rows in the whole image.
fn points_of(object: &Object, crop: &Crop, sampling: Sampling) -> (Vec<Point3<f64>>, Vec<(usize, usize)>) {
    let grid = point_grid(&crop.depth, &crop.own_intrinsics(), &crop.map_from_camera, 3.0);
    let width = crop.depth.width.max(1);
    let stride = if sampling == Sampling::EverySecond { 2 } else { 1 };
    let (mut points, mut places) = (Vec::new(), Vec::new());
    for (index, point) in grid.points.iter().enumerate() {
        let (u, v) = (index % width, index / width);
        let Some(point) = point.filter(|p| object.bounds.contains(p, MARGIN)) else { continue };
        if u % stride != 0 || v % stride != 0 {
            continue;
        }
        let place = (crop.x + u, crop.y + v);
        points.push(point);
        places.push(place);
        if sampling == Sampling::Between {
            let right = (u + 1 < width).then_some(index + 1);
            for next in right.into_iter().chain([index + width]) {
                let next = grid.points.get(next).copied().flatten();
                if let Some(next) = next.filter(|next| (next - point).norm() < GOES_ON) {
                    points.push(nalgebra::center(&point, &next));
                    places.push(place);
                }
            }
        }
    }
    (points, places)
}

/// Whether geometry calls this kind of part so.
fn is_alike(found: &str, kind: &str) -> bool {
    found == kind
        || matches!((found, kind), ("handle" | "knob", "handle" | "knob" | "lever" | "plug"))
        || matches!(
            (found, kind),
            ("button" | "lever", "button" | "key" | "switch" | "lever" | "plug" | "knob")
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn a_door_is_its_face_with_its_edges_and_its_handle_and_not_what_it_hangs_on() {
        let face = Mechanism {
            kind: "front",
            indices: vec![0],
            centroid: Point3::new(0.6, 0.0, 0.2),
            normal: -Vector3::x(),
            is_level: false,
            score: 0.7,
        };
        let at = |x: f64| Point3::new(x, 0.1, 0.25);
        // On the face, on the far side of the leaf, at the handle, in the cabinet, and before all of it.
        let points = [0.6, 0.62, 0.555, 0.68, 0.5].map(at);
        assert_eq!(slab(&points, &face), [0, 1, 2]);
    }
}
