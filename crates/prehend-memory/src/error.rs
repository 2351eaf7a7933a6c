//! Why the memory does not do what was asked.

use crate::encode::EncodeError;
use crate::store::StoreError;

/// Why the memory does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// What came in is no look, outcome or request.
    #[error("the memory cannot take this {what}: {why}")]
    Bad {
        /// What it should be.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// No features.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What came in is none, and why.
pub(crate) fn bad(what: &'static str, why: impl Into<String>) -> MemoryError {
    MemoryError::Bad { what, why: why.into() }
}
