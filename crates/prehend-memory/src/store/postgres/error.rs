//! What the errors of a server mean.

use super::super::StoreError;
use std::error::Error as _;
use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

/// An error with what is behind it.
pub(super) fn words(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} ({})", said.message(), said.code().code());
    }
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

/// Whether an error ends the connection.
pub(super) fn is_lost(error: &Error) -> bool {
    let is_io = error.source().is_some_and(|cause| cause.is::<std::io::Error>());
    let is_last = |severity| matches!(severity, Severity::Fatal | Severity::Panic);
    error.is_closed()
        || is_io
        || error.as_db_error().is_some_and(|said| said.parsed_severity().is_some_and(is_last))
}

/// What an error means. `is_open` tells whether the connection was there before.
pub(super) fn meaning(error: &Error, store: &str, is_open: bool) -> StoreError {
    let (store, what) = (store.to_owned(), words(error));
    let Some(code) = error.code() else {
        return match is_open && !is_lost(error) {
            true => StoreError::Failed { store, what },
            false => StoreError::Unreachable { store, what },
        };
    };
    let class = code.code().get(..2).unwrap_or_default();
    match class {
        // Of lack of means, that of connections passes.
        "53" if *code == SqlState::TOO_MANY_CONNECTIONS => StoreError::Busy { store, what },
        "53" => StoreError::Full { store, what },
        "08" | "28" | "3D" => StoreError::Unreachable { store, what },
        "XX" if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) => {
            StoreError::Damaged { store, what }
        }
        _ if BUSY.contains(code) => StoreError::Busy { store, what },
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE || is_lost(error) => {
            StoreError::Unreachable { store, what }
        }
        _ => StoreError::Failed { store, what },
    }
}

/// Waited for too long, or two that waited for each other.
const BUSY: [SqlState; 4] = [
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::QUERY_CANCELED,
];
