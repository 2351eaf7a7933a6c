//! A folder that is written beside its place, and put there in one step.

use super::manifest::{Entry, FILE, FORMAT, Manifest};
use super::{SaveError, VERSION};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files on their way to `target`; dropped before [`Draft::commit`], they are deleted and the target is as it was.
pub(super) struct Draft {
    folder: PathBuf,
    target: PathBuf,
    files: BTreeMap<String, Entry>,
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> SaveError {
    |error| SaveError::Write { path: path.to_owned(), error }
}

impl Draft {
    /// An empty draft beside `target`, on the same file system.
    pub(super) fn beside(target: &Path) -> Result<Self, SaveError> {
        let target = std::path::absolute(target).map_err(failed(target))?;
        let is_free = !target.exists() || target.join(FILE).is_file() || is_empty_folder(&target);
        let (Some(parent), Some(name), true) = (target.parent(), target.file_name(), is_free) else {
            return Err(SaveError::NotAMap { path: target });
        };
        fs::create_dir_all(parent).map_err(failed(parent))?;
        let folder = parent.join(format!(".{}.new-{}", name.to_string_lossy(), std::process::id()));
        if folder.exists() {
            // A process of this number was killed while it wrote.
            fs::remove_dir_all(&folder).map_err(failed(&folder))?;
        }
        fs::create_dir(&folder).map_err(failed(&folder))?;
        Ok(Self { folder, target, files: BTreeMap::new() })
    }

    /// Writes a file; `name` is its path from the map's folder.
    pub(super) fn put(&mut self, name: String, bytes: &[u8]) -> Result<(), SaveError> {
        self.write(&name, bytes)?;
        self.files.insert(name, Entry::of(bytes));
        Ok(())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), SaveError> {
        let path = self.folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        // A full disk may show only when the bytes are forced onto it.
        let written =
            File::create(&path).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
        written.map_err(failed(&path))
    }

    /// Adds the manifest and puts the folder into its place; what was there is deleted afterwards.
    pub(super) fn commit(mut self) -> Result<(), SaveError> {
        let files = std::mem::take(&mut self.files);
        let manifest = Manifest { format: FORMAT.to_owned(), version: VERSION, files };
        let text =
            serde_json::to_vec_pretty(&manifest).map_err(|error| failed(&self.folder)(error.into()))?;
        self.write(FILE, &text)?;
        if self.target.exists() {
            self.replace().map_err(failed(&self.target))?;
        } else {
            fs::rename(&self.folder, &self.target).map_err(failed(&self.target))?;
        }
        if let Some(parent) = self.target.parent() {
            File::open(parent).and_then(|folder| folder.sync_all()).map_err(failed(parent))?;
        }
        Ok(())
    }

    /// Puts the draft in the target's place; the old map is then where the draft was, and goes with it.
    fn replace(&mut self) -> std::io::Result<()> {
        match renameat_with(CWD, &self.folder, CWD, &self.target, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            // Some network file systems cannot exchange: two steps, and back when the second fails.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let aside = self.folder.with_extension("old");
                fs::rename(&self.target, &aside)?;
                let moved = fs::rename(&self.folder, &self.target);
                if moved.is_err() {
                    fs::rename(&aside, &self.target)?;
                } else {
                    self.folder = aside;
                }
                moved
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Nothing refers to what is left here; a rest that cannot be deleted is harmless.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
