//! Which features the memory has: of words, or of networks that are named.

use prehend_config::Findings;
use prehend_memory::WordEncoder;
use prehend_memory::encode::{EncodeError, Encoder, ModelEncoder};
use prehend_models::config::{Entry, Files, folder};
use prehend_models::{ModelError, ModelsConfig, Runtime, RuntimeError};
use prehend_perception::Lexicon;
use std::path::Path;
use std::sync::Arc;

/// What stands for the encoder that needs no network.
pub const WORDS: &str = "words";

/// Why there is no such encoder.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// The file of the models is wrong.
    #[error("{0}")]
    Config(#[from] Findings),
    /// No such model, or not for this.
    #[error(
        "`{name}` makes no features of texts; models that do are {known}, and `{WORDS}` needs none (see config/models.yaml)"
    )]
    Unknown {
        /// The name.
        name: String,
        /// Names of those that do.
        known: String,
    },
    /// Two for one thing.
    #[error("`{0}` and another one are for the same; name one sentence model and one with towers at most")]
    Twice(String),
    /// There is no runtime.
    #[error("{0}\n`prehend doctor --models` says what is missing")]
    Runtime(#[from] RuntimeError),
    /// A model cannot be used.
    #[error("model `{name}`: {error}\n`prehend doctor --models` says what is missing")]
    Model {
        /// Its name.
        name: String,
        /// What is wrong.
        error: ModelError,
    },
    /// It gives no vectors.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Opens an encoder: [`WORDS`], or up to two models of the file by name, with a comma between: towers (CLIP, SigLIP) for pictures and what
/// one wishes to see, a sentence model for texts. With towers alone they read texts, too.
///
/// Errors: [`EncoderError`].
pub fn open(chosen: &str, file: &Path, names: Lexicon) -> Result<Arc<dyn Encoder>, EncoderError> {
    if chosen == WORDS {
        return Ok(Arc::new(WordEncoder::new(names)));
    }
    let config = ModelsConfig::load(file, &folder(&prehend_config::share::share_dir()))?;
    let is_for_texts = |entry: &&Entry| matches!(entry.files, Files::Towers(_) | Files::Sentence(_));
    let (mut sentences, mut towers) = (None, None);
    for name in chosen.split(',').map(str::trim) {
        let found = config.model(name).filter(is_for_texts).ok_or_else(|| EncoderError::Unknown {
            name: name.to_owned(),
            known: config
                .models
                .iter()
                .filter(is_for_texts)
                .map(|entry| entry.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        let place = if matches!(found.files, Files::Sentence(_)) { &mut sentences } else { &mut towers };
        if place.replace(found).is_some() {
            return Err(EncoderError::Twice(name.to_owned()));
        }
    }
    let runtime = Runtime::open(None)?;
    let failed = |entry: &Entry| {
        let name = entry.name.clone();
        move |error| EncoderError::Model { name, error }
    };
    let opened = sentences.map(|entry| entry.sentences(&runtime).transpose().map_err(failed(entry)));
    let texts = opened.transpose()?.flatten().map(|model| Box::new(model) as _);
    let opened = towers.map(|entry| entry.towers(&runtime).transpose().map_err(failed(entry)));
    let seeing = opened.transpose()?.flatten().map(|model| Box::new(model) as _);
    // Other weights under the same names make another space.
    let weights = |entry: &Entry| -> u64 {
        entry
            .model_files()
            .iter()
            .map(|file| std::fs::metadata(&file.path).map_or(0, |data| data.len()))
            .sum()
    };
    let space: Vec<String> = [sentences, towers]
        .into_iter()
        .flatten()
        .map(|entry| format!("{}-{}", entry.name, weights(entry)))
        .collect();
    Ok(Arc::new(ModelEncoder::new(&space.join("+"), texts, seeing)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_choice_says_what_there_is() {
        let file = prehend_config::share::resolve(Path::new("config/models.yaml"));
        let open =
            |chosen: &str| open(chosen, &file, Lexicon::default()).map(|encoder| encoder.space().to_owned());
        assert_eq!(open(WORDS).unwrap_or_default(), WORDS);
        for (chosen, words) in [
            ("fastestdet", "`fastestdet` makes no features of texts"),
            ("nothing", "clip"),
            ("clip,siglip2", "`siglip2` and another one"),
            ("", "`` makes no features"),
        ] {
            let error = open(chosen).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(words), "{chosen}: {error}");
        }
    }
}
