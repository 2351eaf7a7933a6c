//! `prehend explain`: why a run went as it did, from what it left behind.

pub(crate) mod drawn;
mod frames;

use crate::args::ExplainArgs;
use crate::outcome::exit;
use crate::run_folder::{REPORT, RESULT, TRACE, recording_in};
use crate::screen::{Screen, print_json};
use prehend_agent::language::Lexicon;
use prehend_config::Findings;
use prehend_explain::{Picture, Questions, Words, ask, explain, page, text};
use prehend_perception::lexicon::Lexicon as Names;
use prehend_scene::ActionTable;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Pictures of the scene that a run may have left, each with what it shows.
const SCENES: [(&str, &str); 7] = [
    ("plan.png", "the plan: the chosen hand in magenta, others that were found in grey"),
    ("camera_before.png", "the wrist camera before the goal"),
    ("map_before.png", "the map of the first look, over that picture: what could be chosen from"),
    ("map_over_camera.png", "the map at the end, over the camera's picture"),
    ("camera_after.png", "the wrist camera at the end"),
    ("scene_before.png", "the scene from outside, before (the robot does not see this)"),
    ("scene_after.png", "the scene from outside, at the end (the robot does not see this)"),
];
/// Folder of the pictures of single things, below that of a run.
pub(crate) const THINGS: &str = "things";

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExplainError {
    /// No such run.
    #[error("{} is no run: it has no trace.jsonl{}", path.display(), hint(path))]
    NoRun { path: PathBuf },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
    /// The page cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: std::io::Error },
    /// A file of words is broken.
    #[error("the words of questions cannot be read: {0}")]
    Words(#[from] Findings),
}

/// The runs below a folder that is none itself.
fn hint(path: &Path) -> String {
    const MOST: usize = 5;
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut runs: Vec<String> = entries
        .filter(|entry| entry.path().join(TRACE).is_file())
        .map(|entry| entry.path().display().to_string())
        .collect();
    runs.sort();
    match runs.len() {
        0 => "; give the folder that `prehend demo` or a run of `prehend eval` has left".to_owned(),
        count => {
            runs.truncate(MOST);
            format!("; give one of its {count} runs, such as {}", runs.join(", "))
        }
    }
}

/// Runs `explain`; gives the exit code.
pub(super) fn run(args: &ExplainArgs) -> u8 {
    match tell(args) {
        Ok(is_answered) => {
            if is_answered {
                exit::DONE
            } else {
                exit::FAILED
            }
        }
        Err(error) => {
            eprintln!("{error}");
            exit::BAD_INPUT
        }
    }
}

/// Whether the question, if there was one, could be answered.
fn tell(args: &ExplainArgs) -> Result<bool, ExplainError> {
    let screen = Screen::new(args.json);
    let words = words()?;
    let Run { trace, result, folder } = read(&args.run)?;
    let (explained, answered) = match &args.question {
        Some(question) => {
            let (explained, answered) = ask(&trace, &result, question, &words);
            (explained, Some(answered))
        }
        None => (explain(&trace, &result, &words), None),
    };
    match &answered {
        Some(answered) => answered.said.iter().for_each(|sentence| screen.line(sentence)),
        None => screen.line(text(&explained).trim_end()),
    }
    if let Some(out) = &args.out {
        let mut shown = pictures(&folder);
        shown.extend(drawn::drawn(&folder, &explained));
        if let Some(recording) = recording_in(&folder) {
            match frames::frames(&recording, &explained) {
                Ok(frames) => shown.extend(frames),
                Err(error) => screen.line(format!("no pictures from the recording: {error}")),
            }
        }
        let html = page(&explained, answered.as_ref(), &shown);
        std::fs::write(out, html).map_err(|error| ExplainError::Write { path: out.clone(), error })?;
        screen.line(format!("the page is {}", out.display()));
    }
    if args.json {
        let mut told = json!(explained);
        if let Some(answered) = &answered {
            told["answer"] = json!(answered);
        }
        print_json(&told);
    }
    Ok(answered.is_none_or(|answered| answered.asked.is_some()))
}

/// The words of questions: those of the files where they are, else those that are built in.
fn words() -> Result<Words, ExplainError> {
    let mut words = Words::built_in()?;
    let text = |name: &str| {
        let path = prehend_config::share::resolve(&Path::new("config/language").join(name));
        Some((path.display().to_string(), std::fs::read_to_string(path).ok()?))
    };
    if let Some((file, text)) = text("questions.yaml") {
        words.questions = Questions::from_yaml(&file, &text)?;
    }
    if let Some((file, text)) = text("synonyms.yaml") {
        words.names = Names::parse(&file, &text)?;
    }
    if let Some((file, text)) = text("lexicon.yaml") {
        words.lexicon = Lexicon::from_yaml(&file, &text)?.with_actions(ActionTable::built_in());
    }
    Ok(words)
}

/// What a run has left.
struct Run {
    trace: String,
    /// Null when there is none.
    result: Value,
    folder: PathBuf,
}

/// Reads a run's folder, or its trace alone.
fn read(run: &Path) -> Result<Run, ExplainError> {
    let is_file = run.is_file();
    let folder = if is_file { run.parent().unwrap_or(Path::new("")).to_owned() } else { run.to_owned() };
    let file = if is_file { run.to_owned() } else { folder.join(TRACE) };
    if !file.is_file() {
        return Err(ExplainError::NoRun { path: run.to_owned() });
    }
    let trace = std::fs::read(&file).map_err(|error| ExplainError::Read { path: file, error })?;
    // A run that was killed may have written neither whole lines nor a result.
    let result = std::fs::read(folder.join(RESULT)).ok();
    let result = result.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null);
    Ok(Run { trace: String::from_utf8_lossy(&trace).into_owned(), result, folder })
}

/// The pictures that a run has left: of the scene, and of single things.
fn pictures(folder: &Path) -> Vec<Picture> {
    let scenes = SCENES.iter().filter_map(|(file, caption)| {
        let png = std::fs::read(folder.join(file)).ok()?;
        Some(Picture { caption: (*caption).to_owned(), of: None, decision: None, png })
    });
    let mut things: Vec<Picture> = std::fs::read_dir(folder.join(THINGS))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let key = path.file_stem()?.to_str()?.to_owned();
            let png =
                std::fs::read(&path).ok().filter(|_| path.extension().is_some_and(|end| end == "png"))?;
            Some(Picture {
                caption: format!("{key} with its mask, in the best view that was kept when the run ended"),
                of: Some(key),
                decision: None,
                png,
            })
        })
        .collect();
    things.sort_by(|a, b| a.of.cmp(&b.of));
    scenes.chain(things).collect()
}

/// Writes the page of a run into its folder.
///
/// Errors: [`ExplainError::NoRun`], [`ExplainError::Read`], [`ExplainError::Write`], [`ExplainError::Words`].
pub(super) fn write_report(folder: &Path) -> Result<(), ExplainError> {
    let Run { trace, result, folder } = read(folder)?;
    let explained = explain(&trace, &result, &words()?);
    let path = folder.join(REPORT);
    let mut shown = pictures(&folder);
    shown.extend(drawn::drawn(&folder, &explained));
    std::fs::write(&path, page(&explained, None, &shown)).map_err(|error| ExplainError::Write { path, error })
}
