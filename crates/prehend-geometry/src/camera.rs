//! The pinhole camera.

use nalgebra::{Point2, Point3};
use serde::{Deserialize, Serialize};

/// Pinhole intrinsics without distortion, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intrinsics {
    /// Focal length along u, pixels; positive.
    pub fx: f64,
    /// Focal length along v, pixels; positive.
    pub fy: f64,
    /// Principal point u, pixels.
    pub cx: f64,
    /// Principal point v, pixels.
    pub cy: f64,
    /// Image width, pixels.
    pub width: usize,
    /// Image height, pixels.
    pub height: usize,
}

/// Intrinsics that cannot belong to a camera.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("intrinsics fx {fx} fy {fy} of a {width} x {height} image are not those of a camera")]
pub struct BadIntrinsics {
    /// Offending focal length along u, pixels.
    pub fx: f64,
    /// Offending focal length along v, pixels.
    pub fy: f64,
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
}

impl Intrinsics {
    /// Checks that focal lengths are positive and finite, the principal point finite and the image not empty.
    pub fn validate(&self) -> Result<(), BadIntrinsics> {
        let good = |f: f64| f.is_finite() && f > 0.0;
        let fine = good(self.fx)
            && good(self.fy)
            && self.cx.is_finite()
            && self.cy.is_finite()
            && self.width > 0
            && self.height > 0;
        if fine {
            Ok(())
        } else {
            Err(BadIntrinsics { fx: self.fx, fy: self.fy, width: self.width, height: self.height })
        }
    }

    /// The point, in the camera frame, at depth `z` metres along the optical axis behind pixel (u, v).
    pub fn unproject(&self, u: f64, v: f64, z: f64) -> Point3<f64> {
        Point3::new((u - self.cx) * z / self.fx, (v - self.cy) * z / self.fy, z)
    }

    /// The pixel (u, v) of a point in the camera frame; `None` when it is not in front of the camera.
    /// The pixel may lie outside the image.
    #[inline]
    pub fn project(&self, point: &Point3<f64>) -> Option<Point2<f64>> {
        (point.z > 1e-6).then(|| {
            Point2::new(self.fx * point.x / point.z + self.cx, self.fy * point.y / point.z + self.cy)
        })
    }

    /// Index (v * width + u) of the pixel that a point in the camera frame falls on, when it is inside the image.
    #[inline]
    pub fn pixel_index(&self, point: &Point3<f64>) -> Option<usize> {
        let pixel = self.project(point)?;
        // `round` is a call on processors that are not newer than the compiler's baseline.
        let (u, v) = (pixel.x + 0.5, pixel.y + 0.5);
        let inside = u >= 0.0 && v >= 0.0 && u < self.width as f64 && v < self.height as f64;
        inside.then(|| v as usize * self.width + u as usize)
    }
}
