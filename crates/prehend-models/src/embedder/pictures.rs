//! Pictures as the image towers were trained on them.

use super::Family;
use crate::detector::InputSize;
use crate::picture::{Channels, Filter, Normalisation, resample};
use prehend_geometry::ColorImage;

/// Size and numbers of a picture on its way into an image tower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PicturePreparation {
    /// Whether the picture keeps its shape and loses its ends, or is squeezed.
    crop: bool,
    normalisation: Normalisation,
}

/// Mean and deviation of CLIP's training pictures (OpenAI, `clip.py`).
const CLIP: Normalisation = Normalisation {
    channels: Channels::Rgb,
    mean: [0.481_454_66, 0.457_827_5, 0.408_210_73],
    deviation: [0.268_629_54, 0.261_302_6, 0.275_777_1],
};
/// -1 to 1 (Hugging Face, `SiglipImageProcessor`).
const SIGLIP: Normalisation = Normalisation { channels: Channels::Rgb, mean: [0.5; 3], deviation: [0.5; 3] };

impl PicturePreparation {
    /// As the family does it: CLIP brings the shorter side to size, bicubic, and cuts the middle out; SigLIP squeezes the whole
    /// picture, bicubic.
    pub fn of(family: Family) -> Self {
        match family {
            Family::Clip => Self { crop: true, normalisation: CLIP },
            Family::Siglip => Self { crop: false, normalisation: SIGLIP },
        }
    }

    /// Appends a picture as `[3, height, width]`.
    pub fn append(&self, image: &ColorImage, size: InputSize, numbers: &mut Vec<f32>) {
        let InputSize { width, height } = size;
        let sized = if self.crop {
            // Towers that crop are square; the longer side is cut off to a whole number, as Hugging Face does.
            let shorter = image.width.min(image.height);
            let side = width.max(height);
            let scaled = |length: usize| side * length / shorter;
            let whole = resample(image, scaled(image.width), scaled(image.height), Filter::Bicubic);
            middle(&whole, width, height)
        } else {
            resample(image, width, height, Filter::Bicubic)
        };
        self.normalisation.append(&sized, numbers);
    }
}

/// The middle of a picture that is at least so large; an odd rest is left over right and below.
fn middle(image: &ColorImage, width: usize, height: usize) -> ColorImage {
    let (left, top) = ((image.width - width) / 2, (image.height - height) / 2);
    let pixels = (top..top + height)
        .flat_map(|v| &image.pixels[v * image.width + left..v * image.width + left + width])
        .copied()
        .collect();
    ColorImage { width, height, pixels }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: InputSize = InputSize { width: 4, height: 4 };

    /// Left third red, middle third green, right third blue.
    fn flag() -> ColorImage {
        let colors = [[255, 0, 0], [0, 255, 0], [0, 0, 255]];
        ColorImage { width: 12, height: 4, pixels: (0..48).map(|i| colors[i % 12 / 4]).collect() }
    }

    fn numbers(family: Family, image: &ColorImage) -> Vec<f32> {
        let mut numbers = Vec::new();
        PicturePreparation::of(family).append(image, SIZE, &mut numbers);
        assert_eq!(numbers.len(), 48);
        numbers
    }

    #[test]
    fn clip_sees_the_middle_in_the_numbers_of_its_training() {
        let numbers = numbers(Family::Clip, &flag());
        let expected = |channel: usize, value: f32| (value - CLIP.mean[channel]) / CLIP.deviation[channel];
        for (index, number) in numbers.iter().enumerate() {
            let channel = index / 16;
            let value = expected(channel, if channel == 1 { 1.0 } else { 0.0 });
            assert!((number - value).abs() < 1e-6, "{index}: {number} instead of {value}");
        }
    }

    #[test]
    fn siglip_sees_the_whole_picture_from_minus_one_to_one() {
        let numbers = numbers(Family::Siglip, &flag());
        // Red is left, blue is right, and no number is outside the range.
        assert!((numbers[0] - 1.0).abs() < 0.1 && (numbers[3] + 1.0).abs() < 0.1, "{numbers:?}");
        assert!((numbers[35] - 1.0).abs() < 0.1 && (numbers[32] + 1.0).abs() < 0.1, "{numbers:?}");
        assert!(numbers.iter().all(|number| (-1.0..=1.0).contains(number)));
    }
}
