//! FastestDet: a detector of 1 MB for small processors.
//!
//! Source: <https://github.com/dog-qiuqiu/FastestDet>, `utils/tool.py` and `example/onnx-runtime`. One cell of the grid gives one
//! box at most. The authors count the last pixel of a box in when they compare boxes, and compare them over all classes.

use super::{Candidate, Classifying, DetectorSettings, InputSize, Suppression, named, suppress};
use crate::picture::{self, Channels, Filter, Normalisation, resample, run_pictures};
use crate::signature::{Axis, Expected, Signature};
use crate::{ModelError, Session};
use prehend_geometry::{ColorImage, PixelBox};
use prehend_perception::{Detector, InferenceError, Instance};
use std::path::Path;

/// What errors call such a network.
pub const KIND: &str = "a FastestDet network with these classes";
/// Thresholds of the authors.
pub const SETTINGS: DetectorSettings = DetectorSettings { score: 0.65, iou: 0.45 };
/// Side of the pictures the network was trained on, pixels.
const SIDE: usize = 352;
/// Channels before those of the classes: objectness and four of the box.
const BEFORE_CLASSES: usize = 5;
/// Exponents of objectness and class in the score (authors' `handle_preds`).
const WEIGHTS: [f64; 2] = [0.6, 0.4];

/// A FastestDet network with its classes.
#[derive(Debug)]
pub struct FastestDet(Classifying);

/// What such a network must look like, for a number of classes when it is known.
pub fn signature(classes: Option<usize>) -> Signature {
    let free = Axis::free;
    let channels = classes.map_or(free("5 + classes"), |classes| Axis::Fixed(BEFORE_CLASSES + classes));
    Signature {
        inputs: vec![Expected::pictures(&[])],
        outputs: vec![Expected::only(vec![free("batch"), channels, free("rows"), free("columns")])],
    }
}

impl FastestDet {
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

impl Detector for FastestDet {
    fn name(&self) -> &str {
        self.0.session.name()
    }

    fn detect(&self, images: &[&ColorImage]) -> Result<Vec<Vec<Instance>>, InferenceError> {
        let Classifying { session, output, classes, size, settings } = &self.0;
        let InputSize { width, height } = *size;
        let mut numbers = Vec::with_capacity(images.len() * 3 * width * height);
        for image in images {
            picture::check(image)?;
            let resized = resample(image, width, height, Filter::Area);
            Normalisation::unit(Channels::Bgr).append(&resized, &mut numbers);
        }
        let shape = [3, height, width];
        let answers = run_pictures(session, images.len(), &shape, numbers, &[], &[output])?;
        let Some(answer) = answers.first() else { return Ok(Vec::new()) };
        let channels = BEFORE_CLASSES + classes.len();
        let [_, found, rows, columns] = answer.shape[..] else {
            return Err(session.wrong_output(answer, &format!("[batch, {channels}, rows, columns]")));
        };
        if found != channels || rows * columns == 0 {
            return Err(session.wrong_output(answer, &format!("[batch, {channels}, rows, columns]")));
        }
        let rule = Suppression { iou: settings.iou, within_class: false, side: 1.0, most: rows * columns };
        let parts = answer.numbers.chunks_exact(channels * rows * columns);
        let of_picture = images.iter().zip(parts).map(|(image, part)| {
            let candidates = decode(part, (rows, columns), (image.width, image.height), settings.score);
            named(suppress(&candidates, &rule), classes)
        });
        Ok(of_picture.collect())
    }
}

/// The boxes of one picture with a score above `threshold`, before suppression, in pixels of the picture.
/// `numbers` is `[5 + classes, rows, columns]`: objectness (after a sigmoid), tx, ty, tw, th, then the classes (after a softmax).
pub fn decode(
    numbers: &[f32],
    (rows, columns): (usize, usize),
    (width, height): (usize, usize),
    threshold: f64,
) -> Vec<Candidate> {
    let cells = rows * columns;
    let classes = (numbers.len() / cells).saturating_sub(BEFORE_CLASSES);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut found = Vec::new();
    for cell in 0..cells {
        let channel = |channel: usize| f64::from(numbers[channel * cells + cell]);
        let best = (0..classes)
            .map(|class| (class, channel(BEFORE_CLASSES + class)))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((class, share)) = best else { continue };
        let score = channel(0).max(0.0).powf(WEIGHTS[0]) * share.max(0.0).powf(WEIGHTS[1]);
        if score <= threshold {
            continue;
        }
        let (row, column) = (cell / columns, cell % columns);
        let x = (column as f64 + channel(1).tanh()) / columns as f64;
        let y = (row as f64 + channel(2).tanh()) / rows as f64;
        let (width, height) = (width as f64, height as f64);
        let bounds = PixelBox::around(
            x * width,
            y * height,
            sigmoid(channel(3)) * width,
            sigmoid(channel(4)) * height,
        );
        found.push(Candidate { bounds, class, score });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_gives_the_box_and_the_score_of_its_channels() {
        // Two classes on a grid of 2 rows and 4 columns; only the cell in row 1, column 3 sees something.
        let mut numbers = vec![0.0_f32; 7 * 8];
        for (channel, value) in [0.9, 0.5, -0.5, 0.0, -1.0, 0.2, 0.8].into_iter().enumerate() {
            numbers[channel * 8 + 7] = value;
        }
        let found = decode(&numbers, (2, 4), (400, 200), 0.5);
        let [Candidate { bounds, class: 1, score }] = found[..] else { panic!("{found:?}") };
        assert!((score - 0.9_f64.powf(0.6) * 0.8_f64.powf(0.4)).abs() < 1e-6);
        let x = (3.0 + 0.5_f64.tanh()) / 4.0 * 400.0;
        let y = (1.0 - 0.5_f64.tanh()) / 2.0 * 200.0;
        let height = 200.0 / (1.0 + 1.0_f64.exp());
        let expected = PixelBox::around(x, y, 200.0, height);
        for (found, expected) in [
            (bounds.left, expected.left),
            (bounds.top, expected.top),
            (bounds.right, expected.right),
            (bounds.bottom, expected.bottom),
        ] {
            assert!((found - expected).abs() < 1e-4, "{bounds:?} instead of {expected:?}");
        }
        assert_eq!(decode(&numbers, (2, 4), (400, 200), score + 1e-9), []);
    }
}
