//! A memory in a file.

use super::Memory;
use prehend_config::{JsonFile, JsonFileError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Format of the file.
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    format: u32,
    memory: Memory,
}

/// A memory in a file, which lasts over restarts and which several robots of one kind may share.
#[derive(Clone, Debug)]
pub struct Store {
    file: JsonFile<Contents>,
}

impl Store {
    /// In a file that may not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: JsonFile::new(path, "memory") }
    }

    /// What is in it; nothing when it is not there.
    ///
    /// Errors: a file that cannot be read, or holds something else.
    pub fn read(&self) -> Result<Memory, JsonFileError> {
        self.memory_of(self.file.read()?)
    }

    /// Changes what is in it; gives the new memory.
    ///
    /// Errors: as [`Self::read`]; a file that cannot be written.
    pub fn change(&self, change: impl FnOnce(&mut Memory)) -> Result<Memory, JsonFileError> {
        let mut changed = Memory::default();
        self.file.change(|contents| {
            let mut memory = self.memory_of(contents)?;
            change(&mut memory);
            changed.clone_from(&memory);
            Ok::<_, JsonFileError>(Contents { format: FORMAT, memory })
        })?;
        Ok(changed)
    }

    fn memory_of(&self, contents: Option<Contents>) -> Result<Memory, JsonFileError> {
        let Some(Contents { format, memory }) = contents else { return Ok(Memory::default()) };
        if format != FORMAT {
            return Err(self.file.broken(format!("format {format}, this is format {FORMAT}")));
        }
        memory.check().map_err(|why| self.file.broken(why))?;
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{episode, look};
    use super::*;

    #[test]
    fn it_lasts_and_a_broken_file_is_told_and_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept/memory.json");
        let store = Store::new(&path);
        assert!(store.read().expect("not there yet").is_empty());
        store.change(|memory| memory.keep(episode("mug", "handle", "part geometry", 0))).expect("kept");
        let changed =
            store.change(|memory| memory.keep(episode("pan", "handle", "part color", 1))).expect("kept");
        assert_eq!(Store::new(&path).read().expect("read"), changed);
        assert_eq!(changed.len(), 2);
        let whole = std::fs::read_to_string(&path).expect("there");
        let cut = &whole[..whole.len() / 2];
        let lying = whole.replacen("\"helped\": 0.0", "\"helped\": 7.5", 1);
        assert_ne!(lying, whole);
        for text in [cut, &lying, "", "{\"format\": 2, \"memory\": {}}"] {
            std::fs::write(&path, text).expect("written");
            assert!(matches!(store.read(), Err(JsonFileError::Broken { .. })), "{text}");
            assert!(store.change(|memory| memory.take_back(&look("mug", "handle", 0.1))).is_err());
            assert_eq!(std::fs::read_to_string(&path).expect("there"), text);
        }
    }
}
