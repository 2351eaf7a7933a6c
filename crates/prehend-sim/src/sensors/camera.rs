//! The RGB-D camera.

use super::depth;
use super::dice::{self, NormalTable};
use super::drawable::Drawable;
use super::render::{LabelImage, RenderError, Renderer, View};
use crate::scene::CameraSpec;
use nalgebra::Isometry3;
use prehend_geometry::{ColorImage, DepthImage, Intrinsics};

/// Intrinsics of the wrist camera: those that a RealSense D435i reports for its colour stream at 640 x 480
/// (about 615 pixels of focal length, 55 degrees across; units differ by some pixels), with the ideal centre.
pub fn wrist_camera_intrinsics() -> Intrinsics {
    Intrinsics { fx: 615.0, fy: 615.0, cx: 320.0, cy: 240.0, width: 640, height: 480 }
}

/// One frame of the camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// Colour as measured.
    pub color: ColorImage,
    /// Depth as measured, aligned with the colour.
    pub depth: DepthImage,
    /// Whose surface each pixel shows: for the simulated detector and tests, never for a node.
    pub labels: LabelImage,
    /// Which named region each pixel shows; as `labels`, for the simulated detector and tests only.
    pub parts: LabelImage,
    /// True distances along the optical axis, metres; 0 where there is nothing. For the detector's range and tests.
    pub true_depth: Vec<f32>,
}

/// A colour camera with aligned depth; see [`RgbdCamera::capture`].
pub struct RgbdCamera {
    intrinsics: Intrinsics,
    spec: CameraSpec,
    seed: u64,
    renderer: Renderer,
    normals: NormalTable,
}

impl RgbdCamera {
    /// A camera with the noise of `spec`, drawn from `seed`.
    pub fn new(intrinsics: Intrinsics, spec: CameraSpec, seed: u64) -> Self {
        Self { intrinsics, spec, seed, renderer: Renderer::new(), normals: NormalTable::new() }
    }

    /// The camera's intrinsics.
    pub fn intrinsics(&self) -> Intrinsics {
        self.intrinsics
    }

    /// Takes frame number `frame` from this pose. The noise is a function of the seed and the frame number only.
    ///
    /// Errors: [`RenderError`].
    pub fn capture(
        &mut self,
        world_from_camera: &Isometry3<f64>,
        drawables: &[Drawable],
        frame: u64,
    ) -> Result<Capture, RenderError> {
        let view = View { world_from_camera: *world_from_camera, intrinsics: self.intrinsics };
        let mut picture = self.renderer.render(&view, drawables)?;
        let depth = depth::measure(
            &picture,
            self.spec.depth_noise.as_ref(),
            &self.normals,
            dice::hash(&[self.seed, frame, 1]),
        );
        self.add_color_noise(&mut picture.color, dice::hash(&[self.seed, frame, 2]));
        Ok(Capture {
            color: picture.color,
            depth,
            labels: picture.labels,
            parts: picture.parts,
            true_depth: picture.depth,
        })
    }

    fn add_color_noise(&self, color: &mut ColorImage, key: u64) {
        let sigma = self.spec.color_noise as f32;
        if sigma.is_nan() || sigma <= 0.0 {
            return;
        }
        for (index, pixel) in color.pixels.iter_mut().enumerate() {
            let bits = dice::mix(key.wrapping_add(index as u64));
            for (channel, value) in pixel.iter_mut().enumerate() {
                let noisy = f32::from(*value) + sigma * self.normals.at(bits >> (16 * channel));
                *value = (noisy + 0.5).clamp(0.0, 255.0) as u8;
            }
        }
    }
}
