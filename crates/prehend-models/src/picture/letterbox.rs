//! A picture in a frame of another shape: scaled as a whole, and grey beside it.

use super::{Filter, resample};
use prehend_geometry::{ColorImage, PixelBox};

/// How a picture was put into a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Letterbox {
    /// Pixels of the frame per pixel of the picture.
    pub scale: f64,
    /// Columns of the frame left of the picture.
    pub left: usize,
    /// Rows of the frame above the picture.
    pub top: usize,
}

/// Grey of the frame (Ultralytics' `LetterBox`).
const GREY: [u8; 3] = [114; 3];

impl Letterbox {
    /// A box of the frame as a box of the picture.
    pub fn to_picture(&self, bounds: &PixelBox) -> PixelBox {
        let (left, top) = (self.left as f64, self.top as f64);
        PixelBox {
            left: (bounds.left - left) / self.scale,
            top: (bounds.top - top) / self.scale,
            right: (bounds.right - left) / self.scale,
            bottom: (bounds.bottom - top) / self.scale,
        }
    }
}

/// Puts a picture into the middle of a frame, as Ultralytics' `LetterBox(auto=False)` does with OpenCV's `INTER_LINEAR`.
/// Where one row or column must be left over, it is below or right.
pub fn letterbox(image: &ColorImage, width: usize, height: usize) -> (ColorImage, Letterbox) {
    let scale = (width as f64 / image.width as f64).min(height as f64 / image.height as f64);
    // Halves are rounded to even numbers, as Python does.
    let fit =
        |length: usize, most: usize| ((length as f64 * scale).round_ties_even() as usize).clamp(1, most);
    let (inner_width, inner_height) = (fit(image.width, width), fit(image.height, height));
    let (left, top) = ((width - inner_width) / 2, (height - inner_height) / 2);
    let inner = resample(image, inner_width, inner_height, Filter::Linear);
    let mut framed = ColorImage::filled(width, height, GREY);
    for (v, row) in inner.pixels.chunks_exact(inner_width).enumerate() {
        let start = (top + v) * width + left;
        framed.pixels[start..start + inner_width].copy_from_slice(row);
    }
    (framed, Letterbox { scale, left, top })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(picture: (usize, usize), frame: (usize, usize), expected: Letterbox, inner: (usize, usize)) {
        let image = ColorImage::filled(picture.0, picture.1, [255, 0, 0]);
        let (framed, place) = letterbox(&image, frame.0, frame.1);
        assert_eq!(place, expected, "{picture:?} in {frame:?}");
        let red = framed.pixels.iter().filter(|pixel| **pixel == [255, 0, 0]).count();
        let grey = framed.pixels.iter().filter(|pixel| **pixel == GREY).count();
        assert_eq!((red, red + grey), (inner.0 * inner.1, frame.0 * frame.1), "{picture:?} in {frame:?}");
        let whole = PixelBox {
            left: place.left as f64,
            top: place.top as f64,
            right: (place.left + inner.0) as f64,
            bottom: (place.top + inner.1) as f64,
        };
        let back = place.to_picture(&whole);
        // A whole number of pixels in the frame costs less than one.
        let slack = 1.0 / place.scale;
        assert!(back.left.abs() < 1e-9 && back.top.abs() < 1e-9, "{back:?}");
        assert!((back.right - picture.0 as f64).abs() <= slack, "{back:?}");
        assert!((back.bottom - picture.1 as f64).abs() <= slack, "{back:?}");
    }

    #[test]
    fn pictures_keep_their_shape_and_stand_in_the_middle() {
        check((640, 480), (640, 640), Letterbox { scale: 1.0, left: 0, top: 80 }, (640, 480));
        check((320, 240), (640, 640), Letterbox { scale: 2.0, left: 0, top: 80 }, (640, 480));
        check((480, 640), (320, 320), Letterbox { scale: 0.5, left: 40, top: 0 }, (240, 320));
        // 33 rows are left over: 16 above, 17 below.
        check((100, 67), (100, 100), Letterbox { scale: 1.0, left: 0, top: 16 }, (100, 67));
        check((1000, 1), (64, 64), Letterbox { scale: 0.064, left: 0, top: 31 }, (64, 1));
    }
}
