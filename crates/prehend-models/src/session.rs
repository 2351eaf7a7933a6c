//! One model file that is ready to run.

use crate::runtime::Runtime;
use crate::signature::{Axis, Element, Misfit, Outlet, Signature};
use ort::session::SessionInputValue;
use ort::value::{TensorElementType, TensorRef, ValueType};
use prehend_perception::InferenceError;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is no such file.
    #[error("{} is not there", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The runtime cannot read it.
    #[error("{} is no model that ONNX Runtime can load: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the runtime said.
        message: String,
    },
    /// It is a model, but of another kind.
    #[error("{} is not {kind}:\n  {}", path.display(), lines(misfits))]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// What it should be.
        kind: String,
        /// What does not fit; not empty.
        misfits: Vec<Misfit>,
    },
    /// A file that belongs to the model cannot be used.
    #[error("{}: {message}", path.display())]
    Companion {
        /// The file, such as a list of classes or a tokenizer.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// What it is told to look for.
    #[error("{}: {message}", path.display())]
    Prompts {
        /// The model.
        path: PathBuf,
        /// What is wrong with the prompts.
        message: String,
    },
    /// A setting that the model does not allow.
    #[error("{}: {message}", path.display())]
    Setting {
        /// The model.
        path: PathBuf,
        /// Which setting, and what it can be.
        message: String,
    },
}

fn lines(misfits: &[Misfit]) -> String {
    misfits.iter().map(Misfit::to_string).collect::<Vec<_>>().join("\n  ")
}

/// Numbers for an input, row-major.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// 32-bit floats.
    Float(&'a [f32]),
    /// 64-bit integers.
    Int(&'a [i64]),
}

/// An input of one call.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// Name of the input.
    pub name: &'a str,
    /// Lengths of its axes.
    pub shape: &'a [usize],
    /// As many numbers as the shape says.
    pub numbers: Numbers<'a>,
}

/// An output of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensor {
    /// Name of the output.
    pub name: String,
    /// Lengths of its axes.
    pub shape: Vec<usize>,
    /// Its numbers, row-major; all finite, or masked ones of [`Session::run_masked`].
    pub numbers: Vec<f32>,
}

/// A model, loaded once; calls from several threads wait for each other.
#[derive(Debug)]
pub struct Session {
    name: String,
    path: PathBuf,
    inputs: Vec<Outlet>,
    outputs: Vec<Outlet>,
    inner: Mutex<ort::session::Session>,
}

impl Session {
    /// Loads a model. `name` is what it is called in messages and evidence.
    ///
    /// Errors: [`ModelError::Missing`], [`ModelError::Unreadable`].
    pub fn load(runtime: &Runtime, name: &str, path: &Path) -> Result<Self, ModelError> {
        if !path.is_file() {
            return Err(ModelError::Missing { path: path.to_path_buf() });
        }
        let inner = ort::session::Session::builder(&runtime.environment)
            .and_then(|mut builder| builder.commit_from_file(path))
            .map_err(|error| ModelError::Unreadable {
                path: path.to_path_buf(),
                message: error.to_string(),
            })?;
        let outlets = |list: &[ort::value::Outlet]| list.iter().map(outlet).collect();
        Ok(Self {
            name: name.to_owned(),
            path: path.to_path_buf(),
            inputs: outlets(inner.inputs()),
            outputs: outlets(inner.outputs()),
            inner: Mutex::new(inner),
        })
    }

    /// Checks that the model is of a kind. `kind` is what the error calls it, with its article.
    ///
    /// Errors: [`ModelError::OtherKind`] with everything that does not fit.
    pub fn check(&self, kind: &str, signature: &Signature) -> Result<(), ModelError> {
        let misfits = signature.misfits(&self.inputs, &self.outputs);
        if misfits.is_empty() {
            return Ok(());
        }
        Err(ModelError::OtherKind { path: self.path.clone(), kind: kind.to_owned(), misfits })
    }

    /// The error of a model that cannot be told to look for this.
    pub(crate) fn wrong_prompts(&self, message: String) -> ModelError {
        ModelError::Prompts { path: self.path.clone(), message }
    }

    /// Name in messages and evidence.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What goes in, in the order of the file.
    pub fn inputs(&self) -> &[Outlet] {
        &self.inputs
    }

    /// The input that takes pictures: the first with four axes; the first of all when none has.
    pub fn pictures(&self) -> &Outlet {
        self.inputs.iter().find(|input| input.axes.len() == 4).unwrap_or(&self.inputs[0])
    }

    /// What comes out, in the order of the file.
    pub fn outputs(&self) -> &[Outlet] {
        &self.outputs
    }

    /// One call of the model; gives the outputs of these names, in their order.
    ///
    /// Errors: [`InferenceError::Run`], [`InferenceError::Output`] when an output is missing or not of floats,
    /// [`InferenceError::NotFinite`].
    pub fn run(&self, feeds: &[Feed<'_>], outputs: &[&str]) -> Result<Vec<Tensor>, InferenceError> {
        self.run_where(feeds, outputs, f32::is_finite)
    }

    /// As [`Session::run`], for logits of which some are masked: minus infinity stands for what cannot be.
    pub fn run_masked(&self, feeds: &[Feed<'_>], outputs: &[&str]) -> Result<Vec<Tensor>, InferenceError> {
        self.run_where(feeds, outputs, |number| number.is_finite() || number == f32::NEG_INFINITY)
    }

    fn run_where(
        &self,
        feeds: &[Feed<'_>],
        outputs: &[&str],
        is_valid: fn(f32) -> bool,
    ) -> Result<Vec<Tensor>, InferenceError> {
        let failed =
            |error: ort::Error| InferenceError::Run { model: self.name.clone(), message: error.to_string() };
        let mut inputs: Vec<(&str, SessionInputValue<'_>)> = Vec::with_capacity(feeds.len());
        for feed in feeds {
            let value: SessionInputValue<'_> = match feed.numbers {
                Numbers::Float(numbers) => {
                    TensorRef::from_array_view((feed.shape, numbers)).map_err(failed)?.into()
                }
                Numbers::Int(numbers) => {
                    TensorRef::from_array_view((feed.shape, numbers)).map_err(failed)?.into()
                }
            };
            inputs.push((feed.name, value));
        }
        // A session that panicked in another thread has nothing half done: every call starts anew.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = inner.run(inputs).map_err(failed)?;
        outputs
            .iter()
            .map(|name| {
                let other = |found: String| InferenceError::Output {
                    model: self.name.clone(),
                    output: (*name).to_owned(),
                    expected: "a tensor of float32".to_owned(),
                    found,
                };
                let value = answer.get(name).ok_or_else(|| other("absent".to_owned()))?;
                let (shape, numbers) =
                    value.try_extract_tensor::<f32>().map_err(|_| other(value.dtype().to_string()))?;
                if !numbers.iter().all(|number| is_valid(*number)) {
                    return Err(InferenceError::NotFinite {
                        model: self.name.clone(),
                        output: (*name).to_owned(),
                    });
                }
                let shape = shape.iter().map(|length| usize::try_from(*length).unwrap_or(0)).collect();
                Ok(Tensor { name: (*name).to_owned(), shape, numbers: numbers.to_vec() })
            })
            .collect()
    }

    /// The error for an output whose shape is not what was agreed.
    pub fn wrong_output(&self, tensor: &Tensor, expected: &str) -> InferenceError {
        InferenceError::Output {
            model: self.name.clone(),
            output: tensor.name.clone(),
            expected: expected.to_owned(),
            found: format!("{:?}", tensor.shape),
        }
    }
}

fn outlet(outlet: &ort::value::Outlet) -> Outlet {
    let name = outlet.name().to_owned();
    let ValueType::Tensor { ty, shape, dimension_symbols } = outlet.dtype() else {
        return Outlet { name, element: Element::Other(outlet.dtype().to_string()), axes: Vec::new() };
    };
    let element = match ty {
        TensorElementType::Float32 => Element::Float32,
        TensorElementType::Int64 => Element::Int64,
        other => Element::Other(format!("{other:?}").to_lowercase()),
    };
    let axes = shape
        .iter()
        .zip(dimension_symbols.iter())
        .map(|(length, symbol)| match usize::try_from(*length) {
            Ok(length) => Axis::Fixed(length),
            Err(_) => Axis::Free(symbol.clone()),
        })
        .collect();
    Outlet { name, element, axes }
}
