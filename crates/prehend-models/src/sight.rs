//! The models that look at frames, by their names in the file of the models.

use crate::config::Entry;
use crate::detector::prompts::{BadPrompts, parse};
use crate::{ModelError, ModelsConfig, Runtime};
use prehend_perception::Sight;
use std::sync::Arc;

/// Why models cannot look at frames.
#[derive(Debug, thiserror::Error)]
pub enum SightError {
    /// No model of this name.
    #[error("there is no model `{name}`; models: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Names of the models there are.
        known: String,
    },
    /// Two models for one thing.
    #[error("`{first}` and `{second}` are both {role}; name one of them")]
    Twice {
        /// What they are for.
        role: &'static str,
        /// The one that was named first.
        first: String,
        /// The other one.
        second: String,
    },
    /// Prompts, and no model that takes any.
    #[error("none of the models {models} takes prompts; name one of the kind {PROMPTED}")]
    NoPrompt {
        /// Names of the models that were asked for.
        models: String,
    },
    /// The prompts are none.
    #[error(transparent)]
    Prompts(#[from] BadPrompts),
    /// A model cannot be used.
    #[error("model `{name}`: {error}\n`prehend doctor --models` says what is missing")]
    Model {
        /// Its name.
        name: String,
        /// Why not.
        error: ModelError,
    },
}

/// Kinds whose models are told what to look for.
pub const PROMPTED: &str = "yolo_world or grounding_dino";

/// Entries of these names, one at most for each thing that models are for, told to look for `prompts` when there are any.
///
/// Errors: [`SightError`] but [`SightError::Model`]; no file is touched.
pub fn choose(config: &ModelsConfig, names: &[String], prompts: &[String]) -> Result<Vec<Entry>, SightError> {
    let prompts = match prompts {
        [] => Vec::new(),
        prompts => parse(prompts.iter().map(String::as_str))?,
    };
    let mut chosen: Vec<Entry> = Vec::new();
    for name in names {
        let unknown = || SightError::Unknown { name: name.clone(), known: config.names().join(", ") };
        let entry = config.model(name).ok_or_else(unknown)?;
        if let Some(first) = chosen.iter().find(|other| other.role() == entry.role()) {
            let (first, second) = (first.name.clone(), name.clone());
            return Err(SightError::Twice { role: entry.role().name(), first, second });
        }
        chosen.push(entry.with_prompts(&prompts));
    }
    if !prompts.is_empty() && !chosen.iter().any(Entry::takes_prompts) {
        return Err(SightError::NoPrompt { models: names.join(", ") });
    }
    Ok(chosen)
}

/// Opens models as what looks at frames; each is loaded once.
///
/// Errors: [`SightError::Model`].
pub fn open(entries: &[Entry], runtime: &Runtime) -> Result<Sight, SightError> {
    let mut sight = Sight::default();
    for entry in entries {
        let failed = |error| SightError::Model { name: entry.name.clone(), error };
        if let Some(detector) = entry.detector(runtime) {
            sight.detector = Some(Arc::from(detector.map_err(failed)?));
        }
        if let Some(segmenter) = entry.segmenter(runtime) {
            sight.segmenter = Some(Arc::from(segmenter.map_err(failed)?));
        }
        if let Some(embedder) = entry.embedder(runtime) {
            sight.embedder = Some(Arc::from(embedder.map_err(failed)?));
        }
    }
    Ok(sight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn chosen(names: &[&str], prompts: &[&str]) -> Result<Vec<String>, String> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/models.yaml");
        let config = ModelsConfig::load(&file, Path::new("/models")).expect("valid");
        let [names, prompts] =
            [names, prompts].map(|list| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let entries = choose(&config, &names, &prompts).map_err(|error| error.to_string())?;
        Ok(entries.into_iter().map(|entry| entry.name).collect())
    }

    #[test]
    fn one_model_for_each_thing_is_chosen_by_name() {
        assert_eq!(chosen(&[], &[]), Ok(vec![]));
        let three = ["fastestdet", "mobile_sam", "clip"];
        assert_eq!(chosen(&three, &[]), Ok(three.map(str::to_owned).to_vec()));
        let error = chosen(&["fastestdet", "yolo11n"], &[]).expect_err("two detectors");
        assert_eq!(error, "`fastestdet` and `yolo11n` are both detectors; name one of them");
        let error = chosen(&["fasterdet"], &[]).expect_err("unknown");
        assert!(error.contains("no model `fasterdet`; models: fastestdet,"), "{error}");
        assert_eq!(chosen(&["grounding_dino"], &["mug, bowl"]), Ok(vec!["grounding_dino".to_owned()]));
        let error = chosen(&["fastestdet"], &["mug"]).expect_err("no words");
        assert_eq!(
            error,
            "none of the models fastestdet takes prompts; name one of the kind yolo_world or grounding_dino"
        );
        let error = chosen(&["grounding_dino"], &[", "]).expect_err("no prompt");
        assert!(error.contains("no prompt"), "{error}");
    }
}
