//! A text held against the features of a map.

use crate::args::map::QueryArgs;
use crate::commands::models;
use prehend_models::{ModelError, Runtime, RuntimeError};
use prehend_perception::InferenceError;
use prehend_perception::traits::WORDS;
use prehend_scene::ObjectMap;

/// Why the model that made the features does not read a text.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextError {
    /// The file of the models is wrong.
    #[error("{0}")]
    Config(#[from] prehend_config::Findings),
    /// It is in no file of the models.
    #[error("the file of the models has no reader of texts of this name")]
    Unknown,
    /// There is no runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// It cannot be used.
    #[error("{0}\n`prehend doctor --models` says what is missing")]
    Model(#[from] ModelError),
    /// It gave no answer.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}

/// How well the text fits each object by the model that made their features; `None` for those without features of its length, and for
/// all when the features are of words.
pub(super) fn likeness(
    embedder: &str,
    map: &ObjectMap,
    args: &QueryArgs,
) -> Result<Option<Vec<Option<f64>>>, TextError> {
    if embedder == WORDS {
        return Ok(None);
    }
    let config = models::config(&args.which)?;
    let entry = config.model(embedder).ok_or(TextError::Unknown)?;
    let runtime = Runtime::open(args.which.runtime.as_deref())?;
    let reader = entry.reader(&runtime).ok_or(TextError::Unknown)??;
    Ok(Some(reader.likeness_of(&args.text, &map.objects)?))
}
