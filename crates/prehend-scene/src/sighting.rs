//! From where and when a camera saw an object.

use crate::Crop;
use nalgebra::Isometry3;
use prehend_geometry::Intrinsics;
use serde::{Deserialize, Serialize};

/// One view of an object without its pixels: enough to tell where in that image the object must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Name of the keyframe.
    pub view: String,
    /// Time of the image, seconds.
    pub stamp: f64,
    /// Intrinsics of the whole image.
    pub intrinsics: Intrinsics,
    /// Camera pose when the image was taken.
    pub map_from_camera: Isometry3<f64>,
}

impl From<&Crop> for Sighting {
    fn from(crop: &Crop) -> Self {
        Self {
            view: crop.view.clone(),
            stamp: crop.stamp,
            intrinsics: crop.intrinsics,
            map_from_camera: crop.map_from_camera,
        }
    }
}
