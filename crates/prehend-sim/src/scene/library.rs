//! The catalogue of objects: models by name, from the YAML files of some folders.

use prehend_config::{Document, Findings, Value};
use std::path::{Path, PathBuf};

/// Models by name; earlier files win.
#[derive(Clone, Debug, Default)]
pub struct Library {
    entries: Vec<(String, Document)>,
}

/// The folder of the catalogue that comes with Prehend, `config/objects`.
pub fn objects_folder() -> PathBuf {
    prehend_config::share::share_dir().join("config/objects")
}

impl Library {
    /// Adds the models of one file: a mapping from names to models.
    ///
    /// Errors: the findings of a file that is no such mapping; the models themselves are read when they are used.
    pub fn add_file(&mut self, path: &Path) -> Result<(), Findings> {
        let entries = prehend_config::read_file(path, |root| root.map(|map| Some(documents(map.entries()))))?;
        self.add(entries);
        Ok(())
    }

    /// Adds every `*.yaml` file of a folder, in the order of their names; a folder that is not there has none.
    ///
    /// Errors: the findings of the first file that is no mapping.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), Findings> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
            .collect();
        files.sort();
        files.iter().try_for_each(|file| self.add_file(file))
    }

    pub(super) fn add(&mut self, entries: Vec<(String, Document)>) {
        for (name, document) in entries {
            if self.find(&name).is_none() {
                self.entries.push((name, document));
            }
        }
    }

    /// The model of this name.
    pub fn find(&self, name: &str) -> Option<&Document> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, document)| document)
    }

    /// The names there are.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }
}

/// Entries of a mapping as documents of their own.
pub(super) fn documents(entries: Vec<(String, Value<'_>)>) -> Vec<(String, Document)> {
    entries.into_iter().map(|(name, value)| (name, value.to_document())).collect()
}
