//! A picture as the encoders take it.

use super::{FRAME, SamFamily};
use crate::picture::{Channels, Filter, Normalisation, resample};
use crate::session::Tensor;
use prehend_geometry::ColorImage;

/// Mean and deviation of ImageNet, as SAM 2 was trained with.
const IMAGENET: Normalisation =
    Normalisation { channels: Channels::Rgb, mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };

/// MobileSAM: the longer side comes to the frame's (`ResizeLongestSide`), `[height, width, 3]` in 0 to 255; the export normalises
/// and fills up by itself. SAM 2: squeezed into the frame (`SAM2Transforms`), `[1, 3, 1024, 1024]`, normalised.
pub(super) fn picture(family: SamFamily, image: &ColorImage) -> Tensor {
    let name = String::new();
    match family {
        SamFamily::MobileSam => {
            let [width, height] = inner_size(image);
            let resized = resample(image, width, height, Filter::Bilinear);
            let numbers = resized.pixels.iter().flatten().map(|value| f32::from(*value)).collect();
            Tensor { name, shape: vec![height, width, 3], numbers }
        }
        SamFamily::Sam2 => {
            let mut numbers = Vec::with_capacity(3 * FRAME * FRAME);
            IMAGENET.append(&resample(image, FRAME, FRAME, Filter::Bilinear), &mut numbers);
            Tensor { name, shape: vec![1, 3, FRAME, FRAME], numbers }
        }
    }
}

/// Width and height of a picture whose longer side is the frame's.
fn inner_size(image: &ColorImage) -> [usize; 2] {
    let scale = FRAME as f64 / image.width.max(image.height) as f64;
    [image.width, image.height].map(|side| ((side as f64 * scale + 0.5) as usize).max(1))
}

/// Pixels of the frame per pixel of the picture, along x and y.
pub(super) fn scale(family: SamFamily, image: &ColorImage) -> [f64; 2] {
    let [width, height] = match family {
        SamFamily::MobileSam => inner_size(image),
        SamFamily::Sam2 => [FRAME; 2],
    };
    [width as f64 / image.width as f64, height as f64 / image.height as f64]
}
