//! What a model is asked for: two parameters of the node, and `config/nodes/memory.yaml`.

use prehend_config::Findings;
use prehend_llm::{HttpProposer, HttpSummariser, Purpose, SetupError, VlmSettings};
use prehend_robots::shell::NodeError;
use prehend_ros::Parameters;
use std::path::Path;

/// The models that are asked.
pub(super) struct Chosen {
    /// For what can be done with things, and how many of a view it is asked about; without one the built-in rule does.
    pub(super) proposer: Option<(HttpProposer, usize)>,
    /// For the sentences of areas; without one the rule's lists stand.
    pub(super) summariser: Option<HttpSummariser>,
}

impl Chosen {
    /// As the parameters say. Nothing is sent yet.
    ///
    /// Errors: a value that is none, a file that is wrong, a model that is wanted and not named, a key that is not there.
    pub(super) fn read(parameters: &Parameters) -> Result<Self, NodeError> {
        let proposer = parameters.string_or("proposer", "built-in")?;
        let summariser = parameters.string_or("summariser", "rule")?;
        let file = parameters.string_or("settings", "config/nodes/memory.yaml")?;
        parameters.describe("proposer", "Who says what can be done with things: built-in, or vlm as well.");
        parameters.describe("summariser", "Who says what areas are: rule, or vlm as well.");
        parameters.describe("settings", "File that says which vision-language model is asked.");
        let proposer = is_model("proposer", &proposer, "built-in").map_err(failed)?;
        let summariser = is_model("summariser", &summariser, "rule").map_err(failed)?;
        let settings = read(&prehend_config::share::resolve(Path::new(&file)))?;
        Self::new(proposer, summariser, settings, &file).map_err(failed)
    }

    fn new(
        proposer: bool,
        summariser: bool,
        settings: Option<VlmSettings>,
        file: &str,
    ) -> Result<Self, String> {
        if !proposer && !summariser {
            return Ok(Self { proposer: None, summariser: None });
        }
        let settings = settings.ok_or_else(|| {
            format!(
                "a vision-language model is to be asked, and {file} names none (vlm.base_url and vlm.model)"
            )
        })?;
        let key = settings.key()?;
        let wrong = |error: SetupError| error.to_string();
        let most = settings.max_candidates;
        let model = || HttpProposer::new(settings.clone(), key.as_deref()).map_err(wrong);
        let proposer = proposer.then(model).transpose()?.map(|model| (model, most));
        let model = || HttpSummariser::new(settings.clone(), key.as_deref()).map_err(wrong);
        Ok(Self { proposer, summariser: summariser.then(model).transpose()? })
    }
}

fn failed(reason: String) -> NodeError {
    NodeError::Start { node: "memory", reason }
}

/// Whether a parameter leaves something to a model; `without` is its other value.
fn is_model(parameter: &str, value: &str, without: &str) -> Result<bool, String> {
    match value {
        "vlm" => Ok(true),
        value if value == without => Ok(false),
        other => Err(format!("parameter `{parameter}` is `{other}`; {without} or vlm")),
    }
}

/// Reads the file, all of whose keys are known.
fn read(path: &Path) -> Result<Option<VlmSettings>, Findings> {
    prehend_config::read_file(path, |root| {
        root.map(|map| map.or("vlm", None, |value| VlmSettings::read(&value, Purpose::DESCRIBE)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_in_the_repository_asks_nobody_and_a_model_that_is_wanted_must_be_named() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/nodes/memory.yaml");
        assert_eq!(read(Path::new(file)), Ok(None));
        let none = Chosen::new(false, false, None, file).unwrap_or_else(|error| panic!("{error}"));
        assert!(none.proposer.is_none() && none.summariser.is_none());
        let error = Chosen::new(false, true, None, "memory.yaml").err().unwrap_or_default();
        assert!(error.contains("memory.yaml names none (vlm.base_url"), "{error}");
        let error = is_model("proposer", "llm", "built-in").err().unwrap_or_default();
        assert_eq!(error, "parameter `proposer` is `llm`; built-in or vlm");
    }

    #[test]
    fn each_of_the_two_is_asked_by_itself() {
        let text = "vlm: {base_url: \"http://127.0.0.1:9/v1\", model: m, timeout: 200, max_candidates: 7}";
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = folder.path().join("memory.yaml");
        std::fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
        let settings = read(&file).unwrap_or_else(|error| panic!("{error}"));
        for (proposer, summariser) in [(true, false), (false, true), (true, true)] {
            let chosen = Chosen::new(proposer, summariser, settings.clone(), "memory.yaml")
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(chosen.proposer.map(|(_, most)| most), proposer.then_some(7));
            assert_eq!(chosen.summariser.is_some(), summariser);
        }
    }
}
