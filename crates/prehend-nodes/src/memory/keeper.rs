//! The memory in its store: opened when it is needed, and again when it failed.

use super::{answer, encoder};
use prehend_agent::language;
use prehend_memory::areas::Told;
use prehend_memory::ask::Asker;
use prehend_memory::encode::Encoder;
use prehend_memory::learn::score;
use prehend_memory::memory::{Noted, Proposed};
use prehend_memory::propose::{Body, Proposer};
use prehend_memory::record::{Episode, Id};
use prehend_memory::store::{self, Forget};
use prehend_memory::{Action, Look, Memory, MemoryError, Outcome, Settings};
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Outcome as OutcomeMsg};
use prehend_msgs::prehend_interfaces::srv::{QueryMemory, WriteMemory};
use prehend_perception::{AreaQuestion, Lexicon};
use prehend_robots::shell::{NodeError, Shell};
use prehend_scene::{ActionTable, Scope, Skill};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Things of an answer when nobody says how many, and at most.
const USUAL: u32 = 5;
const MOST: u32 = 50;
/// Lowest and highest place that an arm on a table reaches, metres above its base.
const FROM_A_TABLE: [f64; 2] = [-0.3, 0.9];
/// Most vectors that go into the index with a look, for which the next one waits.
const INDEXED: usize = 200;
/// Longest question, letters.
const LONGEST: usize = 500;

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

    /// Answers a question.
    pub(super) fn query(&mut self, asked: &QueryMemory::Request, now: f64) -> QueryMemory::Response {
        let refuse = |error_code: i32, error_message: String| QueryMemory::Response {
            error_code,
            error_message,
            things: Vec::new(),
        };
        let named = (!asked.action.is_empty()).then_some(asked.action.as_str());
        let action = match named.map(Action::parse).transpose() {
            Ok(action) => action,
            Err(error) => return refuse(ErrorCode::MEMORY_BAD_REQUEST, error.to_string()),
        };
        if asked.text.chars().count() > LONGEST {
            return refuse(
                ErrorCode::MEMORY_BAD_REQUEST,
                format!("the text has more than {LONGEST} letters"),
            );
        }
        let building = match asked.building.as_str() {
            "" => Some(self.building.clone()),
            "*" => None,
            name => Some(name.to_owned()),
        };
        let k = if asked.k == 0 { USUAL } else { asked.k.min(MOST) } as usize;
        let asker = Asker { building, robot: self.robot.clone(), now, action, k };
        let language = self.language.clone();
        let answers =
            self.memory().and_then(|memory| memory.ask(&asked.text, &language, &asker, &Settings::default()));
        match self.noted(answers) {
            Ok(answers) => {
                let things = answer::things(&answers, &self.robot, &self.session, k);
                if things.is_empty() {
                    return refuse(
                        ErrorCode::MEMORY_NOTHING_FOUND,
                        format!("nothing that is remembered fits \"{}\"", asked.text),
                    );
                }
                QueryMemory::Response { error_code: ErrorCode::SUCCESS, error_message: String::new(), things }
            }
            Err(error) => refuse(code(&error), error.to_string()),
        }
    }

    /// Learns an outcome that is reported, or forgets.
    pub(super) fn write(&mut self, asked: &WriteMemory::Request, now: f64) -> WriteMemory::Response {
        let changed = self.write_now(asked, now);
        match self.noted(changed) {
            Ok(changed) => WriteMemory::Response {
                error_code: ErrorCode::SUCCESS,
                error_message: String::new(),
                changed,
            },
            Err(error) => WriteMemory::Response {
                error_code: code(&error),
                error_message: error.to_string(),
                changed: 0,
            },
        }
    }

    fn write_now(&mut self, asked: &WriteMemory::Request, now: f64) -> Result<u64, MemoryError> {
        let named = |given: &str, own: &str| if given.is_empty() { own.to_owned() } else { given.to_owned() };
        let (building, robot) = (named(&asked.building, &self.building), named(&asked.robot, &self.robot));
        let bad = |why: String| MemoryError::Bad { what: "request", why };
        let forget = match asked.what.as_str() {
            "outcome" => {
                let action = Action::parse(&asked.action).map_err(|error| bad(error.to_string()))?;
                let memory = self.memory()?;
                let known = memory.store().things(&[asked.thing])?;
                let thing =
                    known.first().ok_or_else(|| bad(format!("thing {} is not remembered", asked.thing)))?;
                let episode = Episode {
                    building: thing.building.clone(),
                    robot,
                    at: now,
                    goal: String::new(),
                    action,
                    object: thing.words(),
                    key: String::new(),
                    target: String::new(),
                    done: asked.succeeded,
                    reason: asked.reason.clone(),
                };
                memory.learn(&Outcome { episode, thing: Some(asked.thing), place: None, onto: None })?;
                return Ok(1);
            }
            "forget_thing" => Forget::Thing(asked.thing),
            "forget_building" => Forget::Building(building),
            "forget_robot" => Forget::Robot(robot),
            "forget_before" => Forget::Before(prehend_convert::seconds(&asked.time)),
            other => {
                let known = "outcome, forget_thing, forget_building, forget_robot and forget_before";
                return Err(bad(format!("`{other}` is nothing that is written; {known} are")));
            }
        };
        self.forgotten += 1;
        self.models.clear();
        self.memory()?.forget(&forget)
    }

    /// Keeps how the parts of the thing with this key move; what to say, or nothing when it is known already or not remembered.
    pub(super) fn keep_model(&mut self, key: &str, name: &str, urdf: &str) -> Result<Option<String>, String> {
        // It is told again with every map.
        if self.models.get(key).is_some_and(|kept| kept == urdf) {
            return Ok(None);
        }
        let (building, robot) = (self.building.clone(), self.robot.clone());
        let kept = self.memory().and_then(|memory| memory.keep_model((&building, &robot), (key, name), urdf));
        let kept = self.noted(kept).map_err(|error| error.to_string())?;
        if kept.is_some() {
            self.models.insert(key.to_owned(), urdf.to_owned());
        }
        Ok(kept.map(|id| format!("how the parts of {name} {id} move")))
    }

    /// Learns what the verifier saw of a skill on something that is so called; what to say, or nothing when it is about nothing that
    /// is remembered. In a room `key` is what the base stands at.
    pub(super) fn learn(
        &mut self,
        outcome: &OutcomeMsg,
        words: &str,
        key: &str,
        now: f64,
    ) -> Result<Option<String>, String> {
        let Some(action) = action_of(&outcome.skill) else { return Ok(None) };
        // What is put down is what was picked up; where the base stands is where it went.
        let (key, onto) = match action {
            Action::Place if self.scope == Scope::Room => {
                let Some(carried) = self.carried.clone() else { return Ok(None) };
                (carried, Some(key.to_owned()))
            }
            Action::Place => return Ok(None),
            _ => (key.to_owned(), None),
        };
        let episode = Episode {
            building: self.building.clone(),
            robot: self.robot.clone(),
            at: now,
            goal: String::new(),
            action,
            object: words.to_owned(),
            key: key.clone(),
            target: String::new(),
            done: outcome.succeeded,
            reason: outcome.reason.clone(),
        };
        if outcome.succeeded {
            self.carried = (action == Action::Pick).then_some(key);
        }
        let robot = self.robot.clone();
        let learned = self.memory().and_then(|memory| {
            let Some(id) = memory.learn(&Outcome { episode, thing: None, place: None, onto })? else {
                return Ok(None);
            };
            let thing = memory.store().things(&[id])?.into_iter().next();
            Ok(thing.map(|thing| (score(&thing, action, &robot), thing.words())))
        });
        let learned = self.noted(learned).map_err(|error| error.to_string())?;
        let how = if outcome.succeeded { "went well" } else { "failed" };
        Ok(learned.map(|(score, words)| match action {
            Action::Place => format!("place {words}: {how}"),
            _ => format!("{} {words}: {how}, thought to go well with {score:.2}", action.name()),
        }))
    }
}

/// What a skill does with the thing that it is about.
fn action_of(skill: &str) -> Option<Action> {
    match Skill::parse(skill)? {
        Skill::Grasp | Skill::GraspPart => Some(Action::Pick),
        Skill::TipPush => Some(Action::Press),
        Skill::PinchPull | Skill::HookPull => Some(Action::Open),
        Skill::Place | Skill::Drop => Some(Action::Place),
        Skill::Look | Skill::Home | Skill::GoTo => None,
    }
}

fn code(error: &MemoryError) -> i32 {
    match error {
        MemoryError::Bad { .. } => ErrorCode::MEMORY_BAD_REQUEST,
        MemoryError::Encode(_) | MemoryError::Store(_) => ErrorCode::MEMORY_UNAVAILABLE,
    }
}
