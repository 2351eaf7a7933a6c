//! Descriptions in a folder, one file each.

use prehend_articulation::Known;
use prehend_config::{JsonFile, JsonFileError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A thing with the file it is kept in.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) thing: Known,
    pub(super) file: PathBuf,
}

/// What is in the folder, and why not all of it; nothing when there is none.
pub(super) fn read(folder: Option<&Path>) -> (Vec<Kept>, Vec<String>) {
    let (mut kept, mut unread) = (Vec::new(), Vec::new());
    let Some(folder) = folder else { return (kept, unread) };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (kept, unread),
        Err(error) => {
            unread.push(format!("{}: {error}", folder.display()));
            return (kept, unread);
        }
    };
    let files: BTreeSet<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    for file in files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let json: JsonFile<Known> = JsonFile::new(&file, "a described thing");
        match json.read() {
            Ok(Some(thing)) => match thing.check() {
                Ok(()) => kept.push(Kept { thing, file }),
                Err(error) => unread.push(json.broken(error).to_string()),
            },
            Ok(None) => {}
            Err(error) => unread.push(error.to_string()),
        }
    }
    (kept, unread)
}

/// A file for a new thing of this name that none of those has and that is not there.
pub(super) fn file_for(name: &str, folder: &Path, taken: &[Option<PathBuf>]) -> PathBuf {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let number = (1..u32::MAX).find(|number| {
        let file = folder.join(format!("{plain}-{number}.json"));
        !file.exists() && !taken.iter().flatten().any(|other| *other == file)
    });
    folder.join(format!("{plain}-{}.json", number.unwrap_or_default()))
}

/// Writes one, whole or not at all.
pub(super) fn write(thing: &Known, file: &Path) -> Result<(), JsonFileError> {
    JsonFile::<Known>::new(file, "a described thing").dense().change(|_| Ok(thing.clone()))
}
