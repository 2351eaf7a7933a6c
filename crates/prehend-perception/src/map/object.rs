//! One object from one hypothesis.

use super::MapSettings;
use super::smooth::smoothed;
use crate::hypothesis::Hypothesis;
use crate::segment::Scene;
use crate::{Detection, Keyframe, LabelImage, color};
use prehend_geometry::dbscan::clusters;
use prehend_geometry::upright::{convex_hull, is_inside};
use prehend_geometry::voxel::downsample;
use prehend_geometry::{ColorImage, DepthImage, Mask, OrientedBox, PointCloud};
use prehend_scene::merge::{add_vote, settle_class};
use prehend_scene::{Crop, Object, ObjectKey, furniture};
use serde::{Deserialize, Serialize};

/// Name of the label camera in evidence records.
pub(crate) const DETECTOR: &str = "detector";
/// Name of the geometric segmentation in evidence records.
pub const GEOMETRY: &str = "geometry";
/// How objects are made of the pixels of one frame, and what a view of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectSettings {
    /// Voxel edge in which an object is denoised, as a share of that of the segmentation.
    pub denoised: f64,
    /// Distance over which its voxels join, as a multiple of that of the segmentation.
    pub denoised_radius: f64,
    /// Penalty on the weight of a view and the rank of a crop whose mask touches the image border (ASP IV-A).
    pub border_penalty: f64,
    /// Pixels from which a view counts in full; fewer count less in proportion.
    pub full_view: f64,
    /// What the smallest view counts.
    pub least_view: f64,
    /// How far the name of a mask that holds several things is believed.
    pub merged_belief: f64,
    /// Doubt a nameless view casts on a name.
    pub nameless_doubt: f64,
}

impl Default for ObjectSettings {
    fn default() -> Self {
        Self {
            denoised: 0.75,
            denoised_radius: 1.2,
            border_penalty: 0.5,
            full_view: 400.0,
            least_view: 0.2,
            merged_belief: 0.5,
            nameless_doubt: 0.1,
        }
    }
}

/// The pixels of each label of an image, sorted once for all that ask.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// First place of each label in `pixels`; one more than there are labels.
    starts: Vec<usize>,
    /// Row-major indices by label, ascending.
    pixels: Vec<usize>,
}

impl Drawn {
    /// Sorts the pixels of an image; those without a label are left out.
    pub(crate) fn new(image: &LabelImage) -> Self {
        let most = image.labels.iter().copied().max().unwrap_or(0);
        let mut starts = vec![0; usize::from(most) + 2];
        image
            .labels
            .iter()
            .filter(|label| **label > 0)
            .for_each(|label| starts[usize::from(*label) + 1] += 1);
        for label in 1..starts.len() {
            starts[label] += starts[label - 1];
        }
        let mut next = starts.clone();
        let mut pixels = vec![0; starts.last().copied().unwrap_or(0)];
        for (index, label) in image.labels.iter().enumerate().filter(|(_, label)| **label > 0) {
            let place = &mut next[usize::from(*label)];
            pixels[*place] = index;
            *place += 1;
        }
        Self { starts, pixels }
    }

    /// Row-major indices of a label's pixels, ascending.
    pub(crate) fn pixels(&self, label: u16) -> &[usize] {
        let at = usize::from(label);
        self.starts.get(at..at + 2).map_or(&[], |range| &self.pixels[range[0]..range[1]])
    }
}

/// The object a hypothesis describes, without key and features; `None` when it has too few points left after denoising.
pub(crate) fn build(
    frame: &Keyframe,
    scene: &Scene,
    drawn: &Drawn,
    hypothesis: &Hypothesis,
    settings: &MapSettings,
) -> Option<Object> {
    let cloud = denoised(frame, scene, hypothesis, settings)?;
    let bounds = OrientedBox::upright_around(&cloud.points)?;
    // Voxels of one size are the same voxels.
    let is_done = settings.merge.leaf == settings.segment.leaf * settings.object.denoised;
    let cloud = if is_done { cloud } else { downsample(&cloud, settings.merge.leaf) };
    let (width, height) = (frame.intrinsics.width, frame.intrinsics.height);
    let region = Mask::from_indices(width, height, &hypothesis.pixels);
    // The mask is no larger than its pixels.
    let touches_border = region.x == 0
        || region.y == 0
        || region.x + region.width == width
        || region.y + region.height == height;
    let weight = view_weight(hypothesis.pixels.len(), touches_border, &settings.object);
    let detections: Vec<&Detection> = hypothesis
        .detections
        .iter()
        .filter_map(|label| frame.detections.iter().find(|d| d.label == *label))
        .collect();
    let pixels = || hypothesis.pixels.iter().map(|index| frame.color.pixels[*index]);
    let mut object = Object {
        class_votes: votes(&detections, hypothesis.from_merged, weight, &settings.object),
        color: color::mean(pixels()),
        color_fractions: color::fractions(pixels()),
        crops: vec![crop(frame, drawn, hypothesis, (&region, touches_border), &detections, &settings.object)],
        view_count: 1,
        touches_border,
        last_seen: frame.stamp,
        probability: if detections.is_empty() { scene.probability(hypothesis.cluster) } else { 1.0 },
        ..Object::unnamed(ObjectKey::default(), cloud, bounds)
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
    let grid = &scene.grid;
    let measured: Vec<usize> =
        hypothesis.pixels.iter().copied().filter(|index| grid.points[*index].is_some()).collect();
    let sigma = settings.segment.depth_sigma;
    let cloud = PointCloud {
        points: smoothed(frame, grid, &measured, sigma, settings.still, &settings.smoothing),
        colors: measured.iter().map(|index| frame.color.pixels[*index]).collect(),
    };
    let small = downsample(&cloud, settings.segment.leaf * settings.object.denoised);
    let radius = settings.segment.radius * settings.object.denoised_radius;
    let groups = clusters(&small.points, radius, settings.segment.min_neighbours);
    let most = groups.first()?.len();
    if most < settings.segment.min_voxels {
        return None;
    }
    if groups.iter().all(|group| group.len() * 5 >= most) {
        return Some(small.select(&groups.concat()));
    }
    let footprint: Vec<_> = groups.first()?.iter().map(|index| small.points[*index].xy()).collect();
    let hull = convex_hull(&footprint);
    // A drawer's handle stands apart from its front and is small against it.
    let is_panel = hypothesis.detections.iter().any(|label| {
        frame.detections.iter().any(|d| d.label == *label && furniture::is_panel(&class_name(&d.class_name)))
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
pub(crate) fn view_weight(pixels: usize, touches_border: bool, settings: &ObjectSettings) -> f64 {
    let size = (pixels as f64 / settings.full_view).max(settings.least_view).min(1.0);
    if touches_border { size * settings.border_penalty } else { size }
}

/// One view's votes: scores for the names, the rest for the empty name (doubt). The name of a mask that holds several things is
/// believed less; several names of one thing share its view.
fn votes(
    detections: &[&Detection],
    from_merged: bool,
    weight: f64,
    settings: &ObjectSettings,
) -> Vec<(String, f64)> {
    let named: Vec<&&Detection> = detections.iter().filter(|d| !d.class_name.trim().is_empty()).collect();
    if named.is_empty() {
        return vec![(String::new(), settings.nameless_doubt * weight)];
    }
    let mut votes = Vec::new();
    let share = weight / named.len() as f64;
    let belief = if from_merged { settings.merged_belief } else { 1.0 };
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
fn crop(
    frame: &Keyframe,
    drawn: &Drawn,
    hypothesis: &Hypothesis,
    (region, touches_border): (&Mask, bool),
    detections: &[&Detection],
    settings: &ObjectSettings,
) -> Crop {
    let (width, height) = (frame.intrinsics.width, frame.intrinsics.height);
    // The detector's own mask, not the completed one: evidence must show where they differ.
    let (mask, producer, label, score) = match detections.iter().max_by(|a, b| a.score.total_cmp(&b.score)) {
        Some(best) => {
            let mask = Mask::from_indices(width, height, drawn.pixels(best.label));
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
    let border = if touches_border { settings.border_penalty } else { 1.0 };
    Crop {
        view: frame.view.clone(),
        color: ColorImage { width: right - x, height: bottom - y, pixels: cut(&frame.color.pixels, rows()) },
        depth: DepthImage {
            width: right - x,
            height: bottom - y,
            millimetres: cut(&frame.depth.millimetres, rows()),
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

/// The pixels of these rows of an image.
fn cut<T: Copy>(image: &[T], rows: impl Iterator<Item = std::ops::Range<usize>> + Clone) -> Vec<T> {
    let mut pixels = Vec::with_capacity(rows.clone().map(|row| row.len()).sum());
    rows.for_each(|row| pixels.extend_from_slice(&image[row]));
    pixels
}
