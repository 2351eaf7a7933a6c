//! A part of a document that can be read again, each time with other numbers for its parameters.

use crate::finding::{Finding, Findings, Report};
use crate::{Value, Variables};
use saphyr::MarkedYamlOwned;

/// An owned part of a document with its file, its path in it and its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    file: String,
    path: String,
    node: MarkedYamlOwned,
}

impl Value<'_> {
    /// This part of the document as a document of its own, to be read again with other parameters.
    pub fn to_document(&self) -> Document {
        Document { file: self.report.file().to_owned(), path: self.path.clone(), node: self.node.clone() }
    }
}

impl Document {
    /// Name of the file, as given by who read it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Reads it with `reader`; its numbers may be expressions over `variables`.
    ///
    /// Errors: every finding, in document order.
    pub fn read<T>(
        &self,
        variables: &Variables,
        reader: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Result<T, Findings> {
        let report = Report::new(&self.file, variables.clone());
        let value = Value::new(&self.node, self.path.clone(), &report);
        let (line, column) = (value.line(), 1);
        let result = reader(value);
        let findings = report.into_findings();
        match result {
            Some(value) if findings.is_empty() => Ok(value),
            _ if findings.is_empty() => Err(Findings::new(vec![Finding {
                file: self.file.clone(),
                line,
                column,
                path: self.path.clone(),
                message: "rejected without a reason".to_owned(),
            }])),
            _ => Err(Findings::new(findings)),
        }
    }
}
