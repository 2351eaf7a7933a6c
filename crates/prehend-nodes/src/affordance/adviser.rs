//! The model that is asked for the next look where the heuristic leaves it open (AAH 0.A.2), and the file that names it.

use prehend_config::Findings;
use prehend_harness::{Advice, Adviser, Choice, Undecided};
use prehend_llm::{FoundEvidence, HttpAdviser, LookQuestion, OfferedTool, Purpose, VlmSettings};
use prehend_robots::shell::NodeError;
use prehend_scene::Evidence;
use std::path::Path;
use std::sync::Arc;

/// The model that the file names; `None` when it names none. Nothing is sent yet.
///
/// Errors: a file that is wrong, a key that is not there.
pub(super) fn open(path: &Path) -> Result<Option<Arc<HttpAdviser>>, NodeError> {
    let Some(settings) = read(path)? else { return Ok(None) };
    let failed = |reason: String| NodeError::Start { node: "affordance", reason };
    let key = settings.key().map_err(failed)?;
    HttpAdviser::new(settings, key.as_deref())
        .map(|model| Some(Arc::new(model)))
        .map_err(|error| failed(error.to_string()))
}

fn read(path: &Path) -> Result<Option<VlmSettings>, Findings> {
    prehend_config::read_file(path, |root| {
        root.map(|map| map.or("model", None, |value| VlmSettings::read(&value, Purpose::CHOOSE)))
    })
}

/// The model, asked from the thread that gathers. One that fails is not asked again about the same thing.
pub(super) struct RemoteAdviser {
    model: Arc<HttpAdviser>,
    runtime: tokio::runtime::Handle,
    thing: String,
    part: String,
    has_failed: bool,
}

impl RemoteAdviser {
    /// For looks at a part (empty: the whole) of a thing of this class.
    pub(super) fn new(
        model: Arc<HttpAdviser>,
        runtime: tokio::runtime::Handle,
        (thing, part): (String, String),
    ) -> Self {
        Self { model, runtime, thing, part, has_failed: false }
    }
}

impl Adviser for RemoteAdviser {
    fn advise(&mut self, undecided: &Undecided<'_>) -> Option<Advice> {
        if self.has_failed {
            return None;
        }
        let question = question(&self.thing, &self.part, undecided);
        match self.runtime.block_on(self.model.next_look(&question)) {
            Ok(answer) => Some(Advice { choice: answer.tool, why: answer.rationale }),
            Err(error) => {
                self.has_failed = true;
                tracing::warn!("{}: the model that chooses looks is of no help: {error}", self.thing);
                None
            }
        }
    }
}

fn question(thing: &str, part: &str, undecided: &Undecided<'_>) -> LookQuestion {
    let d = undecided.diagnostics;
    LookQuestion {
        thing: thing.to_owned(),
        part: part.to_owned(),
        evidence: undecided.evidence.iter().map(found).collect(),
        omega: d.omega,
        zeta: d.zeta,
        mu: d.mu,
        lacking: d.deficiency,
        budget: undecided.budget,
        tools: undecided.choices.iter().map(offered).collect(),
    }
}

fn found(record: &Evidence) -> FoundEvidence {
    FoundEvidence {
        producer: record.producer.clone(),
        kind: record.kind,
        view: record.view.clone(),
        scale: record.scale,
        confidence: record.confidence,
    }
}

fn offered(choice: &Choice) -> OfferedTool {
    OfferedTool {
        name: choice.tool.clone(),
        cost: choice.cost,
        cures: choice.cures.clone(),
        promise: choice.promise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_in_the_repository_asks_nobody_and_a_model_is_read_with_its_limits() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/nodes/affordance.yaml");
        assert_eq!(read(Path::new(file)), Ok(None));
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let other = folder.path().join("affordance.yaml");
        let text = |timeout: f64| {
            format!("model: {{base_url: \"http://127.0.0.1:9/v1\", model: m, timeout: {timeout}}}")
        };
        std::fs::write(&other, text(2.0)).unwrap_or_else(|error| panic!("{error}"));
        let settings = read(&other).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(settings.map(|settings| (settings.model, settings.timeout)), Some(("m".to_owned(), 2.0)));
        // The robot waits for it.
        std::fs::write(&other, text(60.0)).unwrap_or_else(|error| panic!("{error}"));
        assert!(read(&other).is_err());
    }
}
