//! The file that says which models there are: `config/models.yaml`.

mod part;
mod read;

pub use part::{Must, Part, PartState};

use crate::detector::{DetectorSettings, FastestDet, InputSize, Yolo};
use crate::embedder::{Family, Likeness, Towers};
use crate::segmenter::{Sam, SamFamily};
use crate::{ModelError, Runtime, Session};
use prehend_config::Findings;
use prehend_perception::{Detector, Segmenter};
use std::path::{Path, PathBuf};

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

/// Files of two towers.
#[derive(Clone, Debug, PartialEq)]
pub struct TowerFiles {
    /// Whose towers they are.
    pub family: Family,
    /// The image tower.
    pub image: PathBuf,
    /// The text tower.
    pub text: PathBuf,
    /// Its `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// What texts are filled up with.
    pub pad_token: String,
    /// Size of its pictures; needed when the network leaves it open and it is not 224 x 224.
    pub input_size: Option<InputSize>,
    /// How a cosine becomes a probability.
    pub likeness: Likeness,
}

/// Files of a Segment Anything model.
#[derive(Clone, Debug, PartialEq)]
pub struct SamFiles {
    /// Which kind of export.
    pub family: SamFamily,
    /// The encoder.
    pub encoder: PathBuf,
    /// The decoder.
    pub decoder: PathBuf,
}

/// What a model is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Files {
    /// [`FastestDet`].
    FastestDet(DetectorFiles),
    /// [`Yolo`].
    Yolo(DetectorFiles),
    /// [`Towers`].
    Towers(TowerFiles),
    /// [`Sam`].
    Sam(SamFiles),
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
        prehend_config::read_file(file, |root| read::models(&root, folder))
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

impl Entry {
    /// The same model with another least score of a box; a model that gives no boxes stays as it is.
    pub fn with_score(&self, score: f64) -> Self {
        let mut entry = self.clone();
        if let Files::FastestDet(files) | Files::Yolo(files) = &mut entry.files {
            files.settings.score = score;
        }
        entry
    }

    fn session(&self, runtime: &Runtime, path: &Path) -> Result<Session, ModelError> {
        Session::load(runtime, &self.name, path)
    }

    /// Opens the model as a detector; `None` when it is none.
    ///
    /// Errors: [`ModelError`].
    pub fn detector(&self, runtime: &Runtime) -> Option<Result<Box<dyn Detector + Send + Sync>, ModelError>> {
        match &self.files {
            Files::FastestDet(files) => Some(
                self.session(runtime, &files.path)
                    .and_then(|session| {
                        FastestDet::new(session, &files.classes, files.input_size, files.settings)
                    })
                    .map(|detector| Box::new(detector) as Box<_>),
            ),
            Files::Yolo(files) => Some(
                self.session(runtime, &files.path)
                    .and_then(|session| Yolo::new(session, &files.classes, files.input_size, files.settings))
                    .map(|detector| Box::new(detector) as Box<_>),
            ),
            Files::Towers(_) | Files::Sam(_) => None,
        }
    }

    /// Opens the model as an embedder of pictures and words; `None` when it is none.
    ///
    /// Errors: [`ModelError`].
    pub fn towers(&self, runtime: &Runtime) -> Option<Result<Towers, ModelError>> {
        let Files::Towers(files) = &self.files else { return None };
        let sessions = || Ok([self.session(runtime, &files.image)?, self.session(runtime, &files.text)?]);
        Some(sessions().and_then(|sessions| {
            Towers::new(
                files.family,
                sessions,
                &files.tokenizer,
                &files.pad_token,
                files.input_size,
                files.likeness,
            )
        }))
    }

    /// Opens the model as a Segment Anything model; `None` when it is none.
    ///
    /// Errors: [`ModelError`].
    pub fn sam(&self, runtime: &Runtime) -> Option<Result<Sam, ModelError>> {
        let Files::Sam(files) = &self.files else { return None };
        let sessions =
            || Ok((self.session(runtime, &files.encoder)?, self.session(runtime, &files.decoder)?));
        Some(sessions().and_then(|(encoder, decoder)| Sam::new(files.family, encoder, decoder)))
    }

    /// Opens the model as a segmenter; `None` when it is none.
    ///
    /// Errors: [`ModelError`].
    pub fn segmenter(
        &self,
        runtime: &Runtime,
    ) -> Option<Result<Box<dyn Segmenter + Send + Sync>, ModelError>> {
        Some(self.sam(runtime)?.map(|sam| Box::new(sam) as Box<_>))
    }

    /// Opens the model, whatever it is for, and closes it again: whether all its parts fit together.
    ///
    /// Errors: [`ModelError`].
    pub fn check(&self, runtime: &Runtime) -> Result<(), ModelError> {
        match &self.files {
            Files::FastestDet(_) | Files::Yolo(_) => {
                self.detector(runtime).map_or(Ok(()), |opened| opened.map(drop))
            }
            Files::Towers(_) => self.towers(runtime).map_or(Ok(()), |opened| opened.map(drop)),
            Files::Sam(_) => self.sam(runtime).map_or(Ok(()), |opened| opened.map(drop)),
        }
    }
}

#[cfg(test)]
mod tests;
