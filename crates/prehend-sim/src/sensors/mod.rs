//! What the robot's sensors see of a scene: colour, aligned depth, instance labels, and a detector with a real one's flaws.
//!
//! For: pictures out of triangles, and what is known from pictures. Not for: physics, messages, files.
//! Read [`Stage`] first (what can be seen), then [`RgbdCamera`] (one frame of it), then [`Detector`].
//!
//! Metres, radians, f64 poses; camera axes are x right, y down, z forward; pixels have the centre of the first one at (0, 0).
//! Everything is a function of its arguments and a seed: the same seed gives the same bytes.

pub mod camera;
pub mod depth;
pub mod detector;
pub mod drawable;
pub mod mesh;
pub mod overview;
pub mod render;
pub mod stage;

pub(crate) mod dice;
mod mask_ops;
mod raster;
mod shade;

pub use camera::{Capture, RgbdCamera, wrist_camera_intrinsics};
pub use detector::{Detection, Detections, Detector};
pub use drawable::{Drawable, Surface};
pub use mesh::Mesh;
pub use overview::{OverviewError, overview_png, overview_view, overview_view_of, view_png};
pub use render::{LabelImage, Picture, RenderError, Renderer, View};
pub use stage::Stage;

#[cfg(test)]
mod tests;
