//! Frames in folders.
//!
//! A frame is `color.png` (8-bit RGB), `depth.png` (16-bit grey, aligned with colour, 0 = not measured), `intrinsics.json` and, when it
//! is known, `pose.json` (see [`crate::pose`]). Three layouts are found by [`find_frames`]:
//!
//! ```text
//! DIR/color.png ...                              one frame
//! DIR/NAME/color.png ...                         a folder for each frame; intrinsics.json may stand in DIR
//! DIR/color/NAME.png, DIR/depth/NAME.png, ...    a folder for each kind, DIR/pose/NAME.json; intrinsics.json in DIR
//! ```
//!
//! Frames come in the order of their names. Depth as float TIFF is not read.

mod intrinsics;

#[cfg(test)]
mod tests;

use crate::picture::{PictureError, read_color, read_grey16};
use crate::pose::{self, PoseError};
use intrinsics::CameraFile;
use nalgebra::Isometry3;
use prehend_geometry::camera::BadIntrinsics;
use prehend_geometry::{ColorImage, DepthImage, Intrinsics};
use prehend_perception::{Keyframe, LabelImage};
use std::path::{Path, PathBuf};

/// Least and greatest median depth of a camera that sees a scene, metres: time-of-flight and stereo cameras begin and end there.
const MEDIAN: [f64; 2] = [0.07, 15.0];

/// Why a frame cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The folder holds no frame in any of the layouts.
    #[error(
        "no frame in {}: expected color.png, depth.png and intrinsics.json in it, or in each of its folders, \
         or folders color/ and depth/ with pictures of equal names",
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
    /// No pixel has a depth.
    #[error("{}: no pixel has a depth", path.display())]
    NoDepth {
        /// The depth picture.
        path: PathBuf,
    },
    /// The depths cannot be in the unit that is given.
    #[error(
        "{}: half of the measured pixels are nearer than {median} m; depth cameras see {} to {} m. Are the values not millimetres? \
         Then write \"depth_scale_m_per_unit\" into intrinsics.json (0.001 now stands for {scale})",
        path.display(), MEDIAN[0], MEDIAN[1]
    )]
    DepthUnit {
        /// The depth picture.
        path: PathBuf,
        /// Median of the measured pixels, metres.
        median: f64,
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
                depth: folder.join("depth").join(color.file_name()?),
                intrinsics: folder.join("intrinsics.json"),
                pose: folder.join("pose").join(format!("{name}.json")),
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
            depth: own.join("depth.png"),
            intrinsics: if !intrinsics.is_file() && shared.is_file() { shared } else { intrinsics },
            pose: own.join("pose.json"),
        }
    }

    /// Reads the frame and checks that its files belong together.
    ///
    /// Errors: every variant of [`FrameError`] but [`FrameError::NoFrames`].
    pub fn read(&self) -> Result<RecordedFrame, FrameError> {
        let color = read_color(&self.color)?;
        let raw = read_grey16(&self.depth)?;
        let camera = CameraFile::read(&self.intrinsics)?;
        let intrinsics = camera.intrinsics;
        let sizes =
            [[color.width, color.height], [raw.width, raw.height], [intrinsics.width, intrinsics.height]];
        if sizes.iter().any(|size| *size != sizes[0]) {
            let [color, depth, camera] = sizes;
            return Err(FrameError::Sizes { frame: self.name.clone(), color, depth, camera });
        }
        let depth = self.depth_image(raw.values, camera.depth_scale, &intrinsics)?;
        let map_from_camera = self.read_pose()?;
        Ok(RecordedFrame { name: self.name.clone(), color, depth, intrinsics, map_from_camera })
    }

    /// Millimetres from the values of a depth picture.
    fn depth_image(
        &self,
        values: Vec<u16>,
        scale: f64,
        camera: &Intrinsics,
    ) -> Result<DepthImage, FrameError> {
        let mut measured: Vec<u16> = values.iter().copied().filter(|value| *value > 0).collect();
        if measured.is_empty() {
            return Err(FrameError::NoDepth { path: self.depth.clone() });
        }
        let middle = measured.len() / 2;
        let median = f64::from(*measured.select_nth_unstable(middle).1) * scale;
        if !(MEDIAN[0]..=MEDIAN[1]).contains(&median) {
            return Err(FrameError::DepthUnit { path: self.depth.clone(), median, scale });
        }
        // What is too far for 16 bits of millimetres is as good as not measured.
        let millimetres = |value: u16| {
            let rounded = (f64::from(value) * scale * 1e3).round();
            if rounded <= f64::from(u16::MAX) { rounded as u16 } else { 0 }
        };
        Ok(DepthImage {
            width: camera.width,
            height: camera.height,
            millimetres: values.into_iter().map(millimetres).collect(),
        })
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
    /// The frame as a keyframe without detections, seen from `map_from_camera` at `stamp` seconds.
    pub fn into_keyframe(self, map_from_camera: Isometry3<f64>, stamp: f64) -> Keyframe {
        let (width, height) = (self.color.width, self.color.height);
        Keyframe {
            view: self.name,
            stamp,
            color: self.color,
            depth: self.depth,
            labels: LabelImage { width, height, labels: vec![0; width * height] },
            detections: Vec::new(),
            parts: None,
            intrinsics: self.intrinsics,
            map_from_camera,
            robot: Vec::new(),
        }
    }
}
