//! The memory in its store: opened when it is needed, and again when it failed.

mod learning;
mod requests;

use super::encoder;
use prehend_agent::language;
use prehend_memory::areas::Told;
use prehend_memory::encode::Encoder;
use prehend_memory::memory::{Noted, Proposed};
use prehend_memory::propose::{Body, Proposer};
use prehend_memory::record::Id;
use prehend_memory::{Look, Memory, MemoryError, store};
use prehend_perception::{AreaQuestion, Lexicon};
use prehend_robots::shell::{NodeError, Shell};
use prehend_scene::{ActionTable, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Lowest and highest place that an arm on a table reaches, metres above its base.
const FROM_A_TABLE: [f64; 2] = [-0.3, 0.9];
/// Most vectors that go into the index with a look, for which the next one waits.
const INDEXED: usize = 200;

/// The memory of one robot in one building.
pub(super) struct Keeper {
    /// File, or `postgres://` address.
    store: String,
    building: String,
    robot: String,
    /// What remembered keys of this session begin with.
    session: String,
    proposer: Proposer,
    scope: Scope,
    /// Key of what was picked up last and not put down.
    carried: Option<String>,
    names: Lexicon,
    encoder: Arc<dyn Encoder>,
    language: language::Lexicon,
    memory: Option<Memory>,
    /// How often something was to be forgotten.
    forgotten: u64,
    /// Models that things have, by their keys.
    models: BTreeMap<String, String>,
}

/// What some views brought, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) noted: Vec<Noted>,
}

impl Kept {
    /// Things that were known, that are new, and that were not where they should have been.
    pub(super) fn counts(&self) -> [usize; 3] {
        let sum = |of: fn(&Noted) -> usize| self.noted.iter().map(of).sum();
        [sum(|noted| noted.known.len()), sum(|noted| noted.new.len()), sum(|noted| noted.missed.len())]
    }
}

impl Keeper {
    /// As the parameters say.
    pub(super) async fn new(shell: &Shell, session: String) -> Result<Self, NodeError> {
        let parameters = shell.node.parameters();
        let store = parameters.string_or("store", "memory.db")?;
        let building = parameters.string_or("building", "home")?;
        let words = parameters.string_or("synonyms", "config/language/synonyms.yaml")?;
        let actions = parameters.string_or("actions", "config/language/actions.yaml")?;
        let chosen = parameters.string_or("encoder", encoder::WORDS)?;
        let models = parameters.string_or("models", "config/models.yaml")?;
        parameters.describe(
            "store",
            "Where the memory is: a file, or postgres://USER@HOST/DATABASE for several robots.",
        );
        parameters.describe("building", "The building that the map is of: one frame, one name.");
        parameters.describe("synonyms", "File of names that mean the same.");
        parameters.describe(
            "encoder",
            "Where features come from: words, or models of the file, as siglip2 or minilm,siglip2. A store keeps to one.",
        );
        parameters.describe("models", "File of the network models.");
        parameters.describe("actions", "File of verbs, and which parts they act on.");
        parameters.finish()?;
        let names = Lexicon::load(&prehend_config::share::resolve(Path::new(&words)))?;
        let encoder = {
            let names = names.clone();
            let file = prehend_config::share::resolve(Path::new(&models));
            let opened = tokio::task::spawn_blocking(move || {
                encoder::open(&chosen, &file, names).map_err(|error| error.to_string())
            });
            let opened = opened.await.map_err(|error| error.to_string()).and_then(|opened| opened);
            opened.map_err(|reason| NodeError::Start { node: "memory", reason })?
        };
        let mut language = language::Lexicon::built_in();
        language.tables_are_things = shell.robot.navigation.is_some();
        let scope = if shell.robot.navigation.is_some() { Scope::Room } else { Scope::Local };
        let opening = shell.robot.gripper.max_opening;
        let heights = if scope == Scope::Room { Body::default().heights } else { FROM_A_TABLE };
        let mut keeper = Self {
            store,
            building,
            robot: shell.robot.name.clone(),
            session,
            scope,
            carried: None,
            proposer: Proposer::new(
                Body { opening, heights, ..Body::default() },
                ActionTable::load(&prehend_config::share::resolve(Path::new(&actions)))?,
            ),
            names,
            encoder,
            language,
            memory: None,
            forgotten: 0,
            models: BTreeMap::new(),
        };
        // Who starts the robot reads it now; every answer says it again.
        if let Err(error) = keeper.memory() {
            tracing::warn!("{error}");
        }
        Ok(keeper)
    }

    /// One that keeps what an arm on a table sees in a file.
    #[cfg(test)]
    pub(super) fn in_file(store: &Path) -> Self {
        let names = Lexicon::default();
        Self {
            store: store.display().to_string(),
            building: "home".to_owned(),
            robot: "one".to_owned(),
            session: String::new(),
            proposer: Proposer::new(
                Body { heights: FROM_A_TABLE, ..Body::default() },
                ActionTable::built_in(),
            ),
            scope: Scope::Local,
            carried: None,
            encoder: Arc::new(prehend_memory::WordEncoder::new(names.clone())),
            names,
            language: language::Lexicon::built_in(),
            memory: None,
            forgotten: 0,
            models: BTreeMap::new(),
        }
    }

    /// The memory, opened if it is not.
    pub(super) fn memory(&mut self) -> Result<&mut Memory, MemoryError> {
        let opened = match self.memory.take() {
            Some(memory) => memory,
            None => Memory::new(
                store::open(&self.store)?,
                Box::new(Arc::clone(&self.encoder)),
                self.names.clone(),
                self.language.rooms.clone(),
            )?,
        };
        Ok(self.memory.insert(opened))
    }

    /// What came of it; a store that failed is opened anew the next time.
    fn noted<T>(&mut self, result: Result<T, MemoryError>) -> Result<T, MemoryError> {
        if matches!(result, Err(MemoryError::Store(_))) {
            self.memory = None;
        }
        result
    }

    /// Keeps views; all are of this robot, building and time. What was kept of them, and why not all.
    pub(super) fn observe<'a>(
        &mut self,
        looks: impl Iterator<Item = &'a mut Look>,
        now: f64,
    ) -> (Kept, Result<(), String>) {
        let mut kept = Kept::default();
        let result = self.observe_all(looks, now, &mut kept);
        (kept, self.noted(result).map_err(|error| error.to_string()))
    }

    fn observe_all<'a>(
        &mut self,
        looks: impl Iterator<Item = &'a mut Look>,
        now: f64,
        kept: &mut Kept,
    ) -> Result<(), MemoryError> {
        let (building, robot, proposer) = (self.building.clone(), self.robot.clone(), self.proposer.clone());
        let memory = self.memory()?;
        for look in looks {
            (look.building, look.robot, look.taken) = (building.clone(), robot.clone(), now);
            proposer.propose(&mut look.seen, memory.nouns());
            kept.noted.push(memory.observe(look)?);
        }
        memory.summarise(&building)?;
        memory.index(INDEXED).map(drop)
    }

    /// Remembers what a model proposes for a view, as far as it is still remembered; how many scores changed.
    pub(super) fn propose(&mut self, view: Id, said: &[Proposed]) -> Result<usize, String> {
        let building = self.building.clone();
        let changed = self.memory().and_then(|memory| memory.propose(&building, view, said));
        self.noted(changed).map_err(|error| error.to_string())
    }

    /// What a model is to be asked about areas, and the state of the memory in which that is so.
    pub(super) fn untold(
        &mut self,
        passed: &BTreeSet<String>,
        most: usize,
    ) -> Result<(u64, Vec<AreaQuestion>), String> {
        let building = self.building.clone();
        let questions = self.memory().and_then(|memory| memory.untold(&building, passed, most));
        Ok((self.forgotten, self.noted(questions).map_err(|error| error.to_string())?))
    }

    /// Remembers what a model says of areas, unless something was forgotten since it was asked: it may tell of that.
    pub(super) fn tell(&mut self, since: u64, told: Told) -> Result<(), String> {
        if since != self.forgotten {
            return Ok(());
        }
        let building = self.building.clone();
        let written = self.memory().and_then(|memory| memory.tell(&building, told));
        self.noted(written).map_err(|error| error.to_string())
    }
}
