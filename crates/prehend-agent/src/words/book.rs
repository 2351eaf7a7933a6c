//! Lessons in a file that lasts.

use super::Lesson;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Format of the file.
const FORMAT: u32 = 1;
/// Most lessons that are kept; the oldest learned ones go first.
const MOST: usize = 10_000;
/// Longest word or meaning, bytes.
const LONGEST: usize = 200;
/// Largest file that is read, bytes.
const LARGEST: u64 = 16 << 20;

/// What goes wrong with the file; nothing is lost by any of it.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is not what was written here. It is left as it is.
    #[error("{} is no file of words ({why}); mend it, or move it away and begin a new one", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A word or meaning that cannot be kept.
    #[error("\"{0}\" cannot be kept as a word: 1 to {LONGEST} bytes, no control characters")]
    Word(String),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    format: u32,
    words: Vec<Lesson>,
}

/// A file of lessons. Each call reads it anew, so that several processes may use one; changes are made under a lock, and the file is
/// replaced whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    path: PathBuf,
}

impl Book {
    /// The book in a file that may not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the words of this user are kept: `prehend/words.json` in `$XDG_DATA_HOME`, or in `~/.local/share`; `None` without a home.
    pub fn default_path() -> Option<PathBuf> {
        let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = of("XDG_DATA_HOME").or_else(|| Some(of("HOME")?.join(".local/share")))?;
        Some(data.join("prehend/words.json"))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All lessons, in the order in which they came.
    ///
    /// Errors: a file that cannot be read or is none of ours; one that is not there is empty.
    pub fn all(&self) -> Result<Vec<Lesson>, BookError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.io(source)),
        };
        let mut text = String::new();
        let read = file.take(LARGEST + 1).read_to_string(&mut text);
        let broken = |why: String| BookError::Broken { path: self.path.clone(), why };
        match read {
            Ok(length) if length as u64 > LARGEST => return Err(broken("it is too large".to_owned())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(broken(error.to_string()));
            }
            Err(source) => return Err(self.io(source)),
        }
        let contents: Contents = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        if contents.format != FORMAT {
            return Err(broken(format!("format {}, this is format {FORMAT}", contents.format)));
        }
        Ok(contents.words)
    }

    /// What a word is taken for.
    ///
    /// Errors: as [`Self::all`].
    pub fn find(&self, word: &str) -> Result<Option<Lesson>, BookError> {
        Ok(self.all()?.into_iter().find(|lesson| lesson.word == word))
    }

    /// Writes a lesson in the place of an older one for the same word.
    ///
    /// Errors: as [`Self::all`]; words that cannot be kept; a file that cannot be written.
    pub fn keep(&self, lesson: &Lesson) -> Result<(), BookError> {
        for text in [&lesson.word, &lesson.means] {
            if text.is_empty() || text.len() > LONGEST || text.chars().any(char::is_control) {
                return Err(BookError::Word(text.clone()));
            }
        }
        self.change(|words| {
            words.retain(|old| old.word != lesson.word);
            words.push(lesson.clone());
            while words.len() > MOST {
                let oldest = words.iter().position(|old| old.origin == super::Origin::Learned).unwrap_or(0);
                words.remove(oldest);
            }
        })
    }

    /// Takes a word out; whether it was there.
    ///
    /// Errors: as [`Self::keep`].
    pub fn forget(&self, word: &str) -> Result<bool, BookError> {
        if self.find(word)?.is_none() {
            return Ok(false);
        }
        self.change(|words| words.retain(|old| old.word != word))?;
        Ok(true)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Lesson>)) -> Result<(), BookError> {
        let folder = self.path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|source| BookError::Io { path: folder.to_owned(), source })?;
        let lock = self.path.with_extension("lock");
        let io_at = |path: &Path| {
            let path = path.to_owned();
            move |source| BookError::Io { path, source }
        };
        let guard =
            File::options().create(true).write(true).truncate(false).open(&lock).map_err(io_at(&lock))?;
        guard.lock().map_err(io_at(&lock))?;
        let mut words = self.all()?;
        change(&mut words);
        let text = serde_json::to_string_pretty(&Contents { format: FORMAT, words })
            .map_err(|error| self.io(io::Error::other(error)))?;
        let draft = self.path.with_extension("new");
        let mut file = File::create(&draft).map_err(io_at(&draft))?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io_at(&draft))?;
        fs::rename(&draft, &self.path).map_err(|source| self.io(source))
    }

    fn io(&self, source: io::Error) -> BookError {
        BookError::Io { path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Origin;

    fn lesson(word: &str, means: &str) -> Lesson {
        Lesson {
            word: word.to_owned(),
            means: means.to_owned(),
            origin: Origin::Taught,
            witnesses: vec!["person".to_owned()],
            confirmed: 0,
            since: 1,
        }
    }

    #[test]
    fn lessons_last_and_are_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let book = Book::new(folder.path().join("a/b/words.json"));
        assert!(book.all().expect("not there yet").is_empty());
        book.keep(&lesson("moutai", "bottle")).expect("kept");
        book.keep(&lesson("saucer", "bowl")).expect("kept");
        book.keep(&lesson("saucer", "plate")).expect("kept");
        let again = Book::new(book.path());
        assert_eq!(again.find("saucer").expect("read").map(|l| l.means).as_deref(), Some("plate"));
        assert_eq!(again.all().expect("read").len(), 2);
        assert!(again.forget("saucer").expect("forgotten") && !again.forget("saucer").expect("gone"));
        assert_eq!(again.find("saucer").expect("read"), None);
        assert!(matches!(book.keep(&lesson("", "plate")), Err(BookError::Word(_))));
        assert!(matches!(book.keep(&lesson("a\nb", "plate")), Err(BookError::Word(_))));
    }

    #[test]
    fn a_broken_file_is_told_and_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let book = Book::new(folder.path().join("words.json"));
        for text in ["", "{", "[]", r#"{"format":2,"words":[]}"#, r#"{"format":1,"words":[{"word":1}]}"#] {
            fs::write(book.path(), text).expect("written");
            assert!(matches!(book.all(), Err(BookError::Broken { .. })), "{text}");
            assert!(matches!(book.keep(&lesson("a", "b")), Err(BookError::Broken { .. })), "{text}");
            assert_eq!(fs::read_to_string(book.path()).expect("there"), text);
        }
        fs::write(book.path(), [0xff, 0xfe]).expect("written");
        assert!(matches!(book.all(), Err(BookError::Broken { .. })));
    }

    #[test]
    fn many_write_at_once_and_nothing_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("words.json");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let book = Book::new(&path);
                scope.spawn(move || {
                    for number in 0..20 {
                        book.keep(&lesson(&format!("word {writer} {number}"), "bowl")).expect("kept");
                    }
                });
            }
        });
        assert_eq!(Book::new(&path).all().expect("read").len(), 160);
    }
}
