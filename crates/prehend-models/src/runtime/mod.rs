//! ONNX Runtime: where its library is, and the one time it is loaded.
//!
//! Nothing is linked: a machine without the library can still do everything that needs no network model. Whatever the search
//! offers is looked at as a file before it is loaded, because a loader that is given something else may panic or never return.

mod elf;
mod find;

pub use elf::NotALibrary;
pub use find::{Asked, Found, Places};

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How to get the library, for messages.
pub const INSTALL: &str = "install ONNX Runtime 1.17 or newer, by one of\n  \
    pip install onnxruntime          (found by itself in the active virtual environment, else set\n                                    \
    ORT_DYLIB_PATH=.../site-packages/onnxruntime/capi/libonnxruntime.so.VERSION)\n  \
    apt install libonnxruntime-dev   (Debian 13)\n  \
    https://github.com/microsoft/onnxruntime/releases, and ORT_DYLIB_PATH=.../lib/libonnxruntime.so";

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The library is nowhere.
    #[error("ONNX Runtime was not found; looked in {}\n{INSTALL}", list(looked_in))]
    NotFound {
        /// Folders that were looked into.
        looked_in: Vec<PathBuf>,
    },
    /// The library that was asked for is not there.
    #[error("{asked} names {}, where there is no ONNX Runtime library\n{INSTALL}", path.display())]
    NotThere {
        /// Who asked for it.
        asked: Asked,
        /// The path.
        path: PathBuf,
    },
    /// The file is not a library for this machine.
    #[error("{} cannot be ONNX Runtime: {error}\n{INSTALL}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        error: NotALibrary,
    },
    /// It is a library, but does not load, is not ONNX Runtime, or is too old.
    #[error("{} does not load: {message}\n{INSTALL}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// What the loader said.
        message: String,
    },
    /// Another library is already loaded; a process has one runtime.
    #[error("{} was asked for, but this process already runs {}", asked.display(), loaded.display())]
    Another {
        /// The library that was asked for.
        asked: PathBuf,
        /// The library that is loaded.
        loaded: PathBuf,
    },
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The loaded runtime; clones share it.
#[derive(Clone, Debug)]
pub struct Runtime {
    path: PathBuf,
    pub(crate) environment: ort::environment::Environment,
}

/// ONNX Runtime allows one environment in a process and no second one after it, so the first one stays.
static LOADED: Mutex<Option<Runtime>> = Mutex::new(None);

impl Runtime {
    /// Finds the library and loads it. `named` is what the command line names: the library or the folder it is in.
    ///
    /// Errors: [`RuntimeError`].
    pub fn open(named: Option<&Path>) -> Result<Self, RuntimeError> {
        Self::load(&Places::of_this_process(named).find()?)
    }

    /// Loads a library that was found; once in a process.
    ///
    /// Errors: [`RuntimeError::Load`], [`RuntimeError::Another`].
    pub fn load(found: &Found) -> Result<Self, RuntimeError> {
        let path = found.library.canonicalize().unwrap_or_else(|_| found.library.clone());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = loaded.as_ref() {
            return if runtime.path == path {
                Ok(runtime.clone())
            } else {
                Err(RuntimeError::Another { asked: path, loaded: runtime.path.clone() })
            };
        }
        let refused = |message: String| RuntimeError::Load { path: path.clone(), message };
        let builder = ort::init_from(&path).map_err(|error| refused(error.to_string()))?;
        let environment = builder
            .with_name("prehend")
            .with_telemetry(false)
            .build()
            .map_err(|error| refused(error.to_string()))?;
        let runtime = Self { path, environment };
        *loaded = Some(runtime.clone());
        Ok(runtime)
    }

    /// The library file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
