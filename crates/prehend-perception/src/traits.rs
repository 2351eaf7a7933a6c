//! What a model can be asked for; weights come behind these.

use prehend_geometry::{ColorImage, Mask, PixelBox};
use prehend_scene::Object;
use std::sync::Arc;

/// Why a model gave no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InferenceError {
    /// A picture without pixels, or with another number of them than its size says.
    #[error("a picture of {width} x {height} with {pixels} pixels cannot be given to a model")]
    Image {
        /// Its width.
        width: usize,
        /// Its height.
        height: usize,
        /// Its number of pixels.
        pixels: usize,
    },
    /// A prompt that is not in the picture, or not a number.
    #[error("the prompt {prompt} is not in the picture of {width} x {height}")]
    Prompt {
        /// The prompt.
        prompt: String,
        /// Width of the picture.
        width: usize,
        /// Height of the picture.
        height: usize,
    },
    /// A text that cannot be turned into the model's tokens.
    #[error("model {model} cannot read the text `{text}`: {message}")]
    Text {
        /// Name of the model.
        model: String,
        /// The text.
        text: String,
        /// What the tokenizer said.
        message: String,
    },
    /// The model stopped with an error.
    #[error("model {model} failed: {message}")]
    Run {
        /// Name of the model.
        model: String,
        /// What the runtime said.
        message: String,
    },
    /// The answer does not have the shape that was agreed.
    #[error("model {model}: output `{output}` should be {expected}, but is {found}")]
    Output {
        /// Name of the model.
        model: String,
        /// Name of the output.
        output: String,
        /// Shape as it should be.
        expected: String,
        /// Shape as it is.
        found: String,
    },
    /// The answer holds numbers that are none.
    #[error("model {model}: output `{output}` holds numbers that are not finite")]
    NotFinite {
        /// Name of the model.
        model: String,
        /// Name of the output.
        output: String,
    },
}

/// Where to segment, pixels as in [`PixelBox`].
#[derive(Clone, Debug, PartialEq)]
pub enum Prompt {
    /// What holds the first points and none of the second ones.
    Points {
        /// Points `[x, y]` on the thing; at least one.
        on: Vec<[f64; 2]>,
        /// Points `[x, y]` beside it.
        off: Vec<[f64; 2]>,
    },
    /// The thing in a box.
    Box(PixelBox),
}

/// A region with what the model thinks of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredMask {
    /// Its pixels; may be empty.
    pub mask: Mask,
    /// How well the mask fits by the model's own estimate (its predicted IoU), [0, 1] but for rounding.
    pub score: f64,
}

/// Finds regions of one thing each, without naming them.
pub trait Segmenter {
    /// Name of the producer in evidence records.
    fn name(&self) -> &str;
    /// The best region of each prompt, in their order. The picture is looked at once, whatever the number of prompts.
    ///
    /// Errors: [`InferenceError`]; no region is given when one of them fails.
    fn segment(&self, image: &ColorImage, prompts: &[Prompt]) -> Result<Vec<ScoredMask>, InferenceError>;
    /// Everything in a picture, without prompts: regions of things, of their parts and of what carries them, best first.
    ///
    /// Errors: [`InferenceError`].
    fn everything(&self, image: &ColorImage) -> Result<Vec<ScoredMask>, InferenceError>;
}

/// One instance as a detector sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Class name as the model's list of classes writes it.
    pub class_name: String,
    /// Confidence, [0, 1].
    pub score: f64,
    /// Its box; may reach outside the picture.
    pub bounds: PixelBox,
    /// Its pixels, from detectors that know them.
    pub mask: Option<Mask>,
}

/// Finds and names instances.
pub trait Detector {
    /// Name of the producer in evidence records.
    fn name(&self) -> &str;
    /// The instances of each picture, best first. Pictures may differ in size; as many as the model takes at once are one
    /// call of it.
    ///
    /// Errors: [`InferenceError`]; no picture has an answer when one of them fails.
    fn detect(&self, images: &[&ColorImage]) -> Result<Vec<Vec<Instance>>, InferenceError>;
}

/// Turns objects into feature vectors, so that views of one thing are near each other (ASP III-A, `features`).
pub trait Embedder {
    /// Name of the space its vectors lie in: vectors of two names cannot be compared.
    fn name(&self) -> &str;
    /// Unit vectors, one for each object, whose votes, colours and crops are filled in; a vector may be empty (no opinion). All
    /// pictures of all objects are one batch.
    ///
    /// Errors: [`InferenceError`]; no object has features when one of them fails.
    fn embed(&self, objects: &[Object]) -> Result<Vec<Vec<f32>>, InferenceError>;
}

/// One model for several maps.
impl<T: Embedder + ?Sized> Embedder for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn embed(&self, objects: &[Object]) -> Result<Vec<Vec<f32>>, InferenceError> {
        (**self).embed(objects)
    }
}

/// Features without weights: hashed letter triples of the class names and the measured basic colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordEmbedder;

/// Slots for letter triples.
const TRIPLES: usize = 48;
/// Share of the squared length that colours have.
const COLOR_SHARE: f64 = 0.3;

/// Name of [`WordEmbedder`].
pub const WORDS: &str = "words";

impl Embedder for WordEmbedder {
    fn name(&self) -> &str {
        WORDS
    }

    fn embed(&self, objects: &[Object]) -> Result<Vec<Vec<f32>>, InferenceError> {
        Ok(objects.iter().map(Self::of).collect())
    }
}

impl WordEmbedder {
    fn of(object: &Object) -> Vec<f32> {
        let words = crate::color::WORDS;
        let mut vector = vec![0.0_f64; TRIPLES + words.len()];
        let total: f64 = object.class_votes.iter().filter(|(name, _)| !name.is_empty()).map(|(_, w)| w).sum();
        for (name, weight) in object.class_votes.iter().filter(|(name, _)| !name.is_empty()) {
            let letters: Vec<char> = format!(" {name} ").chars().collect();
            for triple in letters.windows(3) {
                let hash =
                    triple.iter().fold(0xcbf2_9ce4_u32, |h, c| (h ^ *c as u32).wrapping_mul(0x0100_0193));
                vector[hash as usize % TRIPLES] += weight / total.max(1e-9);
            }
        }
        for (word, share) in &object.color_fractions {
            if let Some(slot) = words.iter().position(|known| known == word) {
                vector[TRIPLES + slot] = *share;
            }
        }
        let (name, color) = vector.split_at_mut(TRIPLES);
        scale(name, (1.0 - COLOR_SHARE).sqrt());
        scale(color, COLOR_SHARE.sqrt());
        scale(&mut vector, 1.0);
        vector.into_iter().map(|x| x as f32).collect()
    }
}

fn scale(part: &mut [f64], length: f64) {
    let norm = part.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 1e-12 {
        part.iter_mut().for_each(|x| *x *= length / norm);
    }
}

/// Turns texts into vectors that features of objects can be held against.
pub trait TextReader {
    /// Unit vectors of texts, one for each; all of them are one call.
    ///
    /// Errors: [`InferenceError`].
    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, InferenceError>;

    /// How well each of some vectors fits one: texts a picture, or pictures a text, [0, 1].
    fn likeness(&self, one: &[f32], others: &[Vec<f32>]) -> Vec<f64>;

    /// How well a text fits each of some objects by their features; `None` for those without features of the text's length.
    ///
    /// Errors: [`InferenceError`].
    fn likeness_of(&self, text: &str, objects: &[Object]) -> Result<Vec<Option<f64>>, InferenceError> {
        let text = self.embed_texts(&[text])?.pop().unwrap_or_default();
        let fits = |object: &Object| !text.is_empty() && object.features.len() == text.len();
        let features: Vec<Vec<f32>> =
            objects.iter().filter(|object| fits(object)).map(|object| object.features.clone()).collect();
        let mut known = self.likeness(&text, &features).into_iter();
        Ok(objects.iter().map(|object| if fits(object) { known.next() } else { None }).collect())
    }
}

/// Turns pictures into vectors of the space of its texts.
pub trait PictureReader: TextReader {
    /// Unit vectors of pictures, one for each; all of them are one call.
    ///
    /// Errors: [`InferenceError`].
    fn embed_pictures(&self, images: &[&ColorImage]) -> Result<Vec<Vec<f32>>, InferenceError>;
}
