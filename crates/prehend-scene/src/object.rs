//! Objects and their parts (ASP III-A).

use crate::Skill;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{ColorImage, DepthImage, Intrinsics, Mask, OrientedBox, PointCloud};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Unique name of an object in a map, such as `red_ball_0` (ASP III-B).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectKey(pub String);

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for ObjectKey {
    fn from(key: &str) -> Self {
        Self(key.to_owned())
    }
}

/// A local view of an object: image crops around its mask, and where they were taken from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crop {
    /// Name of the keyframe.
    pub view: String,
    /// Colour crop.
    pub color: ColorImage,
    /// Depth crop, aligned with `color`.
    pub depth: DepthImage,
    /// The object's mask in the whole image.
    pub mask: Mask,
    /// Left column of the crop in the whole image.
    pub x: usize,
    /// Top row of the crop in the whole image.
    pub y: usize,
    /// Intrinsics of the whole image.
    pub intrinsics: Intrinsics,
    /// Camera pose when the view was taken.
    pub map_from_camera: Isometry3<f64>,
    /// Which tool drew the mask.
    pub producer: String,
    /// What that tool called the object in this view; may be empty.
    pub label: String,
    /// How sure that tool was, [0, 1].
    pub score: f64,
    /// Time of the image, seconds.
    pub stamp: f64,
    /// Rank: mask area in pixels, with a penalty when it touches the image border (ASP IV-A).
    pub rank: f64,
}

impl Crop {
    /// Intrinsics of the crop itself, whose left top is at 0.
    pub fn own_intrinsics(&self) -> Intrinsics {
        Intrinsics {
            width: self.depth.width,
            height: self.depth.height,
            cx: self.intrinsics.cx - self.x as f64,
            cy: self.intrinsics.cy - self.y as f64,
            ..self.intrinsics
        }
    }
}

/// One object of the map (ASP III-A).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Unique key in its map.
    pub key: ObjectKey,
    /// Class name with the most weight, lower case with spaces; empty when no detector named it.
    pub class_name: String,
    /// Weight share of `class_name` among all votes, [0, 1].
    pub confidence: f64,
    /// Class names with their summed weights, most first.
    pub class_votes: Vec<(String, f64)>,
    /// Points in the map frame; not empty.
    pub cloud: PointCloud,
    /// Upright box around the cloud, map frame.
    pub bounds: OrientedBox,
    /// Mean colour.
    pub color: [u8; 3],
    /// Basic colour words with their pixel share, most first.
    pub color_fractions: Vec<(String, f64)>,
    /// Feature vector of the embedder, unit length; may be empty.
    pub features: Vec<f32>,
    /// Best views, best first.
    pub crops: Vec<Crop>,
    /// Parts found so far.
    pub affordances: Vec<Affordance>,
    /// Parts that a part detector named, most seen first.
    pub parts: Vec<ObservedPart>,
    /// Number of keyframes the object was seen in.
    pub view_count: u32,
    /// Whether every view touches the image border.
    pub touches_border: bool,
    /// Time of the last keyframe that saw it, seconds.
    pub last_seen: f64,
    /// How probable it is that it is a thing, by the best of its views, [0, 1]; 1 where a detector drew it or nothing tells.
    #[serde(default = "certain")]
    pub probability: f64,
    /// Of a drawer whose cabinet is known as one model: how it slides.
    #[serde(default)]
    pub slide: Option<Slide>,
}

/// The probability of what is there for certain.
fn certain() -> f64 {
    1.0
}

/// How a drawer slides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slide {
    /// Horizontal unit vector along which it opens, map frame.
    pub way: Vector3<f64>,
    /// Where its front is along that when it is closed, metres.
    pub closed: f64,
}

impl Object {
    /// A body that no view has named or counted yet; `cloud` and `bounds` are in the map frame.
    pub fn unnamed(key: ObjectKey, cloud: PointCloud, bounds: OrientedBox) -> Self {
        Self {
            key,
            class_name: String::new(),
            confidence: 0.0,
            class_votes: Vec::new(),
            cloud,
            bounds,
            color: [0; 3],
            color_fractions: Vec::new(),
            features: Vec::new(),
            crops: Vec::new(),
            affordances: Vec::new(),
            parts: Vec::new(),
            view_count: 0,
            touches_border: false,
            last_seen: 0.0,
            probability: certain(),
            slide: None,
        }
    }

    /// Moves all of it by this vector of the map frame, metres. Parts that were found by its shape are forgotten.
    pub fn shift(&mut self, by: &Vector3<f64>) {
        let clouds = self.parts.iter_mut().map(|part| &mut part.cloud).chain([&mut self.cloud]);
        clouds.flat_map(|cloud| &mut cloud.points).for_each(|point| *point += by);
        self.bounds.pose.translation.vector += by;
        self.affordances.clear();
    }

    /// Whether so little was seen of it that its names say nothing yet: a view that shows it well counts 1, and half of two are one.
    pub fn is_hardly_seen(&self) -> bool {
        self.class_votes.iter().map(|(_, weight)| weight).sum::<f64>() < 2.0
    }

    /// Whether no name has most of the votes.
    pub fn is_unsure(&self) -> bool {
        self.confidence < 0.5
    }

    /// The names that views gave it: that which won, and those with at least `share` of the votes that name something.
    pub fn names(&self, share: f64) -> impl Iterator<Item = &str> {
        let votes = || self.class_votes.iter().filter(|(name, _)| !name.is_empty());
        let least = share * votes().map(|(_, weight)| weight).sum::<f64>();
        let rivals = votes().filter(move |(name, weight)| *name != self.class_name && *weight >= least);
        let rivals = rivals.map(|(name, _)| name.as_str());
        Some(self.class_name.as_str()).filter(|name| !name.is_empty()).into_iter().chain(rivals)
    }

    /// Where the views were taken from, in the mean; the origin of the map when it has none.
    pub fn viewer(&self) -> Point3<f64> {
        let count = self.crops.len().max(1) as f64;
        let sum = self
            .crops
            .iter()
            .fold(Vector3::zeros(), |sum, crop| sum + crop.map_from_camera.translation.vector);
        Point3::from(sum / count)
    }
}

/// A part one can act on (ASP III-A).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Affordance {
    /// Natural-language part name: `rim`, `handle`, `opening`, `top`, `body`.
    pub part: String,
    /// Skill that acts on it.
    pub skill: Skill,
    /// Points in the map frame.
    pub cloud: PointCloud,
    /// Centre of the part, map frame.
    pub centroid: Point3<f64>,
    /// Outward unit normal of the part, map frame.
    pub normal: Vector3<f64>,
    /// How well the geometry fits the part, [0, 1].
    pub score: f64,
}

/// A part of an object as a part detector saw it, over all its views (ASP IV-A: views of one part are one by their overlap).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedPart {
    /// Class name with the most weight, lower case with spaces.
    pub class_name: String,
    /// Weight share of `class_name` among all votes, [0, 1].
    pub score: f64,
    /// Class names with their summed scores, most first.
    pub class_votes: Vec<(String, f64)>,
    /// Points in the map frame; not empty where the part was perceived, empty where only its name is passed on.
    pub cloud: PointCloud,
    /// The newest view of each name.
    pub views: Vec<PartView>,
}

/// One view of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartView {
    /// Name of the keyframe.
    pub view: String,
    /// The part's mask in the whole image.
    pub mask: Mask,
    /// What the detector called it.
    pub label: String,
    /// How sure it was, [0, 1].
    pub score: f64,
    /// Time of the image, seconds.
    pub stamp: f64,
}
