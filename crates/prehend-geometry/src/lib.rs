//! Cameras, masks, images, point clouds, boxes and overlap: numbers in frames, and nothing of the domain.
//!
//! For: what can be computed from pixels and points alone. Not for: objects, words, messages, files.
//! Read [`PointCloud`] first, then [`Intrinsics`]. Metres, radians, f64; pixels are (u right, v down) with the
//! centre of the first pixel at (0, 0); camera axes are x right, y down, z forward.

pub mod camera;
pub mod cloud;
pub mod frame;
pub mod image;
pub mod mask;
pub mod pixel_box;

pub mod erosion;

pub mod backproject;
pub mod box_hash;
pub mod dbscan;
pub mod heightmap;
pub mod normals;
pub mod plane;
pub mod spread;
pub mod stats;
pub mod upright;
pub mod voxel;

pub use box_hash::{AxisBox, BoxHash};
pub use camera::Intrinsics;
pub use cloud::PointCloud;
pub use frame::OrientedBox;
pub use heightmap::HeightMap;
pub use image::{ColorImage, DepthImage};
pub use mask::Mask;
pub use pixel_box::PixelBox;
pub use spread::LevelSpread;
