//! What can be wrong with a message.

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// A number that is NaN or infinite.
    #[error("{what} is not finite")]
    NotFinite {
        /// The field.
        what: &'static str,
    },
    /// A quaternion that is not of unit length.
    #[error("the orientation's quaternion has length {norm:.3} instead of 1")]
    NotUnit {
        /// Its length.
        norm: f64,
    },
    /// Lengths that do not agree.
    #[error("{what}: expected {expected} elements, found {found}")]
    Length {
        /// The field.
        what: &'static str,
        /// Expected number.
        expected: usize,
        /// Found number.
        found: usize,
    },
    /// An encoding or field layout that is not supported.
    #[error("{what} `{found}` is not supported; expected {expected}")]
    Unsupported {
        /// The field.
        what: &'static str,
        /// What was found.
        found: String,
        /// What is supported.
        expected: &'static str,
    },
    /// A word that is none of the known ones.
    #[error("unknown {what} `{word}`")]
    UnknownWord {
        /// What it should be.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// Intrinsics that belong to no camera.
    #[error(transparent)]
    Intrinsics(#[from] prehend_geometry::camera::BadIntrinsics),
}

pub(super) type Result<T> = std::result::Result<T, ConvertError>;

pub(super) fn finite(what: &'static str, numbers: &[f64]) -> Result<()> {
    if numbers.iter().all(|n| n.is_finite()) { Ok(()) } else { Err(ConvertError::NotFinite { what }) }
}

pub(super) fn length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(ConvertError::Length { what, expected, found }) }
}
