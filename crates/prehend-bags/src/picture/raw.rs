//! Pictures with their pixels as they are (`sensor_msgs/msg/Image`).

use super::{DepthPicture, Depths, FrameFault, Kind, MOST_PIXELS};
use prehend_geometry::ColorImage;
use prehend_msgs::sensor_msgs::msg::Image;

/// Bytes of a pixel, and which of them are red, green and blue.
fn channels(encoding: &str) -> Option<(usize, [usize; 3])> {
    match encoding {
        "rgb8" => Some((3, [0, 1, 2])),
        "bgr8" => Some((3, [2, 1, 0])),
        "rgba8" => Some((4, [0, 1, 2])),
        "bgra8" => Some((4, [2, 1, 0])),
        "mono8" | "8UC1" => Some((1, [0, 0, 0])),
        _ => None,
    }
}

pub(super) fn kind(encoding: &str) -> Kind {
    match (channels(encoding), encoding) {
        (Some((1, _)), _) => Kind::Grey,
        (Some(_), _) => Kind::Color,
        (None, "16UC1" | "mono16" | "32FC1") => Kind::Depth,
        _ => Kind::Other,
    }
}

/// Width and height in pixels, when a camera can have them.
pub(super) fn size_of(what: &'static str, width: u32, height: u32) -> Result<[usize; 2], FrameFault> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > MOST_PIXELS {
        return Err(FrameFault::Pixels { what, width, height });
    }
    Ok([width as usize, height as usize])
}

/// The bytes of the pixels, row by row, without what fills up the rows.
fn rows<'a>(
    what: &'static str,
    image: &'a Image,
    pixel: usize,
) -> Result<impl Iterator<Item = &'a [u8]> + Clone + use<'a>, FrameFault> {
    let [width, height] = size_of(what, image.width, image.height)?;
    let (row, step) = (width * pixel, image.step as usize);
    if step < row {
        return Err(FrameFault::Step { what, expected: row as u64, found: image.step });
    }
    let expected = u64::from(image.step) * height as u64;
    if image.data.len() as u64 != expected {
        let found = image.data.len();
        return Err(FrameFault::Length { what, rows: image.height, expected, found });
    }
    Ok(image.data.chunks_exact(step).map(move |bytes| &bytes[..row]))
}

pub(super) fn color(image: &Image) -> Result<ColorImage, FrameFault> {
    let Some((pixel, [red, green, blue])) = channels(&image.encoding) else {
        return Err(FrameFault::Encoding {
            what: "colour",
            found: image.encoding.clone(),
            expected: "rgb8, bgr8, rgba8, bgra8 or mono8",
        });
    };
    let pixels = rows("colour", image, pixel)?
        .flat_map(|row| row.chunks_exact(pixel))
        .map(|bytes| [bytes[red], bytes[green], bytes[blue]])
        .collect();
    Ok(ColorImage { width: image.width as usize, height: image.height as usize, pixels })
}

pub(super) fn depth(image: &Image) -> Result<DepthPicture, FrameFault> {
    let what = "depth";
    let is_big = match image.is_bigendian {
        0 => false,
        1 => true,
        found => return Err(FrameFault::ByteOrder { what, found }),
    };
    let depths = match image.encoding.as_str() {
        "16UC1" | "mono16" => {
            let rows = rows(what, image, 2)?.flat_map(|row| row.as_chunks::<2>().0);
            let value = if is_big { u16::from_be_bytes } else { u16::from_le_bytes };
            Depths::Millimetres(rows.map(|bytes| value(*bytes)).collect())
        }
        "32FC1" => {
            let rows = rows(what, image, 4)?.flat_map(|row| row.as_chunks::<4>().0);
            let value = if is_big { f32::from_be_bytes } else { f32::from_le_bytes };
            Depths::Metres(rows.map(|bytes| value(*bytes)).collect())
        }
        other => {
            let expected = "16UC1 (millimetres) or 32FC1 (metres)";
            return Err(FrameFault::Encoding { what, found: other.to_owned(), expected });
        }
    };
    Ok(DepthPicture { size: [image.width as usize, image.height as usize], depths })
}
