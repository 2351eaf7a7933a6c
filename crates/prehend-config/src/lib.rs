//! YAML documents with line numbers: every error at once, and the nearest known key.
//!
//! For: scene files, robot files, node parameters, word tables; anything a person writes and mistypes.
//! Besides, [`JsonFile`]: a value that a program keeps and changes itself.
//! Not for: messages between processes (serde).
//! Read [`Value`] first: a place in a document that can be read as one type and reports what is wrong there.
//!
//! A key is declared by asking for it: [`Map::req`] and [`Map::opt`] note every key they are asked for, and
//! [`Value::map`] reports the keys nobody asked for with the nearest one that was.
//! A reader returns `None` when it has reported a finding, so reading goes on and all findings come at once.
//!
//! ```
//! # use prehend_config::read;
//! let side = read("box.yaml", "side: 0.2", |root| root.map(|m| m.req("side")?.f64_in(0.01, 1.0)));
//! assert_eq!(side.expect("valid"), 0.2);
//! let wrong = read("box.yaml", "sied: 0.2", |root| root.map(|m| m.req("side")?.f64()));
//! assert_eq!(wrong.expect_err("wrong").to_string(),
//!     "box.yaml:1:1: missing key `side`\nbox.yaml:1:1: unknown key `sied`; did you mean `side`?");
//! ```

mod document;
mod expression;
mod finding;
mod json_file;
mod map;
pub mod share;
mod value;

pub use document::Document;
pub use expression::Variables;
pub use finding::{Finding, Findings};
pub use json_file::{JsonFile, JsonFileError, user_data};
pub use map::Map;
pub use value::Value;

use finding::Report;
use saphyr::{LoadableYamlNode, MarkedYamlOwned};

/// Reads one YAML document with `reader`; `file` is only used to name places in findings.
///
/// Errors: [`Findings`] with every finding, in document order, when the text is not YAML, holds not exactly
/// one document, or `reader` reported something.
pub fn read<T>(file: &str, text: &str, reader: impl FnOnce(Value<'_>) -> Option<T>) -> Result<T, Findings> {
    let single = |line, column, message: String| {
        Err(Findings::new(vec![Finding {
            file: file.to_owned(),
            line,
            column,
            path: String::new(),
            message,
        }]))
    };
    let documents = match MarkedYamlOwned::load_from_str(text) {
        Ok(documents) => documents,
        Err(error) => {
            return single(error.marker().line(), error.marker().col() + 1, error.info().to_owned());
        }
    };
    let [root] = documents.as_slice() else {
        return single(1, 1, format!("expected one YAML document, found {}", documents.len()));
    };
    let report = Report::new(file, Variables::default());
    let result = reader(Value::root(root, &report));
    let findings = report.into_findings();
    match result {
        Some(value) if findings.is_empty() => Ok(value),
        _ if findings.is_empty() => single(1, 1, "the document was rejected without a reason".to_owned()),
        _ => Err(Findings::new(findings)),
    }
}

/// Reads the file at `path` with `reader`, as [`read`] does.
///
/// Errors: as [`read`], and one finding at line 0 when the file cannot be read as UTF-8 text.
pub fn read_file<T>(
    path: &std::path::Path,
    reader: impl FnOnce(Value<'_>) -> Option<T>,
) -> Result<T, Findings> {
    let file = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => read(&file, &text, reader),
        Err(error) => Err(Findings::new(vec![Finding {
            file,
            line: 0,
            column: 0,
            path: String::new(),
            message: format!("cannot read the file: {error}"),
        }])),
    }
}

/// The candidate nearest to `word` in spelling, when one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests;
