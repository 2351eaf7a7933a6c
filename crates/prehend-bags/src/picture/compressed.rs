//! Compressed pictures (`sensor_msgs/msg/CompressedImage`), as `compressed_image_transport` and `compressed_depth_image_transport`
//! write them.

use super::raw::size_of;
use super::{DepthPicture, Depths, FrameFault, Kind};
use image::{DynamicImage, ImageFormat};
use prehend_geometry::ColorImage;
use prehend_msgs::sensor_msgs::msg::CompressedImage;

/// First bytes of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Bytes before the picture in `compressedDepth`: a number, and the two of the quantisation of metres.
const CONFIG: usize = 12;

/// The PNG file of a depth picture, and what is before it.
fn png(image: &CompressedImage) -> Option<(&[u8], &[u8])> {
    let data = image.data.as_slice();
    if data.starts_with(PNG) {
        return Some((&[], data));
    }
    data.split_at_checked(CONFIG).filter(|(_, png)| png.starts_with(PNG))
}

pub(super) fn kind(image: &CompressedImage) -> Kind {
    let is_depth = ["16UC1", "32FC1", "mono16"].iter().any(|depth| image.format.starts_with(depth))
        || image.format.contains("compressedDepth");
    // Bits of a channel and type of the colours stand at fixed places in a PNG file.
    let is_grey16 = png(image).is_some_and(|(_, png)| png.get(24..26) == Some(&[16, 0]));
    if is_depth || is_grey16 { Kind::Depth } else { Kind::Color }
}

fn opened(what: &'static str, bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, FrameFault> {
    image::load_from_memory_with_format(bytes, format)
        .map_err(|error| FrameFault::Compressed { what, error: error.to_string() })
}

pub(super) fn color(image: &CompressedImage) -> Result<ColorImage, FrameFault> {
    let what = "colour";
    let format = match image.data.as_slice() {
        data if data.starts_with(PNG) => ImageFormat::Png,
        [0xff, 0xd8, ..] => ImageFormat::Jpeg,
        _ => {
            let found = image.format.clone();
            return Err(FrameFault::Encoding { what, found, expected: "PNG or JPEG" });
        }
    };
    let picture = opened(what, &image.data, format)?.into_rgb8();
    let [width, height] = size_of(what, picture.width(), picture.height())?;
    Ok(ColorImage { width, height, pixels: picture.into_raw().as_chunks::<3>().0.to_vec() })
}

pub(super) fn depth(image: &CompressedImage) -> Result<DepthPicture, FrameFault> {
    let what = "depth";
    let expected = "16-bit PNG, as compressed_depth_image_transport writes it with `format: png`";
    let wrong = || FrameFault::Encoding { what, found: image.format.clone(), expected };
    let (config, png) = png(image).ok_or_else(wrong)?;
    let DynamicImage::ImageLuma16(picture) = opened(what, png, ImageFormat::Png)? else {
        return Err(wrong());
    };
    let size = size_of(what, picture.width(), picture.height())?;
    let values = picture.into_raw();
    let depths = if image.format.starts_with("32FC1") {
        let [_, a, b] = *config.as_chunks::<4>().0 else { return Err(wrong()) };
        let (a, b) = (f32::from_le_bytes(a), f32::from_le_bytes(b));
        // The inverse of depth in steps; 0 was not measured.
        let metres = |value: &u16| if *value == 0 { f32::NAN } else { a / (f32::from(*value) - b) };
        Depths::Metres(values.iter().map(metres).collect())
    } else {
        Depths::Millimetres(values)
    };
    Ok(DepthPicture { size, depths })
}
