//! What stands in `map.json`. Poses are `{"rotation": [x, y, z, w], "translation": [x, y, z]}`; metres, seconds, pixels.

use nalgebra::Isometry3;
use prehend_geometry::{Intrinsics, OrientedBox};
use prehend_perception::MapSettings;
use prehend_perception::segment::Reason;
use prehend_scene::{Affordance, ObservedPart, Slide};
use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MapRecord {
    pub(super) parameters: MapSettings,
    /// What made the features; maps of the first programs do not say, theirs are of words.
    #[serde(default = "words")]
    pub(super) embedder: String,
    /// Files of scene n: `n/`, four digits.
    pub(super) scenes: Vec<SceneRecord>,
}

fn certain() -> f64 {
    1.0
}

fn words() -> String {
    prehend_perception::traits::WORDS.to_owned()
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SceneRecord {
    pub(super) name: String,
    /// Frame of everything in the scene.
    pub(super) frame: String,
    /// Version of its map: grows with every update.
    pub(super) version: u64,
    pub(super) stamp: f64,
    /// `a x + b y + c z + d = 0`, unit normal, up.
    pub(super) support_plane: Option<[f64; 4]>,
    /// Picture of view n: `view_n.png`, four digits.
    pub(super) views: Vec<ViewRecord>,
    /// Files of object n: `object_n/`, four digits.
    pub(super) objects: Vec<ObjectRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ViewRecord {
    pub(super) name: String,
    pub(super) stamp: f64,
    pub(super) intrinsics: Intrinsics,
    pub(super) map_from_camera: Isometry3<f64>,
    /// Why each of the things that are none is none; there is no file of them when there is none.
    #[serde(default)]
    pub(super) left_out: Vec<Reason>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ObjectRecord {
    pub(super) key: String,
    /// Name with the most weight; empty when nobody named it.
    pub(super) class_name: String,
    pub(super) confidence: f64,
    pub(super) class_votes: Vec<(String, f64)>,
    /// Upright box.
    pub(super) bounds: OrientedBox,
    pub(super) color: [u8; 3],
    pub(super) color_fractions: Vec<(String, f64)>,
    pub(super) features: Vec<f32>,
    pub(super) view_count: u32,
    pub(super) touches_border: bool,
    pub(super) last_seen: f64,
    /// Points in `cloud.ply`.
    pub(super) points: usize,
    /// Pictures of crop n: `crop_n.color.png`, `crop_n.depth.png`, `crop_n.mask.png`.
    pub(super) crops: Vec<CropRecord>,
    pub(super) affordances: Vec<Affordance>,
    pub(super) parts: Vec<ObservedPart>,
    /// How probable it is that it is a thing.
    #[serde(default = "certain")]
    pub(super) probability: f64,
    #[serde(default)]
    pub(super) slide: Option<Slide>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CropRecord {
    pub(super) view: String,
    /// Left column and top row of the crop in the whole picture.
    pub(super) at: [usize; 2],
    /// Left, top, width and height of the mask in the whole picture; there is no mask file when it is empty.
    pub(super) mask: [usize; 4],
    /// Width and height of the whole picture.
    pub(super) picture: [usize; 2],
    pub(super) intrinsics: Intrinsics,
    pub(super) map_from_camera: Isometry3<f64>,
    pub(super) producer: String,
    pub(super) label: String,
    pub(super) score: f64,
    pub(super) stamp: f64,
    pub(super) rank: f64,
}
