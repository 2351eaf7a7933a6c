//! Binary image regions.

use serde::{Deserialize, Serialize};

/// A binary region of an image: the bits of the rectangle `[x, x + width) x [y, y + height)`, row-major.
/// Pixels outside the rectangle are not in the region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    /// Width of the whole image, pixels.
    pub image_width: usize,
    /// Height of the whole image, pixels.
    pub image_height: usize,
    /// Left column of the rectangle.
    pub x: usize,
    /// Top row of the rectangle.
    pub y: usize,
    /// Width of the rectangle, pixels.
    pub width: usize,
    /// Height of the rectangle, pixels.
    pub height: usize,
    /// `[height, width]` membership.
    pub bits: Vec<bool>,
}

impl Mask {
    /// The smallest mask that holds the pixels with these row-major indices (duplicates allowed, out-of-range ones ignored).
    pub fn from_indices(image_width: usize, image_height: usize, indices: &[usize]) -> Self {
        let pixels: Vec<(usize, usize)> = indices
            .iter()
            .filter(|index| image_width > 0 && **index < image_width * image_height)
            .map(|index| (index % image_width, index / image_width))
            .collect();
        let empty = Self { image_width, image_height, ..Self::default() };
        let (Some(x0), Some(x1), Some(y0), Some(y1)) = (
            pixels.iter().map(|p| p.0).min(),
            pixels.iter().map(|p| p.0).max(),
            pixels.iter().map(|p| p.1).min(),
            pixels.iter().map(|p| p.1).max(),
        ) else {
            return empty;
        };
        let (width, height) = (x1 - x0 + 1, y1 - y0 + 1);
        let mut bits = vec![false; width * height];
        for (u, v) in pixels {
            bits[(v - y0) * width + (u - x0)] = true;
        }
        Self { x: x0, y: y0, width, height, bits, ..empty }
    }

    /// The filled rectangle, clipped to the image.
    pub fn filled_box(
        image_width: usize,
        image_height: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
    ) -> Self {
        let (x, y) = (x.min(image_width), y.min(image_height));
        let (width, height) = (width.min(image_width - x), height.min(image_height - y));
        Self { image_width, image_height, x, y, width, height, bits: vec![true; width * height] }
    }

    /// The filled bounding rectangle of this mask (the paper's chi(b), AAH eq. 6).
    pub fn bounding_box(&self) -> Self {
        let tight = Self::from_indices(self.image_width, self.image_height, &self.indices());
        Self::filled_box(self.image_width, self.image_height, tight.x, tight.y, tight.width, tight.height)
    }

    /// Whether pixel (u, v) is in the region.
    pub fn contains(&self, u: usize, v: usize) -> bool {
        u >= self.x
            && v >= self.y
            && u < self.x + self.width
            && v < self.y + self.height
            && self.bits.get((v - self.y) * self.width + (u - self.x)).copied().unwrap_or(false)
    }

    /// Row-major indices of the region's pixels in the whole image, ascending.
    pub fn indices(&self) -> Vec<usize> {
        (0..self.bits.len())
            .filter(|i| self.bits[*i])
            .map(|i| (self.y + i / self.width) * self.image_width + self.x + i % self.width)
            .collect()
    }

    /// Number of pixels in the region.
    pub fn area(&self) -> usize {
        self.bits.iter().filter(|bit| **bit).count()
    }

    /// Number of pixels in both regions; 0 when the images differ in size.
    pub fn intersection_area(&self, other: &Self) -> usize {
        if (self.image_width, self.image_height) != (other.image_width, other.image_height) {
            return 0;
        }
        let (u0, u1) = (self.x.max(other.x), (self.x + self.width).min(other.x + other.width));
        let (v0, v1) = (self.y.max(other.y), (self.y + self.height).min(other.y + other.height));
        (v0..v1.max(v0))
            .map(|v| (u0..u1.max(u0)).filter(|u| self.contains(*u, v) && other.contains(*u, v)).count())
            .sum()
    }

    /// Intersection over union, in [0, 1]; 0 when both are empty or the images differ in size.
    pub fn iou(&self, other: &Self) -> f64 {
        let both = self.intersection_area(other);
        let union = self.area() + other.area() - both;
        if union == 0 { 0.0 } else { both as f64 / union as f64 }
    }

    /// Whether the region touches the image border.
    pub fn touches_border(&self) -> bool {
        self.indices().iter().any(|index| {
            let (u, v) = (index % self.image_width, index / self.image_width);
            u == 0 || v == 0 || u + 1 == self.image_width || v + 1 == self.image_height
        })
    }
}
