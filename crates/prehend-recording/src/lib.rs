//! Recorded frames as keyframes, and object maps in folders.
//!
//! For: reading what a camera left in files ([`folder`]; rosbags are read by `prehend-bags`), labels of it ([`labels`]), and keeping object maps in
//! files that are never half written or half read ([`saved`]), and the way from one to the other ([`mod@build`]). Not for: deciding what
//! a frame shows (`prehend-perception` does), live topics, drawing. Read [`folder::FrameFiles`] first, then [`saved::SavedMap`].
//!
//! The map frame has z up; camera axes are x right, y down, z forward; metres, and millimetres in depth pictures.

pub mod build;
pub mod depth;
pub mod folder;
pub mod labels;
pub mod picture;
pub mod pose;
pub mod saved;

pub use build::{BuildError, MapOfFrames, build, build_seen};
pub use depth::{DepthError, depth_image};
pub use folder::{FrameError, FrameFiles, Instances, InstancesError, RecordedFrame, WriteError, find_frames};
pub use labels::{Labelled, LabelsError, read_labels};
pub use saved::{LoadError, SaveError, SavedMap, SavedScene, SavedView};
