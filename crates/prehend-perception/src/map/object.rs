//! One object from one hypothesis.

use super::MapSettings;
use crate::hypothesis::{Hypothesis, is_inside};
use crate::segment::Scene;
use crate::{Detection, Keyframe, color};
use prehend_geometry::dbscan::clusters;
use prehend_geometry::upright::convex_hull;
use prehend_geometry::voxel::downsample;
use prehend_geometry::{ColorImage, DepthImage, Mask, OrientedBox, PointCloud};
use prehend_scene::merge::{add_vote, settle_class};
use prehend_scene::{Crop, Object, ObjectKey, fixture};

/// Name of the label camera in evidence records.
pub(crate) const DETECTOR: &str = "detector";
/// Name of the geometric segmentation in evidence records.
pub(crate) const GEOMETRY: &str = "geometry";
/// Penalty on the rank of a crop whose mask touches the image border (ASP IV-A).
const BORDER_PENALTY: f64 = 0.5;
/// Doubt a nameless view casts on a name.
const NAMELESS_DOUBT: f64 = 0.1;

/// The object a hypothesis describes, without key and features; `None` when it has too few points left after denoising.
pub(crate) fn build(
    frame: &Keyframe,
    scene: &Scene,
    hypothesis: &Hypothesis,
    settings: &MapSettings,
) -> Option<Object> {
    let cloud = denoised(frame, scene, hypothesis, settings)?;
    let bounds = OrientedBox::upright_around(&cloud.points)?;
    let (width, height) = (frame.intrinsics.width, frame.intrinsics.height);
    let region = Mask::from_indices(width, height, &hypothesis.pixels);
    let touches_border = region.touches_border();
    let weight = view_weight(hypothesis.pixels.len(), touches_border);
    let detections: Vec<&Detection> = hypothesis
        .detections
        .iter()
        .filter_map(|label| frame.detections.iter().find(|d| d.label == *label))
        .collect();
    let pixels = || hypothesis.pixels.iter().map(|index| frame.color.pixels[*index]);
    let mut object = Object {
        class_votes: votes(&detections, hypothesis.from_merged, weight),
        color: color::mean(pixels()),
        color_fractions: color::fractions(pixels()),
        crops: vec![crop(frame, hypothesis, &region, &detections)],
        view_count: 1,
        touches_border,
        last_seen: frame.stamp,
        ..Object::unnamed(ObjectKey::default(), downsample(&cloud, settings.merge.leaf), bounds)
    };
    settle_class(&mut object);
    Some(object)
}

/// Points of the hypothesis after DBSCAN: the largest cluster, those at least a fifth as large, and those that stand over it,
/// as the cap of a bottle whose neck cannot be seen from above.
fn denoised(
    frame: &Keyframe,
    scene: &Scene,
    hypothesis: &Hypothesis,
    settings: &MapSettings,
) -> Option<PointCloud> {
    let mut cloud = PointCloud::default();
    for index in &hypothesis.pixels {
        if let Some(point) = scene.grid.points[*index] {
            cloud.points.push(point);
            cloud.colors.push(frame.color.pixels[*index]);
        }
    }
    let small = downsample(&cloud, settings.segment.leaf * 0.75);
    let groups = clusters(&small.points, settings.segment.radius * 1.2, settings.segment.min_neighbours);
    let most = groups.first()?.len();
    if most < settings.segment.min_voxels {
        return None;
    }
    let footprint: Vec<_> = groups.first()?.iter().map(|index| small.points[*index].xy()).collect();
    let hull = convex_hull(&footprint);
    // A drawer's handle stands apart from its front and is small against it.
    let is_panel = hypothesis.detections.iter().any(|label| {
        frame.detections.iter().any(|d| d.label == *label && fixture::is_panel(&class_name(&d.class_name)))
    });
    let is_over = |group: &[usize]| {
        let inside = group.iter().filter(|index| is_inside(&hull, &small.points[**index].xy())).count();
        group.len() >= settings.segment.min_voxels && (is_panel || inside * 2 > group.len())
    };
    let keep: Vec<usize> =
        groups.into_iter().filter(|group| group.len() * 5 >= most || is_over(group)).flatten().collect();
    Some(small.select(&keep))
}

/// How much a view counts: less when it is small or cut by the image border.
fn view_weight(pixels: usize, touches_border: bool) -> f64 {
    let size = (pixels as f64 / 400.0).clamp(0.2, 1.0);
    if touches_border { size * BORDER_PENALTY } else { size }
}

/// One view's votes: scores for the names, the rest for the empty name (doubt). The name of a mask that holds several things is
/// only half believed; several names of one thing share its view.
fn votes(detections: &[&Detection], from_merged: bool, weight: f64) -> Vec<(String, f64)> {
    let named: Vec<&&Detection> = detections.iter().filter(|d| !d.class_name.trim().is_empty()).collect();
    if named.is_empty() {
        return vec![(String::new(), NAMELESS_DOUBT * weight)];
    }
    let mut votes = Vec::new();
    let share = weight / named.len() as f64;
    let belief = if from_merged { 0.5 } else { 1.0 };
    for detection in named {
        let score = if detection.score.is_finite() { detection.score.clamp(0.0, 1.0) } else { 0.0 };
        add_vote(&mut votes, &class_name(&detection.class_name), share * score * belief);
        add_vote(&mut votes, "", share * (1.0 - score * belief));
    }
    votes
}

/// A class name in the map's form: lower case, words parted by one space, no trailing instance number.
pub(crate) fn class_name(raw: &str) -> String {
    let lower = raw.to_lowercase();
    let mut words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    if words.len() > 1 && words.last().is_some_and(|w| w.chars().all(|c| c.is_ascii_digit())) {
        words.pop();
    }
    words.join(" ")
}

/// The view of the object: colour and depth around it, and the mask its producer drew.
fn crop(frame: &Keyframe, hypothesis: &Hypothesis, region: &Mask, detections: &[&Detection]) -> Crop {
    let (width, height) = (frame.intrinsics.width, frame.intrinsics.height);
    // The detector's own mask, not the completed one: evidence must show where they differ.
    let (mask, producer, label, score) = match detections.iter().max_by(|a, b| a.score.total_cmp(&b.score)) {
        Some(best) => {
            let drawn: Vec<usize> = (0..frame.labels.labels.len())
                .filter(|index| frame.labels.labels[*index] == best.label)
                .collect();
            let mask = Mask::from_indices(width, height, &drawn);
            (mask, DETECTOR, class_name(&best.class_name), best.score)
        }
        None => (region.clone(), GEOMETRY, String::new(), 0.5),
    };
    let (x0, y0) = (region.x.min(mask.x), region.y.min(mask.y));
    let x1 = (region.x + region.width).max(mask.x + mask.width);
    let y1 = (region.y + region.height).max(mask.y + mask.height);
    let margin = ((x1 - x0).max(y1 - y0) / 4).max(12);
    let (x, y) = (x0.saturating_sub(margin), y0.saturating_sub(margin));
    let (right, bottom) = ((x1 + margin).min(width), (y1 + margin).min(height));
    let rows = || (y..bottom).map(|v| v * width + x..v * width + right);
    let border = if region.touches_border() { BORDER_PENALTY } else { 1.0 };
    Crop {
        view: frame.view.clone(),
        color: ColorImage {
            width: right - x,
            height: bottom - y,
            pixels: rows().flat_map(|row| frame.color.pixels[row].iter().copied()).collect(),
        },
        depth: DepthImage {
            width: right - x,
            height: bottom - y,
            millimetres: rows().flat_map(|row| frame.depth.millimetres[row].iter().copied()).collect(),
        },
        mask,
        x,
        y,
        intrinsics: frame.intrinsics,
        map_from_camera: frame.map_from_camera,
        producer: producer.to_owned(),
        label,
        score: if score.is_finite() { score.clamp(0.0, 1.0) } else { 0.0 },
        stamp: frame.stamp,
        rank: hypothesis.pixels.len() as f64 * border,
    }
}
