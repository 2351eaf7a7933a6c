//! Lessons in a file that lasts.

use super::Lesson;
use prehend_config::{JsonFile, JsonFileError, user_data};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Format of the file.
const FORMAT: u32 = 1;
/// Most lessons that are kept; the oldest learned ones go first.
const MOST: usize = 10_000;
/// Longest word or meaning, bytes.
const LONGEST: usize = 200;

/// What goes wrong with the book; nothing is lost by any of it.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] JsonFileError),
    /// A word or meaning that cannot be kept.
    #[error("\"{0}\" cannot be kept as a word: 1 to {LONGEST} bytes, no control characters")]
    Word(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    format: u32,
    words: Vec<Lesson>,
}

/// A file of lessons, which several processes may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    file: JsonFile<Contents>,
}

impl Book {
    /// The book in a file that may not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: JsonFile::new(path, "words") }
    }

    /// Where the words of this user are kept: `prehend/words.json` in `$XDG_DATA_HOME`, or in `~/.local/share`; `None` without a home.
    pub fn default_path() -> Option<PathBuf> {
        user_data("words.json")
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// All lessons, in the order in which they came.
    ///
    /// Errors: a file that cannot be read or is none of ours; one that is not there is empty.
    pub fn all(&self) -> Result<Vec<Lesson>, BookError> {
        self.words_of(self.file.read()?)
    }

    fn words_of(&self, contents: Option<Contents>) -> Result<Vec<Lesson>, BookError> {
        let Some(contents) = contents else { return Ok(Vec::new()) };
        if contents.format != FORMAT {
            let why = format!("format {}, this is format {FORMAT}", contents.format);
            return Err(self.file.broken(why).into());
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
        self.file.change(|contents| {
            let mut words = self.words_of(contents)?;
            change(&mut words);
            Ok(Contents { format: FORMAT, words })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Origin;
    use std::fs;

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
            assert!(matches!(book.all(), Err(BookError::File(JsonFileError::Broken { .. }))), "{text}");
            assert!(
                matches!(book.keep(&lesson("a", "b")), Err(BookError::File(JsonFileError::Broken { .. }))),
                "{text}"
            );
            assert_eq!(fs::read_to_string(book.path()).expect("there"), text);
        }
        fs::write(book.path(), [0xff, 0xfe]).expect("written");
        assert!(matches!(book.all(), Err(BookError::File(JsonFileError::Broken { .. }))));
    }
}
