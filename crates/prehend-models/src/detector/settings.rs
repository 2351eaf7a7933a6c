//! What a detector is opened with.

use crate::session::{ModelError, Session};
use crate::signature::Signature;
use std::path::Path;

/// Thresholds of a detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectorSettings {
    /// Least score of a box, [0, 1].
    pub score: f64,
    /// Intersection over union above which two boxes are one thing, [0, 1].
    pub iou: f64,
}

/// Size of the pictures that a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSize {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl InputSize {
    /// The size that a model with the input `[batch, 3, height, width]` is run with: what its file fixes, else what was asked for,
    /// else `default`.
    ///
    /// Errors: [`ModelError::Setting`] when the file fixes another size than was asked for.
    pub(crate) fn of(session: &Session, asked: Option<Self>, default: Self) -> Result<Self, ModelError> {
        let axes = &session.pictures().axes;
        let fixed = |axis: usize| axes.get(axis).and_then(|axis| axis.fixed());
        let free = asked.unwrap_or(default);
        let size = Self { width: fixed(3).unwrap_or(free.width), height: fixed(2).unwrap_or(free.height) };
        match asked {
            Some(asked) if asked != size => Err(ModelError::Setting {
                path: session.path().to_path_buf(),
                message: format!(
                    "input_size is {} x {}, but the model takes {} x {} only",
                    asked.width, asked.height, size.width, size.height
                ),
            }),
            _ => Ok(size),
        }
    }
}

/// A network whose channels are classes, checked against them.
#[derive(Debug)]
pub(super) struct Classifying {
    pub(super) session: Session,
    /// Name of its output.
    pub(super) output: String,
    pub(super) classes: Vec<String>,
    pub(super) size: InputSize,
    pub(super) settings: DetectorSettings,
}

impl Classifying {
    /// Checks a loaded model: `kind` is what errors call it, `signature` what it must look like with so many classes, `classes` the file with
    /// their names, `side` that of its usual pictures.
    ///
    /// Errors: [`ModelError`].
    pub(super) fn new(
        session: Session,
        (kind, signature): (&str, fn(Option<usize>) -> Signature),
        classes: &Path,
        (size, side): (Option<InputSize>, usize),
        settings: DetectorSettings,
    ) -> Result<Self, ModelError> {
        let classes = read_classes(classes)?;
        session.check(kind, &signature(Some(classes.len())))?;
        let size = InputSize::of(&session, size, InputSize { width: side, height: side })?;
        let output = session.outputs()[0].name.clone();
        Ok(Self { session, output, classes, size, settings })
    }
}

/// Class names from a file with one in each line, in the order of the model's channels.
///
/// Errors: [`ModelError::Companion`] when it cannot be read, has no name, or a line in the middle is empty.
pub fn read_classes(path: &Path) -> Result<Vec<String>, ModelError> {
    let wrong = |message: String| ModelError::Companion { path: path.to_path_buf(), message };
    let text =
        std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot read the classes: {error}")))?;
    let names: Vec<String> = text.trim_end().lines().map(|line| line.trim().to_owned()).collect();
    if names.is_empty() {
        return Err(wrong("no class names; expected one in each line".to_owned()));
    }
    match names.iter().position(String::is_empty) {
        Some(line) => Err(wrong(format!("line {} is empty; expected a class name", line + 1))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_lines_without_gaps() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("classes.txt");
        let check = |text: &str, expected: Result<&[&str], &str>| {
            std::fs::write(&path, text).expect("the file");
            match (read_classes(&path), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.to_string().contains(expected), "{found}"),
                (found, _) => panic!("{text:?}: {found:?}"),
            }
        };
        check("person\r\ntraffic light\n", Ok(&["person", "traffic light"]));
        check("cup", Ok(&["cup"]));
        check("\n", Err("no class names"));
        check("cup\n\nbowl\n", Err("line 2 is empty"));
        assert!(read_classes(&folder.path().join("none")).is_err());
    }
}
