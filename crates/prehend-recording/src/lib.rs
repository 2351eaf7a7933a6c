//! Recorded frames as keyframes, and object maps in folders.
//!
//! For: reading what a camera left in files ([`folder`]), labels of it ([`labels`]), and keeping object maps in
//! files that are never half written or half read ([`saved`]), and the way from one to the other ([`mod@build`]). Not for: deciding what
//! a frame shows (`prehend-perception` does), live topics, drawing. Read [`folder::FrameFiles`] first, then [`saved::SavedMap`].
//!
//! The map frame has z up; camera axes are x right, y down, z forward; metres, and millimetres in depth pictures.

pub mod build;
pub mod folder;
pub mod labels;
pub mod picture;
pub mod pose;
pub mod saved;

pub use build::{BuildError, build};
pub use folder::{FrameError, FrameFiles, RecordedFrame, find_frames};
pub use labels::{Labelled, LabelsError, read_labels};
pub use saved::{LoadError, SaveError, SavedMap, SavedScene, SavedView};
