//! Pictures of a run: what the camera sees, and the object map drawn over it.

mod plan;
mod top;

use futures::StreamExt;
use nalgebra::{Isometry3, Point3};
use prehend_convert as convert;
use prehend_drawing::overlay;
use prehend_geometry::{ColorImage, Intrinsics, Mask, OrientedBox};
use prehend_msgs::prehend_interfaces::msg::ObjectMap as ObjectMapMsg;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image};
use prehend_robots::RobotConfig;
use prehend_ros::{Node, QosProfile, RosError, TfBuffer, TfError, Transform};
use prehend_scene::{Object, ObjectMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use plan::plan_marks;
pub use top::top_view;

/// Longest time until the camera's next image.
const IMAGE_DEADLINE: Duration = Duration::from_secs(5);
/// Longest time until the transform of an image; within the other, so that an image without a transform is one.
const TRANSFORM_DEADLINE: Duration = Duration::from_secs(2);

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The middleware failed.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// The camera is silent.
    #[error("no image from {topic} within {IMAGE_DEADLINE:?}")]
    NoImage {
        /// The camera's topic.
        topic: String,
    },
    /// The camera did not tell its parameters.
    #[error("the camera's parameters were never heard")]
    NoCameraInfo,
    /// Where the camera was is not known.
    #[error(transparent)]
    Transform(#[from] TfError),
    /// A message is not what it claims to be.
    #[error(transparent)]
    Convert(#[from] convert::ConvertError),
    /// The picture cannot be encoded.
    #[error(transparent)]
    Png(#[from] overlay::PngError),
    /// The picture cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
}

/// One image of the camera.
#[derive(Debug)]
pub struct View {
    image: ColorImage,
    /// Where the camera was when it took the image, in the robot's base frame.
    base_from_camera: Result<Transform, TfError>,
}

/// Waits for an image that the camera takes from now on; what a new subscription hears first may be an old one.
///
/// The camera's pose is asked for at once: a fast simulation soon leaves ten seconds of transforms behind. An image that is too old for
/// them all the same gives way to the next one.
///
/// Errors: [`PictureError::Ros`], [`PictureError::NoImage`], [`PictureError::Convert`].
pub async fn next_view(node: &Node, robot: &RobotConfig, tf: &TfBuffer) -> Result<View, PictureError> {
    let topic = &robot.camera.color;
    let since = convert::seconds(&node.now());
    let mut images = node.subscribe::<Image>(topic, QosProfile::sensor_data().depth(1))?;
    let fresh = async {
        while let Some(image) = images.next().await {
            let header = &image.header;
            if convert::seconds(&header.stamp) < since {
                continue;
            }
            match tf.wait(&robot.frames.base, &header.frame_id, &header.stamp, TRANSFORM_DEADLINE).await {
                Err(TfError::TooOld { .. }) => {}
                base_from_camera => return Some((image, base_from_camera)),
            }
        }
        None
    };
    let (message, base_from_camera) = tokio::time::timeout(IMAGE_DEADLINE, fresh)
        .await
        .ok()
        .flatten()
        .ok_or_else(|| PictureError::NoImage { topic: topic.clone() })?;
    let image = convert::color_image_from_msg(&message)?;
    Ok(View { image, base_from_camera })
}

/// The picture as the bytes of a PNG.
///
/// Errors: [`PictureError::Png`].
pub fn png(image: &ColorImage) -> Result<Vec<u8>, PictureError> {
    Ok(overlay::png(image)?)
}

/// Writes the picture as a PNG file.
///
/// Errors: [`PictureError::Png`], [`PictureError::Write`].
pub fn save(image: &ColorImage, path: &Path) -> Result<(), PictureError> {
    let bytes = png(image)?;
    std::fs::write(path, bytes).map_err(|error| PictureError::Write { path: path.to_owned(), error })
}

impl View {
    /// Where the camera was: from it to the robot's base.
    ///
    /// Errors: [`PictureError::Transform`], [`PictureError::Convert`].
    pub fn base_from_camera(&self) -> Result<Isometry3<f64>, PictureError> {
        let at = self.base_from_camera.clone()?;
        Ok(convert::isometry(at.translation, at.rotation)?)
    }

    /// The picture.
    pub fn image(&self) -> &ColorImage {
        &self.image
    }

    /// The picture with the objects of the map drawn over it, points, boxes and keys, and then `marks`.
    ///
    /// Errors: [`PictureError::Convert`], [`PictureError::Transform`], [`PictureError::NoCameraInfo`].
    pub fn with_map(
        &self,
        map: &ObjectMapMsg,
        camera_info: Option<&CameraInfo>,
        marks: &[Mark],
    ) -> Result<ColorImage, PictureError> {
        let map = convert::map_from_msg(map)?;
        let intrinsics = convert::intrinsics_from_msg(camera_info.ok_or(PictureError::NoCameraInfo)?)?;
        Ok(over_view(self.image.clone(), &map, (&intrinsics, &self.base_from_camera()?), &|_| None, marks))
    }
}

/// Something drawn over a picture beside the map.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// Label; empty for none.
    pub label: String,
    /// Colour.
    pub color: [u8; 3],
    /// Lines in the map's frame, metres.
    pub lines: Vec<[Point3<f64>; 2]>,
    /// A region of the picture to tint and outline.
    pub mask: Option<Mask>,
}

/// A camera's picture with the objects of a map drawn over it: box, key and name, and the mask that `mask_of` gives, else points;
/// then `marks`.
pub fn over_view(
    mut image: ColorImage,
    map: &ObjectMap,
    (intrinsics, base_from_camera): (&Intrinsics, &Isometry3<f64>),
    mask_of: &dyn Fn(&Object) -> Option<Mask>,
    marks: &[Mark],
) -> ColorImage {
    let camera_from_base = base_from_camera.inverse();
    let pixel = |point: &Point3<f64>| {
        intrinsics.project(&camera_from_base.transform_point(point)).map(|pixel| [pixel.x, pixel.y])
    };
    let seen = |[from, to]: &[Point3<f64>; 2]| Some(vec![pixel(from)?, pixel(to)?]);
    let things = map.objects.iter().enumerate().map(|(index, object)| {
        let lines = edges(&object.bounds).iter().filter_map(seen).collect();
        let mask = mask_of(object);
        let step = (object.cloud.points.len() / 400).max(1);
        let points = object.cloud.points.iter().step_by(step).filter(|_| mask.is_none());
        let dots = points.filter_map(pixel).collect();
        overlay::Annotation {
            label: label(object),
            color: overlay::PALETTE[index % overlay::PALETTE.len()],
            lines,
            dots,
            mask,
        }
    });
    let marks = marks.iter().map(|mark| overlay::Annotation {
        label: mark.label.clone(),
        color: mark.color,
        lines: mark.lines.iter().filter_map(seen).collect(),
        mask: mark.mask.clone(),
        ..Default::default()
    });
    let annotations: Vec<overlay::Annotation> = things.chain(marks).collect();
    overlay::annotate(&mut image, &annotations);
    image
}

/// Key of an object, with its name where the key does not tell it, else with its colour.
fn label(object: &Object) -> String {
    let key = &object.key.0;
    let color = object.color_fractions.first().map_or("", |(word, _)| word);
    match object.class_name.as_str() {
        "" if !color.is_empty() => format!("{key} {color}"),
        name if !key.starts_with(&name.replace(' ', "_")) => format!("{key} {name}"),
        _ => key.clone(),
    }
}

/// The twelve edges of a box.
fn edges(bounds: &OrientedBox) -> Vec<[Point3<f64>; 2]> {
    let corner = |index: usize| {
        let sign = |bit: usize| if index >> bit & 1 == 1 { 0.5 } else { -0.5 };
        let size = bounds.size;
        bounds.pose.transform_point(&Point3::new(sign(0) * size.x, sign(1) * size.y, sign(2) * size.z))
    };
    (0..8)
        .flat_map(|from| (0..3).map(move |bit| (from, from | 1 << bit)))
        .filter(|(from, to)| from != to)
        .map(|(from, to)| [corner(from), corner(to)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn a_box_has_twelve_edges_of_its_size() {
        let bounds =
            OrientedBox { pose: Isometry3::translation(1.0, 0.0, 0.0), size: Vector3::new(1.0, 2.0, 3.0) };
        let edges = edges(&bounds);
        assert_eq!(edges.len(), 12);
        let total: f64 = edges.iter().map(|[from, to]| (to - from).norm()).sum();
        assert!((total - 4.0 * (1.0 + 2.0 + 3.0)).abs() < 1e-12);
    }
}
