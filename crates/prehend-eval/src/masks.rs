//! How well the objects of a map agree with what people marked in its frames.

use prehend_geometry::Mask;
use prehend_perception::{MapSettings, Sight};
use prehend_recording::{
    BuildError, FrameFiles, Labelled, LabelsError, MapOfFrames, SavedScene, read_labels,
};
use prehend_scene::ObjectMap;
use serde::Serialize;

/// Least intersection over union with which a label counts as found.
pub const FOUND: f64 = 0.5;

/// Figures of one labelled thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelFigures {
    /// What it is called.
    pub name: String,
    /// Key of the object that agrees best, each object for one label; `None` when none is left that touches it.
    pub key: Option<String>,
    /// Intersection over union of the object's mask and the label.
    pub iou: f64,
    /// Share of the label that the object covers.
    pub coverage: f64,
    /// Parts, and whether the pixel that marks each is the object's.
    pub parts: Vec<(String, bool)>,
}

/// Figures of one frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameFigures {
    /// Name of the frame.
    pub frame: String,
    /// Objects that were seen in it.
    pub objects: usize,
    /// Objects that are the best of no label.
    pub extra: usize,
    /// Its labels.
    pub labels: Vec<LabelFigures>,
}

impl FrameFigures {
    /// Labels that were found, see [`FOUND`].
    pub fn found(&self) -> usize {
        self.labels.iter().filter(|label| label.iou >= FOUND).count()
    }
}

/// Holds the objects of a scene against the labels of one of its frames.
pub fn judge(frame: &str, scene: &SavedScene, labels: &[Labelled]) -> FrameFigures {
    let seen: Vec<(&str, &Mask)> = scene
        .map
        .objects
        .iter()
        .filter_map(|object| {
            Some((object.key.0.as_str(), &object.crops.iter().find(|crop| crop.view == frame)?.mask))
        })
        .collect();
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (label, labelled) in labels.iter().enumerate() {
        for (object, (_, mask)) in seen.iter().enumerate() {
            let iou = mask.iou(&labelled.mask);
            if iou > 0.0 {
                pairs.push((iou, label, object));
            }
        }
    }
    // The best pair first, each object and each label once.
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut object_of: Vec<Option<usize>> = vec![None; labels.len()];
    for (_, label, object) in pairs {
        if object_of[label].is_none() && !object_of.contains(&Some(object)) {
            object_of[label] = Some(object);
        }
    }
    let figures = labels.iter().zip(&object_of).map(|(label, object)| {
        let (key, mask) = object.map(|object| seen[object]).unzip();
        LabelFigures {
            name: label.name.clone(),
            key: key.map(str::to_owned),
            iou: mask.map_or(0.0, |mask| mask.iou(&label.mask)),
            coverage: mask.map_or(0.0, |mask| {
                mask.intersection_area(&label.mask) as f64 / label.mask.area().max(1) as f64
            }),
            parts: label
                .parts
                .iter()
                .map(|(part, [u, v])| (part.clone(), mask.is_some_and(|mask| mask.contains(*u, *v))))
                .collect(),
        }
    });
    FrameFigures {
        frame: frame.to_owned(),
        objects: seen.len(),
        extra: seen.len() - object_of.iter().flatten().count(),
        labels: figures.collect(),
    }
}

/// Why frames cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum MasksError {
    /// They do not become a map.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The labels of one cannot be read.
    #[error(transparent)]
    Labels(#[from] LabelsError),
    /// There are no labels at all.
    #[error("no frame has labels: expected target_mask.png or instances.png beside color.png")]
    NoLabels,
}

/// Builds the map of frames with labels and judges it frame by frame; frames without labels go into the map only. In a frame without a pose
/// that shows no support nothing is found.
///
/// Errors: [`MasksError`].
pub fn judge_frames(
    frames: &[FrameFiles],
    settings: MapSettings,
    seed: u64,
) -> Result<Vec<FrameFigures>, MasksError> {
    let mut map = MapOfFrames::new(settings, seed, Sight::default());
    for files in frames {
        match map.take(files.read().map_err(BuildError::from)?) {
            Ok(_) | Err(BuildError::NoSupport { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let saved = map.finish();
    let nothing = SavedScene { name: String::new(), map: ObjectMap::default(), views: Vec::new() };
    let mut figures = Vec::new();
    for files in frames {
        let labels = match files.color.parent() {
            Some(folder) => read_labels(folder)?,
            None => Vec::new(),
        };
        let scene = saved.scenes.iter().find(|scene| scene.views.iter().any(|view| view.name == files.name));
        if !labels.is_empty() {
            figures.push(judge(&files.name, scene.unwrap_or(&nothing), &labels));
        }
    }
    if figures.is_empty() { Err(MasksError::NoLabels) } else { Ok(figures) }
}

/// Figures of many frames in one line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Labelled things.
    pub labels: usize,
    /// Those of them that were found.
    pub found: usize,
    /// Mean intersection over union, 0 for what was not found.
    pub mean_iou: f64,
    /// Least intersection over union.
    pub least_iou: f64,
    /// Objects that are the best of no label.
    pub extra: usize,
}

impl Summary {
    /// Sums up; of no labels everything is 0.
    pub fn of(frames: &[FrameFigures]) -> Self {
        let ious: Vec<f64> = frames.iter().flat_map(|frame| &frame.labels).map(|label| label.iou).collect();
        Self {
            labels: ious.len(),
            found: frames.iter().map(FrameFigures::found).sum(),
            mean_iou: ious.iter().sum::<f64>() / ious.len().max(1) as f64,
            least_iou: ious.iter().copied().reduce(f64::min).unwrap_or(0.0),
            extra: frames.iter().map(|frame| frame.extra).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Vector3};
    use prehend_geometry::{ColorImage, DepthImage, Intrinsics, OrientedBox, PointCloud};
    use prehend_scene::{Crop, Object};

    fn object(key: &str, mask: Mask) -> Object {
        let bounds = OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(0.1) };
        let intrinsics = Intrinsics { fx: 10.0, fy: 10.0, cx: 5.0, cy: 5.0, width: 10, height: 10 };
        let crop = Crop {
            view: "one".to_owned(),
            color: ColorImage::default(),
            depth: DepthImage::default(),
            mask,
            x: 0,
            y: 0,
            intrinsics,
            map_from_camera: Isometry3::identity(),
            producer: String::new(),
            label: String::new(),
            score: 0.5,
            stamp: 0.0,
            rank: 1.0,
        };
        Object { crops: vec![crop], ..Object::unnamed(key.into(), PointCloud::default(), bounds) }
    }

    #[test]
    fn an_object_counts_for_one_label_and_the_rest_are_extra() {
        let rows = |from: usize, to: usize| Mask::filled_box(10, 10, 0, from, 10, to - from);
        let labelled = |name: &str, mask: Mask| Labelled {
            name: name.to_owned(),
            mask,
            parts: vec![("rim".to_owned(), [3, 3])],
        };
        let objects = vec![object("a", rows(0, 3)), object("b", rows(0, 4)), object("c", rows(8, 9))];
        let map = ObjectMap { objects, ..ObjectMap::default() };
        let scene = SavedScene { name: String::new(), map, views: Vec::new() };
        let labels =
            [labelled("whole", rows(0, 4)), labelled("hidden", rows(4, 6)), labelled("half", rows(8, 10))];
        let figures = judge("one", &scene, &labels);
        let told: Vec<_> = figures.labels.iter().map(|l| (l.key.as_deref(), l.iou, l.coverage)).collect();
        assert_eq!(told, [(Some("b"), 1.0, 1.0), (None, 0.0, 0.0), (Some("c"), 0.5, 0.5)]);
        assert_eq!((figures.objects, figures.extra, figures.found()), (3, 1, 2));
        assert_eq!(figures.labels[0].parts, [("rim".to_owned(), true)]);
        assert_eq!(judge("other", &scene, &labels).objects, 0);
        let summary = Summary::of(&[figures]);
        assert_eq!((summary.labels, summary.found, summary.mean_iou, summary.least_iou), (3, 2, 0.5, 0.0));
    }
}
