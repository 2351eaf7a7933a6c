//! Two towers: pictures and words as vectors of one space (CLIP, SigLIP).

mod likeness;
mod pictures;
mod tokens;

pub use likeness::{Likeness, unit};
pub use pictures::PicturePreparation;
pub use tokens::Tokens;

use crate::detector::InputSize;
use crate::picture::run_pictures;
use crate::session::{Feed, Numbers, Tensor};
use crate::signature::{Axis, Element, Expected, Signature};
use crate::{ModelError, Session};
use prehend_geometry::ColorImage;
use prehend_perception::{Embedder, InferenceError};
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
        let picture = vec![free("batch"), Axis::Fixed(3), free("height"), free("width")];
        Signature {
            inputs: vec![Expected::named(&["pixel_values"], picture)],
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
    text: Session,
    outputs: [String; 2],
    tokens: Tokens,
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
        let signatures = [family.image_signature(), family.text_signature()];
        let mut outputs = [String::new(), String::new()];
        for (tower, session) in [&image, &text].into_iter().enumerate() {
            session.check(family.kinds()[tower], &signatures[tower])?;
            let wanted = &signatures[tower].outputs[0];
            if let Some(place) = wanted.position(session.outputs()) {
                outputs[tower].clone_from(&session.outputs()[place].name);
            }
        }
        let size = InputSize::of(&image, size, InputSize { width: 224, height: 224 })?;
        let tokens = Tokens::read(tokenizer, family.length(), pad_token)?;
        Ok(Self { family, image, text, outputs, tokens, size, likeness })
    }

    /// Name of the producer in evidence records.
    pub fn name(&self) -> &str {
        self.image.name()
    }

    /// Unit vectors of pictures, one for each.
    ///
    /// Errors: [`InferenceError`].
    pub fn embed_pictures(&self, images: &[&ColorImage]) -> Result<Vec<Vec<f32>>, InferenceError> {
        let preparation = PicturePreparation::of(self.family);
        let mut numbers = Vec::with_capacity(images.len() * 3 * self.size.width * self.size.height);
        for image in images {
            crate::picture::check(image)?;
            preparation.append(image, self.size, &mut numbers);
        }
        let shape = [3, self.size.height, self.size.width];
        let answers = run_pictures(&self.image, images.len(), &shape, numbers, &[&self.outputs[0]])?;
        answers.into_iter().next().map_or(Ok(Vec::new()), |answer| rows(&self.image, &answer, images.len()))
    }

    /// Unit vectors of texts, one for each; all of them are one call.
    ///
    /// Errors: [`InferenceError`].
    pub fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, InferenceError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for text in texts {
            let lower = text.to_lowercase();
            // SigLIP was trained on lower case; CLIP's tokenizer lowers by itself.
            let text = if self.family == Family::Siglip { &lower } else { *text };
            let tokens = self.tokens.of(text).map_err(|message| InferenceError::Text {
                model: self.text.name().to_owned(),
                text: text.to_owned(),
                message,
            })?;
            ids.extend(tokens.ids);
            mask.extend(tokens.mask);
        }
        let shape = [texts.len(), self.family.length()];
        let feed = |name, numbers| Feed { name, shape: &shape, numbers: Numbers::Int(numbers) };
        let mut feeds = vec![feed("input_ids", &ids)];
        if self.text.inputs().iter().any(|input| input.name == "attention_mask") {
            feeds.push(feed("attention_mask", &mask));
        }
        let answer = self.text.run(&feeds, &[&self.outputs[1]])?;
        rows(&self.text, &answer[0], texts.len())
    }

    /// How well each text fits a picture, [0, 1]; with CLIP the texts compete and sum to 1, with SigLIP each stands alone.
    pub fn likeness(&self, picture: &[f32], texts: &[Vec<f32>]) -> Vec<f64> {
        self.likeness.of(picture, texts)
    }
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

impl Embedder for Towers {
    /// The mean of an object's views, weighted by their rank. Empty when it has none, or when the model gives no answer, which is
    /// logged: the map then goes by what else it knows.
    fn embed(&self, object: &Object) -> Vec<f32> {
        let views: Vec<&ColorImage> = object.crops.iter().map(|crop| &crop.color).collect();
        let features = match self.embed_pictures(&views) {
            Ok(features) => features,
            Err(error) => {
                tracing::warn!("{} has no features: {error}", object.key);
                return Vec::new();
            }
        };
        let mut mean = vec![0.0; features.first().map_or(0, Vec::len)];
        for (features, crop) in features.iter().zip(&object.crops) {
            for (sum, feature) in mean.iter_mut().zip(features) {
                *sum += feature * crop.rank.max(f64::EPSILON) as f32;
            }
        }
        unit(&mean)
    }
}
