//! Features by networks: texts by a sentence model or a text tower, pictures by the tower that belongs to it.

use super::{EncodeError, Encoder, unit};
use crate::record::{Seen, describe};
use prehend_geometry::ColorImage;
use prehend_perception::{InferenceError, PictureReader, TextReader};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Texts that are remembered with their vectors at most; then all are forgotten. A summary asks for the texts of all views again.
const MOST_TEXTS: usize = 20_000;

/// A network for texts.
pub type Texts = Box<dyn TextReader + Send + Sync>;
/// Two towers, for pictures and texts.
pub type Towers = Box<dyn PictureReader + Send + Sync>;

/// Features of networks. With a sentence model texts are compared in its space, and a wish with pictures in that of the towers.
pub struct ModelEncoder {
    space: String,
    dimensions: usize,
    texts: Option<Texts>,
    towers: Option<Towers>,
    known: Mutex<HashMap<(bool, String), Vec<f32>>>,
}

impl std::fmt::Debug for ModelEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelEncoder").field("space", &self.space).finish_non_exhaustive()
    }
}

impl ModelEncoder {
    /// An encoder of these networks, of which there must be one. `space` names them and their weights.
    ///
    /// Errors: [`EncodeError`] when there is none, or one gives no vectors.
    pub fn new(space: &str, texts: Option<Texts>, towers: Option<Towers>) -> Result<Self, EncodeError> {
        let mut encoder =
            Self { space: space.to_owned(), dimensions: 0, texts, towers, known: Mutex::default() };
        encoder.dimensions = encoder.text("thing")?.len();
        if encoder.dimensions == 0 {
            return Err(encoder.error("a text has a vector without numbers"));
        }
        Ok(encoder)
    }

    fn error(&self, what: impl std::fmt::Display) -> EncodeError {
        EncodeError { encoder: self.space.clone(), what: what.to_string() }
    }

    /// The vector of a text, in the space of pictures or of texts.
    fn read(&self, text: &str, as_picture: bool) -> Result<Vec<f32>, EncodeError> {
        let key = (as_picture, text.to_owned());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = known().get(&key) {
            return Ok(vector.clone());
        }
        let read = match (&self.texts, &self.towers) {
            (Some(texts), towers) if !as_picture || towers.is_none() => texts.embed_texts(&[text]),
            (_, Some(towers)) => towers.embed_texts(&[text]),
            (_, None) => return Err(self.error("there is no network for texts")),
        };
        let vector = one(read).map_err(|error| self.error(error))?;
        let mut known = known();
        if known.len() >= MOST_TEXTS {
            known.clear();
        }
        known.insert(key, vector.clone());
        Ok(vector)
    }
}

/// The only vector of an answer; its length is checked, since a vector that is no direction is like nothing.
fn one(read: Result<Vec<Vec<f32>>, InferenceError>) -> Result<Vec<f32>, String> {
    let mut vectors = read.map_err(|error| error.to_string())?;
    match (vectors.pop(), vectors.len()) {
        (Some(vector), 0) if vector.iter().all(|value| value.is_finite()) => Ok(vector),
        (Some(_), 0) => Err("a vector holds what is no number".to_owned()),
        (_, others) => Err(format!("one text or picture has {others} more vectors, or none")),
    }
}

/// A picture from its file.
fn decoded(bytes: &[u8]) -> Result<ColorImage, String> {
    let image = image::load_from_memory(bytes).map_err(|error| error.to_string())?.to_rgb8();
    Ok(ColorImage {
        width: image.width() as usize,
        height: image.height() as usize,
        pixels: image.pixels().map(|pixel| pixel.0).collect(),
    })
}

impl Encoder for ModelEncoder {
    fn space(&self) -> &str {
        &self.space
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn text(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        self.read(text, false)
    }

    fn wish(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        self.read(text, true)
    }

    /// Without towers, or without a picture, what was recognised stands for it: its names, each by how much of the picture it fills.
    fn picture(&self, picture: Option<&[u8]>, seen: &[Seen]) -> Result<Vec<f32>, EncodeError> {
        if let (Some(towers), Some(bytes)) = (&self.towers, picture) {
            let image = decoded(bytes).map_err(|error| self.error(format!("a picture: {error}")))?;
            return one(towers.embed_pictures(&[&image])).map_err(|error| self.error(error));
        }
        let mut sum: Vec<f32> = Vec::new();
        for seen in seen {
            let vector = self.read(&describe(&seen.name, &seen.colors, &seen.description), true)?;
            sum.resize(vector.len(), 0.0);
            let weight = seen.share.max(0.0).sqrt() as f32;
            sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += weight * value);
        }
        if sum.is_empty() {
            sum = vec![0.0; self.read("thing", true)?.len()];
        }
        Ok(unit(sum))
    }
}
