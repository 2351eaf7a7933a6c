//! Pictures as Grounding DINO takes them: `GroundingDinoImageProcessor`.

use super::InputSize;
use crate::picture::{Channels, Filter, Normalisation, resample};
use prehend_geometry::ColorImage;

/// Mean and deviation of ImageNet.
const IMAGENET: Normalisation =
    Normalisation { channels: Channels::Rgb, mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
/// The shorter side of a picture, and the longest that the longer one may become, pixels.
const SIDES: [usize; 2] = [800, 1333];

/// Pictures in a frame, each in its upper left corner and black beside it.
pub(super) struct Frames {
    /// `[pictures, 3, height, width]`.
    pub(super) numbers: Vec<f32>,
    /// 1 where a picture is, `[pictures, height, width]`.
    pub(super) mask: Vec<i64>,
    pub(super) size: InputSize,
}

/// Width and height that a picture is brought to: its shorter side to 800 pixels, or less where the longer one would exceed 1333
/// (`get_size_with_aspect_ratio`). Into a frame of a fixed size it goes as large as it fits.
pub fn scaled(width: usize, height: usize, frame: Option<InputSize>) -> [usize; 2] {
    let (short, long) = (width.min(height) as f64, width.max(height) as f64);
    if let Some(frame) = frame {
        let scale = (frame.width as f64 / width as f64).min(frame.height as f64 / height as f64);
        let fit = |side: usize, most: usize| ((side as f64 * scale) as usize).clamp(1, most);
        return [fit(width, frame.width), fit(height, frame.height)];
    }
    let [side, most] = SIDES.map(|side| side as f64);
    let exact = if long / short * side > most { most * short / long } else { side };
    let shorter = exact.round_ties_even().max(1.0) as usize;
    let longer = ((exact * long / short) as usize).max(1);
    if width < height { [shorter, longer] } else { [longer, shorter] }
}

/// Prepares pictures for one call; a call that takes more of them is filled up with the last one.
pub(super) fn frames(images: &[&ColorImage], fixed: Option<InputSize>, at_once: usize) -> Frames {
    let sized: Vec<ColorImage> = images
        .iter()
        .map(|image| {
            let [width, height] = scaled(image.width, image.height, fixed);
            resample(image, width, height, Filter::Bilinear)
        })
        .collect();
    let most = |side: fn(&ColorImage) -> usize| sized.iter().map(side).max().unwrap_or(1);
    let size =
        fixed.unwrap_or_else(|| InputSize { width: most(|image| image.width), height: most(|i| i.height) });
    let area = size.width * size.height;
    let mut numbers = vec![0.0; at_once * 3 * area];
    let mut mask = vec![0; at_once * area];
    let last = sized.len().saturating_sub(1);
    for place in 0..at_once {
        let Some(image) = sized.get(place.min(last)) else { break };
        let mut planes = Vec::with_capacity(3 * image.pixels.len());
        IMAGENET.append(image, &mut planes);
        for (row, values) in planes.chunks_exact(image.width).enumerate() {
            let (channel, v) = (row / image.height, row % image.height);
            let start = (place * 3 + channel) * area + v * size.width;
            numbers[start..start + image.width].copy_from_slice(values);
        }
        for v in 0..image.height {
            let start = place * area + v * size.width;
            mask[start..start + image.width].fill(1);
        }
    }
    Frames { numbers, mask, size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_reference() {
        // By transformers' get_size_with_aspect_ratio((height, width), 800, 1333).
        for ([width, height], expected) in [
            ([640, 480], [1066, 800]),
            ([480, 640], [800, 1066]),
            ([1280, 720], [1333, 750]),
            ([1920, 400], [1333, 278]),
            ([800, 800], [800, 800]),
        ] {
            assert_eq!(scaled(width, height, None), expected, "{width} x {height}");
        }
        let frame = Some(InputSize { width: 800, height: 800 });
        assert_eq!(scaled(640, 480, frame), [800, 600]);
    }

    #[test]
    fn pictures_of_one_call_share_a_frame_and_say_where_they_are() {
        let (red, wide) = (ColorImage::filled(4, 4, [255, 0, 0]), ColorImage::filled(8, 4, [0, 0, 255]));
        let size = InputSize { width: 8, height: 8 };
        let frames = frames(&[&red, &wide], Some(size), 3);
        assert_eq!((frames.numbers.len(), frames.mask.len(), frames.size), (3 * 3 * 64, 3 * 64, size));
        let covered: Vec<i64> = frames.mask.chunks(64).map(|mask| mask.iter().sum()).collect();
        assert_eq!(covered, [64, 32, 32]);
        let number = |place: usize, channel: usize, v: usize, u: usize| {
            frames.numbers[(place * 3 + channel) * 64 + v * 8 + u]
        };
        assert!((number(0, 0, 7, 7) - (1.0 - 0.485) / 0.229).abs() < 1e-5);
        assert!((number(1, 2, 3, 7) - (1.0 - 0.406) / 0.225).abs() < 1e-5);
        assert_eq!([number(1, 2, 4, 0), number(1, 0, 7, 7)], [0.0, 0.0]);
    }
}
