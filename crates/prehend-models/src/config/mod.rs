//! The file that says which models there are: `config/models.yaml`.

mod files;
mod read;

pub use files::{FileState, ModelFile, Must};

use crate::detector::grounding_dino::GroundingSettings;
use crate::detector::{DetectorSettings, FastestDet, GroundingDino, InputSize, Yolo, YoloWorld};
use crate::embedder::{Family, Likeness, SentenceEmbedder, TextReader, TextTower, Towers};
use crate::segmenter::{Sam, SamFamily};
use crate::{ModelError, Runtime, Session};
use prehend_config::Findings;
use prehend_perception::{Detector, Embedder, Segmenter};
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

/// Files of a detector that is told what to look for in CLIP's words.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldFiles {
    /// The network.
    pub path: PathBuf,
    /// The text tower of CLIP ViT-B/32.
    pub text: PathBuf,
    /// Its `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// What texts are filled up with.
    pub pad_token: String,
    /// What it looks for, when nobody says otherwise.
    pub prompts: Vec<String>,
    /// Size of its pictures, when the network leaves it open.
    pub input_size: Option<InputSize>,
    /// Thresholds.
    pub settings: DetectorSettings,
}

/// Files of a detector that grounds the phrases of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct GroundingFiles {
    /// The network.
    pub path: PathBuf,
    /// Its `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// What it looks for, when nobody says otherwise.
    pub prompts: Vec<String>,
    /// Thresholds.
    pub settings: GroundingSettings,
}

/// Files of a sentence embedder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceFiles {
    /// The network.
    pub path: PathBuf,
    /// Its `tokenizer.json`.
    pub tokenizer: PathBuf,
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
    /// [`YoloWorld`].
    YoloWorld(WorldFiles),
    /// [`GroundingDino`].
    GroundingDino(GroundingFiles),
    /// [`SentenceEmbedder`].
    Sentence(SentenceFiles),
    /// [`Towers`].
    Towers(TowerFiles),
    /// [`Sam`].
    Sam(SamFiles),
}

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Boxes with names.
    Detector,
    /// Masks.
    Segmenter,
    /// Features.
    Embedder,
}

impl Role {
    /// What models of the role are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Detector => "detectors",
            Self::Segmenter => "segmenters",
            Self::Embedder => "embedders",
        }
    }
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

/// Environment variable that names the folder of the models.
pub const FOLDER_VARIABLE: &str = "PREHEND_MODELS";

/// The folder of the models: what [`FOLDER_VARIABLE`] names, else `models` in the folder `share`.
pub fn folder(share: &Path) -> PathBuf {
    let named = std::env::var_os(FOLDER_VARIABLE).filter(|value| !value.is_empty());
    named.map_or_else(|| share.join("models"), PathBuf::from)
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
    /// What the model is for.
    pub fn role(&self) -> Role {
        match &self.files {
            Files::FastestDet(_) | Files::Yolo(_) | Files::YoloWorld(_) | Files::GroundingDino(_) => {
                Role::Detector
            }
            Files::Towers(_) | Files::Sentence(_) => Role::Embedder,
            Files::Sam(_) => Role::Segmenter,
        }
    }

    /// The same model with another least score of a box; a model that gives no boxes stays as it is.
    pub fn with_score(&self, score: f64) -> Self {
        let mut entry = self.clone();
        match &mut entry.files {
            Files::FastestDet(files) | Files::Yolo(files) => files.settings.score = score,
            Files::YoloWorld(files) => files.settings.score = score,
            Files::GroundingDino(files) => files.settings.score = score,
            Files::Towers(_) | Files::Sam(_) | Files::Sentence(_) => {}
        }
        entry
    }

    /// Whether the model is told what to look for.
    pub fn takes_prompts(&self) -> bool {
        matches!(self.files, Files::YoloWorld(_) | Files::GroundingDino(_))
    }

    /// The same model looking for something else; without prompts, and where it takes none, it stays as it is.
    pub fn with_prompts(&self, prompts: &[String]) -> Self {
        let mut entry = self.clone();
        if let Files::YoloWorld(WorldFiles { prompts: own, .. })
        | Files::GroundingDino(GroundingFiles { prompts: own, .. }) = &mut entry.files
            && !prompts.is_empty()
        {
            own.clear();
            own.extend_from_slice(prompts);
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
        let opened: Result<Box<dyn Detector + Send + Sync>, ModelError> = match &self.files {
            Files::FastestDet(files) => self
                .session(runtime, &files.path)
                .and_then(|session| {
                    FastestDet::new(session, &files.classes, files.input_size, files.settings)
                })
                .map(|detector| Box::new(detector) as Box<_>),
            Files::Yolo(files) => self
                .session(runtime, &files.path)
                .and_then(|session| Yolo::new(session, &files.classes, files.input_size, files.settings))
                .map(|detector| Box::new(detector) as Box<_>),
            Files::YoloWorld(files) => {
                self.world(runtime, files).map(|detector| Box::new(detector) as Box<_>)
            }
            Files::GroundingDino(files) => self
                .session(runtime, &files.path)
                .and_then(|session| {
                    GroundingDino::new(session, &files.tokenizer, &files.prompts, files.settings)
                })
                .map(|detector| Box::new(detector) as Box<_>),
            Files::Towers(_) | Files::Sam(_) | Files::Sentence(_) => return None,
        };
        Some(opened)
    }

    /// The text tower is only needed until it has read the prompts.
    fn world(&self, runtime: &Runtime, files: &WorldFiles) -> Result<YoloWorld, ModelError> {
        let text = self.session(runtime, &files.text)?;
        let text = TextTower::new(Family::Clip, text, &files.tokenizer, &files.pad_token)?;
        let session = self.session(runtime, &files.path)?;
        YoloWorld::new(session, &text, files.prompts.clone(), files.input_size, files.settings)
    }

    /// Opens the model as an embedder of sentences; `None` when it is none.
    ///
    /// Errors: [`ModelError`].
    pub fn sentences(&self, runtime: &Runtime) -> Option<Result<SentenceEmbedder, ModelError>> {
        let Files::Sentence(files) = &self.files else { return None };
        let session = self.session(runtime, &files.path);
        Some(session.and_then(|session| SentenceEmbedder::new(session, &files.tokenizer)))
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

    /// Opens the model as what makes features of objects; `None` when it is no such model.
    ///
    /// Errors: [`ModelError`].
    pub fn embedder(&self, runtime: &Runtime) -> Option<Result<Box<dyn Embedder + Send + Sync>, ModelError>> {
        if let Some(sentences) = self.sentences(runtime) {
            return Some(sentences.map(|sentences| Box::new(sentences) as Box<_>));
        }
        Some(self.towers(runtime)?.map(|towers| Box::new(towers) as Box<_>))
    }

    /// Opens the model as what turns texts into vectors of the space of its features; `None` when it is no such model.
    ///
    /// Errors: [`ModelError`].
    pub fn reader(&self, runtime: &Runtime) -> Option<Result<Box<dyn TextReader>, ModelError>> {
        if let Some(sentences) = self.sentences(runtime) {
            return Some(sentences.map(|sentences| Box::new(sentences) as Box<_>));
        }
        Some(self.towers(runtime)?.map(|towers| Box::new(towers) as Box<_>))
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
        match self.role() {
            Role::Detector => self.detector(runtime).map_or(Ok(()), |opened| opened.map(drop)),
            Role::Segmenter => self.sam(runtime).map_or(Ok(()), |opened| opened.map(drop)),
            Role::Embedder => self.embedder(runtime).map_or(Ok(()), |opened| opened.map(drop)),
        }
    }
}

#[cfg(test)]
mod tests;
