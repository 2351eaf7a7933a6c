//! One posed RGB-D frame with what the detector said about it.

use crate::InferenceError;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
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

/// How a picture must be turned to stand upright: cameras are mounted on their side, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageTurn {
    /// It stands upright.
    #[default]
    None,
    /// By 90 degrees clockwise.
    Clockwise,
    /// By 180 degrees.
    Around,
    /// By 90 degrees counterclockwise.
    Counterclockwise,
}

/// A picture turned by 90 degrees clockwise: its width, height and pixels. What has not the pixels of its size keeps them, for
/// [`Keyframe::validate`] to tell.
fn clockwise<T: Copy>((width, height): (usize, usize), pixels: Vec<T>) -> (usize, usize, Vec<T>) {
    if pixels.len() != width * height {
        return (height, width, pixels);
    }
    // Row u of the turned one is column u, from below.
    let turned = (0..width).flat_map(|u| (0..height).rev().map(move |v| v * width + u));
    (height, width, turned.map(|index| pixels[index]).collect())
}

impl LabelImage {
    fn clockwise(self) -> Self {
        let (width, height, labels) = clockwise((self.width, self.height), self.labels);
        Self { width, height, labels }
    }
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
    /// The same frame of a camera that is turned about its optical axis, so that its pictures are: every point stays where it is in the map.
    pub fn turned(self, turn: ImageTurn) -> Self {
        let quarters = match turn {
            ImageTurn::None => 0,
            ImageTurn::Clockwise => 1,
            ImageTurn::Around => 2,
            ImageTurn::Counterclockwise => 3,
        };
        (0..quarters).fold(self, |frame, _| frame.clockwise())
    }

    fn clockwise(self) -> Self {
        let Self { color, depth, intrinsics, .. } = self;
        let (width, height, pixels) = clockwise((color.width, color.height), color.pixels);
        let color = ColorImage { width, height, pixels };
        let (width, height, millimetres) = clockwise((depth.width, depth.height), depth.millimetres);
        let depth = DepthImage { width, height, millimetres };
        // x of the turned camera is -y of this one, its y is x.
        let camera_from_turned =
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -std::f64::consts::FRAC_PI_2);
        Self {
            color,
            depth,
            labels: self.labels.clockwise(),
            parts: self.parts.map(|parts| PartLabels { labels: parts.labels.clockwise(), ..parts }),
            intrinsics: Intrinsics {
                fx: intrinsics.fy,
                fy: intrinsics.fx,
                cx: intrinsics.height as f64 - 1.0 - intrinsics.cy,
                cy: intrinsics.cx,
                width: intrinsics.height,
                height: intrinsics.width,
            },
            map_from_camera: self.map_from_camera * camera_from_turned,
            ..self
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of 4 x 3 pixels that are all different.
    fn frame() -> Keyframe {
        let (width, height) = (4, 3);
        let numbers = || 0..width * height;
        let labels = LabelImage { width, height, labels: numbers().map(|i| i as u16).collect() };
        Keyframe {
            view: "home".to_owned(),
            stamp: 1.0,
            color: ColorImage { width, height, pixels: numbers().map(|i| [i as u8, 0, 0]).collect() },
            depth: DepthImage { width, height, millimetres: numbers().map(|i| 500 + i as u16).collect() },
            labels: labels.clone(),
            detections: Vec::new(),
            parts: Some(PartLabels { labels, detections: Vec::new() }),
            intrinsics: Intrinsics { fx: 5.0, fy: 6.0, cx: 1.3, cy: 0.9, width, height },
            map_from_camera: Isometry3::new(Vector3::new(0.1, -0.4, 0.8), Vector3::new(2.0, 0.3, -0.7)),
            robot: Vec::new(),
        }
    }

    /// What is seen at each pixel: its point in the map, and what the pictures have there; in the order of the labels.
    fn points(frame: &Keyframe) -> Vec<(u16, [u8; 3], u16, [f64; 3])> {
        let Intrinsics { width, height, .. } = frame.intrinsics;
        let mut points: Vec<_> = (0..width * height)
            .map(|index| {
                let depth = frame.depth.millimetres[index];
                let at = frame.intrinsics.unproject(
                    (index % width) as f64,
                    (index / width) as f64,
                    f64::from(depth) * 1e-3,
                );
                let at = frame.map_from_camera * at;
                assert_eq!(
                    frame.labels.labels[index],
                    frame.parts.as_ref().expect("parts").labels.labels[index]
                );
                (frame.labels.labels[index], frame.color.pixels[index], depth, at.coords.into())
            })
            .collect();
        points.sort_by_key(|point| point.0);
        points
    }

    #[test]
    fn a_turned_frame_shows_the_same_points_at_the_same_places() {
        let upright = points(&frame());
        for (turn, size) in [
            (ImageTurn::Clockwise, (3, 4)),
            (ImageTurn::Around, (4, 3)),
            (ImageTurn::Counterclockwise, (3, 4)),
        ] {
            let turned = frame().turned(turn);
            assert_eq!(turned.validate(), Ok(()));
            assert_eq!((turned.color.width, turned.color.height), size);
            for (before, after) in upright.iter().zip(points(&turned)) {
                assert_eq!((before.0, before.1, before.2), (after.0, after.1, after.2), "{turn:?}");
                let off = (0..3).map(|axis| (before.3[axis] - after.3[axis]).abs()).fold(0.0, f64::max);
                assert!(off < 1e-12, "{turn:?}: {before:?} {after:?}");
            }
        }
        // The first row of a picture is its right side when it is turned clockwise.
        let clockwise = frame().turned(ImageTurn::Clockwise);
        let right: Vec<u16> = (0..4).map(|row| clockwise.labels.labels[row * 3 + 2]).collect();
        assert_eq!(right, [0, 1, 2, 3]);
    }

    #[test]
    fn a_picture_of_another_size_is_told_and_not_turned() {
        let mut wrong = frame();
        wrong.depth.millimetres.pop();
        let told = wrong.turned(ImageTurn::Clockwise).validate();
        assert!(matches!(told, Err(KeyframeError::Size { image: "depth", pixels: 11, .. })), "{told:?}");
    }
}
