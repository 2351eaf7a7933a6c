//! What an evaluation is made of: one scenario each, made when its turn comes.

use crate::args::{AspMobileArgs, AspTabletopArgs, EarlierRoom, LanguageArgs, LiberoArgs, Sentences};
use prehend_config::share;
use prehend_eval::Scenario;
use prehend_eval::asp::{MobileTask, TabletopTask};
use prehend_eval::libero::{Language, Task, tasks};
use prehend_eval::scenario::{Conditions, crowded, tabletop_under};
use prehend_sim::Scene;
use std::path::PathBuf;
use std::sync::Arc;

/// The room of another time has this many seeds more: the same query, other places.
const OTHER_ROOM: u64 = 1_000_000;

/// One run to be made.
pub(super) struct Job {
    /// Name of its folder.
    pub(super) name: String,
    /// Seed of its scene.
    pub(super) seed: u64,
    /// ASP's ablation *No Aff*.
    pub(super) whole_object: bool,
    /// Another robot than the usual one.
    pub(super) robot: Option<PathBuf>,
    /// The same ablation of a robot that drives: go_to does not ask from which side to come.
    pub(super) any_side: bool,
    /// Seed of the room that the robot looked round in an earlier session, when it remembers one.
    pub(super) remembered: Option<u64>,
    /// Folder of what is known of moving parts, when there is a describer.
    pub(super) describer: Option<PathBuf>,
    source: Source,
}

enum Source {
    Tabletop(Conditions),
    Crowded(Conditions),
    Libero { task: Arc<Task>, sentence: String },
    AspTabletop(TabletopTask, Conditions),
    AspMobile(MobileTask, Conditions),
    Language(Box<Scenario>, String),
}

impl Job {
    pub(super) fn tabletop(seed: u64, conditions: Conditions) -> Self {
        let source = Source::Tabletop(conditions);
        Self {
            name: format!("seed-{seed:06}"),
            seed,
            whole_object: false,
            robot: None,
            any_side: false,
            remembered: None,
            describer: None,
            source,
        }
    }

    /// What is wanted stands close between others.
    pub(super) fn crowded(seed: u64, conditions: Conditions) -> Self {
        Self { source: Source::Crowded(conditions), ..Self::tabletop(seed, conditions) }
    }

    /// A drawer or a door is opened, by a robot that knows what is in a folder and adds to it.
    pub(super) fn opening(name: String, task: TabletopTask, seed: u64, describer: PathBuf) -> Self {
        let source = Source::AspTabletop(task, Conditions::Imperfect);
        Self { name, describer: Some(describer), source, ..Self::tabletop(seed, Conditions::Imperfect) }
    }

    /// The scenario. Errors: why there is none, for a person.
    pub(super) fn scenario(&self) -> Result<Scenario, String> {
        self.scenario_of(self.seed)
    }

    /// The same with the room of another seed.
    pub(super) fn scenario_of(&self, seed: u64) -> Result<Scenario, String> {
        match &self.source {
            Source::Tabletop(conditions) => {
                tabletop_under(seed, *conditions).map_err(|error| error.to_string())
            }
            Source::Crowded(conditions) => crowded(seed, *conditions).map_err(|error| error.to_string()),
            Source::AspTabletop(task, conditions) => {
                prehend_eval::asp::tabletop(*task, seed, *conditions).map_err(|error| error.to_string())
            }
            Source::AspMobile(task, conditions) => {
                prehend_eval::asp::mobile(*task, seed, *conditions).map_err(|error| error.to_string())
            }
            Source::Language(scenario, _) => Ok((**scenario).clone()),
            Source::Libero { task, sentence } => {
                let parse = |text: &str| -> Result<(), String> {
                    let scene = Scene::parse(task.name(), text).map_err(|findings| findings.to_string())?;
                    scene.instantiate(seed).map(drop).map_err(|error| error.to_string())
                };
                task.scenario(sentence, seed, &parse).map_err(|error| error.to_string())
            }
        }
    }

    /// The goal as far as it is known without a scene, and what it is counted under.
    pub(super) fn goal(&self) -> (&str, &str) {
        match &self.source {
            Source::Tabletop(_) | Source::Crowded(_) => ("", "no_scenario"),
            Source::AspTabletop(task, _) => ("", task.code()),
            Source::AspMobile(task, _) => ("", task.code()),
            Source::Libero { task, sentence } => (sentence, &task.suite),
            Source::Language(scenario, _) => (&scenario.sentence, &scenario.group),
        }
    }

    /// What tells this job from others of the same name in another evaluation.
    pub(super) fn conditions(&self) -> String {
        match &self.source {
            Source::Tabletop(conditions) => format!("tabletop {conditions:?}"),
            Source::Crowded(conditions) => format!("crowded {conditions:?}"),
            Source::AspTabletop(task, conditions) => format!("asp-tabletop {task} {conditions:?}"),
            Source::AspMobile(task, conditions) => {
                let robot = self.robot.as_deref().unwrap_or(std::path::Path::new("")).display();
                format!(
                    "asp-mobile {task} {conditions:?} {robot} any_side={} remembered={:?}",
                    self.any_side, self.remembered
                )
            }
            Source::Libero { task, sentence } => format!("libero {} {sentence}", task.file),
            Source::Language(_, line) => format!("language {line}"),
        }
    }
}

/// The runs of `eval asp-tabletop`, task after task. Errors: no task has such a name, for a person.
pub(super) fn asp_tabletop(args: &AspTabletopArgs) -> Result<Vec<Job>, String> {
    let first = args.runs_made.seed;
    let conditions = if args.perfect_detector { Conditions::Perfect } else { Conditions::Imperfect };
    let wanted =
        |code: &str| args.task.is_empty() || args.task.iter().any(|task| code.contains(task.as_str()));
    let mut jobs = Vec::new();
    // Those are run only when they are named.
    let further = TabletopTask::FURTHER.into_iter().filter(|_| !args.task.is_empty());
    for (task, code) in TabletopTask::ALL.into_iter().chain(further).filter(|(_, code)| wanted(code)) {
        for seed in first..first.saturating_add(args.seeds) {
            let source = Source::AspTabletop(task, conditions);
            jobs.push(Job {
                name: format!("{code}-{seed:06}"),
                seed,
                whole_object: args.no_aff,
                robot: None,
                any_side: false,
                remembered: None,
                describer: None,
                source,
            });
        }
    }
    if jobs.is_empty() {
        let codes: Vec<&str> =
            TabletopTask::ALL.iter().chain(&TabletopTask::FURTHER).map(|(_, code)| *code).collect();
        return Err(format!("no task has such a name; the tasks are {}", codes.join(", ")));
    }
    Ok(jobs)
}

/// The runs of `eval asp-mobile`, task after task. Errors: no task has such a name, for a person.
pub(super) fn asp_mobile(args: &AspMobileArgs) -> Result<Vec<Job>, String> {
    let first = args.runs_made.seed;
    let conditions = if args.perfect_detector { Conditions::Perfect } else { Conditions::Imperfect };
    let wanted =
        |code: &str| args.task.is_empty() || args.task.iter().any(|task| code.contains(task.as_str()));
    let mut jobs = Vec::new();
    for (task, code) in MobileTask::ALL.into_iter().filter(|(_, code)| wanted(code)) {
        for seed in first..first.saturating_add(args.seeds) {
            jobs.push(Job {
                name: format!("{code}-{seed:06}"),
                seed,
                whole_object: false,
                robot: Some(args.robot.clone()),
                any_side: args.no_aff,
                remembered: args.memory.map(|room| match room {
                    EarlierRoom::Same => seed,
                    EarlierRoom::Changed => seed.wrapping_add(OTHER_ROOM),
                }),
                describer: None,
                source: Source::AspMobile(task, conditions),
            });
        }
    }
    if jobs.is_empty() {
        let codes: Vec<&str> = MobileTask::ALL.iter().map(|(_, code)| *code).collect();
        return Err(format!("no task has such a name; the tasks are {}", codes.join(", ")));
    }
    Ok(jobs)
}

/// The runs of `eval language`, line after line. Errors: a file that cannot be read, a line that is wrong, or a fact that names
/// nothing of its scene, for a person.
pub(super) fn language(args: &LanguageArgs) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for file in &args.files {
        let path = share::resolve(file);
        let of_file = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| of_file(&error))?;
        let set = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        for line in prehend_eval::language::lines(&text).map_err(|error| of_file(&error))? {
            if args.only.as_ref().is_some_and(|only| !line.construction.contains(only.as_str())) {
                continue;
            }
            let scene_file = share::resolve(std::path::Path::new(&line.scene));
            let wrong = |what: String| of_file(&format!("line {}: {}: {what}", line.number, line.scene));
            let scene = Scene::load(&scene_file).map_err(|findings| wrong(findings.to_string()))?;
            let scene_yaml =
                std::fs::read_to_string(&scene_file).map_err(|error| wrong(error.to_string()))?;
            let names: Vec<String> = scene.objects.iter().map(|object| object.name.clone()).collect();
            let scenario =
                line.scenario(scene_yaml, &names, args.runs_made.seed).map_err(|error| of_file(&error))?;
            jobs.push(Job {
                name: plain(&format!("{set}-{:04}", line.number)),
                seed: scenario.seed,
                whole_object: false,
                robot: None,
                any_side: false,
                remembered: None,
                describer: None,
                source: Source::Language(Box::new(scenario), format!("{} {}", line.scene, line.goal)),
            });
        }
    }
    if jobs.is_empty() { Err("no line is left to run".to_owned()) } else { Ok(jobs) }
}

/// The runs of `eval libero`. Errors: a file that cannot be read or has no task, for a person.
pub(super) fn libero(args: &LiberoArgs) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for file in &args.files {
        let path = share::resolve(file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let tasks = tasks(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        for task in tasks.into_iter().map(Arc::new) {
            if args.only.as_ref().is_some_and(|only| !task.file.contains(only.as_str())) {
                continue;
            }
            for (language, letter) in [(Language::File, 'f'), (Language::Benchmark, 'b')] {
                let wanted = match args.language {
                    Sentences::Both => true,
                    Sentences::File => language == Language::File,
                    Sentences::Benchmark => language == Language::Benchmark,
                };
                // The benchmark's sentence alone is also given where it is the file's.
                let sentence = match (task.sentence(language), args.language) {
                    (None, Sentences::Benchmark) => Some(task.language.as_str()),
                    (sentence, _) => sentence,
                };
                let Some(sentence) = sentence.filter(|_| wanted) else { continue };
                for layout in 0..args.layouts {
                    let seed = args.runs_made.seed.saturating_add(layout);
                    let name = format!("{}-{}-{letter}-{seed}", task.suite, task.name());
                    let source = Source::Libero { task: Arc::clone(&task), sentence: sentence.to_owned() };
                    jobs.push(Job {
                        name: plain(&name),
                        seed,
                        whole_object: false,
                        robot: None,
                        any_side: false,
                        remembered: None,
                        describer: None,
                        source,
                    });
                }
            }
        }
    }
    if jobs.is_empty() { Err("no task has such a name".to_owned()) } else { Ok(jobs) }
}

/// A name that is one folder, whatever a file says.
fn plain(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .take(120)
        .collect()
}
