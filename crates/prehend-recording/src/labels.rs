//! Labels of a frame: `target_mask.png` with the parts in `labels.json`, or `instances.png` when all things are labelled.

use crate::picture::{PictureError, read_grey16, read_mask};
use prehend_geometry::Mask;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One thing that is marked in a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// What it is called; empty when nobody said.
    pub name: String,
    /// Its pixels; not empty.
    pub mask: Mask,
    /// A pixel (u, v) of each of its parts, with the part's name.
    pub parts: Vec<(String, [usize; 2])>,
}

/// Why labels cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LabelsError {
    /// The mask cannot be read.
    #[error(transparent)]
    Mask(#[from] PictureError),
    /// The mask is empty.
    #[error("{} marks no pixel", path.display())]
    Empty {
        /// The mask.
        path: PathBuf,
    },
    /// `labels.json` is not what it should be.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
}

#[derive(Deserialize)]
struct LabelsFile {
    objects: Vec<NamedObject>,
}

#[derive(Deserialize)]
struct NamedObject {
    name: String,
    #[serde(default)]
    target: bool,
    #[serde(default)]
    parts: Vec<LabelledPart>,
}

#[derive(Deserialize)]
struct LabelledPart {
    name: String,
    pixel: [usize; 2],
}

/// Reads the labels beside the pictures of a frame; empty when it has none. `target_mask.png` (8 bit) marks one thing, whose name and parts
/// stand in `labels.json` if there is one; `instances.png` (16 bit) has a number for each thing, 0 for everything else. With
/// `instances.json` beside it that picture is what a segmenter drew and marks nothing.
///
/// Errors: [`LabelsError`].
pub fn read_labels(folder: &Path) -> Result<Vec<Labelled>, LabelsError> {
    if !folder.join("instances.json").is_file() {
        match read_grey16(&folder.join("instances.png")) {
            Err(PictureError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(picture) => return Ok(instances(picture.width, picture.height, &picture.values)),
        }
    }
    let path = folder.join("target_mask.png");
    let mask = match read_mask(&path) {
        Err(PictureError::Missing { .. }) => return Ok(Vec::new()),
        other => other?,
    };
    if mask.area() == 0 {
        return Err(LabelsError::Empty { path });
    }
    let path = folder.join("labels.json");
    let wrong = |error: String| LabelsError::File { path: path.clone(), error };
    let file = match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => LabelsFile { objects: Vec::new() },
        Err(error) => return Err(wrong(error.to_string())),
    };
    let target = file.objects.into_iter().find(|object| object.target);
    let (name, parts) = target.map(|object| (object.name, object.parts)).unwrap_or_default();
    let parts = parts.into_iter().map(|part| (part.name, part.pixel)).collect();
    Ok(vec![Labelled { name, mask, parts }])
}

fn instances(width: usize, height: usize, values: &[u16]) -> Vec<Labelled> {
    let mut pixels: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (index, value) in values.iter().enumerate().filter(|(_, value)| **value > 0) {
        pixels.entry(*value).or_default().push(index);
    }
    let labelled = |(value, pixels): (u16, Vec<usize>)| Labelled {
        name: format!("instance {value}"),
        mask: Mask::from_indices(width, height, &pixels),
        parts: Vec::new(),
    };
    pixels.into_iter().map(labelled).collect()
}
