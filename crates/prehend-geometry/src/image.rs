//! Colour and depth images.

use serde::{Deserialize, Serialize};

/// 8-bit RGB, row-major.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColorImage {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `[height, width]` pixels as `[r, g, b]`.
    pub pixels: Vec<[u8; 3]>,
}

/// Depth along the optical axis in millimetres, row-major; 0 where nothing was measured (ROS `16UC1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthImage {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `[height, width]` depths in millimetres; 0 = no measurement.
    pub millimetres: Vec<u16>,
}

impl ColorImage {
    /// An image of one colour.
    pub fn filled(width: usize, height: usize, pixel: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![pixel; width * height] }
    }
}

impl DepthImage {
    /// Depth in metres of the pixel with this row-major index; `None` when out of range or not measured.
    #[inline]
    pub fn metres(&self, index: usize) -> Option<f64> {
        self.millimetres.get(index).filter(|mm| **mm > 0).map(|mm| f64::from(*mm) * 1e-3)
    }

    /// Share of pixels with a measurement, in [0, 1]; 0 for an empty image.
    pub fn valid_fraction(&self) -> f64 {
        if self.millimetres.is_empty() {
            return 0.0;
        }
        self.millimetres.iter().filter(|mm| **mm > 0).count() as f64 / self.millimetres.len() as f64
    }
}
