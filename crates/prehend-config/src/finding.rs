//! What is wrong in a document, and where.

use crate::Variables;
use std::cell::RefCell;
use std::fmt;

/// One thing that is wrong at one place of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// File name as given by the caller.
    pub file: String,
    /// Line, from 1; 0 when the file could not be read.
    pub line: usize,
    /// Column, from 1; 0 when the file could not be read.
    pub column: usize,
    /// Path of the value, such as `objects[2].mass`; empty at the root.
    pub path: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Every finding of one document, in document order; displayed one a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn new(items: Vec<Finding>) -> Self {
        Self(items)
    }

    /// The findings, in document order; never empty.
    pub fn items(&self) -> &[Finding] {
        &self.0
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Findings {}

/// Collects findings while a document is read.
#[derive(Debug)]
pub(crate) struct Report {
    file: String,
    /// What numbers may be computed from.
    variables: Variables,
    findings: RefCell<Vec<Finding>>,
}

impl Report {
    pub(crate) fn new(file: &str, variables: Variables) -> Self {
        Self { file: file.to_owned(), variables, findings: RefCell::new(Vec::new()) }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }

    pub(crate) fn add(&self, line: usize, column: usize, path: &str, message: String) {
        self.findings.borrow_mut().push(Finding {
            file: self.file.clone(),
            line,
            column,
            path: path.to_owned(),
            message,
        });
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.findings.into_inner();
        findings.sort_by_key(|finding| (finding.line, finding.column));
        findings
    }
}
