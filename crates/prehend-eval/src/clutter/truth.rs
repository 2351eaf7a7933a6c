//! What is really there, in a file beside the frames.

use super::{Clutter, Shot};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::OrientedBox;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Fewest pixels, in one view and within the range, of a thing that a map can be asked for.
const VISIBLE: usize = 100;
/// Its name in a folder of frames.
const FILE: &str = "truth.json";

/// One thing as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueThing {
    /// Unique name.
    pub name: String,
    /// What it is.
    pub class: String,
    /// Middle of its upright box, map frame, metres.
    pub center: [f64; 3],
    /// Turn of the box about z, radians.
    pub yaw: f64,
    /// Full lengths of the box along its own x, y and z, metres.
    pub size: [f64; 3],
    /// Pixels it has in each view that shows it, hidden ones not counted.
    pub pixels: BTreeMap<String, usize>,
}

/// Everything that is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// Seed it was drawn from.
    pub seed: u64,
    /// Things, in the order in which they were drawn.
    pub things: Vec<TrueThing>,
}

/// Why there is no truth.
#[derive(Debug, thiserror::Error)]
pub enum TruthError {
    /// The file cannot be read or written.
    #[error("cannot use {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// The file is not what `prehend scene frames` writes.
    #[error("{}: {error}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
}

impl TrueThing {
    /// Its upright box, map frame.
    pub fn bounds(&self) -> OrientedBox {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.yaw);
        let pose = Isometry3::from_parts(Translation3::from(Vector3::from(self.center)), turn);
        OrientedBox { pose, size: self.size.into() }
    }

    /// Whether at least 100 of its pixels are seen in one view: what a map can be asked for.
    pub fn is_visible(&self) -> bool {
        self.pixels.values().any(|pixels| *pixels >= VISIBLE)
    }
}

impl Truth {
    /// What stands there, and what of it the shots show.
    pub fn of(seed: u64, clutter: &Clutter, shots: &[Shot]) -> Self {
        let things = clutter.things.iter().enumerate().map(|(number, thing)| {
            let seen = |shot: &Shot| Some((shot.frame.name.clone(), *shot.pixels.get(&number)?));
            TrueThing {
                name: thing.name.clone(),
                class: thing.class.clone(),
                center: thing.bounds.pose.translation.vector.into(),
                yaw: thing.bounds.pose.rotation.euler_angles().2,
                size: thing.bounds.size.into(),
                pixels: shots.iter().filter_map(seen).collect(),
            }
        });
        Self { seed, things: things.collect() }
    }

    /// Boxes of what can be asked for.
    pub fn visible(&self) -> impl Iterator<Item = &TrueThing> {
        self.things.iter().filter(|thing| thing.is_visible())
    }

    /// Writes `truth.json` into a folder of frames.
    ///
    /// Errors: [`TruthError`].
    pub fn write(&self, folder: &Path) -> Result<(), TruthError> {
        let path = folder.join(FILE);
        let text = match serde_json::to_vec(self) {
            Ok(text) => text,
            Err(error) => return Err(TruthError::Json { path, error }),
        };
        std::fs::write(&path, text).map_err(|error| TruthError::File { path, error })
    }

    /// Reads `truth.json` of a folder of frames; `None` when it has none.
    ///
    /// Errors: [`TruthError`].
    pub fn read(folder: &Path) -> Result<Option<Self>, TruthError> {
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TruthError::File { path, error }),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| TruthError::Json { path, error })
    }
}
