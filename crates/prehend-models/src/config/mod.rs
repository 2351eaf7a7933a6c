//! The file that says which models there are: `config/models.yaml`.

mod part;

pub use part::{Must, Part, PartState};

use crate::detector::{DetectorSettings, FastestDet, InputSize, Yolo, fastestdet, yolo};
use crate::{ModelError, Runtime, Session};
use prehend_config::{Findings, Map, Value};
use prehend_perception::Detector;
use std::path::{Path, PathBuf};

/// Networks that are known, by what goes in and comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    FastestDet,
    Yolo,
}

/// Kinds by the names of the file.
const KINDS: [(&str, Kind); 2] = [("fastestdet", Kind::FastestDet), ("yolo", Kind::Yolo)];

/// Files and thresholds of a detector.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectorFiles {
    /// The network.
    pub path: PathBuf,
    /// Class names, one in each line.
    pub classes: PathBuf,
    /// Size of its pictures; needed when the network leaves it open and was not trained on the usual one.
    pub input_size: Option<InputSize>,
    /// Thresholds.
    pub settings: DetectorSettings,
}

/// What a model is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Files {
    /// [`FastestDet`].
    FastestDet(DetectorFiles),
    /// [`Yolo`].
    Yolo(DetectorFiles),
}

/// One model of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name, by which commands and evidence call it.
    pub name: String,
    /// Where it can be had; may be empty.
    pub source: String,
    /// Its files.
    pub files: Files,
}

/// All models of the file, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelsConfig {
    /// The models.
    pub models: Vec<Entry>,
}

impl ModelsConfig {
    /// Reads the file; paths in it that are not absolute are looked for in `folder`.
    ///
    /// Errors: every finding, in the order of the file.
    pub fn load(file: &Path, folder: &Path) -> Result<Self, Findings> {
        prehend_config::read_file(file, |root| read(&root, folder))
    }

    /// The model of this name.
    pub fn model(&self, name: &str) -> Option<&Entry> {
        self.models.iter().find(|entry| entry.name == name)
    }

    /// Names of all models.
    pub fn names(&self) -> Vec<&str> {
        self.models.iter().map(|entry| entry.name.as_str()).collect()
    }
}

fn read(root: &Value<'_>, folder: &Path) -> Option<ModelsConfig> {
    root.map(|map| {
        let models = map.req("models")?.map(|models| {
            let entries = models.entries();
            let read: Vec<Option<Entry>> =
                entries.iter().map(|(name, value)| value.map(|map| entry(name, map, folder))).collect();
            read.into_iter().collect::<Option<Vec<Entry>>>()
        })?;
        Some(ModelsConfig { models })
    })
}

fn entry(name: &str, map: &mut Map<'_>, folder: &Path) -> Option<Entry> {
    let Some(kind) = map.req("kind").and_then(|value| value.choice(&KINDS)) else {
        // Which keys belong to an unknown kind is unknown too.
        map.entries();
        return None;
    };
    let source = map.or("source", String::new(), |value| value.text());
    let files = match kind {
        Kind::FastestDet => detector(map, folder, fastestdet::SETTINGS).map(Files::FastestDet),
        Kind::Yolo => detector(map, folder, yolo::SETTINGS).map(Files::Yolo),
    };
    Some(Entry { name: name.to_owned(), source: source?, files: files? })
}

fn detector(map: &mut Map<'_>, folder: &Path, usual: DetectorSettings) -> Option<DetectorFiles> {
    let path = map.req("path").and_then(|value| file(&value, folder));
    let classes = map.req("classes").and_then(|value| file(&value, folder));
    let input_size = map.or("input_size", None, |value| size(&value).map(Some));
    let score = map.or("score", usual.score, |value| value.f64_in(0.0, 1.0));
    let iou = map.or("iou", usual.iou, |value| value.f64_in(0.0, 1.0));
    let settings = DetectorSettings { score: score?, iou: iou? };
    Some(DetectorFiles { path: path?, classes: classes?, input_size: input_size?, settings })
}

fn file(value: &Value<'_>, folder: &Path) -> Option<PathBuf> {
    let text = value.text()?;
    if text.is_empty() {
        value.report("expected the path of a file");
        return None;
    }
    Some(folder.join(text))
}

/// Sides that a network can have: far above what any of these kinds is trained on.
const SIDES: std::ops::RangeInclusive<f64> = 16.0..=4096.0;

/// `[width, height]`, whole pixels.
fn size(value: &Value<'_>) -> Option<InputSize> {
    let [width, height] = value.numbers()?;
    if [width, height].iter().any(|side| !SIDES.contains(side) || side.fract() != 0.0) {
        value.report("expected width and height in whole pixels, 16 to 4096");
        return None;
    }
    Some(InputSize { width: width as usize, height: height as usize })
}

impl Entry {
    /// The same model with another least score of a box; a model that gives no boxes stays as it is.
    pub fn with_score(&self, score: f64) -> Self {
        let mut entry = self.clone();
        match &mut entry.files {
            Files::FastestDet(files) | Files::Yolo(files) => files.settings.score = score,
        }
        entry
    }

    /// Opens the model as a detector; `None` when it is none.
    ///
    /// Errors: [`ModelError`].
    pub fn detector(&self, runtime: &Runtime) -> Option<Result<Box<dyn Detector + Send + Sync>, ModelError>> {
        let session = |files: &DetectorFiles| Session::load(runtime, &self.name, &files.path);
        Some(match &self.files {
            Files::FastestDet(files) => session(files)
                .and_then(|session| {
                    FastestDet::new(session, &files.classes, files.input_size, files.settings)
                })
                .map(|detector| Box::new(detector) as Box<_>),
            Files::Yolo(files) => session(files)
                .and_then(|session| Yolo::new(session, &files.classes, files.input_size, files.settings))
                .map(|detector| Box::new(detector) as Box<_>),
        })
    }

    /// Opens the model, whatever it is for, and closes it again: whether all its parts fit together.
    ///
    /// Errors: [`ModelError`].
    pub fn check(&self, runtime: &Runtime) -> Result<(), ModelError> {
        match &self.files {
            Files::FastestDet(_) | Files::Yolo(_) => {
                self.detector(runtime).map_or(Ok(()), |opened| opened.map(drop))
            }
        }
    }
}

#[cfg(test)]
mod tests;
