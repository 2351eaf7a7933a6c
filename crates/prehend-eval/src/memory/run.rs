//! One building from the walls to the figures: its tour into a memory, its sentences to every method.

use super::{
    Bm25, Building, BuildingError, Camera, Generator, Ranked, Speaker, Tally, Tour, TourError, View,
};
use prehend_agent::language;
use prehend_agent::language::rooms::RoomNames;
use prehend_memory::propose::{Body, Proposer};
use prehend_memory::request::{Described, readings};
use prehend_memory::store::{Sqlite, StoreError};
use prehend_memory::{Action, Memory, MemoryError, Request, Settings, WordEncoder};
use prehend_perception::Lexicon;
use prehend_scene::ActionTable;
use prehend_sim::scene::DetectorSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A way of finding views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The memory as the robot uses it.
    Memory,
    /// The same features, every view compared, nothing else.
    Flat,
    /// A bag of words over captions.
    Bm25,
    /// The memory without going down the levels: all views are compared.
    NoTraversal,
    /// Only the picture's meaning, alpha = 0.
    Alpha0,
    /// Only the text's meaning, alpha = 1.
    Alpha1,
    /// Without reranking.
    NoRerank,
    /// Reranked, but what can be done decides nothing.
    NoAction,
    /// As the paper has it: things are looked for only in the views that were reached.
    PaperOnly,
}

impl Method {
    /// All of them with their names in reports.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Memory, "memory"),
        (Self::Flat, "flat"),
        (Self::Bm25, "bm25"),
        (Self::NoTraversal, "no_traversal"),
        (Self::Alpha0, "alpha_0"),
        (Self::Alpha1, "alpha_1"),
        (Self::NoRerank, "no_reranking"),
        (Self::NoAction, "no_affordance_score"),
        (Self::PaperOnly, "no_nearest_things"),
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(method, _)| *method == self).map_or("", |(_, name)| name)
    }

    fn settings(self) -> Option<Settings> {
        let whole = Settings::default();
        match self {
            Self::Memory => Some(whole),
            Self::Flat => Some(Settings { traverses: false, reranks: false, ..whole }),
            Self::Bm25 => None,
            Self::NoTraversal => Some(Settings { traverses: false, ..whole }),
            Self::Alpha0 => Some(Settings { alpha: 0.0, ..whole }),
            Self::Alpha1 => Some(Settings { alpha: 1.0, ..whole }),
            Self::NoRerank => Some(Settings { reranks: false, ..whole }),
            Self::NoAction => Some(Settings { by_action: false, ..whole }),
            Self::PaperOnly => Some(Settings { nearest: 0, ..whole }),
        }
    }
}

/// What is measured on.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Kind of buildings.
    pub generator: Generator,
    /// Rooms of each.
    pub rooms: usize,
    /// Views of each, about.
    pub views: usize,
    /// Sentences about each.
    pub instructions: usize,
    /// Who speaks.
    pub speaker: Speaker,
    /// The robot's eyes.
    pub camera: Camera,
    /// What the detector gets wrong.
    pub detector: DetectorSpec,
}

/// The words of all parties.
#[derive(Clone, Debug)]
pub struct Words {
    /// Of names and attributes.
    pub names: Lexicon,
    /// Of sentences.
    pub language: language::Lexicon,
    /// Of rooms.
    pub rooms: RoomNames,
}

/// What came of one building.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Target and receptacle lists of every method, in the order of the sentences.
    pub lists: BTreeMap<Method, Vec<[Ranked; 2]>>,
    /// The sentences.
    pub sentences: Vec<String>,
    /// Sentences that the grammar did not read.
    pub unread: Vec<String>,
    /// Views, things and areas in the memory.
    pub views: u64,
    /// See `views`.
    pub things: u64,
    /// See `views`.
    pub areas: u64,
    /// Things that are really there and were seen.
    pub true_things: usize,
    /// Nodes of the levels and views that were compared with each question: of the memory, and without traversal.
    pub compared: [Vec<[usize; 2]>; 2],
    /// Time of one look going in, of the summary, and of each question.
    pub look: Duration,
    /// See `look`.
    pub summary: Duration,
    /// See `look`.
    pub questions: Vec<Duration>,
}

/// Why a building has no figures.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No building.
    #[error(transparent)]
    Building(#[from] BuildingError),
    /// No views.
    #[error(transparent)]
    Tour(#[from] TourError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Runs one building; `seen` is called after each view.
///
/// Errors: [`RunError`].
pub fn run(setting: &Setting, words: &Words, seed: u64, seen: impl FnMut()) -> Result<Run, RunError> {
    let building = Building::new(setting.generator, setting.rooms, seed)?;
    let tour =
        Tour { camera: setting.camera, views: setting.views, detector: setting.detector.clone(), seed };
    let mut views = tour.views(&building, seen)?;
    let shown: BTreeSet<usize> = views.iter().flat_map(|view| view.shows.iter().copied()).collect();
    let encoder = Box::new(WordEncoder::new(words.names.clone()));
    let store = Box::new(Sqlite::in_memory()?);
    let mut memory = Memory::new(store, encoder, words.names.clone(), words.rooms.clone())?;
    let mut run = Run { true_things: shown.len(), ..Run::default() };
    let begun = Instant::now();
    let mut ids = Vec::new();
    let proposer = Proposer::new(Body::default(), ActionTable::built_in());
    for View { look, .. } in &mut views {
        proposer.propose(&mut look.seen, memory.nouns());
        ids.push(memory.observe(look)?.view);
    }
    run.look = begun.elapsed() / views.len().max(1) as u32;
    let begun = Instant::now();
    memory.summarise(&building.name)?;
    run.summary = begun.elapsed();
    let counts = memory.counts()?;
    (run.views, run.things, run.areas) = (counts.views, counts.things, counts.areas);
    let texts: Vec<(i64, String)> =
        memory.store().views_of(&building.name)?.into_iter().map(|view| (view.id, view.text)).collect();
    let index = Bm25::new(texts.iter().map(|(id, text)| (*id, text.as_str())));
    let right = |things: &BTreeSet<usize>| -> BTreeSet<i64> {
        let shows = |view: &View| !view.shows.is_disjoint(things);
        ids.iter().zip(&views).filter(|(_, view)| shows(view)).map(|(id, _)| *id).collect()
    };
    for instruction in setting.speaker.instructions(&building, &shown, setting.instructions, seed) {
        let read = readings(&instruction.sentence, &words.language, &words.rooms).unwrap_or_default();
        let wishes = memory.understand(read, Some(&building.name), views.len() as f64)?.unwrap_or_default();
        if wishes.targets.is_empty() || wishes.receptacle.is_none() {
            run.unread.push(instruction.sentence.clone());
        }
        // A sentence that is not read is looked for as it stands.
        let whole = || Described { words: instruction.sentence.clone(), ..Described::default() };
        let target = wishes.targets.into_iter().next().map_or_else(whole, |(_, what)| what);
        let receptacle = wishes.receptacle.unwrap_or_else(whole);
        let asked = [
            (target, Action::Pick, right(&instruction.target.1)),
            (receptacle, Action::Place, right(&instruction.receptacle.1)),
        ];
        for (method, _) in Method::ALL {
            let mut lists = Vec::new();
            for (what, action, right) in &asked {
                let views = match method.settings() {
                    None => index.rank(&what.words),
                    Some(settings) => {
                        let request = Request {
                            what: what.clone(),
                            action: Some(*action),
                            building: Some(building.name.clone()),
                            robot: "tour".to_owned(),
                            now: views.len() as f64,
                            k: 10,
                        };
                        let begun = Instant::now();
                        let answer = memory.recall(&request, &settings)?;
                        if method == Method::Memory {
                            run.questions.push(begun.elapsed());
                        }
                        match method {
                            Method::Memory => run.compared[0].push(answer.compared),
                            Method::NoTraversal => run.compared[1].push(answer.compared),
                            _ => {}
                        }
                        answer.views.into_iter().map(|(view, _)| view).collect()
                    }
                };
                lists.push(Ranked { views, right: right.clone() });
            }
            if let Ok(pair) = <[Ranked; 2]>::try_from(lists) {
                run.lists.entry(method).or_default().push(pair);
            }
        }
        run.sentences.push(instruction.sentence);
    }
    Ok(run)
}

/// Figures of a method over several buildings.
pub fn tally(runs: &[Run], method: Method) -> Tally {
    let pairs: Vec<[Ranked; 2]> =
        runs.iter().filter_map(|run| run.lists.get(&method)).flatten().cloned().collect();
    Tally::of(&pairs)
}
