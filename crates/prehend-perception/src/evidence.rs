//! Evidence records (AAH eq. 2) about one object in one view, by tools that work on different grounds: the detector's mask, geometry
//! (height above the support), colour, and what is known of a class.
//!
//! Every tool looks for itself, so a merged, split or misnamed detection shows as disagreement.

mod color_model;
mod knowledge;
pub mod part;

pub use knowledge::{Knowledge, Trait};

use crate::map::object::DETECTOR;
pub use crate::map::object::GEOMETRY;
use crate::segment::{Scene, SegmentSettings, segment_crop};
use color_model::ColorModel;
use nalgebra::Point3;
use prehend_geometry::Mask;
use prehend_geometry::plane::Plane;
use prehend_scene::{Crop, Evidence, EvidenceType, Object, Region};

/// Name of the tool that segments by colour.
pub const COLOR: &str = "color";
/// Name of the tool that holds an object against what is known of its class.
pub const KNOWLEDGE: &str = "knowledge";

/// How closely a tool looks: the first look, or zoomed in by two with finer parameters (AAH appendix 0.A.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The view as it is.
    First,
    /// Cut out around the object, finer parameters.
    Zoomed,
}

impl Look {
    /// The scale of eq. 2.
    pub fn scale(self) -> f64 {
        match self {
            Self::First => 1.0,
            Self::Zoomed => 2.0,
        }
    }
}

fn record(
    crop: &Crop,
    kind: EvidenceType,
    producer: &str,
    look: Look,
    confidence: f64,
    region: Region,
) -> Evidence {
    let shape = if matches!(region, Region::Box(_)) { "box" } else { "mask" };
    Evidence {
        id: format!("{producer}/{}/{}x/{shape}", crop.view, look.scale()),
        kind,
        producer: producer.to_owned(),
        view: crop.view.clone(),
        scale: look.scale(),
        confidence: confidence.clamp(0.0, 1.0),
        label: String::new(),
        region,
        stamp: crop.stamp,
    }
}

/// What the detector said in the view of a crop: its box and its mask, as it drew them. Empty when the detector did not see the
/// object there.
pub fn detector(crop: &Crop) -> Vec<Evidence> {
    if crop.producer != DETECTOR || crop.mask.area() == 0 {
        return Vec::new();
    }
    let records = [
        (EvidenceType::Det, Region::Box(crop.mask.bounding_box())),
        (EvidenceType::Seg, Region::Mask(crop.mask.clone())),
    ];
    records
        .into_iter()
        .map(|(kind, region)| {
            let mut evidence = record(crop, kind, DETECTOR, Look::First, crop.score, region);
            evidence.label.clone_from(&crop.label);
            evidence
        })
        .collect()
}

/// Segments the crop by height above the support, and takes the cluster most of which is at the object's place. `None` when
/// nothing stands there.
pub fn geometry(
    object: &Object,
    crop: &Crop,
    plane: Option<Plane>,
    settings: &SegmentSettings,
    look: Look,
) -> Option<Evidence> {
    let settings = match look {
        Look::First => *settings,
        Look::Zoomed => settings.finer(),
    };
    let (depth, x, y) = match look {
        Look::First => (crop.depth.clone(), 0, 0),
        Look::Zoomed => zoomed_depth(object, crop)?,
    };
    let scene = segment_crop(
        &depth,
        (crop.x + x, crop.y + y),
        &crop.intrinsics,
        &crop.map_from_camera,
        plane,
        &settings,
    );
    let (cluster, share) = cluster_of(object, &scene)?;
    let local: Vec<bool> = scene.clusters.iter().map(|c| *c == cluster).collect();
    let filled = fill_holes(&local, &scene);
    let global: Vec<usize> = (0..filled.len())
        .filter(|i| filled[*i])
        .map(|i| (crop.y + y + i / depth.width) * crop.intrinsics.width + crop.x + x + i % depth.width)
        .collect();
    let mask = Mask::from_indices(crop.intrinsics.width, crop.intrinsics.height, &global);
    // The tool is sure when its cluster and the object's place are the same points, and depth has few holes there.
    let measured = depth.valid_fraction();
    let confidence = share * (0.5 + 0.5 * measured);
    Some(record(crop, EvidenceType::Seg, GEOMETRY, look, confidence, Region::Mask(mask)))
}

/// The rectangle of a crop around the projected object, half the crop's margin, as (left, top, right, bottom) in the crop.
fn zoom_window(object: &Object, crop: &Crop) -> Option<(usize, usize, usize, usize)> {
    let seeds = projected(object, crop);
    let columns = || seeds.iter().map(|i| i % crop.color.width);
    let rows = || seeds.iter().map(|i| i / crop.color.width);
    let (x0, x1, y0, y1) = (columns().min()?, columns().max()?, rows().min()?, rows().max()?);
    let margin = ((x1 - x0).max(y1 - y0) / 8).max(6);
    Some((
        x0.saturating_sub(margin),
        y0.saturating_sub(margin),
        (x1 + margin + 1).min(crop.color.width),
        (y1 + margin + 1).min(crop.color.height),
    ))
}

fn zoomed_depth(object: &Object, crop: &Crop) -> Option<(prehend_geometry::DepthImage, usize, usize)> {
    let (x0, y0, x1, y1) = zoom_window(object, crop)?;
    let width = crop.depth.width;
    let millimetres =
        (y0..y1).flat_map(|v| crop.depth.millimetres[v * width + x0..v * width + x1].to_vec()).collect();
    Some((prehend_geometry::DepthImage { width: x1 - x0, height: y1 - y0, millimetres }, x0, y0))
}

/// Pixels of the crop on which visible points of the object fall, ascending. A point is visible when the depth there is its own.
fn projected(object: &Object, crop: &Crop) -> Vec<usize> {
    let camera_from_map = crop.map_from_camera.inverse();
    let (width, height) = (crop.color.width, crop.color.height);
    if crop.depth.millimetres.len() != width * height || crop.color.pixels.len() != width * height {
        return Vec::new();
    }
    let mut pixels: Vec<usize> = object
        .cloud
        .points
        .iter()
        .filter_map(|point| {
            let local = camera_from_map * point;
            let index = crop.intrinsics.pixel_index(&local)?;
            let (u, v) = (index % crop.intrinsics.width, index / crop.intrinsics.width);
            let (u, v) = (u.checked_sub(crop.x)?, v.checked_sub(crop.y)?);
            let place = (u < width && v < height).then_some(v * width + u)?;
            let depth = crop.depth.metres(place)?;
            ((depth - local.z).abs() < 0.01).then_some(place)
        })
        .collect();
    pixels.sort_unstable();
    pixels.dedup();
    pixels
}

/// The cluster with the most pixels in the object's box, and what share of its pixels that is.
fn cluster_of(object: &Object, scene: &Scene) -> Option<(u16, f64)> {
    let mut inside = vec![0_u32; scene.count + 1];
    let mut all = inside.clone();
    for (cluster, point) in scene.clusters.iter().zip(&scene.grid.points) {
        let Some(point) = point.as_ref().filter(|_| *cluster > 0) else { continue };
        all[usize::from(*cluster)] += 1;
        inside[usize::from(*cluster)] += u32::from(object.bounds.contains(point, 0.006));
    }
    let best = (1..inside.len()).max_by_key(|c| inside[*c])?;
    (inside[best] > 0).then(|| (best as u16, f64::from(inside[best]) / f64::from(all[best])))
}

/// The region with its holes filled: what cannot be reached from the border without crossing it, unless another cluster is there.
fn fill_holes(region: &[bool], scene: &Scene) -> Vec<bool> {
    let (width, height) = (scene.grid.width, scene.grid.height);
    let mut outside = vec![false; region.len()];
    let mut stack: Vec<usize> = (0..region.len())
        .filter(|i| i % width == 0 || i % width + 1 == width || i / width == 0 || i / width + 1 == height)
        .collect();
    while let Some(index) = stack.pop() {
        if outside[index] || region[index] {
            continue;
        }
        outside[index] = true;
        let (u, v) = (index % width, index / width);
        stack.extend((u > 0).then(|| index - 1));
        stack.extend((u + 1 < width).then_some(index + 1));
        stack.extend((v > 0).then(|| index - width));
        stack.extend((v + 1 < height).then_some(index + width));
    }
    (0..region.len()).map(|i| region[i] || (!outside[i] && scene.clusters[i] == 0)).collect()
}

/// Segments the crop by colour: a model of the object's visible points against one of its surroundings, and the connected pixels the
/// former explains better. Depth plays no part but to place the prompt. `None` when too little is visible.
pub fn color(object: &Object, crop: &Crop, look: Look) -> Option<Evidence> {
    let window = match look {
        Look::First => (0, 0, crop.color.width, crop.color.height),
        Look::Zoomed => zoom_window(object, crop)?,
    };
    let seeds = projected(object, crop);
    if seeds.len() < 20 {
        return None;
    }
    let model = ColorModel::learn(crop, &seeds, window, look);
    let found = model.grow(crop, &seeds, window);
    let global: Vec<usize> = found
        .iter()
        .map(|i| (crop.y + i / crop.color.width) * crop.intrinsics.width + crop.x + i % crop.color.width)
        .collect();
    let mask = Mask::from_indices(crop.intrinsics.width, crop.intrinsics.height, &global);
    Some(record(crop, EvidenceType::Seg, COLOR, look, model.separation, Region::Mask(mask)))
}

/// Holds an object against what is known of its class: size, hollow or not, colours. Without a region; the label is the class name.
/// `None` when nothing is known or the object has no name.
pub fn knowledge(object: &Object, crop: &Crop, support_z: f64, known: &Knowledge) -> Option<Evidence> {
    let agreement = known.agreement(object, support_z)?;
    let nowhere =
        Mask { image_width: crop.intrinsics.width, image_height: crop.intrinsics.height, ..Mask::default() };
    let mut evidence =
        record(crop, EvidenceType::Web, KNOWLEDGE, Look::First, agreement, Region::Mask(nowhere));
    evidence.id = format!("{KNOWLEDGE}/{}", object.class_name);
    evidence.label.clone_from(&object.class_name);
    Some(evidence)
}

/// Height of a plane at the middle of an object; 0 without a plane.
pub fn support_under(object: &Object, plane: Option<&Plane>) -> f64 {
    let center = object.bounds.pose.translation.vector;
    plane.map_or(0.0, |plane| {
        let up = plane.normal.z;
        if up.abs() < 1e-6 { 0.0 } else { -plane.distance(&Point3::new(center.x, center.y, 0.0)) / up }
    })
}

#[cfg(test)]
mod tests;
