//! Two towers: pictures and words as vectors of one space (CLIP, SigLIP).

mod likeness;
mod pictures;
pub mod sentence;
mod text;
mod tokens;

pub use likeness::{Likeness, unit};
pub use pictures::PicturePreparation;
pub use sentence::SentenceEmbedder;
pub(crate) use text::TextTower;
pub use tokens::{Pieces, Tokens, WordPieces};

use crate::detector::InputSize;
use crate::picture::run_pictures;
use crate::session::Tensor;
use crate::signature::{Axis, Element, Expected, Signature};
use crate::{ModelError, Session};
use prehend_geometry::ColorImage;
pub use prehend_perception::TextReader;
use prehend_perception::{Embedder, InferenceError, PictureReader};
use prehend_scene::Object;
use std::path::Path;

/// What the two families do differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Radford et al. 2021; exports of Hugging Face's `CLIPModel`.
    Clip,
    /// Zhai et al. 2023; exports of Hugging Face's `SiglipModel`. SigLIP 2 is the same from outside.
    Siglip,
}

impl Family {
    /// What errors call the towers.
    pub fn kinds(self) -> [&'static str; 2] {
        match self {
            Self::Clip => ["CLIP's image tower", "CLIP's text tower"],
            Self::Siglip => ["SigLIP's image tower", "SigLIP's text tower"],
        }
    }

    /// Names of the outputs that are compared: image, text. CLIP's `pooler_output` comes before the projection into the common
    /// space, SigLIP's is in it.
    fn outputs(self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Clip => [&["image_embeds"], &["text_embeds"]],
            Self::Siglip => [&["image_embeds", "pooler_output"], &["text_embeds", "pooler_output"]],
        }
    }

    /// Tokens of a text, filled up: the position embeddings of the text tower.
    pub fn length(self) -> usize {
        match self {
            Self::Clip => 77,
            Self::Siglip => 64,
        }
    }

    /// What a text is filled up with.
    pub fn pad_token(self) -> &'static str {
        match self {
            Self::Clip => "<|endoftext|>",
            Self::Siglip => "</s>",
        }
    }

    /// What the image tower must look like.
    pub fn image_signature(self) -> Signature {
        let free = Axis::free;
        Signature {
            inputs: vec![Expected::pictures(&["pixel_values"])],
            outputs: vec![Expected::named(self.outputs()[0], vec![free("batch"), free("features")])],
        }
    }

    /// What the text tower must look like.
    pub fn text_signature(self) -> Signature {
        let tokens = |names, optional| Expected {
            names,
            element: Element::Int64,
            axes: vec![Axis::free("batch"), Axis::free("tokens")],
            optional,
        };
        let features = vec![Axis::free("batch"), Axis::free("features")];
        Signature {
            inputs: vec![tokens(&["input_ids"], false), tokens(&["attention_mask"], true)],
            outputs: vec![Expected::named(self.outputs()[1], features)],
        }
    }
}

/// The image tower, the text tower, and what belongs to them.
#[derive(Debug)]
pub struct Towers {
    family: Family,
    image: Session,
    output: String,
    text: TextTower,
    size: InputSize,
    likeness: Likeness,
}

impl Towers {
    /// Wraps two loaded models and their tokenizer. `size` is needed when the image tower leaves it open and is not 224 x 224.
    ///
    /// Errors: [`ModelError`].
    pub fn new(
        family: Family,
        [image, text]: [Session; 2],
        tokenizer: &Path,
        pad_token: &str,
        size: Option<InputSize>,
        likeness: Likeness,
    ) -> Result<Self, ModelError> {
        let signature = family.image_signature();
        image.check(family.kinds()[0], &signature)?;
        let output = output_name(&image, &signature);
        let text = TextTower::new(family, text, tokenizer, pad_token)?;
        let size = InputSize::of(&image, size, InputSize { width: 224, height: 224 })?;
        Ok(Self { family, image, output, text, size, likeness })
    }
}

/// Name of a model's output that a signature asks for first; the check has found it.
fn output_name(session: &Session, signature: &Signature) -> String {
    let place = signature.outputs[0].position(session.outputs()).unwrap_or(0);
    session.outputs()[place].name.clone()
}

/// The rows of `[count, features]`, each at unit length.
fn rows(session: &Session, answer: &Tensor, count: usize) -> Result<Vec<Vec<f32>>, InferenceError> {
    match answer.shape[..] {
        [found, features] if found == count && features > 0 => {
            Ok(answer.numbers.chunks_exact(features).map(unit).collect())
        }
        _ => Err(session.wrong_output(answer, &format!("[{count}, features]"))),
    }
}

impl TextReader for Towers {
    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, InferenceError> {
        self.text.embed(texts)
    }

    fn likeness(&self, one: &[f32], others: &[Vec<f32>]) -> Vec<f64> {
        self.likeness.of(one, others)
    }
}

impl PictureReader for Towers {
    fn embed_pictures(&self, images: &[&ColorImage]) -> Result<Vec<Vec<f32>>, InferenceError> {
        let preparation = PicturePreparation::of(self.family);
        let mut numbers = Vec::with_capacity(images.len() * 3 * self.size.width * self.size.height);
        for image in images {
            crate::picture::check(image)?;
            preparation.append(image, self.size, &mut numbers);
        }
        let shape = [3, self.size.height, self.size.width];
        let answers = run_pictures(&self.image, images.len(), &shape, numbers, &[], &[&self.output])?;
        answers.into_iter().next().map_or(Ok(Vec::new()), |answer| rows(&self.image, &answer, images.len()))
    }
}

impl Embedder for Towers {
    fn name(&self) -> &str {
        self.image.name()
    }

    /// The mean of an object's views, weighted by their rank; empty when it has none.
    fn embed(&self, objects: &[Object]) -> Result<Vec<Vec<f32>>, InferenceError> {
        let views: Vec<&ColorImage> =
            objects.iter().flat_map(|object| &object.crops).map(|crop| &crop.color).collect();
        let mut features = self.embed_pictures(&views)?.into_iter();
        let mean = |object: &Object| {
            let mut mean = Vec::new();
            for (crop, features) in object.crops.iter().zip(features.by_ref()) {
                mean.resize(features.len(), 0.0);
                for (sum, feature) in mean.iter_mut().zip(features) {
                    *sum += feature * crop.rank.max(f64::EPSILON) as f32;
                }
            }
            unit(&mean)
        };
        Ok(objects.iter().map(mean).collect())
    }
}
