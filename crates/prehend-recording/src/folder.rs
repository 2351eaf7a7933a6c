//! Frames in folders.
//!
//! A frame is `color.png` (8-bit RGB), `depth.png` (16-bit grey, aligned with colour, 0 = not measured) or `depth.tiff` (32-bit floats,
//! metres), `intrinsics.json` and, when it is known, `pose.json` (see [`crate::pose`]). Masks of any segmenter or detector may be given: `instances.png`
//! (16-bit grey, aligned with colour: 0 = nothing, i = the instance with label i) with the list `instances.json`,
//!
//! ```text
//! [{"label": 1, "class_name": "mug", "score": 0.9, "feature": [0.1, ...]}, ...]
//! ```
//!
//! where the class may be empty or left out, the score is 1 when it is left out, and the feature vector is optional: maps are built with the
//! features of their own embedder, those of the file are for whoever compares two programs on them. Labels without an entry are not
//! used, entries without a pixel are empty masks. Without `instances.json` the picture is what people marked (see [`crate::labels`]) and
//! no part of the frame.
//!
//! Three layouts are found by [`find_frames`]:
//!
//! ```text
//! DIR/color.png ...                              one frame
//! DIR/NAME/color.png ...                         a folder for each frame; intrinsics.json may stand in DIR
//! DIR/color/NAME.png, DIR/depth/NAME.png, ...    a folder for each kind, DIR/pose/NAME.json, DIR/instances/NAME.png
//!                                                and NAME.json; intrinsics.json in DIR
//! ```
//!
//! Frames come in the order of their names.

mod instances;
mod intrinsics;
mod write;

#[cfg(test)]
mod tests;

pub use instances::{Instances, InstancesError};
pub use write::WriteError;

use crate::depth::{DepthError, depth_image};
use crate::picture::{PictureError, read_color, read_grey16, read_metres};
use crate::pose::{self, PoseError};
use intrinsics::CameraFile;
use nalgebra::Isometry3;
use prehend_geometry::camera::BadIntrinsics;
use prehend_geometry::{ColorImage, DepthImage, Intrinsics};
use prehend_perception::{Keyframe, LabelImage};
use std::path::{Path, PathBuf};

/// Why a frame cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The folder holds no frame in any of the layouts.
    #[error(
        "no frame in {}: expected color.png, depth.png and intrinsics.json in it, or in each of its folders, \
         or folders color/ and depth/ with pictures of equal names; or a bag",
        folder.display()
    )]
    NoFrames {
        /// The folder.
        folder: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// A picture cannot be used.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// `intrinsics.json` is not what it should be.
    #[error("{}: {error}; expected {{\"fx\", \"fy\", \"cx\", \"cy\", \"width\", \"height\"}} in pixels", path.display())]
    IntrinsicsFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
    /// Intrinsics of no camera.
    #[error("{}: {error}; write the camera's calibration there", path.display())]
    Intrinsics {
        /// The file.
        path: PathBuf,
        /// Which numbers.
        error: BadIntrinsics,
    },
    /// `instances.json` is not what it should be.
    #[error("{}: {error}", path.display())]
    Instances {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: InstancesError,
    },
    /// The masks are not of the size of the colour picture.
    #[error("{frame}: colour is {} x {}, instances.png {} x {}; draw the masks in the colour picture", color[0], color[1], masks[0], masks[1])]
    MaskSize {
        /// Name of the frame.
        frame: String,
        /// Width and height of the colour picture.
        color: [usize; 2],
        /// Of the masks.
        masks: [usize; 2],
    },
    /// Lens distortion that is not zero.
    #[error("{}: the pictures are distorted ({coefficients:?}); undistort them first", path.display())]
    Distorted {
        /// The file.
        path: PathBuf,
        /// Its coefficients.
        coefficients: Vec<f64>,
    },
    /// Colour, depth and intrinsics are not of one size.
    #[error(
        "{frame}: colour is {} x {}, depth {} x {}, the intrinsics are for {} x {}; record depth aligned to colour",
        color[0], color[1], depth[0], depth[1], camera[0], camera[1]
    )]
    Sizes {
        /// Name of the frame.
        frame: String,
        /// Width and height of the colour picture.
        color: [usize; 2],
        /// Of the depth picture.
        depth: [usize; 2],
        /// By the intrinsics.
        camera: [usize; 2],
    },
    /// The depths cannot be used.
    #[error("{}: {error}{}", path.display(), unit_hint(error, *scale))]
    Depth {
        /// The depth picture.
        path: PathBuf,
        /// What is wrong.
        error: DepthError,
        /// Metres of a step.
        scale: f64,
    },
    /// The pose cannot be used.
    #[error("{}: {error}", path.display())]
    Pose {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: PoseError,
    },
}

fn is_tiff(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "tiff" || end == "tif")
}

/// The depth picture `NAME.png`, or `NAME.tiff` or `NAME.tif` when only that is there.
fn depth_file(png: PathBuf) -> PathBuf {
    let others = ["tiff", "tif"].map(|end| png.with_extension(end));
    match others.into_iter().find(|other| other.is_file()) {
        Some(other) if !png.is_file() => other,
        _ => png,
    }
}

/// What to do about depths in another unit.
fn unit_hint(error: &DepthError, scale: f64) -> String {
    match error {
        DepthError::Unit { .. } if scale == 1.0 => ". Floats are metres".to_owned(),
        DepthError::Nothing => String::new(),
        DepthError::Unit { .. } => format!(
            ". Are the values not millimetres? Then write \"depth_scale_m_per_unit\" into intrinsics.json (it is {scale} now)"
        ),
    }
}

/// Where the files of one frame are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFiles {
    /// Name of the frame.
    pub name: String,
    /// Colour picture.
    pub color: PathBuf,
    /// Depth picture.
    pub depth: PathBuf,
    /// Calibration.
    pub intrinsics: PathBuf,
    /// Camera pose; the file need not exist.
    pub pose: PathBuf,
    /// Masks; the file need not exist. Their list is beside it.
    pub instances: PathBuf,
}

/// One frame as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFrame {
    /// Name of the frame.
    pub name: String,
    /// Colour.
    pub color: ColorImage,
    /// Depth, aligned with colour.
    pub depth: DepthImage,
    /// Intrinsics of both.
    pub intrinsics: Intrinsics,
    /// Camera pose, when it was recorded.
    pub map_from_camera: Option<Isometry3<f64>>,
    /// Masks of a segmenter, when they were given.
    pub instances: Option<Instances>,
}

/// The frames of a folder, by name.
///
/// Errors: [`FrameError::NoFrames`], [`FrameError::Read`]. What is in the files is not looked at.
pub fn find_frames(folder: &Path) -> Result<Vec<FrameFiles>, FrameError> {
    if folder.join("color.png").is_file() || folder.join("depth.png").is_file() {
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let name =
            absolute.file_name().map_or_else(|| "frame".to_owned(), |n| n.to_string_lossy().into_owned());
        return Ok(vec![FrameFiles::in_folder(name, folder, folder)]);
    }
    let mut frames = if folder.join("color").is_dir() { by_kind(folder)? } else { by_name(folder)? };
    if frames.is_empty() {
        return Err(FrameError::NoFrames { folder: folder.to_owned() });
    }
    frames.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(frames)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, FrameError> {
    let failed = |error| FrameError::Read { path: folder.to_owned(), error };
    std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}

fn by_name(folder: &Path) -> Result<Vec<FrameFiles>, FrameError> {
    let is_frame = |path: &PathBuf| path.join("color.png").is_file() || path.join("depth.png").is_file();
    let frames = entries(folder)?.into_iter().filter(is_frame);
    Ok(frames
        .filter_map(|path| {
            Some(FrameFiles::in_folder(path.file_name()?.to_string_lossy().into_owned(), &path, folder))
        })
        .collect())
}

fn by_kind(folder: &Path) -> Result<Vec<FrameFiles>, FrameError> {
    let is_png = |path: &PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
    let pictures = entries(&folder.join("color"))?.into_iter().filter(is_png);
    Ok(pictures
        .filter_map(|color| {
            let name = color.file_stem()?.to_string_lossy().into_owned();
            Some(FrameFiles {
                depth: depth_file(folder.join("depth").join(color.file_name()?)),
                intrinsics: folder.join("intrinsics.json"),
                pose: folder.join("pose").join(format!("{name}.json")),
                instances: folder.join("instances").join(color.file_name()?),
                name,
                color,
            })
        })
        .collect())
}

impl FrameFiles {
    /// The files of a frame with a folder of its own; `above` may have the intrinsics.
    fn in_folder(name: String, own: &Path, above: &Path) -> Self {
        let intrinsics = own.join("intrinsics.json");
        let shared = above.join("intrinsics.json");
        Self {
            name,
            color: own.join("color.png"),
            depth: depth_file(own.join("depth.png")),
            intrinsics: if !intrinsics.is_file() && shared.is_file() { shared } else { intrinsics },
            pose: own.join("pose.json"),
            instances: own.join("instances.png"),
        }
    }

    /// Reads the frame and checks that its files belong together.
    ///
    /// Errors: every variant of [`FrameError`] but [`FrameError::NoFrames`].
    pub fn read(&self) -> Result<RecordedFrame, FrameError> {
        let color = read_color(&self.color)?;
        let camera = CameraFile::read(&self.intrinsics)?;
        let intrinsics = camera.intrinsics;
        let depth = self.read_depth(camera.depth_scale)?;
        let sizes =
            [[color.width, color.height], [depth.width, depth.height], [intrinsics.width, intrinsics.height]];
        if sizes.iter().any(|size| *size != sizes[0]) {
            let [color, depth, camera] = sizes;
            return Err(FrameError::Sizes { frame: self.name.clone(), color, depth, camera });
        }
        let map_from_camera = self.read_pose()?;
        let instances = Instances::read(&self.instances)?;
        let masks = instances.as_ref().map(|instances| [instances.labels.width, instances.labels.height]);
        if let Some(masks) = masks.filter(|masks| *masks != sizes[0]) {
            return Err(FrameError::MaskSize { frame: self.name.clone(), color: sizes[0], masks });
        }
        Ok(RecordedFrame { name: self.name.clone(), color, depth, intrinsics, map_from_camera, instances })
    }

    /// `scale` is metres of a step of 16-bit pictures; floats are metres.
    fn read_depth(&self, scale: f64) -> Result<DepthImage, FrameError> {
        let (depth, scale) = if is_tiff(&self.depth) {
            let raw = read_metres(&self.depth)?;
            (depth_image(raw.width, raw.height, raw.values.iter().map(|value| f64::from(*value))), 1.0)
        } else {
            let raw = read_grey16(&self.depth)?;
            let metres = raw.values.iter().map(|value| f64::from(*value) * scale);
            (depth_image(raw.width, raw.height, metres), scale)
        };
        depth.map_err(|error| FrameError::Depth { path: self.depth.clone(), error, scale })
    }

    fn read_pose(&self) -> Result<Option<Isometry3<f64>>, FrameError> {
        match std::fs::read_to_string(&self.pose) {
            Ok(text) => pose::parse(&text)
                .map(Some)
                .map_err(|error| FrameError::Pose { path: self.pose.clone(), error }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FrameError::Read { path: self.pose.clone(), error }),
        }
    }
}

impl RecordedFrame {
    /// The frame as a keyframe seen from `map_from_camera` at `stamp` seconds, with the detections of its masks if it has some.
    pub fn into_keyframe(self, map_from_camera: Isometry3<f64>, stamp: f64) -> Keyframe {
        let (width, height) = (self.color.width, self.color.height);
        let (labels, detections) = match self.instances {
            Some(instances) => (instances.labels, instances.detections),
            None => (LabelImage { width, height, labels: vec![0; width * height] }, Vec::new()),
        };
        Keyframe {
            view: self.name,
            stamp,
            color: self.color,
            depth: self.depth,
            labels,
            detections,
            parts: None,
            intrinsics: self.intrinsics,
            map_from_camera,
            robot: Vec::new(),
        }
    }
}
