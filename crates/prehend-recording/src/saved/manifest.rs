//! What files a saved map has, and what is in them.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Name of the manifest.
pub(super) const FILE: &str = "manifest.json";
/// What the manifest of a map says it is.
pub(super) const FORMAT: &str = "prehend-map";

/// Size and checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Size.
    pub(super) bytes: u64,
    /// SHA-256, lower-case hexadecimal.
    pub(super) sha256: String,
}

impl Entry {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { bytes: bytes.len() as u64, sha256 }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) version: u32,
    /// By path from the map's folder, parted by `/`.
    pub(super) files: BTreeMap<String, Entry>,
}

/// The head of a manifest of any version.
#[derive(Deserialize)]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) version: u32,
}
