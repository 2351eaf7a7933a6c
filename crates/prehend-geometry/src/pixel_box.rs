//! Upright rectangles in a picture.

use crate::Mask;
use serde::{Deserialize, Serialize};

/// A rectangle between edges, pixels: pixel (u, v) covers `[u, u + 1) x [v, v + 1)`, so the whole picture is
/// `[0, width] x [0, height]`. It may reach outside the picture. `left <= right` and `top <= bottom`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PixelBox {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl PixelBox {
    /// The box around a centre.
    pub fn around(x: f64, y: f64, width: f64, height: f64) -> Self {
        let (half_width, half_height) = (width / 2.0, height / 2.0);
        Self { left: x - half_width, top: y - half_height, right: x + half_width, bottom: y + half_height }
    }

    /// The box around the pixels of a mask; without area when it has none.
    pub fn around_mask(mask: &Mask) -> Self {
        let tight = mask.bounding_box();
        let edge = |pixels: usize| pixels as f64;
        Self {
            left: edge(tight.x),
            top: edge(tight.y),
            right: edge(tight.x + tight.width),
            bottom: edge(tight.y + tight.height),
        }
    }

    /// Area, square pixels; 0 when an edge is on the wrong side.
    pub fn area(&self) -> f64 {
        (self.right - self.left).max(0.0) * (self.bottom - self.top).max(0.0)
    }

    /// Intersection over union, [0, 1]; 0 when both are empty.
    pub fn iou(&self, other: &Self) -> f64 {
        let both = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
        .area();
        let union = self.area() + other.area() - both;
        if union > 0.0 { both / union } else { 0.0 }
    }

    /// The part inside a picture.
    pub fn clipped(&self, width: usize, height: usize) -> Self {
        let (width, height) = (width as f64, height as f64);
        Self {
            left: self.left.clamp(0.0, width),
            top: self.top.clamp(0.0, height),
            right: self.right.clamp(0.0, width),
            bottom: self.bottom.clamp(0.0, height),
        }
    }

    /// Whether all four edges are numbers.
    pub fn is_finite(&self) -> bool {
        [self.left, self.top, self.right, self.bottom].iter().all(|edge| edge.is_finite())
    }

    /// The pixels of a picture whose centres are inside.
    pub fn filled(&self, image_width: usize, image_height: usize) -> Mask {
        let inside = self.clipped(image_width, image_height);
        // A centre is half a pixel behind its pixel's edge.
        let [x0, y0, x1, y1] = [inside.left, inside.top, inside.right, inside.bottom]
            .map(|edge| (edge - 0.5).ceil().max(0.0) as usize);
        Mask::filled_box(image_width, image_height, x0, y0, x1.saturating_sub(x0), y1.saturating_sub(y0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_that_of_areas() {
        let one = PixelBox::around(5.0, 5.0, 10.0, 10.0);
        assert_eq!(one, PixelBox { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 });
        let half = PixelBox { left: 5.0, ..one };
        assert!((one.iou(&half) - 0.5).abs() < 1e-12);
        let beside = PixelBox { left: 10.0, right: 20.0, ..one };
        assert_eq!(one.iou(&beside), 0.0);
        assert_eq!(PixelBox::default().iou(&PixelBox::default()), 0.0);
    }

    #[test]
    fn a_box_fills_the_pixels_whose_centres_it_holds() {
        let mask = PixelBox { left: -3.0, top: 0.6, right: 1.5, bottom: 9.0 }.filled(4, 3);
        assert_eq!((mask.x, mask.y, mask.width, mask.height), (0, 1, 1, 2));
        let all = PixelBox { left: 0.0, top: 0.0, right: 4.0, bottom: 3.0 }.filled(4, 3);
        assert_eq!(all.area(), 12);
        assert_eq!(PixelBox { left: 7.0, top: 0.0, right: 9.0, bottom: 3.0 }.filled(4, 3).area(), 0);
    }
}
