//! What the node starts with: files of words, rules and models, and what parameters may change.

use super::mind::Minds;
use prehend_agent::language::Lexicon;
use prehend_agent::policy::{Policy, Workspace};
use prehend_agent::{Agent, Settings};
use prehend_config::Findings;
use prehend_explain::{Questions, Words};
use prehend_perception::lexicon::Lexicon as Tables;
use prehend_robots::shell::{NodeError, Shell};
use prehend_ros::Live;
use prehend_scene::ActionTable;
use std::path::Path;

/// Name of the survey pose that sees upright faces.
const FRONT: &str = "front";

/// What parameters may change between two goals.
pub(super) struct Tuning {
    retries: Live<i64>,
    clearings: Live<i64>,
    step_limit: Live<i64>,
    size_ratio: Live<f64>,
}

impl Tuning {
    pub(super) fn apply(&self, settings: &mut Settings) {
        settings.retries = u32::try_from(self.retries.get()).unwrap_or(settings.retries);
        settings.clearings = u32::try_from(self.clearings.get()).unwrap_or(settings.clearings);
        settings.step_limit = u32::try_from(self.step_limit.get()).unwrap_or(settings.step_limit);
        settings.size_ratio = self.size_ratio.get();
    }
}

/// The agent with its files and parameters.
pub(super) fn agent(shell: &Shell) -> Result<(Agent, Minds, Tuning, Words), NodeError> {
    let parameters = shell.node.parameters();
    let lexicon = parameters.string_or("lexicon", "config/language/lexicon.yaml")?;
    let actions = parameters.string_or("actions", "config/language/actions.yaml")?;
    let policy = parameters.string_or("policy", "config/language/policy.yaml")?;
    let minds = parameters.string_or("settings", "config/nodes/agent.yaml")?;
    let synonyms = parameters.string_or("synonyms", "config/language/synonyms.yaml")?;
    let questions = parameters.string_or("questions", "config/language/questions.yaml")?;
    let defaults = Settings::default();
    parameters.describe("settings", "File that says who plans, and which language model is asked.");
    parameters
        .describe("synonyms", "File of names that mean the same: what stands there is no unknown word.");
    parameters.describe("questions", "File of what makes a question about the last goal.");
    parameters.describe("lexicon", "File of words.");
    parameters.describe("actions", "File of verbs, and which parts they act on.");
    parameters.describe_fixed("policy", "File of what is refused as unsafe.", "it decides what is unsafe");
    let text = "Second looks and tries before a step is given up.";
    let retries = parameters.live_i64("retries", i64::from(defaults.retries), 0..=3, text)?;
    let text = "Most things that one step puts aside to get at what it is about; 0 tells the person instead.";
    let clearings = parameters.live_i64("clearings", i64::from(defaults.clearings), 0..=10, text)?;
    let text = "Most tool calls of one goal.";
    let step_limit = parameters.live_i64("step_limit", i64::from(defaults.step_limit), 0..=1000, text)?;
    let text = "How many times as large a thing must be to be called the larger one.";
    let size_ratio = parameters.live_f64("size_ratio", defaults.size_ratio, 1.0..=100.0, text)?;
    let tuning = Tuning { retries, clearings, step_limit, size_ratio };
    parameters.finish()?;
    let limits = shell.robot.limits;
    let settings = Settings {
        workspace: Workspace { min: limits.workspace_low, max: limits.workspace_high },
        gripper_opening: shell.robot.gripper.max_opening,
        front_view: shell.robot.looks.iter().any(|(name, _)| name == FRONT).then_some(FRONT),
        ..defaults
    };
    let mut words = read(&lexicon, Lexicon::from_yaml)?.with_actions(read(&actions, ActionTable::from_yaml)?);
    // Who drives has several tables.
    words.tables_are_things = shell.robot.navigation.is_some();
    let tables = read(&synonyms, Tables::parse)?;
    let questions = read(&questions, Questions::from_yaml)?;
    let asking = Words { lexicon: words.clone(), names: tables.clone(), questions };
    let minds = Minds::load(&prehend_config::share::resolve(Path::new(&minds)), tables)?;
    let policy = read(&policy, Policy::from_yaml)?;
    Ok((Agent { lexicon: words, policy, settings }, minds, tuning, asking))
}

fn read<T>(file: &str, parse: impl FnOnce(&str, &str) -> Result<T, Findings>) -> Result<T, NodeError> {
    let path = prehend_config::share::resolve(Path::new(file));
    let text = std::fs::read_to_string(&path).map_err(|error| NodeError::Start {
        node: "agent",
        reason: format!("cannot read {}: {error}", path.display()),
    })?;
    Ok(parse(&path.display().to_string(), &text)?)
}
