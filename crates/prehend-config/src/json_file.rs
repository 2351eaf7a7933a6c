//! A value that lasts, as JSON in a file.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Largest file that is read, bytes.
const LARGEST: u64 = 16 << 20;

/// What goes wrong with the file; nothing is lost by any of it.
#[derive(Debug, thiserror::Error)]
pub enum JsonFileError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is not what was written here. It is left as it is.
    #[error("{} is no file of {what} ({why}); mend it, or move it away and begin a new one", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// A file that holds one value. Each call reads it anew, so that several processes may use one; changes are made under a lock, and the
/// file is replaced whole, so that a crash leaves the old value or the new one.
#[derive(Debug)]
pub struct JsonFile<T> {
    path: PathBuf,
    what: &'static str,
    dense: bool,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for JsonFile<T> {
    fn clone(&self) -> Self {
        Self { path: self.path.clone(), what: self.what, dense: self.dense, value: PhantomData }
    }
}

impl<T> PartialEq for JsonFile<T> {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl<T> Eq for JsonFile<T> {}

/// Where a user's data are kept: `prehend/NAME` in `$XDG_DATA_HOME`, or in `~/.local/share`; `None` without a home.
pub fn user_data(name: &str) -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = of("XDG_DATA_HOME").or_else(|| Some(of("HOME")?.join(".local/share")))?;
    Some(data.join("prehend").join(name))
}

impl<T: Serialize + DeserializeOwned> JsonFile<T> {
    /// A file that may not be there yet; `what` it holds, for messages.
    pub fn new(path: impl Into<PathBuf>, what: &'static str) -> Self {
        Self { path: path.into(), what, dense: false, value: PhantomData }
    }

    /// The same, written in one line: for what is much and nobody reads.
    #[must_use]
    pub fn dense(self) -> Self {
        Self { dense: true, ..self }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value; `None` when the file is not there.
    ///
    /// Errors: a file that cannot be read, or is none of these.
    pub fn read(&self) -> Result<Option<T>, JsonFileError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.io(source)),
        };
        let mut text = String::new();
        match file.take(LARGEST + 1).read_to_string(&mut text) {
            Ok(length) if length as u64 > LARGEST => return Err(self.broken("it is too large")),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(self.broken(error));
            }
            Err(source) => return Err(self.io(source)),
        }
        serde_json::from_str(&text).map(Some).map_err(|error| self.broken(error))
    }

    /// Puts another value in the place of the present one, under a lock. `change` may refuse the present one.
    ///
    /// Errors: as [`Self::read`]; what `change` says; a file that cannot be written.
    pub fn change<E: From<JsonFileError>>(
        &self,
        change: impl FnOnce(Option<T>) -> Result<T, E>,
    ) -> Result<(), E> {
        let folder = self.path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|source| JsonFileError::Io { path: folder.to_owned(), source })?;
        let lock = self.path.with_extension("lock");
        let io_at = |path: &Path| {
            let path = path.to_owned();
            move |source| JsonFileError::Io { path, source }
        };
        let guard =
            File::options().create(true).write(true).truncate(false).open(&lock).map_err(io_at(&lock))?;
        guard.lock().map_err(io_at(&lock))?;
        let value = change(self.read()?)?;
        let write = if self.dense { serde_json::to_string } else { serde_json::to_string_pretty };
        let text = write(&value).map_err(|error| self.io(io::Error::other(error)))?;
        let draft = self.path.with_extension("new");
        let mut file = File::create(&draft).map_err(io_at(&draft))?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io_at(&draft))?;
        fs::rename(&draft, &self.path).map_err(|source| self.io(source))?;
        Ok(())
    }

    /// The error of a file that holds something else.
    pub fn broken(&self, why: impl ToString) -> JsonFileError {
        JsonFileError::Broken { path: self.path.clone(), what: self.what, why: why.to_string() }
    }

    fn io(&self, source: io::Error) -> JsonFileError {
        JsonFileError::Io { path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Numbers = JsonFile<Vec<u32>>;

    fn push(file: &Numbers, number: u32) -> Result<(), JsonFileError> {
        file.change(|numbers| {
            let mut numbers = numbers.unwrap_or_default();
            numbers.push(number);
            Ok(numbers)
        })
    }

    #[test]
    fn a_value_lasts_and_a_broken_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Numbers::new(folder.path().join("a/b/numbers.json"), "numbers");
        assert_eq!(file.read().expect("not there yet"), None);
        push(&file, 3).expect("written");
        push(&file, 4).expect("written");
        assert_eq!(Numbers::new(file.path(), "numbers").read().expect("read"), Some(vec![3, 4]));
        for text in ["", "[3, 4", "{}", "[\"a\"]"] {
            fs::write(file.path(), text).expect("written");
            assert!(matches!(file.read(), Err(JsonFileError::Broken { .. })), "{text}");
            assert!(matches!(push(&file, 5), Err(JsonFileError::Broken { .. })), "{text}");
            assert_eq!(fs::read_to_string(file.path()).expect("there"), text);
        }
        fs::write(file.path(), [0xff, 0xfe]).expect("written");
        assert!(matches!(file.read(), Err(JsonFileError::Broken { .. })));
    }

    #[test]
    fn many_write_at_once_and_nothing_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("numbers.json");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let file = Numbers::new(&path, "numbers");
                scope.spawn(move || {
                    for number in 0..20 {
                        push(&file, writer * 100 + number).expect("written");
                    }
                });
            }
        });
        assert_eq!(Numbers::new(&path, "numbers").read().expect("read").map(|all| all.len()), Some(160));
    }

    #[test]
    fn a_change_that_is_refused_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Numbers::new(folder.path().join("numbers.json"), "numbers");
        push(&file, 1).expect("written");
        let refused: Result<(), JsonFileError> = file.change(|_| Err(file.broken("no")));
        assert!(refused.is_err());
        assert_eq!(file.read().expect("read"), Some(vec![1]));
    }
}
