//! A third-person picture of the whole scene.

use super::drawable::Drawable;
use super::render::{RenderError, Renderer, View};
use crate::scene::Scene;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_drawing::overlay::{self, PngError};
use prehend_geometry::{ColorImage, Intrinsics};

/// Width and height of the picture, pixels.
pub const SIZE: (usize, usize) = (960, 720);
/// Each pixel is the mean of this many squared.
const SAMPLES: usize = 2;
/// Height of the field of view, radians.
const FIELD: f64 = 0.78;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum OverviewError {
    /// The scene cannot be drawn.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The picture cannot be encoded.
    #[error(transparent)]
    Png(#[from] PngError),
}

/// Where the overview is taken from: across the table, to the robot's right, looking down at the table before it.
pub fn overview_view() -> View {
    look_at(Point3::new(1.40, -1.10, 1.05), Point3::new(0.25, 0.03, 0.24))
}

/// The overview of a scene: across the table, or into the room from above.
pub fn overview_view_of(scene: &Scene) -> View {
    let Some(room) = &scene.room else {
        return overview_view();
    };
    let [x, y] = room.size;
    // The whole floor is in the picture from as high as it is long, a little from the side of x.
    let height = 1.25 * x.max(1.3 * y);
    look_at(Point3::new(0.5 * x, 0.5 * y - 0.45 * height, height), Point3::new(0.5 * x, 0.47 * y, 0.3))
}

/// A view of the overview's size from `eye` towards `target`, both in the world, upright.
pub fn look_at(eye: Point3<f64>, target: Point3<f64>) -> View {
    let focal = SIZE.1 as f64 / 2.0 / (FIELD / 2.0).tan();
    // face_towards turns z to the target; its y is up, a camera's is down.
    let flip = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI);
    View {
        world_from_camera: Isometry3::face_towards(&eye, &target, &Vector3::z()) * flip,
        intrinsics: Intrinsics {
            fx: focal,
            fy: focal,
            cx: SIZE.0 as f64 / 2.0 - 0.5,
            cy: SIZE.1 as f64 / 2.0 - 0.5,
            width: SIZE.0,
            height: SIZE.1,
        },
    }
}

/// Draws a view with smooth edges and fine shadows.
///
/// Errors: [`RenderError`].
pub fn overview(drawables: &[Drawable], view: &View) -> Result<ColorImage, RenderError> {
    let k = &view.intrinsics;
    let n = SAMPLES as f64;
    let shift = (n - 1.0) / 2.0;
    let fine = View {
        intrinsics: Intrinsics {
            fx: k.fx * n,
            fy: k.fy * n,
            cx: k.cx * n + shift,
            cy: k.cy * n + shift,
            width: k.width * SAMPLES,
            height: k.height * SAMPLES,
        },
        ..*view
    };
    let picture = Renderer::with_shadow_map(2048).render(&fine, drawables)?;
    let mut image = ColorImage::filled(k.width, k.height, [0; 3]);
    for v in 0..k.height {
        for u in 0..k.width {
            let mut sum = [0u32; 3];
            for sample in 0..SAMPLES * SAMPLES {
                let (i, j) = (u * SAMPLES + sample % SAMPLES, v * SAMPLES + sample / SAMPLES);
                let pixel = picture.color.pixels[j * k.width * SAMPLES + i];
                for (total, channel) in sum.iter_mut().zip(pixel) {
                    *total += u32::from(channel);
                }
            }
            image.pixels[v * k.width + u] = sum.map(|s| (s / (SAMPLES * SAMPLES) as u32) as u8);
        }
    }
    Ok(image)
}

/// The overview of a table as the bytes of a PNG file.
///
/// Errors: [`OverviewError`].
pub fn overview_png(drawables: &[Drawable]) -> Result<Vec<u8>, OverviewError> {
    view_png(drawables, &overview_view())
}

/// A view as the bytes of a PNG file.
///
/// Errors: [`OverviewError`].
pub fn view_png(drawables: &[Drawable], view: &View) -> Result<Vec<u8>, OverviewError> {
    Ok(overlay::png(&overview(drawables, view)?)?)
}
