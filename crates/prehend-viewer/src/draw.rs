//! Drawing a stage with kiss3d: into a window, or into a picture without one.
//!
//! Read [`OffScreen`] first, then [`StageWindow`]. Colours are those of the stage, whatever the light, for points and lines; solids are lit.

mod floor;
mod lines;
mod merged;
mod offscreen;
mod panel;
mod scene;
mod window;

pub use offscreen::OffScreen;
pub use window::StageWindow;

use crate::{Rgb, Viewpoint};
use kiss3d::camera::OrbitCamera3d;
use kiss3d::color::Color;
use kiss3d::glamx::Vec3;
use nalgebra::Point3;

/// Why nothing can be drawn.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// No graphics at all, not even in software.
    #[error(
        "nothing here can draw: {detail}; without a graphics card install a software Vulkan (Debian: apt install mesa-vulkan-drivers)"
    )]
    NoAdapter {
        /// What the graphics interface said.
        detail: String,
    },
    /// There is no screen for a window.
    #[error(
        "there is no screen (neither DISPLAY nor WAYLAND_DISPLAY is set): write a picture with --out FILE.png"
    )]
    NoScreen,
    /// The picture has no pixels, or more than the graphics can hold.
    #[error("a picture of {width} x {height} pixels cannot be drawn: each side must be 1 to {MOST_PIXELS}")]
    Size {
        /// Asked width.
        width: u32,
        /// Asked height.
        height: u32,
    },
}

/// Most pixels of a side: what every graphics interface has.
const MOST_PIXELS: u32 = 8192;
/// What is behind everything.
const BACKGROUND: Rgb = [24, 27, 33];
/// Nearest and farthest that is drawn, m.
const CLIP: [f32; 2] = [0.02, 200.0];

/// Finds out whether anything can draw: kiss3d panics when nothing can. The kind of device that would.
async fn require_adapter() -> Result<wgpu::DeviceType, DrawError> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    match instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await {
        Ok(adapter) => Ok(adapter.get_info().device_type),
        Err(error) => Err(DrawError::NoAdapter { detail: error.to_string() }),
    }
}

/// A colour of the scene, which is made of linear light until the whole picture is encoded with this exponent.
fn light(color: Rgb, opacity: f64) -> Color {
    let [r, g, b] = color.map(|channel| (f32::from(channel) / 255.0).powf(2.2));
    Color::new(r, g, b, opacity as f32)
}

/// A colour of what is written over the encoded picture.
fn ink(color: Rgb, opacity: f64) -> Color {
    let [r, g, b] = color.map(|channel| f32::from(channel) / 255.0);
    Color::new(r, g, b, opacity as f32)
}

fn vec3(place: &Point3<f64>) -> Vec3 {
    Vec3::new(place.x as f32, place.y as f32, place.z as f32)
}

/// The camera that sees what a viewpoint sees.
fn camera(view: &Viewpoint) -> OrbitCamera3d {
    let [near, far] = CLIP;
    let (eye, target) = (vec3(&view.eye), vec3(&view.target));
    let mut camera = OrbitCamera3d::new_with_frustum(view.field_of_view as f32, near, far, eye, target);
    camera.set_up_axis(Vec3::Z);
    camera.look_at(eye, target);
    camera
}

#[cfg(test)]
mod tests;
