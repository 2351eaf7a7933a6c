//! Images, cameras and masks.

use super::error::{ConvertError, Result, length};
use super::header;
use prehend_geometry::{ColorImage, DepthImage, Intrinsics, Mask};
use prehend_msgs::prehend_interfaces::msg as ours;
use prehend_msgs::sensor_msgs::msg as sensor;

/// Colour image to message (`rgb8`).
pub fn color_image_to_msg(image: &ColorImage, frame: &str, at: f64) -> sensor::Image {
    sensor::Image {
        header: header(frame, at),
        height: image.height as u32,
        width: image.width as u32,
        encoding: "rgb8".to_owned(),
        is_bigendian: 0,
        step: image.width as u32 * 3,
        data: image.pixels.as_flattened().to_vec(),
    }
}

/// Message (`rgb8` or `bgr8`) to colour image.
pub fn color_image_from_msg(msg: &sensor::Image) -> Result<ColorImage> {
    let (width, height) = (msg.width as usize, msg.height as usize);
    let swap = match msg.encoding.as_str() {
        "rgb8" => false,
        "bgr8" => true,
        other => {
            return Err(ConvertError::Unsupported {
                what: "colour encoding",
                found: other.to_owned(),
                expected: "rgb8 or bgr8",
            });
        }
    };
    let rows = rows("colour image", msg, 3)?;
    let pixels = rows
        .flat_map(|row| row.chunks_exact(3))
        .map(|p| if swap { [p[2], p[1], p[0]] } else { [p[0], p[1], p[2]] })
        .collect();
    Ok(ColorImage { width, height, pixels })
}

/// Depth or label image to message (`16UC1`).
pub fn u16_image_to_msg(values: &[u16], width: usize, height: usize, frame: &str, at: f64) -> sensor::Image {
    sensor::Image {
        header: header(frame, at),
        height: height as u32,
        width: width as u32,
        encoding: "16UC1".to_owned(),
        is_bigendian: 0,
        step: width as u32 * 2,
        data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// Message (`16UC1`/`mono16`, or `32FC1` metres for depth) to 16-bit values; metres become millimetres.
pub fn u16_image_from_msg(msg: &sensor::Image) -> Result<Vec<u16>> {
    match msg.encoding.as_str() {
        "16UC1" | "mono16" => Ok(rows("16-bit image", msg, 2)?
            .flat_map(|row| row.chunks_exact(2))
            .map(|p| {
                if msg.is_bigendian == 0 {
                    u16::from_le_bytes([p[0], p[1]])
                } else {
                    u16::from_be_bytes([p[0], p[1]])
                }
            })
            .collect()),
        "32FC1" => Ok(rows("depth image", msg, 4)?
            .flat_map(|row| row.chunks_exact(4))
            .map(|p| {
                let metres = f32::from_le_bytes([p[0], p[1], p[2], p[3]]);
                let millimetres = metres * 1000.0;
                if millimetres.is_finite() && (0.0..65535.0).contains(&millimetres) {
                    millimetres.round() as u16
                } else {
                    0
                }
            })
            .collect()),
        other => Err(ConvertError::Unsupported {
            what: "depth encoding",
            found: other.to_owned(),
            expected: "16UC1 (mm) or 32FC1 (m)",
        }),
    }
}

/// Message (`rgb8` or `mono8`) to the label of each pixel: Gazebo writes it into every channel.
pub fn label_map_from_msg(msg: &sensor::Image) -> Result<Vec<u8>> {
    let bytes = match msg.encoding.as_str() {
        "rgb8" | "bgr8" | "8UC3" => 3,
        "mono8" | "8UC1" => 1,
        other => {
            return Err(ConvertError::Unsupported {
                what: "label map's encoding",
                found: other.to_owned(),
                expected: "rgb8 or mono8",
            });
        }
    };
    Ok(rows("label map", msg, bytes)?.flat_map(|row| row.iter().step_by(bytes)).copied().collect())
}

/// Message to depth image.
pub fn depth_image_from_msg(msg: &sensor::Image) -> Result<DepthImage> {
    Ok(DepthImage {
        width: msg.width as usize,
        height: msg.height as usize,
        millimetres: u16_image_from_msg(msg)?,
    })
}

/// Depth image to message (`16UC1`).
pub fn depth_image_to_msg(image: &DepthImage, frame: &str, at: f64) -> sensor::Image {
    u16_image_to_msg(&image.millimetres, image.width, image.height, frame, at)
}

fn rows<'a>(
    what: &'static str,
    msg: &'a sensor::Image,
    pixel_bytes: usize,
) -> Result<impl Iterator<Item = &'a [u8]> + use<'a>> {
    let (width, height, step) = (msg.width as usize, msg.height as usize, msg.step as usize);
    let row = width * pixel_bytes;
    if step < row {
        return Err(ConvertError::Length { what, expected: row, found: step });
    }
    length(what, step * height, msg.data.len())?;
    Ok(msg.data.chunks_exact(step.max(1)).map(move |bytes| &bytes[..row]))
}

/// Camera info to intrinsics; `k` must be that of a pinhole camera.
pub fn intrinsics_from_msg(msg: &sensor::CameraInfo) -> Result<Intrinsics> {
    length("camera matrix k", 9, msg.k.len())?;
    let intrinsics = Intrinsics {
        fx: msg.k[0],
        fy: msg.k[4],
        cx: msg.k[2],
        cy: msg.k[5],
        width: msg.width as usize,
        height: msg.height as usize,
    };
    intrinsics.validate()?;
    Ok(intrinsics)
}

/// Intrinsics to camera info without distortion.
pub fn intrinsics_to_msg(intrinsics: &Intrinsics, frame: &str, at: f64) -> sensor::CameraInfo {
    let i = intrinsics;
    sensor::CameraInfo {
        header: header(frame, at),
        height: i.height as u32,
        width: i.width as u32,
        distortion_model: "plumb_bob".to_owned(),
        d: vec![0.0; 5],
        k: vec![i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0],
        r: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p: vec![i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        ..Default::default()
    }
}

/// Mask to message; a filled mask has no bits.
pub fn mask_to_msg(mask: &Mask) -> ours::Mask {
    let filled = mask.bits.iter().all(|bit| *bit);
    let mut bits = if filled { Vec::new() } else { vec![0_u8; mask.bits.len().div_ceil(8)] };
    if !filled {
        for (index, _) in mask.bits.iter().enumerate().filter(|(_, bit)| **bit) {
            bits[index / 8] |= 1 << (index % 8);
        }
    }
    ours::Mask {
        image_width: mask.image_width as u32,
        image_height: mask.image_height as u32,
        x: mask.x as u32,
        y: mask.y as u32,
        width: mask.width as u32,
        height: mask.height as u32,
        bits,
    }
}

/// Message to mask; the rectangle must lie in the image, which may have at most 64 million pixels.
pub fn mask_from_msg(msg: &ours::Mask) -> Result<Mask> {
    let inside = u64::from(msg.x) + u64::from(msg.width) <= u64::from(msg.image_width)
        && u64::from(msg.y) + u64::from(msg.height) <= u64::from(msg.image_height)
        && u64::from(msg.image_width) * u64::from(msg.image_height) <= 64_000_000;
    if !inside {
        return Err(ConvertError::Unsupported {
            what: "mask rectangle",
            found: format!("{} x {} at ({}, {})", msg.width, msg.height, msg.x, msg.y),
            expected: "a rectangle inside its image",
        });
    }
    let count = msg.width as usize * msg.height as usize;
    let bits = if msg.bits.is_empty() {
        vec![true; count]
    } else {
        length("mask bits", count.div_ceil(8), msg.bits.len())?;
        (0..count).map(|index| msg.bits[index / 8] & (1 << (index % 8)) != 0).collect()
    };
    Ok(Mask {
        image_width: msg.image_width as usize,
        image_height: msg.image_height as usize,
        x: msg.x as usize,
        y: msg.y as usize,
        width: msg.width as usize,
        height: msg.height as usize,
        bits,
    })
}
