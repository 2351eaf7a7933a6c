//! One posed RGB-D frame with what the detector said about it.

use crate::InferenceError;
use nalgebra::Isometry3;
use prehend_geometry::{ColorImage, DepthImage, Intrinsics, OrientedBox};

/// Which detection each pixel belongs to (ROS `16UC1`), row-major: 0 is background, i is detection i, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelImage {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `[height, width]` labels.
    pub labels: Vec<u16>,
}

impl LabelImage {
    /// Background everywhere.
    pub fn blank(width: usize, height: usize) -> Self {
        Self { width, height, labels: vec![0; width * height] }
    }
}

/// One instance as the detector names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Value of its pixels in the label image, from 1.
    pub label: u16,
    /// Class name as the detector writes it; may be empty.
    pub class_name: String,
    /// Confidence, [0, 1].
    pub score: f64,
}

/// What a part detector said about a frame: its own label image and detections, whose classes are those of parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartLabels {
    /// Part masks, aligned with colour.
    pub labels: LabelImage,
    /// Parts.
    pub detections: Vec<Detection>,
}

/// One frame, all of one moment.
#[derive(Clone, Debug)]
pub struct Keyframe {
    /// Name of the view, such as `home`; a newer keyframe of the same name replaces crops of the older one.
    pub view: String,
    /// Time of the images, seconds.
    pub stamp: f64,
    /// Colour image.
    pub color: ColorImage,
    /// Depth, aligned with colour.
    pub depth: DepthImage,
    /// Instance masks, aligned with colour.
    pub labels: LabelImage,
    /// Instances.
    pub detections: Vec<Detection>,
    /// Parts (handles, knobs, buttons), when the robot has a detector of parts.
    pub parts: Option<PartLabels>,
    /// Intrinsics of all images.
    pub intrinsics: Intrinsics,
    /// Camera pose.
    pub map_from_camera: Isometry3<f64>,
    /// Boxes, map frame, in which points belong to the robot itself.
    pub robot: Vec<OrientedBox>,
}

/// Why a frame cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KeyframeError {
    /// Focal lengths or sizes that cannot be a camera's.
    #[error(transparent)]
    Intrinsics(#[from] prehend_geometry::camera::BadIntrinsics),
    /// An image does not have the size the intrinsics say, or not the number of pixels its size says.
    #[error(
        "the {image} image is {width} x {height} with {pixels} pixels; expected {expected_width} x {expected_height}"
    )]
    Size {
        /// `color`, `depth`, `label` or `part label`.
        image: &'static str,
        /// Its width.
        width: usize,
        /// Its height.
        height: usize,
        /// Its number of pixels.
        pixels: usize,
        /// Width by the intrinsics.
        expected_width: usize,
        /// Height by the intrinsics.
        expected_height: usize,
    },
    /// The camera pose has numbers that are not finite.
    #[error("the camera pose is not finite")]
    Pose,
    /// Too few pixels have a depth.
    #[error("only {percent:.1} % of the depth image is measured")]
    BadDepth {
        /// Share of measured pixels, percent.
        percent: f64,
    },
    /// Nothing lies in the region of the map: neither a support nor a thing.
    #[error("nothing lies in the region that is mapped: neither a support nor a thing")]
    Empty,
    /// A model gave no answer about the frame.
    #[error(transparent)]
    Model(#[from] InferenceError),
}

/// Least share of measured pixels of a usable depth image.
const MIN_DEPTH_SHARE: f64 = 0.02;

impl Keyframe {
    /// Checks that the parts belong together.
    ///
    /// Errors: [`KeyframeError`], the first that applies in the order of its variants.
    pub fn validate(&self) -> Result<(), KeyframeError> {
        self.intrinsics.validate()?;
        let (expected_width, expected_height) = (self.intrinsics.width, self.intrinsics.height);
        let parts = self.parts.as_ref().map(|parts| &parts.labels);
        let parts = parts.map(|labels| ("part label", labels.width, labels.height, labels.labels.len()));
        for (image, width, height, pixels) in [
            ("color", self.color.width, self.color.height, self.color.pixels.len()),
            ("depth", self.depth.width, self.depth.height, self.depth.millimetres.len()),
            ("label", self.labels.width, self.labels.height, self.labels.labels.len()),
        ]
        .into_iter()
        .chain(parts)
        {
            if (width, height) != (expected_width, expected_height) || pixels != width * height {
                return Err(KeyframeError::Size {
                    image,
                    width,
                    height,
                    pixels,
                    expected_width,
                    expected_height,
                });
            }
        }
        let pose = self.map_from_camera;
        let finite = pose.translation.vector.iter().chain(pose.rotation.coords.iter()).all(|x| x.is_finite());
        if !finite {
            return Err(KeyframeError::Pose);
        }
        let share = self.depth.valid_fraction();
        if share < MIN_DEPTH_SHARE {
            return Err(KeyframeError::BadDepth { percent: share * 100.0 });
        }
        Ok(())
    }
}
