//! Network models that look at the colour image, on a robot without a detector that publishes its own label image.

use prehend_config::{Findings, Value};
use prehend_models::{ModelsConfig, Runtime, RuntimeError, config, sight as chosen};
use prehend_perception::Sight;
use prehend_robots::shell::NodeError;
use std::path::{Path, PathBuf};

/// What the node does when a model is missing, or the library that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    /// It does not start.
    Stop,
    /// It warns, and maps what geometry finds.
    Geometry,
}

/// Which models look, and what they look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelSettings {
    names: Vec<String>,
    prompts: Vec<String>,
    file: String,
    runtime: Option<String>,
    otherwise: Otherwise,
}

/// Loads the models, off the event loop; `None` when a detector on the graph labels the images.
///
/// Errors: [`NodeError::Start`] when one of them is missing and geometry alone will not do.
pub(super) async fn sight(settings: Option<ModelSettings>) -> Result<Option<Sight>, NodeError> {
    let Some(settings) = settings else { return Ok(None) };
    let otherwise = settings.otherwise;
    let opened = tokio::task::spawn_blocking(move || settings.open()).await;
    let stopped = |reason| NodeError::Start { node: "object_map", reason };
    match opened.map_err(|error| stopped(error.to_string()))? {
        Ok(sight) => Ok(Some(sight)),
        Err(error) if otherwise == Otherwise::Geometry => {
            tracing::warn!("geometry alone cuts the frames and nothing has a name: {error}");
            Ok(Some(Sight::default()))
        }
        Err(error) => Err(stopped(error.to_string())),
    }
}

/// Why models do not look at frames.
#[derive(Debug, thiserror::Error)]
enum ModelsError {
    /// The file of the models is wrong.
    #[error("{0}")]
    Config(#[from] Findings),
    /// There is no runtime.
    #[error("{0}\n`prehend doctor --models` says what is missing")]
    Runtime(#[from] RuntimeError),
    /// A model is unknown or cannot be used.
    #[error(transparent)]
    Sight(#[from] chosen::SightError),
}

impl ModelSettings {
    /// `None` in `Some` while no model is named.
    pub(super) fn read(value: &Value<'_>) -> Option<Option<Self>> {
        value.map(|map| {
            let texts = |value: Value<'_>| value.list(|item| item.text());
            let names = map.or("use", Vec::new(), texts);
            let prompts = map.or("prompts", Vec::new(), texts);
            let file = map.or("file", "config/models.yaml".to_owned(), |value| value.text());
            let runtime =
                map.or(
                    "runtime",
                    None,
                    |value| {
                        if value.is_null() { Some(None) } else { value.text().map(Some) }
                    },
                );
            let choices = [("stop", Otherwise::Stop), ("geometry", Otherwise::Geometry)];
            let otherwise = map.or("otherwise", Otherwise::Stop, |value| value.choice(&choices));
            let settings = Self {
                names: names?,
                prompts: prompts?,
                file: file?,
                runtime: runtime?,
                otherwise: otherwise?,
            };
            Some((!settings.names.is_empty()).then_some(settings))
        })
    }

    fn open(&self) -> Result<Sight, ModelsError> {
        let file = prehend_config::share::resolve(Path::new(&self.file));
        let folder = config::folder(&prehend_config::share::share_dir());
        let config = ModelsConfig::load(&file, &folder)?;
        let entries = chosen::choose(&config, &self.names, &self.prompts)?;
        let library = self.runtime.as_ref().map(PathBuf::from);
        let runtime = Runtime::open(library.as_deref())?;
        Ok(chosen::open(&entries, &runtime)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<ModelSettings>, String> {
        prehend_config::read("object_map.yaml", text, |root| ModelSettings::read(&root))
            .map_err(|findings| findings.to_string())
    }

    #[test]
    fn models_are_named_and_wrong_keys_found() {
        let text = "{use: [fastestdet, clip], otherwise: geometry, runtime: /opt/lib}\n";
        let models = read(text).expect("valid").expect("models");
        assert_eq!(models.names, ["fastestdet", "clip"]);
        assert_eq!((models.otherwise, models.runtime.as_deref()), (Otherwise::Geometry, Some("/opt/lib")));
        assert_eq!(models.file, "config/models.yaml");
        let error = read("{uses: [a], otherwise: nothing}\n").expect_err("wrong");
        for words in ["did you mean `use`?", "otherwise"] {
            assert!(error.contains(words), "{words} is missing in: {error}");
        }
    }

    #[tokio::test]
    async fn a_missing_model_stops_the_start_or_leaves_geometry() {
        let settings =
            |otherwise: &str| read(&format!("{{use: [nowhere], otherwise: {otherwise}}}\n")).expect("valid");
        let error = sight(settings("stop")).await.expect_err("no such model").to_string();
        assert!(error.contains("object_map") && error.contains("no model `nowhere`"), "{error}");
        let geometry = sight(settings("geometry")).await.expect("geometry").expect("models");
        assert!(!geometry.looks());
        assert!(sight(read("use: []\n").expect("valid")).await.expect("nothing").is_none());
    }
}
