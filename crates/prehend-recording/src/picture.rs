//! PNG files as images, and TIFF files as depths.

use image::error::{ParameterError, ParameterErrorKind};
use image::{DynamicImage, ImageBuffer, ImageError, ImageFormat};
use prehend_geometry::{ColorImage, Mask};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use tiff::decoder::{Decoder, DecodingResult};
use tiff::{ColorType, TiffError};

/// Why a picture cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// There is no such file.
    #[error("{} is missing", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// The file is no PNG, or is cut off or damaged.
    #[error("{} is not a whole PNG picture ({error}); copy or record it anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        error: ImageError,
    },
    /// The file is no TIFF, or is cut off or damaged.
    #[error("{} is not a whole TIFF picture ({error}); copy or record it anew", path.display())]
    Tiff {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        error: TiffError,
    },
    /// The pixels are of another type.
    #[error("{} has {found} pixels; expected {expected}", path.display())]
    Type {
        /// The file.
        path: PathBuf,
        /// Type of its pixels.
        found: String,
        /// What a picture of this name has.
        expected: &'static str,
    },
}

/// 16-bit grey values, row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grey16 {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `[height, width]` values.
    pub values: Vec<u16>,
}

/// Depths in metres, row-major; what is not finite or not positive was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Metres {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `[height, width]` depths.
    pub values: Vec<f32>,
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, PictureError> {
    std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => PictureError::Missing { path: path.to_owned() },
        _ => PictureError::Read { path: path.to_owned(), error },
    })
}

fn open(path: &Path) -> Result<DynamicImage, PictureError> {
    let bytes = bytes_of(path)?;
    decode(&bytes).map_err(|error| PictureError::Damaged { path: path.to_owned(), error })
}

fn decode(bytes: &[u8]) -> Result<DynamicImage, ImageError> {
    image::load_from_memory_with_format(bytes, ImageFormat::Png)
}

fn wrong_type(path: &Path, picture: &DynamicImage, expected: &'static str) -> PictureError {
    PictureError::Type { path: path.to_owned(), found: format!("{:?}", picture.color()), expected }
}

/// Reads a colour picture; grey ones become colour, transparency is dropped.
///
/// Errors: [`PictureError`]; 16-bit grey is refused, since that is a depth picture under a wrong name.
pub fn read_color(path: &Path) -> Result<ColorImage, PictureError> {
    let picture = open(path)?;
    if matches!(picture, DynamicImage::ImageLuma16(_)) {
        return Err(wrong_type(path, &picture, "8-bit RGB (16-bit grey is depth)"));
    }
    Ok(color_image(picture))
}

fn color_image(picture: DynamicImage) -> ColorImage {
    let picture = picture.into_rgb8();
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    ColorImage { width, height, pixels: picture.into_raw().as_chunks::<3>().0.to_vec() }
}

/// Reads a 16-bit grey picture.
///
/// Errors: [`PictureError`]; 8-bit pictures are refused, since 256 steps are no depth.
pub fn read_grey16(path: &Path) -> Result<Grey16, PictureError> {
    let picture = open(path)?;
    grey_values(picture).map_err(|other| wrong_type(path, &other, "16-bit grey"))
}

fn grey_values(picture: DynamicImage) -> Result<Grey16, DynamicImage> {
    match picture {
        DynamicImage::ImageLuma16(picture) => Ok(Grey16 {
            width: picture.width() as usize,
            height: picture.height() as usize,
            values: picture.into_raw(),
        }),
        other => Err(other),
    }
}

/// Reads a TIFF picture of one 32-bit float a pixel.
///
/// Errors: [`PictureError`].
pub fn read_metres(path: &Path) -> Result<Metres, PictureError> {
    let bytes = bytes_of(path)?;
    let failed = |error| PictureError::Tiff { path: path.to_owned(), error };
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(failed)?;
    let (width, height) = decoder.dimensions().map_err(failed)?;
    let color = decoder.colortype().map_err(failed)?;
    match decoder.read_image().map_err(failed)? {
        DecodingResult::F32(values) if color == ColorType::Gray(32) => {
            Ok(Metres { width: width as usize, height: height as usize, values })
        }
        _ => Err(PictureError::Type {
            path: path.to_owned(),
            found: format!("{color:?}"),
            expected: "one 32-bit float a pixel, metres",
        }),
    }
}

/// Reads a mask: what is brighter than half is in it.
///
/// Errors: [`PictureError`].
pub fn read_mask(path: &Path) -> Result<Mask, PictureError> {
    let picture = open(path)?.into_luma8();
    let inside: Vec<usize> = picture
        .as_raw()
        .iter()
        .enumerate()
        .filter(|(_, value)| **value > 127)
        .map(|(index, _)| index)
        .collect();
    Ok(Mask::from_indices(picture.width() as usize, picture.height() as usize, &inside))
}

/// The bytes of a PNG file with these pixels.
pub(crate) fn encode_color(image: &ColorImage) -> Result<Vec<u8>, ImageError> {
    let raw = image.pixels.as_flattened().to_vec();
    encode(ImageBuffer::from_raw(image.width as u32, image.height as u32, raw).map(DynamicImage::ImageRgb8))
}

/// The bytes of a 16-bit grey PNG file.
pub(crate) fn encode_grey16(width: usize, height: usize, values: &[u16]) -> Result<Vec<u8>, ImageError> {
    encode(ImageBuffer::from_raw(width as u32, height as u32, values.to_vec()).map(DynamicImage::ImageLuma16))
}

/// The bytes of a PNG file that is white where a bit is set.
pub(crate) fn encode_mask(width: usize, height: usize, bits: &[bool]) -> Result<Vec<u8>, ImageError> {
    let raw = bits.iter().map(|bit| if *bit { 255 } else { 0 }).collect();
    encode(ImageBuffer::from_raw(width as u32, height as u32, raw).map(DynamicImage::ImageLuma8))
}

/// `None` stands for a size that is not that of the pixels.
fn encode(picture: Option<DynamicImage>) -> Result<Vec<u8>, ImageError> {
    let mismatch = ParameterError::from_kind(ParameterErrorKind::DimensionMismatch);
    // A buffer that is longer than its picture is none of its encoder's.
    let pixels = |picture: &DynamicImage| picture.width() as usize * picture.height() as usize;
    let fits = |picture: &DynamicImage| {
        picture.as_bytes().len() == pixels(picture) * usize::from(picture.color().bytes_per_pixel())
    };
    let picture = picture.filter(fits).ok_or(ImageError::Parameter(mismatch))?;
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

/// The pixels of a PNG file.
pub(crate) fn decode_color(bytes: &[u8]) -> Result<ColorImage, ImageError> {
    decode(bytes).map(color_image)
}

/// The values of a 16-bit grey PNG file; those of another are scaled to 16 bits.
pub(crate) fn decode_grey16(bytes: &[u8]) -> Result<Grey16, ImageError> {
    let picture = decode(bytes)?.into_luma16();
    Ok(Grey16 {
        width: picture.width() as usize,
        height: picture.height() as usize,
        values: picture.into_raw(),
    })
}

/// Where a PNG file is brighter than half.
pub(crate) fn decode_mask(bytes: &[u8]) -> Result<Vec<bool>, ImageError> {
    Ok(decode(bytes)?.into_luma8().into_raw().into_iter().map(|value| value > 127).collect())
}
