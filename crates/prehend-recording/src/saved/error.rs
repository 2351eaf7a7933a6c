//! Why a map is not written.

use std::path::PathBuf;

/// Why a map was not written; what was in its place is still there.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// There is something else in the map's place.
    #[error("{} is neither a map nor an empty folder; it is not overwritten", path.display())]
    NotAMap {
        /// The place.
        path: PathBuf,
    },
    /// A file cannot be written: no room, no permission.
    #[error("cannot write {}: {error}; nothing was changed", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// A picture cannot be encoded.
    #[error("cannot encode {name}: {error}")]
    Encode {
        /// File of the picture, from the map's folder.
        name: String,
        /// What the encoder said.
        error: image::ImageError,
    },
    /// The map has a number that files cannot hold.
    #[error("object {key} has a number that is not finite")]
    NotFinite {
        /// Key of the object.
        key: String,
    },
}
