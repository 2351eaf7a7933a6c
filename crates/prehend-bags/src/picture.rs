//! Pictures as messages, and frames made of them.

mod compressed;
mod lens;
mod raw;

use crate::container::{ContainerError, Message};
use crate::message::decoded;
use lens::Lens;
use nalgebra::Isometry3;
use prehend_geometry::camera::BadIntrinsics;
use prehend_geometry::{ColorImage, Intrinsics};
use prehend_msgs::sensor_msgs::msg::{CameraInfo, CompressedImage, Image};
use prehend_msgs::std_msgs::msg::Header;
use prehend_recording::{DepthError, RecordedFrame, depth_image};

/// Types of pictures.
pub(crate) const IMAGE: &str = "sensor_msgs/msg/Image";
pub(crate) const COMPRESSED: &str = "sensor_msgs/msg/CompressedImage";

/// Most pixels of a picture; more is no camera but a damaged message.
const MOST_PIXELS: u64 = 64_000_000;

/// Why messages do not make a frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameFault {
    /// An encoding that is not read.
    #[error("the {what} picture is encoded as `{found}`; expected {expected}")]
    Encoding {
        /// Colour or depth.
        what: &'static str,
        /// What the message says.
        found: String,
        /// What is read.
        expected: &'static str,
    },
    /// A byte order that is none.
    #[error("the byte order of the {what} picture is {found}; expected 0 (little-endian) or 1")]
    ByteOrder {
        /// Colour or depth.
        what: &'static str,
        /// What the message says.
        found: u8,
    },
    /// The rows are shorter than their pixels.
    #[error("a row of the {what} picture has {found} bytes (step), its pixels need {expected}")]
    Step {
        /// Colour or depth.
        what: &'static str,
        /// Bytes that the pixels of a row take.
        expected: u64,
        /// What the message says.
        found: u32,
    },
    /// The data are not as long as the rows.
    #[error("the {what} picture has {found} bytes, its {rows} rows need {expected}")]
    Length {
        /// Colour or depth.
        what: &'static str,
        /// Rows.
        rows: u32,
        /// Bytes that the rows take.
        expected: u64,
        /// Bytes that are there.
        found: usize,
    },
    /// No pixels, or more than a camera has.
    #[error("the {what} picture is {width} x {height}")]
    Pixels {
        /// Colour or depth.
        what: &'static str,
        /// Width.
        width: u32,
        /// Height.
        height: u32,
    },
    /// A compressed picture that cannot be decompressed.
    #[error("the compressed {what} picture is broken: {error}")]
    Compressed {
        /// Colour or depth.
        what: &'static str,
        /// What the decoder said.
        error: String,
    },
    /// Colour, depth and calibration are not of one size.
    #[error(
        "colour is {} x {}, depth {} x {}, the calibration is for {} x {}; record depth that is aligned to colour",
        color[0], color[1], depth[0], depth[1], camera[0], camera[1]
    )]
    Sizes {
        /// Width and height of the colour picture.
        color: [usize; 2],
        /// Of the depth picture.
        depth: [usize; 2],
        /// By the calibration.
        camera: [usize; 2],
    },
    /// A calibration of no camera.
    #[error("{0}; is the camera calibrated, and is this its camera_info?")]
    Intrinsics(#[from] BadIntrinsics),
    /// A matrix that has not nine or twelve entries, which ROS 2 cannot store.
    #[error("the camera matrix has {0} entries; expected 9")]
    Matrix(usize),
    /// A lens that is not known.
    #[error(
        "the lens model `{model}` with {count} coefficients is not known; record the rectified pictures (image_rect)"
    )]
    Lens {
        /// Name of the model.
        model: String,
        /// Number of coefficients.
        count: usize,
    },
    /// The depths cannot be used.
    #[error("{0}. Depth is in millimetres as 16UC1, in metres as 32FC1 (REP 118)")]
    Depth(#[from] DepthError),
}

/// What a topic's pictures are, by their encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    Color,
    /// One grey value a pixel: infrared cameras have it, too.
    Grey,
    Depth,
    #[default]
    Other,
}

/// A picture as a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// `sensor_msgs/msg/Image`.
    Raw(Image),
    /// `sensor_msgs/msg/CompressedImage`: PNG or JPEG, or PNG after 12 bytes (`compressedDepth`).
    Compressed(CompressedImage),
}

/// Depths as they are stored.
enum Depths {
    /// 16 bit, millimetres.
    Millimetres(Vec<u16>),
    /// Metres; what is not finite or not positive was not measured.
    Metres(Vec<f32>),
}

/// Depths with their width and height.
struct DepthPicture {
    size: [usize; 2],
    depths: Depths,
}

impl Picture {
    pub(crate) fn decoded(message: &Message<'_>) -> Result<Self, ContainerError> {
        if message.topic.type_name == COMPRESSED {
            decoded(message).map(Self::Compressed)
        } else {
            decoded(message).map(Self::Raw)
        }
    }

    /// The header of the message.
    pub fn header(&self) -> &Header {
        match self {
            Self::Raw(image) => &image.header,
            Self::Compressed(image) => &image.header,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Raw(image) => raw::kind(&image.encoding),
            Self::Compressed(image) => compressed::kind(image),
        }
    }

    fn color(&self) -> Result<ColorImage, FrameFault> {
        match self {
            Self::Raw(image) => raw::color(image),
            Self::Compressed(image) => compressed::color(image),
        }
    }

    fn depth(&self) -> Result<DepthPicture, FrameFault> {
        match self {
            Self::Raw(image) => raw::depth(image),
            Self::Compressed(image) => compressed::depth(image),
        }
    }
}

/// The messages of one frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameParts<'a> {
    /// Colour.
    pub color: &'a Picture,
    /// Depth, aligned with colour.
    pub depth: &'a Picture,
    /// Calibration of the colour camera.
    pub info: &'a CameraInfo,
    /// Whether the pictures were rectified, so that `p` of the calibration is theirs.
    pub is_rectified: bool,
}

/// Makes a frame of its messages; what a known lens has bent is made straight.
///
/// Errors: [`FrameFault`].
pub fn frame_of(
    name: String,
    parts: FrameParts<'_>,
    map_from_camera: Option<Isometry3<f64>>,
) -> Result<RecordedFrame, FrameFault> {
    let intrinsics = intrinsics_of(parts.info, parts.is_rectified)?;
    let mut color = parts.color.color()?;
    let DepthPicture { size, mut depths } = parts.depth.depth()?;
    let camera = [intrinsics.width, intrinsics.height];
    if [color.width, color.height] != camera || size != camera {
        let color = [color.width, color.height];
        return Err(FrameFault::Sizes { color, depth: size, camera });
    }
    if !parts.is_rectified
        && let Some(lens) = Lens::of(parts.info)?
    {
        let sources = lens.sources(&intrinsics);
        color.pixels = lens::straight_color(&color, &sources);
        depths = match depths {
            Depths::Millimetres(values) => Depths::Millimetres(lens::straight(&values, camera, &sources)),
            Depths::Metres(values) => Depths::Metres(lens::straight(&values, camera, &sources)),
        };
    }
    let [width, height] = size;
    let depth = match &depths {
        Depths::Millimetres(values) => {
            depth_image(width, height, values.iter().map(|value| f64::from(*value) * 1e-3))
        }
        Depths::Metres(values) => depth_image(width, height, values.iter().map(|value| f64::from(*value))),
    }?;
    Ok(RecordedFrame { name, color, depth, intrinsics, map_from_camera, instances: None })
}

/// Intrinsics of the pictures: of `p` when they are rectified and it is there, else of `k`.
fn intrinsics_of(info: &CameraInfo, is_rectified: bool) -> Result<Intrinsics, FrameFault> {
    let [fx, cx, fy, cy] = match (info.k.as_slice(), info.p.as_slice()) {
        (_, [fx, _, cx, _, _, fy, cy, ..]) if is_rectified && *fx > 0.0 => [*fx, *cx, *fy, *cy],
        ([fx, _, cx, _, fy, cy, ..], _) => [*fx, *cx, *fy, *cy],
        (k, _) => return Err(FrameFault::Matrix(k.len())),
    };
    let intrinsics = Intrinsics { fx, fy, cx, cy, width: info.width as usize, height: info.height as usize };
    intrinsics.validate()?;
    Ok(intrinsics)
}
