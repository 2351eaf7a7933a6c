//! The files of a model, and whether they are what they must be.

use super::{DetectorFiles, Entry, Files};
use crate::detector::{fastestdet, grounding_dino, read_classes, yolo, yolo_world};
use crate::embedder::{Family, Tokens, WordPieces, sentence};
use crate::signature::Signature;
use crate::{ModelError, Runtime, Session};
use std::path::PathBuf;

/// What a file must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Must {
    /// A network with these inputs and outputs.
    Network {
        /// What errors call it.
        kind: &'static str,
        /// Its inputs and outputs.
        signature: Signature,
    },
    /// Class names, one in each line.
    Classes,
    /// A `tokenizer.json` that has the token texts are filled up with.
    Tokenizer {
        /// Tokens of a text.
        length: usize,
        /// The token.
        pad_token: String,
    },
    /// A `tokenizer.json` with BERT's tokens.
    WordPieces,
}

/// One file of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFile {
    /// Where it is expected.
    pub path: PathBuf,
    /// What it must be.
    pub must: Must,
}

/// How it is about a file.
#[derive(Debug)]
pub enum FileState {
    /// It is what it must be; what it holds, in words.
    Fits(String),
    /// It is not there.
    Missing,
    /// It is there, but without the runtime nobody knows what it is.
    Unchecked,
    /// It is there, but is not what it must be.
    Wrong(ModelError),
}

impl Entry {
    /// The files of the model.
    pub fn model_files(&self) -> Vec<ModelFile> {
        let detector = |files: &DetectorFiles, kind, signature: fn(Option<usize>) -> Signature| {
            let classes = read_classes(&files.classes).ok().map(|names| names.len());
            let network = Must::Network { kind, signature: signature(classes) };
            vec![
                ModelFile { path: files.path.clone(), must: network },
                ModelFile { path: files.classes.clone(), must: Must::Classes },
            ]
        };
        let network = |path: &PathBuf, kind, signature| ModelFile {
            path: path.clone(),
            must: Must::Network { kind, signature },
        };
        match &self.files {
            Files::FastestDet(files) => detector(files, fastestdet::KIND, fastestdet::signature),
            Files::Yolo(files) => detector(files, yolo::KIND, yolo::signature),
            Files::YoloWorld(files) => {
                let [_, text] = Family::Clip.kinds();
                let (length, pad_token) = (Family::Clip.length(), files.pad_token.clone());
                vec![
                    network(&files.path, yolo_world::KIND, yolo_world::signature()),
                    network(&files.text, text, Family::Clip.text_signature()),
                    ModelFile { path: files.tokenizer.clone(), must: Must::Tokenizer { length, pad_token } },
                ]
            }
            Files::GroundingDino(files) => vec![
                network(&files.path, grounding_dino::KIND, grounding_dino::signature()),
                ModelFile { path: files.tokenizer.clone(), must: Must::WordPieces },
            ],
            Files::Sentence(files) => vec![
                network(&files.path, sentence::KIND, sentence::signature()),
                ModelFile { path: files.tokenizer.clone(), must: Must::WordPieces },
            ],
            Files::Towers(files) => {
                let [image, text] = files.family.kinds();
                let (length, pad_token) = (files.family.length(), files.pad_token.clone());
                vec![
                    network(&files.image, image, files.family.image_signature()),
                    network(&files.text, text, files.family.text_signature()),
                    ModelFile { path: files.tokenizer.clone(), must: Must::Tokenizer { length, pad_token } },
                ]
            }
            Files::Sam(files) => {
                let [encoder, decoder] = files.family.kinds();
                vec![
                    network(&files.encoder, encoder, files.family.encoder_signature()),
                    network(&files.decoder, decoder, files.family.decoder_signature()),
                ]
            }
        }
    }
}

impl Must {
    /// What the file must be, for people, a line for each thing.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Classes => {
                vec!["class names, one in each line, in the order of the network's channels".to_owned()]
            }
            Self::Tokenizer { pad_token, .. } => {
                vec![format!("the tokenizer.json of the text tower, with the token `{pad_token}`")]
            }
            Self::WordPieces => vec!["the tokenizer.json of the network, with BERT's tokens".to_owned()],
            Self::Network { kind, signature } => {
                let mut lines = vec![format!("{kind}, as ONNX")];
                for (side, all) in [("input", &signature.inputs), ("output", &signature.outputs)] {
                    lines.extend(all.iter().map(|expected| format!("{side}: {expected}")));
                }
                lines
            }
        }
    }
}

impl ModelFile {
    /// Looks at the file.
    pub fn state(&self, runtime: Option<&Runtime>) -> FileState {
        if !self.path.is_file() {
            return FileState::Missing;
        }
        let holds = match (&self.must, runtime) {
            (Must::Classes, _) => read_classes(&self.path).map(|names| format!("{} classes", names.len())),
            (Must::Tokenizer { length, pad_token }, _) => Tokens::read(&self.path, *length, pad_token)
                .map(|_| format!("a tokenizer; texts have {length} tokens")),
            (Must::WordPieces, _) => {
                WordPieces::read(&self.path, None).map(|_| "a tokenizer with BERT's tokens".to_owned())
            }
            (Must::Network { .. }, None) => return FileState::Unchecked,
            (Must::Network { kind, signature }, Some(runtime)) => Session::load(runtime, kind, &self.path)
                .and_then(|session| {
                    session.check(kind, signature)?;
                    let names = |outlets: &[crate::signature::Outlet]| {
                        outlets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    };
                    Ok(format!("{} -> {}", names(session.inputs()), names(session.outputs())))
                }),
        };
        holds.map_or_else(FileState::Wrong, FileState::Fits)
    }
}
