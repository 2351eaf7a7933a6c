//! `metadata.yaml` of rosbag2: which files belong to a bag.

use super::ContainerError;
use saphyr::{LoadableYamlNode, YamlOwned};
use std::path::{Path, PathBuf};

/// Name of the file.
pub(crate) const NAME: &str = "metadata.yaml";
/// Key of everything in it.
const ROOT: &str = "rosbag2_bagfile_information";

/// Whether rosbag2 compressed the whole file.
pub(super) fn is_compressed(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    [".mcap.zstd", ".db3.zstd"].iter().any(|end| name.ends_with(end))
}

/// The files of the bag, in the order in which they were recorded.
///
/// Errors: [`ContainerError::Read`], [`ContainerError::Metadata`]; [`ContainerError::Unsupported`] when single messages are compressed.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, ContainerError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ContainerError::Read { path: path.to_owned(), error })?;
    let wrong = |error: String| ContainerError::Metadata { path: path.to_owned(), error };
    let documents = YamlOwned::load_from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let root = documents.first().and_then(|document| document.as_mapping_get(ROOT));
    let root = root.ok_or_else(|| wrong(format!("it has no key `{ROOT}`")))?;
    let mode = root.as_mapping_get("compression_mode").and_then(YamlOwned::as_str).unwrap_or_default();
    if mode.eq_ignore_ascii_case("message") {
        return Err(ContainerError::Unsupported {
            path: path.to_owned(),
            what: "each message is compressed by itself; `ros2 bag convert` it without compression, or with that of MCAP"
                .to_owned(),
        });
    }
    let names = root.as_mapping_get("relative_file_paths").and_then(YamlOwned::as_sequence);
    let names = names.ok_or_else(|| wrong("it has no list `relative_file_paths`".to_owned()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    names
        .iter()
        .map(|name| match name.as_str() {
            Some(name) => Ok(beside(folder, name)),
            None => Err(wrong("`relative_file_paths` has an entry that is no text".to_owned())),
        })
        .collect()
}

/// The file `name`, which old versions of rosbag2 wrote with the folder's name before it.
fn beside(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    match Path::new(name).file_name() {
        Some(last) if !plain.is_file() => folder.join(last),
        _ => plain,
    }
}
