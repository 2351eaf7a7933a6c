//! YOLO with anchor-free heads: YOLOv8, YOLO11 and what else Ultralytics exports for detection.
//!
//! Source: Ultralytics 8.3, `data/augment.py` (`LetterBox`), `utils/ops.py` (`non_max_suppression`, `scale_boxes`). The output is
//! `[batch, 4 + classes, anchors]`: centre x, centre y, width, height in pixels of the input, then one score for each class,
//! already through a sigmoid. As there, an anchor gives its best class only, and boxes are cut at the border of the picture.

use super::{Candidate, Classifying, DetectorSettings, InputSize, Suppression, named, suppress};
use crate::picture::{self, Channels, Letterbox, Normalisation, letterbox, run_pictures};
use crate::session::Tensor;
use crate::signature::{Axis, Expected, Signature};
use crate::{ModelError, Session};
use prehend_geometry::{ColorImage, PixelBox};
use prehend_perception::{Detector, InferenceError, Instance};
use std::path::Path;

/// What errors call such a network.
pub const KIND: &str = "a YOLO network (v8, 11) with these classes";
/// Thresholds of Ultralytics' `predict`.
pub const SETTINGS: DetectorSettings = DetectorSettings { score: 0.25, iou: 0.7 };
/// Side of the pictures that the published networks were trained on, pixels.
pub(super) const SIDE: usize = 640;
/// Channels of the box.
pub(super) const BOX: usize = 4;
/// Most boxes of one picture (`max_det`).
const MOST: usize = 300;
/// Most candidates that are compared with each other (`max_nms`).
const MOST_COMPARED: usize = 30_000;

/// A YOLO network with its classes.
#[derive(Debug)]
pub struct Yolo(Classifying);

/// What such a network must look like, for a number of classes when it is known.
pub fn signature(classes: Option<usize>) -> Signature {
    let free = Axis::free;
    let channels = classes.map_or(free("4 + classes"), |classes| Axis::Fixed(BOX + classes));
    Signature {
        inputs: vec![Expected::pictures(&[])],
        outputs: vec![Expected::only(vec![free("batch"), channels, free("anchors")])],
    }
}

impl Yolo {
    /// Wraps a loaded model; `classes` is the file with its class names.
    ///
    /// Errors: [`ModelError`].
    pub fn new(
        session: Session,
        classes: &Path,
        size: Option<InputSize>,
        settings: DetectorSettings,
    ) -> Result<Self, ModelError> {
        Classifying::new(session, (KIND, signature), classes, (size, SIDE), settings).map(Self)
    }
}

impl Detector for Yolo {
    fn name(&self) -> &str {
        self.0.session.name()
    }

    fn detect(&self, images: &[&ColorImage]) -> Result<Vec<Vec<Instance>>, InferenceError> {
        let Classifying { session, output, classes, size, settings } = &self.0;
        let framed = Framed::of(images, *size)?;
        let shape = [3, size.height, size.width];
        let answers = run_pictures(session, images.len(), &shape, framed.numbers, &[], &[output])?;
        let Some(answer) = answers.first() else { return Ok(Vec::new()) };
        boxes(session, answer, classes, settings, images, &framed.places)
    }
}

/// Pictures in frames of one size, as numbers.
pub(super) struct Framed {
    pub(super) numbers: Vec<f32>,
    pub(super) places: Vec<Letterbox>,
}

impl Framed {
    /// Errors: [`InferenceError::Image`].
    pub(super) fn of(
        images: &[&ColorImage],
        InputSize { width, height }: InputSize,
    ) -> Result<Self, InferenceError> {
        let mut numbers = Vec::with_capacity(images.len() * 3 * width * height);
        let mut places = Vec::with_capacity(images.len());
        for image in images {
            picture::check(image)?;
            let (framed, place) = letterbox(image, width, height);
            Normalisation::unit(Channels::Rgb).append(&framed, &mut numbers);
            places.push(place);
        }
        Ok(Self { numbers, places })
    }
}

/// The boxes of an answer `[batch, 4 + classes, anchors]`, in pixels of each picture. Channels beyond those of the named classes only
/// compete: a box that is best there is nobody's.
pub(super) fn boxes(
    session: &Session,
    answer: &Tensor,
    classes: &[String],
    settings: &DetectorSettings,
    images: &[&ColorImage],
    places: &[Letterbox],
) -> Result<Vec<Vec<Instance>>, InferenceError> {
    let (channels, anchors) = match answer.shape[..] {
        [_, channels, anchors] if channels >= BOX + classes.len() => (channels, anchors),
        _ => {
            let expected = format!("[batch, {}, anchors]", BOX + classes.len());
            return Err(session.wrong_output(answer, &expected));
        }
    };
    let rule = Suppression { iou: settings.iou, within_class: true, side: 0.0, most: MOST };
    let mut found = Vec::with_capacity(images.len());
    for (index, (image, place)) in images.iter().zip(places).enumerate() {
        let part = &answer.numbers[index * channels * anchors..][..channels * anchors];
        let mut candidates = decode(part, anchors, settings.score);
        candidates.retain(|candidate| candidate.class < classes.len());
        let mut kept = suppress(&candidates, &rule);
        for candidate in &mut kept {
            candidate.bounds = place.to_picture(&candidate.bounds).clipped(image.width, image.height);
        }
        // What lies in the grey beside the picture is nothing of it.
        kept.retain(|candidate| candidate.bounds.area() > 0.0);
        found.push(named(kept, classes));
    }
    Ok(found)
}

/// The boxes of one picture with a score above `threshold`, best first and before suppression, in pixels of the input.
/// `numbers` is `[4 + classes, anchors]`, row-major.
pub fn decode(numbers: &[f32], anchors: usize, threshold: f64) -> Vec<Candidate> {
    if anchors == 0 {
        return Vec::new();
    }
    // Row by row, as the numbers lie in memory: 84 x 8400 of them are read once.
    let mut best: Vec<(usize, f32)> = vec![(0, f32::NEG_INFINITY); anchors];
    for (class, scores) in numbers.chunks_exact(anchors).skip(BOX).enumerate() {
        for (best, score) in best.iter_mut().zip(scores) {
            if *score > best.1 {
                *best = (class, *score);
            }
        }
    }
    let mut found: Vec<Candidate> = best
        .into_iter()
        .enumerate()
        .filter(|(_, (_, score))| f64::from(*score) > threshold)
        .map(|(anchor, (class, score))| {
            let [x, y, width, height] = [0, 1, 2, 3].map(|row| f64::from(numbers[row * anchors + anchor]));
            Candidate { bounds: PixelBox::around(x, y, width, height), class, score: f64::from(score) }
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(MOST_COMPARED);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_gives_its_best_class_above_the_threshold() {
        #[rustfmt::skip]
        let numbers = [
            // Three anchors: centre x, centre y, width, height, then two classes.
            10.0, 100.0, 50.0,
            20.0, 200.0, 50.0,
             4.0,  30.0, 10.0,
             8.0,  40.0, 10.0,
             0.3,   0.1,  0.25,
             0.2,   0.9,  0.25,
        ];
        let found = decode(&numbers, 3, 0.25);
        let bounds = |left, top, right, bottom| PixelBox { left, top, right, bottom };
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].class, found[0].bounds), (1, bounds(85.0, 180.0, 115.0, 220.0)));
        assert_eq!((found[1].class, found[1].bounds), (0, bounds(8.0, 16.0, 12.0, 24.0)));
        assert!((found[0].score - 0.9).abs() < 1e-6 && (found[1].score - 0.3).abs() < 1e-6);
        assert_eq!(decode(&[], 0, 0.25), []);
    }
}
