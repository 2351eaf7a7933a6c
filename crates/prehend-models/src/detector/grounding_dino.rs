//! Grounding DINO: boxes for phrases of a sentence.
//!
//! Source: Liu et al. 2023; exports of Hugging Face's `GroundingDinoForObjectDetection`. Each of the queries gives a box and how well
//! it fits every token of the sentence; a box is called what the tokens that fit it are, within one phrase (the authors'
//! `util/inference.py`, `predict` with `remove_combined`). As there, nothing is suppressed.

mod phrase;
mod prepare;

pub use phrase::Sentence;
pub use prepare::scaled;

use super::InputSize;
use crate::embedder::WordPieces;
use crate::picture::at_once;
use crate::session::{Feed, Numbers, Tensor};
use crate::signature::{Axis, Element, Expected, Signature};
use crate::{ModelError, Session};
use prehend_geometry::{ColorImage, PixelBox};
use prehend_perception::{Detector, InferenceError, Instance};
use std::path::Path;

/// What errors call such a network.
pub const KIND: &str = "a Grounding DINO network";
/// Tokens that a sentence can have (`max_text_len`).
pub const LENGTH: usize = 256;

/// Thresholds of a detector that grounds phrases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundingSettings {
    /// Least score of a box: its best token, [0, 1].
    pub score: f64,
    /// Least score of a token that is part of a box's name, [0, 1].
    pub text_score: f64,
}

/// Thresholds of the authors' demonstration.
pub const SETTINGS: GroundingSettings = GroundingSettings { score: 0.35, text_score: 0.25 };

/// A Grounding DINO network that was told what to look for.
#[derive(Debug)]
pub struct GroundingDino {
    session: Session,
    sentence: Sentence,
    /// Size of the frame when the file fixes it.
    size: Option<InputSize>,
    settings: GroundingSettings,
}

/// What such a network must look like.
pub fn signature() -> Signature {
    let free = Axis::free;
    let whole = |names, axes, optional| Expected { names, element: Element::Int64, axes, optional };
    let tokens = || vec![free("batch"), free("tokens")];
    Signature {
        inputs: vec![
            Expected::pictures(&["pixel_values"]),
            whole(&["input_ids"], tokens(), false),
            whole(&["attention_mask"], tokens(), false),
            whole(&["token_type_ids"], tokens(), true),
            whole(&["pixel_mask"], vec![free("batch"), free("height"), free("width")], false),
        ],
        outputs: vec![
            Expected::named(&["logits"], vec![free("batch"), free("queries"), Axis::Fixed(LENGTH)]),
            Expected::named(&["pred_boxes"], vec![free("batch"), free("queries"), Axis::Fixed(4)]),
        ],
    }
}

impl GroundingDino {
    /// Wraps a loaded model that looks for `prompts`; `tokenizer` is its `tokenizer.json`.
    ///
    /// Errors: [`ModelError`].
    pub fn new(
        session: Session,
        tokenizer: &Path,
        prompts: &[String],
        settings: GroundingSettings,
    ) -> Result<Self, ModelError> {
        session.check(KIND, &signature())?;
        let wrong = |message: String| session.wrong_prompts(message);
        let sentence = Sentence::new(WordPieces::read(tokenizer, None)?, prompts).map_err(wrong)?;
        if sentence.pieces.ids.len() > LENGTH {
            let found = sentence.pieces.ids.len();
            return Err(wrong(format!("the prompts have {found} tokens; {LENGTH} at most")));
        }
        let fixed = |axis: usize| session.pictures().axes.get(axis).and_then(|axis| axis.fixed());
        let size = fixed(3).zip(fixed(2)).map(|(width, height)| InputSize { width, height });
        Ok(Self { session, sentence, size, settings })
    }

    /// One call for pictures that go into one frame; `[queries, 256]` and `[queries, 4]` of each.
    fn run(&self, images: &[&ColorImage], at_once: usize) -> Result<[Tensor; 2], InferenceError> {
        let prepared = prepare::frames(images, self.size, at_once);
        let InputSize { width, height } = prepared.size;
        let pieces = &self.sentence.pieces;
        let ids = pieces.ids.repeat(at_once);
        let types = pieces.types.repeat(at_once);
        let mask = vec![1; ids.len()];
        let (picture_shape, mask_shape) = ([at_once, 3, height, width], [at_once, height, width]);
        let text_shape = [at_once, pieces.ids.len()];
        let tokens = |name, numbers| Feed { name, shape: &text_shape, numbers: Numbers::Int(numbers) };
        let pixels = Numbers::Float(&prepared.numbers);
        let mut feeds = vec![
            Feed { name: "pixel_values", shape: &picture_shape, numbers: pixels },
            tokens("input_ids", &ids),
            tokens("attention_mask", &mask),
            Feed { name: "pixel_mask", shape: &mask_shape, numbers: Numbers::Int(&prepared.mask) },
        ];
        if self.session.inputs().iter().any(|input| input.name == "token_type_ids") {
            feeds.push(tokens("token_type_ids", &types));
        }
        // Tokens that the sentence does not have are masked.
        let answers = self.session.run_masked(&feeds, &["logits", "pred_boxes"])?;
        let [logits, boxes] = <[Tensor; 2]>::try_from(answers).unwrap_or_default();
        let queries = logits.shape.get(1).copied().unwrap_or(0);
        for (tensor, last) in [(&logits, LENGTH), (&boxes, 4)] {
            if tensor.shape != [at_once, queries, last] {
                let expected = format!("[{at_once}, queries, {last}]");
                return Err(self.session.wrong_output(tensor, &expected));
            }
        }
        if boxes.numbers.iter().any(|number| !number.is_finite()) {
            let (model, output) = (self.session.name().to_owned(), boxes.name);
            return Err(InferenceError::NotFinite { model, output });
        }
        Ok([logits, boxes])
    }

    /// The instances of one picture, best first. Boxes are shares of it, whatever it was filled up with.
    fn instances(
        &self,
        image: &ColorImage,
        logits: &[f32],
        boxes: &[f32],
    ) -> Result<Vec<Instance>, InferenceError> {
        let (width, height) = (image.width as f64, image.height as f64);
        let mut found = Vec::new();
        for (logits, place) in logits.chunks_exact(LENGTH).zip(boxes.chunks_exact(4)) {
            let (score, class_name) =
                self.sentence.name(logits, self.settings.text_score).map_err(|message| {
                    let model = self.session.name().to_owned();
                    InferenceError::Text { model, text: self.sentence.text.clone(), message }
                })?;
            if score <= self.settings.score {
                continue;
            }
            let [x, y, across, down] = [0, 1, 2, 3].map(|number| f64::from(place[number]));
            let bounds = PixelBox::around(x * width, y * height, across * width, down * height);
            let bounds = bounds.clipped(image.width, image.height);
            if bounds.area() > 0.0 {
                found.push(Instance { class_name, score, bounds, mask: None });
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(found)
    }
}

impl Detector for GroundingDino {
    fn name(&self) -> &str {
        self.session.name()
    }

    fn detect(&self, images: &[&ColorImage]) -> Result<Vec<Vec<Instance>>, InferenceError> {
        images.iter().try_for_each(|image| crate::picture::check(image))?;
        let at_once = at_once(&self.session, images.len());
        let mut found = Vec::with_capacity(images.len());
        for some in images.chunks(at_once) {
            let [logits, boxes] = self.run(some, at_once)?;
            let queries = logits.shape[1];
            let answers = logits.numbers.chunks(queries * LENGTH).zip(boxes.numbers.chunks(queries * 4));
            for (image, (logits, boxes)) in some.iter().zip(answers) {
                found.push(self.instances(image, logits, boxes)?);
            }
        }
        Ok(found)
    }
}
