//! The RGB-D camera.

use super::depth;
use super::dice::{self, NormalTable};
use super::drawable::Drawable;
use super::render::{LabelImage, Picture, RenderError, Renderer, View};
use crate::scene::CameraSpec;
use nalgebra::Isometry3;
use prehend_geometry::{ColorImage, DepthImage, Intrinsics};
use std::sync::Arc;

/// What moved less than this since the last picture was drawn stands still, metres and radians: a twentieth of a pixel at the nearest
/// distance that is measured.
const STANDS_STILL: f64 = 1e-5;

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
    last: Option<Drawn>,
}

/// A picture, and what it was drawn of: most of the time nothing moves, and drawing costs more than all the rest of a frame.
struct Drawn {
    view: View,
    drawables: Vec<Drawable>,
    picture: Picture,
}

impl Drawn {
    /// Whether it is what this view of these would show.
    fn shows(&self, view: &View, drawables: &[Drawable]) -> bool {
        self.view.intrinsics == view.intrinsics
            && is_at(&self.view.world_from_camera, &view.world_from_camera)
            && self.drawables.len() == drawables.len()
            && self.drawables.iter().zip(drawables).all(|(was, is)| looks_alike(was, is))
    }
}

/// Whether two drawables look the same and are at the same place.
fn looks_alike(a: &Drawable, b: &Drawable) -> bool {
    Arc::ptr_eq(&a.mesh, &b.mesh)
        && (a.color, a.surface, a.owner, a.region) == (b.color, b.surface, b.owner, b.region)
        && is_at(&a.world_from_mesh, &b.world_from_mesh)
}

/// Whether two poses are one but for what no picture shows; never when one is not finite.
fn is_at(a: &Isometry3<f64>, b: &Isometry3<f64>) -> bool {
    (a.translation.vector - b.translation.vector).norm() <= STANDS_STILL
        && a.rotation.angle_to(&b.rotation) <= STANDS_STILL
}

impl RgbdCamera {
    /// A camera with the noise of `spec`, drawn from `seed`.
    pub fn new(intrinsics: Intrinsics, spec: CameraSpec, seed: u64) -> Self {
        Self { intrinsics, spec, seed, renderer: Renderer::new(), normals: NormalTable::new(), last: None }
    }

    /// The camera's intrinsics.
    pub fn intrinsics(&self) -> Intrinsics {
        self.intrinsics
    }

    /// Takes frame number `frame` from this pose. The noise is a function of the seed and the frame number only. Where nothing moved
    /// by more than 0.01 mm or 0.01 mrad since the last picture was drawn, that picture is taken.
    ///
    /// Errors: [`RenderError`].
    pub fn capture(
        &mut self,
        world_from_camera: &Isometry3<f64>,
        drawables: &[Drawable],
        frame: u64,
    ) -> Result<Capture, RenderError> {
        let view = View { world_from_camera: *world_from_camera, intrinsics: self.intrinsics };
        let drawn = match self.last.take() {
            Some(last) if last.shows(&view, drawables) => last,
            _ => {
                let picture = self.renderer.render(&view, drawables)?;
                Drawn { view, drawables: drawables.to_vec(), picture }
            }
        };
        let picture = &drawn.picture;
        let depth = depth::measure(
            picture,
            self.spec.depth_noise.as_ref(),
            &self.normals,
            dice::hash(&[self.seed, frame, 1]),
        );
        let mut color = picture.color.clone();
        self.add_color_noise(&mut color, dice::hash(&[self.seed, frame, 2]));
        let (labels, parts) = (picture.labels.clone(), picture.parts.clone());
        let capture = Capture { color, depth, labels, parts, true_depth: picture.depth.clone() };
        self.last = Some(drawn);
        Ok(capture)
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
