//! Segment Anything: an encoder that looks at a picture once, and a decoder that is asked for regions.
//!
//! Source: Kirillov et al. 2023 (SAM), Zhang et al. 2023 (MobileSAM), Ravi et al. 2024 (SAM 2); names and shapes are those of
//! `samexporter`, which the authors' own export of the decoder agrees with.

mod automatic;
mod mask;
mod prepare;
mod prompt;

pub use automatic::{AutomaticSettings, Proposal, grid, select, stability};
pub use mask::{region, upscale};
pub use prompt::{PointPrompt, points};

use crate::session::{Feed, Numbers, Tensor};
use crate::signature::{Axis, Expected, Signature};
use crate::{ModelError, Session};
use prehend_geometry::ColorImage;
use prehend_perception::traits::ScoredMask;
use prehend_perception::{InferenceError, Prompt, Segmenter};

/// Side of the frame in which pictures are encoded and points are given, pixels.
pub const FRAME: usize = 1024;
/// Side of a mask that could be given as a prompt.
const MASK_PROMPT: usize = 256;

/// The two kinds of export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamFamily {
    /// SAM and MobileSAM: the encoder takes pixels as they are, one prompt in a call, masks come in the size of the picture.
    MobileSam,
    /// SAM 2 and 2.1: finer features beside the embedding, several prompts in a call, masks come in the size of the frame or smaller.
    Sam2,
}

fn fixed<const N: usize>(axes: [usize; N]) -> Vec<Axis> {
    axes.map(Axis::Fixed).to_vec()
}

/// Features of a picture by their names; all of them go from the encoder to the decoder.
const MOBILE_SAM: [(&str, [usize; 4]); 1] = [("image_embeddings", [1, 256, 64, 64])];
const SAM2: [(&str, [usize; 4]); 3] = [
    ("image_embed", [1, 256, 64, 64]),
    ("high_res_feats_0", [1, 32, 256, 256]),
    ("high_res_feats_1", [1, 64, 128, 128]),
];

impl SamFamily {
    /// What errors call encoder and decoder.
    pub fn kinds(self) -> [&'static str; 2] {
        match self {
            Self::MobileSam => ["the encoder of SAM or MobileSAM", "the decoder of SAM or MobileSAM"],
            Self::Sam2 => ["the encoder of SAM 2", "the decoder of SAM 2"],
        }
    }

    fn features(self) -> Vec<Expected> {
        let expected = |names, shape: [usize; 4]| Expected::named(names, fixed(shape));
        match self {
            Self::MobileSam => vec![expected(&["image_embeddings"], MOBILE_SAM[0].1)],
            Self::Sam2 => vec![
                expected(&["image_embed"], SAM2[0].1),
                expected(&["high_res_feats_0"], SAM2[1].1),
                expected(&["high_res_feats_1"], SAM2[2].1),
            ],
        }
    }

    fn feature_names(self) -> Vec<&'static str> {
        match self {
            Self::MobileSam => MOBILE_SAM.iter().map(|(name, _)| *name).collect(),
            Self::Sam2 => SAM2.iter().map(|(name, _)| *name).collect(),
        }
    }

    /// What the encoder must look like.
    pub fn encoder_signature(self) -> Signature {
        let free = Axis::free;
        let input = match self {
            Self::MobileSam => {
                Expected::named(&["input_image"], vec![free("height"), free("width"), Axis::Fixed(3)])
            }
            Self::Sam2 => Expected::named(&["image"], fixed([1, 3, FRAME, FRAME])),
        };
        Signature { inputs: vec![input], outputs: self.features() }
    }

    /// What the decoder must look like.
    pub fn decoder_signature(self) -> Signature {
        let free = Axis::free;
        let side = Axis::Fixed(MASK_PROMPT);
        let mut inputs = self.features();
        inputs.extend([
            Expected::named(&["point_coords"], vec![free("prompts"), free("points"), Axis::Fixed(2)]),
            Expected::named(&["point_labels"], vec![free("prompts"), free("points")]),
            Expected::named(&["mask_input"], vec![free("prompts"), Axis::Fixed(1), side.clone(), side]),
            Expected::named(&["has_mask_input"], vec![free("one")]),
        ]);
        if self == Self::MobileSam {
            inputs.push(Expected::named(&["orig_im_size"], fixed([2])));
        }
        let outputs = vec![
            Expected::named(&["masks"], vec![free("prompts"), free("masks"), free("rows"), free("columns")]),
            Expected::named(&["iou_predictions"], vec![free("prompts"), free("masks")]),
        ];
        Signature { inputs, outputs }
    }

    /// Prompts that one call of the decoder answers.
    fn at_once(self) -> usize {
        match self {
            Self::MobileSam => 1,
            // 64 masks of the picture's size are held at a time, as in the authors' `points_per_batch`.
            Self::Sam2 => 64,
        }
    }
}

/// Encoder and decoder of one model.
#[derive(Debug)]
pub struct Sam {
    family: SamFamily,
    encoder: Session,
    decoder: Session,
}

/// One mask before it is cut: how far each pixel of the picture is inside (above 0) or outside, row-major.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    logits: Vec<f32>,
    score: f64,
}

impl Sam {
    /// Wraps the two loaded models.
    ///
    /// Errors: [`ModelError::OtherKind`].
    pub fn new(family: SamFamily, encoder: Session, decoder: Session) -> Result<Self, ModelError> {
        let [of_encoder, of_decoder] = family.kinds();
        encoder.check(of_encoder, &family.encoder_signature())?;
        decoder.check(of_decoder, &family.decoder_signature())?;
        Ok(Self { family, encoder, decoder })
    }

    /// Everything in a picture, by asking for what is at the points of a grid (the authors' automatic mask generator without its
    /// crops). Best first.
    ///
    /// Errors: [`InferenceError`].
    pub fn all(
        &self,
        image: &ColorImage,
        settings: &AutomaticSettings,
    ) -> Result<Vec<ScoredMask>, InferenceError> {
        let features = self.encode(image)?;
        let prompts: Vec<PointPrompt> = grid(settings.points_per_side)
            .into_iter()
            .map(|[x, y]| Prompt::Points {
                on: vec![[x * image.width as f64, y * image.height as f64]],
                off: Vec::new(),
            })
            .map(|prompt| points(self.family, &prompt, image))
            .collect::<Result<_, _>>()?;
        let mut proposals = Vec::new();
        for some in prompts.chunks(self.family.at_once()) {
            for answer in self.decode(&features, image, some)?.into_iter().flatten() {
                let stability = stability(&answer.logits, settings.stability_offset);
                if answer.score > settings.predicted_iou && stability >= settings.stability {
                    let region = region(&answer.logits, image.width, image.height, answer.score);
                    proposals.push(Proposal { region, stability });
                }
            }
        }
        Ok(select(proposals, settings))
    }

    /// The features of a picture, in the order of the family.
    fn encode(&self, image: &ColorImage) -> Result<Vec<Tensor>, InferenceError> {
        crate::picture::check(image)?;
        let input = prepare::picture(self.family, image);
        let name = &self.encoder.inputs()[0].name;
        let feed = Feed { name, shape: &input.shape, numbers: Numbers::Float(&input.numbers) };
        self.encoder.run(&[feed], &self.family.feature_names())
    }

    /// The masks of each prompt; all prompts must have the same number of points.
    fn decode(
        &self,
        features: &[Tensor],
        image: &ColorImage,
        prompts: &[PointPrompt],
    ) -> Result<Vec<Vec<Answer>>, InferenceError> {
        let (count, points) = (prompts.len(), prompts.first().map_or(0, |prompt| prompt.labels.len()));
        let coords: Vec<f32> =
            prompts.iter().flat_map(|prompt| prompt.coords.iter().flatten()).copied().collect();
        let labels: Vec<f32> = prompts.iter().flat_map(|prompt| &prompt.labels).copied().collect();
        let no_mask = vec![0.0; count * MASK_PROMPT * MASK_PROMPT];
        let size = [image.height as f32, image.width as f32];
        let (coord_shape, label_shape) = ([count, points, 2], [count, points]);
        let mask_shape = [count, 1, MASK_PROMPT, MASK_PROMPT];
        let mut feeds: Vec<Feed<'_>> = Vec::new();
        let mut feed = |name, shape, numbers| {
            feeds.push(Feed { name, shape, numbers: Numbers::Float(numbers) });
        };
        for feature in features {
            feed(feature.name.as_str(), feature.shape.as_slice(), feature.numbers.as_slice());
        }
        feed("point_coords", &coord_shape, &coords);
        feed("point_labels", &label_shape, &labels);
        feed("mask_input", &mask_shape, &no_mask);
        feed("has_mask_input", &[1], &[0.0]);
        if self.family == SamFamily::MobileSam {
            feed("orig_im_size", &[2], &size);
        }
        let answer = self.decoder.run(&feeds, &["masks", "iou_predictions"])?;
        self.answers(&answer[0], &answer[1], count, image)
    }

    fn answers(
        &self,
        masks: &Tensor,
        scores: &Tensor,
        count: usize,
        image: &ColorImage,
    ) -> Result<Vec<Vec<Answer>>, InferenceError> {
        let (each, rows, columns) = match masks.shape[..] {
            [found, each, rows, columns] if found == count && each * rows * columns > 0 => {
                (each, rows, columns)
            }
            _ => return Err(self.decoder.wrong_output(masks, &format!("[{count}, masks, rows, columns]"))),
        };
        if scores.shape != [count, each] {
            return Err(self.decoder.wrong_output(scores, &format!("[{count}, {each}]")));
        }
        let planes: Vec<&[f32]> = masks.numbers.chunks_exact(rows * columns).collect();
        let answers = planes.chunks_exact(each).zip(scores.numbers.chunks_exact(each));
        Ok(answers
            .map(|(planes, scores)| {
                let one = |(plane, score): (&&[f32], &f32)| Answer {
                    logits: upscale(plane, (columns, rows), (image.width, image.height)),
                    score: f64::from(*score),
                };
                planes.iter().zip(scores).map(one).collect()
            })
            .collect())
    }
}

impl Segmenter for Sam {
    fn name(&self) -> &str {
        self.encoder.name()
    }

    fn segment(&self, image: &ColorImage, prompts: &[Prompt]) -> Result<Vec<ScoredMask>, InferenceError> {
        let asked: Vec<PointPrompt> =
            prompts.iter().map(|prompt| points(self.family, prompt, image)).collect::<Result<_, _>>()?;
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let features = self.encode(image)?;
        let mut regions = Vec::with_capacity(asked.len());
        // Prompts of one call have the same number of points: more of them would count as points that are none.
        for same in asked.chunk_by(|a, b| a.labels.len() == b.labels.len()) {
            for some in same.chunks(self.family.at_once()) {
                for answers in self.decode(&features, image, some)? {
                    let best = answers.iter().max_by(|a, b| a.score.total_cmp(&b.score));
                    regions
                        .extend(best.map(|best| region(&best.logits, image.width, image.height, best.score)));
                }
            }
        }
        Ok(regions)
    }

    /// With the authors' values for SAM.
    fn everything(&self, image: &ColorImage) -> Result<Vec<ScoredMask>, InferenceError> {
        self.all(image, &AutomaticSettings::default())
    }
}
